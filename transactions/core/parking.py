"""What the user reads of a request that was set aside (runtime.md §6.6)."""

from __future__ import annotations

from collections.abc import Sequence

from transactions.core.texts import say

NAMED = 5
"""So many items are named; the rest is counted: the confirmation that follows a resumption names all."""


def request_in_words(operation: str, labels: Sequence[str]) -> str:
    """The operation and what it is about, on one line."""
    what = " ".join(operation.split()).rstrip(".:")
    named = [" ".join(label.split()) for label in labels[:NAMED] if label.strip()]
    rest = len(labels) - len(named)
    about = ", ".join(named) + (f" +{rest}" if rest else "")
    return f"{what} ({about})" if named else what


def set_aside(request: str, locale: str) -> str:
    return say("parked", locale, request=request)


def offer(request: str, locale: str) -> str:
    """The question whether to go on with it; a yes to it resumes, and confirms nothing."""
    return say("parked.offer", locale, request=request)
