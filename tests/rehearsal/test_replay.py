"""A replay says what a draft would have done with what really happened, from records alone, and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.rehearsal.histories import (
    ACTION,
    LABELS,
    ORDERS,
    RETURN,
    SUBJECT,
    VALIDATOR,
    a_world,
    asked,
    collects,
    confirmed,
    reads_reply,
    replayed,
    routed,
    validated,
)
from tests.runtime import flows, shop
from tests.runtime.fakes import answered
from tests.runtime.staging import REPLY, ROUTING, opens, validator_of
from tests.runtime.test_evidence import without_triggers
from tests.runtime.world import World, rows
from tooling import catalog
from tooling.gateway import Answered, Call, NoAnswer, NotSent
from tooling.models import Release
from tooling.specs import Definitions, ExecutionSpec, OnIntentShift, Phrases, RouterSpec, Text
from transactions.models import Attempt, Channel, Conversation, Event, Item, Transaction, Turn
from transactions.rehearsal.courses import Difference
from transactions.rehearsal.history import Why
from transactions.services.retrying import retry

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

D = Difference


# Things that happened ------------------------------------------


def partly_done() -> World:
    world = asked()
    world.gateway.answers(ACTION, rows(*({"name": label, "success": label != "Craque 10"} for label in LABELS)))
    world.says("sim")
    world.work()
    assert world.transaction.status == "PARTIAL_SUCCESS"
    return world


def rows_that_only_repeat_our_keys() -> World:
    world = asked()

    def half_done(call: Call) -> Answered:
        keys = call.meta["agentplatform/item_keys"]
        return rows(*({"item_key": key["key"], "success": not number} for number, key in enumerate(keys)))

    world.gateway.answers(ACTION, half_done)
    world.says("sim")
    world.work()
    assert world.transaction.status == "PARTIAL_SUCCESS"
    return world


def nobody_confirmed() -> World:
    world = a_world(shop.with_policy(validated(), ACTION, require_confirmation=False))
    world.gateway.answers(ACTION, rows_by_key)
    opens(world, ACTION, {"subject": SUBJECT})
    world.work()
    assert world.transaction.status == "SUCCESS"
    return world


def rows_by_key(call: Call) -> Answered:
    return rows(*({"item_key": key["key"], "success": True} for key in call.meta["agentplatform/item_keys"]))


def amended_in_words() -> World:
    world = asked()
    keys = [item["key"] for item in world.confirmation.items][:2]
    reads_reply(world, "change_items", keep_item_keys=keys)
    world.says("tira o Craque 10")
    world.work()
    world.says("sim")
    world.work()
    assert [item.label for item in world.transaction.items.exclude(status="EXCLUDED")] == LABELS[:2]
    return world


def amended_with_a_button() -> World:
    world = asked()
    world.answers("confirm", item_keys=[item["key"] for item in world.confirmation.items][1:])
    world.work()
    world.answers("confirm")
    world.work()
    assert world.transaction.status == "SUCCESS"
    return world


def another_value() -> World:
    world = asked()
    world.gateway.answers(VALIDATOR, validator_of(["Jogos Dia"]))
    reads_reply(world, "change_parameters", values={"subject": "Jogos Dia"})
    world.says("melhor o Jogos Dia")
    world.work()
    world.answers("confirm")
    world.work()
    assert world.transaction.known["subject"] == "Jogos Dia"
    return world


def asked_in_two_steps() -> World:
    world = a_world()
    opens(world, RETURN, {"order_id": "PED-1001"})
    collects(world, reason="quebrado")
    world.says("chegou quebrado")
    world.says("sim")
    world.work()
    assert world.transaction.status == "SUCCESS"
    return world


def a_question_in_between() -> World:
    world = asked()
    reads_reply(world, "question", question="quanto custa?")
    world.says("quanto custa?")
    world.says("sim")
    world.work()
    return world


def rejected() -> World:
    world = asked()
    world.says("não")
    assert world.transaction.status == "CANCELLED"
    return world


def refused() -> World:
    world = a_world()
    world.gateway.answers(VALIDATOR, answered({"eligible": False, "reason": "contrato suspenso"}))
    opens(world, ACTION, {"subject": SUBJECT})
    world.work()
    assert world.transaction.status == "REFUSED"
    return world


def validator_was_away() -> World:
    world = a_world()
    world.gateway.answers(VALIDATOR, NoAnswer("timeout"))
    opens(world, ACTION, {"subject": SUBJECT})
    world.work()
    assert world.transaction.reason_code == "pre_validation_unavailable"
    return world


def nobody_knows() -> World:
    world = asked()
    world.gateway.answers(ACTION, NoAnswer("reset"))
    world.says("sim")
    world.work()
    assert world.transaction.status == "VERIFYING"
    return world


def settled_later() -> World:
    world = nobody_knows()
    for item in world.transaction.items.all():
        Item.objects.filter(pk=item.pk).update(status="SUCCEEDED")
    Transaction.objects.filter(pk=world.transaction.pk).update(status="SUCCESS")
    return world


def not_sent() -> World:
    world = asked()
    world.gateway.answers(ACTION, NotSent("connection refused"))
    world.says("sim")
    world.work()
    assert world.transaction.reason_code == "not_sent"
    return world


def expired() -> World:
    world = asked()
    world.expire()
    assert world.transaction.status == "EXPIRED"
    return world


def left_for_something_else() -> World:
    world = asked()
    reads_reply(world, "other")
    world.model.answers[ROUTING] = routed("consultar_faturas")
    world.gateway.answers("consultar_faturas", rows({"name": "março", "ok": True}))
    world.says("antes quero ver a fatura")
    world.work()
    assert world.transactions[0].status == "ABANDONED"
    return world


def set_aside_and_resumed() -> World:
    definitions = shop.with_policy(validated(), ACTION, on_intent_shift=OnIntentShift.PARK)
    world = asked(definitions)
    reads_reply(world, "other")
    world.model.answers[ROUTING] = routed("consultar_faturas")
    world.gateway.answers("consultar_faturas", rows({"name": "março", "ok": True}))
    world.says("antes quero ver a fatura")
    world.work()
    world.says("sim")
    world.work()
    world.says("sim")
    world.work()
    assert world.transactions[0].status == "SUCCESS"
    return world


def said_before_it_was_seen() -> World:
    world = asked()
    world.says("sim", seen_seq=0)
    assert world.transaction.status == "AWAITING_CONFIRMATION"
    world.says("sim")
    world.work()
    assert world.transaction.status == "SUCCESS"
    return world


def the_model_failed_once() -> World:
    world = asked()
    world.model.script({}, {REPLY: "timeout"})
    world.says("como assim?")
    world.says("sim")
    world.work()
    return world


def an_array() -> World:
    return confirmed(tool=ORDERS, order_ids=["PED-1001", "PED-1002"])


def a_workflow(look: Any = None) -> World:
    world = World(flows.definitions())
    world.gateway.answers(flows.LOOK, look or answered({"ok": True, "id": "PED-1", "note": "frágil"}))
    world.gateway.answers(RETURN, answered({"ok": True, "protocol": "P-1"}))
    world.gateway.answers(flows.AFTERWARDS, answered({"ok": True}))
    opens(world, RETURN, {"order_id": "PED-1001", "reason": "quebrado"})
    world.says("sim")
    world.work()
    return world


def a_workflow_that_does_not_reach_its_tool() -> World:
    world = a_workflow(answered({"ok": False, "reason": "fora do prazo"}))
    assert world.transaction.reason_code == "not_eligible"
    return world


def a_workflow_whose_first_node_is_away() -> World:
    world = a_workflow(NoAnswer("timeout"))
    assert (world.transaction.status, len(world.gateway.calls_of(flows.LOOK))) == ("FAILED", 3)
    return world


LIVED: dict[str, Callable[[], World]] = {
    lived.__name__: lived
    for lived in (
        confirmed,
        partly_done,
        rows_that_only_repeat_our_keys,
        nobody_confirmed,
        amended_in_words,
        amended_with_a_button,
        another_value,
        asked_in_two_steps,
        a_question_in_between,
        rejected,
        refused,
        validator_was_away,
        nobody_knows,
        settled_later,
        not_sent,
        expired,
        left_for_something_else,
        set_aside_and_resumed,
        said_before_it_was_seen,
        the_model_failed_once,
        an_array,
        a_workflow,
        a_workflow_that_does_not_reach_its_tool,
        a_workflow_whose_first_node_is_away,
    )
}


@pytest.mark.parametrize("lived", LIVED.values(), ids=LIVED)
def test_a_draft_that_changes_nothing_changes_nothing(lived: Callable[[], World]) -> None:
    world = lived()
    own = Release.objects.count()

    result = replayed(world, _released(world), world.transactions[0])

    assert (result.why, result.differences) == (None, ())
    assert result.before == result.after
    assert Release.objects.count() == own


def _released(world: World) -> Definitions:
    return catalog.release(world.transactions[0].release).definitions


def test_nothing_stays() -> None:
    world = confirmed()
    kinds = (Channel, Conversation, Turn, Transaction, Item, Attempt, Event, Release)
    before = [kind.objects.count() for kind in kinds]

    replayed(world, shop.with_policy(validated(), ACTION, require_confirmation=False))

    assert [kind.objects.count() for kind in kinds] == before


# What a draft would do ------------------------------------------


def requiring(*names: str) -> Definitions:
    """One more value is required, which nobody asked the model for then."""
    found = validated()
    spec = shop.tool(ACTION, {"subject": "string", **dict.fromkeys(names, "string")})
    return shop.with_policy(shop.with_tool(found, spec), ACTION, requires=("subject", *names))


def test_one_more_required_value_is_one_more_question() -> None:
    result = replayed(confirmed(), requiring("canal"))

    assert result.differences == (D.ASKS_MORE,)
    assert result.after is not None and not result.after.is_known


def test_a_value_that_is_not_required_any_more_is_one_question_less() -> None:
    draft = shop.with_policy(validated(), RETURN, requires=("order_id",))

    assert replayed(asked_in_two_steps(), draft).differences == (D.ASKS_FEWER,)


@pytest.mark.parametrize("lived", [confirmed, rejected, amended_with_a_button], ids=lambda lived: lived.__name__)
def test_an_effect_without_the_confirmation_that_was_asked_for_is_always_found(lived: Callable[[], World]) -> None:
    draft = shop.with_policy(validated(), ACTION, require_confirmation=False)

    assert D.SKIPS_CONFIRMATION in replayed(lived(), draft).differences


def test_a_confirmation_where_there_was_none_is_found() -> None:
    world = confirmed(shop.with_policy(validated(), ACTION, require_confirmation=False))

    assert replayed(world, validated()).differences == (D.MORE_CONFIRMATIONS,)


def test_a_lower_limit_refuses_what_went_through() -> None:
    result = replayed(confirmed(), shop.with_policy(validated(), ACTION, max_items=2))

    assert result.differences == (D.REFUSED,)
    assert result.after is not None and result.after.reason_code == "too_many_items"


def test_a_customer_without_identity_would_be_refused() -> None:
    world = a_world(identity={})
    opens(world, ACTION, {"subject": SUBJECT})
    world.work()
    world.says("não")

    result = replayed(world, shop.with_policy(validated(), ACTION, requires_identity=True))

    assert result.differences == (D.REFUSED,)


def test_a_tool_that_is_switched_off_is_no_tool() -> None:
    found = validated()
    draft = shop.with_tool(found, replace(found.tools[ACTION], enabled=False))

    result = replayed(confirmed(), draft)

    assert result.differences == (D.OTHER_TOOL,)
    assert result.after is not None and result.after.tool == ""


def test_with_fail_open_an_outage_of_the_validator_lets_unchecked_items_pass() -> None:
    result = replayed(validator_was_away(), validated(fail_open=True))

    assert result.differences == (D.UNCHECKED, D.NOT_REFUSED)


def test_without_fail_open_the_same_outage_refuses() -> None:
    world = a_world(validated(fail_open=True))
    world.gateway.answers(VALIDATOR, NoAnswer("timeout"))
    opens(world, ACTION, {"subject": SUBJECT})
    world.work()
    world.says("sim")
    world.work()

    assert replayed(world, validated()).differences == (D.REFUSED,)


def test_a_validator_that_is_left_out_is_a_check_less() -> None:
    assert D.UNCHECKED in replayed(confirmed(), shop.shop()).differences


def test_a_validator_that_was_not_asked_then_is_not_guessed() -> None:
    world = confirmed(shop.shop())

    result = replayed(world, validated())

    assert result.differences == (D.UNCLEAR,)


def test_a_keyword_that_leads_elsewhere_is_another_tool() -> None:
    draft = shop.with_keywords(validated(), {"fatura": ["gostaria"]})

    result = replayed(confirmed(), draft)

    assert result.differences == (D.OTHER_TOOL,)
    assert result.after is not None and result.after.tool == "consultar_faturas"


def test_a_keyword_for_the_same_tool_changes_nothing() -> None:
    draft = shop.with_keywords(validated(), {shop.INTENTS[ACTION]: ["gostaria"]})

    assert replayed(confirmed(), draft).differences == ()


def test_a_higher_threshold_finds_no_tool_any_more() -> None:
    draft = shop.with_router(validated(), threshold=1.0)

    assert replayed(confirmed(), draft).differences == (D.OTHER_TOOL,)


def test_a_word_that_confirms_no_more_asks_the_model_what_it_was_not_asked() -> None:
    draft = replace(
        validated(),
        router=RouterSpec(confidence_threshold=0.7, confirmation_phrases={"pt-BR": Phrases(("combinado",), ())}),
    )
    world = asked(draft)
    world.says("combinado")
    world.work()

    assert replayed(world, validated()).differences == (D.UNCLEAR,)


def test_another_value_that_would_be_sent_is_found() -> None:
    found = validated()
    mapping = replace(found.mapping(ACTION), defaults={"canal": "site"})
    spec = shop.tool(ACTION, {"subject": "string", "canal": "string"})
    draft = replace(shop.with_tool(found, spec), mappings={**found.mappings, ACTION: mapping})

    assert replayed(confirmed(), draft).differences == (D.OTHER_VALUES,)


def test_a_tool_that_is_called_directly_and_not_by_its_workflow_is_sent_other_values() -> None:
    draft = shop.with_policy(flows.definitions(), RETURN, execution=ExecutionSpec())

    assert replayed(a_workflow(), draft).differences == (D.OTHER_VALUES,)


def test_what_only_words_say_is_no_difference() -> None:
    found = validated()
    draft = shop.with_tool(found, replace(found.tools[ACTION], description=Text("Encerra serviços")))

    assert replayed(confirmed(), draft).differences == ()


def test_how_long_things_wait_is_no_difference() -> None:
    draft = shop.with_policy(validated(), ACTION, expires_after=60, on_intent_shift=OnIntentShift.PARK)

    assert replayed(left_for_something_else(), draft, Transaction.objects.earliest("created_at")).differences == ()


# What cannot be replayed ------------------------------------------


def test_a_retry_is_not_replayed() -> None:
    world = partly_done()
    child = retry(world.transaction.pk, by="ana")
    assert isinstance(child, Transaction)

    assert replayed(world, validated(), child).why == Why.RETRY


def test_a_transaction_that_goes_on_is_not_replayed() -> None:
    assert replayed(asked(), validated()).why == Why.NOT_ENDED


def test_what_was_handled_before_readings_were_kept_is_not_taken_for_unchanged() -> None:
    world = confirmed()
    event = Event.objects.filter(kind="turn.handled").earliest("pk")
    data = {name: value for name, value in event.data.items() if name != "readings"}

    with without_triggers() as execute:
        execute("UPDATE transactions_event SET data = %s WHERE id = %s", json.dumps(data), event.pk)

    assert replayed(world, validated()).why == Why.NOT_KEPT


def test_what_a_validator_said_before_a_change_must_have_been_kept() -> None:
    world = amended_in_words()
    Transaction.objects.filter(pk=world.transaction.pk).update(validations=[])

    assert replayed(world, validated()).why == Why.NOT_KEPT


def test_one_run_of_a_validator_was_always_kept() -> None:
    world = confirmed()
    Transaction.objects.filter(pk=world.transaction.pk).update(validations=[])

    assert replayed(world, validated()).differences == ()


def test_what_does_not_come_out_as_it_did_is_counted_apart() -> None:
    world = confirmed()
    Transaction.objects.filter(pk=world.transaction.pk).update(status="FAILED", reason_code="tool_failed")

    assert replayed(world, validated()).why == Why.DIFFERENT


def test_a_release_that_is_gone_is_said() -> None:
    world = confirmed()
    Transaction.objects.filter(pk=world.transaction.pk).update(release=99)

    assert replayed(world, validated()).why == Why.NO_RELEASE
