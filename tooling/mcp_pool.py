"""Pooled MCP clients on one event loop: each is opened, kept and closed by a task of its own.

Everything here runs on that loop; there are no locks, because nothing waits between looking and taking.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp import Client
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, PaginatedRequestParams, Tool

from tooling.gateway import NotSent
from tooling.mcp_answers import LARGEST
from tooling.mcp_stdio import stdio_streams
from tooling.mcp_targets import Target, is_production, refusal_of_addresses
from tooling.mcp_transport import RecordingTransport, described
from tooling.specs import Transport

OPEN_SECONDS = 20.0
LISTING_SECONDS = 3.0
PROBE_SECONDS = 2.0
CLOSE_SECONDS = 8.0

IDLE_SECONDS = 600.0
"""An unused client is closed after this long: definitions change, and a child costs memory."""

PROBE_AFTER_SECONDS = 1.0
"""A session that rested longer is asked for a sign of life, so that a lost one is renewed before a call is sent."""

PAGES = 100
TIMEOUT = httpx2.Timeout(30, connect=5, read=30)
LIMITS = httpx2.Limits(max_connections=100, max_keepalive_connections=50, keepalive_expiry=4)
"""Resting connections go before the five seconds after which common servers drop them."""


class Refused(Exception):
    """This installation does not connect to such an address; the message says why."""


@dataclass(eq=False)
class Connection:
    """One open client of one target. ``schemas`` holds the output schemas that the server declares."""

    target: Target
    mode: str
    in_flight: int = 0
    is_retired: bool = False
    used_at: float = field(default_factory=time.monotonic)
    schemas: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    http: RecordingTransport | None = None

    def __post_init__(self) -> None:
        self.opened: asyncio.Future[Client | NotSent] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self.task = asyncio.create_task(self._own())

    def retire(self) -> None:
        """Take no new call; close when the last one that runs is done."""
        self.is_retired = True
        if not self.in_flight:
            self._stop.set()

    def take(self) -> None:
        self.in_flight += 1

    def give_back(self) -> None:
        self.in_flight -= 1
        self.used_at = time.monotonic()
        if self.is_retired and not self.in_flight:
            self._stop.set()

    def stop(self) -> None:
        """Close now, whatever runs."""
        self.is_retired = True
        self._stop.set()

    async def is_alive(self, session: ClientSession) -> bool:
        """Whether the server still knows our session, asked where it rested and has one to forget."""
        rested = time.monotonic() - self.used_at > PROBE_AFTER_SECONDS
        if not (rested and self.http is not None and self.http.has_session):
            return True
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await session.send_ping()
        except TimeoutError:
            return False
        except MCPError as error:
            return error.code == METHOD_NOT_FOUND
        self.used_at = time.monotonic()
        return True

    async def list_tools(self, session: ClientSession) -> list[Tool]:
        """Every tool that the server offers now; their output schemas are remembered."""
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(PAGES):
            page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
            found += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        self.schemas = {tool.name: tool.output_schema for tool in found if tool.output_schema is not None}
        return found

    async def _own(self) -> None:
        """Open, stay until told to stop or idle, close: all in this one task, as the SDK requires."""
        failure = NotSent("could not connect: it closed at once")
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(OPEN_SECONDS):
                    client = await self._open(stack)
                self.opened.set_result(client)
                while not (self._stop.is_set() or self._is_idle):
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._stop.wait(), IDLE_SECONDS / 2)
                self.is_retired = True
        except TimeoutError:
            failure = NotSent(f"could not connect: no answer within {OPEN_SECONDS:.0f} s")
        except Refused as refused:
            failure = NotSent(str(refused), again=False)
        except Exception as error:  # whatever the SDK, a server or a child does wrong ends this client and no other
            why = (self.http.refusal if self.http else "") or described(error)
            failure = NotSent(f"could not connect: {self.target.hidden(why)}")
        finally:
            self.is_retired = True
            if not self.opened.done():
                self.opened.set_result(failure)

    @property
    def _is_idle(self) -> bool:
        return not self.in_flight and time.monotonic() - self.used_at > IDLE_SECONDS

    async def _open(self, stack: contextlib.AsyncExitStack) -> Client:
        if self.target.transport == Transport.STDIO:
            environment = dict(self.target.env)
            streams: Any = stdio_streams(self.target.command, environment, on_end=self.retire)
        else:
            await self._check_addresses()
            streams = self._http_streams()
        client = await stack.enter_async_context(Client(streams, mode=self.mode, cache=None))
        with contextlib.suppress(MCPError, TimeoutError, ValueError):
            # Best effort: the schemas only serve to flag an answer, and a server may offer no list.
            async with asyncio.timeout(LISTING_SECONDS):
                await self.list_tools(client.session)
        return client

    async def _check_addresses(self) -> None:
        if is_production():
            refusal = await asyncio.to_thread(refusal_of_addresses, self.target.endpoint)
            if refusal:
                raise Refused(refusal)

    def _http_streams(self) -> AbstractAsyncContextManager[Any]:
        recording = RecordingTransport(httpx2.AsyncHTTPTransport(limits=LIMITS))
        self.http = recording
        headers = {"accept-encoding": "identity", **dict(self.target.headers)}

        @asynccontextmanager
        async def streams() -> AsyncIterator[Any]:
            async with httpx2.AsyncClient(transport=recording, headers=headers, timeout=TIMEOUT) as http:
                # No DELETE at the end: a server that does not answer would hold the closing.
                inner = streamable_http_client(
                    self.target.endpoint, http_client=http, terminate_on_close=False, max_sse_event_size=LARGEST
                )
                async with inner as found:
                    yield found

        return streams()


@dataclass(eq=False)
class Pool:
    """The open clients by target. ``mode`` is the SDK's: auto, or legacy for the 2025 protocol."""

    mode: str = "auto"
    _connections: dict[Target, Connection] = field(default_factory=dict)
    _closing: set[asyncio.Task[None]] = field(default_factory=set)

    async def take(self, target: Target, seconds: float) -> tuple[Connection, Client] | NotSent:
        """An open client, marked as used until ``give_back``; NotSent where there is none within ``seconds``."""
        try:
            async with asyncio.timeout(seconds):
                return await self._take(target)
        except TimeoutError:
            return NotSent("could not connect in time")

    async def _take(self, target: Target) -> tuple[Connection, Client] | NotSent:
        for _ in range(2):
            connection = self._current(target)
            client = await asyncio.shield(connection.opened)
            if isinstance(client, NotSent):
                return client
            if connection.is_retired:
                continue
            connection.take()
            try:
                if await connection.is_alive(client.session):
                    return connection, client
            except BaseException:
                connection.give_back()
                raise
            connection.retire()
            connection.give_back()
        return NotSent("could not connect: the server closes every session at once")

    def _current(self, target: Target) -> Connection:
        connection = self._connections.get(target)
        if connection is None or connection.is_retired:
            connection = self._connections[target] = Connection(target, self.mode)
            self._closing.add(connection.task)
            connection.task.add_done_callback(self._closing.discard)
        return connection

    async def close(self) -> None:
        """Close every client; what does not close in time is cancelled."""
        for connection in self._connections.values():
            connection.stop()
        self._connections.clear()
        if self._closing:
            _, late = await asyncio.wait(self._closing, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
