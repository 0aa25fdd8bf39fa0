"""A request set aside for another one: offered again, taken up afresh, and never executed on an old yes (§6.6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.runtime import shop
from tests.runtime.staging import EXTRACTION, NOTHING, REPLY, ROUTING, all_done, opens, shift_to, validator_of
from tests.runtime.world import World, rows
from tooling.gateway import NoAnswer
from tooling.specs import Definitions, OnIntentShift
from transactions import sweeper
from transactions.core.errors import ConfirmationClosed
from transactions.models import Transaction

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

ACTION = "cancelar_vas_avulso"
OTHER = "cancelar_pedidos"
LABELS = ["Música Mais", "Craque 10"]
SILENT = {"kind": "something_else", "values": {"subject": None}}


def definitions() -> Definitions:
    found = shop.with_validator(shop.shop(), ACTION, "validar")
    return shop.with_policy(found, ACTION, on_intent_shift=OnIntentShift.PARK)


def parked() -> World:
    """Two services wait for a yes, and the customer cancels an order first."""
    world = World(definitions())
    world.gateway.answers("validar", validator_of(LABELS))
    world.gateway.answers(ACTION, all_done)
    world.gateway.answers(OTHER, all_done)
    opens(world, ACTION, {"subject": ", ".join(LABELS)})
    world.validate()
    order = {"kind": "answers_pending", "values": {"order_ids": ["PED-1"]}}
    world.model.script({REPLY: NOTHING, ROUTING: shift_to(shop.INTENTS[OTHER]), EXTRACTION: order})
    world.says("antes cancela o pedido PED-1")
    world.model.script({})
    return world


def first(world: World) -> Transaction:
    return world.transactions[0]


def test_a_shift_sets_the_request_aside_and_says_so() -> None:
    world = parked()

    assert (first(world).status, first(world).reason_code) == ("PARKED", "intent_shift")
    assert world.transaction.status == "AWAITING_CONFIRMATION"
    said = [event for event in world.events if event.kind == "assistant.message"]
    assert all(label in said[-1].data["text"] for label in LABELS)


def test_the_old_confirmation_is_dead() -> None:
    world = parked()
    old = first(world).confirmations.get()

    with pytest.raises(ConfirmationClosed):
        world.answers("confirm", confirmation_id=str(old.pk))

    assert world.gateway.calls_of(ACTION) == []


@pytest.mark.parametrize("answer", ["sim", "não"])
def test_it_is_offered_when_the_new_request_is_done_however_that_ends(answer: str) -> None:
    world = parked()

    world.says(answer)
    world.work()

    last = world.events[-1]
    assert (last.kind, last.transaction_id) == ("assistant.message", first(world).pk)
    assert "Música Mais, Craque 10" in last.data["text"]


def test_it_is_offered_also_when_the_new_request_is_still_being_verified() -> None:
    world = parked()
    world.gateway.answers(OTHER, NoAnswer("timeout"))

    world.says("sim")
    world.work()

    assert world.events[-1].transaction_id == first(world).pk


def done_with_the_other() -> World:
    world = parked()
    world.says("sim")
    world.work()
    return world


def test_a_yes_to_the_offer_validates_afresh_and_asks_anew_and_executes_nothing() -> None:
    world = done_with_the_other()
    validations = len(world.gateway.calls_of("validar"))

    turn = world.says("sim")
    world.work()

    assert turn.rule == "shift.parked"
    assert world.model.calls == []
    assert len(world.gateway.calls_of("validar")) == validations + 1
    assert (first(world).status, world.gateway.calls_of(ACTION)) == ("AWAITING_CONFIRMATION", [])
    world.says("sim")
    world.work()
    assert first(world).status == "SUCCESS"
    assert len(world.gateway.calls_of(ACTION)) == 1


def test_a_no_to_the_offer_lets_it_go_for_good() -> None:
    world = done_with_the_other()

    world.says("não")

    assert (first(world).status, first(world).reason_code) == ("ABANDONED", "user_abandoned")


def test_a_yes_sent_before_the_offer_was_seen_is_no_answer_to_it() -> None:
    world = parked()
    world.says("sim")
    seen = world.events[-1].seq
    world.work()
    world.model.script({ROUTING: {"decision": "none", "intent": None, "confidence": 0.9, "reason": ""}})

    world.says("sim", seen_seq=seen)

    assert first(world).status == "PARKED"


def test_asking_for_the_same_again_takes_it_up() -> None:
    world = done_with_the_other()
    world.model.script({ROUTING: shift_to(shop.INTENTS[ACTION]), EXTRACTION: SILENT})

    world.says("e aquele cancelamento?")
    world.validate()

    assert first(world).status == "AWAITING_CONFIRMATION"
    assert len(world.transactions) == 2


def test_asking_for_the_same_with_something_new_is_a_new_request() -> None:
    world = done_with_the_other()

    opens(world, ACTION, {"subject": "Livros Falados"})

    assert len(world.transactions) == 3
    assert first(world).status == "PARKED"


def test_a_tool_that_was_disabled_meanwhile_is_not_taken_up() -> None:
    world = done_with_the_other()
    world.publish(shop.with_tool(definitions(), replace(definitions().tools[ACTION], enabled=False)))

    world.says("sim")

    assert first(world).status == "PARKED"
    assert world.kinds()[-1] == "assistant.message"


def test_time_ends_what_was_set_aside_while_another_request_goes_on() -> None:
    world = parked()
    Transaction.objects.filter(pk=first(world).pk).update(expires_at=world.conversation.created_at)

    sweeper.run_once()

    assert (first(world).status, first(world).reason_code) == ("EXPIRED", "expired")
    assert world.transaction.status == "AWAITING_CONFIRMATION"


def test_what_is_still_being_collected_cannot_wait_and_is_abandoned() -> None:
    found = shop.with_policy(shop.shop(), "solicitar_devolucao", on_intent_shift=OnIntentShift.PARK)
    world = World(found)
    opens(world, "solicitar_devolucao", {"order_id": "PED-1"})
    nothing = {"kind": "something_else", "values": {"reason": None}}
    world.gateway.answers("consultar_faturas", rows({"name": "março", "ok": True}))
    world.model.script({EXTRACTION: nothing, ROUTING: shift_to(shop.INTENTS["consultar_faturas"])})

    world.says("quero ver a fatura")

    assert first(world).status == "ABANDONED"


@pytest.mark.parametrize("said", ["qual o prazo?", "hum"])
def test_something_said_in_between_does_not_take_the_offer_back(said: str) -> None:
    world = done_with_the_other()
    kind = "question" if said.endswith("?") else "none"
    world.model.script({ROUTING: {"decision": kind, "intent": None, "confidence": 0.95, "values": None, "reason": ""}})

    world.says(said)
    world.says("sim")
    world.validate()

    assert first(world).status == "AWAITING_CONFIRMATION"


def test_a_yes_out_of_the_blue_brings_the_offer_back() -> None:
    world = done_with_the_other()
    nothing = {"decision": "none", "intent": None, "confidence": 0.3, "values": None, "reason": ""}
    world.model.script({ROUTING: nothing})
    seen = first(world).events.for_the_user().order_by("-seq")[0].seq - 1

    world.says("sim", seen_seq=seen)

    assert first(world).status == "PARKED"
    assert world.events[-1].transaction_id == first(world).pk


def test_a_yes_with_more_words_that_ask_for_nothing_takes_it_up() -> None:
    world = done_with_the_other()
    nothing = {"decision": "none", "intent": None, "confidence": 0.3, "values": None, "reason": ""}
    world.model.script({ROUTING: nothing})

    world.says("sim, quero voltar")

    assert first(world).status == "PRE_VALIDATING"


def test_another_try_that_was_set_aside_is_taken_up_by_the_words_for_it() -> None:
    found = shop.with_policy(shop.shop(), OTHER, on_intent_shift=OnIntentShift.PARK)
    world = World(found)
    world.gateway.answers(OTHER, rows({"name": "PED-1", "success": True}, {"name": "PED-2", "success": False}))
    opens(world, OTHER, {"order_ids": ["PED-1", "PED-2"]})
    world.says("sim")
    world.work()
    world.says("tentar de novo")
    child = world.transaction
    world.gateway.answers("consultar_faturas", rows({"name": "março", "ok": True}))
    world.model.script({REPLY: NOTHING, ROUTING: shift_to(shop.INTENTS["consultar_faturas"])})
    world.says("antes quero ver a fatura")
    world.work()
    world.model.script({})

    world.says("tentar de novo o que falhou")

    child.refresh_from_db()
    assert child.status == "AWAITING_CONFIRMATION"
    assert [item["label"] for item in world.confirmation.items] == ["PED-2"]
