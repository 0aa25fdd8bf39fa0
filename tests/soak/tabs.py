"""One browser tab: a socket that comes back with ``after_seq`` and sends again what nobody acknowledged.

It does what static/chat/protocol.js does, on either of several web processes, and writes down whatever a client
must never see: a gap, an event twice, an error that nobody expects.
"""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

Frame = dict[str, Any]

OPEN_SECONDS, READY_SECONDS = 10.0, 20.0
PING_SECONDS, SILENCE_SECONDS = 20.0, 10.0
FIRST_PAUSE, LONGEST_PAUSE = 0.3, 3.0
AGAIN_SECONDS = 1.5
WORTH_A_RETRY = {"rate_limited", "busy", "unavailable"}
ANSWERED_OTHERWISE = {"confirmation_closed"}
"""Somebody else, another tab or an earlier copy of the frame, was first."""
TWICE = 0.15
"""How often a frame is sent a second time at once."""


class Tab:
    """``react`` is told of every event, once and in order."""

    def __init__(
        self,
        bases: Sequence[str],
        session: Frame,
        chance: random.Random,
        react: Callable[[Tab, Frame], None] | None = None,
    ) -> None:
        self.bases, self.session, self.chance, self.react = bases, session, chance, react
        self.seen: list[tuple[int, str]] = []
        """(seq, kind) of every event, in the order of arrival."""
        self.acknowledged: set[str] = set()
        self.troubles: list[str] = []
        self.connections = 0
        self._pending: dict[str, Frame] = {}
        self._socket: ClientConnection | None = None
        self._pause = FIRST_PAUSE
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def last_seq(self) -> int:
        return self.seen[-1][0] if self.seen else 0

    # Sending ----------------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        self._post({"type": "message.send", "text": text, "seen_seq": self.last_seq})

    def press(self, confirmation_id: str, decision: str) -> None:
        self._post({"type": "confirmation.answer", "confirmation_id": confirmation_id, "decision": decision})

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """``action`` after a pause, as long as the tab is open."""

        async def wait() -> None:
            await asyncio.sleep(seconds)
            action()

        task = asyncio.ensure_future(wait())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _post(self, frame: Frame) -> None:
        message_id = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
        self._pending[message_id] = frame | {"client_message_id": message_id}
        self._transmit(message_id)

    def _transmit(self, message_id: str) -> None:
        frame = self._pending.get(message_id)
        if frame is None or self._socket is None:
            return
        for _ in range(2 if self.chance.random() < TWICE else 1):
            task = asyncio.ensure_future(self._send(self._socket, frame))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, socket: ClientConnection, frame: Frame) -> None:
        with suppress(OSError, WebSocketException):  # it stays pending and is sent on the next socket
            await socket.send(json.dumps(frame))

    # Being connected --------------------------------------------------------------------------------------------

    async def follow(self) -> None:
        """Stay connected until cancelled."""
        try:
            while True:
                await self._connect(until_ready=False)
                await asyncio.sleep(self._pause * self.chance.uniform(0.75, 1.25))
                self._pause = min(2 * self._pause, LONGEST_PAUSE)
        finally:
            for task in [*self._tasks]:
                task.cancel()

    async def read_rest(self, *, tries: int = 5) -> bool:
        """Read, without sending anything, what came since; whether that was possible."""
        self._pending.clear()
        self.react = None
        for _ in range(tries):
            if await self._connect(until_ready=True):
                return True
            await asyncio.sleep(1)
        return False

    async def _connect(self, *, until_ready: bool) -> bool:
        """One socket to its end; True when it was asked for no more than to become ready, and did."""
        address = self.chance.choice(self.bases).replace("http", "ws", 1) + self.session["ws_path"]
        self.connections += 1
        try:
            async with connect(
                address, compression=None, open_timeout=OPEN_SECONDS, close_timeout=1, ping_interval=None
            ) as socket:
                hello = {"type": "hello", "session_token": self.session["session_token"], "after_seq": self.last_seq}
                await socket.send(json.dumps(hello))
                return await self._read(socket, until_ready=until_ready)
        except (OSError, TimeoutError, WebSocketException):
            return False
        finally:
            self._socket = None

    async def _read(self, socket: ClientConnection, *, until_ready: bool) -> bool:
        is_pinged, patience = False, READY_SECONDS
        while True:
            try:
                async with asyncio.timeout(patience):
                    frame = json.loads(await socket.recv())
            except TimeoutError:
                if self._socket is None or is_pinged:
                    return False
                await socket.send(json.dumps({"type": "ping", "last_seq": self.last_seq}))
                is_pinged, patience = True, SILENCE_SECONDS
                continue
            is_pinged = False
            if frame["type"] == "ready":
                if until_ready:
                    return self._is_complete(frame["seq"])
                self._pause, self._socket = FIRST_PAUSE, socket
                for message_id in [*self._pending]:
                    self._transmit(message_id)
            patience = PING_SECONDS if self._socket else READY_SECONDS
            self._take(frame)

    def _is_complete(self, seq: int) -> bool:
        if seq != self.last_seq:
            self.troubles.append(f"the replay ended at {self.last_seq} and said {seq}")
        return True

    def _take(self, frame: Frame) -> None:
        match frame["type"]:
            case "event":
                self._see(frame)
            case "ack":
                self._pending.pop(frame["client_message_id"], None)
                self.acknowledged.add(frame["client_message_id"])
            case "error":
                self._fail(frame)

    def _see(self, event: Frame) -> None:
        seq, kind = event["seq"], event["kind"]
        if seq != self.last_seq + 1:
            self.troubles.append(f"event {seq} ({kind}) came after {self.last_seq}")
            if seq <= self.last_seq:
                return
        self.seen.append((seq, kind))
        if self.react is not None:
            self.react(self, event)

    def _fail(self, frame: Frame) -> None:
        message_id, code = frame.get("client_message_id") or "", frame["code"]
        if code in WORTH_A_RETRY:
            self.later(AGAIN_SECONDS, lambda: self._transmit(message_id))
        elif code in ANSWERED_OTHERWISE:
            self._pending.pop(message_id, None)
        else:
            self.troubles.append(f"error {code}: {frame.get('detail')}")
            self._pending.pop(message_id, None)
