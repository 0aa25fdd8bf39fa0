"""The HTTP transport under the MCP SDK: records each call, and keeps one failed request from ending the others.

The SDK runs every POST in a task of one group and catches no transport error, so a single refused or reset POST would
take the pooled client and all its calls with it. Here such an error becomes a JSON-RPC error of its own request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

import httpx2

from tooling.mcp_answers import LARGEST, Mark, is_reply, message_in

current_mark: ContextVar[Mark | None] = ContextVar("current_mark", default=None)
"""The mark of the call that this context makes; the SDK carries the context to the transport."""

TRANSPORT_FAILED = -32098
"""The JSON-RPC code of an error that the transport made up."""

NOTE_SECONDS = 1.0
"""The one writer of a client writes notifications too: a server that takes none must not hold the next call."""

SETUP_SECONDS = 15.0
TROUBLE = (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, OSError)
REPLACED_HEADERS = {"content-encoding", "content-length", "transfer-encoding"}


class TooLarge(httpx2.ReadError):
    """More came than an answer may hold."""


class RecordingTransport(httpx2.AsyncBaseTransport):
    """Sends what the SDK asks for through ``inner``; ``refusal`` says why the last request of a set-up failed."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner
        self.refusal = ""
        self.has_session = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.has_session = self.has_session or "mcp-session-id" in request.headers
        mark = current_mark.get()
        if request.method != "POST":
            is_resumption = mark is not None and "last-event-id" in request.headers
            return await self._resume(request, mark) if mark and is_resumption else await self._pass(request)
        message = message_in(request.content)
        if "method" not in message or "id" not in message:
            return await self._notify(request)
        if message["method"] != "tools/call" or mark is None:
            return await self._set_up(request, message["id"])
        return await self._call(request, mark, message["id"])

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _pass(self, request: httpx2.Request) -> httpx2.Response:
        return await self._inner.handle_async_request(request)

    async def _notify(self, request: httpx2.Request) -> httpx2.Response:
        """Post what has no answer: for a moment, and whatever comes of it."""
        try:
            async with asyncio.timeout(NOTE_SECONDS):
                response = await self._inner.handle_async_request(request)
                await response.aclose()
        except (*TROUBLE, TimeoutError):
            pass
        return httpx2.Response(202, request=request)

    async def _resume(self, request: httpx2.Request, mark: Mark) -> httpx2.Response:
        """Read on in an event stream that broke off; a GET, so nothing is done twice."""
        response = await self._inner.handle_async_request(request)
        mark.bodies.append(bytearray())
        return _streamed(request, response, mark)

    async def _set_up(self, request: httpx2.Request, request_id: Any) -> httpx2.Response:
        """A request that runs no tool: discovery, listing, ping."""
        mark = Mark(seconds=SETUP_SECONDS, bodies=[bytearray()])
        response = await self._call(request, mark, request_id)
        self.refusal = mark.error or (f"HTTP {mark.status}" if mark.status >= 300 else "")
        return response

    async def _call(self, request: httpx2.Request, mark: Mark, request_id: Any) -> httpx2.Response:
        """Post a request and hand its answer on; an answer that is none becomes an error of this request."""

        async def trace(name: str, _info: Any) -> None:
            mark.note(name)

        mark.request_id, mark.bodies = request_id, [bytearray()]
        timeout = {**request.extensions.get("timeout", {}), "read": mark.seconds + 1}
        request.extensions = {**request.extensions, "trace": trace, "timeout": timeout}
        try:
            response = await self._inner.handle_async_request(request)
            mark.status = response.status_code
            if mark.status == 200 and _is_event_stream(response):
                mark.is_event_stream = True
                return _streamed(request, response, mark)
            await _read(response, mark)
        except TROUBLE as error:
            mark.error = described(error)
            return _error(request, request_id, mark.error)
        return _whole(request, response, mark)


def described(error: BaseException) -> str:
    """``error`` in words, from the innermost of a group; never the request, whose headers are secret."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = str(error)
    return f"{type(error).__name__}: {text}"[:300] if text else type(error).__name__


def _is_event_stream(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").lower().startswith("text/event-stream")


async def _read(response: httpx2.Response, mark: Mark) -> None:
    """Read the whole body into ``mark``: a body that breaks while the SDK reads it would end the client."""
    try:
        async for piece in response.aiter_bytes():
            if not mark.keep(piece):
                raise TooLarge(f"more than {LARGEST} bytes")
    finally:
        await response.aclose()


def _whole(request: httpx2.Request, response: httpx2.Response, mark: Mark) -> httpx2.Response:
    """The answer for the SDK; it would wait for ever for one with another id, and follow a redirect."""
    body = bytes(mark.bodies[-1])
    is_redirect = 300 <= mark.status < 400
    if is_redirect or (mark.status == 200 and not is_reply(message_in(body), mark.request_id)):
        what = f"HTTP {mark.status}" if is_redirect else "not an answer to this request"
        return _error(request, mark.request_id, what)
    return httpx2.Response(mark.status, headers=_headers(response), content=body, request=request)


def _streamed(request: httpx2.Request, response: httpx2.Response, mark: Mark) -> httpx2.Response:
    stream = _RecordedStream(response, mark)
    return httpx2.Response(response.status_code, headers=_headers(response), stream=stream, request=request)


def _headers(response: httpx2.Response) -> list[tuple[str, str]]:
    """The headers of ``response`` without those that described its encoded body."""
    return [(name, value) for name, value in response.headers.multi_items() if name not in REPLACED_HEADERS]


def _error(request: httpx2.Request, request_id: Any, text: str) -> httpx2.Response:
    error = {"code": TRANSPORT_FAILED, "message": text}
    return httpx2.Response(503, json={"jsonrpc": "2.0", "id": request_id, "error": error}, request=request)


class _RecordedStream(httpx2.AsyncByteStream):
    """An event stream that leaves a copy of all that passes."""

    def __init__(self, response: httpx2.Response, mark: Mark) -> None:
        self._response = response
        self._mark = mark

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._response.aiter_bytes():
                if not self._mark.keep(piece):
                    raise TooLarge(f"more than {LARGEST} bytes")
                yield piece
        except TROUBLE as error:
            self._mark.error = described(error)
            raise

    async def aclose(self) -> None:
        await self._response.aclose()
