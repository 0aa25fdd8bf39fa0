"""Kill → progress: how long what waited for the system at a kill, waited for its next event. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.soak.plan import Kind

COUNTED = {Kind.WORKER, Kind.WEB, Kind.SWEEPER}
"""The kills whose progress the promise is about."""


@dataclass(frozen=True, slots=True)
class Kill:
    kind: Kind
    name: str
    at: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Somebody waited for the system from ``start`` until ``end``; ``end`` None: to this day.

    ``sent_at``: from then on a call was, or may have been, in flight.
    """

    about: str
    what: str
    start: float
    end: float | None
    sent_at: float | None = None

    def holds(self, moment: float) -> bool:
        return self.start <= moment < (math.inf if self.end is None else self.end)

    def is_in_flight(self, moment: float) -> bool:
        return self.sent_at is not None and self.sent_at <= moment


@dataclass(frozen=True, slots=True)
class Delay:
    kill: Kill
    wait: Wait

    @property
    def seconds(self) -> float:
        return (math.inf if self.wait.end is None else self.wait.end) - self.kill.at


@dataclass(frozen=True, slots=True)
class Moment:
    """One event of a transaction; ``to`` is the status of a move."""

    kind: str
    at: float
    to: str = ""


def waits_of(about: str, moments: Sequence[Moment], calls: Iterable[float], answered: Sequence[float]) -> list[Wait]:
    """When a transaction waited for the system: for its validator, for its call, and for its accounting.

    ``calls``: when calls of it arrived at the server; ``answered``: when answers were stored.
    """
    arrived = sorted(calls)
    found = []
    for index, moment in enumerate(moments):
        after = moments[index + 1].at if index + 1 < len(moments) else None
        match moment:
            case Moment(kind="transaction.moved", to="PRE_VALIDATING"):
                sent_at = next((at for at in arrived if at >= moment.at), None)
                found.append(Wait(about, "validator", moment.at, after, sent_at))
            case Moment(kind="execution.started" | "attempt.not_sent"):
                found.append(Wait(about, "call", moment.at, after))
            case Moment(kind="attempt.sent"):
                found.append(Wait(about, "answer", moment.at, after, moment.at))
    for at in answered:
        found.append(Wait(about, "accounting", at, next((one.at for one in moments if one.at >= at), None)))
    return found


def delays(kills: Iterable[Kill], waits: Sequence[Wait]) -> Iterator[Delay]:
    """Every pair of a kill and somebody who waited at that moment."""
    for kill in kills:
        for wait in waits:
            if wait.holds(kill.at):
                yield Delay(kill, wait)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of ``values`` that at least ``share`` of them do not exceed; 0 of none."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
