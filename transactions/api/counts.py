"""How many items of a transaction came out how, in the words of contracts.md §8."""

from __future__ import annotations

from collections.abc import Mapping

from transactions.core.ledger import Counts
from transactions.core.statuses import ItemStatus as I


def counts_of(tally: Mapping[str, int]) -> Counts:
    """From item status → number, as it stands: what is still open is in ``total`` only.

    INELIGIBLE and NOT_EXECUTED count as failed (runtime.md §4a.6); rows that nobody confirmed are not in ``tally``.
    """
    return Counts(
        total=sum(tally.values()),
        succeeded=tally.get(I.SUCCEEDED, 0),
        failed=sum(tally.get(status, 0) for status in (I.FAILED, I.INELIGIBLE, I.NOT_EXECUTED)),
        unknown=tally.get(I.UNKNOWN, 0),
        excluded=tally.get(I.EXCLUDED, 0),
    )
