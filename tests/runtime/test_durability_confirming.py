"""The lines of durability.jsonl about the one answer to a confirmation: however many give it, and when it runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any, Literal
from uuid import uuid4

import pytest

from tests.chat_channel import ORIGIN, Client, serving
from tests.runtime import shop
from tests.runtime.desk import ACTION, VALIDATOR
from tests.runtime.durability import (
    CASES,
    LABELS,
    Crowd,
    action_calls,
    at_once,
    awaiting,
    effects_per_item,
    moves_of,
    next_customer,
    wake_nobody,
)
from tests.runtime.staging import all_done, opens, validator_of
from tests.runtime.world import World
from tests.services import TEST_ON
from transactions import sweeper
from transactions.core.errors import ConfirmationClosed
from transactions.core.statuses import ConfirmationStatus
from transactions.models import Channel, Confirmation, Event, Transaction
from transactions.services import ending, intake
from transactions.services.intake import Received
from transactions.services.rows import database_now

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.runtime, pytest.mark.timeout(400)]

TABS = 8
ROUNDS = 20 if TEST_ON == "postgres" else 5
"""A taste of it on whatever database is used; tests/acceptance/test_once.py does a hundred rounds with real parts."""


@pytest.fixture(autouse=True)
def lost_wake_ups(monkeypatch: pytest.MonkeyPatch) -> None:
    wake_nobody(monkeypatch)


def answer(world: World, decision: Literal["confirm", "reject"], *, message_id: str = "") -> Callable[[], Received]:
    """Press a button of the confirmation that is open now, whenever the result is called."""
    return partial(
        intake.receive_answer,
        world.conversation.pk,
        client_message_id=message_id or str(uuid4()),
        confirmation_id=str(world.confirmation.pk),
        decision=decision,
        item_keys=None,
    )


def rounds_of(world: World, number: int) -> Iterator[World]:
    for _ in range(number):
        yield next_customer(world)


def is_told_that_it_is_over(result: Any) -> bool:
    """An acknowledgement as a duplicate, or the error confirmation_closed."""
    return isinstance(result, ConfirmationClosed) or (isinstance(result, Received) and result.duplicate)


def test_dur_042_eight_tabs_that_say_yes_at_once_confirm_once_in_each_round() -> None:
    then = CASES["DUR-042"]["then"]
    with Crowd(TABS) as tabs:
        for world in rounds_of(awaiting(), ROUNDS):
            presses = [answer(world, "confirm", message_id="same" if tab % 2 else "") for tab in range(TABS)]

            results = tabs.at_once(*presses)
            world.work()

            assert moves_of(world.transaction).count("EXECUTING") == then["confirmed_transitions_each_round"]
            assert (action_calls(world), effects_per_item(world)) == (then["action_calls_each_round"], 1)
            assert sum(is_told_that_it_is_over(result) for result in results) == TABS - 1
            assert world.kinds().count(then["both_receive_event"]) == 1


def test_dur_042_dur_043_dur_044_both_tabs_are_told_over_their_sockets() -> None:
    """One socket presses twice with one id, another with an id of its own; both hear of the one answer."""
    world = awaiting()
    Channel.objects.update(origins=[ORIGIN])
    world.conversation.channel.refresh_from_db()
    seen = world.events[-1].seq
    with serving() as address:
        first = Client.greeted(address, world.conversation, after_seq=seen)
        second = Client.greeted(address, world.conversation, after_seq=seen)
        asked = world.last("confirmation.requested").data

        first.confirm("m1", asked)
        ack = first.answer("ack")
        first.confirm("m1", asked)
        again = first.until("ack", duplicate=CASES["DUR-043"]["then"]["second_ack"] == "duplicate true")[-1]
        second.confirm("m2", asked)
        heard = second.until("error")

        told = CASES["DUR-042"]["then"]["both_receive_event"]
        assert (ack["duplicate"], again["duplicate"]) == (False, True)
        assert heard[-1]["code"] == CASES["DUR-044"]["then"]["second_error_code"]
        assert told in [frame.get("kind") for frame in heard] or second.answer("event", kind=told)
        first.close()
        second.close()
    world.work()

    assert moves_of(world.transaction).count("EXECUTING") == CASES["DUR-043"]["then"]["confirmed_transitions"]
    assert len(world.transactions) == CASES["DUR-044"]["then"]["transactions"]
    assert action_calls(world) == CASES["DUR-044"]["then"]["action_calls"]


def test_dur_045_a_yes_to_a_question_that_ran_out_does_not_answer_the_next_one() -> None:
    then = CASES["DUR-045"]["then"]
    world = awaiting()
    late = answer(world, "confirm")
    world.expire()
    opens(world, ACTION, {"subject": ", ".join(LABELS)})
    world.validate()

    with pytest.raises(ConfirmationClosed):
        late()
    world.work()

    assert world.transaction.status == then["B"]
    assert action_calls(world) == then["action_calls"]


def test_dur_046_of_a_no_and_a_yes_at_once_one_wins_and_the_other_is_told() -> None:
    then = CASES["DUR-046"]["then"]
    with Crowd(2) as tabs:
        for world in rounds_of(awaiting(), ROUNDS // 3):
            results = tabs.at_once(answer(world, "confirm"), answer(world, "reject"))
            world.work()

            assert [isinstance(result, Received) for result in results].count(True) == then["winners"]
            assert [isinstance(result, ConfirmationClosed) for result in results].count(True) == 1
            wanted = {"SUCCESS": 1, "CANCELLED": then["action_calls_if_no_won"]}
            told = world.last("transaction.finished").data["status"]
            assert (told, action_calls(world)) == (world.transaction.status, wanted[told])


OFFSETS = [timedelta(milliseconds=number) for number in (-5, 0, 2, 5, 10, 20, 40, 1000)]


def test_dur_075_a_question_that_runs_out_while_it_is_answered_ends_one_way_only() -> None:
    then = CASES["DUR-075"]["then"]
    world = awaiting()
    for offset in OFFSETS:
        next_customer(world)
        press = answer(world, "confirm")
        end = database_now() + offset
        Transaction.objects.filter(pk=world.transaction.pk).update(expires_at=end)
        Confirmation.objects.filter(transaction=world.transaction).update(expires_at=end)
        sweep = partial(ending.expire_if_due, world.conversation.pk)

        at_once(press, sweep, sweep)
        Transaction.objects.filter(status="AWAITING_CONFIRMATION").update(expires_at=world.conversation.created_at)
        sweep()

        ways = [status for status in moves_of(world.transaction) if status in then["one_of"]]
        assert len(ways) == 1
        executing = world.transaction.attempts.count()
        assert executing == (1 if ways == ["EXECUTING"] else 0)


def test_dur_071_a_stricter_policy_published_meanwhile_changes_nothing_about_the_open_question() -> None:
    world = awaiting()
    asked = world.confirmation
    stricter = shop.with_policy(shop.shop(), ACTION, max_items=1, requires_identity=True, timeout_seconds=1)
    world.publish(stricter)

    world.answers("confirm")
    world.work()

    transaction = world.transaction
    assert (transaction.release, transaction.status) == (1, "SUCCESS")
    assert Confirmation.objects.get(pk=asked.pk).status == ConfirmationStatus.CONFIRMED


def test_dur_092_a_question_that_runs_out_after_two_hours_does_so_once_without_a_broker() -> None:
    """The time is a column, not a message with a delay that a broker could forget or repeat."""
    world = awaiting()
    Transaction.objects.update(expires_at=database_now() + timedelta(hours=2))
    sweeper.run_once()
    assert world.transaction.status == "AWAITING_CONFIRMATION"
    world.age()

    at_once(*[sweeper.run_once] * 3)

    assert moves_of(world.transaction).count("EXPIRED") == CASES["DUR-092"]["then"]["expired_moves"]
    assert world.kinds().count("transaction.finished") == 1


def test_the_end_of_a_question_is_told_as_the_work_of_time() -> None:
    world = World(shop.with_validator(shop.shop(), ACTION, VALIDATOR))
    world.gateway.answers(VALIDATOR, validator_of(LABELS))
    world.gateway.answers(ACTION, all_done)
    opens(world, ACTION, {"subject": ", ".join(LABELS)})
    world.validate()

    world.expire()

    end = Event.objects.get(conversation=world.conversation, kind="transaction.finished")
    assert (end.actor, world.transaction.reason_code) == ("system", "expired")
