"""Whether the rows that show an outcome are what the chained events say: transactions, items, confirmations, turns.

They change while a transaction lives, and they are read after its events. So what looks wrong is read once more while
nothing of its conversation moves, before anybody is accused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.transaction import atomic

from tooling.cleaning import clean_text
from transactions.core.evidence import Entry, Finding, Wrong
from transactions.core.records import Told, contradictions, malformed
from transactions.models import Confirmation, Event, Item, Transaction, Turn
from transactions.services.rows import entry_of, hold

OWN = (
    "id",
    "conversation_id",
    "parent_id",
    "release",
    "tool",
    "status",
    "multi_item_status",
    "reason_code",
    "reason",
    "review_state",
    "arguments",
    "pre_validation",
)
OF_ITEM = ("transaction_id", "key", "label", "status", "reason", "protocol", "unconfirmed")
OF_CONFIRMATION = ("transaction_id", "id", "status", "answered_by")


@dataclass(frozen=True, slots=True)
class Message:
    """What the user sent, as its event has it."""

    number: int
    text: str
    client_message_id: str


@dataclass(slots=True)
class Account:
    """What the events of one conversation say of the rows that show outcomes."""

    transactions: dict[str, Told] = field(default_factory=dict)
    messages: dict[str, Message] = field(default_factory=dict)
    """turn → its message."""
    is_whole: bool = True
    """Nothing of the conversation is older than the chain."""

    def take(self, entry: Entry) -> None:
        if entry.number is None:
            self.is_whole = False
            return
        data = entry.data if isinstance(entry.data, Mapping) else {}
        if entry.transaction is not None:
            self.transactions.setdefault(entry.transaction, Told()).take(entry.number, entry.kind, data)
        if entry.kind == "user.message" and entry.turn is not None:
            text, key = str(data.get("text")), str(data.get("client_message_id"))
            self.messages[entry.turn] = Message(entry.number, text, key)


def disagreements(accounts: Mapping[str, Account]) -> Iterator[tuple[str, Finding]]:
    """(conversation, what its rows say against its events), for conversations whose chain is whole."""
    suspected = {conversation for conversation, _ in _compared(accounts)}
    for conversation in sorted(suspected):
        yield from _compared_at_rest(UUID(conversation))


@atomic
def _compared_at_rest(conversation_id: UUID) -> list[tuple[str, Finding]]:
    """What is wrong with one conversation, of which nothing moves meanwhile."""
    hold(conversation_id)
    account = Account()
    events = Event.objects.filter(conversation=conversation_id).order_by("number")
    for event in events.iterator(chunk_size=500):
        account.take(entry_of(event))
    return list(_compared({str(conversation_id): account}))


def _compared(accounts: Mapping[str, Account]) -> Iterator[tuple[str, Finding]]:
    items = _grouped(Item.objects.filter(transaction__conversation__in=list(accounts)), OF_ITEM)
    asked = _grouped(Confirmation.objects.filter(transaction__conversation__in=list(accounts)), OF_CONFIRMATION)
    rows = Transaction.objects.filter(conversation__in=list(accounts)).order_by("created_at", "pk").values(*OWN)
    for row in rows.iterator(chunk_size=200):
        conversation, pk = str(row["conversation_id"]), row["id"]
        parent = row["parent_id"] and str(row["parent_id"])
        shown = row | {"parent_id": parent, "items": items.get(pk, []), "confirmations": asked.get(pk, [])}
        told = accounts[conversation].transactions.get(str(pk), Told())
        for found in contradictions(told, shown):
            yield conversation, found.finding
        for detail in malformed(str(pk), arguments=row["arguments"], pre_validation=row["pre_validation"]):
            # With a fingerprint in the chain, it is found above.
            if not told.seals:
                yield conversation, Finding(Wrong.CHANGED, None, "", detail)
    yield from _turns(accounts)


def _grouped(rows: Any, columns: Collection[str]) -> dict[UUID, list[dict[str, Any]]]:
    """transaction → its rows."""
    found: dict[UUID, list[dict[str, Any]]] = {}
    for row in rows.order_by("pk").values(*columns).iterator(chunk_size=500):
        found.setdefault(row["transaction_id"], []).append(row)
    return found


def _turns(accounts: Mapping[str, Account]) -> Iterator[tuple[str, Finding]]:
    rows = Turn.objects.filter(conversation__in=list(accounts)).order_by("conversation", "number")
    columns = ("conversation_id", "id", "number", "text", "client_message_id")
    for row in rows.values(*columns).iterator(chunk_size=500):
        conversation = str(row["conversation_id"])
        account = accounts[conversation]
        name = f"transactions_turn {row['number']} ({row['id']})"
        message = account.messages.get(str(row["id"]))
        if message is not None:
            yield from ((conversation, finding) for finding in _turn(name, row, message))
        elif row["text"] and account.is_whole:
            yield conversation, Finding(Wrong.INSERTED, None, "", f"{name}: text is in no event")


def _turn(name: str, row: Mapping[str, Any], message: Message) -> Iterable[Finding]:
    for column, said in (("text", message.text), ("client_message_id", message.client_message_id)):
        if clean_text(row[column]) != said:
            detail = f"{name}: {column} is not what event {message.number} (user.message) says"
            yield Finding(Wrong.CHANGED, message.number, "user.message", detail)
