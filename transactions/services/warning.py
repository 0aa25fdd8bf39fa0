"""Telling the user, once, that the time for an answer is nearly over (runtime.md §9.6: by the database's clock)."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db.transaction import atomic

from transactions.core.reminders import LEAD_SECONDS, expires_soon, is_worth_warning
from transactions.core.statuses import ConfirmationStatus, Status
from transactions.models import Conversation, Transaction, TransactionQuerySet
from transactions.services.rows import database_now, hold
from transactions.services.telling import say

WAITING_FOR_THE_USER = (Status.COLLECTING_PARAMETERS, Status.AWAITING_CONFIRMATION)


def soon_to_expire(now: datetime) -> TransactionQuerySet:
    """Transactions that wait for the user, end soon, and of which the user was not warned."""
    return Transaction.objects.filter(
        status__in=WAITING_FOR_THE_USER,
        warned_at=None,
        expires_at__gt=now,
        expires_at__lte=now + timedelta(seconds=LEAD_SECONDS),
    )


@atomic
def warn_if_due(conversation_id: UUID) -> bool:
    """Warn of the end of what waits for the user in this conversation; at most once for each end that is set."""
    conversation, now = hold(conversation_id), database_now()
    transaction = soon_to_expire(now).filter(conversation=conversation).first()
    if transaction is None:
        return False
    # Not a move: an answer that was decided meanwhile still stands.
    Transaction.objects.filter(pk=transaction.pk).update(warned_at=now)
    left = (transaction.expires_at - now).total_seconds()
    if not is_worth_warning(_lifetime(transaction)):
        return False
    _tell(conversation, transaction, left)
    return True


def _lifetime(transaction: Transaction) -> float:
    """For how long, in seconds, the question that is open now was to be answered."""
    asked = transaction.confirmations.filter(status=ConfirmationStatus.OPEN).first()
    since = asked.created_at if asked else transaction.created_at
    return (transaction.expires_at - since).total_seconds()


def _tell(conversation: Conversation, transaction: Transaction, left: float) -> None:
    say(conversation, expires_soon(Status(transaction.status), left, conversation.locale), transaction=transaction)
