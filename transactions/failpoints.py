"""Named crash points of the write path, set by the environment variable FAILPOINT; none of them works in production.

``FAILPOINT="sent:kill"`` kills the process wherever ``hit("sent")`` stands. ``raise`` raises FailpointHit, ``hang``
keeps the thread waiting until ``release`` is called. ``sent:kill:2`` strikes at the second hit of the process only.
Several are separated by commas. Whoever strikes says so in the log first.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

log = logging.getLogger(__name__)

VARIABLE = "FAILPOINT"


class FailpointHit(Exception):
    """The failure that ``raise`` simulates."""


class Point(StrEnum):
    """Every step of the write path after which a process may be gone. A comma means: not yet done."""

    MESSAGE_STORED = "message_stored"
    """A message is committed, nobody was woken for it."""
    TURN_CLAIMED = "turn_claimed"
    """The turns of a conversation are leased, none was read."""
    TURN_READ = "turn_read"
    """The model answered and the decision is made, nothing of it was written."""
    TURN_APPLIED = "turn_applied"
    """What a turn decided is committed, the next turn was not looked for."""
    VALIDATOR_CLAIMED = "validator_claimed"
    """A validator run is leased, the validator was not called."""
    VALIDATOR_ANSWERED = "validator_answered"
    """The validator answered, its verdict was not stored."""
    VERDICT_RECORDED = "verdict_recorded"
    """The validator's verdict is committed with what follows from it."""
    CONFIRMATION_STORED = "confirmation_stored"
    """A yes and the attempt it authorises are committed, no worker was woken."""
    WAKE_UP_PUBLISHING = "wake_up_publishing"
    """A wake-up is about to go to the broker."""
    CLAIMED = "claimed"
    """An attempt is leased, READY did not become SENT."""
    SENT = "sent"
    """SENT is committed, no byte has left."""
    ANSWERED = "answered"
    """The tool answered, or it is known that it will not; nothing of it was stored."""
    RECORDED = "recorded"
    """The raw answer is committed, it was not accounted for."""
    ACCOUNTED = "accounted"
    """Items, verdict and events are committed, nobody was told."""
    NOT_SENT = "not_sent"
    """It is committed that the tool did not run."""
    UNKNOWN = "unknown"
    """It is committed that nobody knows whether the tool ran."""
    SWEEP_FOUND = "sweep_found"
    """The sweeper found due work, it was not begun."""
    VERIFY_CLAIMED = "verify_claimed"
    """Verifying an unknown outcome is claimed, nobody was asked."""
    VERIFY_ANSWERED = "verify_answered"
    """What became of an unknown outcome was answered, nothing of it was stored."""
    VERIFY_RECORDED = "verify_recorded"
    """What verifying brought is committed."""


class Action(StrEnum):
    KILL = "kill"
    RAISE = "raise"
    HANG = "hang"


@dataclass(frozen=True, slots=True)
class Strike:
    """``action`` at ``point``; ``only`` at that hit of the process, None: at every one."""

    point: Point
    action: Action
    only: int | None = None


def strikes_of(text: str) -> tuple[Strike, ...]:
    """What the value of FAILPOINT asks for. Raises ImproperlyConfigured for what it cannot mean."""
    return tuple(_strike_of(entry.strip()) for entry in text.split(",") if entry.strip())


def _strike_of(entry: str) -> Strike:
    point, _, rest = entry.partition(":")
    action, _, only = rest.partition(":")
    if point not in set(Point):
        raise ImproperlyConfigured(f'{VARIABLE} names the point "{point}"; there are {", ".join(Point)}')
    if action not in set(Action):
        raise ImproperlyConfigured(f'{VARIABLE} says "{entry}"; write point:action with {", ".join(Action)}')
    if only and not (only.isdecimal() and int(only)):
        raise ImproperlyConfigured(f'{VARIABLE} says "{entry}"; the number of the hit counts from 1')
    return Strike(Point(point), Action(action), int(only) if only else None)


def check() -> None:
    """Called at the start of every process: a misspelt FAILPOINT ends it instead of never striking."""
    if not settings.IS_PRODUCTION:
        strikes_of(os.environ.get(VARIABLE, ""))


_hits: Counter[str] = Counter()
_counting = threading.Lock()
_released = threading.Event()


def hit(name: str) -> None:
    """Do what the environment asks for at the Point ``name``: nothing by default, and nothing in production."""
    if VARIABLE not in os.environ or settings.IS_PRODUCTION:
        return
    with _counting:
        _hits[name] += 1
        number = _hits[name]
    for strike in strikes_of(os.environ[VARIABLE]):
        if strike.point == name and strike.only in (None, number):
            log.warning("failpoint %s: %s", name, strike.action)
            _do(strike)


def _do(strike: Strike) -> None:
    match strike.action:
        case Action.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        case Action.RAISE:
            raise FailpointHit(strike.point)
        case Action.HANG:
            _released.wait()


def release() -> None:
    """Let everything go on that hangs, as if it had been frozen for a while."""
    _released.set()
