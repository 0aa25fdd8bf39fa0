"""What the accounting speaks of: confirmed items, outcomes, the ledger, counts and the roll-up (runtime.md §4a)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tooling.specs import JSON
from transactions.core.matching import label_of
from transactions.core.statuses import ItemStatus, Status, VerdictSource

_UNSETTLED = frozenset({ItemStatus.UNKNOWN, ItemStatus.PENDING, ItemStatus.IN_FLIGHT})


@dataclass(frozen=True, slots=True)
class ConfirmedItem:
    """One item of the set that the user confirmed; ``key`` is ours, ``fields`` are what the item says of itself."""

    key: str
    fields: Mapping[str, JSON]
    label: str
    eligible: bool = True
    reason: str | None = None
    excluded: bool = False


def confirmed_item(
    key: str,
    value: JSON,
    *,
    label: str | None = None,
    eligible: bool = True,
    reason: str | None = None,
    excluded: bool = False,
) -> ConfirmedItem:
    """The item that ``value`` is: an object, or a scalar element, which has one field ``label``."""
    fields = dict(value) if isinstance(value, Mapping) else {"label": value}
    own = label_of(value) if label is None else label
    return ConfirmedItem(key, fields, own, eligible=eligible, reason=reason, excluded=excluded)


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What became of one item, with everything its rows said and the rule that read it (runtime.md §4a.8)."""

    key: str
    label: str
    status: ItemStatus
    verdict_source: VerdictSource
    reason: str | None = None
    protocol: str | None = None
    evidence: Mapping[str, JSON] = field(default_factory=dict)
    rule: str = ""
    fields: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every confirmed item with its outcome, the rows nobody confirmed, and what operators must hear of."""

    outcomes: tuple[ItemOutcome, ...]
    unconfirmed: tuple[JSON, ...]
    incidents: tuple[str, ...]
    status: Status


@dataclass(frozen=True, slots=True)
class Counts:
    """How many items there are, and of what kind; ``total`` includes the excluded ones (contracts.md §2)."""

    total: int
    succeeded: int
    failed: int
    unknown: int
    excluded: int


def count(statuses: Iterable[ItemStatus]) -> Counts:
    """Count items; what is not settled yet counts as unknown, what could not be done as failed."""
    seen = Counter(statuses)
    unknown = sum(seen[status] for status in _UNSETTLED)
    succeeded, excluded = seen[ItemStatus.SUCCEEDED], seen[ItemStatus.EXCLUDED]
    total = seen.total()
    return Counts(total, succeeded, total - succeeded - unknown - excluded, unknown, excluded)


def roll_up(statuses: Iterable[ItemStatus]) -> Status:
    """The status of a transaction with these items (runtime.md §4a.6); FAILED where none could be done."""
    counts = count(statuses)
    if counts.unknown:
        return Status.VERIFYING
    if not counts.succeeded:
        return Status.FAILED
    return Status.PARTIAL_SUCCESS if counts.failed else Status.SUCCESS
