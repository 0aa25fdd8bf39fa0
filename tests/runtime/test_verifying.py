"""What becomes of an outcome that nobody knows: asked about, sent again under the same key, or given to operators."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.runtime import shop
from tests.runtime.fakes import answered
from tests.runtime.staging import all_done, opens, validator_of
from tests.runtime.world import World, rows
from tooling.gateway import Call, NoAnswer, NotSent
from tooling.specs import Definitions, Idempotency, OperationType, PolicySpec, ToolType
from transactions import execution, sweeper
from transactions.core.reconciling import TRIES
from transactions.core.statuses import AttemptStatus, ItemStatus
from transactions.models import Attempt, Event, Transaction
from transactions.services import accounting, executing
from transactions.services.rows import database_now

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

ACTION = "cancelar_vas_avulso"
ASK = "conferir_chamada"
LABELS = ["Música Mais", "Livros Falados", "Craque 10"]


def definitions(**policy: Any) -> Definitions:
    """Three services to cancel, and a tool that knows what became of a call."""
    found = shop.with_validator(shop.shop(), ACTION, "validar")
    spec = shop.tool(ASK, {"idempotency_key": "string", "items": "array"}, tool_type=ToolType.INTERNAL)
    found = shop.with_tool(found, spec, PolicySpec(tool=ASK, operation_type=OperationType.INTERNAL))
    return shop.with_policy(found, ACTION, **policy)


def unknown(outcome: Any = None, labels: list[str] = LABELS, **policy: Any) -> World:
    """Confirmed items, three if nothing else is said, whose call got ``outcome``: none, where nothing else is said."""
    world = World(definitions(**policy))
    world.gateway.answers("validar", validator_of(labels))
    world.gateway.answers(ACTION, outcome or NoAnswer("the stream broke"))
    opens(world, ACTION, {"subject": ", ".join(labels)})
    world.validate()
    world.says("sim")
    world.work()
    assert world.transaction.status == "VERIFYING"
    return world


def statuses(world: World) -> dict[str, str]:
    return dict(world.transaction.items.values_list("label", "status"))


def calls(world: World) -> int:
    return len(world.gateway.calls_of(ACTION))


def asked(world: World) -> list[Event]:
    return list(Event.objects.filter(kind="reconcile.finished").order_by("id"))


# The reconcile tool -------------------------------------------


def test_the_reconcile_tool_is_asked_with_the_key_of_the_attempt_and_the_unknown_items() -> None:
    world = unknown(rows({"name": "Música Mais", "success": True}), reconcile_tool=ASK)
    world.gateway.answers(ASK, rows())

    world.verify()

    (call,) = world.gateway.calls_of(ASK)
    assert call.arguments["idempotency_key"] == Attempt.objects.get().idempotency_key
    assert [item["label"] for item in call.arguments["items"]] == ["Livros Falados", "Craque 10"]
    keys = dict(world.transaction.items.values_list("label", "key"))
    assert [item["key"] for item in call.arguments["items"]] == [keys["Livros Falados"], keys["Craque 10"]]
    assert call.meta["agentplatform/idempotency_key"] != call.arguments["idempotency_key"]


def test_what_the_reconcile_tool_knows_settles_each_item_and_the_user_is_told() -> None:
    world = unknown(reconcile_tool=ASK)
    world.gateway.answers(
        ASK,
        rows(
            {"name": "Música Mais", "success": True, "protocol": "P-9"},
            {"name": "Livros Falados", "success": False, "reason": "bloqueado"},
            {"name": "Craque 10", "success": False, "executed": False},
        ),
    )

    world.verify()

    items = {item.label: item for item in world.transaction.items.all()}
    assert {label: item.status for label, item in items.items()} == {
        "Música Mais": ItemStatus.SUCCEEDED,
        "Livros Falados": ItemStatus.FAILED,
        "Craque 10": ItemStatus.NOT_EXECUTED,
    }
    assert {item.verdict_source for item in items.values()} == {"reconcile"}
    assert (items["Música Mais"].protocol, items["Livros Falados"].reason) == ("P-9", "bloqueado")
    assert (world.transaction.status, world.transaction.reason_code) == ("PARTIAL_SUCCESS", "partly_failed")
    assert not world.transaction.has_unknown
    assert world.last("transaction.finished").data["counts"]["succeeded"] == 1
    assert calls(world) == 1


def test_items_without_a_row_stay_unknown_and_the_user_hears_what_is_known_by_now() -> None:
    world = unknown(reconcile_tool=ASK)
    told = world.kinds().count("transaction.verifying")
    world.gateway.answers(ASK, rows({"name": "Música Mais", "success": True}), rows())

    world.verify()
    world.verify()

    assert statuses(world)["Música Mais"] == ItemStatus.SUCCEEDED
    assert statuses(world)["Craque 10"] == ItemStatus.UNKNOWN
    assert world.transaction.status == "VERIFYING"
    assert world.kinds().count("transaction.verifying") == told + 1


@pytest.mark.parametrize(
    "outcome",
    [
        NoAnswer("timeout"),
        NotSent("refused"),
        answered({"ok": True}),
        answered({"results": [{"name": "Música Mais", "success": True}]}, is_error=True),
        rows({"name": "Outro", "success": True}),
        rows({"name": "Música Mais", "success": None}),
    ],
    ids=["no answer", "not sent", "no rows", "an error", "rows of others", "a malformed row"],
)
def test_an_answer_that_says_nothing_clear_settles_nothing(outcome: Any) -> None:
    world = unknown(reconcile_tool=ASK)
    world.gateway.answers(ASK, outcome)

    world.verify()

    assert set(statuses(world).values()) == {ItemStatus.UNKNOWN}
    assert world.transaction.status == "VERIFYING"


def test_operators_are_asked_after_the_fifth_try_and_nobody_else_any_more() -> None:
    world = unknown(reconcile_tool=ASK)
    world.gateway.answers(ASK, rows())

    assert world.transaction.review_state == "none"
    for _ in range(TRIES + 3):
        world.verify()

    assert len(world.gateway.calls_of(ASK)) == TRIES == len(asked(world))
    assert world.transaction.review_state == "needed"
    assert world.transaction.verify_due_at is None
    assert Event.objects.filter(kind="review.needed").count() == 1
    assert "Uma pessoa vai verificar" in world.events[-1].data["text"]


def test_operators_are_asked_when_the_time_for_asking_is_over_whatever_was_tried() -> None:
    world = unknown(reconcile_tool=ASK)
    long_ago = database_now() - timedelta(hours=1)
    Transaction.objects.update(verify_due_at=long_ago, verify_until=long_ago)

    execution.reconcile(world.transaction.pk, gateway=world.gateway)

    assert world.gateway.calls_of(ASK) == []
    assert (world.transaction.status, world.transaction.review_state) == ("VERIFYING", "needed")


def test_a_worker_that_ends_while_asking_counts_as_a_try_and_another_goes_on() -> None:
    world = unknown(reconcile_tool=ASK)
    world.gateway.answers(ASK, rows(*({"name": label, "success": True} for label in LABELS)))
    for _ in range(2):
        world.abandon_verifying()

    world.verify()

    assert world.transaction.status == "SUCCESS"
    assert world.transaction.verify_tries == 3


def test_an_answer_of_the_reconcile_tool_that_comes_too_late_is_evidence_and_changes_nothing() -> None:
    world = unknown(reconcile_tool=ASK)
    claim = Attempt.objects.get()

    def late(call: Call) -> Any:
        give_late_answer(world, claim)
        return rows(*({"name": label, "success": False} for label in LABELS))

    world.gateway.answers(ASK, late)

    world.verify()

    assert world.transaction.status == "SUCCESS"
    assert (asked(world)[0].data["late"], asked(world)[0].data["settled"]) == (True, {})
    assert set(statuses(world).values()) == {ItemStatus.SUCCEEDED}
    assert len(world.incidents()) == 1
    assert world.transaction.review_state == "needed"


def test_the_reconcile_tool_is_asked_although_the_action_was_disabled_meanwhile() -> None:
    world = unknown(reconcile_tool=ASK)
    newer = definitions(reconcile_tool=ASK)
    world.publish(shop.with_tool(newer, replace(newer.tools[ACTION], enabled=False)))
    world.gateway.answers(ASK, rows(*({"name": label, "success": True} for label in LABELS)))

    world.verify()

    assert (world.transaction.status, calls(world)) == ("SUCCESS", 1)


def test_a_disabled_reconcile_tool_is_not_asked() -> None:
    world = unknown(reconcile_tool=ASK)
    newer = definitions(reconcile_tool=ASK)
    world.publish(shop.with_tool(newer, replace(newer.tools[ASK], enabled=False)))

    world.verify()

    assert world.gateway.calls_of(ASK) == []
    assert asked(world)[0].data["error"] == "the reconcile tool is disabled"


@pytest.mark.parametrize(
    ("said", "settled"),
    [
        ([{"order_id": "PED-1", "success": True, "protocol": "D-1"}], {"PED-1": "SUCCEEDED"}),
        (
            [{"name": "Tênis", "success": True}, {"name": "Meia", "success": False}],
            {"Tênis": "SUCCEEDED", "Meia": "FAILED"},
        ),
        ([{"name": "Tênis", "success": True}, {"name": "Meia"}], {"PED-1": "UNKNOWN"}),
    ],
)
def test_the_one_item_of_a_set_nobody_named_takes_the_only_row_or_is_defined_by_several(
    said: list[dict[str, Any]], settled: dict[str, str]
) -> None:
    found = definitions()
    world = World(shop.with_policy(found, "solicitar_devolucao", reconcile_tool=ASK))
    opens(world, "solicitar_devolucao", {"order_id": "PED-1", "reason": "ficou apertado"})
    world.says("sim")
    world.gateway.answers("solicitar_devolucao", NoAnswer("timeout"))
    world.work()
    world.gateway.answers(ASK, rows(*said))

    world.verify()

    assert statuses(world) == settled


# The same request again -------------------------------------------


def test_without_a_reconcile_tool_the_same_request_goes_again_under_the_same_key() -> None:
    world = unknown(idempotency=Idempotency.KEY)
    world.gateway.answers(ACTION, all_done)

    world.verify()
    world.work()

    first, again = world.gateway.calls_of(ACTION)
    assert (again.arguments, again.meta, again.tool) == (first.arguments, first.meta, first.tool)
    assert world.transaction.status == "SUCCESS"
    assert list(Attempt.objects.values_list("status", "is_resend")) == [("UNKNOWN", False), ("ANSWERED", True)]
    assert world.kinds().count("execution.started") == 1


def test_without_key_and_tool_nothing_is_sent_and_operators_are_asked_at_once() -> None:
    world = unknown()

    world.verify()
    sweeper.run_once()

    assert calls(world) == 1
    assert world.transaction.review_state == "needed"


def test_a_reconcile_tool_is_preferred_to_sending_again() -> None:
    world = unknown(reconcile_tool=ASK, idempotency=Idempotency.KEY)
    world.gateway.answers(ASK, rows())

    for _ in range(TRIES):
        world.verify()
    world.work()

    assert calls(world) == 1


@pytest.mark.parametrize("outcome", [NotSent("refused"), NotSent("-32601", again=False), NoAnswer("timeout")])
def test_a_resend_that_brings_nothing_leaves_the_outcome_as_unknown_as_it_was(outcome: Any) -> None:
    world = unknown(idempotency=Idempotency.KEY)
    world.gateway.answers(ACTION, outcome)

    for _ in range(TRIES + 2):
        world.verify()
        world.work()

    assert set(statuses(world).values()) == {ItemStatus.UNKNOWN}
    assert (world.transaction.status, world.transaction.review_state) == ("VERIFYING", "needed")
    assert calls(world) == 1 + TRIES


def test_a_disabled_tool_is_not_called_again_and_its_items_stay_unknown() -> None:
    world = unknown(idempotency=Idempotency.KEY)
    newer = definitions(idempotency=Idempotency.KEY)
    world.publish(shop.with_tool(newer, replace(newer.tools[ACTION], enabled=False)))

    world.verify()
    world.work()

    assert calls(world) == 1
    assert set(statuses(world).values()) == {ItemStatus.UNKNOWN}
    assert Attempt.objects.get(is_resend=True).status == AttemptStatus.NOT_SENT


def test_a_late_answer_makes_a_resend_that_waits_unnecessary() -> None:
    world = unknown(idempotency=Idempotency.KEY)
    world.verify()
    give_late_answer(world, Attempt.objects.get(is_resend=False))

    world.work()

    assert (world.transaction.status, calls(world)) == ("SUCCESS", 1)


def test_a_resend_that_a_worker_left_unsent_fails_nothing() -> None:
    world = unknown(idempotency=Idempotency.KEY)
    world.verify()
    resend = Attempt.objects.get(is_resend=True)
    for _ in range(executing.CLAIM_LIMIT):
        assert executing.claim(resend.pk) is not None
        Attempt.objects.filter(pk=resend.pk).update(leased_until=resend.due_at)

    assert executing.give_up_unsent(resend.pk)

    assert world.transaction.status == "VERIFYING"
    assert set(statuses(world).values()) == {ItemStatus.UNKNOWN}


def test_while_a_resend_is_on_its_way_no_other_is_made() -> None:
    world = unknown(idempotency=Idempotency.KEY)

    for _ in range(3):
        world.verify()

    assert Attempt.objects.filter(is_resend=True).count() == 1


def test_the_sweeper_finds_what_is_due_to_be_asked() -> None:
    world = unknown(reconcile_tool=ASK)
    Transaction.objects.update(verify_due_at=database_now())

    due = [key for work, key in sweeper._with_calls(database_now()) if work == "reconcile"]

    assert due == [str(world.transaction.pk)]


# Late answers -------------------------------------------


def give_late_answer(world: World, attempt: Attempt) -> None:
    """The answer to the first call, which everybody had given up."""
    assert attempt.lease is not None
    claim = executing.Claim(attempt.pk, world.conversation.pk, attempt.lease)
    executing.record_answer(claim, all_done(world.gateway.calls_of(ACTION)[0]))
    accounting.settle(attempt.pk)


def test_a_late_answer_against_what_was_settled_is_an_incident_and_moves_nothing() -> None:
    world = unknown(reconcile_tool=ASK)
    world.gateway.answers(ASK, rows(*({"name": label, "success": False} for label in LABELS)))
    world.verify()
    assert world.transaction.status == "FAILED"

    give_late_answer(world, Attempt.objects.get())

    assert set(statuses(world).values()) == {ItemStatus.FAILED}
    assert (world.transaction.status, world.transaction.review_state) == ("FAILED", "needed")
    assert len(world.incidents()) == 1
    assert Attempt.objects.get().status == AttemptStatus.ANSWERED


def test_what_operators_were_asked_about_leaves_the_queue_when_it_is_known_after_all() -> None:
    world = unknown()
    assert world.transaction.review_state == "needed"

    give_late_answer(world, Attempt.objects.get())

    assert (world.transaction.status, world.transaction.review_state) == ("SUCCESS", "resolved")


def test_a_late_answer_that_agrees_is_no_incident() -> None:
    world = unknown(reconcile_tool=ASK)
    world.gateway.answers(ASK, rows(*({"name": label, "success": True} for label in LABELS)))
    world.verify()

    give_late_answer(world, Attempt.objects.get())

    assert world.incidents() == []
    assert world.transaction.review_state == "none"
