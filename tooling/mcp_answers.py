"""Decides from what passed over the wire what a tool call came to (runtime.md §9.4). Knows no SDK and does no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tooling.cleaning import clean_json, clean_text, read_json
from tooling.gateway import Answered, NoAnswer, NotSent, Outcome
from tooling.specs import JSON

LARGEST = 10 * 1024 * 1024
"""Bytes of the largest answer that is read."""

REFUSED_STATUSES = frozenset({401, 403, 404, 405, 413, 415, 429})
"""HTTP answers to the POST that a server gives before it could run the tool."""

NOTHING_RAN = frozenset({-32601, -32602})
"""JSON-RPC "method not found" and "invalid params"."""

KEPT_OF_NO_ANSWER = 64 * 1024


@dataclass(slots=True, eq=False)
class Mark:
    """What is known of one ``tools/call`` on the wire; the transports write it, ``outcome_of`` reads it."""

    seconds: float = 30.0
    request_id: JSON = None
    written: bool = False
    """Set before the first byte of the call leaves, so that it errs to "sent"."""
    error: str = ""
    """How the transport itself failed; empty where it did not."""
    status: int = 0
    is_event_stream: bool = False
    too_large: bool = False
    bodies: list[bytearray] = field(default_factory=list)
    """What came back: one body, or several where the SDK resumed a broken event stream."""

    def note(self, name: str) -> None:
        """Follow the HTTP client's trace of this one request."""
        if name.endswith("send_request_headers.started"):
            self.written = True

    def keep(self, data: bytes) -> bool:
        """Keep ``data`` as the next piece of the last body; False where the answer has become too large."""
        if sum(map(len, self.bodies)) + len(data) > LARGEST:
            self.too_large = True
            return False
        self.bodies[-1] += data
        return True


def outcome_of(mark: Mark, trouble: str = "") -> Outcome:
    """What the call came to. ``trouble`` says how waiting for it ended where the SDK gave no result."""
    reply = reply_in(mark)
    code = _error_code(reply)
    if code in NOTHING_RAN:
        return NotSent(f"the server refused the call: {_error_text(reply)}", again=False, raw=clean_json(reply))
    if mark.status in REFUSED_STATUSES:
        return NotSent(f"the server refused the call with HTTP {mark.status}")
    if mark.error and not mark.written:
        return NotSent(f"the call could not be sent: {mark.error}")
    result = reply.get("result") if reply and not mark.too_large and mark.status < 300 else None
    if _is_tool_result(result):
        return _answered(result)
    return NoAnswer(_why(mark, reply, trouble), raw=_received(mark))


def reply_in(mark: Mark) -> dict[str, JSON] | None:
    """The JSON-RPC response to this very request among what was received."""
    for body in mark.bodies:
        for text in _messages(bytes(body), is_event_stream=mark.is_event_stream):
            message = message_in(text)
            if is_reply(message, mark.request_id):
                return message
    return None


def message_in(text: bytes) -> dict[str, JSON]:
    """The JSON object that ``text`` is; empty for anything else."""
    try:
        message = read_json(text)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def is_reply(message: dict[str, JSON], request_id: JSON) -> bool:
    """Whether ``message`` answers the request with this id, type and value alike."""
    its_id = message.get("id")
    same = its_id == request_id and type(its_id) is type(request_id) and its_id is not None
    return same and (isinstance(message.get("result"), dict) or isinstance(message.get("error"), dict))


def _messages(body: bytes, *, is_event_stream: bool) -> Iterator[bytes]:
    """The JSON texts in ``body``: the body itself, or the data of each complete event of a stream."""
    if not is_event_stream:
        yield body
        return
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for event in lines.split(b"\n\n")[:-1]:
        data = [line[5:].removeprefix(b" ") for line in event.split(b"\n") if line.startswith(b"data:")]
        if data:
            yield b"\n".join(data)


def _is_tool_result(result: JSON) -> bool:
    """A result that says something: content or structured content, and no request for more input."""
    if not isinstance(result, dict) or result.get("resultType", "complete") != "complete":
        return False
    return isinstance(result.get("content"), list) or result.get("structuredContent") is not None


def _answered(result: JSON) -> Answered:
    raw = clean_json(result)
    content = raw["content"] if isinstance(raw.get("content"), list) else []
    texts = (block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text")
    structured = raw.get("structuredContent")
    return Answered(
        raw=raw,
        structured=None if structured == {} else structured,
        texts=tuple(text for text in texts if isinstance(text, str)),
        is_error=bool(raw.get("isError")),
    )


def _error_code(reply: dict[str, JSON] | None) -> JSON:
    error = reply.get("error") if reply else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else None


def _error_text(reply: dict[str, JSON] | None) -> str:
    error = reply.get("error") if reply else None
    message = error.get("message") if isinstance(error, dict) else ""
    return clean_text(f"{message} ({_error_code(reply)})")[:500]


def _why(mark: Mark, reply: dict[str, JSON] | None, trouble: str) -> str:
    if mark.too_large:
        return "the answer is larger than 10 MiB"
    if mark.error:
        return f"the connection failed after the call had been sent: {mark.error}"
    if reply and "error" in reply:
        return f"the server answered with an error: {_error_text(reply)}"
    if mark.status >= 300:
        return f"the server answered with HTTP {mark.status}"
    if any(mark.bodies):
        return "the server's answer cannot be read as the answer to this call"
    return clean_text(trouble)[:500] or "no answer came"


def _received(mark: Mark) -> JSON:
    """What came of an answer, as JSON where it is some, else the beginning of its text."""
    body = b"".join(map(bytes, mark.bodies))
    if not body:
        return None
    try:
        return clean_json(read_json(body)) if not mark.too_large else _beginning(body)
    except ValueError:
        return _beginning(body)


def _beginning(body: bytes) -> str:
    return clean_text(body[:KEPT_OF_NO_ANSWER].decode("utf-8", errors="replace"))
