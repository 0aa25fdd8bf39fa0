"""Checks the stored evidence: every chain of events, and what the rows beside it keep and show.

Reads while the product works. What an event says is compared with rows that are read after it, so that a row written
meanwhile is never taken for a forged one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any
from uuid import UUID

from django.db.models import F

from tooling.cleaning import clean_json
from transactions.core.evidence import (
    RAW_ANSWER,
    REQUEST,
    STEP,
    Entry,
    Finding,
    Wrong,
    canonical,
    check_chain,
    fingerprint,
)
from transactions.models import Attempt, Confirmation, Conversation, Event
from transactions.services.agreeing import Account, disagreements
from transactions.services.rows import entry_of

BATCH = 200
"""Conversations that are read at a time; of the rows of one only a few are in memory at once."""

SENT_BESIDE = {REQUEST: "request", RAW_ANSWER: "raw answer"}


@dataclass(slots=True)
class Tally:
    """What was read: ``older`` are the events that were written before there was a chain."""

    conversations: int = 0
    events: int = 0
    older: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """What an event of the chain says about a row beside it."""

    number: int
    kind: str
    value: Any


@dataclass(slots=True)
class Notes:
    """Everything that the events of one conversation say about rows beside the chain."""

    attempts: dict[tuple[str, int], dict[str, Note]] = field(default_factory=dict)
    """(transaction, number of the attempt) → key of the fingerprint → note."""
    steps: dict[tuple[str, int], dict[str, Note]] = field(default_factory=dict)
    """(transaction, number of the attempt) → fingerprint of what a workflow's node was asked and answered → note."""
    confirmations: dict[str, dict[str, Note]] = field(default_factory=dict)
    """confirmation → column → note."""
    begun: set[str] = field(default_factory=set)
    """Transactions that began in the chain: nothing of theirs may be missing in it."""
    account: Account = field(default_factory=Account)
    """Of the rows that show outcomes."""

    def take(self, entry: Entry) -> None:
        self.account.take(entry)
        data = entry.data
        if entry.number is None or entry.transaction is None or not isinstance(data, Mapping):
            return
        if entry.kind == "transaction.started":
            self.begun.add(entry.transaction)
        if isinstance(number := data.get("attempt"), int):
            held = {key: Note(entry.number, entry.kind, data[key]) for key in SENT_BESIDE if key in data}
            if held:
                self.attempts.setdefault((entry.transaction, number), {}).update(held)
            if isinstance(step := data.get(STEP), str):
                self.steps.setdefault((entry.transaction, number), {})[step] = Note(entry.number, entry.kind, step)
        if entry.kind in ("confirmation.opened", "confirmation.requested"):
            held = {
                key: Note(entry.number, entry.kind, data[key]) for key in ("text", "items", "digest") if key in data
            }
            self.confirmations.setdefault(str(data.get("confirmation_id")), {}).update(held)


def verify(tally: Tally, conversation_id: UUID | None = None) -> Iterator[tuple[str, Finding]]:
    """(conversation, what is wrong with one of its rows), for one conversation or for all; counts into ``tally``."""
    for batch in _batches(conversation_id):
        notes: dict[str, Notes] = {}
        accused: dict[str, set[int | None]] = {}
        for conversation, finding in _chains(batch, notes, tally):
            accused.setdefault(conversation, set()).add(finding.number)
            yield conversation, finding
        tally.conversations += len(batch)
        yield from _beside(notes, accused)
        # A chain that does not hold proves nothing of the rows that change.
        yield from disagreements({pk: seen.account for pk, seen in notes.items() if pk not in accused})


def _batches(conversation_id: UUID | None) -> Iterator[dict[UUID, tuple[int, str]]]:
    """Conversation → length and head of its chain, by id."""
    rows = Conversation.objects.order_by("pk")
    if conversation_id is not None:
        rows = rows.filter(pk=conversation_id)
    batch = _ends(rows[:BATCH])
    while batch:
        yield batch
        batch = _ends(rows.filter(pk__gt=max(batch))[:BATCH])


def _ends(rows: Any) -> dict[UUID, tuple[int, str]]:
    return {pk: (length, head) for pk, length, head in rows.values_list("pk", "chain_length", "chain_head")}


def _chains(
    batch: Mapping[UUID, tuple[int, str]], notes: dict[str, Notes], tally: Tally
) -> Iterator[tuple[str, Finding]]:
    unseen = dict(batch)
    # The ends of the chain come with the events, from one statement: what is written meanwhile fits or is not seen.
    events = (
        Event.objects.filter(conversation__in=list(batch))
        .annotate(length=F("conversation__chain_length"), head=F("conversation__chain_head"))
        .order_by("conversation_id", F("number").asc(nulls_last=True), "id")
    )
    for pk, rows in groupby(events.iterator(chunk_size=500), key=lambda event: event.conversation_id):
        unseen.pop(pk)
        seen = notes[str(pk)] = Notes()
        for finding in _chain(rows, seen, tally):
            yield str(pk), finding
    for pk, (length, head) in unseen.items():
        for finding in check_chain((), length=length, head=head):
            yield str(pk), finding


def _chain(events: Iterator[Any], notes: Notes, tally: Tally) -> Iterator[Finding]:
    """Check the events of one conversation, each of which carries the ends of its chain."""
    first = next(events)
    entries = _read(chain([first], events), notes, tally)
    yield from check_chain(entries, length=first.length, head=first.head)


def _read(events: Iterable[Event], notes: Notes, tally: Tally) -> Iterator[Entry]:
    for event in events:
        tally.events += 1
        tally.older += event.number is None
        entry = entry_of(event)
        notes.take(entry)
        yield entry


# What is kept beside the chain ------------------------------------------


def _beside(notes: Mapping[str, Notes], accused: Mapping[str, set[int | None]]) -> Iterator[tuple[str, Finding]]:
    """Attempts and confirmations that are not what the events say; events that are accused already say nothing."""
    attempts = (
        Attempt.objects.filter(transaction__conversation__in=list(notes))
        .annotate(conversation=F("transaction__conversation"))
        .order_by("pk")
    )
    for attempt in attempts.iterator(chunk_size=20):
        conversation, transaction = str(attempt.conversation), str(attempt.transaction_id)
        told = notes[conversation].attempts.pop((transaction, attempt.number), {})
        is_whole = conversation not in accused and transaction in notes[conversation].begun
        steps = notes[conversation].steps.pop((transaction, attempt.number), {})
        findings = chain(_attempt(attempt, told, is_whole=is_whole), _steps(attempt, steps, is_whole=is_whole))
        for finding in findings:
            if finding.number not in accused.get(conversation, ()):
                yield conversation, finding
    confirmations = (
        Confirmation.objects.filter(transaction__conversation__in=list(notes))
        .annotate(conversation=F("transaction__conversation"))
        .order_by("pk")
    )
    for confirmation in confirmations.iterator(chunk_size=200):
        conversation, transaction = str(confirmation.conversation), str(confirmation.transaction_id)
        told = notes[conversation].confirmations.pop(str(confirmation.pk), {})
        is_whole = conversation not in accused and transaction in notes[conversation].begun
        for finding in _confirmation(confirmation, told, is_whole=is_whole):
            if finding.number not in accused.get(conversation, ()):
                yield conversation, finding
    yield from _gone(notes, accused)


def _attempt(attempt: Attempt, told: Mapping[str, Note], *, is_whole: bool) -> Iterator[Finding]:
    name = f"attempt {attempt.number} of transaction {attempt.transaction_id}"
    for key, stored in ((REQUEST, attempt.request or None), (RAW_ANSWER, attempt.raw_answer)):
        note = told.get(key)
        if note is None:
            if stored is not None and is_whole and not _is_told_meanwhile(attempt, key):
                yield Finding(Wrong.INSERTED, None, "", f"the {SENT_BESIDE[key]} of {name} is in no event")
        elif stored is None or fingerprint(stored) != note.value:
            yield Finding(
                Wrong.CHANGED, note.number, note.kind, f"the {SENT_BESIDE[key]} of {name} is not what was recorded"
            )


def _steps(attempt: Attempt, told: Mapping[str, Note], *, is_whole: bool) -> Iterator[Finding]:
    """The nodes of a workflow; what an attempt took over from an earlier one is that one's evidence."""
    name = f"attempt {attempt.number} of transaction {attempt.transaction_id}"
    kept = {fingerprint(step): str(step.get("node")) for step in attempt.steps if "of_attempt" not in step}
    for step, node in kept.items():
        if step not in told and is_whole and not _is_step_told_meanwhile(attempt, step):
            yield Finding(Wrong.INSERTED, None, "", f"what node {node} answered to {name} is in no event")
    for step, note in told.items():
        if step not in kept:
            what = f"what a node of the workflow answered to {name} is not what was recorded"
            yield Finding(Wrong.CHANGED, note.number, note.kind, what)


def _is_step_told_meanwhile(attempt: Attempt, step: str) -> bool:
    """Whether the event was written after the events were read."""
    events = Event.objects.filter(transaction_id=attempt.transaction_id, kind="workflow.step")
    return events.filter(**{f"data__{STEP}": step}).exists()


def _is_told_meanwhile(attempt: Attempt, key: str) -> bool:
    """Whether the event was written after the events were read."""
    told = Event.objects.filter(transaction_id=attempt.transaction_id, data__attempt=attempt.number, data__has_key=key)
    return told.exists()


def _confirmation(confirmation: Confirmation, told: Mapping[str, Note], *, is_whole: bool) -> Iterator[Finding]:
    name = f"confirmation {confirmation.pk} of transaction {confirmation.transaction_id}"
    if not told and is_whole:
        events = Event.objects.filter(transaction_id=confirmation.transaction_id, kind="confirmation.opened")
        if not events.filter(data__confirmation_id=str(confirmation.pk)).exists():
            yield Finding(Wrong.INSERTED, None, "", f"{name} is in no event")
    for column, note in told.items():
        if canonical(clean_json(getattr(confirmation, column))) != canonical(note.value):
            yield Finding(Wrong.CHANGED, note.number, note.kind, f"the {column} of {name} is not what was recorded")


def _gone(notes: Mapping[str, Notes], accused: Mapping[str, set[int | None]]) -> Iterator[tuple[str, Finding]]:
    """Rows that events speak of and that are not there any more."""
    for conversation, left in notes.items():
        attempts = left.steps | left.attempts
        rows = [(f"attempt {number} of transaction {pk}", told) for (pk, number), told in attempts.items()]
        rows += [(f"confirmation {pk}", told) for pk, told in left.confirmations.items()]
        for name, told in rows:
            note = next(iter(told.values()), None)
            if note is not None and note.number not in accused.get(conversation, ()):
                yield conversation, Finding(Wrong.MISSING, note.number, note.kind, f"{name} is missing")
