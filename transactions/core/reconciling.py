"""Asking what became of items whose outcome is unknown: by which means, when, and how the answer is read (§9.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from tooling.specs import JSON, Idempotency, PolicySpec
from transactions.core.ledger import ConfirmedItem, ItemOutcome
from transactions.core.outcomes import WHOLE_CALL, account
from transactions.core.statuses import ItemStatus, VerdictSource
from transactions.core.texts import say

TRIES = 5
"""How often is asked before operators take over (runtime.md §9.4)."""
_SHARES = (0.005, 0.03, 0.12, 0.35, 0.9, 1.0)
"""When each try, and at last the end, is due: soon at first, then ever later, as shares of the whole window."""
EXECUTED_FIELD = "executed"
"""``false`` in a row that failed: the server never did anything about the item."""


class Means(StrEnum):
    """How an unknown outcome may be settled without a person."""

    RECONCILE = "reconcile"
    RESEND = "resend"


def means_of(policy: PolicySpec) -> Means | None:
    """The reconcile tool, else a resend with the same key, else nothing but an operator (runtime.md §9.4)."""
    if policy.reconcile_tool:
        return Means.RECONCILE
    return Means.RESEND if policy.idempotency is Idempotency.KEY else None


def seconds_until(tries: int, window: float) -> float:
    """When, in seconds after the outcome became unknown, the step after ``tries`` tries is due."""
    return _SHARES[min(tries, TRIES)] * window


def handed_over(locale: str) -> str:
    """What the user reads when asking is over and a person looks."""
    return say("handed_over", locale)


def settled_by(unknown: Sequence[ConfirmedItem], rows: Sequence[JSON] | None) -> tuple[ItemOutcome, ...]:
    """The outcomes that a reconcile tool's rows give to the unknown items; an item without a clear row is left out.

    Rows about other items say nothing here. One item that stands for a set nobody named takes the verdict of the
    only row; several rows, all of them clear, define the items (runtime.md §4a.5).
    """
    if not rows or not unknown:
        return ()
    outcomes = _of_the_whole(unknown[0], rows) if unknown[0].key == WHOLE_CALL else account(unknown, rows).outcomes
    return tuple(_reconciled(outcome) for outcome in outcomes if outcome.status in _VERDICTS)


_VERDICTS = (ItemStatus.SUCCEEDED, ItemStatus.FAILED)


def _of_the_whole(item: ConfirmedItem, rows: Sequence[JSON]) -> tuple[ItemOutcome, ...]:
    found = account(None, rows).outcomes
    if any(outcome.status not in _VERDICTS for outcome in found):
        return ()
    if len(found) > 1:
        return found
    return tuple(replace(outcome, key=item.key, label=item.label, fields=dict(item.fields)) for outcome in found)


def _reconciled(outcome: ItemOutcome) -> ItemOutcome:
    was_executed = outcome.evidence.get(EXECUTED_FIELD) is not False
    status = outcome.status
    if status is ItemStatus.FAILED and not was_executed:
        status = ItemStatus.NOT_EXECUTED
    return replace(outcome, status=status, verdict_source=VerdictSource.RECONCILE, rule="runtime.md §9.4")
