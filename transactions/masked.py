"""A record for callers who may not see customer data: the same rows in memory, with who the customer is hidden."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from transactions.access import SEES_CUSTOMER_DATA
from transactions.core.masking import NOTHING_HIDDEN, Mask, mask_of
from transactions.models import Attempt, Confirmation, Event, Item, Transaction

Part = Transaction | Item | Attempt | Confirmation | Event

HELD: dict[type[Part], tuple[str, ...]] = {
    Transaction: ("arguments", "reason", "question", "pre_validation"),
    Item: ("label", "fields", "reason", "protocol", "evidence"),
    Attempt: ("request", "raw_answer", "normalised", "steps", "secondary_error", "failure"),
    Confirmation: ("text", "items"),
    Event: ("data",),
}
"""Where a row may name its customer; ids, keys, digests and statuses never do."""


def mask_for(caller: Any, transaction: Transaction) -> Mask:
    """What ``caller`` must not read of ``transaction``."""
    return NOTHING_HIDDEN if caller.has_perm(SEES_CUSTOMER_DATA) else mask_of(transaction.conversation.identity)


def hide(mask: Mask, rows: Iterable[Part]) -> None:
    """Hide in ``rows``, which were read to be shown and are never saved, what ``mask`` hides."""
    for row in rows:
        for name in HELD[type(row)]:
            setattr(row, name, mask.json(getattr(row, name)))


def hide_record(mask: Mask, transaction: Transaction) -> None:
    """The same for a transaction whose parts were prefetched."""
    parts = (transaction.items, transaction.attempts, transaction.confirmations, transaction.events)
    hide(mask, [transaction, *(row for part in parts for row in part.all())])
