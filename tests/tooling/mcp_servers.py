"""MCP servers for tests: the demo servers as processes, and one of our own that answers as badly as it is told to."""

import json
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.acceptance.client import get, post
from tests.processes import Child, Processes
from tests.services import free_port, wait_until
from tooling.gateway import Call
from tooling.specs import ServerSpec, Transport

STDIO_SCRIPT = Path(__file__).with_name("stdio_server.py")
GOOD: dict[str, Any] = {"content": [{"type": "text", "text": "ok"}], "structuredContent": {"ok": True}}

# The demo servers ---------------------------------------------------------------------------------------------


@dataclass
class Demo:
    """A demo server on a free port; it keeps its port and its ledger when it starts again."""

    processes: Processes
    name: str
    ledger: Path
    options: tuple[str, ...] = ("--faults",)
    env: Mapping[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)

    def start(self) -> Child:
        arguments = ["-m", f"tooling.demo.{self.name}", "--transport", "streamable-http", "--port", str(self.port)]
        child = self.processes.python(self.name, *arguments, "--ledger", str(self.ledger), *self.options, env=self.env)
        wait_until(lambda: not child.is_running or listens(self.port), timeout=30, what=f"{self.name} to listen")
        assert child.is_running, child.text()
        return child

    @property
    def spec(self) -> ServerSpec:
        return ServerSpec(self.name, endpoint=f"http://127.0.0.1:{self.port}/mcp")

    def admin(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/admin/{path}"

    def fault(self, **fault: Any) -> None:
        status, answer = post(self.admin("faults"), fault)
        assert status == 201, answer

    @property
    def effects(self) -> list[dict[str, Any]]:
        return list(get(self.admin("ledger"))["effects"])

    @property
    def calls(self) -> list[dict[str, Any]]:
        return list(get(self.admin("ledger"))["calls"])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def stdio_spec(*arguments: str, env: Mapping[str, str] | None = None) -> ServerSpec:
    """A child that runs ``arguments`` with this Python; MCP_STDIO_COMMANDS must allow it."""
    return ServerSpec("child", Transport.STDIO, command=sys.executable, args=arguments, env=dict(env or {}))


# A server that answers as it is told --------------------------------------------------------------------------


@dataclass
class Exchange:
    """One ``tools/call`` that arrived, and the connection to answer it on."""

    connection: socket.socket
    message: dict[str, Any]
    released: threading.Event

    @property
    def id(self) -> Any:
        return self.message["id"]

    def result(self, result: Any) -> None:
        self.json({"jsonrpc": "2.0", "id": self.id, "result": result})

    def error(self, code: int, status: int = 200) -> None:
        self.json({"jsonrpc": "2.0", "id": self.id, "error": {"code": code, "message": "no"}}, status=status)

    def json(self, body: Any, status: int = 200) -> None:
        self.raw(json.dumps(body).encode(), status=status)

    def raw(self, body: bytes, status: int = 200, *, length: int | None = None, headers: str = "") -> None:
        kind = "" if "content-type" in headers else "content-type: application/json\r\n"
        head = (
            f"HTTP/1.1 {status} X\r\n{kind}{headers}content-length: {len(body) if length is None else length}\r\n\r\n"
        )
        self.connection.sendall(head.encode() + body)

    def events(self, *events: bytes) -> None:
        """An event stream that ends after ``events``."""
        body = b"".join(event + b"\n\n" for event in events)
        self.raw(body, headers="content-type: text/event-stream\r\nconnection: close\r\n")

    def reset(self) -> None:
        """End the connection with a reset instead of an orderly close."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        """End the connection; by leaving, because its reader holds it open as well."""
        raise ConnectionAbortedError

    def hang(self) -> None:
        """Say nothing until the test is over."""
        self.released.wait(60)
        self.close()


Behaviour = Callable[[Exchange], None]


def good(exchange: Exchange) -> None:
    exchange.result({"resultType": "complete", **GOOD})


@dataclass
class Hostile:
    """Speaks enough MCP to be connected to; ``behave`` answers each ``tools/call``, and ``posts`` keeps them.

    ``sessions``: it speaks the 2025 protocol and forgets its sessions when it starts again.
    """

    behave: Behaviour = good
    sessions: bool = False
    output_schema: dict[str, Any] | None = None
    tool: str = "do"
    """The one that it lists; it answers calls of any."""
    listing: list[dict[str, Any]] | None = None
    """What it lists instead of that one."""
    posts: list[dict[str, Any]] = field(default_factory=list)
    port: int = field(default_factory=free_port)
    released: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        self._known: set[str] = set()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=200)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def stop(self) -> None:
        """Gone at once: nobody listens, every connection is closed."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def spec(self) -> ServerSpec:
        return ServerSpec("hostile", endpoint=f"http://127.0.0.1:{self.port}/mcp")

    def call(self, *, seconds: float = 10.0, **arguments: Any) -> Call:
        return Call(self.spec, "do", arguments, timeout=seconds)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self._open.add(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError, ValueError), connection, connection.makefile("rb") as reader:
            while (request := _request(reader)) is not None:
                method, headers, message = request
                exchange = Exchange(connection, message, self.released)
                if method != "POST":
                    exchange.raw(b"", 405)
                elif self.sessions and not self._is_known(headers, message):
                    exchange.error(-32600, status=404)
                else:
                    self._answer(exchange, message)
        self._open.discard(connection)

    def _is_known(self, headers: Mapping[str, str], message: Mapping[str, Any]) -> bool:
        return (
            message.get("method") in ("initialize", "server/discover") or headers.get("mcp-session-id") in self._known
        )

    def _answer(self, exchange: Exchange, message: Mapping[str, Any]) -> None:
        match message.get("method"):
            case "tools/call":
                self.posts.append(dict(message))
                self.behave(exchange)
            case "server/discover" if not self.sessions:
                versions = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
                exchange.result(versions | {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
            case "initialize":
                session = f"s{len(self._known)}-{id(self._listener)}"
                self._known.add(session)
                server = {"serverInfo": {"name": "hostile", "version": "1"}, "capabilities": {"tools": {}}}
                result = {"protocolVersion": "2025-06-18"} | server
                body = json.dumps({"jsonrpc": "2.0", "id": exchange.id, "result": result}).encode()
                exchange.raw(body, headers=f"mcp-session-id: {session}\r\n" if self.sessions else "")
            case "tools/list":
                tool: dict[str, Any] = {"name": self.tool, "inputSchema": {"type": "object"}}
                if self.output_schema is not None:
                    tool["outputSchema"] = self.output_schema
                listed = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
                tools = {"tools": [tool] if self.listing is None else self.listing}
                exchange.result(tools if self.sessions else tools | listed)
            case _ if "id" in message:
                exchange.result({}) if message.get("method") == "ping" else exchange.error(-32601)
            case _:
                exchange.raw(b"", 202)


def _request(reader: Any) -> tuple[str, dict[str, str], dict[str, Any]] | None:
    """The next HTTP request of a connection; None at its end."""
    first = reader.readline().decode()
    if not first.strip():
        return None
    headers: dict[str, str] = {}
    while line := reader.readline().decode().strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = reader.read(int(headers.get("content-length", 0)))
    return first.split()[0], headers, json.loads(body) if body else {}


@contextmanager
def hostile(behave: Behaviour = good, **options: Any) -> Iterator[Hostile]:
    """A running server; what hangs is released at the end."""
    server = Hostile(behave, **options)
    server.start()
    try:
        yield server
    finally:
        server.released.set()
        server.stop()
