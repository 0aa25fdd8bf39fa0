"""The lines of durability.jsonl about lost and repeated wake-ups, sweepers, and workers that end at any moment."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.db.models import F
from django.db.transaction import atomic

from tests.chat_channel import ORIGIN, Client, seqs, serving
from tests.runtime import desk
from tests.runtime.desk import ACTION, attempts
from tests.runtime.durability import (
    CASES,
    LABELS,
    Crowd,
    Killed,
    action_calls,
    at_once,
    awaiting,
    claimed,
    confirmed,
    effects_per_item,
    elsewhere,
    item_statuses,
    let_leases_run_out,
    moves_of,
    next_customer,
    sent,
    wake_nobody,
    worker_of,
)
from tests.runtime.staging import all_done
from tests.runtime.world import World
from tests.services import wait_until
from tests.tooling.mcp_servers import Exchange, hostile
from tooling.mcp_client import McpGateway
from transactions import execution, outbox, sweeper
from transactions.models import Attempt, Channel, Event, Item, Transaction
from transactions.services import executing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.runtime]


@pytest.fixture(autouse=True)
def lost_wake_ups(monkeypatch: pytest.MonkeyPatch) -> None:
    wake_nobody(monkeypatch)


def sweep(world: World, times: int = 2) -> None:
    """Let the sweeper of a process that works for ``world`` come by."""
    with worker_of(world):
        for _ in range(times):
            sweeper.run_once()


def is_done_once(world: World) -> bool:
    return (world.transaction.status, action_calls(world), effects_per_item(world)) == ("SUCCESS", 1, 1)


# Lost and repeated wake-ups ------------------------------------------


def test_dur_049_dur_098_a_yes_that_nobody_was_woken_for_is_executed_by_the_sweeper(settings: Any) -> None:
    world = confirmed()
    assert action_calls(world) == 0

    sweep(world)

    assert is_done_once(world)
    assert world.kinds().count("confirmation.requested") == 1
    assert CASES["DUR-098"]["then"]["recovered_within_seconds"] > 2 * settings.SWEEP_SECONDS


def test_dur_052_dur_090_dur_113_a_wake_up_that_comes_fifty_times_is_one_call() -> None:
    world = confirmed()
    attempt = Attempt.objects.get()

    def worker() -> None:
        for _ in range(50 // 4 + 1):
            execution.execute(attempt.pk, gateway=world.gateway)

    at_once(*[worker] * 4)

    assert is_done_once(world)
    assert attempts(world) == ["ANSWERED"]
    assert Event.objects.filter(kind="attempt.sent").count() == CASES["DUR-052"]["then"]["attempts_sent"]


def test_dur_112_a_callback_after_the_commit_that_raises_keeps_no_other_from_running() -> None:
    heard: list[str] = []

    def fails() -> None:
        raise ConnectionRefusedError("nobody listens")

    with atomic():
        outbox._after_commit(lambda: heard.append("before"))
        outbox._after_commit(fails)
        outbox._after_commit(lambda: heard.append("after"))

    assert heard == ["before", "after"]


def test_dur_143_without_a_broker_a_yes_is_executed_by_the_process_itself(settings: Any) -> None:
    assert settings.REDIS_URL == ""
    world = awaiting()

    with worker_of(world, is_woken=True):
        world.answers("confirm")
        wait_until(lambda: world.transaction.is_final, what="the process's own pool to do it")

    assert is_done_once(world)


# Workers that end ------------------------------------------


def test_dur_053_a_worker_that_ends_before_the_gate_is_followed_by_another() -> None:
    world = confirmed()
    claimed(world)
    sweep(world)
    assert action_calls(world) == 0

    let_leases_run_out()
    sweep(world)

    assert is_done_once(world)


def test_dur_056_an_answer_that_ended_with_its_worker_is_unknown_and_nothing_is_sent_again() -> None:
    world = confirmed()

    def ends(call: Any) -> Any:
        all_done(call)
        raise Killed

    world.gateway.answers(ACTION, ends)
    with pytest.raises(Killed):
        execution.execute(Attempt.objects.get().pk, gateway=world.gateway)
    let_leases_run_out()

    sweep(world, times=5)

    assert attempts(world) == [CASES["DUR-056"]["then"]["attempt"]]
    assert (world.transaction.status, item_statuses(world)) == ("VERIFYING", {"UNKNOWN"})
    assert (action_calls(world), effects_per_item(world)) == (1, 1)


def test_dur_057_a_stored_answer_is_accounted_by_whoever_finds_it() -> None:
    world = confirmed()
    claim, call = sent(world)
    executing.record_answer(claim, world.gateway.call(call))
    assert world.transaction.status == "EXECUTING"

    sweep(world)

    assert is_done_once(world)
    assert action_calls(world) == CASES["DUR-057"]["then"]["calls_total"]


@pytest.mark.parametrize("id_", ["DUR-087", "DUR-183"])
def test_dur_087_dur_183_the_third_worker_that_ends_before_sending_is_the_last_and_others_go_on(id_: str) -> None:
    world = confirmed()
    poison = world.transaction
    for _ in range(CASES["DUR-183"]["given"]["claims"]):
        assert executing.claim(poison.attempts.get().pk) is not None
        let_leases_run_out()
    next_customer(world).answers("confirm")

    sweep(world)

    then = CASES[id_]["then"].get("after_3_claims", CASES[id_]["then"])
    poison.refresh_from_db()
    assert {then["items"]} == set(poison.items.values_list("status", flat=True))
    assert (poison.status, poison.reason_code) == (then["status"], then["reason_code"])
    assert is_done_once(world)


def test_dur_095_a_wake_up_that_is_delivered_again_after_the_call_does_nothing() -> None:
    """The soft stop itself is in tests/acceptance/test_outages_workers.py."""
    world = confirmed()
    attempt = Attempt.objects.get()
    execution.execute(attempt.pk, gateway=world.gateway)
    events = Event.objects.count()

    execution.execute(attempt.pk, gateway=world.gateway)

    assert is_done_once(world)
    assert Event.objects.count() == events


# Sweepers ------------------------------------------


def customers(number: int, world: World | None = None) -> World:
    """So many customers who said yes and whom nobody worked for."""
    world = world or awaiting()
    for _ in range(number):
        next_customer(world).answers("confirm")
    return world


def nothing_was_doubled(world: World) -> bool:
    per_transaction = Event.objects.filter(kind__in=["transaction.finished", "execution.started", "attempt.sent"])
    told = [(event.transaction_id, event.kind) for event in per_transaction]
    return effects_per_item(world) <= 1 and len(told) == len(set(told))


def test_dur_086_dur_105_two_sweepers_at_once_double_nothing() -> None:
    """In proportion: rounds with work for both, instead of five minutes."""
    world = customers(0)
    with Crowd(2) as sweepers:
        for _ in range(5):
            customers(3, world)
            with worker_of(world):
                sweepers.at_once(sweeper.run_once, sweeper.run_once)

            assert nothing_was_doubled(world)
    done = Transaction.objects.filter(status="SUCCESS")
    assert done.count() == 15


def test_dur_106_a_sweeper_that_is_called_five_hundred_times_does_everything_once() -> None:
    world = customers(8)

    def call_again_and_again() -> None:
        for _ in range(500 // 4):
            sweeper.run_once()

    with worker_of(world):
        errors = [error for error in at_once(*[call_again_and_again] * 4) if error]

    assert errors == []
    assert nothing_was_doubled(world)
    assert Transaction.objects.filter(status="SUCCESS").count() == 8
    assert action_calls(world) == 8


def test_dur_107_after_an_hour_without_a_sweeper_one_pass_does_it_and_everybody_hears_once() -> None:
    world = customers(3)
    for _ in range(5):
        next_customer(world)
    an_hour_ago = F("created_at") - timedelta(hours=1)
    Transaction.objects.filter(status="AWAITING_CONFIRMATION").update(expires_at=an_hour_ago)
    Attempt.objects.update(due_at=F("due_at") - timedelta(hours=1))
    before = dict(Transaction.objects.values_list("conversation_id", "conversation__last_seq"))

    sweep(world, times=1)

    assert set(Transaction.objects.values_list("status", flat=True)) == {"SUCCESS", "EXPIRED"}
    for conversation_id, seq in before.items():
        told = Event.objects.filter(conversation_id=conversation_id, seq__gt=seq).values_list("kind", flat=True)
        assert list(told) == ["transaction.finished"]


# What is lost on the way to the browser ------------------------------------------


@pytest.fixture
def browser(settings: Any) -> Iterator[tuple[World, str]]:
    """A customer who said yes in a browser that no hint reaches: the channel layer drops every one."""
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "tests.chat_channel.DeafLayer"}}
    world = confirmed()
    Channel.objects.update(origins=[ORIGIN])
    world.conversation.channel.refresh_from_db()
    with serving() as address:
        yield world, address


def test_dur_059_dur_078_a_result_whose_push_was_lost_comes_with_the_next_ping(browser: Any) -> None:
    world, address = browser
    with Client.greeted(address, world.conversation) as client:
        seen = seqs(client.events)[-1]
        world.work()

        client.send(type="ping", last_seq=seen)
        told = client.answer("event", kind="transaction.finished")

    assert told["data"]["status"] == "SUCCESS"
    assert action_calls(world) == CASES["DUR-059"]["then"]["calls_total"]


def test_dur_059_dur_076_a_client_that_comes_back_in_the_middle_sees_each_event_once(browser: Any) -> None:
    world, address = browser
    with Client.greeted(address, world.conversation) as client:
        shown = seqs(client.events)
    world.work()

    with Client.greeted(address, world.conversation, after_seq=shown[-1]) as client:
        shown += seqs(client.events)

    assert shown == [event.seq for event in world.events]
    assert is_done_once(world)


# The order of commits and bytes ------------------------------------------


class WatchingLayer:
    """A channel layer that looks, at every hint, at what is committed."""

    look: Callable[[], None]

    async def new_channel(self, prefix: str = "x") -> str:
        return prefix

    async def group_send(self, group: str, message: Any) -> None:
        await asyncio.to_thread(type(self).look)


def test_dur_125_every_step_is_committed_before_the_next_one_leaves(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def note(*seen: str) -> None:
        steps.extend(step for step in seen if step not in steps)

    def when_bytes_arrive(exchange: Exchange) -> None:
        if Attempt.objects.get().status == "SENT":
            note("SENT committed")
        note("first byte leaves")
        connections.close_all()
        desk.done(exchange)

    def before_a_write(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("UPDATE") and Attempt._meta.db_table in sql and "sent_at" in sql:
            status, lease = elsewhere(lambda: Attempt.objects.values_list("status", "lease").get())
            note(*["claim"] if status == "READY" and lease else ())
        if sql.startswith("UPDATE") and f'"{Item._meta.db_table}"' in sql and "evidence" in sql:
            status, raw = elsewhere(lambda: Attempt.objects.values_list("status", "raw_answer").get())
            note(*["raw answer committed"] if status == "ANSWERED" and raw else ())
        return execute(sql, params, many, context)

    pushed = threading.Event()

    def at_a_push() -> None:
        if Event.objects.filter(kind="transaction.finished").exists():
            is_whole = Transaction.objects.get().is_final and set(Item.objects.values_list("status")) == {
                ("SUCCEEDED",)
            }
            note(*["items and status committed"] if is_whole else (), "push")
            pushed.set()
        connections.close_all()

    monkeypatch.setattr(WatchingLayer, "look", staticmethod(at_a_push), raising=False)
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": f"{__name__}.WatchingLayer"}}
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    outbox.attach_loop(loop)
    gateway = McpGateway()
    try:
        with hostile(desk.desk(when_bytes_arrive)) as server:
            world = desk.confirmed(server.spec, gateway, ", ".join(LABELS))
            with connection.execute_wrapper(before_a_write):
                execution.execute(Attempt.objects.get().pk, gateway=gateway)
            assert pushed.wait(20)
    finally:
        gateway.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        loop.close()

    assert steps == CASES["DUR-125"]["then"]["order"]
    assert moves_of(world.transaction)[-1] == "SUCCESS"
