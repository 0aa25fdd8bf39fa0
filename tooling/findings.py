"""What a check of definitions found: a code, a sentence that says what to do, and the path of the culprit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache

from tooling.hints import hint_of


class Severity(StrEnum):
    """Errors keep a draft from being published; warnings want to be read; notes only say how something will be."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """``path`` is the way to the culprit through the files' keys, for example
    ("tool_policies", "x", "requires", "0"); ("intents", name, …) and ("workflows", name, version, …) likewise.
    ``needs_tick``: who publishes on a page says of this very thing that it is meant.
    """

    code: str
    message: str
    path: tuple[str, ...]
    severity: Severity = Severity.ERROR
    needs_tick: bool = False

    def __str__(self) -> str:
        kind = "" if self.is_error else f"{self.severity}: "
        return f"{'.'.join(self.path)}: {kind}{self.message}"

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    @property
    def is_warning(self) -> bool:
        return self.severity is Severity.WARNING

    @property
    def key(self) -> str:
        """Names this finding among all of one set, whatever else is found."""
        return f"{self.code}@{'.'.join(self.path)}"

    @property
    def hint(self) -> str:
        """What to do about it, in English; pages translate it."""
        return hint_of(self.code)


Findings = Iterator[Finding]


def warning(code: str, message: str, path: tuple[str, ...], *, needs_tick: bool = False) -> Finding:
    return Finding(code, message, path, Severity.WARNING, needs_tick)


def note(code: str, message: str, path: tuple[str, ...]) -> Finding:
    return Finding(code, message, path, Severity.NOTE)


FEW = 100
"""So many names are all compared with a misspelt one; of more only those that begin or end alike."""
ALIKE = 4


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """' (did you mean "x"?)' for the nearest known word, else nothing."""
    names = tuple(known)
    near = get_close_matches(word, names if len(names) <= FEW else _alike(word, names), 1, cutoff=0.4)
    return f' (did you mean "{near[0]}"?)' if near else ""


def _alike(word: str, names: tuple[str, ...]) -> list[str]:
    """The names around the place of ``word`` in the alphabet, read from either end."""
    forwards, backwards = _sorted(names)
    return [*_around(word, forwards), *(name[::-1] for name in _around(word[::-1], backwards))]


def _around(word: str, ordered: list[str]) -> list[str]:
    place = bisect_left(ordered, word)
    return ordered[max(place - ALIKE, 0) : place + ALIKE]


@lru_cache(maxsize=4)
def _sorted(names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    return sorted(names), sorted(name[::-1] for name in names)
