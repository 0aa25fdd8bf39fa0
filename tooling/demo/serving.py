"""Runs a demo server: its options, its transports, the bearer check and the switches for tests."""

from __future__ import annotations

import argparse
import hmac
import ipaddress
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tooling.demo.desk import DROP, Desk
from tooling.demo.faults import fault_from
from tooling.demo.ledger import Ledger

Build = Callable[[Desk], MCPServer]


def main(name: str, port: int, build: Build, arguments: list[str] | None = None) -> None:
    """Serve ``build``'s tools until told to end; ``port`` is the default of the HTTP transport."""
    options = _parser(name, port).parse_args(arguments)
    token = ""
    if options.token_env:
        token = os.environ.get(options.token_env, "")
        if not token:
            sys.exit(f"{options.token_env} is not set; put the bearer token there")
    desk = Desk(Ledger(options.ledger))
    server = build(desk)
    if options.transport == "stdio":
        server.run("stdio")
        return
    if options.faults:
        _add_switches(server, desk)
    if options.watch_stdin:
        threading.Thread(target=_end_with_stdin, daemon=True).start()
    _serve(Door(server.streamable_http_app(host=options.host), token), options.host, options.port)


def _parser(name: str, port: int) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m tooling.demo.{name}", description=f"The demo MCP server {name}.")
    parser.add_argument("--transport", choices=["stdio", "streamable-http"], default="stdio")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=port)
    default = Path(os.environ.get("DATA_DIR", "var")) / f"{name}_ledger.json"
    parser.add_argument("--ledger", type=Path, default=default, help="the file of effects; made if it is missing")
    parser.add_argument("--token-env", metavar="NAME", default="", help="the variable that holds the bearer token")
    parser.add_argument("--faults", action="store_true", help="answer under /admin/ on loopback, for tests")
    parser.add_argument("--watch-stdin", action="store_true", help="end when standard input closes (HTTP only)")
    return parser


def _end_with_stdin() -> None:
    """End with the parent, however it ended: its end of the pipe closes in any case."""
    sys.stdin.buffer.read()
    os._exit(0)


def _serve(app: ASGIApp, host: str, port: int) -> None:
    import uvicorn

    uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1, lifespan="on")


class Door:
    """Stands before the MCP endpoint: checks the bearer token, and loses an answer that a tool wants lost."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"].startswith("/admin/"):
            is_open = _is_loopback(scope)
            await (self._app if is_open else Response(status_code=403))(scope, receive, send)
            return
        if self._token and not self._is_known(Request(scope)):
            refusal = JSONResponse({"error": "unauthorized"}, status_code=401, headers={"www-authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        await self._answer(scope, receive, send)

    def _is_known(self, request: Request) -> bool:
        given = request.headers.get("authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode())

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        dropped: list[str] = []
        scope[DROP] = dropped
        has_started = False

        async def kept(message: Message) -> None:
            nonlocal has_started
            if not dropped:
                has_started = has_started or message["type"] == "http.response.start"
                await send(message)

        await self._app(scope, receive, kept)
        if dropped and not has_started:
            # Returning after an unfinished answer makes the server close the connection.
            headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})


def _is_loopback(scope: Scope) -> bool:
    host = (scope.get("client") or ("",))[0]
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _add_switches(server: MCPServer, desk: Desk) -> None:
    """The addresses under ``/admin/``: the ledger, the faults and a fresh start."""

    async def ledger(_request: Request) -> Response:
        with desk.ledger.exclusive():
            calls = [
                {name: value for name, value in note.items() if name != "kind"} for note in desk.ledger.notes("call")
            ]
            return JSONResponse({"effects": desk.ledger.effects, "calls": calls})

    async def faults(request: Request) -> Response:
        if request.method == "DELETE":
            desk.faults.active.clear()
            return JSONResponse({"active": 0})
        try:
            desk.faults.active.append(fault_from(await request.json()))
        except (ValueError, KeyError, TypeError) as error:
            return JSONResponse({"error": f"not a fault: {error!r}"}, status_code=400)
        active = sum(fault.times != 0 for fault in desk.faults.active)
        return JSONResponse({"active": active}, status_code=201)

    async def reset(_request: Request) -> Response:
        with desk.ledger.exclusive():
            desk.ledger.clear()
        desk.faults.active.clear()
        desk.rehearsals.clear()
        return JSONResponse({"effects": 0})

    server.custom_route("/admin/ledger", methods=["GET"])(ledger)
    server.custom_route("/admin/faults", methods=["POST", "DELETE"])(faults)
    server.custom_route("/admin/reset", methods=["POST"])(reset)
