"""The chain of evidence: every event of a conversation is bound to the one before it, so that no change goes unseen.

An event's hash covers its content and the hash before it. Whoever changes, deletes, renumbers or slips in a row breaks
the chain at that row; who rewrites every hash after it as well is found only by what was kept elsewhere, such as a
signed bundle.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

START = ""
"""What stands before the first event of a chain."""

REQUEST, RAW_ANSWER, STEP = "request_sha256", "raw_answer_sha256", "step_sha256"
"""Keys under which an event holds the fingerprint of what its attempt keeps beside the chain."""

SEARCHED = 40
"""Up to so many rows that do not fit are compared with each other, to tell moved rows from changed ones."""


def canonical(value: Any) -> bytes:
    """The bytes of a JSON value, the same whichever database it was read back from.

    The order of keys does not count, nor does how a number was written: PostgreSQL gives 1e16 back as an integer.
    Total for anything that ``json`` can read.
    """
    return _encode(_plain_numbers(value)).encode("ascii")


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def _plain_numbers(value: Any) -> Any:
    match value:
        case float() if math.isfinite(value) and value == math.floor(value):
            return int(Decimal(repr(value)))
        case dict():
            return {str(key): _plain_numbers(held) for key, held in value.items()}
        case list() | tuple():
            return [_plain_numbers(held) for held in value]
    return value


def fingerprint(value: Any) -> str:
    """SHA-256, as hex, of a JSON value that is kept outside of the events: a request, a raw answer."""
    return hashlib.sha256(canonical(value)).hexdigest()


def link(previous: str, content: str) -> str:
    """The hash of an event: binds the fingerprint of its content to the hash before it (``START`` for the first)."""
    return hashlib.sha256(f"{previous}\n{content}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """One event as it is stored. ``id`` is its place in the table, ``number`` and ``hash`` its place in the chain."""

    conversation: str
    kind: str
    at: datetime
    id: int = 0
    number: int | None = None
    hash: str = ""
    seq: int | None = None
    rule: str = ""
    actor: str = "system"
    transaction: str | None = None
    turn: str | None = None
    data: Mapping[str, Any] | None = None
    model_calls: Sequence[Any] = ()

    def plain(self) -> dict[str, Any]:
        """Everything that the hash covers, as JSON."""
        return {
            "conversation": self.conversation,
            "number": self.number,
            "seq": self.seq,
            "kind": self.kind,
            "rule": self.rule,
            "actor": self.actor,
            "transaction": self.transaction,
            "turn": self.turn,
            "data": self.data,
            "model_calls": self.model_calls,
            "at": self.at.astimezone(UTC).isoformat(timespec="microseconds"),
        }

    def content(self, number: int | None = None) -> str:
        """The fingerprint of the content, here or as it would be under another number."""
        entry = self if number is None else replace(self, number=number)
        return fingerprint(entry.plain())


# Checking a chain ------------------------------------------


class Wrong(StrEnum):
    """What can be wrong with a row of evidence."""

    CHANGED = "changed"
    MISSING = "missing"
    REORDERED = "reordered"
    INSERTED = "inserted"


@dataclass(frozen=True, slots=True)
class Finding:
    """One row that is not as it was written: its number in the chain, its kind where it is known, and what is wrong."""

    wrong: Wrong
    number: int | None
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class _Misfit:
    """A row whose hash does not follow from ``before``, the stored hash in front of it; None: that row is missing."""

    entry: Entry
    before: str | None
    follows: bool
    """The next row follows from what this one's hash should have been: only the hash was changed."""


def check_chain(entries: Iterable[Entry], *, length: int, head: str) -> Iterator[Finding]:
    """What is wrong with the events of one conversation, which come by number, those without one last.

    ``length`` and ``head`` are what the conversation's own row says. The check goes on from the stored hash after a
    row that does not fit, so that one changed row accuses no later one. Reads one row at a time.
    """
    walk = _Walk(length=length)
    for entry in entries:
        yield from walk.step(entry)
    yield from walk.end(head)


class _Walk:
    """Where the check of one chain stands."""

    def __init__(self, *, length: int) -> None:
        self.length = length
        self.expected = 1
        self.previous: str | None = START
        """The stored hash of the last number; None: that row is missing."""
        self.should_be = START
        """What the hash of the last row should have been, where it was another one."""
        self.last: Entry | None = None
        self.first_id: int | None = None
        self.highest: tuple[Entry | None, Entry | None] = (None, None)
        """The last two rows that stand in the table as they do in the chain."""
        self.moved: list[Finding] = []
        """Rows that stand elsewhere in the table; told unless the same row is told as moved in the chain, too."""
        self.misfits: list[_Misfit] = []
        self.missing: list[tuple[int, str | None]] = []
        """Missing numbers with the hash before each; only the first of a gap has one."""

    def step(self, entry: Entry) -> Iterator[Finding]:
        if entry.number is None:
            if self.first_id is not None and entry.id > self.first_id:
                self._keep(entry, None)
            return
        self.first_id = self.first_id or entry.id
        if entry.number > self.length:
            self._keep(entry, None)
            return
        yield from self._gap(entry.number)
        self._link(entry)
        self._order(entry)
        self.last, self.expected, self.previous = entry, entry.number + 1, entry.hash
        if len(self.misfits) + len(self.missing) + len(self.moved) > SEARCHED:
            # Too many to compare with all the others of a long chain.
            yield from self._search()

    def _search(self) -> Iterator[Finding]:
        found = _Search(self.misfits, self.missing).findings()
        told = {finding.number for finding in found}
        found += [finding for finding in self.moved if finding.number not in told]
        yield from sorted(found, key=lambda finding: finding.number or 0)
        self.misfits, self.missing, self.moved = [], [], []

    def _keep(self, entry: Entry, before: str | None) -> None:
        self.misfits.append(_Misfit(entry, before, follows=False))

    def _gap(self, number: int) -> Iterator[Finding]:
        """Remember the numbers that are missing before ``number``; of a long gap only as many as are searched."""
        gap = range(self.expected, number)
        if not gap:
            return
        if len(gap) > SEARCHED:
            yield Finding(Wrong.MISSING, gap[0], "", f"the numbers {gap[0]} to {gap[-1]} are missing")
        else:
            self.missing += [(one, self.previous if one == gap[0] else None) for one in gap]
        self.previous = None

    def _link(self, entry: Entry) -> None:
        if self.previous is None:
            # The row before is gone and so is its hash: this one cannot be checked alone.
            self.should_be = entry.hash
            return
        content = entry.content()
        expected = link(self.previous, content)
        if entry.hash == expected:
            self.should_be = expected
            return
        if self.should_be != self.previous and entry.hash == link(self.should_be, content):
            if self.misfits:
                self.misfits[-1] = replace(self.misfits[-1], follows=True)
            self.should_be = entry.hash
            return
        self._keep(entry, self.previous)
        self.should_be = expected

    def _order(self, entry: Entry) -> None:
        """Rows are stored in the order of their numbers; one that is not was moved in the table."""
        before, last = self.highest
        if last is None or entry.id > last.id:
            self.highest = (last, entry)
        elif before is None or entry.id > before.id:
            detail = "it was moved in the table, behind later events"
            self.moved.append(Finding(Wrong.REORDERED, last.number, last.kind, detail))
            self.highest = (before, entry)
        else:
            detail = "it was moved in the table, before earlier events"
            self.moved.append(Finding(Wrong.REORDERED, entry.number, entry.kind, detail))

    def end(self, head: str) -> Iterator[Finding]:
        yield from self._gap(self.length + 1)
        told = {misfit.entry.hash for misfit in self.misfits}
        yield from self._search()
        is_told = head in told or (self.should_be == head and self.should_be != self.previous)
        if self.last is None or self.previous is None or self.previous == head or is_told:
            return
        detail = "its hash is not the one that the conversation names as its newest"
        yield Finding(Wrong.CHANGED, self.last.number, self.last.kind, detail)


def _as_changed(misfit: _Misfit) -> Finding:
    entry = misfit.entry
    if misfit.follows:
        detail = "its hash was changed; its content is as it was written"
    else:
        detail = "its content does not fit its hash, or the hash before it was changed"
    return Finding(Wrong.CHANGED, entry.number, entry.kind, detail)


class _Search:
    """Tells rows that were moved or whose contents were exchanged from rows that were changed."""

    def __init__(self, misfits: Sequence[_Misfit], missing: Sequence[tuple[int, str | None]]) -> None:
        self.misfits = misfits
        self.missing = dict(missing)
        self.hashes = [misfit.entry.hash for misfit in misfits]
        self.places = {misfit.entry.number: misfit for misfit in misfits if misfit.entry.number is not None}

    def findings(self) -> list[Finding]:
        found: list[Finding] = []
        refound: set[int] = set()
        for misfit in self.misfits:
            was = None if misfit.follows else self._true_number(misfit)
            if was is None or was != misfit.entry.number:
                found.append(self._told(misfit, was))
            if was is not None:
                refound.add(was)
        lost = [number for number in self.missing if number not in refound]
        return found + [Finding(Wrong.MISSING, number, "", "it is missing") for number in lost]

    def _true_number(self, misfit: _Misfit) -> int | None:
        """The number under which the row's content fits a stored hash; its own: it is right and another one is not."""
        entry = misfit.entry
        # A row that has moved leaves its hash elsewhere: the hash before may be that of any row that does not fit.
        for number, hashes in self._candidates(entry):
            content = entry.content(number)
            before = self._before(number)
            for previous in (before, *self.hashes) if before is not None else self.hashes:
                if link(previous, content) in hashes and (number != entry.number or previous != misfit.before):
                    return number
        return None

    def _candidates(self, entry: Entry) -> Iterator[tuple[int, set[str]]]:
        near = () if entry.number is None else (entry.number, entry.number - 1, entry.number + 1)
        numbers = {number for number in (*near, *self.places, *self.missing) if number > 0}
        for number in sorted(numbers, key=lambda one: (one != entry.number, one)):
            at_place = self.places.get(number)
            yield number, {entry.hash, at_place.entry.hash} if at_place else {entry.hash}

    def _before(self, number: int) -> str | None:
        if number == 1:
            return START
        at_place = self.places.get(number)
        return at_place.before if at_place else self.missing.get(number)

    def _told(self, misfit: _Misfit, was: int | None) -> Finding:
        entry = misfit.entry
        is_extra = entry.number is None or misfit.before is None
        if was is not None:
            return Finding(Wrong.REORDERED, entry.number or was, entry.kind, f"it was written as number {was}")
        if is_extra:
            place = "has no number" if entry.number is None else "stands after the newest number of the conversation"
            return Finding(Wrong.INSERTED, entry.number, entry.kind, f"it {place} and was not written by the product")
        return _as_changed(misfit)
