"""Failed items are tried again by a child transaction, and nothing that was done ever is (runtime.md §9.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.runtime import shop
from tests.runtime.durability import at_once
from tests.runtime.fakes import answered
from tests.runtime.retries import (
    IDS,
    NAMES,
    ORDERS,
    SERVICES,
    a_world,
    all_but,
    confirmed_and_done,
    finished,
    presses,
    refusal_of,
    retried,
    sent,
)
from tests.runtime.staging import all_done, opens, validator_of
from tests.runtime.world import World, rows
from tooling.gateway import Call, NoAnswer, Outcome
from tooling.specs import Definitions
from transactions import outbox
from transactions.core.retrying import Refusal, Why
from transactions.models import Transaction
from transactions.services import retrying
from transactions.services.retrying import RetryPlan, RetryRefused

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]


# What a retry does ------------------------------------------


def test_only_what_failed_is_confirmed_sent_and_counted() -> None:
    world = a_world(validator=validator_of(IDS))
    parent = finished(world)

    retried(parent)
    world.work()
    shown = world.last("confirmation.requested").data
    child = confirmed_and_done(world)

    assert [item["label"] for item in shown["items"]] == ["PED-1006", "PED-1007"]
    assert "PED-1003" not in shown["text"]
    assert sent(world)[-1] == {"order_ids": ["PED-1006", "PED-1007"]}
    assert [key["label"] for key in world.gateway.calls[-1].meta["agentplatform/item_keys"]] == IDS[1:]
    assert (child.status, child.parent_id) == ("SUCCESS", parent.pk)
    assert world.last("transaction.finished").data["counts"] == {
        "total": 2,
        "succeeded": 2,
        "failed": 0,
        "unknown": 0,
        "excluded": 0,
    }


def test_the_parent_keeps_its_status_its_items_and_its_evidence() -> None:
    world = a_world()
    parent = finished(world)
    before = list(parent.items.values())

    retried(parent)
    confirmed_and_done(world)

    parent.refresh_from_db()
    assert parent.status == "PARTIAL_SUCCESS"
    assert list(parent.items.values()) == before


def test_dur_130_the_keys_of_child_and_parent_differ() -> None:
    world = a_world()
    parent = finished(world)

    retried(parent)
    child = confirmed_and_done(world)

    first, second = (transaction.attempts.get() for transaction in (parent, child))
    assert first.idempotency_key != second.idempotency_key
    assert not {item.key for item in parent.items.all()} & {item.key for item in child.items.all()}


def test_the_child_names_its_parent_from_the_first_event_on() -> None:
    world = a_world()
    parent = finished(world)

    child = retried(parent)

    assert world.last("transaction.started").data["parent_id"] == str(parent.pk)
    assert child.events.get(kind="transaction.retried").data["by"] == "ana"


def test_it_is_confirmed_even_where_the_policy_asks_for_no_confirmation() -> None:
    world = World(shop.with_policy(shop.shop(), ORDERS, require_confirmation=False))
    world.gateway.answers(ORDERS, all_but("PED-1006"))
    opens(world, ORDERS, {"order_ids": IDS})
    world.work()

    child = retried(world.transaction)

    assert child.status == "AWAITING_CONFIRMATION"
    assert len(sent(world)) == 1


def test_the_newest_release_is_used_and_the_plan_says_what_changed() -> None:
    world = a_world()
    parent = finished(world)
    number = world.publish(shop.with_policy(shop.shop(), ORDERS, max_items=5))

    plan = retrying.plan(parent)
    child = retried(parent)

    assert isinstance(plan, RetryPlan)
    assert (plan.release, plan.is_changed, child.release) == (number, True, number)
    assert parent.release < child.release


def test_the_plan_names_what_is_sent_again_and_what_is_not_and_changes_nothing() -> None:
    world = a_world(validator=validator_of(IDS))
    parent = finished(world)
    before = world.kinds()

    plan = retrying.plan(parent)

    assert isinstance(plan, RetryPlan)
    assert [item.label for item in plan.again] == ["PED-1006", "PED-1007"]
    assert [(left.item.label, left.why) for left in plan.left_out] == [("PED-1003", Why.SUCCEEDED)]
    assert plan.is_changed is False
    assert world.kinds() == before and world.transaction == parent


def test_a_value_that_the_newest_policy_needs_besides_is_asked_for() -> None:
    world = a_world()
    parent = finished(world)
    spec = shop.tool(ORDERS, {"order_ids": "array", "reason": "string"})
    world.publish(shop.with_policy(shop.with_tool(shop.shop(), spec), ORDERS, requires=("order_ids", "reason")))

    child = retried(parent)

    assert child.status == "COLLECTING_PARAMETERS"
    assert world.last("parameters.requested").data["pending"] == ["reason"]
    assert child.known == {"order_ids": ["PED-1006", "PED-1007"]}


# Never what was done ------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        {"items": [{"name": name} for name in IDS]},
        {"items": [{"name": name} for name in IDS], "order_ids": IDS},
        {"order_ids": IDS},
        {"items": [{"name": name} for name in [*IDS, "PED-1001"]], "order_ids": [*IDS, "PED-1001"]},
        {"items": [{"name": "PED-1006"}, {"name": "PED-1007"}], "order_ids": IDS},
        {},
    ],
    ids=["all items", "all of both", "all arguments", "items nobody asked for", "arguments only", "nothing"],
)
def test_whatever_the_validator_answers_what_succeeded_is_not_sent_again(answer: dict[str, Any]) -> None:
    world = a_world(validator=validator_of(IDS))
    parent = finished(world)
    world.gateway.answers(
        "validar", answered({"eligible": True, "transaction_decision": {"resolved_arguments": answer}})
    )

    retried(parent)
    child = confirmed_and_done(world)

    assert sent(world)[1:] == [{"order_ids": ["PED-1006", "PED-1007"]}]
    assert [item.label for item in child.items.all()] == ["PED-1006", "PED-1007"]
    assert child.status == "SUCCESS"


def test_a_question_of_the_validator_that_names_what_succeeded_is_not_shown() -> None:
    def stubborn(call: Call) -> Outcome:
        resolved = {"items": [{"name": name} for name in IDS]}
        decision = {"resolved_arguments": resolved, "confirmation_message": f"Confirma {', '.join(IDS)}?"}
        return answered({"eligible": True, "transaction_decision": decision})

    world = a_world(validator=stubborn)
    parent = finished(world)

    retried(parent)
    world.work()

    assert "PED-1003" not in world.confirmation.text


@pytest.mark.parametrize(
    "second",
    [
        {"items": [{"name": "Livros Falados"}]},
        {"items": [{"name": "Livros Falados"}], "subject": "Livros Falados"},
        {"items": [{"name": "Livros Falados"}], "subject": "só os livros"},
        {"items": [{"name": name} for name in NAMES], "subject": ", ".join(NAMES)},
        {"subject": ", ".join(NAMES)},
        {},
    ],
)
def test_a_text_is_sent_without_what_succeeded(second: dict[str, Any]) -> None:
    world = a_world(SERVICES, validator=validator_of(NAMES))
    parent = finished(world, SERVICES, failing=("Livros Falados",))
    world.gateway.answers(
        "validar", answered({"eligible": True, "transaction_decision": {"resolved_arguments": second}})
    )

    retried(parent)
    child = confirmed_and_done(world)

    (again,) = sent(world, SERVICES)[1:]
    assert "Música" not in again["subject"] and "Craque" not in again["subject"]
    assert [item.label for item in child.items.all()] == ["Livros Falados"]
    assert child.status == "SUCCESS"


@pytest.mark.parametrize("labels", [["Livros Falados"], NAMES], ids=["it narrows the items", "it narrows nothing"])
def test_a_text_that_nobody_can_take_apart_is_refused_and_not_sent(labels: list[str]) -> None:
    def names_items_only(call: Call) -> Outcome:
        keep = call.arguments.get("keep_items")
        items = [{"name": name} for name in NAMES if keep is None or name in labels]
        return answered({"eligible": True, "transaction_decision": {"resolved_arguments": {"items": items}}})

    world = a_world(SERVICES, validator=names_items_only)
    world.gateway.answers(SERVICES, all_but("Livros Falados"))
    opens(world, SERVICES, {"subject": "tudo"})
    parent = confirmed_and_done(world)

    retried(parent)
    world.work()

    assert (world.transaction.status, world.transaction.reason_code) == ("REFUSED", "no_actionable_item")
    assert len(sent(world, SERVICES)) == 1


def test_a_text_that_only_the_tool_understands_is_not_tried_again_without_a_validator() -> None:
    world = a_world(SERVICES)
    named = rows({"name": "Música Mais", "success": True}, {"name": "Craque 10", "success": False})
    world.gateway.answers(SERVICES, named)
    opens(world, SERVICES, {"subject": "tudo"})
    parent = confirmed_and_done(world)

    assert parent.status == "PARTIAL_SUCCESS"
    assert refusal_of(parent) is Refusal.INSEPARABLE
    assert world.last("transaction.finished").data.get("retry") is None


def test_a_list_in_a_text_is_tried_again_without_a_validator_and_its_items_are_the_confirmed_set() -> None:
    world = a_world(SERVICES)
    named = rows(*({"name": name, "success": name == "Craque 10"} for name in NAMES))
    world.gateway.answers(SERVICES, named)
    opens(world, SERVICES, {"subject": "Música Mais, Livros Falados e Craque 10"})
    parent = confirmed_and_done(world)
    world.gateway.answers(SERVICES, all_done)

    retried(parent)
    child = confirmed_and_done(world)

    assert sent(world, SERVICES)[-1] == {"subject": "Música Mais, Livros Falados"}
    assert [(item.label, item.status) for item in child.items.all()] == [
        ("Música Mais", "SUCCEEDED"),
        ("Livros Falados", "SUCCEEDED"),
    ]


def test_what_the_customer_adds_at_the_confirmation_is_not_what_was_done() -> None:
    world = a_world()
    parent = finished(world)
    retried(parent)
    values = {"order_ids": ["PED-1003", "PED-1006", "PED-1001"]}
    reply = {"kind": "change_parameters", "keep_item_keys": None, "values": values, "question": None}
    world.model.script({"confirmation_reply": reply})

    world.says("na verdade PED-1003, PED-1006 e PED-1001")
    child = confirmed_and_done(world)

    assert sent(world)[1:] == [{"order_ids": ["PED-1006", "PED-1001"]}]
    assert [(item.label, item.status) for item in child.items.all()] == [
        ("PED-1006", "SUCCEEDED"),
        ("PED-1001", "SUCCEEDED"),
        ("PED-1007", "EXCLUDED"),
    ]


def test_a_change_to_what_was_done_already_is_refused() -> None:
    world = a_world()
    parent = finished(world)
    retried(parent)
    values = {"order_ids": ["PED-1003"]}
    world.model.script(
        {
            "confirmation_reply": {
                "kind": "change_parameters",
                "keep_item_keys": None,
                "values": values,
                "question": None,
            }
        }
    )

    world.says("na verdade só o PED-1003")

    assert (world.transaction.status, world.transaction.reason_code) == ("REFUSED", "no_actionable_item")
    assert len(sent(world)) == 1


def test_what_the_customer_takes_out_of_the_child_stays_out() -> None:
    world = a_world()
    parent = finished(world)
    retried(parent)

    world.answers("confirm", item_keys=[world.confirmation.items[0]["key"]])
    child = confirmed_and_done(world)

    assert sent(world)[1:] == [{"order_ids": ["PED-1006"]}]
    assert [(item.label, item.status) for item in child.items.all()] == [
        ("PED-1006", "SUCCEEDED"),
        ("PED-1007", "EXCLUDED"),
    ]


def test_what_the_customer_added_to_the_child_stays_when_something_else_is_taken_out() -> None:
    world = a_world(validator=validator_of_orders)
    parent = finished(world)
    retried(parent)
    world.validate()
    values = {"order_ids": ["PED-1006", "PED-1007", "PED-1001"]}
    reply = {"kind": "change_parameters", "keep_item_keys": None, "values": values, "question": None}
    world.model.script({"confirmation_reply": reply})
    world.says("e o PED-1001 também")
    world.validate()

    keys = {item["label"]: item["key"] for item in world.confirmation.items}
    world.answers("confirm", item_keys=[keys["PED-1006"], keys["PED-1001"]])
    child = confirmed_and_done(world)

    assert sent(world)[1:] == [{"order_ids": ["PED-1006", "PED-1001"]}]
    assert {item.label: item.status for item in child.items.all()} == {
        "PED-1006": "SUCCEEDED",
        "PED-1001": "SUCCEEDED",
        "PED-1007": "EXCLUDED",
    }


def validator_of_orders(call: Call) -> Any:
    """The orders that the call names, or those of them that the user kept."""
    ids, keep = call.arguments["order_ids"], call.arguments.get("keep_items")
    items = [{"order_id": each} for each in ids if keep is None or each in keep]
    resolved = {"items": items, "order_ids": [each["order_id"] for each in items]}
    return answered({"eligible": True, "transaction_decision": {"resolved_arguments": resolved}})


def test_what_was_done_by_another_request_since_is_not_done_again() -> None:
    world = a_world()
    parent = finished(world)
    opens(world, ORDERS, {"order_ids": ["PED-1006"]})
    confirmed_and_done(world)

    plan = retrying.plan(parent)
    retried(parent)
    confirmed_and_done(world)

    assert isinstance(plan, RetryPlan)
    assert [item.label for item in plan.again] == ["PED-1007"]
    assert [left.why for left in plan.left_out] == [Why.SUCCEEDED, Why.DONE_SINCE]
    assert sent(world)[-1] == {"order_ids": ["PED-1007"]}


def test_a_refusal_of_the_validator_names_only_items_of_the_child() -> None:
    world = a_world(validator=validator_of(IDS))
    parent = finished(world)
    resolved = {"items": [{"name": name, "eligible": False, "reason": "ja_enviado"} for name in IDS]}
    refusing = answered({"eligible": False, "transaction_decision": {"resolved_arguments": resolved}})
    world.gateway.answers("validar", refusing)

    retried(parent)
    world.work()

    assert world.transaction.status == "REFUSED"
    assert [item["label"] for item in world.last("transaction.finished").data["items"]] == ["PED-1006", "PED-1007"]


def test_a_validator_that_fails_open_brings_nothing_back() -> None:
    world = a_world(validator=validator_of(IDS), fail_open=True)
    parent = finished(world)
    world.gateway.answers("validar", NoAnswer("timeout"))

    retried(parent)
    confirmed_and_done(world)

    assert sent(world)[1:] == [{"order_ids": ["PED-1006", "PED-1007"]}]


def test_an_ineligible_item_is_not_tried_again() -> None:
    world = a_world(
        validator=answered(
            {
                "eligible": True,
                "transaction_decision": {
                    "resolved_arguments": {
                        "items": [
                            {"name": "PED-1003", "eligible": False, "reason": "ja_enviado"},
                            {"name": "PED-1006"},
                            {"name": "PED-1007"},
                        ]
                    }
                },
            }
        )
    )
    parent = finished(world, failing=("PED-1006",))

    plan = retrying.plan(parent)

    assert isinstance(plan, RetryPlan)
    assert [item.label for item in plan.again] == ["PED-1006"]
    assert [left.why for left in plan.left_out] == [Why.INELIGIBLE, Why.SUCCEEDED]


# Chains ------------------------------------------


def test_a_child_that_failed_is_the_one_to_be_tried_again() -> None:
    world = a_world(validator=validator_of(IDS))
    first = finished(world)
    world.gateway.answers(ORDERS, all_but("PED-1007"))
    retried(first)
    second = confirmed_and_done(world)
    world.gateway.answers(ORDERS, all_done)
    stubborn = {"items": [{"name": name} for name in IDS], "order_ids": IDS}
    world.gateway.answers(
        "validar", answered({"eligible": True, "transaction_decision": {"resolved_arguments": stubborn}})
    )

    assert refusal_of(first) is Refusal.NOT_NEWEST
    retried(second)
    third = confirmed_and_done(world)

    assert [call["order_ids"] for call in sent(world)] == [IDS, IDS[1:], ["PED-1007"]]
    assert third.parent == second and third.status == "SUCCESS"
    assert [refusal_of(each) for each in (first, second, third)] == [
        Refusal.NOT_NEWEST,
        Refusal.NOT_NEWEST,
        Refusal.NOTHING_FAILED,
    ]


def test_after_a_child_that_did_nothing_the_parent_may_be_tried_again() -> None:
    world = a_world()
    parent = finished(world)
    retried(parent)
    world.answers("reject")
    cancelled = world.transaction

    assert refusal_of(cancelled) is Refusal.NOTHING_FAILED
    child = retried(parent)

    assert cancelled.status == "CANCELLED"
    assert child.parent == parent
    assert parent.children.count() == 2


def test_a_whole_request_that_nobody_named_is_tried_again_as_it_was() -> None:
    world = a_world("solicitar_devolucao")
    world.gateway.answers("solicitar_devolucao", answered({"ok": False, "error": "fora_do_ar"}))
    opens(world, "solicitar_devolucao", {"order_id": "PED-1004", "reason": "veio quebrado"})
    parent = confirmed_and_done(world)
    world.gateway.answers("solicitar_devolucao", all_done)

    retried(parent)
    child = confirmed_and_done(world)

    assert sent(world, "solicitar_devolucao")[1] == {"order_id": "PED-1004", "reason": "veio quebrado"}
    assert child.status == "SUCCESS"


# When it may not run ------------------------------------------


def test_dur_085_pressed_twice_there_is_one_child() -> None:
    world = a_world()
    parent = finished(world)

    first = retrying.retry(parent.pk, by="ana")
    second = retrying.retry(parent.pk, by="ana")

    assert isinstance(first, Transaction)
    assert second == RetryRefused(Refusal.NOT_NEWEST, first.pk)
    assert parent.children.count() == 1


@pytest.mark.django_db(transaction=True)
def test_dur_085_pressed_by_two_at_the_same_moment_there_is_one_child(monkeypatch: pytest.MonkeyPatch) -> None:
    for work in outbox.RUNNERS:
        monkeypatch.setitem(outbox.RUNNERS, work, "tests.chat_channel:leave_for_later")
    world = a_world()
    parent = finished(world)

    found = at_once(lambda: retrying.retry(parent.pk, by="ana"), lambda: presses(world, parent))

    assert len([each for each in found if isinstance(each, RetryRefused)]) == 1
    assert parent.children.count() == 1


def test_dur_085_what_succeeded_is_refused() -> None:
    world = a_world()
    succeeded = finished(world, failing=())

    assert refusal_of(succeeded) is Refusal.NOTHING_FAILED
    assert world.transactions == [succeeded]


def test_while_another_request_occupies_the_conversation_it_is_refused() -> None:
    world = a_world()
    parent = finished(world)
    opens(world, SERVICES, {})

    refused = retrying.retry(parent.pk, by="ana")

    assert refused == RetryRefused(Refusal.OCCUPIED, world.transaction.pk)
    assert parent.children.count() == 0


def test_what_occupied_the_conversation_and_has_run_out_is_ended_first() -> None:
    world = a_world()
    parent = finished(world)
    opens(world, SERVICES, {})
    world.age()

    child = retried(parent)

    assert [each.status for each in world.transactions[1:]] == ["EXPIRED", child.status]


def test_an_unknown_outcome_is_never_tried_again() -> None:
    world = a_world()
    world.gateway.answers(ORDERS, NoAnswer("timeout"))
    opens(world, ORDERS, {"order_ids": IDS})
    unknown = confirmed_and_done(world)

    assert unknown.status == "VERIFYING"
    assert refusal_of(unknown) is Refusal.OUTCOME_UNKNOWN


@pytest.mark.parametrize("status", ["COLLECTING_PARAMETERS", "AWAITING_CONFIRMATION", "EXECUTING"])
def test_what_is_not_finished_is_refused(status: str) -> None:
    world = a_world()
    opens(world, ORDERS, {} if status == "COLLECTING_PARAMETERS" else {"order_ids": IDS})
    if status == "EXECUTING":
        world.answers("confirm")

    assert world.transaction.status == status
    assert refusal_of(world.transaction) is Refusal.NOT_FINISHED


def without_tool(definitions: Definitions) -> Definitions:
    tools = {name: tool for name, tool in definitions.tools.items() if name != ORDERS}
    return replace(definitions, tools=tools, policies={k: v for k, v in definitions.policies.items() if k != ORDERS})


def disabled(definitions: Definitions) -> Definitions:
    return shop.with_tool(definitions, replace(definitions.tools[ORDERS], enabled=False))


def with_another_type(definitions: Definitions) -> Definitions:
    return shop.with_tool(definitions, shop.tool(ORDERS, {"order_ids": "string"}))


def with_another_name(definitions: Definitions) -> Definitions:
    spec = shop.tool(ORDERS, {"orders": "array"})
    return shop.with_policy(shop.with_tool(definitions, spec), ORDERS, requires=("orders",))


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (without_tool, Refusal.TOOL_UNAVAILABLE),
        (disabled, Refusal.TOOL_UNAVAILABLE),
        (with_another_type, Refusal.DEFINITION_CHANGED),
        (with_another_name, Refusal.DEFINITION_CHANGED),
    ],
)
def test_a_tool_that_is_gone_disabled_or_another_one_is_refused(change: Any, refusal: Refusal) -> None:
    world = a_world()
    parent = finished(world)
    world.publish(change(shop.shop()))

    assert refusal_of(parent) is refusal
    assert parent.children.count() == 0
