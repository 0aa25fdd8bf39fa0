"""Taking up what was set aside, or letting it go for good (runtime.md §6.6)."""

from __future__ import annotations

from datetime import timedelta

from transactions.core.statuses import ReasonCode, Rule, Status
from transactions.models import Conversation, Transaction, Turn
from transactions.services import advancing, ending
from transactions.services.calls import rules_of, seconds_to_live
from transactions.services.rows import database_now, move


def resume(conversation: Conversation, transaction: Transaction, *, rule: Rule, turn: Turn) -> None:
    """PARKED → validated afresh and confirmed anew: an old yes or an old check never counts."""
    rules = rules_of(transaction)
    move(
        conversation,
        transaction,
        Status.COLLECTING_PARAMETERS,
        rule=rule,
        turn=turn,
        actor="user",
        reason_code="",
        expires_at=database_now() + timedelta(seconds=seconds_to_live(rules)),
        warned_at=None,
    )
    advancing.advance(conversation, transaction, rules, turn=turn, rule=rule)


def let_go(conversation: Conversation, transaction: Transaction, *, rule: Rule, turn: Turn) -> None:
    """PARKED → ABANDONED, because the user does not want to go on with it."""
    ending.end(
        conversation,
        transaction,
        Status.ABANDONED,
        reason_code=ReasonCode.USER_ABANDONED,
        rule=rule,
        turn=turn,
        actor="user",
    )
