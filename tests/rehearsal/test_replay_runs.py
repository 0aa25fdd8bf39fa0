"""A replay is worked off in slices, by whoever comes, and counts each transaction exactly once."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from tests.rehearsal.histories import ACTION, RETURN, asked, confirmed, validated
from tests.runtime import shop
from tests.runtime.staging import opens
from tests.runtime.world import World
from transactions import outbox, sweeper
from transactions.models import ReplayRun, Transaction
from transactions.rehearsal import replay_runs
from transactions.rehearsal.courses import Difference
from transactions.rehearsal.history import Why
from transactions.rehearsal.replay_runs import begin, lines_of, newest_of, summary_of, work_off
from transactions.services import replays
from transactions.services.rows import database_now

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

LIMITED = shop.with_policy(validated(), ACTION, max_items=2)


def a_run(**more: object) -> ReplayRun:
    asked_for = {"last": 200, "tool": "", "release": 0, "author": "ana", **more}
    return begin(LIMITED, **asked_for)  # type: ignore[arg-type]  # a test passes what it wants


def again(world: World) -> None:
    """The same customer asks for the same once more, and gets it."""
    opens(world, ACTION, {"subject": "Música Mais, Livros Falados, Craque 10"})
    world.work()
    world.says("sim")
    world.work()


def test_a_replay_says_of_each_transaction_what_would_be_different() -> None:
    world = confirmed()
    again(world)
    asked_only = asked()
    run = a_run()

    work_off(run.pk)

    run.refresh_from_db()
    summary = summary_of(lines_of(run))
    assert run.is_finished
    assert (summary.compared, summary.same, summary.counts[Difference.REFUSED]) == (2, 0, 2)
    assert summary.counts[Difference.SKIPS_CONFIRMATION] == 0
    assert str(asked_only.transaction.pk) not in run.chosen


def test_the_newest_come_first_and_only_those_of_the_tool_that_was_asked_for() -> None:
    world = confirmed()
    again(world)
    confirmed(tool=RETURN, order_id="PED-1001", reason="quebrado")
    newest = list(Transaction.objects.filter(tool=ACTION).order_by("-created_at").values_list("pk", flat=True))

    assert a_run(tool=ACTION).chosen == [str(pk) for pk in newest]
    assert a_run(tool=ACTION, last=1).chosen == [str(newest[0])]


def test_what_cannot_be_compared_is_counted_apart_and_never_as_unchanged() -> None:
    world = confirmed()
    Transaction.objects.filter(pk=world.transaction.pk).update(release=99)
    run = a_run()

    work_off(run.pk)

    run.refresh_from_db()
    summary = summary_of(lines_of(run))
    assert (summary.compared, summary.same, dict(summary.apart)) == (0, 0, {Why.NO_RELEASE: 1})


def test_nothing_to_replay_is_finished_at_once() -> None:
    assert a_run().is_finished


def test_a_restart_in_the_middle_loses_nothing_and_doubles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = confirmed()
    again(world)
    again(world)
    run = a_run()
    monkeypatch.setattr(replay_runs, "SLICE_SECONDS", 0.0)
    held = replays.claim(run.pk)
    assert held is not None
    # The first slice is kept, and the process ends in the second one.
    assert replays.keep(held, replay_runs._slice(held.run, LIMITED))
    lost = replay_runs._slice(held.run, LIMITED)
    ReplayRun.objects.update(leased_until=database_now() - timedelta(seconds=1))

    sweeper.run_once()

    run.refresh_from_db()
    assert run.is_finished
    assert [line.transaction for line in lines_of(run)] == run.chosen
    assert not replays.keep(held, lost)


def test_a_process_that_ends_leaves_the_rest_to_the_next_one() -> None:
    confirmed()
    run = a_run()

    outbox._ending.set()
    try:
        work_off(run.pk)
    finally:
        outbox._ending.clear()
    run.refresh_from_db()
    assert run.lines == []

    sweeper.run_once()
    run.refresh_from_db()
    assert run.is_finished


def test_a_replay_that_somebody_works_on_is_left_to_them() -> None:
    confirmed()
    run = a_run()
    assert replays.claim(run.pk) is not None

    work_off(run.pk)

    run.refresh_from_db()
    assert run.lines == []


def test_the_sweeper_finds_a_replay_that_nobody_was_woken_for() -> None:
    confirmed()
    run = a_run()

    sweeper.run_once()

    run.refresh_from_db()
    assert run.is_finished


def test_the_definitions_are_those_of_the_beginning_whatever_is_edited_meanwhile() -> None:
    world = confirmed()
    run = a_run()
    world.publish(shop.with_policy(validated(), ACTION, require_confirmation=False))

    work_off(run.pk)

    run.refresh_from_db()
    assert summary_of(lines_of(run)).counts[Difference.SKIPS_CONFIRMATION] == 0
    assert newest_of(run.hash) == run
    assert newest_of("0" * 64) is None


def test_no_text_of_a_customer_and_no_value_is_kept() -> None:
    confirmed()
    run = a_run()
    work_off(run.pk)

    kept = str(list(ReplayRun.objects.values_list("lines", flat=True)))

    assert "gostaria" not in kept and "Craque" not in kept and "C-1" not in kept


def test_a_transaction_that_is_gone_is_not_counted_as_unchanged() -> None:
    content = a_run().content
    run = replays.begin(chosen=[uuid4()], author="ana", last=1, hash="", content=content)

    work_off(run.pk)

    run.refresh_from_db()
    assert (summary_of(lines_of(run)).compared, run.is_finished) == (0, True)
