"""A real server in a thread of the test's process, and clients that speak the chat protocol to it."""

import asyncio
import contextlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import uvicorn
from django.conf import settings
from django.db import close_old_connections, connections
from django.db.transaction import atomic
from django.utils import timezone
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from transactions import consumers
from transactions.models import Conversation
from transactions.services.conversations import open_conversation
from transactions.services.rows import hold, record
from transactions.sessions import open_session

WAIT = 20
ORIGIN = "https://shop.example"
held_up = threading.Event()


def leave_for_later(conversation_id):
    """What is done about a turn, here: nothing. These tests are about the socket."""


def hang(conversation_id):
    """A turn that takes until ``held_up`` is set, as with a language model that does not answer."""
    held_up.wait(WAIT)


class DeafLayer:
    """A channel layer whose server cannot be reached."""

    async def new_channel(self, prefix="x"):
        raise ConnectionRefusedError("nobody listens")

    async def group_send(self, group, message):
        raise ConnectionRefusedError("nobody listens")


@contextlib.contextmanager
def serving(port=0):
    """Serve the product on ``port``, or on a free one; yields its host and port."""
    from agentplatform.asgi import application

    config = uvicorn.Config(
        application, port=port, lifespan="off", log_config=None, ws_max_size=128 * 1024, ws_per_message_deflate=False
    )
    server = uvicorn.Server(config)
    started = threading.Event()
    server.startup = _then(server.startup, started.set)
    thread = threading.Thread(target=asyncio.run, args=(server.serve(),), daemon=True)
    thread.start()
    assert started.wait(WAIT)
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    try:
        yield f"{host}:{port}"
    finally:
        server.should_exit = True
        thread.join(WAIT)
        _end_database_threads()


def _then(start, call):
    async def startup(*args, **kwargs):
        await start(*args, **kwargs)
        call()

    return startup


def _end_database_threads():
    """A database that is dropped after the tests may have no connection left."""
    together = threading.Barrier(settings.DB_THREADS)

    def close():
        together.wait(WAIT)
        connections.close_all()

    for ended in [consumers.DB.submit(close) for _ in range(settings.DB_THREADS)]:
        ended.result(WAIT)
    consumers.DB.shutdown()
    consumers.DB = ThreadPoolExecutor(settings.DB_THREADS, "db")


def conversation_in(channel, **identity):
    return open_conversation(channel, locale="pt-BR", identity=identity)


def token_of(conversation):
    return open_session(conversation, conversation.channel)[0]


def tell(conversation, text, *, kind="assistant.message", is_public=True):
    """Record an event as the runtime does."""
    with atomic():
        return record(hold(conversation.pk), kind, {"text": text}, is_public=is_public)


def in_thread(call, *args):
    """Run ``call`` in a thread of its own, with a database connection that is closed after it."""

    def run():
        try:
            call(*args)
        finally:
            close_old_connections()
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


class Client:
    """One socket."""

    def __init__(self, address, *, origin=ORIGIN, path="/ws/chat/", **options):
        self._entered = contextlib.ExitStack()
        self.socket = self._entered.enter_context(
            connect(f"ws://{address}{path}", origin=origin, compression=None, **options)
        )

    @classmethod
    def greeted(cls, address, conversation, *, after_seq=0, **options):
        """A client whose hello was accepted; its replay is in ``events``."""
        client = cls(address, **options)
        client.hello(token_of(conversation), after_seq=after_seq)
        client.events = client.until("ready")[:-1]
        return client

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self._entered.close()

    def send(self, **frame):
        self.socket.send(json.dumps(frame))

    def hello(self, token, **more):
        self.send(type="hello", session_token=token, **more)

    def say(self, text, id_="m1", **more):
        self.send(type="message.send", client_message_id=id_, text=text, **more)

    def confirm(self, id_, asked, **more):
        """Press the yes of the question ``asked``, the data of its event."""
        confirmation_id = asked["confirmation_id"]
        frame = {"client_message_id": id_, "confirmation_id": confirmation_id, "decision": "confirm"}
        self.send(type="confirmation.answer", **frame, **more)

    def next(self):
        return json.loads(self.socket.recv(WAIT))

    def until(self, type_, **wanted):
        """The frames up to and with the first of ``type_`` that has the ``wanted`` values."""
        heard = []
        while True:
            heard.append(self.next())
            if heard[-1]["type"] == type_ and wanted.items() <= heard[-1].items():
                return heard

    def answer(self, type_, **wanted):
        return self.until(type_, **wanted)[-1]

    def take_events(self, number):
        """The next ``number`` events."""
        heard = []
        while len(heard) < number:
            frame = self.next()
            if frame["type"] == "event":
                heard.append(frame)
        return heard

    def closed(self):
        """(frames before the end, the code that the server closed with)."""
        heard = []
        try:
            while True:
                heard.append(self.next())
        except ConnectionClosed as end:
            return heard, end.rcvd.code if end.rcvd else None


def seqs(frames):
    return [frame["seq"] for frame in frames if frame["type"] == "event"]


def last_seq(conversation):
    return Conversation.objects.values_list("last_seq", flat=True).get(pk=conversation.pk)


def echo(conversation_id):
    """A turn that is answered with a few events of work and then with its own text, in capitals."""
    try:
        with atomic():
            _echo(hold(UUID(conversation_id)))
    finally:
        connections.close_all()


def _echo(conversation):
    for turn in conversation.turns.waiting():
        record(conversation, "transaction.started", {"tool": "t", "label": "Working", "release": 1})
        record(conversation, "items.progress", {"done": 1, "total": 2, "items": []})
        record(conversation, "assistant.message", {"text": turn.text.upper(), "rule": ""})
        conversation.turns.filter(pk=turn.pk).update(handled_at=timezone.now())
