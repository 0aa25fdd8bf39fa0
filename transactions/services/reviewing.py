"""What operators are asked to look at, and what they do about it (runtime.md §9.4, §11)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction as database
from django.db.models import Max, Min

from tooling.cleaning import clean_text
from transactions.core.statuses import REVIEW_MOVES, ReviewState, check_move
from transactions.models import Conversation, Event, Transaction
from transactions.services.rows import hold, record

log = logging.getLogger(__name__)

OPERATOR = "operator"
"""The actor of events that a person or a program with the operator's permission made; their ``by`` says who."""
WHY_SHOWN = 500
"""Characters of a reason that the log line carries; the event keeps the whole."""


NOBODY_ASKS = "the outcome is unknown, and the policy names neither a reconcile tool nor an idempotency key"
GIVEN_UP = "nobody could say what became of the call within the time for asking"


def ask_for_review(conversation: Conversation, transaction: Transaction, why: str) -> None:
    """Put ``transaction`` into the operators' queue and raise the alarm, once for each ``why``.

    The conversation must be held. Operators who have looked already are asked again: something new arose. The alarm is
    one ERROR line of the log, after the commit.
    """
    asked = transaction.events.filter(kind="review.needed").order_by("-id").first()
    if transaction.review_state == ReviewState.NEEDED and asked is not None and asked.data.get("why") == why:
        return
    data = {"from": transaction.review_state, "to": ReviewState.NEEDED, "why": why}
    _set_review(transaction, ReviewState.NEEDED)
    record(conversation, "review.needed", data, transaction=transaction, is_public=False)
    line, key = " ".join(why.split())[:WHY_SHOWN], transaction.pk
    database.on_commit(lambda: log.error("alarm: transaction %s waits for an operator: %s", key, line))


def raise_incident(conversation: Conversation, transaction: Transaction, incidents: Sequence[str]) -> None:
    """Keep what must not have happened, each in words, and have operators look at it (runtime.md §2, §4a.4)."""
    data = {"incidents": list(incidents)}
    record(conversation, "incident", data, transaction=transaction, is_public=False)
    ask_for_review(conversation, transaction, "; ".join(incidents))


@dataclass(frozen=True, slots=True)
class Queue:
    """How many transactions wait for an operator, and since when the oldest of them does; None: nothing says when."""

    length: int
    since: datetime | None


def queue() -> Queue:
    """The operators' queue as it stands."""
    waiting = Event.objects.filter(transaction__review_state=ReviewState.NEEDED, data__to=ReviewState.NEEDED)
    began = waiting.filter(kind__in=("review.needed", "review.changed")).exclude(data__from=ReviewState.NEEDED)
    latest = began.order_by().values("transaction").annotate(since=Max("at"))
    return Queue(
        length=Transaction.objects.filter(review_state=ReviewState.NEEDED).count(),
        since=latest.aggregate(Min("since"))["since__min"],
    )


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The review is ``state`` now."""

    state: ReviewState


@dataclass(frozen=True, slots=True)
class NotThere:
    """There is no such transaction, or no such item of it."""


@dataclass(frozen=True, slots=True)
class ReviewMoved:
    """The review does not go from ``state`` to what was asked for; ``by`` moved it last, empty: nobody did."""

    state: ReviewState
    by: str
    note: str


@dataclass(frozen=True, slots=True)
class StillUnknown:
    """Nothing changed: while an item is unknown the customer waits, and nobody else looks."""


@database.atomic
def review(
    transaction_id: UUID, *, state: ReviewState, note: str, actor: str
) -> Reviewed | ReviewMoved | StillUnknown | NotThere:
    """Move the review of a transaction by hand; the note stays with the record, for operators alone.

    It is not closed while an item is unknown: settle the items first.
    """
    held = held_transaction(transaction_id)
    if held is None:
        return NotThere()
    conversation, transaction = held
    old = ReviewState(transaction.review_state)
    if state not in REVIEW_MOVES[old]:
        last = transaction.events.filter(kind="review.changed").order_by("-id").first()
        told = last.data if last is not None and last.data.get("to") == old else {}
        return ReviewMoved(old, by=told.get("by", ""), note=told.get("note", ""))
    if state is ReviewState.RESOLVED and transaction.has_unknown:
        return StillUnknown()
    change_review(conversation, transaction, state, note=note, actor=actor)
    return Reviewed(state)


def held_transaction(transaction_id: UUID) -> tuple[Conversation, Transaction] | None:
    """The transaction as it is under the lock of its conversation."""
    found = Transaction.objects.filter(pk=transaction_id).values_list("conversation_id", flat=True).first()
    if found is None:
        return None
    conversation = hold(found)
    return conversation, Transaction.objects.select_related("conversation").get(pk=transaction_id)


def change_review(
    conversation: Conversation, transaction: Transaction, new: ReviewState, *, note: str, actor: str
) -> None:
    """Write the new state, and who wanted it and why; the table must allow it."""
    data = {"from": transaction.review_state, "to": new, "note": clean_text(note.strip()), "by": actor}
    _set_review(transaction, new)
    record(
        conversation,
        "review.changed",
        data,
        transaction=transaction,
        actor=OPERATOR if actor else "system",
        is_public=False,
    )


def close_what_is_known_now(conversation: Conversation, transaction: Transaction) -> None:
    """Take out of the queue what was only asked for because an outcome was unknown; whatever else it holds stays."""
    asked = transaction.events.filter(kind__in=("review.needed", "review.changed")).order_by("-id").first()
    is_about_that = asked is not None and asked.data.get("why") in (NOBODY_ASKS, GIVEN_UP)
    if transaction.review_state == ReviewState.NEEDED and is_about_that and not has_open_incident(transaction):
        change_review(conversation, transaction, ReviewState.RESOLVED, note="", actor="")


def has_open_incident(transaction: Transaction) -> bool:
    """Whether an incident arose that no operator has looked at since."""
    looked = transaction.events.filter(kind="review.changed").order_by("-id").values_list("id", flat=True).first()
    return transaction.events.filter(kind="incident", id__gt=looked or 0).exists()


def _set_review(transaction: Transaction, new: ReviewState) -> None:
    """Move the review's own state; the revision stays.

    What a validator or a reconcile tool is being asked meanwhile is as true as before, and must not become stale.
    """
    if transaction.review_state == new:
        return
    check_move(ReviewState(transaction.review_state), new)
    Transaction.objects.filter(pk=transaction.pk).update(review_state=new)
    transaction.review_state = new
