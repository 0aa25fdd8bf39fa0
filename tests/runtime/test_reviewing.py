"""Operators settle what nobody could verify, and look at what went wrong; the first word on an item stands (§9.4)."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tests.runtime.desk import ACTION
from tests.runtime.durability import CASES, LABELS, action_calls, at_once, confirmed, let_leases_run_out, sent
from tests.runtime.test_verifying import ASK, unknown
from tests.runtime.world import World, rows
from tooling.gateway import Call, NoAnswer
from transactions import outbox, sweeper
from transactions.core.statuses import AttemptStatus, ItemStatus, ReviewState, VerdictSource
from transactions.models import Attempt, Event, Item, Transaction
from transactions.services import accounting, executing
from transactions.services.resolving import NoReason, Resolution, Resolved, Settled, resolve
from transactions.services.reviewing import NotThere, Reviewed, ReviewMoved, ask_for_review, review
from transactions.services.rows import hold

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]
UNKNOWN_ID = "00000000-0000-4000-8000-000000000001"


@pytest.fixture(autouse=True)
def no_one_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is committed wakes nobody: the test is the worker."""
    for work in outbox.RUNNERS:
        monkeypatch.setitem(outbox.RUNNERS, work, "tests.chat_channel:leave_for_later")


def undecided(labels: list[str] = LABELS, **policy: Any) -> World:
    """The call was sent, and its answer never came."""
    world = confirmed(labels, **policy)
    world.gateway.answers(ACTION, NoAnswer("the stream broke"))
    world.work()
    return world


def item(world: World, label: str = LABELS[0]) -> Item:
    return world.transaction.items.get(label=label)


def settles(world: World, label: str, status: ItemStatus, reason: str = "asked the shop", **more: Any) -> Resolution:
    held = item(world, label)
    return resolve(held.transaction_id, held.key, **({"status": status, "reason": reason, "actor": "ana"} | more))


def answers_late(world: World, *results: dict[str, Any]) -> None:
    """The answer of the one call comes after all."""
    attempt = Attempt.objects.get(transaction=world.transaction)
    claim = executing.Claim(attempt.pk, world.conversation.pk, attempt.lease)
    executing.record_answer(claim, rows(*results))
    accounting.settle(attempt.pk)


def told(world: World, kind: str) -> list[Event]:
    """The operator-only events of this kind."""
    return list(Event.objects.filter(transaction=world.transaction, kind=kind, seq=None).order_by("id"))


def alarms(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines that an operations team is woken by."""
    return [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]


# Settling an item ------------------------------------------


def test_dur_136_what_no_tool_can_verify_waits_for_an_operator_who_settles_it() -> None:
    then = CASES["DUR-136"]["then"]
    world = undecided(reconcile_tool="")
    before = action_calls(world)

    for _ in range(CASES["DUR-136"]["when"]["sweeper_runs"]):
        sweeper.run_once()

    assert world.transaction.status == then["status"]
    assert action_calls(world) - before == then["action_calls_more"]
    assert (settles(world, LABELS[0], ItemStatus.SUCCEEDED) == Resolved(LABELS[0], "VERIFYING")) is then[
        "operator_can_resolve"
    ]


@pytest.mark.parametrize("status", [ItemStatus.SUCCEEDED, ItemStatus.FAILED, ItemStatus.NOT_EXECUTED])
def test_an_operator_settles_an_unknown_item_with_a_reason_that_is_kept(status: ItemStatus) -> None:
    world = undecided()

    settles(world, LABELS[0], status, "  seen in the billing system  ", protocol="PRT-9")

    settled = item(world)
    assert (settled.status, settled.reason, settled.protocol) == (status, "seen in the billing system", "PRT-9")
    assert (settled.verdict_source, settled.rule) == (VerdictSource.OPERATOR, "runtime.md §9.4")
    kept = settled.evidence["resolution"]
    assert (kept["by"], kept["reason"], kept["protocol"]) == ("ana", "seen in the billing system", "PRT-9")
    (event,) = told(world, "item.resolved")
    assert event.actor == "operator"
    assert event.data == {"item_key": settled.key, "label": LABELS[0], "from": "UNKNOWN", **kept}


def test_what_an_answer_had_said_of_the_item_stays_in_its_evidence() -> None:
    world = confirmed()
    muddled = {"name": LABELS[0], "success": "maybe", "detail": "timeout at the core"}
    world.gateway.answers(ACTION, rows(muddled, *({"name": label, "success": True} for label in LABELS[1:])))
    world.work()

    settles(world, LABELS[0], ItemStatus.FAILED)

    assert item(world).evidence["before"]["detail"] == "timeout at the core"


def test_while_another_item_is_unknown_the_customer_hears_of_each_that_is_settled() -> None:
    world = undecided()

    outcome = settles(world, LABELS[0], ItemStatus.SUCCEEDED)

    assert outcome == Resolved(LABELS[0], "VERIFYING")
    assert world.transaction.has_unknown
    news = world.last("transaction.verifying").data
    assert {row["label"]: row["status"] for row in news["items"]} == {
        LABELS[0]: "SUCCEEDED",
        LABELS[1]: "UNKNOWN",
        LABELS[2]: "UNKNOWN",
    }


@pytest.mark.parametrize(
    ("given", "status", "reason_code"),
    [
        (["SUCCEEDED", "SUCCEEDED", "SUCCEEDED"], "SUCCESS", ""),
        (["SUCCEEDED", "FAILED", "NOT_EXECUTED"], "PARTIAL_SUCCESS", "partly_failed"),
        (["FAILED", "NOT_EXECUTED", "FAILED"], "FAILED", "tool_failed"),
    ],
)
def test_with_the_last_unknown_item_the_transaction_ends_and_the_customer_is_told(
    given: list[str], status: str, reason_code: str
) -> None:
    world = undecided()

    for label, outcome in zip(LABELS, given, strict=True):
        settles(world, label, ItemStatus(outcome), f"asked about {label}")

    transaction = world.transaction
    assert (transaction.status, transaction.reason_code) == (status, reason_code)
    assert (transaction.has_unknown, transaction.review_state) == (False, "resolved")
    assert (transaction.finished_at is not None, transaction.verify_due_at) == (True, None)
    data = world.last("transaction.finished").data
    assert (data["status"], data["counts"]["unknown"]) == (status, 0)
    assert [row["reason"] for row in data["items"]] == [f"asked about {label}" for label in LABELS]
    assert all(label in data["text"] for label in LABELS)
    assert action_calls(world) == 1


def test_dur_139_what_succeeded_is_never_changed() -> None:
    world = confirmed()
    world.work()
    before = Transaction.objects.filter(pk=world.transaction.pk).values().get()

    outcome = settles(world, LABELS[0], ItemStatus.FAILED, "x")

    assert isinstance(outcome, Settled)
    assert (outcome.status, outcome.verdict_source, outcome.by) == ("SUCCEEDED", "row", "")
    assert item(world).status == CASES["DUR-139"]["then"]["item"]
    assert Transaction.objects.filter(pk=world.transaction.pk).values().get() == before
    assert told(world, "item.resolved") == []


def test_an_item_whose_call_is_still_on_its_way_is_not_settled_by_hand() -> None:
    world = confirmed()
    sent(world)

    outcome = settles(world, LABELS[0], ItemStatus.FAILED)

    assert isinstance(outcome, Settled)
    assert (outcome.status, item(world).status) == ("IN_FLIGHT", "IN_FLIGHT")


@pytest.mark.parametrize("reason", ["", "  ", "\n\t"])
def test_without_a_reason_nothing_is_settled(reason: str) -> None:
    world = undecided()

    assert settles(world, LABELS[0], ItemStatus.FAILED, reason) == NoReason()
    assert item(world).status == "UNKNOWN"


def test_characters_that_no_database_stores_do_no_harm() -> None:
    world = undecided()

    settles(world, LABELS[0], ItemStatus.FAILED, "half \ud800 and \x00", protocol="\x00")

    assert (item(world).reason, item(world).protocol) == ("half � and �", "�")


def test_an_item_or_transaction_that_is_not_there_is_said_to_be_missing() -> None:
    world = undecided()
    pk: Any = world.transaction.pk

    for transaction_id, key in [(pk, "nope"), (pk, "\x00"), (UNKNOWN_ID, "*")]:
        assert resolve(transaction_id, key, status=ItemStatus.FAILED, reason="x", actor="ana") == NotThere()


def test_the_one_item_of_a_call_whose_set_nobody_named_is_settled_by_its_key() -> None:
    world = undecided(["Música Mais"])
    world.transaction.items.update(key="*")

    resolve(world.transaction.pk, "*", status=ItemStatus.SUCCEEDED, reason="seen", actor="ana")

    assert world.transaction.status == "SUCCESS"


# Whoever comes first ------------------------------------------


def test_the_second_operator_is_told_who_settled_it_and_how() -> None:
    world = undecided()
    settles(world, LABELS[0], ItemStatus.FAILED, "the shop said no")

    outcome = settles(world, LABELS[0], ItemStatus.SUCCEEDED, "the shop said yes", actor="rui")

    assert isinstance(outcome, Settled)
    assert (outcome.status, outcome.by, outcome.reason) == ("FAILED", "ana", "the shop said no")
    assert outcome.at == item(world).evidence["resolution"]["at"]
    assert len(told(world, "item.resolved")) == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_operators_at_the_same_moment_one_wins_and_the_other_hears_of_it() -> None:
    world = undecided(LABELS[:1])

    outcomes = at_once(
        lambda: settles(world, LABELS[0], ItemStatus.FAILED, "no", actor="ana"),
        lambda: settles(world, LABELS[0], ItemStatus.SUCCEEDED, "yes", actor="rui"),
    )

    (won,) = [outcome for outcome in outcomes if isinstance(outcome, Resolved)]
    (lost,) = [outcome for outcome in outcomes if isinstance(outcome, Settled)]
    settled = item(world)
    assert (lost.status, lost.by) == (settled.status, settled.evidence["resolution"]["by"])
    assert won.status == world.transaction.status
    assert world.kinds().count("transaction.finished") == 1


@pytest.mark.django_db(transaction=True)
def test_dur_084_an_operator_and_a_late_success_at_the_same_moment_leave_one_outcome() -> None:
    then = CASES["DUR-084"]["then"]
    world = undecided(LABELS[:1])

    at_once(
        lambda: settles(world, LABELS[0], ItemStatus.FAILED, "no"),
        lambda: answers_late(world, {"name": LABELS[0], "success": True}),
    )

    settled = item(world)
    operator_won = settled.verdict_source == VerdictSource.OPERATOR
    assert then["first_move_wins"]
    assert settled.status == ("FAILED" if operator_won else "SUCCEEDED")
    assert world.transaction.status == ("FAILED" if operator_won else "SUCCESS")
    assert len(world.incidents()) == operator_won
    assert Attempt.objects.get().raw_answer["structured"]["results"][0]["success"] is True
    assert world.kinds().count("transaction.finished") == 1
    assert (action_calls(world) > 1) is then["automatic_retry"]


def test_dur_154_a_late_success_after_an_operators_failure_is_evidence_and_an_incident() -> None:
    then = CASES["DUR-154"]["then"]
    world = undecided(LABELS[:1])
    settles(world, LABELS[0], ItemStatus.FAILED, "the shop said no")

    answers_late(world, {"name": LABELS[0], "success": True, "protocol": "P-7"})

    attempt = Attempt.objects.get()
    assert (attempt.status, item(world).status) == (then["attempt"], then["item"])
    assert attempt.raw_answer["structured"]["results"][0]["protocol"] == "P-7"
    assert bool(world.incidents()) is then["incident"]
    assert LABELS[0] in world.incidents()[0].data["incidents"][0]
    transaction = world.transaction
    assert (transaction.status, transaction.review_state) == ("FAILED", "needed")
    assert action_calls(world) == 1


def test_a_late_answer_that_agrees_with_the_operator_is_no_incident() -> None:
    world = undecided(LABELS[:1])
    settles(world, LABELS[0], ItemStatus.SUCCEEDED)

    answers_late(world, {"name": LABELS[0], "success": True})

    assert (world.incidents(), world.transaction.review_state) == ([], "resolved")


def test_a_late_answer_settles_what_the_operator_left_open() -> None:
    world = undecided()
    settles(world, LABELS[0], ItemStatus.FAILED)

    answers_late(world, *({"name": label, "success": True} for label in LABELS[1:]))

    assert world.transaction.status == "PARTIAL_SUCCESS"
    assert item(world).verdict_source == VerdictSource.OPERATOR


def test_rows_that_come_late_do_not_replace_the_one_item_that_an_operator_settled() -> None:
    world = confirmed(LABELS[:1])
    world.gateway.answers(ACTION, NoAnswer("the stream broke"))
    world.work()
    world.transaction.items.update(key="*")
    resolve(world.transaction.pk, "*", status=ItemStatus.FAILED, reason="no", actor="ana")

    answers_late(world, {"name": "A", "success": True}, {"name": "B", "success": False})

    assert list(world.transaction.items.values_list("key", "status")) == [("*", "FAILED")]
    assert len(world.incidents()) == 1


def test_a_repetition_that_has_not_left_yet_is_not_sent_after_the_operator_settled_it() -> None:
    world = undecided(LABELS[:1])
    first = Attempt.objects.get()
    again = Attempt.objects.create(
        transaction=world.transaction,
        number=2,
        is_resend=True,
        idempotency_key=first.idempotency_key,
        digest=first.digest,
        due_at=first.due_at,
    )

    settles(world, LABELS[0], ItemStatus.FAILED)
    world.execute()
    sweeper.run_once()

    again.refresh_from_db()
    assert (again.status, again.accounted_at is not None) == (AttemptStatus.NOT_SENT, True)
    assert action_calls(world) == 1


@pytest.mark.parametrize(("says", "incidents"), [(True, 1), (False, 0)])
@pytest.mark.parametrize("labels", [LABELS[:1], LABELS])
def test_what_an_operator_says_while_a_tool_is_asked_stands(labels: list[str], says: bool, incidents: int) -> None:
    world = unknown(labels=labels, reconcile_tool=ASK)

    def meanwhile(call: Call) -> Any:
        settles(world, LABELS[0], ItemStatus.FAILED, "the shop said no")
        return rows(*({"name": label, "success": says} for label in labels))

    world.gateway.answers(ASK, meanwhile)
    world.verify()

    (asked,) = told(world, "reconcile.finished")
    assert (item(world).status, item(world).verdict_source) == ("FAILED", VerdictSource.OPERATOR)
    assert item(world).key not in asked.data["settled"]
    assert len(asked.data["settled"]) == len(labels) - 1
    assert len(world.incidents()) == incidents
    several = len(labels) > 1
    assert world.transaction.status == ("PARTIAL_SUCCESS" if says and several else "FAILED")
    assert world.kinds().count("transaction.finished") == 1


# The queue and its alarm ------------------------------------------


def test_an_unknown_outcome_that_no_tool_verifies_raises_one_alarm(
    caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    with caplog.at_level(logging.ERROR), django_capture_on_commit_callbacks(execute=True):
        world = undecided()
        let_leases_run_out()
        for _ in range(3):
            sweeper.run_once()

    (alarm,) = alarms(caplog)
    assert str(world.transaction.pk) in alarm
    assert len(told(world, "review.needed")) == 1
    assert world.transaction.review_state == "needed"


def test_an_incident_after_the_end_asks_for_a_review_and_raises_an_alarm(
    caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    world = undecided(LABELS[:1])
    settles(world, LABELS[0], ItemStatus.FAILED)

    with caplog.at_level(logging.ERROR), django_capture_on_commit_callbacks(execute=True):
        answers_late(world, {"name": LABELS[0], "success": True})

    (alarm,) = alarms(caplog)
    assert str(world.transaction.pk) in alarm
    assert told(world, "review.needed")[-1].data["why"] == world.incidents()[0].data["incidents"][0]


def test_the_alarm_is_one_line_whatever_the_reason_holds(
    caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    world = confirmed()

    with caplog.at_level(logging.ERROR), django_capture_on_commit_callbacks(execute=True):
        ask_for_review(hold(world.conversation.pk), world.transaction, "first\nERROR forged " + "x" * 1000)

    (line,) = alarms(caplog)
    assert "\n" not in line
    assert len(line) < 700


def test_settling_the_last_item_leaves_an_incident_in_the_queue() -> None:
    world = confirmed(LABELS[:1])
    world.gateway.answers(ACTION, rows({"name": "Outra Coisa", "success": True}, {"name": LABELS[0], "success": None}))
    world.work()
    assert len(world.incidents()) == 1

    settles(world, LABELS[0], ItemStatus.FAILED)

    assert (world.transaction.status, world.transaction.review_state) == ("FAILED", "needed")


def test_what_was_looked_at_does_not_stay_in_the_queue_for_its_incident() -> None:
    world = confirmed(LABELS[:1])
    world.gateway.answers(ACTION, rows({"name": "Outra Coisa", "success": True}, {"name": LABELS[0], "success": None}))
    world.work()
    review(world.transaction.pk, state=ReviewState.ACKNOWLEDGED, note="seen", actor="ana")

    settles(world, LABELS[0], ItemStatus.FAILED)

    assert world.transaction.review_state == "resolved"


# Reviewing ------------------------------------------


def test_a_review_is_moved_by_hand_and_its_note_is_for_operators_alone() -> None:
    world = undecided()
    revision, seq = world.transaction.revision, world.events[-1].seq

    outcome = review(world.transaction.pk, state=ReviewState.ACKNOWLEDGED, note=" I ask the shop ", actor="ana")

    assert (outcome, world.transaction.review_state) == (Reviewed(ReviewState.ACKNOWLEDGED), "acknowledged")
    (event,) = told(world, "review.changed")
    assert event.data == {"from": "needed", "to": "acknowledged", "note": "I ask the shop", "by": "ana"}
    assert world.events[-1].seq == seq
    # A reconcile tool may be asked at this moment: its answer must not become stale.
    assert world.transaction.revision == revision


def test_who_comes_second_is_told_where_the_review_stands_and_by_whom() -> None:
    world = undecided()
    review(world.transaction.pk, state=ReviewState.ACKNOWLEDGED, note="mine", actor="ana")

    outcome = review(world.transaction.pk, state=ReviewState.ACKNOWLEDGED, note="mine", actor="rui")

    assert outcome == ReviewMoved(ReviewState.ACKNOWLEDGED, by="ana", note="mine")
    assert len(told(world, "review.changed")) == 1


def test_an_operator_flags_what_nobody_asked_about() -> None:
    world = confirmed()
    world.work()

    review(world.transaction.pk, state=ReviewState.NEEDED, note="the customer called", actor="ana")

    assert world.transaction.review_state == "needed"


def test_there_is_no_review_of_a_transaction_that_is_not_there() -> None:
    pk: Any = UNKNOWN_ID

    assert review(pk, state=ReviewState.NEEDED, note="", actor="ana") == NotThere()
