"""What a demo server did, kept in files: effects that happened once, and beside them its own notes.

Both are JSON lines that are only ever appended to; several processes may share them.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Line = dict[str, Any]


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that really happened to one item of one customer."""

    tool: str
    item: str
    outcome: str
    protocol: str
    customer: str
    idempotency_key: str = ""
    item_key: str = ""
    transaction_id: str = ""
    request_digest: str = ""
    at: str = field(default_factory=now)


class Lines:
    """A file of JSON lines, read on from where the last reading ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen: list[Line] = []
        self._offset = 0

    def refresh(self) -> None:
        """Read what others appended; a last line that somebody is still writing waits."""
        size = self.path.stat().st_size if self.path.exists() else 0
        if size < self._offset:
            self.seen, self._offset = [], 0
        if size == self._offset:
            return
        with self.path.open("rb") as file:
            file.seek(self._offset)
            whole, newline, _ = file.read().rpartition(b"\n")
        self.seen += [line for text in whole.splitlines() if (line := _line(text)) is not None]
        self._offset += len(whole) + len(newline)

    def append(self, line: Line, *, durable: bool) -> None:
        """Append ``line``; ``durable``: on disk before this returns."""
        text = json.dumps(line, ensure_ascii=False).encode() + b"\n"
        with self.path.open("ab+") as file:
            if file.tell() and not self._ends_with_newline(file.fileno()):
                text = b"\n" + text
            file.write(text)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        self.refresh()

    def clear(self) -> None:
        self.path.write_bytes(b"")
        self.refresh()

    @staticmethod
    def _ends_with_newline(descriptor: int) -> bool:
        return os.pread(descriptor, 1, os.fstat(descriptor).st_size - 1) == b"\n"


class Ledger:
    """The effects in ``path`` and the notes (calls, refusals, answers) in ``path.notes``."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._effects = Lines(path)
        self._notes = Lines(path.with_name(path.name + ".notes"))
        self._lock = path.with_name(path.name + ".lock")

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Alone with both files, and up to date with them."""
        with self._lock.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._effects.refresh()
            self._notes.refresh()
            yield

    @property
    def effects(self) -> list[Line]:
        return self._effects.seen

    def record(self, effect: Effect) -> None:
        """Make ``effect`` happen: it is on disk before anybody is told."""
        self._effects.append(asdict(effect), durable=True)

    def note(self, kind: str, *, durable: bool = True, **what: Any) -> None:
        self._notes.append({"kind": kind, "at": now()} | what, durable=durable)

    def notes(self, kind: str, **what: Any) -> list[Line]:
        """The notes of this kind that say ``what``."""
        wanted = {"kind": kind} | what
        return [note for note in self._notes.seen if wanted.items() <= _scalars(note).items()]

    def clear(self) -> None:
        self._effects.clear()
        self._notes.clear()


def _scalars(note: Line) -> Line:
    return {name: value for name, value in note.items() if not isinstance(value, dict | list)}


def _line(text: bytes) -> Line | None:
    """The object on one line; None for the rest of a line that a crash cut off."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
