"""Trying failed items again: a child transaction with only those, and a confirmation of its own (runtime.md §9.5)."""

from __future__ import annotations

from uuid import UUID

from django.db.transaction import atomic

from transactions.core.statuses import Rule
from transactions.models import Conversation, Transaction, Turn
from transactions.services import ending
from transactions.services.advancing import Opening, open_transaction
from transactions.services.lineage import LeftOut, RetryPlan, RetryRefused, newest_to_retry, plan
from transactions.services.rows import hold, record, sealed

__all__ = ["LeftOut", "RetryPlan", "RetryRefused", "newest_to_retry", "open_child", "plan", "retry"]


def retry(transaction_id: UUID, *, by: str) -> Transaction | RetryRefused:
    """Open the child that an operator asks for, in one commit; refused, nothing changes. ``by``: who it is.

    Raises Transaction.DoesNotExist. Time is kept: what has run out does not occupy the conversation any more.
    """
    conversation_id = Transaction.objects.values_list("conversation_id", flat=True).get(pk=transaction_id)
    ending.expire_if_due(conversation_id)
    with atomic():
        conversation = hold(conversation_id)
        return open_child(conversation, Transaction.objects.get(pk=transaction_id), actor="operator", by=by)


def open_child(
    conversation: Conversation,
    parent: Transaction,
    *,
    actor: str,
    by: str = "",
    turn: Turn | None = None,
    rule: Rule | str = "",
) -> Transaction | RetryRefused:
    """The child that tries the failed items of ``parent`` again, or why there may be none now.

    The conversation must be held, so that whoever asks second finds the child of the first.
    """
    found = plan(parent)
    if isinstance(found, RetryRefused):
        return found
    opening = Opening(
        intent=parent.intent,
        tool=parent.tool,
        release=found.release,
        rule=rule,
        parent=parent,
        arguments=found.arguments,
        keep_items=found.keep_items,
    )
    child = open_transaction(conversation, opening, found.rules, turn=turn, actor=actor)
    asked = {"parent_id": str(parent.pk), "by": by, "items": [item.label for item in found.again]}
    data = {**asked, **sealed(child)}
    record(conversation, "transaction.retried", data, transaction=child, turn=turn, actor=actor, is_public=False)
    return child
