"""A customer asks for what failed by a button or in words, and only where it can be tried again (runtime.md §9.5)."""

from __future__ import annotations

import pytest

from tests.runtime.retries import (
    SERVICES,
    a_world,
    confirmed_and_done,
    finished,
    presses,
)
from tests.runtime.staging import EXTRACTION, ROUTING, opens, shift_to
from transactions.core.retrying import Refusal
from transactions.models import Turn
from transactions.services import intake, retrying
from transactions.services.retrying import RetryRefused

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]


# The button and the words ------------------------------------------


def test_the_result_says_that_it_may_be_tried_again() -> None:
    world = a_world()

    finished(world)

    assert world.last("transaction.finished").data["retry"] is True


def test_a_result_without_failures_offers_nothing() -> None:
    world = a_world()

    finished(world, failing=())

    assert "retry" not in world.last("transaction.finished").data


def test_the_button_opens_one_child_however_often_the_frame_comes() -> None:
    world = a_world()
    parent = finished(world)

    first = presses(world, parent, "m-1")
    again = presses(world, parent, "m-1")
    other = presses(world, parent, "m-2")

    assert (first.duplicate, again.duplicate) == (False, True)
    assert other == RetryRefused(Refusal.NOT_NEWEST, world.transaction.pk)
    assert parent.children.count() == 1
    assert Turn.objects.filter(client_message_id="m-2").count() == 0
    turn = Turn.objects.get(client_message_id="m-1")
    assert turn.answer == {"retry": str(parent.pk)} and turn.handled_at is not None


@pytest.mark.parametrize("transaction_id", ["", "no id", "00000000-0000-4000-8000-000000000001"])
def test_a_button_for_what_is_not_there_is_refused(transaction_id: str) -> None:
    world = a_world()
    parent = finished(world)

    refused = intake.receive_retry(
        world.conversation.pk, client_message_id="m", transaction_id=transaction_id or "x" * 100
    )

    assert refused == RetryRefused(Refusal.NOTHING_FAILED)
    assert parent.children.count() == 0


def test_a_transaction_of_another_conversation_is_not_tried_again_from_here() -> None:
    world, other = a_world(), a_world()
    parent = finished(world)

    refused = presses(other, parent)

    assert refused == RetryRefused(Refusal.NOTHING_FAILED)
    assert parent.children.count() == 0


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("pt-BR", "Tentar de novo!"),
        ("pt-BR", "tenta de novo o que falhou"),
        ("pt-BR", "Repetir o que falhou."),
        ("en", "Try again."),
        ("en", "retry what failed"),
    ],
)
def test_words_that_ask_for_it_cost_no_model_call(locale: str, text: str) -> None:
    world = a_world()
    world.conversation.locale = locale
    world.conversation.save()
    parent = finished(world)
    world.model.script({})

    turn = world.says(text)
    child = confirmed_and_done(world)

    assert turn.rule == "idle.keyword"
    assert child.parent == parent
    assert world.model.calls == []
    assert child.events.get(kind="transaction.started").turn == turn


@pytest.mark.parametrize(
    "text", ["tentar de novo?", "tentar de novo amanhã", "quero tentar de novo o PED-1003", "try again"]
)
def test_other_words_go_the_normal_way(text: str) -> None:
    world = a_world()
    parent = finished(world)
    world.model.script({ROUTING: {"decision": "none", "intent": None, "confidence": 0.9, "values": None, "reason": ""}})

    world.says(text)

    assert world.model.calls == [ROUTING]
    assert parent.children.count() == 0


def test_the_words_go_the_normal_way_where_nothing_can_be_tried_again() -> None:
    world = a_world()
    finished(world, failing=())
    world.model.script({ROUTING: {"decision": "none", "intent": None, "confidence": 0.9, "values": None, "reason": ""}})

    turn = world.says("tentar de novo")

    assert turn.rule == "idle.fallback"


def test_the_words_mean_the_newest_request_and_no_older_one() -> None:
    world = a_world()
    parent = finished(world)
    opens(world, SERVICES, {"subject": "Craque 10"})
    world.answers("reject")
    world.model.script({ROUTING: {"decision": "none", "intent": None, "confidence": 0.9, "values": None, "reason": ""}})

    world.says("tentar de novo")

    assert parent.children.count() == 0


def test_the_words_after_a_child_that_was_turned_down_mean_its_parent() -> None:
    world = a_world()
    parent = finished(world)
    world.says("tentar de novo")
    world.says("não")

    world.says("tentar de novo")

    assert [child.status for child in parent.children.order_by("created_at")] == [
        "CANCELLED",
        "AWAITING_CONFIRMATION",
    ]


def test_while_a_value_is_collected_the_words_are_an_answer_like_any_other() -> None:
    world = a_world()
    parent = finished(world)
    opens(world, SERVICES, {})
    world.model.script(
        {
            EXTRACTION: {"kind": "something_else", "values": {"subject": None}},
            ROUTING: shift_to("fatura") | {"decision": "none", "intent": None},
        }
    )

    world.says("tentar de novo")

    assert parent.children.count() == 0
    assert isinstance(retrying.plan(parent), RetryRefused)
