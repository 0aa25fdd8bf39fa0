"""Setting a request aside for another one, and offering it again (runtime.md §6.6)."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from transactions.core import parking
from transactions.core.statuses import ConfirmationStatus, ItemStatus, ReasonCode, Rule, Status
from transactions.models import Conversation, Event, Transaction, Turn
from transactions.services.calls import Rules, items_at_stake, rules_of, seconds_to_live
from transactions.services.rows import database_now, move
from transactions.services.telling import say


def parked_in(conversation_id: UUID) -> Transaction | None:
    """What was set aside last in the conversation and can still be taken up."""
    waiting = Transaction.objects.filter(
        conversation_id=conversation_id, status=Status.PARKED, expires_at__gt=database_now()
    )
    return waiting.order_by("-created_at").first()


def park(conversation: Conversation, transaction: Transaction, rules: Rules, *, turn: Turn) -> None:
    """AWAITING_CONFIRMATION → PARKED, for as long as a request of its policy stays open; its confirmation is dead."""
    transaction.confirmations.filter(status=ConfirmationStatus.OPEN).update(status=ConfirmationStatus.REPLACED)
    move(
        conversation,
        transaction,
        Status.PARKED,
        rule=Rule.SHIFT_PARKED,
        turn=turn,
        actor="user",
        reason_code=ReasonCode.INTENT_SHIFT,
        expires_at=database_now() + timedelta(seconds=seconds_to_live(rules)),
    )
    text = parking.set_aside(_in_words(conversation, transaction, rules), conversation.locale)
    say(conversation, text, rule=Rule.SHIFT_PARKED, turn=turn, transaction=transaction)


def offer(conversation: Conversation) -> None:
    """Offer what was set aside last, if nothing occupies the conversation now."""
    transaction = parked_in(conversation.pk)
    if transaction is None or Transaction.objects.occupying().filter(conversation=conversation).exists():
        return
    text = parking.offer(_in_words(conversation, transaction, rules_of(transaction)), conversation.locale)
    say(conversation, text, rule=Rule.SHIFT_PARKED, transaction=transaction)


def offered_at(transaction: Transaction) -> int | None:
    """The seq of the offer to go on with ``transaction``, if it is the last thing that the user was told."""
    told = Event.objects.filter(conversation_id=transaction.conversation_id).for_the_user()
    last = told.exclude(kind="user.message").order_by("-seq").first()
    if last is None or last.rule != Rule.SHIFT_PARKED or last.transaction_id != transaction.pk:
        return None
    return last.seq


def _in_words(conversation: Conversation, transaction: Transaction, rules: Rules) -> str:
    labels = [item.label for item in items_at_stake(transaction) if item.status == ItemStatus.PENDING]
    return parking.request_in_words(rules.tool.description.in_locale(conversation.locale), labels)
