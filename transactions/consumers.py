"""The chat socket: one task reads frames, one delivers events, one listens for hints (contracts.md §2).

The socket holds no state but the number of the last event that it sent. A hint of the channel layer only says
that there may be something new; what is new is read from the database by seq, also when no hint comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import close_old_connections
from redis.exceptions import RedisError

from transactions import frames, outbox
from transactions.core.errors import ConfirmationClosed, InvalidItems, StaleTransaction
from transactions.core.retrying import Refusal
from transactions.frames import BadFrame, ConfirmationAnswer, ErrorCode, Hello, MessageSend, Ping, TransactionRetry
from transactions.models import Conversation, Event
from transactions.rates import Bucket, Buckets, Places
from transactions.services import intake
from transactions.services.retrying import RetryRefused
from transactions.sessions import Session, allows_origin, is_known_origin, read_session

log = logging.getLogger(__name__)

NOT_AUTHENTICATED, FOREIGN_ORIGIN, NO_HELLO, TOO_FAST, TRY_AGAIN_LATER = 4401, 4403, 4408, 4429, 1013
BATCH = 100
SEND_SECONDS = 20.0
"""How long a reader may keep one frame waiting; it holds up nobody but itself."""
POLL_SECONDS, QUIET_POLL_SECONDS = 1.0, 15.0
"""How long a lost hint goes unnoticed: soon after something happened, and on a quiet socket."""
RETRY_ERRORS: Mapping[Refusal, tuple[ErrorCode, str]] = {
    Refusal.NOT_FINISHED: ("busy", "it is still at work; wait for its result"),
    Refusal.OCCUPIED: ("busy", "another request is open; finish it first"),
    Refusal.OUTCOME_UNKNOWN: ("invalid_items", "its outcome is being verified; nothing is sent again meanwhile"),
    Refusal.NOTHING_FAILED: ("invalid_items", "nothing of it can be tried again"),
    Refusal.NOT_NEWEST: ("invalid_items", "it was tried again already"),
    Refusal.INSEPARABLE: ("invalid_items", "what failed cannot be told apart from what was done; ask for it in words"),
    Refusal.DEFINITION_CHANGED: ("invalid_items", "what it needs has changed; ask for it in words"),
    Refusal.TOOL_UNAVAILABLE: ("unavailable", "this is not available at the moment"),
}
"""How a retry that may not run now is answered (runtime.md §9.5); what may pass by itself is worth sending again."""
HINTS_AGAIN_SECONDS, HINTS_AGAIN_AT_MOST_SECONDS = 1.0, 15.0

DB = ThreadPoolExecutor(settings.DB_THREADS, "db")
MESSAGES = Buckets(burst=10, per_second=1)
SOCKETS = Places(limit=500)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
P = ParamSpec("P")
T = TypeVar("T")


async def in_db(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run ``function`` in one of the DB_THREADS threads, each with its own connection, checked first."""

    def call() -> T:
        close_old_connections()
        return function(*args, **kwargs)

    return await asyncio.get_running_loop().run_in_executor(DB, call)


class _Gone(Exception):
    """The client has closed its socket."""


class ChatConsumer:
    """One client at ``/ws/chat/``.

    Everything that leaves does so under ``self.order``: an ack comes before the events of its message, and
    each event is sent once, in order. It is no AsyncConsumer: those cannot connect while the layer is away.
    """

    session: Session
    seq: int

    def __init__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.scope, self.receive, self.send = scope, receive, send
        self.order, self.news = asyncio.Lock(), asyncio.Event()

    @classmethod
    async def as_asgi(cls, scope: Message, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        outbox.attach_loop(asyncio.get_running_loop())
        await cls(scope, receive, send).run()

    async def run(self) -> None:
        await self.receive()  # websocket.connect
        try:
            await self.send({"type": "websocket.accept"})
            code = await self._admit()
            async with asyncio.timeout(1):
                await self.send({"type": "websocket.close", "code": code})
        except (_Gone, OSError):
            pass  # the client has left, or does not read its way to the close frame

    # Coming in ----------------------------------------------------------------------------------------------

    async def _admit(self) -> int:
        """Serve the client to the end; the code to close with."""
        address = (self.scope.get("client") or [""])[0]
        with SOCKETS.hold(address) as has_place:
            if settings.RATE_LIMITS and not has_place:
                return TOO_FAST
            try:
                return await self._greet() or await self._serve()
            except DatabaseTrouble:
                log.exception("the database cannot be reached; the client is asked to come again")
                return TRY_AGAIN_LATER

    async def _greet(self) -> int | None:
        """Wait for a good hello; the code to close with if there is none."""
        if not await in_db(is_known_origin, self._origin):
            return self._foreign()
        try:
            async with asyncio.timeout(settings.HELLO_SECONDS):
                frame = frames.parse(await self._read())
        except TimeoutError:
            return NO_HELLO
        match frame:
            case Hello():
                return await self._enter(frame)
            case BadFrame():
                await self._say(frames.error(frame))
        return NOT_AUTHENTICATED

    async def _enter(self, hello: Hello) -> int | None:
        session = read_session(hello.session_token)
        if session is None:
            return NOT_AUTHENTICATED
        if session.is_expired:
            return await self._expired()
        conversation = await in_db(_conversation_of, session)
        if conversation is None:
            return NOT_AUTHENTICATED
        if not allows_origin(conversation.channel, self._origin):
            return self._foreign()
        # A cursor from beyond the end, say of another conversation, must not hide what happens next.
        self.session, self.seq = session, min(hello.after_seq, conversation.last_seq)
        return None

    @property
    def _origin(self) -> str | None:
        for name, value in self.scope["headers"]:
            if name == b"origin":
                return str(value, "latin-1")
        return None

    def _foreign(self) -> int:
        log.warning("a socket of the origin %r was refused; the channel does not list it", self._origin)
        return FOREIGN_ORIGIN

    async def _expired(self) -> int:
        await self._say(frames.error(BadFrame("expired_session", "the session has expired; open a new one")))
        return NOT_AUTHENTICATED

    # Being there --------------------------------------------------------------------------------------------

    async def _serve(self) -> int:
        """Replay, then follow until one of the three tasks ends; the code to close with."""
        async with self.order:
            await self._catch_up()
            await self._say(frames.ready(self.seq))
        tasks = [asyncio.create_task(work) for work in (self._listen(), self._deliver(), self._follow())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        except TimeoutError:
            log.info("a client of conversation %s does not read", self.session.conversation_id)
            return TRY_AGAIN_LATER
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self) -> int:
        """Read frames and answer each; the code to close with."""
        flood = Bucket(burst=60, per_second=10)
        while True:
            text = await self._read()
            if self.session.is_expired:
                async with self.order:
                    return await self._expired()
            if settings.RATE_LIMITS and not flood.take():
                return TOO_FAST
            async with self.order:
                await self._handle(frames.parse(text))
            self.news.set()

    async def _deliver(self) -> int:
        """Send what is new: when told, and every now and then in case nobody tells."""
        pause = POLL_SECONDS
        while True:
            try:
                async with asyncio.timeout(pause):
                    await self.news.wait()
                pause = POLL_SECONDS
            except TimeoutError:
                pause = min(2 * pause, QUIET_POLL_SECONDS)
            self.news.clear()
            try:
                async with self.order:
                    if self.session.is_expired:
                        return await self._expired()
                    await self._catch_up()
            except DatabaseTrouble as error:
                log.warning("events could not be read, trying again: %s", error)

    async def _follow(self) -> int:
        """Turn hints of the channel layer into news, whenever the layer can be reached."""
        layer, group = get_channel_layer(), outbox.group_of(self.session.conversation_id)
        pause = HINTS_AGAIN_SECONDS
        while True:
            channel = None
            try:
                channel = await layer.new_channel()
                await layer.group_add(group, channel)
                pause = HINTS_AGAIN_SECONDS
                while True:
                    self.news.set()  # first of all for what was stored before the group was joined
                    await layer.receive(channel)
            except (OSError, RedisError) as error:
                log.info("no hints from the channel layer for now: %r", error)
            finally:
                if channel:
                    with contextlib.suppress(OSError, RedisError):
                        await layer.group_discard(group, channel)
            await asyncio.sleep(pause)
            pause = min(2 * pause, HINTS_AGAIN_AT_MOST_SECONDS)

    async def _catch_up(self) -> None:
        """Send every event after the last one that was sent.

        Events become visible in the order of seq: they are written under the lock of their conversation.
        """
        while True:
            found = await in_db(_events_after, self.session.conversation_id, self.seq)
            for seq, frame in found:
                await self._say(frame)
                self.seq = seq
            if len(found) < BATCH:
                return

    # Frames -------------------------------------------------------------------------------------------------

    async def _handle(self, frame: frames.Frame | BadFrame) -> None:
        match frame:
            case BadFrame():
                answer = frames.error(frame)
            case Ping():
                answer = await self._pong()
            case MessageSend() | ConfirmationAnswer() | TransactionRetry():
                answer = await self._store(frame)
            case Hello():
                answer = frames.error(BadFrame("bad_frame", "hello has been said already"))
        await self._say(answer)

    async def _pong(self) -> str:
        try:
            return frames.pong(await in_db(_last_seq, self.session.conversation_id))
        except DatabaseTrouble:
            log.exception("a ping could not be answered")
            return frames.error(BadFrame("unavailable", "try again in a moment"))

    async def _store(self, frame: MessageSend | ConfirmationAnswer | TransactionRetry) -> str:
        """Store one message, answer or retry and say what became of it; nothing that is said twice is done twice."""
        about = frame.client_message_id
        if settings.RATE_LIMITS and not MESSAGES.of(self.session.conversation_id).take():
            return frames.error(BadFrame("rate_limited", "too many messages; wait a little", about))
        try:
            received = await in_db(_receive, self.session.conversation_id, frame)
        except ConfirmationClosed as error:
            return frames.error(BadFrame("confirmation_closed", str(error), about))
        except InvalidItems as error:
            return frames.error(BadFrame("invalid_items", str(error), about))
        except StaleTransaction:
            return frames.error(BadFrame("busy", "something else happened just now; send it again", about))
        except Exception:
            # Whatever breaks behind one frame, the user keeps the socket and may send it again.
            log.exception("a frame of conversation %s could not be stored", self.session.conversation_id)
            return frames.error(BadFrame("unavailable", "it was not stored; send it again", about))
        if isinstance(received, RetryRefused):
            code, detail = RETRY_ERRORS[received.refusal]
            return frames.error(BadFrame(code, detail, about))
        return frames.ack(about, seq=received.seq, is_duplicate=received.duplicate)

    async def _read(self) -> str | None:
        """The text of the next frame, None for a binary one; raises _Gone when the client has gone."""
        message = await self.receive()
        if message["type"] == "websocket.disconnect":
            raise _Gone
        text: str | None = message.get("text")
        return text

    async def _say(self, text: str) -> None:
        """Send one frame; raises TimeoutError when the client does not read, OSError when it has gone."""
        async with asyncio.timeout(SEND_SECONDS):
            await self.send({"type": "websocket.send", "text": text})


# In the database threads ------------------------------------------------------------------------------------


def _conversation_of(session: Session) -> Conversation | None:
    return (
        Conversation.objects.select_related("channel")
        .filter(pk=session.conversation_id, channel__key=session.channel)
        .first()
    )


def _last_seq(conversation_id: UUID) -> int:
    return Conversation.objects.values_list("last_seq", flat=True).get(pk=conversation_id)


def _events_after(conversation_id: UUID, seq: int) -> list[tuple[int, str]]:
    """(seq, frame) of the next events, at most BATCH."""
    rows = Event.objects.for_the_user().filter(conversation_id=conversation_id, seq__gt=seq)
    return [
        (
            row.seq or 0,
            frames.event(row.seq or 0, kind=row.kind, at=row.at, transaction_id=row.transaction_id, data=row.data),
        )
        for row in rows[:BATCH]
    ]


def _receive(
    conversation_id: UUID, frame: MessageSend | ConfirmationAnswer | TransactionRetry
) -> intake.Received | RetryRefused:
    match frame:
        case MessageSend():
            return intake.receive_message(
                conversation_id,
                client_message_id=frame.client_message_id,
                text=frame.text,
                seen_seq=frame.seen_seq,
            )
        case ConfirmationAnswer():
            return intake.receive_answer(
                conversation_id,
                client_message_id=frame.client_message_id,
                confirmation_id=frame.confirmation_id,
                decision=frame.decision,
                item_keys=None if frame.item_keys is None else list(frame.item_keys),
            )
        case TransactionRetry():
            return intake.receive_retry(
                conversation_id,
                client_message_id=frame.client_message_id,
                transaction_id=frame.transaction_id,
            )
