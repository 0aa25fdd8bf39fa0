"""The alarm for due work that nobody does: what waits, how much of it, and for how long (runtime.md §9.1)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Greatest

from transactions.core.statuses import BUSY, AttemptStatus, Status
from transactions.models import Attempt, Event, Transaction, Turn
from transactions.services.ending import EXPIRING

log = logging.getLogger(__name__)

OVERDUE_SECONDS = 30
"""A sweeper looks every few seconds: what was due this long ago is being done by nobody."""
AGAIN_SECONDS = 60
"""The same kind of work is not complained about more often."""

_told: dict[str, datetime] = {}


@dataclass(frozen=True, slots=True)
class Overdue:
    """``number`` pieces of one kind of work; the oldest has been due for ``seconds``."""

    kind: str
    number: int
    seconds: int

    def __str__(self) -> str:
        return f"{self.number} {self.kind}, due for {self.seconds} s"


def overdue(now: datetime) -> list[Overdue]:
    """Every kind of work that has been due for longer than OVERDUE_SECONDS; what somebody holds a lease on is not."""
    found = []
    for kind, rows in _due(now).items():
        late = rows.filter(since__lte=now - timedelta(seconds=OVERDUE_SECONDS))
        seen = late.aggregate(number=Count("pk"), oldest=Min("since"))
        if seen["number"]:
            found.append(Overdue(kind, seen["number"], int((now - seen["oldest"]).total_seconds())))
    return found


def raise_alarms(now: datetime) -> None:
    """One ERROR line for each kind of work that is overdue, at most once in AGAIN_SECONDS."""
    for late in overdue(now):
        last = _told.get(late.kind)
        if last is None or now - last >= timedelta(seconds=AGAIN_SECONDS):
            _told[late.kind] = now
            log.error("alarm: due work is not done: %s", late)


def _due(now: datetime) -> Mapping[str, QuerySet[Any]]:
    """What is due now, by kind, each row with ``since`` when."""
    is_free = Q(leased_until=None) | Q(leased_until__lte=now)
    open_ones = Attempt.objects.filter(accounted_at=None)
    freed = Greatest("due_at", Coalesce("leased_until", "due_at"))
    return {
        "turns": _turns(now),
        "pre-validations": Transaction.objects.filter(is_free, status=Status.PRE_VALIDATING).annotate(
            since=Coalesce("leased_until", _last_event(transaction=OuterRef("pk")), "created_at")
        ),
        "calls": open_ones.filter(is_free, status=AttemptStatus.READY).annotate(since=freed),
        "calls without an answer": open_ones.filter(is_free, status=AttemptStatus.SENT).annotate(since=freed),
        "answers": open_ones.filter(status=AttemptStatus.ANSWERED).annotate(since=Coalesce("answered_at", "due_at")),
        "unknown outcomes": Transaction.objects.filter(
            is_free, status=Status.VERIFYING, verify_due_at__lte=now
        ).annotate(since=Greatest("verify_due_at", Coalesce("leased_until", "verify_due_at"))),
        "expiries": Transaction.objects.filter(status__in=EXPIRING, expires_at__lte=now).annotate(
            since=Coalesce("expires_at", "created_at")
        ),
    }


def _turns(now: datetime) -> QuerySet[Turn]:
    """Turns that could be handled. One that waited behind a call is due since the call came to its end."""
    busy = Transaction.objects.filter(status__in=BUSY).values("conversation")
    waiting = Turn.objects.filter(Q(queued=False) | ~Q(conversation__in=busy), handled_at=None)
    free = Q(conversation__turns_leased_until=None) | Q(conversation__turns_leased_until__lte=now)
    last = Coalesce(_last_event(conversation=OuterRef("conversation")), "created_at")
    return waiting.filter(free).annotate(since=Greatest("created_at", last))


def _last_event(**of: OuterRef) -> Subquery:
    """When something last happened that was not the user's doing."""
    events = Event.objects.filter(**of).exclude(kind="user.message").order_by("-id")
    return Subquery(events.values("at")[:1])
