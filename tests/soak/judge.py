"""The judge: what the MCP server did, against what the product says and what clients saw. Pure, and never lenient."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass
from enum import StrEnum

from tests.soak.evidence import Conversation, Effect, Evidence, Transaction, View

FINAL = {"SUCCESS", "PARTIAL_SUCCESS", "FAILED", "REFUSED", "CANCELLED", "ABANDONED", "EXPIRED"}
WAITS_FOR_THE_USER = {"COLLECTING_PARAMETERS", "AWAITING_CONFIRMATION", "PARKED"}
SETTLED_ITEMS = {"SUCCEEDED", "FAILED", "INELIGIBLE", "EXCLUDED", "NOT_EXECUTED"}
CLAIMS_NOTHING_HAPPENED = {"FAILED", "NOT_EXECUTED", "INELIGIBLE", "EXCLUDED"}


class Crime(StrEnum):
    DUPLICATE = "duplicate"
    """An item was changed twice, or the tool was called more often than allowed."""
    LOST = "lost item"
    """An item that was confirmed is not accounted for."""
    UNCONFIRMED = "unconfirmed effect"
    """Something happened that nobody said yes to."""
    STUCK = "non-terminal"
    """Something still waits for the system."""
    UNKNOWN_AS_FAILED = "unknown shown as failed"
    """The product says of an item that happened that it did not, or told the user so."""
    INVENTED = "success without an effect"
    STREAM = "events out of order"
    """The numbers of a conversation have a gap, or a client saw something else than what is stored."""
    UNKEPT = "acknowledged and not stored"
    TAMPERED = "evidence not as written"


@dataclass(frozen=True, slots=True)
class Violation:
    crime: Crime
    about: str
    """The transaction, or where there is none the conversation."""
    detail: str

    def __str__(self) -> str:
        return f"{self.crime}: {self.about}: {self.detail}"


def judge(evidence: Evidence, *, actions: Set[str]) -> list[Violation]:
    """Every violation; ``actions`` are the tools that change something."""
    effects: dict[str, list[Effect]] = {}
    for effect in evidence.effects:
        effects.setdefault(effect.transaction, []).append(effect)
    known = {transaction.id: transaction for transaction in evidence.transactions}
    conversations = {conversation.id: conversation for conversation in evidence.conversations}
    found = [*_duplicates(evidence, known, actions)]
    for transaction_id, theirs in effects.items():
        found += _unconfirmed(known.get(transaction_id), transaction_id, theirs)
    for transaction in evidence.transactions:
        happened = frozenset(effect.item for effect in effects.get(transaction.id, ()))
        found += _shown(transaction, happened)
        found += _lost(transaction)
    for view in evidence.views:
        found += _view(view, conversations.get(view.conversation))
    found += [violation for conversation in evidence.conversations for violation in _numbers(conversation)]
    found += [Violation(Crime.TAMPERED, "chain of evidence", line) for line in evidence.broken_chains]
    return [*found, *stuck(evidence)]


def stuck(evidence: Evidence) -> list[Violation]:
    """What still waits for the system: neither final, nor the user's turn, nor in the operators' queue."""
    found = [
        Violation(Crime.STUCK, transaction.id, f"is {transaction.status}, review {transaction.review_state}")
        for transaction in evidence.transactions
        if transaction.status not in FINAL | WAITS_FOR_THE_USER and not transaction.awaits_operators
    ]
    return found + [
        Violation(Crime.STUCK, conversation.id, f"{conversation.unhandled} turns were never handled")
        for conversation in evidence.conversations
        if conversation.unhandled
    ]


def _duplicates(evidence: Evidence, known: dict[str, Transaction], actions: Set[str]) -> Iterator[Violation]:
    changed = Counter((effect.customer, effect.item) for effect in evidence.effects)
    last = {(effect.customer, effect.item): effect.transaction for effect in evidence.effects}
    for key, count in changed.items():
        if count > 1:
            yield Violation(Crime.DUPLICATE, last[key], f"{key[1]} of {key[0]} was changed {count} times")
    calls = Counter(call.transaction for call in evidence.calls if call.tool in actions)
    for transaction_id, count in calls.items():
        transaction = known.get(transaction_id)
        allowed = 1 + transaction.resends if transaction else 0
        if count > allowed:
            yield Violation(Crime.DUPLICATE, transaction_id, f"called {count} times, {allowed} are allowed")


def _unconfirmed(transaction: Transaction | None, transaction_id: str, effects: list[Effect]) -> Iterator[Violation]:
    answered = [one for one in transaction.confirmations if one.status == "confirmed"] if transaction else []
    for effect in effects:
        if not any(one.digest == effect.digest and effect.item in one.eligible for one in answered):
            yield Violation(Crime.UNCONFIRMED, transaction_id, f"{effect.item}, digest {effect.digest[:20]}")


def _shown(transaction: Transaction, happened: frozenset[str]) -> Iterator[Violation]:
    """What the product's rows, and what it told the user, say of the items that happened, and of the others."""
    for item in sorted(happened):
        status = transaction.items.get(item)
        if status is None:
            yield Violation(Crime.LOST, transaction.id, f"{item} happened and is not shown at all")
        elif status in CLAIMS_NOTHING_HAPPENED:
            yield Violation(Crime.UNKNOWN_AS_FAILED, transaction.id, f"{item} happened and is {status}")
        for told in transaction.told:
            if told.items.get(item) in CLAIMS_NOTHING_HAPPENED:
                detail = f"{item} happened and the user was told {told.items[item]} ({told.kind})"
                yield Violation(Crime.UNKNOWN_AS_FAILED, transaction.id, detail)
    for item, status in transaction.items.items():
        if status == "SUCCEEDED" and item not in happened:
            yield Violation(Crime.INVENTED, transaction.id, f"{item} is SUCCEEDED")
    for told in transaction.told:
        for item, status in told.items.items():
            if status == "SUCCEEDED" and item not in happened:
                yield Violation(Crime.INVENTED, transaction.id, f"the user was told that {item} SUCCEEDED")


def _lost(transaction: Transaction) -> Iterator[Violation]:
    if not transaction.is_confirmed:
        return
    for item, status in transaction.items.items():
        is_queued = status == "UNKNOWN" and transaction.awaits_operators
        if status not in SETTLED_ITEMS and not is_queued:
            yield Violation(
                Crime.LOST, transaction.id, f"{item} is {status} of a transaction that is {transaction.status}"
            )
    confirmed = (one.eligible for one in transaction.confirmations if one.status == "confirmed")
    for item in sorted(frozenset().union(*confirmed) - transaction.items.keys()):
        yield Violation(Crime.LOST, transaction.id, f"{item} was confirmed and is not in the ledger of items")
    if transaction.status in FINAL | {"VERIFYING"} and transaction.status not in {
        one.status for one in transaction.told
    }:
        yield Violation(Crime.LOST, transaction.id, f"is {transaction.status} and the user was never told so")


def _numbers(conversation: Conversation) -> Iterator[Violation]:
    numbers = [seq for seq, _ in conversation.events]
    if numbers != list(range(1, conversation.last_seq + 1)):
        yield Violation(Crime.STREAM, conversation.id, f"stored are {numbers}, the last is {conversation.last_seq}")


def _view(view: View, conversation: Conversation | None) -> Iterator[Violation]:
    if conversation is None:
        yield Violation(Crime.UNKEPT, view.conversation, "a client was in a conversation that does not exist")
        return
    for trouble in view.troubles:
        yield Violation(Crime.STREAM, view.conversation, f"a client saw: {trouble}")
    if list(view.seen) != list(conversation.events[: len(view.seen)]):
        yield Violation(Crime.STREAM, view.conversation, "a client saw other events than those that are stored")
    for message_id in sorted(view.acknowledged - conversation.messages):
        yield Violation(Crime.UNKEPT, view.conversation, f"message {message_id}")
