"""An operator says what became of an item whose outcome nobody knew (runtime.md §9.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.transaction import atomic

from tooling.cleaning import clean_text
from transactions.core import reply
from transactions.core.statuses import (
    ItemStatus,
    ReviewState,
    Status,
    VerdictSource,
)
from transactions.models import Conversation, Item, Transaction
from transactions.services.finishing import finish
from transactions.services.reviewing import (
    OPERATOR,
    NotThere,
    change_review,
    has_open_incident,
    held_transaction,
)
from transactions.services.rows import database_now, record

RESOLUTIONS = (ItemStatus.SUCCEEDED, ItemStatus.FAILED, ItemStatus.NOT_EXECUTED)
"""What an unknown item may turn out to be."""
LONGEST_REASON = reply.LONGEST
"""Characters of a reason: all of it is shown to the customer."""
RESOLUTION = "resolution"
"""The key of the evidence of an item under which who, when and why are kept."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The item is settled; ``status``: where its transaction stands now."""

    label: str
    status: Status


@dataclass(frozen=True, slots=True)
class NoReason:
    """Nothing changed: without a reason nobody could tell later why the item was settled so."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Nothing changed: the item is not unknown. ``by`` and ``at`` say which operator settled it, if one did."""

    label: str
    status: ItemStatus
    verdict_source: str
    reason: str
    by: str
    at: str


Resolution = Resolved | NoReason | Settled | NotThere


@atomic
def resolve(
    transaction_id: UUID, item_key: str, *, status: ItemStatus, reason: str, actor: str, protocol: str = ""
) -> Resolution:
    """Settle an UNKNOWN item as ``status``; the first who does so wins, whoever comes later is told by whom and how.

    The customer is told at once. When no unknown item is left, the transaction ends as its items add up, and nothing
    asks any more what became of it. ``reason`` is kept, and the customer reads it beside the item.
    """
    if status not in RESOLUTIONS:
        raise ValueError(f"an unknown item does not become {status}")
    # One line each: the customer reads them beside the item.
    reason, protocol = (" ".join(clean_text(text).split()) for text in (reason, protocol))
    if not reason:
        return NoReason()
    held = held_transaction(transaction_id)
    if held is None:
        return NotThere()
    conversation, transaction = held
    # Compared here: not every text that an address can hold can be asked of a database.
    item = next((each for each in transaction.items.filter(unconfirmed=False) if each.key == item_key), None)
    if item is None:
        return NotThere()
    if item.status != ItemStatus.UNKNOWN:
        return settled(item)
    _write(conversation, item, status=status, reason=reason, protocol=protocol, actor=actor)
    _close(conversation, transaction, actor)
    return Resolved(item.label, Status(transaction.status))


def settled(item: Item) -> Settled:
    """What the item is, and who made it that."""
    kept = item.evidence.get(RESOLUTION) if item.verdict_source == VerdictSource.OPERATOR else None
    kept = kept or {}
    return Settled(
        label=item.label,
        status=ItemStatus(item.status),
        verdict_source=item.verdict_source,
        reason=item.reason or "",
        by=kept.get("by", ""),
        at=kept.get("at", ""),
    )


def _write(
    conversation: Conversation, item: Item, *, status: ItemStatus, reason: str, protocol: str, actor: str
) -> None:
    resolution = {"by": actor, "at": database_now().isoformat(), "status": status, "reason": reason}
    if protocol:
        resolution["protocol"] = protocol
    before: dict[str, Any] = {"before": item.evidence} if item.evidence else {}
    item.status = status
    item.reason = reason
    item.protocol = protocol or item.protocol
    item.verdict_source = VerdictSource.OPERATOR
    item.rule = "runtime.md §9.4"
    item.evidence = {RESOLUTION: resolution, **before}
    item.save()
    data = {"item_key": item.key, "label": item.label, "from": ItemStatus.UNKNOWN, **resolution}
    record(conversation, "item.resolved", data, transaction=item.transaction, actor=OPERATOR, is_public=False)


def _close(conversation: Conversation, transaction: Transaction, actor: str) -> None:
    """Tell the customer, and end the transaction and its review if nothing is unknown any more.

    A resend that waits finds its transaction ended at the gate, and does not leave.
    """
    finish(conversation, transaction, has_news=True, actor=OPERATOR)
    if not transaction.is_final:
        return
    is_open = transaction.review_state != ReviewState.RESOLVED
    if is_open and not has_open_incident(transaction):
        change_review(conversation, transaction, ReviewState.RESOLVED, note="", actor=actor)
