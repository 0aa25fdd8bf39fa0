"""``manage.py chat``: talk to a running server from the terminal, over the same protocol as a page (contracts.md §2).

Typed lines are sent at once. Lines from a pipe wait until the conversation is quiet or asks something, so that
``printf 'a\\nb\\n' | manage.py chat`` is a conversation.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any, TextIO
from urllib.parse import urlsplit

from django.core.management.base import BaseCommand, CommandError

from transactions.api.chat import spoken_in
from transactions.core.reply import status_label
from transactions.core.texts import ENGLISH, PORTUGUESE, language_for
from transactions.models import Channel
from transactions.sessions import identity_named, key_of, mint_user_token

TOKEN_SECONDS = 3600
SETTLE_SECONDS = 0.6
"""How long nothing may happen until the conversation counts as quiet: some events follow others at once."""
RECONNECTS = 8
WORKING = {
    "user.message",
    "transaction.started",
    "pre_validation.finished",
    "confirmation.answered",
    "turn.queued",
    "execution.started",
    "items.progress",
}
"""After these more will come without the user saying anything."""
HINTS: Mapping[str, Mapping[str, str]] = {
    PORTUGUESE: {
        "answer": "(responda com palavras, ou /confirm [números], ou /reject)",
        "nothing_open": "! não há nada para confirmar",
    },
    ENGLISH: {
        "answer": "(answer in words, or /confirm [numbers], or /reject)",
        "nothing_open": "! nothing is open to confirm",
    },
}
"""What the terminal says of its own, in the conversation's language."""


class Transcript:
    """What the terminal has heard: where the conversation stands, and how each frame reads as text."""

    def __init__(self, locale: str) -> None:
        self.locale = locale
        self.last_seq = 0
        self.is_working = False
        self.confirmation_id = ""
        self.item_keys: list[str] = []

    def hint(self, name: str) -> str:
        return HINTS[language_for(self.locale)][name]

    def hear(self, frame: dict[str, Any]) -> str:
        """Take in one frame; the text to print, or an empty one."""
        match frame:
            case {"type": "event", "seq": int(seq), "kind": str(kind), "data": dict(data)}:
                if seq <= self.last_seq:
                    return ""
                self.last_seq = seq
                self.is_working = kind in WORKING
                return self._event(kind, data)
            case {"type": "error", "code": str(code), "detail": str(detail)}:
                self.is_working = False
                return f"! {code}: {detail}"
        return ""

    def _event(self, kind: str, data: dict[str, Any]) -> str:
        match kind:
            case "user.message":
                return f"> {data['text']}"
            case "confirmation.requested":
                return self._question(data)
            case "confirmation.answered":
                self.confirmation_id = ""
                return ""
            case "transaction.started":
                return f"* {data.get('label') or data['tool']}"
            case "items.progress":
                return f"  {data['done']}/{data['total']}"
            case "transaction.finished" | "transaction.verifying":
                return f"= {status_label(data['status'], self.locale)}\n{data['text']}"
        return str(data.get("text") or "")

    def _question(self, data: dict[str, Any]) -> str:
        self.confirmation_id = str(data["confirmation_id"])
        items = data["items"]
        eligible = [item for item in items if item["eligible"]]
        self.item_keys = [item["key"] for item in eligible]
        lines = [f"? {data['text']}"]
        lines += [f"  {number}. {item['label']}" for number, item in enumerate(eligible, 1)]
        lines += [f"  –  {item['label']}: {item['reason'] or ''}" for item in items if not item["eligible"]]
        return "\n".join([*lines, f"  {self.hint('answer')}"])


class TerminalChat:
    """One socket that comes back when it breaks, read by a thread of its own."""

    def __init__(self, url: str, *, session_token: str, origin: str | None, locale: str, out: TextIO) -> None:
        self._url, self._token, self._origin, self._out = url, session_token, origin, out
        self._changed = threading.Condition()
        self._transcript = Transcript(locale)
        self._pending: dict[str, dict[str, Any]] = {}
        self._socket: Any = None
        self._heard_at = time.monotonic()
        self._is_ready = self._is_closed = False
        self._trouble = ""

    def start(self) -> None:
        threading.Thread(target=self._run, name="chat", daemon=True).start()

    def close(self) -> None:
        self._is_closed = True
        if self._socket is not None:
            self._socket.close()

    def say(self, line: str) -> None:
        """Send a line: words, or the commands /confirm [numbers] and /reject."""
        match line.split():
            case ["/confirm", *numbers]:
                keys = self._chosen(numbers)
                self._answer("confirm", {"item_keys": keys} if keys else {})
            case ["/reject"]:
                self._answer("reject", {})
            case _:
                self._post({"type": "message.send", "text": line, "seen_seq": self._transcript.last_seq})

    def wait_until_quiet(self, seconds: float) -> None:
        """Return once nothing is awaited any more; CommandError when that takes longer than ``seconds``."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not self._is_quiet():
                if self._trouble:
                    raise CommandError(self._trouble)
                if time.monotonic() > deadline:
                    raise CommandError(f"no answer within {seconds:g} s; is a worker running?")
                self._changed.wait(0.1)

    def _is_quiet(self) -> bool:
        is_settled = time.monotonic() - self._heard_at > SETTLE_SECONDS
        return self._is_ready and not self._pending and not self._transcript.is_working and is_settled

    # Sending ------------------------------------------------------------------------------------------------

    def _chosen(self, numbers: list[str]) -> list[str]:
        keys = self._transcript.item_keys
        return [keys[int(number) - 1] for number in numbers if number.isdecimal() and 0 < int(number) <= len(keys)]

    def _answer(self, decision: str, more: dict[str, Any]) -> None:
        if not self._transcript.confirmation_id:
            self._print(self._transcript.hint("nothing_open"))
            return
        answer = {"confirmation_id": self._transcript.confirmation_id, "decision": decision}
        self._post({"type": "confirmation.answer", **answer, **more})

    def _post(self, frame: dict[str, Any]) -> None:
        """Keep the frame until it is acknowledged, and send it now or after the next hello."""
        frame = {**frame, "client_message_id": str(uuid.uuid4())}
        with self._changed:
            self._pending[frame["client_message_id"]] = frame
            if self._is_ready:
                self._transmit(frame)

    def _transmit(self, frame: dict[str, Any]) -> None:
        from websockets.exceptions import ConnectionClosed

        # What a closing socket does not take is sent again after the next hello.
        with contextlib.suppress(ConnectionClosed):
            self._socket.send(json.dumps(frame))

    # Receiving ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        """Connect, follow, and connect again; ends with ``_trouble`` when the server does not want us."""
        from websockets.exceptions import ConnectionClosed, InvalidHandshake
        from websockets.sync.client import connect

        code: int | str | None = None
        for attempt in range(RECONNECTS):
            try:
                with connect(self._url, origin=self._origin, max_size=None, compression=None) as self._socket:  # type: ignore[arg-type]  # a plain text is an Origin
                    self._follow()
            except ConnectionClosed as closed:
                code = closed.rcvd.code if closed.rcvd else None
            except (OSError, InvalidHandshake, TimeoutError) as error:
                code = str(error)
            self._is_ready = False
            if self._is_closed or (isinstance(code, int) and 4400 <= code < 4500):
                break
            time.sleep(min(0.25 * 2**attempt, 5))
        with self._changed:
            self._trouble = f"the server closed the chat ({code})"
            self._changed.notify_all()

    def _follow(self) -> None:
        hello = {"type": "hello", "session_token": self._token, "after_seq": self._transcript.last_seq}
        self._socket.send(json.dumps(hello))
        for text in self._socket:
            frame = json.loads(text)
            with self._changed:
                self._hear(frame)
                self._changed.notify_all()

    def _hear(self, frame: dict[str, Any]) -> None:
        self._heard_at = time.monotonic()
        match frame["type"]:
            case "ready":
                self._is_ready = True
                for held in self._pending.values():
                    self._transmit(held)
            case "ack":
                if self._pending.pop(frame["client_message_id"], None) and not frame["duplicate"]:
                    self._transcript.is_working = True
            case "error":
                self._pending.pop(frame["client_message_id"] or "", None)
        self._print(self._transcript.hear(frame))

    def _print(self, text: str) -> None:
        if text:
            self._out.write(text + "\n")
            self._out.flush()


class Command(BaseCommand):
    help = "Chat in the terminal. /confirm [numbers], /reject and /quit are commands; anything else is said."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--channel", default="demo")
        parser.add_argument("--customer", help="who you are (default: somebody new, where a token is needed)")
        parser.add_argument("--url", help="the running server (default: this machine's, on PORT or 8000)")
        parser.add_argument("--locale", help="pt-BR or en (default: the channel's)")
        parser.add_argument("--wait", type=float, default=120, metavar="SECONDS", help="for each answer")

    def handle(
        self, *, channel: str, customer: str | None, url: str | None, locale: str | None, wait: float, **options: Any
    ) -> None:
        place = Channel.objects.filter(key=channel).first()
        if place is None:
            raise CommandError(f'there is no channel "{channel}"; make one with `manage.py channel create`')
        asked = {"channel": place.key, "locale": locale, "user_token": self._user_token(place, customer)}
        url = url or default_url()
        session = open_session(url, asked)
        origin = None if place.allow_no_origin else next(iter(place.origins), None)
        chat = TerminalChat(
            socket_url(url, session["ws_path"]),
            session_token=session["session_token"],
            origin=origin,
            locale=spoken_in(locale, place),
            out=sys.stdout,
        )
        chat.start()
        try:
            self._talk(chat, wait)
        finally:
            chat.close()

    def _user_token(self, channel: Channel, customer: str | None) -> str | None:
        if channel.anonymous and customer is None and not key_of(channel):
            return None
        customer = customer or f"terminal-{secrets.token_hex(4)}"
        token = mint_user_token(channel, identity_named(customer), seconds=TOKEN_SECONDS)
        if token is None:
            name = channel.jwt_secret_env or "the channel's token secret"
            raise CommandError(f"cannot sign in as {customer}: {name} is not set in this environment")
        self.stderr.write(f"you are customer {customer} in channel {channel.key}")
        return token

    def _talk(self, chat: TerminalChat, wait: float) -> None:
        chat.wait_until_quiet(wait)
        for line in lines():
            if not line.strip():
                continue
            if line.strip() == "/quit":
                break
            chat.say(line.strip())
            if not sys.stdin.isatty():
                chat.wait_until_quiet(wait)


def lines() -> Iterator[str]:
    """The user's lines until end of file or Ctrl-C."""
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while True:
            yield input()


def default_url() -> str:
    """Where ``manage.py serve`` listens by itself."""
    return f"http://127.0.0.1:{os.environ.get('PORT') or '8000'}"


def open_session(url: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What ``POST /api/v1/chat/sessions`` answers; CommandError with what to do if it does not."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise CommandError(f'"{url}" is no web address')
    request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
        f"{url.rstrip('/')}/api/v1/chat/sessions",
        data=json.dumps(asked).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - as above
            content: dict[str, Any] = json.load(answer)
            return content
    except urllib.error.HTTPError as error:
        raise CommandError(f"the server refused a session: {error.code} {error.read(2000).decode()}") from error
    except OSError as error:
        raise CommandError(f"no server at {url} ({error}); start it with `manage.py serve`") from error


def socket_url(url: str, path: str) -> str:
    parts = urlsplit(url)
    return parts._replace(scheme="wss" if parts.scheme == "https" else "ws", path=path, query="").geturl()
