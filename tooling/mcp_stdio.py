"""MCP over a child's standard input and output: a bare environment, recorded calls, and no child left behind.

The SDK's own transport hands HOME, USER and more to the child and tells nobody whether a call had left.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from tooling.mcp_answers import LARGEST, Mark, message_in
from tooling.mcp_transport import current_mark

STOP_SECONDS = 2.0
"""How long a child may take to end by itself, and then after SIGTERM."""

Waiting = dict[Any, Mark]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], "RecordingWriter"]


class RecordingWriter:
    """The stream on which the SDK writes; it notes each tool call before it is handed over."""

    def __init__(self, inner: MemoryObjectSendStream[SessionMessage], waiting: Waiting) -> None:
        self._inner = inner
        self._waiting = waiting

    async def send(self, item: SessionMessage) -> None:
        message, mark = item.message, current_mark.get()
        if mark is None or not isinstance(message, JSONRPCRequest) or message.method != "tools/call":
            await self._inner.send(item)
            return
        mark.request_id, mark.bodies, mark.written = message.id, [bytearray()], True
        self._waiting[message.id] = mark
        try:
            await self._inner.send(item)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            # The streams hold nothing back: what was not taken over never left.
            mark.written, mark.error = False, "the server process has ended"
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> RecordingWriter:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


@asynccontextmanager
async def stdio_streams(
    command: Sequence[str], environment: Mapping[str, str], *, on_end: Callable[[], None]
) -> AsyncIterator[Streams]:
    """Start ``command`` with exactly ``environment`` and yield the streams of an SDK transport.

    ``on_end`` is called once the child says nothing more. Leaving stops the child. Raises OSError if it cannot start.
    """
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, env=dict(environment), start_new_session=True, limit=LARGEST
    )
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise OSError("the child has no pipes")
    waiting: Waiting = {}
    to_session, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, stdout, to_session, waiting, on_end)
        tasks.start_soon(_write, stdin, from_session)
        try:
            yield read_stream, RecordingWriter(write_stream, waiting)
        finally:
            with anyio.CancelScope(shield=True):
                await _stop(process, stdin)
            tasks.cancel_scope.cancel()


async def _read(
    stdout: asyncio.StreamReader,
    to_session: MemoryObjectSendStream[SessionMessage | Exception],
    waiting: Waiting,
    on_end: Callable[[], None],
) -> None:
    """Hand on each line; end with the child's output, or at a line that is larger than an answer may be."""
    try:
        async with to_session:
            with contextlib.suppress(ValueError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                while line := await stdout.readline():
                    if message := _message(line, waiting):
                        await to_session.send(SessionMessage(message))
    finally:
        on_end()


def _message(line: bytes, waiting: Waiting) -> JSONRPCMessage | None:
    """The message of ``line``, kept for the call that it answers; None where the line is no message."""
    seen = message_in(line)
    request_id = seen.get("id")
    mark = waiting.pop(request_id, None) if isinstance(request_id, int | str) and "method" not in seen else None
    if mark is not None:
        mark.keep(line)
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        if mark is None:
            return None
        error = ErrorData(code=PARSE_ERROR, message="not readable as a message of the protocol")
        return JSONRPCError(jsonrpc="2.0", id=mark.request_id, error=error)


async def _write(stdin: asyncio.StreamWriter, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with from_session:
        with contextlib.suppress(OSError):
            async for item in from_session:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                stdin.write(text.encode() + b"\n")
                await stdin.drain()


async def _stop(process: Process, stdin: asyncio.StreamWriter) -> None:
    """End the child: its input closes, then SIGTERM, then SIGKILL to its whole group."""
    stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
            return
