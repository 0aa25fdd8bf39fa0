"""Replay: what other definitions would have done with a transaction that really happened (recorded readings, no calls).

It is played twice, with the release that it ran with and with the others, and those two are compared: what a play
cannot know about, such as other conversations of the customer, is then the same on both sides.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet

from tooling.gateway import Answered, Call, Outcome
from tooling.specs import JSON, Definitions, ProfileSpec
from transactions.core.statuses import FINAL, Status
from transactions.llm import Completion, Unavailable
from transactions.models import Transaction
from transactions.rehearsal.courses import ASIDE, Course, Difference, course_of, differences
from transactions.rehearsal.history import History, Lived, Why, history_of
from transactions.rehearsal.recorded import RecordedGateway, RecordedModel
from transactions.rehearsal.scenes import Scene
from transactions.rehearsal.stage import play

log = logging.getLogger(__name__)

REPLY = "confirmation_reply"
MOST = 1000
USUAL = 200


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a transaction stands at the end of a play; ``is_known`` false: it would go on in a way nobody knows."""

    tool: str
    status: str
    reason_code: str
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of one transaction. ``why``: it could not be played, and nothing is said about it."""

    transaction: UUID
    tool: str
    at: datetime
    why: Why | None = None
    differences: tuple[Difference, ...] = ()
    before: Stand | None = None
    after: Stand | None = None


def chosen(last: int, tool: str = "") -> list[UUID]:
    """The newest ``last`` transactions that ended, newest first; of ``tool`` only, where it is given."""
    rows: QuerySet[Transaction] = Transaction.objects.filter(status__in=[*FINAL, Status.VERIFYING])
    if tool:
        rows = rows.filter(tool=tool)
    return list(rows.order_by("-created_at", "-pk").values_list("pk", flat=True)[: min(last, MOST)])


def replay(transaction: Transaction, definitions: Definitions) -> Replayed:
    """Play ``transaction`` with its own release and with ``definitions``. No row stays, nobody is asked or called.

    Raises OperationalError or InterfaceError where the database is in trouble: then nothing is known of it yet.
    """
    seen = Replayed(transaction.pk, transaction.tool, transaction.created_at)
    history = history_of(transaction)
    if isinstance(history, Why):
        return replace(seen, why=history)
    try:
        before = _course(history, history.scene.definitions)
        if not is_as_lived(before, history.lived):
            return replace(seen, why=Why.DIFFERENT)
        after = _course(history, definitions)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        # What is wrong with one must not keep the others from being looked at; it is counted apart.
        log.exception("transaction %s could not be played again", transaction.pk)
        return replace(seen, why=Why.TROUBLE)
    return replace(seen, differences=differences(before, after), before=_stand(before), after=_stand(after))


def _course(history: History, definitions: Definitions) -> Course:
    scene: Scene = replace(history.scene, definitions=definitions)
    model = _Model(history.readings, labels=history.labels)
    return course_of(play(scene, model, _Gateway(history.answers, labels=history.labels)))


def is_as_lived(course: Course, lived: Lived) -> bool:
    """Whether a play with a transaction's own release came out as it really did."""
    statuses = lived.statuses | (ASIDE if lived.statuses & ASIDE else frozenset())
    was_verified = len(lived.statuses) > 1
    return (
        course.stuck_at is None
        and course.tool == lived.tool
        and course.status in statuses
        and (was_verified or course.status in ASIDE or course.reason_code == lived.reason_code or lived.is_expired)
        and dict(course.values) == dict(lived.values)
        and len(course.confirmations) == lived.confirmations
    )


def _stand(course: Course) -> Stand:
    return Stand(course.tool, course.status, course.reason_code, is_known=course.stuck_at is None)


@dataclass(slots=True)
class _Model(RecordedModel):
    """Answers from what was read then. Items that were named by their keys then are those with the same labels now."""

    labels: Mapping[str, str] = field(default_factory=dict)

    def complete(
        self,
        component: str,
        payload: Mapping[str, JSON],
        schema: Mapping[str, JSON],
        *,
        profiles: Mapping[str, ProfileSpec],
    ) -> Completion | Unavailable:
        known = RecordedModel.complete(self, component, payload, schema, profiles=profiles)
        if component != REPLY or not isinstance(known, Completion) or not isinstance(known.value, dict):
            return known
        return replace(known, value=known.value | {"keep_item_keys": self._now(known.value, payload["items"])})

    def _now(self, reading: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> Any:
        then = reading.get("keep_item_keys")
        if not isinstance(then, list):
            return then
        keys = {item["label"]: item["key"] for item in items}
        # A name stays one that does not fit, so that it is read as it was read then.
        return [keys.get(self.labels.get(key, ""), key) if isinstance(key, str) else key for key in then]


@dataclass(slots=True)
class _Gateway(RecordedGateway):
    """Answers as the tools answered then. A tool that repeats our key of an item repeats the one of now."""

    labels: Mapping[str, str] = field(default_factory=dict)

    def call(self, call: Call) -> Outcome:
        outcome = RecordedGateway.call(self, call)
        sent = call.meta.get("agentplatform/item_keys")
        return _renamed(outcome, self._now(sent)) if sent and isinstance(outcome, Answered) else outcome

    def _now(self, sent: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
        """Key then → key now; the longest first, as one may begin another."""
        keys = {item["label"]: item["key"] for item in sent}
        pairs = [(then, keys[label]) for then, label in self.labels.items() if label in keys]
        return sorted(pairs, key=lambda pair: -len(pair[0]))


def _renamed(answer: Answered, keys: Sequence[tuple[str, str]]) -> Answered:
    text = json.dumps([answer.structured, answer.texts])
    for then, now in keys:
        text = text.replace(then, now)
    structured, texts = json.loads(text)
    return replace(answer, structured=structured, texts=tuple(texts))
