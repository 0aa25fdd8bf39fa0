"""From the outcomes of the items to the verdict on the transaction: final and told, or still being verified."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from transactions import outbox
from transactions.core.outcomes import roll_up
from transactions.core.reconciling import means_of, seconds_until
from transactions.core.statuses import ItemStatus, ReasonCode, Status
from transactions.models import Conversation, Item, Transaction
from transactions.services.calls import rules_of
from transactions.services.ending import tell_finished
from transactions.services.parking import offer
from transactions.services.reviewing import NOBODY_ASKS, ask_for_review, close_what_is_known_now
from transactions.services.rows import change, database_now, move, record
from transactions.services.telling import outcome_data

REASON_CODES = {
    Status.SUCCESS: "",
    Status.PARTIAL_SUCCESS: ReasonCode.PARTLY_FAILED,
    Status.FAILED: ReasonCode.TOOL_FAILED,
    Status.VERIFYING: ReasonCode.OUTCOME_UNKNOWN,
}


def finish(
    conversation: Conversation,
    transaction: Transaction,
    *,
    has_news: bool = False,
    actor: str = "system",
    **fields: Any,
) -> None:
    """Move to what the items add up to (runtime.md §4a.6); ``fields`` are written in any case.

    A transaction that is final already stays so. One that is still being verified is told again if there ``has_news``.
    """
    if transaction.is_final:
        change(transaction, **fields)
        return
    counted = list(transaction.items.filter(unconfirmed=False).order_by("position"))
    status = roll_up(ItemStatus(item.status) for item in counted)
    if status is not Status.VERIFYING:
        _end(conversation, transaction, status, counted, actor=actor, **fields)
    elif transaction.status == Status.EXECUTING:
        verify(conversation, transaction, **fields)
    else:
        change(transaction, **fields)
        if has_news:
            _tell_verifying(conversation, transaction)


def _end(
    conversation: Conversation,
    transaction: Transaction,
    status: Status,
    items: Sequence[Item],
    *,
    actor: str,
    **fields: Any,
) -> None:
    reason = next((item.reason for item in items if status is Status.FAILED and item.reason), "") or ""
    move(
        conversation,
        transaction,
        status,
        reason_code=REASON_CODES[status],
        reason=reason,
        has_unknown=False,
        verify_due_at=None,
        actor=actor,
        **fields,
    )
    if actor == "system":
        # An operator who settles the last item closes the review by name.
        close_what_is_known_now(conversation, transaction)
    tell_finished(conversation, transaction, actor=actor)


def verify(conversation: Conversation, transaction: Transaction, **fields: Any) -> None:
    """EXECUTING → VERIFYING, told as being verified: somebody asks what became of it, a tool or an operator."""
    asking = _asking(transaction, database_now())
    move(
        conversation,
        transaction,
        Status.VERIFYING,
        reason_code=ReasonCode.OUTCOME_UNKNOWN,
        has_unknown=True,
        **asking,
        **fields,
    )
    if not asking:
        ask_for_review(conversation, transaction, NOBODY_ASKS)
    _tell_verifying(conversation, transaction)
    offer(conversation)
    outbox.wake("turns", conversation.pk)


def _tell_verifying(conversation: Conversation, transaction: Transaction) -> None:
    data = outcome_data(conversation, transaction)
    record(conversation, "transaction.verifying", data, transaction=transaction)


def _asking(transaction: Transaction, now: datetime) -> dict[str, Any]:
    """When the unknown outcome is asked about; empty where only an operator can settle it (runtime.md §9.4)."""
    if means_of(rules_of(transaction).policy) is None:
        return {}
    return {
        "verify_tries": 0,
        "verify_due_at": now + timedelta(seconds=seconds_until(0, settings.RECONCILE_SECONDS)),
        "verify_until": now + timedelta(seconds=settings.RECONCILE_SECONDS),
    }
