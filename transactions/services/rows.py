"""The two primitives of every verb: move a row under guard, and record what happened (runtime.md §2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F

from tooling.cleaning import clean_json
from transactions import outbox
from transactions.clock import database_now as database_now
from transactions.core import evidence, records
from transactions.core.errors import StaleTransaction
from transactions.core.statuses import Rule, Status, check_move, is_final
from transactions.models import Conversation, Event, Transaction, TransactionQuerySet, Turn


def hold(conversation_id: UUID) -> Conversation:
    """The conversation's row, locked to the end of the commit.

    Every verb takes this lock first, so the verbs of one conversation happen one after the other and cannot deadlock.
    """
    if connection.features.has_select_for_update:
        return Conversation.objects.select_for_update(of=("self",)).select_related("channel").get(pk=conversation_id)
    return Conversation.objects.select_related("channel").get(pk=conversation_id)


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
    """Append one event to the conversation, whose row must be held; a public one gets the next seq and a hint.

    Every event is bound to the one before it and is never changed afterwards.
    """
    event = Event(
        conversation=conversation,
        transaction=transaction,
        turn=turn,
        seq=conversation.last_seq + 1 if is_public else None,
        number=conversation.chain_length + 1,
        kind=kind,
        rule=str(rule),
        actor=actor,
        data=clean_json(dict(data)),
        model_calls=list(model_calls),
        at=database_now(),
    )
    event.hash = evidence.link(conversation.chain_head, entry_of(event).content())
    _lengthen(conversation, event)
    event.save(force_insert=True)
    if is_public:
        outbox.push(conversation.pk)
    return event


def _lengthen(conversation: Conversation, event: Event) -> None:
    """Write the new ends of the conversation's two sequences: of what the user sees, and of the evidence."""
    seq = conversation.last_seq if event.seq is None else event.seq
    ends = {"last_seq": seq, "chain_length": event.number, "chain_head": event.hash}
    as_read = Conversation.objects.filter(pk=conversation.pk, chain_length=conversation.chain_length)
    if not as_read.update(**ends):
        raise StaleTransaction(f"conversation {conversation.pk} went on since it was read; hold it and decide again")
    for name, value in ends.items():
        setattr(conversation, name, value)


def entry_of(event: Event) -> evidence.Entry:
    """The event as its chain of evidence sees it."""
    return evidence.Entry(
        id=event.pk or 0,
        conversation=str(event.conversation_id),
        number=event.number,
        hash=event.hash,
        seq=event.seq,
        kind=event.kind,
        rule=event.rule,
        actor=event.actor,
        transaction=str(event.transaction_id) if event.transaction_id else None,
        turn=str(event.turn_id) if event.turn_id else None,
        data=event.data,
        model_calls=event.model_calls,
        at=event.at,
    )


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


def sealed(transaction: Transaction) -> dict[str, str]:
    """For the data of an operator-only event: the fingerprints of what no event holds in full, as written just now."""
    return records.seal(
        arguments=transaction.arguments, pre_validation=transaction.pre_validation, reason=transaction.reason
    )


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
        {"from": old, "to": new, "reason_code": transaction.reason_code, **sealed(transaction)},
        transaction=transaction,
        turn=turn,
        rule=rule,
        actor=actor,
        is_public=False,
    )
