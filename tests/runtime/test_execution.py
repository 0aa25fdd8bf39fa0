"""At most one call per confirmed attempt, whatever ends when (runtime.md §9)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.db.models import F

from tests.runtime import shop
from tests.runtime.fakes import answered
from tests.runtime.staging import EXTRACTION, ROUTING, all_done, opens, shift_to, validator_of
from tests.runtime.world import World, rows
from tooling.gateway import Answered, NoAnswer, NotSent
from transactions import execution, sweeper
from transactions.core.statuses import AttemptStatus, ItemStatus
from transactions.models import Attempt, Event, Item, Transaction
from transactions.services import accounting, executing

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

LABELS = ["Música Mais", "Livros Falados", "Craque 10"]


def confirmed(labels: list[str] = LABELS, **policy: Any) -> World:
    """Three items, confirmed; the worker has not started."""
    definitions = shop.with_validator(shop.shop(), "cancelar_vas_avulso", "validar")
    world = World(shop.with_policy(definitions, "cancelar_vas_avulso", **policy))
    world.gateway.answers("validar", validator_of(labels))
    world.gateway.answers("cancelar_vas_avulso", all_done)
    opens(world, "cancelar_vas_avulso", {"subject": ", ".join(labels)})
    world.validate()
    world.says("sim")
    return world


def statuses(world: World) -> dict[str, str]:
    return dict(world.transaction.items.values_list("label", "status"))


def calls(world: World) -> int:
    return len(world.gateway.calls_of("cancelar_vas_avulso"))


def test_the_call_carries_the_keys_of_the_contract() -> None:
    world = confirmed()

    world.work()

    (call,) = world.gateway.calls_of("cancelar_vas_avulso")
    assert set(call.meta) == {
        "agentplatform/idempotency_key",
        "agentplatform/transaction_id",
        "agentplatform/item_keys",
        "agentplatform/request_digest",
    }
    assert [key["label"] for key in call.meta["agentplatform/item_keys"]] == LABELS
    assert call.meta["agentplatform/transaction_id"] == str(world.transaction.pk)


def test_a_wake_up_that_comes_twice_calls_once() -> None:
    world = confirmed()
    attempt = Attempt.objects.get()

    for _ in range(3):
        execution.execute(attempt.pk, gateway=world.gateway)

    assert calls(world) == 1
    assert world.transaction.status == "SUCCESS"


def test_no_answer_is_unknown_told_as_being_verified_and_never_sent_again() -> None:
    world = confirmed()
    world.gateway.answers("cancelar_vas_avulso", NoAnswer("the stream broke"))

    world.work()
    for _ in range(3):
        sweeper.run_once()

    transaction = world.transaction
    assert (transaction.status, transaction.reason_code) == ("VERIFYING", "outcome_unknown")
    assert (transaction.review_state, transaction.has_unknown) == ("needed", True)
    assert set(statuses(world).values()) == {ItemStatus.UNKNOWN}
    assert world.last("transaction.verifying").data["counts"]["unknown"] == 3
    assert calls(world) == 1


def test_not_sent_is_tried_four_times_with_the_same_key_and_then_not_executed() -> None:
    world = confirmed()
    world.gateway.answers("cancelar_vas_avulso", NotSent("connection refused"))

    world.work()

    transaction = world.transaction
    assert (transaction.status, transaction.reason_code) == ("FAILED", "not_sent")
    assert set(statuses(world).values()) == {ItemStatus.NOT_EXECUTED}
    keys = {call.meta["agentplatform/idempotency_key"] for call in world.gateway.calls_of("cancelar_vas_avulso")}
    assert (calls(world), len(keys)) == (4, 1)
    assert set(Attempt.objects.values_list("status", flat=True)) == {AttemptStatus.NOT_SENT}


def test_a_call_that_the_server_does_not_know_is_not_repeated() -> None:
    world = confirmed()
    world.gateway.answers("cancelar_vas_avulso", NotSent("-32601: no such tool", again=False))

    world.work()

    assert (calls(world), world.transaction.status) == (1, "FAILED")
    assert set(statuses(world).values()) == {ItemStatus.NOT_EXECUTED}


def test_not_sent_and_then_sent_is_one_call_with_an_effect() -> None:
    world = confirmed()
    world.gateway.answers("cancelar_vas_avulso", NotSent("refused"), all_done)

    world.work()

    assert world.transaction.status == "SUCCESS"
    assert list(Attempt.objects.values_list("status", flat=True)) == [AttemptStatus.NOT_SENT, AttemptStatus.ANSWERED]
    assert world.kinds().count("execution.started") == 1


def test_a_worker_that_ends_before_sending_is_followed_by_another() -> None:
    world = confirmed()
    attempt = Attempt.objects.get()
    assert executing.claim(attempt.pk) is not None
    let_lease_run_out()

    world.work()

    assert (calls(world), world.transaction.status) == (1, "SUCCESS")


def test_a_worker_that_ends_after_sending_leaves_the_outcome_unknown() -> None:
    world = confirmed()
    claim = executing.claim(Attempt.objects.get().pk)
    assert claim is not None
    executing.gate(claim)
    let_lease_run_out()

    sweeper.run_once()

    assert world.transaction.status == "VERIFYING"
    assert calls(world) == 0


def test_the_third_lease_that_runs_out_before_sending_is_the_last() -> None:
    world = confirmed()
    attempt = Attempt.objects.get()
    for _ in range(3):
        assert executing.claim(attempt.pk) is not None
        let_lease_run_out()
    assert executing.claim(attempt.pk) is None

    sweeper.run_once()

    assert (world.transaction.status, world.transaction.reason_code) == ("FAILED", "not_sent")
    assert set(statuses(world).values()) == {ItemStatus.NOT_EXECUTED}


def test_a_recorded_answer_is_accounted_by_the_sweeper() -> None:
    world = confirmed()
    claim = executing.claim(Attempt.objects.get().pk)
    assert claim is not None
    call = executing.gate(claim)
    assert call is not None
    executing.record_answer(claim, all_done(call))
    assert world.transaction.status == "EXECUTING"

    sweeper.run_once()
    sweeper.run_once()

    assert world.transaction.status == "SUCCESS"
    assert world.kinds().count("transaction.finished") == 1


def test_a_late_answer_beats_unknown() -> None:
    world = confirmed()
    claim = executing.claim(Attempt.objects.get().pk)
    assert claim is not None
    call = executing.gate(claim)
    assert call is not None
    let_lease_run_out()
    sweeper.run_once()
    assert world.transaction.status == "VERIFYING"

    executing.record_answer(claim, all_done(call))
    accounting.settle(claim.attempt_id)

    assert world.transaction.status == "SUCCESS"
    assert set(statuses(world).values()) == {ItemStatus.SUCCEEDED}
    assert not world.transaction.has_unknown


def test_a_tool_disabled_after_the_yes_is_not_called_and_the_user_is_told() -> None:
    world = confirmed()
    definitions = shop.with_validator(shop.shop(), "cancelar_vas_avulso", "validar")
    disabled = replace(definitions.tools["cancelar_vas_avulso"], enabled=False)
    world.publish(shop.with_tool(definitions, disabled))

    world.work()

    assert (world.transaction.status, world.transaction.reason_code) == ("FAILED", "tool_disabled")
    assert set(statuses(world).values()) == {ItemStatus.NOT_EXECUTED}
    assert calls(world) == 0
    assert "nada foi feito" in world.last("transaction.finished").data["text"].lower()


def test_a_policy_published_meanwhile_changes_nothing_for_a_running_transaction() -> None:
    world = confirmed()
    world.publish(shop.with_policy(shop.shop(), "cancelar_vas_avulso", require_confirmation=False, max_items=1))

    world.work()

    assert (world.transaction.release, world.transaction.status) == (1, "SUCCESS")


def test_an_error_without_rows_proves_nothing_about_three_items() -> None:
    world = confirmed()
    world.gateway.answers("cancelar_vas_avulso", answered({"message": "x"}, is_error=True))

    world.work()

    assert world.transaction.status == "VERIFYING"
    assert set(statuses(world).values()) == {ItemStatus.UNKNOWN}


def test_an_error_about_one_item_is_a_failure_and_no_stack_trace_is_shown() -> None:
    world = confirmed(["Música Mais"])
    trace = "Traceback (most recent call last):\n  File x.py, line 1"
    world.gateway.answers("cancelar_vas_avulso", Answered(raw={}, texts=(trace,), is_error=True))

    world.work()

    assert (world.transaction.status, world.transaction.reason_code) == ("FAILED", "tool_failed")
    assert "Traceback" not in world.last("transaction.finished").data["text"]
    assert Attempt.objects.get().raw_answer["texts"] == [trace]


def test_a_row_nobody_confirmed_is_an_incident_and_never_counted() -> None:
    world = confirmed(["Música Mais"])
    surplus = rows({"name": "Música Mais", "success": True}, {"name": "Jogos Dia", "success": True})
    world.gateway.answers("cancelar_vas_avulso", surplus)

    world.work()

    assert world.transaction.status == "SUCCESS"
    assert world.transaction.has_unconfirmed
    assert [item.label for item in Item.objects.filter(unconfirmed=True)] == ["Jogos Dia"]
    assert world.last("transaction.finished").data["counts"]["total"] == 1
    (incident,) = world.incidents()
    assert incident.seq is None


def test_text_that_no_database_stores_is_accounted_all_the_same() -> None:
    world = confirmed(["Música Mais"])
    nasty = '{"results": [{"name": "Música Mais", "success": true, "protocol": "P\\u0000\\ud800", "n": NaN}]}'
    world.gateway.answers("cancelar_vas_avulso", Answered(raw={}, texts=(nasty,)))

    world.work()

    assert world.transaction.status == "SUCCESS"
    assert world.transaction.items.get().protocol.startswith("P")


def test_partial_success_names_every_item_with_reason_and_protocol() -> None:
    world = confirmed()
    result = rows(
        {"name": "Craque 10", "success": True, "protocol": "PX-2"},
        {"name": "Música Mais", "success": True, "protocol": "PX-1"},
        {"name": "Livros Falados", "success": False, "reason": "not_found"},
    )
    world.gateway.answers("cancelar_vas_avulso", result)

    world.work()

    data = world.last("transaction.finished").data
    assert (data["status"], data["multi_item_status"]) == ("PARTIAL_SUCCESS", "PARTIAL_SUCCESS")
    assert [item["protocol"] for item in data["items"]] == ["PX-1", None, "PX-2"]
    assert data["counts"] == {"total": 3, "succeeded": 2, "failed": 1, "unknown": 0, "excluded": 0}
    assert all(label in data["text"] for label in LABELS)


def test_a_new_transaction_with_an_unsettled_item_is_refused_until_that_is_known() -> None:
    world = confirmed(["Livros Falados"])
    world.gateway.answers("cancelar_vas_avulso", NoAnswer("timeout"))
    world.work()

    opens(world, "cancelar_vas_avulso", {"subject": "Livros Falados"})
    world.validate()

    assert (world.transaction.status, world.transaction.reason_code) == ("REFUSED", "item_unsettled")
    assert calls(world) == 1


def returning() -> World:
    """A confirmed request whose set of items nobody names: two texts, no validator."""
    world = World(shop.shop())
    opens(world, "solicitar_devolucao", {"order_id": "PED-1", "reason": "ficou apertado"})
    world.says("sim")
    return world


def test_a_request_without_named_items_is_one_unknown_item_when_no_answer_comes() -> None:
    world = returning()
    world.gateway.answers("solicitar_devolucao", NoAnswer("timeout"))

    world.work()

    assert statuses(world) == {"PED-1": "UNKNOWN"}
    assert world.last("transaction.verifying").data["counts"]["unknown"] == 1
    opens(world, "solicitar_devolucao", {"order_id": "PED-1", "reason": "ficou apertado"})
    assert world.transaction.reason_code == "item_unsettled"
    opens(world, "solicitar_devolucao", {"order_id": "PED-2", "reason": "ficou apertado"})
    assert world.transaction.status == "AWAITING_CONFIRMATION"


@pytest.mark.parametrize(
    ("late", "settled"),
    [
        (answered({"ok": True, "protocol": "DEV-1"}), {"PED-1": "SUCCEEDED"}),
        (
            rows({"name": "Tênis", "success": True}, {"name": "Meia", "success": False}),
            {"Tênis": "SUCCEEDED", "Meia": "FAILED"},
        ),
    ],
)
def test_a_late_answer_settles_the_one_unknown_item(late: Answered, settled: dict[str, str]) -> None:
    world = returning()
    claim = executing.claim(Attempt.objects.get().pk)
    assert claim is not None
    executing.gate(claim)
    let_lease_run_out()
    sweeper.run_once()

    executing.record_answer(claim, late)
    accounting.settle(claim.attempt_id)

    assert statuses(world) == settled
    assert world.transaction.is_final


def test_a_validators_refusal_of_an_unsettled_item_is_told_as_unsettled() -> None:
    world = confirmed(["Livros Falados"])
    world.gateway.answers("cancelar_vas_avulso", NoAnswer("timeout"))
    world.work()
    gone = {"items": [{"name": "Livros Falados", "eligible": False, "reason": "ja_cancelado"}]}
    refusal = {"eligible": False, "transaction_decision": {"resolved_arguments": gone}}
    world.gateway.answers("validar", answered(refusal))

    opens(world, "cancelar_vas_avulso", {"subject": "Livros Falados"})
    world.validate()

    assert world.transaction.reason_code == "item_unsettled"


def test_a_new_value_at_the_confirmation_leaves_no_item_unmentioned() -> None:
    world = World(shop.shop())
    world.gateway.answers("cancelar_pedidos", all_done)
    opens(world, "cancelar_pedidos", {"order_ids": ["PED-1", "PED-2"]})
    change = {"kind": "change_parameters", "keep_item_keys": None, "question": None}
    world.model.script({"confirmation_reply": {**change, "values": {"order_ids": ["PED-3", "PED-1"]}}})

    world.says("troca o PED-2 pelo PED-3, e o PED-1")

    assert [item["label"] for item in world.confirmation.items] == ["PED-1", "PED-3"]
    assert "PED-2" in world.confirmation.text
    world.says("sim")
    world.work()
    assert statuses(world) == {"PED-1": "SUCCEEDED", "PED-3": "SUCCEEDED", "PED-2": "EXCLUDED"}
    assert world.gateway.calls_of("cancelar_pedidos")[0].arguments["order_ids"] == ["PED-3", "PED-1"]


def changing(values: dict[str, Any]) -> dict[str, Any]:
    """The model's reading of a reply that names new values."""
    return {
        "confirmation_reply": {"kind": "change_parameters", "keep_item_keys": None, "question": None}
        | {"values": values}
    }


def test_an_addition_keeps_what_is_known_although_the_message_names_only_the_new() -> None:
    world = World(shop.shop())
    opens(world, "cancelar_pedidos", {"order_ids": ["PED-1", "PED-2"]})
    world.model.script(changing({"order_ids": ["PED-1", "PED-2", "PED-3", "PED-4"]}))

    world.says("e também o PED-3")

    assert [item["label"] for item in world.confirmation.items] == ["PED-1", "PED-2", "PED-3"]


def test_a_value_that_stays_as_it_was_is_no_change() -> None:
    world = World(shop.shop())
    opens(world, "cancelar_pedidos", {"order_ids": ["PED-1", "PED-2"]})
    asked = world.confirmation
    world.model.script(changing({"order_ids": ["PED-1", "PED-2"]}))

    world.says("hum")

    assert world.confirmation.pk == asked.pk


def test_a_subset_chosen_with_item_keys_is_validated_and_confirmed_anew() -> None:
    definitions = shop.with_validator(shop.shop(), "cancelar_vas_avulso", "validar")
    world = World(definitions)
    world.gateway.answers("validar", validator_of(LABELS))
    world.gateway.answers("cancelar_vas_avulso", all_done)
    opens(world, "cancelar_vas_avulso", {"subject": ", ".join(LABELS)})
    world.validate()
    first = world.confirmation
    keys = [item["key"] for item in first.items]

    world.answers("confirm", item_keys=[keys[0], keys[2]])
    world.validate()

    assert world.gateway.calls[-1].arguments["keep_items"] == ["Música Mais", "Craque 10"]
    assert [item["label"] for item in world.confirmation.items] == ["Música Mais", "Craque 10"]
    assert "Livros Falados" in world.confirmation.text
    world.says("sim")
    world.work()
    counts = world.last("transaction.finished").data["counts"]
    assert counts == {"total": 3, "succeeded": 2, "failed": 0, "unknown": 0, "excluded": 1}
    assert statuses(world)["Livros Falados"] == ItemStatus.EXCLUDED


def test_a_subset_of_an_array_without_validator_sends_only_the_rest() -> None:
    world = World(shop.shop())
    world.gateway.answers("cancelar_pedidos", all_done)
    opens(world, "cancelar_pedidos", {"order_ids": ["PED-1", "PED-2", "PED-3"]})
    keys = [item["key"] for item in world.confirmation.items]

    world.answers("confirm", item_keys=keys[:2])
    world.says("sim")
    world.work()

    (call,) = world.gateway.calls_of("cancelar_pedidos")
    assert call.arguments["order_ids"] == ["PED-1", "PED-2"]


def test_a_subset_of_a_scalar_without_validator_is_asked_for_again() -> None:
    definitions = shop.with_validator(shop.shop(), "cancelar_vas_avulso", "validar")
    world = World(definitions)
    world.gateway.answers("validar", validator_of(LABELS, follow_keep=False))
    opens(world, "cancelar_vas_avulso", {"subject": ", ".join(LABELS)})
    world.validate()
    keys = [item["key"] for item in world.confirmation.items]

    world.answers("confirm", item_keys=keys[:1])
    world.validate()

    assert world.transaction.status == "COLLECTING_PARAMETERS"
    assert world.last("parameters.requested").data["parameter"] == "subject"


def test_a_change_that_the_validator_refuses_leaves_the_previous_set_to_confirm() -> None:
    definitions = shop.with_validator(shop.shop(), "cancelar_vas_avulso", "validar")
    world = World(definitions)
    refusal = answered({"eligible": False, "error": "não dá para separar"})
    world.gateway.answers("validar", validator_of(LABELS), refusal)
    opens(world, "cancelar_vas_avulso", {"subject": ", ".join(LABELS)})
    world.validate()
    first = world.confirmation

    world.answers("confirm", item_keys=[first.items[0]["key"]])
    world.validate()

    assert world.transaction.status == "AWAITING_CONFIRMATION"
    assert [item["label"] for item in world.confirmation.items] == LABELS
    assert "não dá para separar" in world.last("assistant.message").data["text"]


def test_a_read_only_tool_is_a_transaction_without_a_question() -> None:
    world = World(shop.shop())
    world.gateway.answers("consultar_faturas", rows({"name": "março", "ok": True}, {"name": "abril", "ok": True}))
    world.model.script({ROUTING: shift_to("fatura")})

    world.says("quero ver minhas faturas")
    world.work()

    assert world.transaction.status == "SUCCESS"
    assert [item.label for item in world.transaction.items.all()] == ["março", "abril"]
    assert "confirmation.requested" not in world.kinds()


def test_a_turn_during_the_call_waits_and_is_answered_in_order() -> None:
    world = confirmed()
    world.says("e aí?")
    assert world.kinds()[-1] == "turn.queued"
    world.model.script({ROUTING: {"decision": "none", "intent": None, "confidence": 0.9, "reason": ""}})

    world.work()

    kinds = world.kinds()
    assert kinds.index("transaction.finished") < kinds.index("assistant.message")
    assert calls(world) == 1


def test_the_same_client_message_id_is_one_turn_even_with_another_text() -> None:
    world = confirmed()
    world.sends("oi", client_message_id="m-1")

    world.sends("outra coisa", client_message_id="m-1")

    assert world.conversation.turns.filter(client_message_id="m-1").count() == 1


def test_a_model_failure_changes_nothing_and_says_so() -> None:
    world = World(shop.shop())
    opens(world, "solicitar_devolucao", {"order_id": "PED-1001"})
    before = world.transaction
    world.model.script({}, {EXTRACTION: "timeout"})

    turn = world.says("desisti")

    after = world.transaction
    assert turn.rule == "model.unavailable"
    assert (after.status, after.revision, after.arguments) == (before.status, before.revision, before.arguments)
    assert world.kinds()[-1] == "assistant.message"


def test_a_model_failure_at_a_shift_leaves_the_old_transaction_alone() -> None:
    world = World(shop.shop())
    opens(world, "solicitar_devolucao", {"order_id": "PED-1001"})

    def extract(payload: Any) -> Any:
        return {"kind": "something_else", "values": dict.fromkeys(payload["pending"])}

    world.model.script({EXTRACTION: extract}, {ROUTING: "HTTP 500"})

    world.says("quero ver a fatura")

    assert [transaction.status for transaction in world.transactions] == ["COLLECTING_PARAMETERS"]


def test_events_of_a_conversation_are_numbered_without_gaps() -> None:
    world = confirmed()
    world.work()

    assert [event.seq for event in world.events] == list(range(1, len(world.events) + 1))


def test_every_decision_of_a_turn_is_kept_with_its_rule_and_model_calls() -> None:
    confirmed()

    handled = Event.objects.filter(kind="turn.handled").order_by("id")

    assert [event.rule for event in handled] == ["idle.model", "confirmation.explicit"]
    assert [call["component"] for call in handled[0].model_calls] == [ROUTING, EXTRACTION]


def let_lease_run_out() -> None:
    """As if the worker had ended a while ago."""

    Attempt.objects.exclude(leased_until=None).update(leased_until=F("due_at"))
    Transaction.objects.exclude(leased_until=None).update(leased_until=F("created_at"))


def test_an_answer_that_nobody_can_read_ends_with_operators_and_not_in_a_loop() -> None:
    world = confirmed()
    claim = executing.claim(Attempt.objects.get().pk)
    assert claim is not None
    executing.gate(claim)
    Attempt.objects.update(status=AttemptStatus.ANSWERED, raw_answer="not what this product writes")

    for _ in range(accounting.SETTLE_LIMIT + 3):
        sweeper.run_once()

    assert (world.transaction.status, world.transaction.review_state) == ("VERIFYING", "needed")
    assert set(statuses(world).values()) == {ItemStatus.UNKNOWN}
    assert Attempt.objects.get().accounted_at is not None
    assert world.kinds().count("transaction.verifying") == 1
