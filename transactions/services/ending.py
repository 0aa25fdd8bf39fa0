"""Ending a transaction of which nothing was executed: refused, cancelled, abandoned, expired (runtime.md §2)."""

from __future__ import annotations

from uuid import UUID

from django.db.transaction import atomic

from transactions import outbox
from transactions.core.statuses import (
    OCCUPYING,
    ConfirmationStatus,
    ItemStatus,
    ReasonCode,
    Rule,
    Status,
)
from transactions.models import Conversation, Transaction, Turn
from transactions.services.parking import offer
from transactions.services.rows import database_now, hold, move, record
from transactions.services.telling import outcome_data

EXPIRING = (OCCUPYING - {Status.EXECUTING}) | {Status.PARKED}
"""What time ends: whatever is not done yet, and what was set aside."""


def end(
    conversation: Conversation,
    transaction: Transaction,
    status: Status,
    *,
    reason_code: ReasonCode,
    reason: str = "",
    rule: Rule | str = "",
    turn: Turn | None = None,
    actor: str = "system",
) -> None:
    """End ``transaction`` as ``status`` with nothing executed, and tell the user."""
    closed_as = ConfirmationStatus.EXPIRED if status is Status.EXPIRED else ConfirmationStatus.REPLACED
    transaction.confirmations.filter(status=ConfirmationStatus.OPEN).update(status=closed_as)
    transaction.items.filter(status=ItemStatus.PENDING).update(status=ItemStatus.NOT_EXECUTED)
    move(
        conversation,
        transaction,
        status,
        rule=rule,
        turn=turn,
        actor=actor,
        reason_code=reason_code,
        reason=reason,
    )
    tell_finished(conversation, transaction, rule=rule, turn=turn, actor=actor)


def tell_finished(
    conversation: Conversation,
    transaction: Transaction,
    *,
    rule: Rule | str = "",
    turn: Turn | None = None,
    actor: str = "system",
) -> None:
    """The ``transaction.finished`` event; turns that waited for it are woken."""
    data = outcome_data(conversation, transaction)
    record(conversation, "transaction.finished", data, transaction=transaction, turn=turn, rule=rule, actor=actor)
    if transaction.reason_code != ReasonCode.INTENT_SHIFT:
        # After a shift the new request begins at once; what is set aside is offered when that is done.
        offer(conversation)
    outbox.wake("turns", conversation.pk)


@atomic
def expire_if_due(conversation_id: UUID) -> bool:
    """End what waits or was set aside as EXPIRED if its time is over; time did it, not the user (runtime.md §9)."""
    conversation = hold(conversation_id)
    over = Transaction.objects.filter(conversation=conversation, status__in=EXPIRING, expires_at__lte=database_now())
    ended = list(over.order_by("expires_at"))
    for transaction in ended:
        end(conversation, transaction, Status.EXPIRED, reason_code=ReasonCode.EXPIRED)
    return bool(ended)
