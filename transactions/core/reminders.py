"""Before time ends a request: when the user is warned, and in which words."""

from __future__ import annotations

from transactions.core.statuses import Status
from transactions.core.texts import say_count

LEAD_SECONDS = 60
"""How long before the end the user is warned."""
WORTH_SECONDS = 3 * LEAD_SECONDS
"""What stays open shorter than this gets no warning: it would come right after the question."""


def is_worth_warning(lifetime: float) -> bool:
    """Whether a question that was open for ``lifetime`` seconds in all is announced to end."""
    return lifetime >= WORTH_SECONDS


def expires_soon(status: Status, seconds_left: float, locale: str) -> str:
    """What the user reads: how long the question stays open, and that nothing happens without an answer."""
    minutes = max(1, round(seconds_left / 60))
    kind = "confirmation" if status is Status.AWAITING_CONFIRMATION else "collecting"
    return say_count(f"expires.{kind}", minutes, locale, minutes=minutes)
