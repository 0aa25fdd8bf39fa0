"""What one answer of a validator or a reconcile tool does wrong (runtime.md §7, §9.4; contracts.md §6). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tooling.gateway import Answered
from tooling.linting.answers import Item, answer_of, deep_values, label_of, result_of, verdict_of
from tooling.linting.faults import Code, Fault, Level, Seen, fault
from tooling.linting.probes import Plan, Try
from tooling.specs import JSON


def faults_of_validator(plan: Plan, seen: Seen, answered: Answered) -> Iterator[Fault]:
    """Everything that this answer does wrong; an answer without a verdict has no other faults."""
    result = result_of(answered)
    said: Mapping[str, JSON] = result if isinstance(result, dict) and not answered.is_error else {}
    if answered.schema_error:
        yield fault(Code.BREAKS_SCHEMA, seen, detail=answered.schema_error)
    if said.get("status") == "NEEDS_PARAMETER":
        yield from _needs(plan, seen, said)
    elif not isinstance(said.get("eligible"), bool):
        yield _no_verdict(plan, seen, said, answered)
    else:
        yield from _judged(plan, seen, said)


def _needs(plan: Plan, seen: Seen, said: Mapping[str, JSON]) -> Iterator[Fault]:
    action = plan.subject.action
    parameter = said.get("parameter")
    if action is not None and parameter not in action.requires:
        yield fault(Code.BAD_PARAMETER, seen, detail=label_of(parameter))
    elif any(item.expected for item in seen.probe.items):
        yield fault(Code.ELIGIBLE_REFUSED, seen, (item.label for item in seen.probe.items), detail="NEEDS_PARAMETER")


def _no_verdict(plan: Plan, seen: Seen, said: Mapping[str, JSON], answered: Answered) -> Fault:
    """A policy that goes on without a verdict lets everything through."""
    action = plan.subject.action
    is_open = action is not None and action.pre_validation.fail_open
    shown = repr(said["eligible"]) if "eligible" in said else " ".join(answered.texts)
    return fault(Code.NO_VERDICT, seen, detail=shown, level=Level.UNSAFE if is_open else Level.WAITS)


def _judged(plan: Plan, seen: Seen, said: Mapping[str, JSON]) -> Iterator[Fault]:
    decision = _object(said.get("transaction_decision"))
    resolved = _object(decision.get("resolved_arguments"))
    named = resolved.get("items")
    action = plan.subject.action
    target = decision.get("target_tool")
    if isinstance(target, str) and action is not None and target.strip() not in ("", action.tool):
        yield fault(Code.BAD_TARGET, seen, detail=target, level=Level.HINT)
    if seen.probe.kind is Try.KEPT:
        yield from _kept(seen, said, named)
        return
    yield from _verdicts(seen, said, named)
    if isinstance(named, list):
        yield from _items(seen, named)
    elif said["eligible"] and len(seen.probe.items) > 1 and not _has_list(seen):
        yield fault(Code.NO_ITEMS, seen)


def _has_list(seen: Seen) -> bool:
    """Whether the items went in as a list, whose elements are the items anyway (runtime.md §4a.1)."""
    return any(isinstance(value, list) for value in seen.probe.arguments.values())


def _verdicts(seen: Seen, said: Mapping[str, JSON], named: JSON) -> Iterator[Fault]:
    """Whether what the server itself calls refused is refused, and the other way round."""
    passing: list[str] = []
    refused: list[str] = []
    for item in seen.probe.items:
        passes = _passes(item, said, named)
        if item.expected is False and passes:
            passing.append(item.label)
        if item.expected is True and passes is False:
            refused.append(item.label)
    if passing:
        yield fault(Code.REFUSAL_PASSES, seen, passing)
    if refused:
        yield fault(Code.ELIGIBLE_REFUSED, seen, refused, detail=label_of(said.get("error") or said.get("status")))


def _passes(item: Item, said: Mapping[str, JSON], named: JSON) -> bool | None:
    """Whether the action would be called for ``item``; None: the validator does not name it."""
    if said["eligible"] is False:
        return False
    if not isinstance(named, list):
        return True
    about = _about(item, named)
    if not about:
        return None
    return all(not isinstance(each, dict) or each.get("eligible", True) is True for each in about)


def _about(item: Item, named: Sequence[JSON]) -> list[JSON]:
    values = deep_values(item.value)
    return [each for each in named if not values.isdisjoint(deep_values(each))]


def _items(seen: Seen, named: Sequence[JSON]) -> Iterator[Fault]:
    flags = [each for each in named if isinstance(each, dict) and not isinstance(each.get("eligible", True), bool)]
    if flags:
        yield fault(Code.ITEM_FLAG, seen, map(label_of, flags), detail=f"{flags[0]['eligible']!r}"[:60])
    if any(not label_of(_named(each)) for each in named):
        yield fault(Code.ITEM_NAMELESS, seen)
    if dropped := [item.label for item in seen.probe.items if not _about(item, named)]:
        yield fault(Code.ITEM_DROPPED, seen, dropped)
    known = frozenset[str]().union(*(deep_values(item.value) for item in seen.probe.items))
    if added := [label_of(each) for each in named if label_of(_named(each)) and known.isdisjoint(deep_values(each))]:
        yield fault(Code.ITEM_ADDED, seen, added)
    refused = [each for each in named if isinstance(each, dict) and each.get("eligible") is False]
    if silent := [label_of(each) for each in refused if not each.get("reason")]:
        yield fault(Code.ITEM_NO_REASON, seen, silent)


def _kept(seen: Seen, said: Mapping[str, JSON], named: JSON) -> Iterator[Fault]:
    """After the customer took items out, the validator must not name them any more."""
    others = [item for item in seen.probe.items if item.label not in seen.probe.kept]
    still = [item.label for item in others if isinstance(named, list) and _about(item, named)]
    if still or not said["eligible"]:
        yield fault(Code.KEPT_IGNORED, seen, still or seen.probe.kept)


def faults_of_reconciler(plan: Plan, seen: Seen, answered: Answered) -> Iterator[Fault]:
    """A reconcile tool answers with rows, and knows nothing of a call that never was, or was a dry run."""
    is_question = seen.probe.kind is Try.RECONCILED and plan.subject.reconciler is not None
    tool = plan.subject.reconciler if is_question else plan.subject.tool
    answer = answer_of(tool.name if tool else "", answered)
    name = tool.name if tool else ""
    if answered.is_error or answer.rows is None:
        yield fault(Code.RECONCILE_NO_LIST, seen, detail=name)
    elif any(verdict_of(row) is True for row in answer.rows):
        code = Code.DRY_RUN_RECONCILED if is_question else Code.RECONCILE_INVENTS
        yield fault(code, seen, (item.label for item in seen.probe.items), detail=name)


def _object(value: JSON) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _named(value: JSON) -> JSON:
    """An item of a validator without its verdict, as the runtime names it."""
    without = ("eligible", "reason")
    return {name: each for name, each in value.items() if name not in without} if isinstance(value, dict) else value
