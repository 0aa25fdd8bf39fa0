"""What leaves after a commit: hints to sockets and wake-ups to workers. All of it may be lost or come twice.

The truth is in the database: sockets read it back by seq, and the sweeper finds whatever nobody was woken for.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from typing import Literal
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction as database

from transactions import failpoints

log = logging.getLogger(__name__)

Work = Literal["turns", "readings", "prevalidate", "execute", "reconcile", "check_server", "replay"]
Pool = Literal["turns", "readings", "calls", "publisher"]

TASKS: dict[Work, str] = {
    "prevalidate": "transactions.prevalidate",
    "execute": "transactions.execute",
    "reconcile": "transactions.reconcile",
}
"""Work that Celery workers do, by the name of the task: a name, so that services need not import tasks."""

RUNNERS: dict[Work, str] = {
    "turns": "transactions.turns:run_turns",
    "readings": "transactions.turns:run_turns",
    "prevalidate": "transactions.execution:prevalidate",
    "execute": "transactions.execution:execute",
    "reconcile": "transactions.execution:reconcile",
    "check_server": "tooling.server_checks:check_due",
    "replay": "transactions.rehearsal.replay_runs:work_off",
}
"""The functions that do the work in this process; looked up late, because they call services."""

_PUSH_SECONDS = 1.0
_server_loop: asyncio.AbstractEventLoop | None = None
_pools: dict[Pool, ThreadPoolExecutor] = {}
_thread = threading.local()
_lock = threading.Lock()
_at_work: set[tuple[Work, str]] = set()
_ending = threading.Event()


def group_of(conversation_id: UUID | str) -> str:
    """The channel-layer group of the sockets of one conversation."""
    return f"conversation.{conversation_id}"


# After the commit ------------------------------------------


def wake(work: Work, row_id: UUID | int | str) -> None:
    """Have ``work`` done for the row after the commit, here or by a Celery worker."""
    _after_commit(lambda: submit(work, str(row_id)))


def push(conversation_id: UUID) -> None:
    """Tell the sockets of the conversation, after the commit, that there is something to read."""
    _after_commit(lambda: _publish(group_of(conversation_id)))


def _after_commit(action: Callable[[], None]) -> None:
    database.on_commit(lambda: _guarded(action))


def _guarded(action: Callable[[], object]) -> None:
    """Nothing that leaves after a commit may harm what was committed, or the other callbacks."""
    try:
        action()
    except Exception:
        log.exception("a wake-up or hint was lost; the sweeper and the read-back by seq make up for it")


# Work ------------------------------------------


def submit(work: Work, row_id: str) -> None:
    """Start ``work``: through Celery where workers do it, else in this process's bounded pool."""
    if settings.REDIS_URL and work in TASKS:
        _executor("publisher").submit(_guarded, lambda: _send_task(TASKS[work], row_id))
    else:
        run_here(work, row_id)


def run_here(work: Work, row_id: str) -> None:
    """Run ``work`` in the pool of this process, unless the same work waits or runs there already."""
    with _lock:
        if (work, row_id) in _at_work:
            return
        _at_work.add((work, row_id))
    try:
        _executor(work if work == "turns" or work == "readings" else "calls").submit(_work, work, row_id)
    except RuntimeError:  # shutting down; the next process finds the work
        _at_work.discard((work, row_id))


def _work(work: Work, row_id: str) -> None:
    _at_work.discard((work, row_id))
    _guarded(lambda: runner(work)(row_id))


def is_for_short_work() -> bool:
    """Whether this thread belongs to the pool of turns that ask no model: nobody may be kept waiting in it.

    A turn that does ask one goes on in the pool of "readings", so that models that do not answer keep no yes waiting.
    """
    return getattr(_thread, "pool", "") == "turns"


def runner(work: Work) -> Callable[[str], object]:
    """The function that does ``work`` for the row with this id."""
    module, _, name = RUNNERS[work].partition(":")
    found: Callable[[str], object] = getattr(import_module(module), name)
    return found


def warm_up(*works: Work) -> None:
    """Load in the background what ``works`` need, so that the first of them does not wait for slow imports."""

    def load() -> None:
        for work in works:
            _guarded(import_module(RUNNERS[work].partition(":")[0]).warm_up)

    threading.Thread(target=load, name="warm-up", daemon=True).start()


@cache
def _celery() -> object:
    from celery import Celery

    app = Celery("agentplatform.outbox", broker=settings.REDIS_URL)
    app.conf.update(
        broker_transport_options=settings.CELERY_BROKER_TRANSPORT_OPTIONS,
        broker_connection_retry=False,
        task_publish_retry=False,
    )
    return app


def _send_task(name: str, row_id: str) -> None:
    failpoints.hit("wake_up_publishing")
    _celery().send_task(name, args=[row_id], ignore_result=True, retry=False)  # type: ignore[attr-defined]  # celery has no types


def _executor(kind: Pool) -> ThreadPoolExecutor:
    """One bounded pool per kind, so that slow tools and slow models never keep a turn waiting that needs neither."""
    sizes = {"publisher": 2, "turns": settings.DB_THREADS}
    with _lock:
        if kind not in _pools:
            _pools[kind] = ThreadPoolExecutor(
                sizes.get(kind, settings.WORK_THREADS), kind, initializer=setattr, initargs=(_thread, "pool", kind)
            )
        return _pools[kind]


# Hints ------------------------------------------


def attach_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Remember the server's event loop: the in-memory layer may be used only there."""
    global _server_loop
    _server_loop = loop


def _publish(group: str) -> None:
    loop = _own_loop() if settings.REDIS_URL else _server_loop
    if loop is None or loop.is_closed():
        return
    asyncio.run_coroutine_threadsafe(_send_hint(group), loop)


async def _send_hint(group: str) -> None:
    layer = get_channel_layer()
    try:
        await asyncio.wait_for(layer.group_send(group, {"type": "conversation.changed"}), _PUSH_SECONDS)
    except Exception as error:  # any trouble of the layer: the hint is lost, the truth is not
        log.info("hint to %s lost: %r", group, error)


@cache
def _own_loop() -> asyncio.AbstractEventLoop:
    """One loop for hints through Redis: a loop and a connection per hint cost fifteen times as much."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="outbox-loop", daemon=True).start()
    return loop


def is_ending() -> bool:
    """Whether this process is told to end: work that takes long stops where another process can go on."""
    return _ending.is_set()


def shutdown() -> None:
    """Take no more work; what is running ends on its own or is found by the next sweeper."""
    _ending.set()
    for executor in _pools.values():
        executor.shutdown(wait=False, cancel_futures=True)
