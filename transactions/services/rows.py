"""The two primitives of every verb: move a row under guard, and record what happened (runtime.md §2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F

from tooling.cleaning import clean_json
from transactions import outbox
from transactions.core.errors import StaleTransaction
from transactions.core.statuses import Rule, Status, check_move, is_final
from transactions.models import Conversation, Event, Transaction, TransactionQuerySet, Turn


def database_now() -> datetime:
    """The time of the database: the only clock of the runtime (runtime.md §9.6)."""
    is_postgres = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT clock_timestamp()" if is_postgres else "SELECT strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')"
        )
        (now,) = cursor.fetchone()
    return now if isinstance(now, datetime) else datetime.fromisoformat(now)


def hold(conversation_id: UUID) -> Conversation:
    """The conversation's row, locked to the end of the commit.

    Every verb takes this lock first, so the verbs of one conversation happen one after the other and cannot deadlock.
    """
    if connection.features.has_select_for_update:
        return Conversation.objects.select_for_update(of=("self",)).select_related("channel").get(pk=conversation_id)
    return Conversation.objects.select_related("channel").get(pk=conversation_id)


def next_seq(conversation: Conversation) -> int:
    """The next number of the conversation's gap-free event sequence; the row must be held."""
    conversation.last_seq += 1
    Conversation.objects.filter(pk=conversation.pk).update(last_seq=conversation.last_seq)
    return conversation.last_seq


def record(
    conversation: Conversation,
    kind: str,
    data: Mapping[str, Any],
    *,
    transaction: Transaction | None = None,
    turn: Turn | None = None,
    rule: Rule | str = "",
    actor: str = "system",
    is_public: bool = True,
    model_calls: Sequence[Mapping[str, Any]] = (),
) -> Event:
    """Append one event; a public one gets the next seq and a hint to the sockets."""
    event = Event.objects.create(
        conversation=conversation,
        transaction=transaction,
        turn=turn,
        seq=next_seq(conversation) if is_public else None,
        kind=kind,
        rule=str(rule),
        actor=actor,
        data=clean_json(dict(data)),
        model_calls=list(model_calls),
        at=database_now(),
    )
    if is_public:
        outbox.push(conversation.pk)
    return event


def _as_read(transaction: Transaction) -> TransactionQuerySet:
    """The row, if it still stands as it was read."""
    return Transaction.objects.filter(pk=transaction.pk, status=transaction.status, revision=transaction.revision)


def _stale(transaction: Transaction) -> StaleTransaction:
    return StaleTransaction(f"{transaction} is no longer {transaction.status}; reload and decide again")


def check_unmoved(transaction: Transaction) -> None:
    """Raise StaleTransaction if the row moved since it was read; changes nothing."""
    if not _as_read(transaction).exists():
        raise _stale(transaction)


def change(transaction: Transaction, **fields: Any) -> None:
    """Write ``fields`` under the guard of status and revision, and raise the revision; or raise StaleTransaction."""
    if not _as_read(transaction).update(revision=F("revision") + 1, **fields):
        raise _stale(transaction)
    transaction.revision += 1
    for name, value in fields.items():
        setattr(transaction, name, value)


def move(
    conversation: Conversation,
    transaction: Transaction,
    new: Status,
    *,
    rule: Rule | str = "",
    turn: Turn | None = None,
    actor: str = "system",
    **fields: Any,
) -> Event:
    """Move ``transaction`` to ``new`` and record why, or raise StaleTransaction (runtime.md §2)."""
    old = Status(transaction.status)
    check_move(old, new)
    if is_final(new):
        fields["finished_at"] = database_now()
    change(transaction, status=new, lease=None, leased_until=None, claims=0, **fields)
    return record(
        conversation,
        "transaction.moved",
        {"from": old, "to": new, "reason_code": transaction.reason_code},
        transaction=transaction,
        turn=turn,
        rule=rule,
        actor=actor,
        is_public=False,
    )
