"""The frames of the chat socket: what a client may say, strictly read, and what it is told (contracts §2)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NoReturn
from uuid import UUID

MAX_BYTES = 32 * 1024
MAX_TEXT = 4000
MAX_ID = 100
MAX_SEQ = 2**31 - 1
"""The largest number that a seq column holds; a larger one says "everything" just as well."""

ErrorCode = Literal[
    "bad_frame",
    "too_large",
    "text_too_long",
    "unknown_type",
    "invalid_items",
    "confirmation_closed",
    "busy",
    "rate_limited",
    "expired_session",
    "unavailable",
]

_SURROGATE = re.compile("[\ud800-\udfff]")
_INVISIBLE = re.compile("[\x00\U000e0000-\U000e007f]")
"""NUL, which PostgreSQL refuses, and tag characters, which hide instructions from the person who confirms."""


# What a client says -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hello:
    """``session_token`` is empty where the frame had none; that is answered as a bad token."""

    session_token: str
    after_seq: int


@dataclass(frozen=True, slots=True)
class MessageSend:
    client_message_id: str
    text: str
    seen_seq: int | None


@dataclass(frozen=True, slots=True)
class ConfirmationAnswer:
    """``item_keys`` is None beside a reject, and where the frame names none."""

    client_message_id: str
    confirmation_id: str
    decision: Literal["confirm", "reject"]
    item_keys: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class TransactionRetry:
    client_message_id: str
    transaction_id: str


@dataclass(frozen=True, slots=True)
class Ping:
    last_seq: int | None


@dataclass(frozen=True, slots=True)
class BadFrame:
    """What is wrong with a frame, as the error frame says it."""

    code: ErrorCode
    detail: str
    client_message_id: str | None = None


Frame = Hello | MessageSend | ConfirmationAnswer | TransactionRetry | Ping


class _Wrong(Exception):
    """A field that is missing or of the wrong type or length."""

    def __init__(self, detail: str, code: ErrorCode = "bad_frame") -> None:
        super().__init__(detail)
        self.code: ErrorCode = code


def parse(text: str | None) -> Frame | BadFrame:
    """Read one frame; ``None`` is a binary one. Total: whatever is sent becomes a frame or a BadFrame.

    Unknown keys are ignored; keys that come twice, NaN and infinities are refused.
    """
    if text is None:
        return BadFrame("bad_frame", "frames are JSON text")
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return BadFrame("too_large", f"a frame has at most {MAX_BYTES} bytes")
    try:
        content = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return BadFrame("bad_frame", "the frame is not valid JSON, or has a key twice")
    if not isinstance(content, dict):
        return BadFrame("bad_frame", "a frame is a JSON object")
    return _typed(content)


def _typed(content: Mapping[str, Any]) -> Frame | BadFrame:
    about = content.get("client_message_id")
    client_message_id = about if _is_id(about) else None
    kind = content.get("type")
    if not isinstance(kind, str):
        return BadFrame("bad_frame", '"type" must be a text', client_message_id)
    read = _READERS.get(kind)
    if read is None:
        return BadFrame("unknown_type", f"known types: {', '.join(_READERS)}", client_message_id)
    try:
        return read(content)
    except _Wrong as wrong:
        return BadFrame(wrong.code, str(wrong), client_message_id)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key comes twice")
    return content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _hello(content: Mapping[str, Any]) -> Hello:
    token = content.get("session_token")
    return Hello(session_token=token if isinstance(token, str) else "", after_seq=_seq(content, "after_seq") or 0)


def _message_send(content: Mapping[str, Any]) -> MessageSend:
    return MessageSend(_id(content, "client_message_id"), _text(content), _seq(content, "seen_seq"))


def _confirmation_answer(content: Mapping[str, Any]) -> ConfirmationAnswer:
    client_message_id = _id(content, "client_message_id")
    confirmation_id = _id(content, "confirmation_id")
    match content.get("decision"):
        case "confirm":
            return ConfirmationAnswer(client_message_id, confirmation_id, "confirm", _item_keys(content))
        case "reject":
            return ConfirmationAnswer(client_message_id, confirmation_id, "reject", None)
        case _:
            raise _Wrong('"decision" must be "confirm" or "reject"')


def _transaction_retry(content: Mapping[str, Any]) -> TransactionRetry:
    return TransactionRetry(_id(content, "client_message_id"), _id(content, "transaction_id"))


def _ping(content: Mapping[str, Any]) -> Ping:
    return Ping(_seq(content, "last_seq"))


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Frame]] = {
    "hello": _hello,
    "message.send": _message_send,
    "confirmation.answer": _confirmation_answer,
    "transaction.retry": _transaction_retry,
    "ping": _ping,
}


def _is_id(value: object) -> bool:
    return (
        isinstance(value, str)
        and 1 <= len(value) <= MAX_ID
        and not _INVISIBLE.search(value)
        and not _SURROGATE.search(value)
    )


def _id(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name)
    if not _is_id(value):
        raise _Wrong(f'"{name}" must be a text of 1 to {MAX_ID} characters')
    return str(value)


def _seq(content: Mapping[str, Any], name: str) -> int | None:
    """A seq may be absent; true, 1.0 and "1" are no numbers of events."""
    if name not in content:
        return None
    value = content[name]
    if type(value) is not int or value < 0:
        raise _Wrong(f'"{name}" must be an integer from 0 on')
    return min(value, MAX_SEQ)


def _text(content: Mapping[str, Any]) -> str:
    value = content.get("text")
    if not isinstance(value, str):
        raise _Wrong('"text" must be a text')
    text = clean(value)
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise _Wrong('"text" is blank')
    if len(text) > MAX_TEXT:
        raise _Wrong(f'"text" has more than {MAX_TEXT} characters', "text_too_long")
    return text


def _item_keys(content: Mapping[str, Any]) -> tuple[str, ...] | None:
    value = content.get("item_keys")
    if value is None:
        return None
    if not isinstance(value, list):
        raise _Wrong('"item_keys" must be a list of item keys')
    if not all(_is_id(key) for key in value):
        raise _Wrong('"item_keys" has an entry that is no item key', "invalid_items")
    return tuple(value)


def clean(text: str) -> str:
    """``text`` as it may be stored and shown: without NUL and tag characters, lone surrogates replaced."""
    return _SURROGATE.sub("\ufffd", _INVISIBLE.sub("", text))


# What a client is told --------------------------------------------------------------------------------------


def ack(client_message_id: str, *, seq: int, is_duplicate: bool) -> str:
    return _frame("ack", client_message_id=client_message_id, seq=seq, duplicate=is_duplicate)


def event(seq: int, *, kind: str, at: datetime, transaction_id: UUID | None, data: Mapping[str, Any]) -> str:
    """One event of the conversation; ``at`` is told in UTC."""
    return _frame(
        "event",
        seq=seq,
        kind=kind,
        at=at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        transaction_id=str(transaction_id) if transaction_id else None,
        data=data,
    )


def error(bad: BadFrame) -> str:
    return _frame("error", code=bad.code, detail=bad.detail, client_message_id=bad.client_message_id)


def pong(seq: int) -> str:
    return _frame("pong", seq=seq)


def ready(seq: int) -> str:
    return _frame("ready", seq=seq)


def _frame(type_: str, **content: Any) -> str:
    # ASCII, because a lone surrogate that a database kept escaped must not break the socket.
    return json.dumps({"type": type_, **content}, separators=(",", ":"))
