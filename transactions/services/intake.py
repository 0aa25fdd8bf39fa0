"""Storing what the user sent, before anything is done about it (contracts.md §2, runtime.md §6.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal
from uuid import UUID

from django.db.transaction import atomic, on_commit

from transactions import failpoints, outbox
from transactions.core.confirmation import Invalid, Plain, Subset, choose
from transactions.core.errors import ConfirmationClosed, InvalidItems
from transactions.core.retrying import Refusal
from transactions.core.statuses import ConfirmationStatus, Rule, Status
from transactions.models import Confirmation, Conversation, Transaction, Turn
from transactions.services import amending, confirming, ending, retrying
from transactions.services.retrying import RetryRefused
from transactions.services.rows import database_now, hold, record


@dataclass(frozen=True, slots=True)
class Received:
    """``seq``: of the user's event, or the last one before a button; ``duplicate``: it had been stored already."""

    seq: int
    duplicate: bool


@atomic
def receive_message(conversation_id: UUID, *, client_message_id: str, text: str, seen_seq: int | None) -> Received:
    """Store a text once per client message id, and have it handled after the commit."""
    conversation = hold(conversation_id)
    if known := _known(conversation, client_message_id):
        return known
    turn = _store(conversation, client_message_id, seq=conversation.last_seq + 1, text=text, seen_seq=seen_seq)
    data = {"text": text, "client_message_id": client_message_id}
    record(conversation, "user.message", data, actor="user", turn=turn)
    on_commit(partial(failpoints.hit, "message_stored"))
    outbox.wake("turns", conversation.pk)
    return Received(seq=turn.seq, duplicate=False)


def receive_answer(
    conversation_id: UUID,
    *,
    client_message_id: str,
    confirmation_id: str,
    decision: Literal["confirm", "reject"],
    item_keys: Sequence[str] | None,
) -> Received:
    """Store and apply a button's answer in one commit.

    Raises ConfirmationClosed for a confirmation that is dead or not of this conversation, InvalidItems for
    ``item_keys`` that are empty, unknown or ineligible; then nothing is stored, except that time is kept: a
    confirmation that has run out ends its transaction as EXPIRED.
    """
    ending.expire_if_due(conversation_id)
    with atomic():
        conversation = hold(conversation_id)
        if known := _known(conversation, client_message_id):
            return known
        confirmation = _open_confirmation(conversation, confirmation_id)
        answer = {"confirmation_id": confirmation_id, "decision": decision, "item_keys": item_keys}
        turn = _store(conversation, client_message_id, seq=conversation.last_seq, answer=answer)
        _apply(conversation, confirmation, turn, decision=decision, item_keys=item_keys)
        Turn.objects.filter(pk=turn.pk).update(handled_at=database_now(), rule=Rule.CONFIRMATION_BUTTON)
        outbox.wake("turns", conversation.pk)
        return Received(seq=turn.seq, duplicate=False)


def receive_retry(conversation_id: UUID, *, client_message_id: str, transaction_id: str) -> Received | RetryRefused:
    """Store and apply the button "try again what failed" in one commit; refused, nothing is stored (runtime.md §9.5).

    An unknown id and one of another conversation are answered alike.
    """
    ending.expire_if_due(conversation_id)
    with atomic():
        conversation = hold(conversation_id)
        if known := _known(conversation, client_message_id):
            return known
        parent = _of_conversation(conversation, transaction_id)
        planned = retrying.plan(parent) if parent else RetryRefused(Refusal.NOTHING_FAILED)
        if isinstance(planned, RetryRefused):
            return planned
        parent = planned.transaction
        turn = _store(conversation, client_message_id, seq=conversation.last_seq, answer={"retry": str(parent.pk)})
        retrying.open_child(conversation, parent, actor="user", turn=turn, rule=Rule.IDLE_KEYWORD)
        Turn.objects.filter(pk=turn.pk).update(handled_at=database_now(), rule=Rule.IDLE_KEYWORD)
        return Received(seq=turn.seq, duplicate=False)


def _of_conversation(conversation: Conversation, transaction_id: str) -> Transaction | None:
    try:
        wanted = UUID(transaction_id)
    except ValueError:
        return None
    return conversation.transactions.filter(pk=wanted).first()


def _apply(
    conversation: Conversation,
    confirmation: Confirmation,
    turn: Turn,
    *,
    decision: Literal["confirm", "reject"],
    item_keys: Sequence[str] | None,
) -> None:
    if decision == "reject":
        confirming.reject(conversation, confirmation, rule=Rule.CONFIRMATION_BUTTON, by="button", turn=turn)
        return
    match choose(item_keys, confirmation.items):
        case Invalid(reason=reason):
            raise InvalidItems(reason)
        case Plain():
            confirming.confirm(conversation, confirmation, rule=Rule.CONFIRMATION_BUTTON, by="button", turn=turn)
        case Subset(keep=keep):
            amending.keep_only(conversation, confirmation, keep, rule=Rule.CONFIRMATION_BUTTON, turn=turn)


def _known(conversation: Conversation, client_message_id: str) -> Received | None:
    turn = Turn.objects.filter(conversation=conversation, client_message_id=client_message_id).first()
    return Received(seq=turn.seq, duplicate=True) if turn else None


def _store(
    conversation: Conversation,
    client_message_id: str,
    *,
    seq: int,
    text: str = "",
    answer: Mapping[str, object] | None = None,
    seen_seq: int | None = None,
) -> Turn:
    return Turn.objects.create(
        conversation=conversation,
        number=Turn.objects.filter(conversation=conversation).count() + 1,
        client_message_id=client_message_id,
        text=text,
        answer=answer,
        seq=seq,
        seen_seq=seen_seq,
    )


def _open_confirmation(conversation: Conversation, confirmation_id: str) -> Confirmation:
    """The open confirmation with this id; unknown ids and those of other conversations are answered alike."""
    closed = ConfirmationClosed("this confirmation is no longer open; answer the newest one")
    try:
        wanted = UUID(confirmation_id)
    except ValueError as error:
        raise closed from error
    confirmation = (
        Confirmation.objects.select_related("transaction")
        .filter(
            pk=wanted,
            transaction__conversation=conversation,
            transaction__status=Status.AWAITING_CONFIRMATION,
            status=ConfirmationStatus.OPEN,
        )
        .first()
    )
    if confirmation is None:
        raise closed
    return confirmation
