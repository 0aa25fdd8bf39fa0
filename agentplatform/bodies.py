"""No request brings more than this, whoever sends it: Django would keep the whole body before it looks at who asks."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from tooling.api_basics import MEDIA_TYPE, problem

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
"""An ASGI application; Django and uvicorn type its messages differently."""

LARGEST_BODY = 4 * 1024 * 1024
"""Bytes; what a form or an endpoint takes is less and is refused by it, with its own words."""


class _TooLarge(Exception):
    """The body went on after LARGEST_BODY."""


def bounded(app: App) -> App:
    """``app`` behind a limit: 413 for a body that is, or turns out to be, larger; what came is thrown away."""

    async def bounded_app(scope: Message, receive: Receive, send: Send) -> None:
        if _declared(scope) > LARGEST_BODY:
            await _refuse(scope, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > LARGEST_BODY:
                raise _TooLarge
            return message

        try:
            await app(scope, counted, send)
        except _TooLarge:
            # Raised while the body is read, which is before anything is answered.
            await _refuse(scope, send)

    return bounded_app


def _declared(scope: Message) -> int:
    """The length that the request says; 0 where it says none, or nonsense, which the server refuses itself."""
    held = dict(scope["headers"]).get(b"content-length", b"0")
    return int(held) if held.isdigit() else 0


async def _refuse(scope: Message, send: Send) -> None:
    detail = f"the body is larger than {LARGEST_BODY} bytes"
    is_api = str(scope["path"]).startswith("/api/")
    body = json.dumps(problem(413, "too_large", detail)) if is_api else detail
    kind = MEDIA_TYPE if is_api else "text/plain; charset=utf-8"
    headers = [(b"content-type", kind.encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})
