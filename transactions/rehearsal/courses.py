"""What a play came to, as far as two plays of the same conversation are compared; values, without rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tooling.gateway import Call
from tooling.specs import OperationType
from transactions.core.statuses import FINAL, Status
from transactions.rehearsal.recorded import AnswerKey, ReadingKey
from transactions.rehearsal.scenes import Played, PlayedEvent, PlayedTransaction

EXTRACTION = "transaction_parameter_extraction"
ASIDE = frozenset({Status.ABANDONED, Status.PARKED})
"""Left for another request; whether it may be taken up later is not what is compared."""
HARMLESS = frozenset({OperationType.READ_ONLY, OperationType.INTERNAL})
MOST_LINES = 1_000_000


class Difference(StrEnum):
    """What other definitions would do with the same conversation; a transaction may have several."""

    SKIPS_CONFIRMATION = "skips_confirmation"
    UNCHECKED = "unchecked"
    REFUSED = "refused"
    NOT_REFUSED = "not_refused"
    OTHER_TOOL = "other_tool"
    ASKS_MORE = "asks_more"
    ASKS_FEWER = "asks_fewer"
    MORE_CONFIRMATIONS = "more_confirmations"
    OTHER_VALUES = "other_values"
    OTHER_OUTCOME = "other_outcome"
    UNCLEAR = "unclear"
    """The model or a tool would be asked what it was not asked then, and before that nothing differs."""


@dataclass(frozen=True, slots=True)
class Course:
    """The way of the transaction that the first message opens. Lines are numbers from 0; ``tool`` "": none opened.

    From ``stuck_at`` on it is not known how it goes on, because ``wanted`` or an answer of a tool is not recorded.
    """

    tool: str = ""
    operation_type: str = ""
    status: str = ""
    reason_code: str = ""
    questions: tuple[int, ...] = ()
    """After which lines a value was asked for."""
    confirmations: tuple[int, ...] = ()
    """After which lines a confirmation was opened."""
    is_confirmed: bool = False
    is_called: bool = False
    was_asked_about: bool = False
    """A validator ran."""
    is_checked: bool = False
    """A validator gave its verdict, and it counted."""
    sent: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """What its validators and its tool were sent, each time."""
    values: Mapping[str, Any] = field(default_factory=dict)
    items: tuple[tuple[str, str], ...] = ()
    ended_at: int | None = None
    stuck_at: int | None = None
    wanted: ReadingKey | AnswerKey | None = None

    @property
    def goes_ahead(self) -> bool:
        return self.is_called or any(line < self.until for line in self.confirmations)

    @property
    def until(self) -> int:
        """The line from which on nothing is known of it."""
        return MOST_LINES if self.stuck_at is None else self.stuck_at


def course_of(played: Played) -> Course:
    """How the transaction went that the first line opened."""
    followed, stuck_at, wanted = _followed(played), _stuck_at(played), _wanted(played)
    if followed is None:
        return Course(stuck_at=stuck_at, wanted=wanted)
    own = [event for event in played.events if event.transaction == followed.id]
    ended_at = _ended_at(own)
    if stuck_at is not None and ended_at is not None and ended_at < stuck_at:
        stuck_at = wanted = None
    check = followed.pre_validation or {}
    calls = [call for _, call in played.calls if call.meta.get("agentplatform/transaction_id") == followed.id]
    return Course(
        tool=followed.tool,
        operation_type=followed.operation_type,
        status=followed.status,
        reason_code=followed.reason_code,
        questions=_lines(own, "parameters.requested"),
        confirmations=_lines(own, "confirmation.opened"),
        is_confirmed=any(one.data.get("decision") == "confirm" for one in own if one.kind == "confirmation.answered"),
        is_called=any("agentplatform/request_digest" in call.meta for call in calls),
        was_asked_about=bool(check),
        is_checked=bool(check) and not check["fail_open_used"] and not check["error"],
        sent=_sent(calls, followed.id),
        values={name: held["value"] for name, held in followed.arguments.items()},
        items=tuple((item.label, item.status) for item in followed.items),
        ended_at=ended_at,
        stuck_at=stuck_at,
        wanted=wanted,
    )


def _followed(played: Played) -> PlayedTransaction | None:
    started = [one.transaction for one in played.events if one.kind == "transaction.started" and one.line == 0]
    return next((one for one in played.transactions if started and one.id == started[0]), None)


def _stuck_at(played: Played) -> int | None:
    if played.is_whole:
        return None
    return max((event.line for event in played.events), default=0)


def _wanted(played: Played) -> ReadingKey | AnswerKey | None:
    if played.wanted_readings:
        return played.wanted_readings[0].key
    return played.wanted_answers[0].key if played.wanted_answers else None


def _lines(events: Sequence[PlayedEvent], kind: str) -> tuple[int, ...]:
    return tuple(event.line for event in events if event.kind == kind)


def _ended_at(events: Sequence[PlayedEvent]) -> int | None:
    ends = (one.line for one in events if one.kind == "transaction.moved" and one.data["to"] in FINAL)
    return next(ends, None)


def _sent(calls: Sequence[Call], transaction: str) -> dict[tuple[str, int], str]:
    counts: Counter[str] = Counter()
    sent = {}
    for call in calls:
        sent[call.tool, counts[call.tool]] = _plain(call.arguments, transaction)
        counts[call.tool] += 1
    return sent


def _plain(value: Any, transaction: str) -> str:
    """As text to compare; the key that every run makes anew is the same for all."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return text.replace(transaction, "").replace(transaction.replace("-", "")[:12], "")


# Two of them ------------------------------------------


def differences(before: Course, after: Course) -> tuple[Difference, ...]:
    """What is different in ``after``, in the order of ``Difference``; as far as both are known."""
    found = set(_in_safety(before, after))
    if _is_other_tool(before, after):
        found.add(Difference.OTHER_TOOL)
    else:
        found |= set(_in_answers(before, after))
        found |= set(_in_questions(before, after, found))
        found |= set(_in_outcome(before, after, found))
    if after.stuck_at is not None and not found:
        found.add(Difference.UNCLEAR)
    return tuple(one for one in Difference if one in found)


def _in_safety(before: Course, after: Course) -> Iterator[Difference]:
    """Rules that protected somebody, and do not any more; another tool that only reads needs none."""
    if after.tool != before.tool and after.operation_type in HARMLESS:
        return
    if after.is_called and not after.is_confirmed and before.confirmations:
        yield Difference.SKIPS_CONFIRMATION
    stood_in_the_way = before.is_checked or (before.was_asked_about and not before.goes_ahead)
    wants_check = isinstance(after.wanted, AnswerKey) and not after.is_called
    if stood_in_the_way and after.goes_ahead and not after.is_checked and not wants_check:
        yield Difference.UNCHECKED


def _is_other_tool(before: Course, after: Course) -> bool:
    if after.tool:
        return after.tool != before.tool
    wanted = after.wanted
    if after.stuck_at != 0 or not isinstance(wanted, ReadingKey):
        return True
    return bool(wanted.tool) and wanted.tool != before.tool


def _in_answers(before: Course, after: Course) -> Iterator[Difference]:
    was_refused, is_refused = before.status == Status.REFUSED, after.status == Status.REFUSED
    if after.stuck_at is None and is_refused and not was_refused:
        yield Difference.REFUSED
    goes_on = after.stuck_at is None or (before.ended_at is not None and before.ended_at < after.stuck_at)
    if was_refused and not is_refused and goes_on:
        yield Difference.NOT_REFUSED


def _in_questions(before: Course, after: Course, found: set[Difference]) -> Iterator[Difference]:
    until = min(after.until, *(end + 1 for end in (before.ended_at, after.ended_at) if end is not None), MOST_LINES)
    asked, asks = (_number(course.questions, until) for course in (before, after))
    if asks > asked or _misses_a_value(after):
        yield Difference.ASKS_MORE
    elif asks < asked and Difference.REFUSED not in found:
        yield Difference.ASKS_FEWER
    is_newly_asked = _number(after.confirmations, until) > len(before.confirmations)
    if is_newly_asked and Difference.NOT_REFUSED not in found:
        yield Difference.MORE_CONFIRMATIONS


def _number(lines: Sequence[int], until: int) -> int:
    return sum(line < until for line in lines)


def _misses_a_value(course: Course) -> bool:
    """A value must be read from the first message that nobody looked for then."""
    return isinstance(course.wanted, ReadingKey) and course.wanted.component == EXTRACTION and course.wanted.line == 0


def _in_outcome(before: Course, after: Course, found: set[Difference]) -> Iterator[Difference]:
    if _other_values(before, after):
        yield Difference.OTHER_VALUES
    waits = Difference.ASKS_MORE in found or (Difference.MORE_CONFIRMATIONS in found and after.ended_at is None)
    if after.stuck_at is not None or waits or found & {Difference.REFUSED, Difference.NOT_REFUSED}:
        return
    if (end_of(before), _items(before)) != (end_of(after), _items(after)):
        yield Difference.OTHER_OUTCOME


def _items(course: Course) -> list[tuple[str, str]]:
    """Where it was left for another request, what became of them depends on whether it may be taken up again."""
    return [(label, "" if course.status in ASIDE else status) for label, status in course.items]


def _other_values(before: Course, after: Course) -> bool:
    if any(after.sent[key] != text for key, text in before.sent.items() if key in after.sent):
        return True
    return after.stuck_at is None and end_of(before) == end_of(after) and before.values != after.values


def end_of(course: Course) -> tuple[str, str]:
    """Status and reason; ("", "") where it was left for another request."""
    return ("", "") if course.status in ASIDE else (course.status, course.reason_code)
