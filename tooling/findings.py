"""What a check of definitions found: a code, a sentence that says what to do, and the path of the culprit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """``path`` is the way to the culprit through the files' keys, for example
    ("tool_policies", "x", "requires", "0"); ("intents", name, …) and ("workflows", name, version, …) likewise.
    """

    code: str
    message: str
    path: tuple[str, ...]
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        kind = "warning: " if self.severity is Severity.WARNING else ""
        return f"{'.'.join(self.path)}: {kind}{self.message}"

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR


Findings = Iterator[Finding]


def warning(code: str, message: str, path: tuple[str, ...]) -> Finding:
    return Finding(code, message, path, Severity.WARNING)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """' (did you mean "x"?)' for the nearest known word, else nothing."""
    near = get_close_matches(word, list(known), 1, cutoff=0.4)
    return f' (did you mean "{near[0]}"?)' if near else ""
