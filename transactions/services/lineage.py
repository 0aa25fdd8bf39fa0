"""What of a transaction may be tried again, and what its child may never do again (runtime.md §9.5). Reads only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tooling import catalog
from tooling.specs import OperationType
from transactions.core.parameters import only_array_argument
from transactions.core.prevalidation import JudgedItem
from transactions.core.prevalidation import refusal_of as refusal_of_set
from transactions.core.retrying import (
    WITHOUT_EFFECT,
    Named,
    Refusal,
    Why,
    is_one_of,
    narrowed,
    refusal_of,
    why_not,
    without_done,
)
from transactions.core.statuses import ItemStatus, Status
from transactions.models import Item, Transaction
from transactions.services.calls import IMPLICIT, Rules, rules_for, rules_of

KEEP_ITEMS = "keep_items"
"""The argument by which a validator is told which items are meant (contracts.md §6)."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An item of the transaction that is not tried again, and why."""

    item: Item
    why: Why


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """What a retry would do: one child transaction of the newest ``release``, for the items ``again`` alone."""

    transaction: Transaction
    rules: Rules
    release: int
    is_changed: bool
    """The tool or its policy is another one than the transaction ran with."""
    again: tuple[Item, ...]
    left_out: tuple[LeftOut, ...]
    arguments: Mapping[str, Any]
    """name → {"value", "source", "turn_id"}: the transaction's own, as far as they name what is tried again."""
    keep_items: tuple[str, ...] | None
    """Their labels; None where the whole request is tried again as one unnamed item."""


@dataclass(frozen=True, slots=True)
class RetryRefused:
    """Why nothing may be tried again now; ``about``: the transaction to look at instead, where there is one."""

    refusal: Refusal
    about: UUID | None = None


def plan(transaction: Transaction) -> RetryPlan | RetryRefused:
    """What retrying ``transaction`` would do now, or why it may not run now. Changes nothing."""
    found = possible(transaction)
    if isinstance(found, RetryRefused):
        return found
    occupied_by = Transaction.objects.occupying().filter(conversation=transaction.conversation_id).first()
    return RetryRefused(Refusal.OCCUPIED, occupied_by.pk) if occupied_by else found


def possible(transaction: Transaction) -> RetryPlan | RetryRefused:
    """As ``plan``, whether or not something else occupies the conversation at the moment."""
    if refusal := refusal_of(Status(transaction.status)):
        return RetryRefused(refusal)
    child = transaction.children.exclude(status__in=WITHOUT_EFFECT).order_by("-created_at").first()
    if child is not None:
        return RetryRefused(Refusal.NOT_NEWEST, child.pk)
    again, left_out = _divided(transaction)
    if not again:
        return RetryRefused(Refusal.NOTHING_FAILED)
    published = catalog.newest()
    if published is None or not published.definitions.is_available(transaction.tool):
        return RetryRefused(Refusal.TOOL_UNAVAILABLE)
    rules, own = rules_for(published.definitions, transaction.tool), rules_of(transaction)
    if not _fits(transaction, own, rules):
        return RetryRefused(Refusal.DEFINITION_CHANGED)
    arguments = _arguments(transaction, rules, again, [each.item for each in left_out])
    if arguments is None:
        return RetryRefused(Refusal.INSEPARABLE)
    return RetryPlan(
        transaction=transaction,
        rules=rules,
        release=published.number,
        is_changed=(rules.tool, rules.policy) != (own.tool, own.policy),
        again=tuple(again),
        left_out=tuple(left_out),
        arguments=arguments,
        keep_items=None if _is_unnamed(again) else tuple(item.label for item in again),
    )


def newest_to_retry(conversation_id: UUID) -> Transaction | None:
    """The transaction that "try again" means: the newest one, or, where it is a child that did nothing, its parent.

    None while it is not finished, or where it cannot be retried: the words are then a request like any other.
    """
    newest = Transaction.objects.filter(conversation=conversation_id).order_by("-created_at", "-pk").first()
    while newest is not None and newest.parent is not None and newest.status in WITHOUT_EFFECT:
        newest = newest.parent
    return newest if newest is not None and isinstance(plan(newest), RetryPlan) else None


def _divided(transaction: Transaction) -> tuple[list[Item], list[LeftOut]]:
    """The items to be tried again, and the others with the reason, in order; rows nobody confirmed are neither."""
    done = [_named(item) for item in _done(_chain_of(transaction))]
    again, left_out = [], []
    for item in transaction.items.filter(unconfirmed=False).order_by("position"):
        why = why_not(ItemStatus(item.status), is_done_since=is_one_of(_named(item), done))
        if why is None:
            again.append(item)
        else:
            left_out.append(LeftOut(item, why))
    return again, left_out


def _chain_of(transaction: Transaction) -> list[Transaction]:
    """``transaction`` and what it repeats, the newest first."""
    chain = [transaction]
    while (parent := chain[-1].parent) is not None:
        chain.append(parent)
    return chain


def _done(chain: Sequence[Transaction]) -> Iterable[Item]:
    """What succeeded for the same customer with the same tool since the chain began, in it and beside it.

    Rows that nobody confirmed count: whatever was done must not be done again.
    """
    first = chain[-1]
    since = Item.objects.filter(
        status=ItemStatus.SUCCEEDED, transaction__tool=chain[0].tool, transaction__created_at__gte=first.created_at
    )
    customer = first.conversation.customer
    if customer:
        return since.filter(transaction__conversation__customer=customer)
    return since.filter(transaction__conversation=first.conversation_id)


def _named(item: Item) -> Named:
    """``item`` by what identifies it; a row that nobody confirmed has only what the tool said."""
    return Named(item.label, item.evidence if item.unconfirmed else item.fields)


def _is_unnamed(items: Sequence[Item]) -> bool:
    return [item.key for item in items] == [IMPLICIT]


def _fits(transaction: Transaction, own: Rules, rules: Rules) -> bool:
    """Whether the newest tool still takes, in the same form, what the user had to say for the one that ran."""
    if _has_other_effects(rules):
        return False
    for name in own.policy.requires:
        before, now = own.tool.argument(name), rules.tool.argument(name)
        if name not in transaction.known:
            continue
        if before is None or now is None or (before.type, before.format) != (now.type, now.format):
            return False
        if now.enum and transaction.known[name] not in now.enum:
            return False
    return True


def _has_other_effects(rules: Rules) -> bool:
    """Whether the tool runs in a workflow that changes something else as well, which would happen a second time."""
    definitions = rules.definitions
    actions = {
        node.action
        for (name, _), workflow in definitions.workflows.items()
        if name == rules.policy.execution.workflow
        for node in workflow.nodes
    }
    types = {definitions.policy(action).operation_type for action in actions - {rules.tool.name}}
    return OperationType.TRANSACTIONAL in types


def _arguments(
    transaction: Transaction, rules: Rules, again: Sequence[Item], left_out: Sequence[Item]
) -> dict[str, Any] | None:
    """The arguments with their provenance, as far as they name ``again``; None where they cannot be told apart."""
    held = {name: each for name, each in transaction.arguments.items() if rules.tool.argument(name) is not None}
    known = {name: each["value"] for name, each in held.items()}
    kept, left = [_named(item) for item in again], [_named(item) for item in left_out]
    found = narrowed(rules.tool, rules.policy.requires, known, kept=kept, left=left)
    if found is None:
        # The validator is told which items are meant; what it makes of that is checked before anybody is asked.
        return held if _can_narrow(rules) else None
    return {name: {**each, "value": found[name]} for name, each in held.items()}


def _can_narrow(rules: Rules) -> bool:
    check = rules.policy.pre_validation
    validator = rules.definitions.tools.get(check.tool) if check.enabled else None
    return validator is not None and validator.argument(KEEP_ITEMS) is not None


# What a child may do ------------------------------------------


@dataclass(frozen=True, slots=True)
class ChildSet:
    """What is left of a child's items and arguments when everything that must not run again is taken out."""

    judged: Sequence[JudgedItem] | None
    arguments: Mapping[str, Any]
    """As the column has them."""


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What a child may do: ``again``, and never ``left``. ``is_open``: the user named the value anew."""

    again: Sequence[Named]
    left: Sequence[Named]
    is_open: bool

    def allow(self, item: Named) -> bool:
        return not is_one_of(item, self.left) and (self.is_open or is_one_of(item, self.again))


def only_what_failed(child: Transaction, rules: Rules, judged: Sequence[JudgedItem] | None) -> ChildSet | None:
    """The child's set without any item that is not to be tried again, whatever the validator or the arguments say.

    None where nothing is left to do, or where the arguments cannot be told apart from such an item for sure.
    """
    if child.parent is None:
        return ChildSet(judged, child.arguments)
    bounds = _bounds_of(child, child.parent)
    items = allowed(child, judged, bounds)
    if items is not None and (not any(item.eligible for item in items) or refusal_of_set(items, rules.policy)):
        return None
    if bounds.is_open:
        found = without_done(rules.tool, rules.policy.requires, child.known, bounds.left)
    else:
        found = _narrowed(child, rules, bounds, items, [item for item in judged or () if item not in (items or ())])
        if items is None and only_array_argument(rules.tool) is None:
            items = [JudgedItem(fields=item.fields, label=item.label) for item in bounds.again]
    if found is None:
        return None
    return ChildSet(items, {name: {**held, "value": found[name]} for name, held in child.arguments.items()})


def allowed(
    child: Transaction, judged: Sequence[JudgedItem] | None, bounds: _Bounds | None = None
) -> Sequence[JudgedItem] | None:
    """Of the validator's items those that a child may have; all of them where it is none."""
    if judged is None or child.parent is None:
        return judged
    within = bounds or _bounds_of(child, child.parent)
    return [item for item in judged if within.allow(Named(item.label, item.fields))]


def _bounds_of(child: Transaction, parent: Transaction) -> _Bounds:
    """From the rows of the chain, read anew each time: what was done meanwhile counts."""
    chain = _chain_of(parent)
    again = [_named(item) for item in _divided(parent)[0]]
    known = [_named(item) for item in Item.objects.filter(transaction__in=chain, unconfirmed=False)]
    left = [item for item in map(_named, _done(chain)) if is_one_of(item, known)]
    asked_for = [_named(item) for item in child.items.filter(status=ItemStatus.PENDING)]
    # Taking something out of a set that the user named anew does not make what was added a thing of the parent's.
    if child.keep_items is None or not all(is_one_of(item, again) for item in asked_for):
        return _Bounds(again, left, is_open=True)
    out = [_named(item) for item in child.items.filter(status=ItemStatus.EXCLUDED)]
    again = [item for item in again if not is_one_of(item, out)]
    left += [item for item in [*known, *out] if not is_one_of(item, again)]
    return _Bounds(again, left, is_open=False)


def _narrowed(
    child: Transaction,
    rules: Rules,
    bounds: _Bounds,
    items: Sequence[JudgedItem] | None,
    dropped: Sequence[JudgedItem],
) -> dict[str, Any] | None:
    """The child's arguments for ``items``; a text that the validator wrote for them is taken as it is."""
    kept = bounds.again if items is None else [Named(item.label, item.fields) for item in items if item.eligible]
    left = [*bounds.left, *(Named(item.label, item.fields) for item in dropped)]
    earlier = [each.known for each in _chain_of(child)[1:]]
    resolved = {
        name
        for name, held in child.arguments.items()
        if items is not None
        and held["source"] == "validator"
        and all(known.get(name) != held["value"] for known in earlier)
    }
    return narrowed(rules.tool, rules.policy.requires, child.known, kept=kept, left=left, resolved=resolved)
