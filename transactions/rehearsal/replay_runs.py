"""Works a replay off in slices: a restart in the middle loses nothing, and no transaction is counted twice."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import close_old_connections, connection

from tooling import publishing
from tooling.content import canonical, digest, from_content, to_content
from tooling.specs import Definitions
from transactions import outbox
from transactions.models import ReplayRun, Transaction
from transactions.rehearsal.courses import Difference
from transactions.rehearsal.history import Why
from transactions.rehearsal.replaying import MOST, Replayed, Stand, chosen, replay
from transactions.services import replays

SLICE_SECONDS = 2.0
"""After this time what was played is kept, so that a restart costs no more than that, and the page shows it."""


def begin(definitions: Definitions, *, last: int, tool: str, release: int, author: str) -> ReplayRun:
    """Start the replay of ``definitions`` over the newest ``last`` ended transactions; ``release`` 0: the draft."""
    content = canonical(to_content(definitions))
    return replays.begin(
        chosen=chosen(last, tool),
        author=author,
        last=min(last, MOST),
        tool=tool,
        release=release,
        base=publishing.newest_number(),
        hash=digest(content),
        content=content,
    )


def work_off(run_id: UUID | str) -> None:
    """Play what is left of the replay, unless another worker is at it; as far as this process lives."""
    if not connection.in_atomic_block:
        close_old_connections()
    held = replays.claim(UUID(str(run_id)))
    if held is None:
        return
    definitions = from_content(json.loads(held.run.content))
    while held.run.to_come():
        if outbox.is_ending():
            replays.give_back(held)
            return
        if not replays.keep(held, _slice(held.run, definitions)):
            return


def _slice(run: ReplayRun, definitions: Definitions) -> list[dict[str, Any]]:
    until = time.monotonic() + SLICE_SECONDS
    lines: list[dict[str, Any]] = []
    for pk in run.to_come():
        lines.append(_line(pk, definitions))
        if time.monotonic() >= until:
            break
    return lines


def _line(pk: str, definitions: Definitions) -> dict[str, Any]:
    transaction = Transaction.objects.select_related("conversation").filter(pk=pk).first()
    if transaction is None:
        return {"transaction": pk, "tool": "", "at": None, "why": Why.NOT_KEPT}
    return to_line(replay(transaction, definitions))


# As JSON ------------------------------------------


def to_line(one: Replayed) -> dict[str, Any]:
    """What is kept of one transaction: no text of a customer and no value."""
    return {
        "transaction": str(one.transaction),
        "tool": one.tool,
        "at": one.at.isoformat(),
        "why": one.why,
        "differences": [str(difference) for difference in one.differences],
        "before": _stand(one.before),
        "after": _stand(one.after),
    }


def _stand(stand: Stand | None) -> dict[str, Any] | None:
    if stand is None:
        return None
    return {"tool": stand.tool, "status": stand.status, "reason_code": stand.reason_code, "known": stand.is_known}


@dataclass(frozen=True, slots=True)
class Line:
    """One transaction of a replay, read back."""

    transaction: str
    tool: str
    at: datetime | None
    why: Why | None
    differences: tuple[Difference, ...] = ()
    before: Stand | None = None
    after: Stand | None = None


def lines_of(run: ReplayRun) -> list[Line]:
    return [_read(row) for row in run.lines]


def _read(row: Mapping[str, Any]) -> Line:
    return Line(
        transaction=row["transaction"],
        tool=row["tool"],
        at=datetime.fromisoformat(row["at"]) if row["at"] else None,
        why=Why(row["why"]) if row["why"] else None,
        differences=tuple(Difference(name) for name in row.get("differences", ())),
        before=_stand_of(row.get("before")),
        after=_stand_of(row.get("after")),
    )


def _stand_of(row: Mapping[str, Any] | None) -> Stand | None:
    return None if row is None else Stand(row["tool"], row["status"], row["reason_code"], row["known"])


# What they come to ------------------------------------------


@dataclass(frozen=True, slots=True)
class Summary:
    """How many of the ``compared`` transactions have which difference; ``apart``: those that could not be compared."""

    compared: int
    same: int
    counts: Mapping[Difference, int] = field(default_factory=dict)
    apart: Mapping[Why, int] = field(default_factory=dict)


def summary_of(lines: list[Line]) -> Summary:
    compared = [line for line in lines if line.why is None]
    counts = Counter(difference for line in compared for difference in line.differences)
    return Summary(
        compared=len(compared),
        same=sum(not line.differences for line in compared),
        counts={difference: counts[difference] for difference in Difference},
        apart=Counter(line.why for line in lines if line.why is not None),
    )


def newest_of(content_hash: str) -> ReplayRun | None:
    """The newest finished replay of exactly these definitions over any tool."""
    done = ReplayRun.objects.filter(hash=content_hash).exclude(finished_at=None)
    return done.order_by("-finished_at").first()
