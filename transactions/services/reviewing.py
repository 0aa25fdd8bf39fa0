"""What operators are asked to look at, and what they do about it (runtime.md §9.4, §11)."""

from __future__ import annotations

import logging

from django.db import transaction as database

from transactions.core.statuses import ReviewState, check_move
from transactions.models import Conversation, Transaction
from transactions.services.rows import record

log = logging.getLogger(__name__)

WHY_SHOWN = 500
"""Characters of a reason that the log line carries; the event keeps the whole."""


def ask_for_review(conversation: Conversation, transaction: Transaction, why: str) -> None:
    """Put ``transaction`` into the operators' queue and raise the alarm, once for each ``why``.

    The conversation must be held. Operators who have looked already are asked again: something new arose. The alarm is
    one ERROR line of the log, after the commit.
    """
    asked = transaction.events.filter(kind="review.needed").order_by("-id").first()
    if transaction.review_state == ReviewState.NEEDED and asked is not None and asked.data.get("why") == why:
        return
    _set_review(transaction, ReviewState.NEEDED)
    record(conversation, "review.needed", {"why": why}, transaction=transaction, is_public=False)
    line, key = " ".join(why.split())[:WHY_SHOWN], transaction.pk
    database.on_commit(lambda: log.error("transaction %s waits for an operator: %s", key, line))


def _set_review(transaction: Transaction, new: ReviewState) -> None:
    """Move the review's own state; the revision stays.

    What a validator or a reconcile tool is being asked meanwhile is as true as before, and must not become stale.
    """
    if transaction.review_state == new:
        return
    check_move(ReviewState(transaction.review_state), new)
    Transaction.objects.filter(pk=transaction.pk).update(review_state=new)
    transaction.review_state = new
