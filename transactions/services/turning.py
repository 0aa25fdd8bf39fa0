"""One turn after the other: who may handle a conversation's turns, and marking them done (runtime.md §6.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import F, Q
from django.db.transaction import atomic

from transactions.core import reply
from transactions.core.errors import LeaseLost
from transactions.core.statuses import BUSY, Rule
from transactions.models import Conversation, Transaction, Turn, TurnQuerySet
from transactions.services.rows import database_now, hold, record, sealed
from transactions.services.telling import say

TRY_LIMIT = 3


@dataclass(frozen=True, slots=True)
class Handling:
    """The right to handle the turns of one conversation until the lease runs out."""

    conversation_id: UUID
    lease: UUID


def claim_turns(conversation_id: UUID) -> Handling | None:
    """Take the conversation's turns; None where somebody else handles them."""
    now, lease = database_now(), uuid4()
    rows = Conversation.objects.filter(pk=conversation_id)
    free = rows.filter(Q(turns_leased_until=None) | Q(turns_leased_until__lte=now))
    until = now + timedelta(seconds=settings.LEASE_SECONDS)
    return Handling(conversation_id, lease) if free.update(turns_lease=lease, turns_leased_until=until) else None


def renew(handling: Handling) -> None:
    """Keep the lease while a model is asked."""
    until = database_now() + timedelta(seconds=settings.LEASE_SECONDS)
    Conversation.objects.filter(pk=handling.conversation_id, turns_lease=handling.lease).update(
        turns_leased_until=until
    )


def release_turns(handling: Handling) -> None:
    held = Conversation.objects.filter(pk=handling.conversation_id, turns_lease=handling.lease)
    held.update(turns_lease=None, turns_leased_until=None)


def occupying(conversation_id: UUID) -> Transaction | None:
    """What occupies the conversation now."""
    return Transaction.objects.occupying().filter(conversation_id=conversation_id).first()


def _to_handle(conversation_id: UUID) -> TurnQuerySet:
    """The turns that can be handled now: behind a busy transaction, only those that do not wait yet."""
    waiting = Turn.objects.filter(conversation_id=conversation_id).waiting()
    transaction = occupying(conversation_id)
    is_busy = transaction is not None and transaction.status in BUSY
    return waiting.filter(queued=False) if is_busy else waiting


def can_go_on(conversation_id: UUID) -> bool:
    return _to_handle(conversation_id).exists()


def next_turn(handling: Handling) -> Turn | None:
    """The oldest turn that can be handled now; its tries are counted."""
    turn = _to_handle(handling.conversation_id).first()
    if turn is not None:
        Turn.objects.filter(pk=turn.pk).update(tries=F("tries") + 1)
        turn.tries += 1
    return turn


def give_back(turn: Turn) -> None:
    """Another thread goes on with ``turn``: having looked at it is not a try."""
    Turn.objects.filter(pk=turn.pk, tries__gt=0).update(tries=F("tries") - 1)


def hold_for(handling: Handling, turn: Turn) -> Conversation:
    """The conversation, locked, if the turn is still ours and unhandled; else LeaseLost."""
    conversation = hold(handling.conversation_id)
    is_open = Turn.objects.filter(pk=turn.pk, handled_at=None).exists()
    if conversation.turns_lease != handling.lease or not is_open:
        raise LeaseLost(f"{turn} is handled by somebody else")
    return conversation


def finish_turn(
    conversation: Conversation,
    turn: Turn,
    rule: Rule,
    *,
    transaction: Transaction | None = None,
    evidence: Mapping[str, Any] | None = None,
    model_calls: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Mark the turn handled by ``rule`` and keep what was read, by which profile, as evidence (runtime.md §5.8)."""
    Turn.objects.filter(pk=turn.pk).update(handled_at=database_now(), rule=rule)
    # Read anew: what the turn did to it may have been done by another copy of the row.
    seals = sealed(Transaction.objects.get(pk=transaction.pk)) if transaction is not None else {}
    record(
        conversation,
        "turn.handled",
        {**(evidence or {}), **seals},
        transaction=transaction,
        turn=turn,
        rule=rule,
        is_public=False,
        model_calls=model_calls,
    )


def queue(conversation: Conversation, turn: Turn, transaction: Transaction) -> None:
    """Let the turn wait until the state is left, and say so (runtime.md §6.7)."""
    Turn.objects.filter(pk=turn.pk).update(queued=True, tries=0, rule=Rule.BUSY_QUEUED)
    data = {"client_message_id": turn.client_message_id, "text": reply.still_working(conversation.locale)}
    record(conversation, "turn.queued", data, transaction=transaction, turn=turn, rule=Rule.BUSY_QUEUED)


@atomic
def give_up(handling: Handling, turn: Turn) -> None:
    """A turn that failed too often is answered honestly instead of being tried for ever."""
    conversation = hold_for(handling, turn)
    say(conversation, reply.say_again(conversation.locale), rule=Rule.MODEL_UNAVAILABLE, turn=turn)
    finish_turn(conversation, turn, Rule.MODEL_UNAVAILABLE, evidence={"given_up": True})
