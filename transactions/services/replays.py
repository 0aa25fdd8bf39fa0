"""The rows of replays: begun once, worked off by whoever holds the lease, each transaction exactly once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import Q
from django.db.transaction import atomic

from transactions import outbox
from transactions.clock import database_now
from transactions.models import ReplayRun


@dataclass(slots=True)
class Slice:
    """The right to go on with a replay until the lease runs out; ``run`` is as it was read and kept since."""

    run: ReplayRun
    lease: UUID


@atomic
def begin(*, chosen: Sequence[UUID], **asked: Any) -> ReplayRun:
    """A new replay of ``chosen``; a worker of this process starts it after the commit. ``asked``: its other columns.

    One without transactions is finished at once. The same that is still being played, for the same author, is not
    begun a second time: a button may be pressed twice.
    """
    told = {name: asked[name] for name in ("author", "tool", "last", "release", "hash") if name in asked}
    if (same := ReplayRun.objects.filter(finished_at=None, **told).first()) is not None:
        return same
    finished_at = None if chosen else database_now()
    run = ReplayRun.objects.create(chosen=[str(pk) for pk in chosen], finished_at=finished_at, **asked)
    if chosen:
        outbox.wake("replay", run.pk)
    return run


def claim(run_id: UUID) -> Slice | None:
    """Take a replay that is not finished; None where there is none, or another worker has it."""
    now, lease = database_now(), uuid4()
    open_ = ReplayRun.objects.filter(pk=run_id, finished_at=None)
    free = open_.filter(Q(leased_until=None) | Q(leased_until__lte=now))
    if not free.update(lease=lease, leased_until=_until()):
        return None
    return Slice(ReplayRun.objects.get(pk=run_id), lease)


def keep(held: Slice, lines: Sequence[Mapping[str, Any]]) -> bool:
    """Write what came of the next transactions and hold the lease on; False where another worker took over.

    Then nothing is written: whoever took over plays them again.
    """
    run = held.run
    run.lines = [*run.lines, *lines]
    run.finished_at = None if run.to_come() else database_now()
    ours = ReplayRun.objects.filter(pk=run.pk, lease=held.lease, finished_at=None)
    return bool(ours.update(lines=run.lines, finished_at=run.finished_at, leased_until=_until()))


def give_back(held: Slice) -> None:
    """Another process may go on at once."""
    ReplayRun.objects.filter(pk=held.run.pk, lease=held.lease).update(lease=None, leased_until=None)


def _until() -> Any:
    return database_now() + timedelta(seconds=settings.LEASE_SECONDS)
