"""A chat client over the public protocol: HTTP for the session, a websocket for the rest (contracts.md §2)."""

import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import jwt
import pytest
from websockets.sync.client import ClientConnection, connect

Event = dict[str, Any]
FRAME_SECONDS = 20
FINAL = {"SUCCESS", "PARTIAL_SUCCESS", "FAILED", "REFUSED", "CANCELLED", "ABANDONED", "EXPIRED"}


def user_token(secret: str, **business: str) -> str:
    """A token as the channel's own site would sign it."""
    return jwt.encode({"exp": int(time.time()) + 600, "business": business}, secret, algorithm="HS256")


def post(url: str, body: dict[str, Any], **headers: str) -> tuple[int, dict[str, Any]]:
    """POST ``body`` as JSON; the status and the JSON answer, whatever the status."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"} | headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")


def get(url: str, **headers: str) -> Any:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
        return json.load(answer)


class Chat:
    """One conversation. ``events`` grows in the order of ``seq``; ``frames`` holds every other frame."""

    def __init__(
        self, base: str, *, channel: str = "demo", locale: str = "pt-BR", token: str = "", session: Event | None = None
    ) -> None:
        self.base = base
        self.locale = locale
        if session is None:
            body = {"channel": channel, "locale": locale} | ({"user_token": token} if token else {})
            status, session = post(f"{base}/api/v1/chat/sessions", body)
            assert status == 201, session
        self.session = session
        self.events: list[Event] = []
        self.frames: list[Event] = []
        self.socket = self._connect()

    def _connect(self) -> ClientConnection:
        address = self.base.replace("http", "ws", 1) + self.session["ws_path"]
        self.closing = ExitStack()
        # No limit: a tab that nobody reads must not hold up its socket.
        socket = self.closing.enter_context(connect(address, compression=None, open_timeout=20, max_queue=None))
        after = self.events[-1]["seq"] if self.events else 0
        socket.send(json.dumps({"type": "hello", "session_token": self.session["session_token"], "after_seq": after}))
        return socket

    def reconnect(self) -> None:
        """Come back with ``after_seq``, as a browser does when the socket closed."""
        self.close()
        self.socket = self._connect()

    def another_socket(self) -> "Chat":
        """A second tab of the same conversation."""
        return Chat(self.base, locale=self.locale, session=self.session)

    def send(self, frame: Event) -> None:
        self.socket.send(json.dumps(frame))

    def say(self, text: str, *, message_id: str = "", **more: Any) -> str:
        """Send a message as somebody who has read everything so far; its client message id."""
        message_id = message_id or str(uuid.uuid4())
        frame = {"type": "message.send", "client_message_id": message_id, "text": text, "seen_seq": self.last_seq}
        self.send(frame | more)
        return message_id

    def press(self, confirmation_id: str, decision: str, *, message_id: str = "", **more: Any) -> str:
        """Answer a confirmation by its button."""
        message_id = message_id or str(uuid.uuid4())
        self.send(
            {
                "type": "confirmation.answer",
                "client_message_id": message_id,
                "confirmation_id": confirmation_id,
                "decision": decision,
            }
            | more
        )
        return message_id

    @property
    def last_seq(self) -> int:
        return self.events[-1]["seq"] if self.events else 0

    def receive(self, timeout: float = FRAME_SECONDS) -> Event | None:
        """The next frame, sorted in; None when none came within ``timeout`` seconds."""
        try:
            frame: Event = json.loads(self.socket.recv(timeout=max(timeout, 0)))
        except TimeoutError:
            return None
        if frame["type"] == "event":
            assert frame["seq"] == self.last_seq + 1, f"a gap before {frame}; so far {self.kinds()}"
            self.events.append(frame)
        else:
            self.frames.append(frame)
        return frame

    def read_until(self, done: Callable[[], Any], *, timeout: float = FRAME_SECONDS, what: str = "") -> Any:
        """Read frames until ``done`` gives something true, and return it."""
        deadline = time.monotonic() + timeout
        while not (found := done()):
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                pytest.fail(
                    f"waited {timeout} s for {what}; events {self.kinds()}, frames {self.frames}", pytrace=False
                )
            self.receive(remaining)
        return found

    def wait_for(self, kind: str, *, after: int = 0, timeout: float = FRAME_SECONDS, **data: Any) -> Event:
        """The first event of ``kind`` with a seq above ``after`` whose data holds ``data``."""

        def found() -> Event | None:
            return next((event for event in self.of(kind, after=after) if matches(event["data"], data)), None)

        return self.read_until(found, timeout=timeout, what=f"{kind} {data}")

    def wait_for_ack(self, message_id: str) -> Event:
        """The ack, or the error, that answers the frame with this client message id."""
        return self.read_until(
            lambda: next((frame for frame in self.frames if frame.get("client_message_id") == message_id), None),
            what=f"an answer to {message_id}",
        )

    def catch_up(self) -> None:
        """Read everything that the server has for us at this moment: a ping comes back after it."""
        before = len(self.frames)
        self.send({"type": "ping", "last_seq": self.last_seq})
        pong = self.read_until(
            lambda: next((frame for frame in self.frames[before:] if frame["type"] == "pong"), None), what="pong"
        )
        self.read_until(lambda: self.last_seq >= pong["seq"], what=f"events up to {pong['seq']}")

    def of(self, kind: str, *, after: int = 0) -> list[Event]:
        return [event for event in self.events if event["kind"] == kind and event["seq"] > after]

    def kinds(self, *, after: int = 0) -> list[str]:
        return [event["kind"] for event in self.events if event["seq"] > after]

    def close(self) -> None:
        self.closing.close()


def matches(data: Event, expected: Event) -> bool:
    return all(data.get(key) == value for key, value in expected.items())


def close_all(chats: Iterable[Chat]) -> None:
    for chat in chats:
        chat.close()
