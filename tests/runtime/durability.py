"""What the tests of durability.jsonl share: its cases, worlds at the point where a case begins, several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Barrier, current_thread
from typing import Any, get_args
from uuid import uuid4

from django.db import connections
from django.db.models import F

from tests.loading import cases
from tests.runtime import shop
from tests.runtime.desk import ACTION, VALIDATOR
from tests.runtime.staging import all_done, opens, validator_of
from tests.runtime.world import World
from tooling.gateway import Call
from transactions import execution, outbox, turns
from transactions.models import Attempt, Conversation, Event, Transaction, Turn
from transactions.services import executing
from transactions.services.conversations import open_conversation
from transactions.services.executing import Claim

CASES: dict[str, dict[str, Any]] = {case["id"]: case for case in cases("durability")}
LABELS = ["Música Mais", "Livros Falados", "Craque 10"]


class Killed(BaseException):
    """Ends a worker wherever it is; nothing of ours catches it."""


# Where a case begins ------------------------------------------


def asked(labels: Sequence[str] = LABELS, **policy: Any) -> World:
    """The customer named ``labels``, and the validator is due."""
    definitions = shop.with_validator(shop.shop(), ACTION, VALIDATOR)
    world = World(shop.with_policy(definitions, ACTION, **policy))
    world.gateway.answers(VALIDATOR, validator_of(list(labels)))
    world.gateway.answers(ACTION, all_done)
    opens(world, ACTION, {"subject": ", ".join(labels)})
    return world


def awaiting(labels: Sequence[str] = LABELS, **policy: Any) -> World:
    """The confirmation about ``labels`` is open."""
    world = asked(labels, **policy)
    world.validate()
    return world


def confirmed(labels: Sequence[str] = LABELS, **policy: Any) -> World:
    """``given`` of most cases: EXECUTING, confirmed, the attempt READY and no worker at it."""
    world = awaiting(labels, **policy)
    world.says("sim")
    return world


def claimed(world: World) -> Claim:
    """A worker claimed the attempt; what it does next is up to the test."""
    claim = executing.claim(Attempt.objects.get(transaction=world.transaction, status="READY").pk)
    assert claim is not None
    return claim


def sent(world: World) -> tuple[Claim, Call]:
    """A worker passed the gate, and no byte has left."""
    claim = claimed(world)
    call = executing.gate(claim)
    assert call is not None
    return claim, call


def next_customer(world: World, labels: Sequence[str] = LABELS) -> World:
    """Another customer of the same shop, with a question about ``labels`` open; the calls so far are forgotten."""
    channel = world.conversation.channel
    world.conversation = open_conversation(channel, locale="pt-BR", identity={"customer_key": str(uuid4())})
    opens(world, ACTION, {"subject": ", ".join(labels)})
    world.validate()
    world.gateway.calls.clear()
    return world


def let_leases_run_out() -> None:
    """As if every worker had ended a while ago."""
    Attempt.objects.exclude(leased_until=None).update(leased_until=F("due_at"))
    Transaction.objects.exclude(leased_until=None).update(leased_until=F("created_at"))
    Conversation.objects.exclude(turns_leased_until=None).update(turns_leased_until=F("created_at"))


def let_turns_grow_old() -> None:
    """As if what was sent had been sent a while ago."""
    Turn.objects.update(created_at=F("created_at") - timedelta(minutes=1))


# What a process does that is woken, or that finds work ------------------------------------------


@dataclass(frozen=True, slots=True)
class Worker:
    world: World
    is_woken: bool


_workers: list[Worker] = []


@contextmanager
def worker_of(world: World, *, is_woken: bool = False) -> Iterator[None]:
    """Work that the sweeper finds uses the model and the tools of ``world``.

    ``is_woken``: so does work that this process is woken for, in its own pool; else those wake-ups are lost.
    """
    known = dict(outbox.RUNNERS)
    outbox.RUNNERS.update({work: f"{__name__}:work_{name}" for work, name in WORKS.items()})
    _workers.append(Worker(world, is_woken))
    try:
        yield
    finally:
        _workers.pop()
        outbox.RUNNERS.update(known)


WORKS: dict[outbox.Work, str] = {
    "turns": "turns",
    "readings": "turns",
    "prevalidate": "prevalidate",
    "execute": "execute",
    "reconcile": "reconcile",
}


def work_turns(key: str) -> None:
    _work(lambda world: turns.run_turns(key, model=world.model))


def work_prevalidate(key: str) -> None:
    _work(lambda world: execution.prevalidate(key, gateway=world.gateway))


def work_execute(key: str) -> None:
    _work(lambda world: execution.execute(key, gateway=world.gateway))


def work_reconcile(key: str) -> None:
    _work(lambda world: execution.reconcile(key, gateway=world.gateway))


def _work(work: Callable[[World], None]) -> None:
    is_in_a_pool = current_thread().name.partition("_")[0] in get_args(outbox.Pool)
    if not _workers or (is_in_a_pool and not _workers[-1].is_woken):
        return
    work(_workers[-1].world)
    if is_in_a_pool:
        # Its thread outlives the test's database; its connection must not.
        connections.close_all()


def wake_nobody(monkeypatch: Any) -> None:
    """Every wake-up after a commit is lost: the test itself is the worker."""
    for work in outbox.RUNNERS:
        monkeypatch.setitem(outbox.RUNNERS, work, "tests.chat_channel:leave_for_later")


# What became of it ------------------------------------------


def item_statuses(world: World) -> set[str]:
    return set(world.transaction.items.values_list("status", flat=True))


def action_calls(world: World) -> int:
    return len(world.gateway.calls_of(ACTION))


def effects_per_item(world: World) -> int:
    """How often the tool was told to do the same item, at most."""
    keys = [key["key"] for call in world.gateway.calls_of(ACTION) for key in call.meta["agentplatform/item_keys"]]
    return max(map(keys.count, keys), default=0)


def moves_of(transaction: Transaction) -> list[str]:
    """The statuses that the transaction went to, in order."""
    moved = Event.objects.filter(transaction=transaction, kind="transaction.moved").order_by("id")
    return [event.data["to"] for event in moved]


def check(then: Mapping[str, Any], facts: Mapping[str, Callable[[], Any]]) -> None:
    """Every key of ``then`` holds; one that ``facts`` does not know fails, so that no promise is passed over."""
    for key, wanted in then.items():
        assert key in facts, f"nobody looks at {key}"
        assert facts[key]() == wanted, key


# Several at once ------------------------------------------


class Crowd:
    """Threads that start something at the same moment, again and again, each on a connection of its own."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool = ThreadPoolExecutor(size)

    def __enter__(self) -> Crowd:
        return self

    def __exit__(self, *exception: object) -> None:
        self.at_once(*[connections.close_all] * self.size)
        self._pool.shutdown()

    def at_once(self, *calls: Callable[[], Any]) -> list[Any]:
        """Start every call at the same moment; results or errors, in order. One call per thread, at most."""
        barrier = Barrier(len(calls))

        def run(call: Callable[[], Any]) -> Any:
            barrier.wait(60)
            try:
                return call()
            except Exception as error:
                return error

        return list(self._pool.map(run, calls))


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Start every call at the same moment; results or errors, in order."""
    with Crowd(len(calls)) as crowd:
        return crowd.at_once(*calls)


def elsewhere(look: Callable[[], Any]) -> Any:
    """What another connection sees at this moment: what is committed, and nothing else."""
    (seen,) = at_once(look)
    if isinstance(seen, Exception):
        raise seen
    return seen
