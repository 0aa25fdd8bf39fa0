"""Due work that nobody does is complained about after 30 s: in the log, and by the probe (runtime.md §9.1)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db.models import F

from tests.runtime import shop
from tests.runtime.staging import all_done, opens, stage
from tests.runtime.world import World
from transactions import sweeper
from transactions.models import Attempt, Transaction, Turn
from transactions.services import alarms, executing
from transactions.services.alarms import Overdue
from transactions.services.rows import database_now

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

OLD = timedelta(seconds=45)
ACTION = "cancelar_vas_avulso"


@pytest.fixture(autouse=True)
def nothing_was_told() -> None:
    alarms._told.clear()


def confirmed() -> World:
    world = World(shop.shop())
    world.gateway.answers(ACTION, all_done)
    opens(world, ACTION, {"subject": "Música Mais"})
    world.says("sim")
    return world


def a_waiting_turn() -> None:
    World(shop.shop()).sends("oi")


def a_due_validation() -> None:
    stage({"state": {"status": "PRE_VALIDATING", "tool": ACTION, "arguments": {"subject": "Música Mais"}}})


def a_ready_call() -> None:
    confirmed()


def a_call_whose_worker_ended() -> None:
    confirmed()
    claim = executing.claim(Attempt.objects.get().pk)
    assert claim is not None
    executing.gate(claim)
    Attempt.objects.update(leased_until=F("due_at"))


def an_answer_nobody_read() -> None:
    confirmed()
    claim = executing.claim(Attempt.objects.get().pk)
    assert claim is not None
    call = executing.gate(claim)
    assert call is not None
    executing.record_answer(claim, all_done(call))


def an_expiry() -> None:
    world = World(shop.shop())
    opens(world, ACTION, {"subject": "Música Mais"})
    world.age()


LEFT_UNDONE: dict[str, Callable[[], None]] = {
    "turns": a_waiting_turn,
    "pre-validations": a_due_validation,
    "calls": a_ready_call,
    "calls without an answer": a_call_whose_worker_ended,
    "answers": an_answer_nobody_read,
    "expiries": an_expiry,
}


def later(seconds: float = OLD.total_seconds()) -> datetime:
    """The database's time in a while; nobody does anything until then."""
    return database_now() + timedelta(seconds=seconds)


@pytest.mark.parametrize("kind", LEFT_UNDONE)
def test_work_that_is_due_for_longer_than_30_s_is_overdue_and_younger_work_is_not(kind: str) -> None:
    LEFT_UNDONE[kind]()
    young = alarms.overdue(database_now())

    found = alarms.overdue(later())

    assert young == []
    assert [(one.kind, one.number) for one in found] == [(kind, 1)]
    assert found[0].seconds >= OLD.total_seconds()


def test_what_somebody_works_at_is_not_overdue_however_long_it_takes() -> None:
    confirmed()
    claim = executing.claim(Attempt.objects.get().pk)
    assert claim is not None
    executing.gate(claim)
    Attempt.objects.update(leased_until=later(60))

    assert alarms.overdue(later()) == []


def test_a_turn_that_waited_behind_a_long_call_is_not_overdue_when_the_call_ends() -> None:
    world = confirmed()
    world.says("e aí?")
    Turn.objects.update(created_at=F("created_at") - OLD)

    world.execute()
    Turn.objects.filter(text="e aí?").update(handled_at=None)

    assert alarms.overdue(database_now()) == []
    assert [one.kind for one in alarms.overdue(later())] == ["turns"]


def test_the_sweeper_raises_one_alarm_a_minute_for_each_kind(caplog: pytest.LogCaptureFixture) -> None:
    """DUR-102: alarm_when_older_than_seconds 30"""
    a_ready_call()
    first = later()

    with caplog.at_level(logging.ERROR):
        for seconds in (0, 5, 59, 61):
            alarms.raise_alarms(first + timedelta(seconds=seconds))

    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
    assert "alarm: due work is not done: 1 calls, due for" in caplog.text


def test_the_sweep_itself_looks_for_what_was_left_undone(caplog: pytest.LogCaptureFixture) -> None:
    an_expiry()
    Transaction.objects.update(expires_at=F("expires_at") - OLD)

    with caplog.at_level(logging.ERROR):
        sweeper.sweep()

    assert "1 expiries" in caplog.text
    assert Transaction.objects.get().status == "EXPIRED"


def test_the_probe_reports_it_and_stays_ready() -> None:
    from agentplatform import health

    a_ready_call()
    Attempt.objects.update(due_at=F("due_at") - OLD)

    assert health.check_due_work().startswith("1 calls, due for 4")


def test_an_alarm_says_what_how_much_and_how_long() -> None:
    assert str(Overdue("turns", 3, 45)) == "3 turns, due for 45 s"
