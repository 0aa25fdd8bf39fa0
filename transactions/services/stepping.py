"""The rows of a workflow's run: what each node answered, and an end before the tool was reached (contracts.md §5).

The tool's own node is the one call of the attempt and goes through ``executing``. Every other node changes nothing:
it may be called again by a worker that starts anew, and it never decides what became of an item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db.transaction import atomic

from tooling import catalog
from tooling.cleaning import clean_json
from tooling.gateway import Answered, Call, NotSent, Outcome
from tooling.specs import OperationType, WorkflowNode, WorkflowSpec
from transactions.core import evidence
from transactions.core.errors import LeaseLost
from transactions.core.outcomes import envelope_of
from transactions.core.statuses import AttemptStatus, ItemStatus, ReasonCode
from transactions.core.workflows import Ended, Next, NodeResult, reason_of, report, step
from transactions.models import Attempt, Transaction
from transactions.services.calls import (
    Rules,
    action_arguments,
    auxiliary_arguments,
    items_at_stake,
    request_key,
    rules_of,
    workflow_for,
)
from transactions.services.executing import Claim, fail_unsent, held, name_implicit_item
from transactions.services.rows import database_now, record

BEFORE, AFTER = "before", "after"
"""Where a node ran, seen from the tool's own."""

CHANGES_NOTHING = frozenset({OperationType.READ_ONLY, OperationType.INTERNAL})


@dataclass(frozen=True, slots=True)
class Run:
    """The run of a workflow by the worker that holds ``claim``.

    ``number`` counts the runs of the attempt in which a node answered; a worker that takes over starts again at the
    first node. ``given`` is what ``$.input`` reads. ``sent_before``: the arguments that an earlier attempt was sent
    with, which are sent again as they were, because the same key never goes with others (runtime.md §9.3).
    """

    claim: Claim
    number: int
    rules: Rules
    workflow: WorkflowSpec
    given: Mapping[str, Any]
    identity: Mapping[str, Any]
    key: str
    transaction_id: str
    steps: Sequence[Mapping[str, Any]]
    results: Sequence[NodeResult] = ()
    sent_before: Mapping[str, Any] | None = None

    @property
    def tool(self) -> str:
        return self.rules.tool.name

    @property
    def phase(self) -> str:
        return AFTER if any(result.action == self.tool for result in self.results) else BEFORE

    def next(self) -> Next | Ended:
        return step(self.workflow, self.given, self.results)


def begin(claim: Claim) -> Run | None:
    """The run that the attempt needs; None for a direct call, and for a resend, which repeats only the tool's call."""
    attempt = Attempt.objects.select_related("transaction__conversation").get(pk=claim.attempt_id)
    transaction = attempt.transaction
    rules = rules_of(transaction)
    workflow = workflow_for(rules)
    if workflow is None or attempt.is_resend:
        return None
    run = Run(
        claim=claim,
        number=1 + max((kept["claim"] for kept in attempt.steps), default=0),
        rules=rules,
        workflow=workflow,
        given=_given(transaction, rules),
        identity=transaction.conversation.identity,
        key=request_key(transaction),
        transaction_id=str(transaction.pk),
        steps=attempt.steps,
    )
    earlier = _sent_earlier(attempt)
    return _as_before(run, attempt, earlier) if earlier else run


def _as_before(run: Run, attempt: Attempt, earlier: Attempt) -> Run:
    """The run that repeats the call of an ``earlier`` attempt with the same arguments; its nodes are not run again."""
    again = replace(
        run,
        steps=[*run.steps, *_copied(earlier, run.number)],
        results=_results_before(earlier.steps),
        sent_before=earlier.request["arguments"],
    )
    _write_steps(again)
    return again


def _given(transaction: Transaction, rules: Rules) -> dict[str, Any]:
    """What ``$.input`` reads: the confirmed arguments, and as ``items`` the confirmed set."""
    items = [item.fields for item in items_at_stake(transaction) if item.eligible]
    return {"items": items, **action_arguments(transaction.conversation, transaction, rules)}


def _sent_earlier(attempt: Attempt) -> Attempt | None:
    """The attempt before this one that got as far as its call, which then did not leave."""
    earlier = attempt.transaction.attempts.filter(number__lt=attempt.number).exclude(sent_at=None)
    return earlier.order_by("-number").first()


def _copied(earlier: Attempt, number: int) -> list[dict[str, Any]]:
    """The nodes that ran for an earlier attempt: this one stands on them, too."""
    return [{"of_attempt": earlier.number, **each, "claim": number} for each in _current(earlier.steps)]


# Calls of nodes ------------------------------------------


def call_of(run: Run, node: WorkflowNode, arguments: Mapping[str, Any]) -> Call | NotSent:
    """The call of a node that is not the tool's own, or why it must not be made.

    What the mapping fills from the signed identity wins over what an answer of another node says.
    """
    tool = run.rules.definitions.tools.get(node.action)
    if tool is None or not catalog.is_available(node.action):
        return NotSent(f"{node.action} is not available", again=False)
    policy = run.rules.definitions.policy(node.action)
    if node.action == run.tool or policy.operation_type is OperationType.TRANSACTIONAL:
        return NotSent(f"{node.action} changes something, and only the workflow's own tool may", again=False)
    return Call(
        server=run.rules.definitions.servers[tool.mcp_server],
        tool=tool.name,
        arguments={**arguments, **_certain(run, node.action, run.identity)},
        meta={
            "agentplatform/idempotency_key": f"{run.key}-{node.id}-{run.claim.attempt_id}.{run.number}",
            "agentplatform/transaction_id": run.transaction_id,
        },
        timeout=policy.timeout_seconds or settings.TOOL_TIMEOUT_SECONDS,
    )


def own_arguments(run: Run, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What the tool's own node is sent: its input, and what the mapping fills from the identity and the key."""
    return {**arguments, **_certain(run, run.tool, {**run.identity, "idempotency_key": run.key})}


def _certain(run: Run, tool: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ``tool`` that the mapping fills from ``context``."""
    spec, mapping = run.rules.definitions.tools[tool], run.rules.definitions.mapping(tool)
    mapped = {name for key, name in mapping.map.items() if key in context and spec.argument(name) is not None}
    filled = auxiliary_arguments(run.rules, tool, context)
    return {name: value for name, value in filled.items() if name in mapped}


def may_repeat(run: Run, node: WorkflowNode) -> bool:
    return run.rules.definitions.policy(node.action).operation_type in CHANGES_NOTHING


# What they answered ------------------------------------------


def keep(run: Run, node: WorkflowNode, arguments: Mapping[str, Any], outcome: Outcome) -> Run:
    """Commit what a node was asked and answered, and go on with it; LeaseLost where another worker took over.

    Its fingerprint goes into the chain of evidence in the same commit.
    """
    kept = {
        "node": node.id,
        "tool": node.action,
        "phase": run.phase,
        "claim": run.number,
        "request": dict(arguments),
        "answer": _raw(outcome),
        "failure": "" if isinstance(outcome, Answered) else outcome.reason,
        "at": database_now().isoformat(),
    }
    kept = clean_json(kept)
    went_on = replace(run, steps=[*run.steps, kept], results=[*run.results, _result_of(kept)])
    with atomic():
        conversation, attempt = held(run.claim)
        _write_steps(went_on)
        told = {"attempt": attempt.number, **{name: kept[name] for name in ("node", "tool", "phase", "failure")}}
        data = {**told, evidence.STEP: evidence.fingerprint(kept)}
        record(conversation, "workflow.step", data, transaction=attempt.transaction, is_public=False)
    return went_on


def _write_steps(run: Run) -> None:
    ours = Attempt.objects.filter(pk=run.claim.attempt_id, lease=run.claim.lease)
    if not ours.update(steps=list(run.steps)):
        raise LeaseLost(f"attempt {run.claim.attempt_id} was taken over by another worker")


def _raw(outcome: Outcome) -> dict[str, Any] | None:
    """The answer in the shape of ``Attempt.raw_answer``; what came of no answer as it came."""
    if isinstance(outcome, Answered):
        return {
            "answer": outcome.raw,
            "structured": outcome.structured,
            "texts": list(outcome.texts),
            "is_error": outcome.is_error,
            "schema_error": outcome.schema_error,
        }
    raw = None if isinstance(outcome, NotSent) else outcome.raw
    return None if raw is None else {"answer": raw}


def _result_of(kept: Mapping[str, Any]) -> NodeResult:
    """A kept step as the core reads it."""
    if kept["failure"]:
        return NodeResult(kept["node"], kept["tool"], failure=kept["failure"])
    envelope = _envelope(kept["tool"], kept["answer"])
    failure = "the tool answered with an error" if kept["answer"]["is_error"] else ""
    return NodeResult(kept["node"], kept["tool"], bool(envelope["ok"]), _said(envelope), failure)


def _envelope(tool: str, raw: Mapping[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = clean_json(
        envelope_of(
            tool, structured=raw.get("structured"), texts=raw.get("texts", []), is_error=bool(raw.get("is_error"))
        )
    )
    return read


def _said(envelope: Mapping[str, Any]) -> Any:
    return envelope["result"]


def own_result(run: Run, answer: Answered) -> Run:
    """The run after the tool's own node answered; the answer itself is the attempt's."""
    node = next(node for node in run.workflow.nodes if node.action == run.tool)
    envelope = _envelope(run.tool, _raw(answer) or {})
    # That the tool called it an error is a verdict about the items; the nodes behind its edges are asked all the same.
    return replace(run, results=[*run.results, NodeResult(node.id, run.tool, bool(envelope["ok"]), _said(envelope))])


def report_of(attempt: Attempt, rules: Rules, envelope: Mapping[str, Any]) -> dict[str, Any] | None:
    """What is kept as ``workflow`` in the envelope of the tool's answer (runtime.md §4.1); None for a direct call.

    It is read when the answer is accounted for, which does not wait for the nodes that come afterwards.
    """
    workflow = workflow_for(rules)
    if workflow is None or attempt.is_resend:
        return None
    own = next((node.id for node in workflow.nodes if node.action == rules.tool.name), "")
    results = [*_results_before(attempt.steps), NodeResult(own, rules.tool.name, bool(envelope["ok"]), _said(envelope))]
    is_over = isinstance(step(workflow, _given(attempt.transaction, rules), results), Ended)
    return report(workflow, results, rules.tool.name, is_over=is_over)


def _results_before(steps: Sequence[Mapping[str, Any]]) -> list[NodeResult]:
    return [_result_of(kept) for kept in _current(steps) if kept["phase"] == BEFORE]


def _current(steps: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The steps of the worker that came last; those of a worker that died before stay as evidence only."""
    return [kept for kept in steps if kept["claim"] == steps[-1]["claim"]]


# The ends ------------------------------------------


@atomic
def stop(run: Run) -> None:
    """The run ended before the tool's own node: it was not called, and the user is told why (contracts.md §5)."""
    conversation, attempt = held(run.claim)
    if attempt.status != AttemptStatus.READY:
        raise LeaseLost(f"{attempt} is {attempt.status} already")
    transaction = attempt.transaction
    if not transaction.items.exclude(status=ItemStatus.EXCLUDED).exists():
        name_implicit_item(transaction)
    code, reason, failure = _why(run)
    told = report(run.workflow, run.results, run.tool, is_over=True)
    fail_unsent(conversation, attempt, code, reason=reason, failure=failure, normalised={"workflow": told})


def _why(run: Run) -> tuple[ReasonCode, str, str]:
    """The reason code, the reason in the node's words, and the failure as operators read it."""
    name = f"workflow {run.workflow.name} v{run.workflow.version}"
    last = run.results[-1] if run.results else None
    if last is None:
        return ReasonCode.NOT_SENT, "", f"{name} has no node to start with"
    reason = reason_of(last)
    why = ": ".join(filter(None, [last.failure, reason]))
    failure = f"{name} ended after node {last.node}" + (f": {why}" if why else "") + f"; {run.tool} was not called"
    if last.failure and not catalog.is_available(last.action):
        return ReasonCode.TOOL_DISABLED, "", failure
    has_spoken = not run.steps[-1]["failure"]
    return (ReasonCode.NOT_ELIGIBLE if has_spoken else ReasonCode.NOT_SENT), reason, failure


@atomic
def note_trouble(run: Run) -> None:
    """A node after the tool's own failed: a secondary error, which changes no item (runtime.md §4.6)."""
    failed = next((result for result in run.results if result.failure), None)
    attempt = Attempt.objects.filter(pk=run.claim.attempt_id, lease=run.claim.lease).first()
    if failed is None or attempt is None:
        return
    why = ": ".join(filter(None, [failed.failure, reason_of(failed)]))
    told = "; ".join(filter(None, [attempt.secondary_error, f"node {failed.node}: {why}"]))
    Attempt.objects.filter(pk=attempt.pk, lease=run.claim.lease).update(secondary_error=told)
