"""A child that speaks just enough MCP over its pipes to show what it was given, to die and to babble."""

import json
import os
import sys


def answer(message: dict[str, object], result: object) -> None:
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


def refuse(message: dict[str, object]) -> None:
    error = {"code": -32601, "message": "unknown method"}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)


def call(message: dict[str, object]) -> None:
    arguments = message["params"]["arguments"]  # type: ignore[index]  # JSON from the client
    if arguments.get("die"):
        os._exit(1)
    if arguments.get("babble"):
        print("this is no message", flush=True)
    if arguments.get("large"):
        print("x" * (11 * 1024 * 1024), flush=True)
    answer(message, {"content": [], "structuredContent": {"environment": dict(os.environ), "pid": os.getpid()}})


for line in sys.stdin:
    received = json.loads(line)
    match received.get("method"):
        case "initialize":
            server = {"name": "child", "version": "1"}
            versions = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server}
            answer(received, versions)
        case "tools/list":
            answer(received, {"tools": [{"name": "do", "inputSchema": {"type": "object"}}]})
        case "tools/call":
            call(received)
        case _ if "id" in received:
            refuse(received)
