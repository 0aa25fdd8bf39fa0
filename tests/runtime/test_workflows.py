"""A tool that runs as a workflow: what is committed when, what a crash leaves, and what other nodes cannot change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.runtime import shop
from tests.runtime.durability import Killed, let_leases_run_out
from tests.runtime.fakes import answered
from tests.runtime.flows import ACTION, AFTERWARDS, LOOK, definitions, the_workflow
from tests.runtime.staging import all_done, opens
from tests.runtime.world import World, rows
from tooling.gateway import Answered, Call, NoAnswer, NotSent, Outcome
from tooling.specs import (
    Definitions,
    ExecutionMode,
    ExecutionSpec,
    Idempotency,
    MappingSpec,
    OperationType,
    WorkflowEdge,
    WorkflowNode,
    WorkflowSpec,
)
from transactions import sweeper, workflows
from transactions.models import Attempt
from transactions.services import executing, stepping
from transactions.services.calls import digest_of, rules_of
from transactions.services.evidence import Tally, verify
from transactions.workflows import MOST_TRIES

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

ORDER = {"order_id": "PED-1", "reason": "ficou apertado"}


def confirmed(set_: Definitions | None = None, *, locale: str = "pt-BR") -> World:
    """The customer confirmed the return of PED-1; no worker is at it yet."""
    world = World(set_ or definitions(), locale=locale)
    world.gateway.answers(LOOK, answered({"ok": True, "id": "PED-1"}))
    world.gateway.answers(ACTION, answered({"ok": True, "protocol": "DEV-1"}))
    world.gateway.answers(AFTERWARDS, answered({"ok": True}))
    opens(world, ACTION, ORDER)
    world.says("sim" if locale == "pt-BR" else "yes")
    return world


def tools_called(world: World) -> list[str]:
    return [call.tool for call in world.gateway.calls]


def the_items(world: World) -> dict[str, str]:
    return dict(world.transaction.items.values_list("label", "status"))


def nodes_kept(attempt: Attempt) -> list[tuple[str, str]]:
    return [(step["node"], step["phase"]) for step in attempt.steps]


def meanwhile(look: Callable[[], Any], answer: Outcome, seen: list[Any]) -> Callable[[Call], Outcome]:
    """Answers with ``answer`` after it put what ``look`` finds then into ``seen``."""

    def reply(_: Call) -> Outcome:
        seen.append(look())
        return answer

    return reply


def killed(_: Call) -> Outcome:
    raise Killed


# What is committed when ------------------------------------------


def test_the_nodes_run_in_order_and_the_tools_own_answer_is_the_outcome() -> None:
    world = confirmed()

    world.work()

    assert tools_called(world) == [LOOK, ACTION, AFTERWARDS]
    assert [dict(call.arguments) for call in world.gateway.calls] == [
        {"order_ids": ["PED-1"], "customer_key": "C-1"},
        {"order_id": "PED-1", "reason": "ficou apertado", "customer_key": "C-1"},
        {"order_ids": ["DEV-1"]},
    ]
    assert (world.transaction.status, the_items(world)) == ("SUCCESS", {"PED-1": "SUCCEEDED"})
    attempt = Attempt.objects.get()
    assert nodes_kept(attempt) == [("olhar", "before"), ("olhar_de_novo", "after")]
    assert attempt.steps[0]["request"] == {"order_ids": ["PED-1"], "customer_key": "C-1"}
    assert attempt.steps[0]["answer"]["structured"] == {"ok": True, "id": "PED-1"}
    assert attempt.secondary_error is None


def test_nothing_counts_as_sent_before_the_tools_own_node_and_its_real_request_is_committed_then() -> None:
    world = confirmed()
    seen: list[Any] = []

    def look() -> Any:
        return Attempt.objects.values_list("status", "request", "sent_at").get()

    world.gateway.answers(LOOK, meanwhile(look, answered({"ok": True, "id": "PED-9"}), seen))
    world.gateway.answers(ACTION, meanwhile(look, answered({"ok": True}), seen))

    world.work()

    (before, nothing, never), (during, request, at) = seen
    assert (before, nothing, never) == ("READY", {}, None)
    assert (during, request["tool"]) == ("SENT", ACTION)
    assert request["arguments"] == {"order_id": "PED-9", "reason": "ficou apertado", "customer_key": "C-1"}
    assert at is not None


def test_the_outcome_is_committed_and_told_before_any_later_node_is_called() -> None:
    world = confirmed()
    seen: list[Any] = []

    def look() -> Any:
        attempt = Attempt.objects.get()
        return (world.transaction.status, attempt.status, attempt.raw_answer["structured"], world.kinds()[-1])

    world.gateway.answers(AFTERWARDS, meanwhile(look, answered({}), seen))

    world.work()

    assert seen == [("SUCCESS", "ANSWERED", {"ok": True, "protocol": "DEV-1"}, "transaction.finished")]


def test_only_the_tools_own_call_carries_the_key_and_the_digest_of_what_was_confirmed() -> None:
    world = confirmed()

    world.work()

    look, act, afterwards = (call.meta for call in world.gateway.calls)
    confirmation = world.transaction.confirmations.get()
    assert act["agentplatform/request_digest"] == confirmation.digest
    assert act["agentplatform/idempotency_key"] == f"tx-{world.transaction.pk}"
    keys = [meta["agentplatform/idempotency_key"] for meta in (look, act, afterwards)]
    assert len(set(keys)) == 3
    assert set(look) == {"agentplatform/idempotency_key", "agentplatform/transaction_id"}


def test_the_digest_binds_the_workflow_and_what_it_starts_from() -> None:
    world = confirmed()
    transaction = world.transaction
    rules = rules_of(transaction)
    direct = replace(rules, policy=replace(rules.policy, execution=ExecutionSpec()))

    as_workflow, as_direct = (digest_of(world.conversation, transaction, each) for each in (rules, direct))
    transaction.arguments["order_id"]["value"] = "PED-2"
    other = digest_of(world.conversation, transaction, rules)

    assert as_workflow == transaction.confirmations.get().digest
    assert len({as_workflow, as_direct, other}) == 3


def test_what_the_identity_says_wins_over_what_a_node_answered() -> None:
    nodes = list(the_workflow().nodes)
    nodes[1] = replace(nodes[1], input={**nodes[1].input, "customer_key": "$.nodes.olhar.owner"})
    world = confirmed(definitions(the_workflow(nodes=tuple(nodes))))
    world.gateway.answers(LOOK, answered({"ok": True, "id": "PED-1", "owner": "C-666"}))

    world.work()

    assert world.gateway.calls_of(ACTION)[0].arguments["customer_key"] == "C-1"


def test_a_mapped_idempotency_key_reaches_the_tool_although_no_node_names_it() -> None:
    set_ = definitions()
    mapping = MappingSpec(ACTION, map={"idempotency_key": "note"})
    world = confirmed(replace(set_, mappings={**set_.mappings, ACTION: mapping}))

    world.work()

    assert world.gateway.calls_of(ACTION)[0].arguments["note"] == f"tx-{world.transaction.pk}"


def test_a_running_transaction_keeps_the_highest_version_of_its_own_release() -> None:
    world = confirmed()
    shorter = the_workflow(7, nodes=(WorkflowNode("devolver", ACTION, {}),), start="devolver", edges=())
    world.publish(definitions(shorter))

    world.work()
    opens(world, ACTION, {"order_id": "PED-2", "reason": "ficou apertado"})
    world.says("sim")
    world.work()

    assert tools_called(world) == [LOOK, ACTION, AFTERWARDS, ACTION]


# Rows ------------------------------------------


def test_rows_of_the_tools_own_node_are_the_result_and_those_of_others_never_count() -> None:
    world = confirmed()
    refused = {"results": [{"name": "PED-1", "success": False}, {"name": "PED-2", "success": False}]}
    world.gateway.answers(LOOK, answered({"ok": True, "id": "PED-1", **refused}))
    world.gateway.answers(ACTION, rows({"name": "Tênis", "success": True}, {"name": "Meia", "success": False}))

    world.work()

    transaction = world.transaction
    assert (transaction.status, transaction.multi_item_status) == ("PARTIAL_SUCCESS", "PARTIAL_SUCCESS")
    assert the_items(world) == {"Tênis": "SUCCEEDED", "Meia": "FAILED"}
    told = Attempt.objects.get().normalised["workflow"]
    assert told["output"][ACTION]["results"][0]["name"] == "Tênis"
    assert (told["status"], told["nodes_run"]) == ("COMPLETED", ["olhar", "devolver"])


# Crashes ------------------------------------------


def test_a_worker_that_dies_before_the_tool_has_sent_nothing_and_another_begins_again() -> None:
    world = confirmed()
    world.gateway.answers(LOOK, killed, answered({"ok": True, "id": "PED-1"}))
    with pytest.raises(Killed):
        world.execute()
    left = Attempt.objects.values_list("status", "request").get()

    world.execute()
    while_the_lease_holds = tools_called(world)
    let_leases_run_out()
    world.execute()

    assert left == ("READY", {})
    assert while_the_lease_holds == [LOOK]
    assert tools_called(world) == [LOOK, LOOK, ACTION, AFTERWARDS]
    assert world.transaction.status == "SUCCESS"


def test_what_an_earlier_worker_was_answered_stays_as_evidence_and_decides_nothing() -> None:
    nodes = (*the_workflow().nodes, WorkflowNode("mais", AFTERWARDS, {}))
    edges = (WorkflowEdge("olhar", "mais"), WorkflowEdge("mais", "devolver"))
    world = confirmed(definitions(the_workflow(nodes=nodes, edges=edges)))
    world.gateway.answers(LOOK, answered({"id": "PED-old"}), answered({"id": "PED-new"}))
    world.gateway.answers(AFTERWARDS, killed, answered({}))
    with pytest.raises(Killed):
        world.execute()

    let_leases_run_out()
    world.execute()

    assert world.gateway.calls_of(ACTION)[0].arguments["order_id"] == "PED-new"
    attempt = Attempt.objects.get()
    assert [(step["node"], step["claim"]) for step in attempt.steps] == [("olhar", 1), ("olhar", 2), ("mais", 2)]
    assert attempt.normalised["workflow"]["nodes_run"] == ["olhar", "mais", "devolver"]


def test_runs_are_told_apart_although_a_claim_that_was_given_back_is_not_counted() -> None:
    world = confirmed()
    world.gateway.answers(LOOK, answered({"ok": True, "id": "PED-old"}), answered({"ok": True, "id": "PED-new"}))
    attempt = Attempt.objects.get()
    claim = executing.claim(attempt.pk)
    assert claim is not None
    run = stepping.begin(claim)
    assert run is not None
    workflows.reach(run, world.gateway)
    Attempt.objects.update(claims=0, lease=None, leased_until=None)

    world.execute()

    assert world.gateway.calls_of(ACTION)[0].arguments["order_id"] == "PED-new"
    assert Attempt.objects.get().normalised["workflow"]["nodes_run"] == ["olhar", "devolver"]


def test_a_worker_that_was_taken_over_while_a_node_ran_never_reaches_the_tool() -> None:
    world = confirmed()
    attempt = Attempt.objects.get()

    def slow(_: Call) -> Answered:
        let_leases_run_out()
        assert executing.claim(attempt.pk) is not None
        return answered({"ok": True, "id": "PED-1"})

    world.gateway.answers(LOOK, slow)

    world.execute()

    assert tools_called(world) == [LOOK]
    assert Attempt.objects.get().status == "READY"


def test_a_node_that_kills_every_worker_ends_as_not_sent_after_the_third() -> None:
    world = confirmed()
    world.gateway.answers(LOOK, killed)
    for _ in range(executing.CLAIM_LIMIT):
        with pytest.raises(Killed):
            world.execute()
        let_leases_run_out()

    sweeper.run_once()
    world.execute()

    assert tools_called(world) == [LOOK] * executing.CLAIM_LIMIT
    assert (world.transaction.status, world.transaction.reason_code) == ("FAILED", "not_sent")


def test_a_worker_that_dies_at_the_tools_own_node_leaves_an_unknown_outcome_and_nothing_is_called_again() -> None:
    world = confirmed()
    world.gateway.answers(ACTION, killed)
    with pytest.raises(Killed):
        world.execute()

    let_leases_run_out()
    for _ in range(3):
        sweeper.run_once()
        world.execute()

    assert tools_called(world) == [LOOK, ACTION]
    assert (Attempt.objects.get().status, world.transaction.status) == ("UNKNOWN", "VERIFYING")
    assert the_items(world) == {"PED-1": "UNKNOWN"}


def test_a_worker_that_dies_after_the_tool_loses_no_outcome_and_no_node_runs_twice() -> None:
    world = confirmed()
    world.gateway.answers(AFTERWARDS, killed)
    with pytest.raises(Killed):
        world.execute()

    let_leases_run_out()
    for _ in range(3):
        sweeper.run_once()
        world.execute()

    assert tools_called(world) == [LOOK, ACTION, AFTERWARDS]
    assert (world.transaction.status, the_items(world)) == ("SUCCESS", {"PED-1": "SUCCEEDED"})
    assert Attempt.objects.get().normalised["workflow"]["status"] == "RUNNING"


# Evidence ------------------------------------------


def found_wrong() -> list[str]:
    return [str(finding) for _, finding in verify(Tally())]


def test_what_nodes_answered_is_bound_into_the_chain_of_evidence() -> None:
    world = confirmed()
    world.gateway.answers(ACTION, NotSent("connection refused"), answered({"ok": True, "protocol": "DEV-1"}))
    world.work()
    untouched = found_wrong()

    first = Attempt.objects.get(number=1)
    forged = [{**step, "answer": {**step["answer"], "structured": {"ok": False}}} for step in first.steps]
    Attempt.objects.filter(pk=first.pk).update(steps=forged)
    changed = found_wrong()
    Attempt.objects.filter(pk=first.pk).update(steps=[])

    assert untouched == []
    assert any("is not what was recorded" in each for each in changed)
    assert any("is in no event" in each for each in changed)
    assert any("is not what was recorded" in each for each in found_wrong())


# Not reached ------------------------------------------


@pytest.mark.parametrize(
    ("locale", "sentence"),
    [("pt-BR", "Motivo: o pedido ainda não chegou."), ("en", "Reason: o pedido ainda não chegou.")],
)
def test_a_run_that_never_reaches_the_tool_fails_with_nothing_executed_and_says_why(locale: str, sentence: str) -> None:
    world = confirmed(locale=locale)
    world.gateway.answers(LOOK, answered({"ok": False, "reason": "o pedido ainda não chegou"}))

    world.work()

    transaction = world.transaction
    assert tools_called(world) == [LOOK]
    assert (transaction.status, transaction.reason_code) == ("FAILED", "not_eligible")
    assert the_items(world) == {"PED-1": "NOT_EXECUTED"}
    told = world.last("transaction.finished").data
    assert sentence in told["text"]
    assert told["counts"] == {"total": 1, "succeeded": 0, "failed": 1, "unknown": 0, "excluded": 0}
    attempt = Attempt.objects.get()
    assert (attempt.status, attempt.sent_at, attempt.request) == ("NOT_SENT", None, {})
    assert "olhar" in attempt.failure


def test_a_node_before_the_tool_that_gives_no_answer_is_asked_thrice_and_then_the_tool_is_not_called() -> None:
    world = confirmed()
    world.gateway.answers(LOOK, NoAnswer("the stream broke"))

    world.work()

    transaction = world.transaction
    assert tools_called(world) == [LOOK] * 3
    assert (transaction.status, transaction.reason_code) == ("FAILED", "not_sent")
    assert the_items(world) == {"PED-1": "NOT_EXECUTED"}
    assert "the stream broke" in Attempt.objects.get().failure
    assert "problema do nosso lado" in world.last("transaction.finished").data["text"]


def test_an_error_of_a_node_before_the_tool_stops_the_run_whatever_its_edges_say() -> None:
    edges = (WorkflowEdge("olhar", "devolver"),)
    world = confirmed(definitions(the_workflow(nodes=the_workflow().nodes[:2], edges=edges)))
    world.gateway.answers(LOOK, answered({"ok": True, "error": "o pedido não existe"}, is_error=True))

    world.work()

    assert tools_called(world) == [LOOK]
    assert world.transaction.status == "FAILED"
    assert "o pedido não existe" in world.last("transaction.finished").data["text"]


@pytest.mark.parametrize("tool", [LOOK, ACTION])
def test_a_node_whose_tool_was_disabled_meanwhile_is_not_called(tool: str) -> None:
    world = confirmed()
    set_ = definitions()
    world.publish(replace(set_, tools={**set_.tools, tool: replace(set_.tools[tool], enabled=False)}))

    world.work()

    assert tool not in tools_called(world)
    assert ACTION not in tools_called(world)
    assert (world.transaction.status, world.transaction.reason_code) == ("FAILED", "tool_disabled")
    assert "não está disponível" in world.last("transaction.finished").data["text"]


def test_a_release_without_the_workflow_never_calls_the_tool() -> None:
    """Publishing refuses it; the runtime does not rely on that."""
    world = confirmed(replace(definitions(), workflows={}))

    world.work()

    assert tools_called(world) == []
    assert (world.transaction.status, the_items(world)) == ("FAILED", {"PED-1": "NOT_EXECUTED"})


@pytest.mark.parametrize("second", [ACTION, AFTERWARDS])
def test_no_second_call_that_changes_something_is_made_whatever_the_workflow_says(second: str) -> None:
    nodes = (*the_workflow().nodes[:2], WorkflowNode("outra_vez", second, {}))
    set_ = definitions(
        the_workflow(nodes=nodes, edges=(*the_workflow().edges[:1], WorkflowEdge("devolver", "outra_vez")))
    )
    world = confirmed(shop.with_policy(set_, AFTERWARDS, operation_type=OperationType.TRANSACTIONAL))

    world.work()

    assert tools_called(world) == [LOOK, ACTION]
    assert world.transaction.status == "SUCCESS"
    assert "outra_vez" in (Attempt.objects.get().secondary_error or "")


# After the tool ------------------------------------------


@pytest.mark.parametrize(
    ("trouble", "calls", "said"),
    [
        (NoAnswer("timeout"), 3, "timeout"),
        (NotSent("refused"), 3, "refused"),
        (answered({"error": "em manutenção"}, is_error=True), 1, "em manutenção"),
    ],
    ids=["no answer", "not sent", "error"],
)
def test_a_later_node_that_fails_is_a_secondary_error_and_undoes_nothing(
    trouble: Outcome, calls: int, said: str
) -> None:
    world = confirmed()
    world.gateway.answers(AFTERWARDS, trouble)

    world.work()

    attempt = Attempt.objects.get()
    assert (world.transaction.status, the_items(world)) == ("SUCCESS", {"PED-1": "SUCCEEDED"})
    assert len(world.gateway.calls_of(AFTERWARDS)) == calls
    assert "olhar_de_novo" in attempt.secondary_error
    assert said in attempt.secondary_error
    assert world.transaction.review_state == "none"


def test_a_tool_that_says_no_is_failed_and_the_nodes_behind_its_edges_are_still_asked() -> None:
    edges = (the_workflow().edges[0], WorkflowEdge("devolver", "olhar_de_novo"))
    world = confirmed(definitions(the_workflow(edges=edges)))
    world.gateway.answers(ACTION, answered({"ok": False, "reason": "prazo vencido"}, is_error=True))

    world.work()

    assert (world.transaction.status, world.transaction.reason_code) == ("FAILED", "tool_failed")
    assert tools_called(world) == [LOOK, ACTION, AFTERWARDS]


# Tries ------------------------------------------


@pytest.mark.parametrize(("tries", "calls"), [(1, 1), (5, 5), (10**6, MOST_TRIES), (0, 1)])
def test_retry_says_how_often_a_node_that_changes_nothing_is_tried(tries: int, calls: int) -> None:
    nodes = (replace(the_workflow().nodes[0], retry={"max_attempts": tries}), *the_workflow().nodes[1:])
    world = confirmed(definitions(the_workflow(nodes=nodes)))
    world.gateway.answers(LOOK, NoAnswer("timeout"))

    world.work()

    assert tools_called(world) == [LOOK] * calls


def test_retry_never_repeats_the_tools_own_call() -> None:
    first, own, last = the_workflow().nodes
    nodes = (first, replace(own, retry={"max_attempts": 5}), last)
    world = confirmed(definitions(the_workflow(nodes=nodes)))
    world.gateway.answers(ACTION, NoAnswer("timeout"))

    world.work()

    assert tools_called(world) == [LOOK, ACTION]
    assert world.transaction.status == "VERIFYING"


def test_a_try_after_one_that_was_not_sent_goes_with_the_same_arguments_and_asks_no_node_again() -> None:
    """The same key never goes with other arguments, and a node asked again might answer otherwise."""
    world = confirmed()
    world.gateway.answers(LOOK, answered({"ok": True, "id": "PED-1"}), answered({"ok": True, "id": "PED-2"}))
    world.gateway.answers(ACTION, NotSent("connection refused"), answered({"ok": True, "protocol": "DEV-1"}))

    world.work()

    assert tools_called(world) == [LOOK, ACTION, ACTION, AFTERWARDS]
    first, second = world.gateway.calls_of(ACTION)
    assert (first.arguments, first.meta) == (second.arguments, second.meta)
    last = Attempt.objects.get(number=2)
    assert last.normalised["workflow"]["nodes_run"] == ["olhar", "devolver"]
    assert [(step["node"], step.get("of_attempt")) for step in last.steps] == [("olhar", 1), ("olhar_de_novo", None)]


def test_a_resend_repeats_the_tools_own_call_word_for_word_and_no_other_node() -> None:
    world = confirmed(definitions(idempotency=Idempotency.KEY))
    world.gateway.answers(ACTION, NoAnswer("timeout"), answered({"ok": True, "protocol": "DEV-1"}))
    world.work()

    world.verify()
    world.execute()

    assert tools_called(world) == [LOOK, ACTION, ACTION]
    first, second = world.gateway.calls_of(ACTION)
    assert (first.arguments, first.meta) == (second.arguments, second.meta)
    assert (world.transaction.status, the_items(world)) == ("SUCCESS", {"PED-1": "SUCCEEDED"})


# The confirmed set ------------------------------------------


def test_the_input_holds_the_confirmed_items_without_what_the_customer_took_out() -> None:
    tool = "cancelar_pedidos"
    workflow = WorkflowSpec(
        "cancelamento", 1, "cancelar", (WorkflowNode("cancelar", tool, {"order_ids": "$.input.order_ids"}),)
    )
    set_ = shop.with_policy(shop.shop(), tool, execution=ExecutionSpec(ExecutionMode.WORKFLOW, workflow.name))
    world = World(replace(set_, workflows={(workflow.name, 1): workflow}))
    world.gateway.answers(tool, all_done)
    opens(world, tool, {"order_ids": ["PED-1", "PED-2", "PED-3"]})
    keep = [item["key"] for item in world.confirmation.items if item["label"] != "PED-2"]
    world.answers("confirm", item_keys=keep)
    world.answers("confirm")

    world.work()

    (call,) = world.gateway.calls
    assert call.arguments == {"order_ids": ["PED-1", "PED-3"]}
    assert the_items(world) == {"PED-1": "SUCCEEDED", "PED-2": "EXCLUDED", "PED-3": "SUCCEEDED"}
