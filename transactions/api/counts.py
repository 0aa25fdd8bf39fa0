"""How many items of a transaction came out how, in the words of contracts.md §8."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transactions.core.statuses import ItemStatus as I


@dataclass(frozen=True, slots=True)
class Counts:
    """``total`` includes excluded items; rows that nobody confirmed are not counted (runtime.md §4a.4)."""

    total: int
    succeeded: int
    failed: int
    unknown: int
    excluded: int


def counts_of(tally: Mapping[str, int]) -> Counts:
    """From item status → number; INELIGIBLE and NOT_EXECUTED count as failed (runtime.md §4a.6)."""
    return Counts(
        total=sum(tally.values()),
        succeeded=tally.get(I.SUCCEEDED, 0),
        failed=sum(tally.get(status, 0) for status in (I.FAILED, I.INELIGIBLE, I.NOT_EXECUTED)),
        unknown=tally.get(I.UNKNOWN, 0),
        excluded=tally.get(I.EXCLUDED, 0),
    )
