"""What the user reads about time: a question that ends soon, and messages that came before or meanwhile."""

from __future__ import annotations

from transactions.core.reply import shown_line
from transactions.core.statuses import Status
from transactions.core.texts import say, say_count

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


def came_before(message: str, locale: str) -> str:
    """To a message that the user sent before the question was on screen (runtime.md §6.3)."""
    return say("came_before", locale, message=shown_line(message))


def came_meanwhile(locale: str) -> str:
    """To a message that waited while the tool was at work, and asks for nothing that can be done (runtime.md §6.7)."""
    return say("came_meanwhile", locale)
