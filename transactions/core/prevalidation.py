"""What a validator's answer means for the transaction: pass, ask, redirect or refuse (runtime.md §7)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tooling.identifying import identity
from tooling.specs import JSON, ArgumentType, Atomicity, PolicySpec, ToolSpec
from transactions.core.coercion import element_of, is_blank
from transactions.core.matching import label_of, same_identity
from transactions.core.parameters import only_array_argument
from transactions.core.statuses import ReasonCode

ITEMS = "items"
MALFORMED_FLAG = "malformed_flag"
"""The reason of an item whose ``eligible`` is no boolean."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The validator gave no answer at all, or an error; ``reason`` is for operators."""

    reason: str


Verdict = JSON | Failure
"""The validator's result (structured content, else the first text that is an object, else the text), or why none."""


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """One item of the effective set; ``fields`` are what the validator calls it by, without its verdict on it."""

    fields: Mapping[str, JSON]
    label: str
    eligible: bool = True
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """Go on with ``arguments``. ``items`` None: the validator named none.

    ``extra``: resolved values that the tool does not declare, kept as evidence. ``unvalidated``: there was no verdict
    and the policy fails open, so evidence and confirmation say so.
    """

    arguments: Mapping[str, JSON]
    items: tuple[JudgedItem, ...] | None = None
    confirmation_message: str | None = None
    requires_reconfirmation: bool = False
    extra: Mapping[str, JSON] = field(default_factory=dict)
    unvalidated: bool = False


@dataclass(frozen=True, slots=True)
class NeedsParameter:
    """Collect ``parameter`` again, with ``message`` as the question if there is one; forget ``clear``, too."""

    parameter: str
    message: str | None = None
    clear: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Redirect:
    """Go on as another tool; of ``arguments`` only what that tool declares stays (``declared``)."""

    target_tool: str
    arguments: Mapping[str, JSON]
    items: tuple[JudgedItem, ...] | None = None
    confirmation_message: str | None = None
    requires_reconfirmation: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing is executed. ``reason`` is what the validator said, for the user; ``items`` with theirs."""

    reason_code: ReasonCode
    reason: str | None = None
    items: tuple[JudgedItem, ...] | None = None


Judgement = Passed | NeedsParameter | Redirect | Refused


def judge(verdict: Verdict, *, policy: PolicySpec, tool: ToolSpec, arguments: Mapping[str, JSON]) -> Judgement:
    """What follows from the validator's ``verdict`` on running ``tool`` with ``arguments``. Total.

    Only literal booleans are a verdict. No verdict (failure, malformed answer): ``fail_open`` decides.
    """
    if not isinstance(verdict, dict):
        return _without_verdict(policy, arguments)
    if verdict.get("status") == "NEEDS_PARAMETER":
        return _needed(verdict, policy) or _without_verdict(policy, arguments)
    match verdict.get("eligible"):
        case True:
            return _passed(verdict, policy, tool, arguments)
        case False:
            items = _items(_resolved(_decision(verdict)), all_ineligible=True)
            return Refused(ReasonCode.NOT_ELIGIBLE, _reason(verdict), items)
        case _:
            return _without_verdict(policy, arguments)


def refusal_of(items: Sequence[JudgedItem] | None, policy: PolicySpec, reason: str | None = None) -> Refused | None:
    """Why a judged set must not run under ``policy``: no item is eligible, or all or nothing and one is not."""
    if not items or all(item.eligible for item in items):
        return None
    if not any(item.eligible for item in items):
        return Refused(ReasonCode.NO_ACTIONABLE_ITEM, reason, tuple(items))
    if policy.atomicity is Atomicity.ALL_OR_NOTHING:
        return Refused(ReasonCode.NOT_ELIGIBLE, reason, tuple(items))
    return None


def _without_verdict(policy: PolicySpec, arguments: Mapping[str, JSON]) -> Judgement:
    if policy.pre_validation.fail_open:
        return Passed(dict(arguments), unvalidated=True)
    return Refused(ReasonCode.PRE_VALIDATION_UNAVAILABLE)


def _needed(verdict: Mapping[str, JSON], policy: PolicySpec) -> NeedsParameter | None:
    parameter = verdict.get("parameter")
    if not isinstance(parameter, str) or parameter not in policy.requires:
        return None
    named = verdict.get("clear_fields")
    clear = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    others = tuple(dict.fromkeys(name for name in clear if name != parameter))
    return NeedsParameter(parameter, _words(verdict.get("parameter_message")), others)


def _passed(
    verdict: Mapping[str, JSON], policy: PolicySpec, tool: ToolSpec, arguments: Mapping[str, JSON]
) -> Judgement:
    decision = _decision(verdict)
    resolved = {name: value for name, value in _resolved(decision).items() if not is_blank(value)}
    items = _items(resolved)
    resolved.pop(ITEMS, None)
    message = _words(decision.get("confirmation_message"))
    must_confirm = decision.get("requires_reconfirmation") is True
    target = _words(decision.get("target_tool"))
    if target is not None and target != tool.name:
        # Which of these set rules hold is up to the policy of the tool that will run.
        refused = refusal_of(items, PolicySpec(tool=target), _error(verdict))
        return refused or Redirect(target, {**arguments, **resolved}, items, message, must_confirm)
    return refusal_of(items, policy, _error(verdict)) or Passed(
        arguments={**arguments, **declared(tool, resolved)},
        items=items,
        confirmation_message=message,
        requires_reconfirmation=must_confirm,
        extra={name: value for name, value in resolved.items() if tool.argument(name) is None},
    )


# Parts of the answer: one that is not of its type says nothing ------------------------------------------


def _decision(verdict: Mapping[str, JSON]) -> Mapping[str, JSON]:
    decision = verdict.get("transaction_decision")
    return decision if isinstance(decision, dict) else {}


def _resolved(decision: Mapping[str, JSON]) -> Mapping[str, JSON]:
    resolved = decision.get("resolved_arguments")
    return resolved if isinstance(resolved, dict) else {}


def _words(value: JSON) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _error(verdict: Mapping[str, JSON]) -> str | None:
    error = verdict.get("error")
    return _words(error.get("message")) if isinstance(error, dict) else _words(error)


def _reason(verdict: Mapping[str, JSON]) -> str | None:
    return _error(verdict) or _words(verdict.get("status"))


def _items(resolved: Mapping[str, JSON], *, all_ineligible: bool = False) -> tuple[JudgedItem, ...] | None:
    """The validator's items, repeated ones merged; None where it named none that can be called anything."""
    named = resolved.get(ITEMS)
    if not isinstance(named, list):
        return None
    merged: dict[str, JudgedItem] = {}
    for element in named:
        item = _item(element)
        if item is not None:
            key = _merge_key(item.fields)
            merged[key] = _merged(merged.get(key), item)
    items = tuple(replace(item, eligible=item.eligible and not all_ineligible) for item in merged.values())
    return items or None


def _item(element: JSON) -> JudgedItem | None:
    """One item; ``eligible`` absent is true, anything but a boolean is a malformed flag (runtime.md §7)."""
    if not isinstance(element, dict):
        label = label_of(element) if isinstance(element, str | int) else ""
        return JudgedItem({"label": element}, label) if label else None
    fields = {name: value for name, value in element.items() if name not in ("eligible", "reason")}
    label = label_of(fields)
    if not label:
        return None
    eligible, reason = element.get("eligible", True), element.get("reason")
    if not isinstance(eligible, bool):
        return JudgedItem(fields, label, False, MALFORMED_FLAG)
    return JudgedItem(fields, label, eligible, _words(reason))


def _merged(earlier: JudgedItem | None, item: JudgedItem) -> JudgedItem:
    """Of two mentions of one item the refusing one decides."""
    return item if earlier is None or (earlier.eligible and not item.eligible) else earlier


def _merge_key(fields: Mapping[str, JSON]) -> str:
    compared = {name: identity(value) if isinstance(value, str) else value for name, value in fields.items()}
    return json.dumps(compared, sort_keys=True, default=str)


# What is sent ------------------------------------------


def declared(tool: ToolSpec, arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """What of ``arguments`` the tool's schema declares; null is no value."""
    return {name: value for name, value in arguments.items() if value is not None and tool.argument(name) is not None}


def validator_arguments(
    validator: ToolSpec, arguments: Mapping[str, JSON], target_tool: str, keep_items: Sequence[str] | None
) -> dict[str, JSON]:
    """The arguments, the tool that will run and, after a change, the labels to keep: as far as they are declared."""
    more: dict[str, JSON] = {"target_tool": target_tool}
    if keep_items is not None:
        more["keep_items"] = list(keep_items)
    return declared(validator, {**arguments, **more})


def confirmed_items_of(
    tool: ToolSpec, arguments: Mapping[str, JSON], judged_items: Sequence[JudgedItem] | None
) -> list[JSON] | None:
    """The confirmed set (runtime.md §4a.1): the validator's items in order, else the elements of the only array
    argument, else None: unknown, and the rows will define the items.
    """
    if judged_items is not None:
        return [dict(item.fields) for item in judged_items]
    array = only_array_argument(tool)
    elements = arguments.get(array) if array else None
    return list(elements) if isinstance(elements, list) and elements else None


def sendable_arguments(
    tool: ToolSpec, arguments: Mapping[str, JSON], items: Sequence[JudgedItem] | None
) -> dict[str, JSON]:
    """What is sent to ``tool``: only what it declares, and no ineligible item as if it were to be done.

    A tool that declares ``items`` gets the effective set, ineligible items with their flag (runtime.md §7), or the
    eligible labels where its elements are texts. Of another only array argument, elements that name an ineligible
    item are left out: the user was told that they would be.
    """
    sent = declared(tool, arguments)
    if items is None:
        return sent
    argument = tool.argument(ITEMS)
    if argument is not None and argument.type is ArgumentType.ARRAY:
        element = element_of(argument)
        takes_objects = element is None or element.type is ArgumentType.OBJECT
        return {**sent, ITEMS: _flagged(items, sent.get(ITEMS)) if takes_objects else _labels(items)}
    array = only_array_argument(tool)
    if array is not None and isinstance(sent.get(array), list):
        return {**sent, array: _without_ineligible(sent[array], items)}
    return sent


def _labels(items: Sequence[JudgedItem]) -> list[JSON]:
    return [item.label for item in items if item.eligible]


def _flagged(items: Sequence[JudgedItem], given: JSON) -> list[JSON]:
    """The items as the validator named them; bare texts stay bare texts where the user's value holds such."""
    has_scalars = isinstance(given, list) and not any(isinstance(each, dict) for each in given)
    found: list[JSON] = []
    for item in items:
        why = {} if item.reason is None else {"reason": item.reason}
        if not item.eligible:
            found.append({**item.fields, "eligible": False, **why})
        elif has_scalars and set(item.fields) == {"label"}:
            found.append(item.fields["label"])
        else:
            found.append(dict(item.fields))
    return found


def _without_ineligible(elements: Sequence[JSON], items: Sequence[JudgedItem]) -> list[JSON]:
    def names(element: JSON, *, eligible: bool) -> bool:
        return any(same_identity(element, item.fields) for item in items if item.eligible is eligible)

    kept = [each for each in elements if names(each, eligible=True) or not names(each, eligible=False)]
    # Nothing left although something is eligible: the validator renamed it, and only its names say what was confirmed.
    return kept or _labels(items)
