"""Reads what really happened to a transaction as something to play again: its lines, readings and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from tooling import catalog
from tooling.gateway import Answered, NoAnswer, NotSent, Outcome
from tooling.specs import Definitions
from transactions.core.outcomes import envelope_of
from transactions.core.statuses import AttemptStatus, Rule, Status
from transactions.llm import Completion, Unavailable
from transactions.models import Attempt, Confirmation, Event, Item, Transaction, Turn
from transactions.rehearsal.recorded import AnswerKey, ReadingKey
from transactions.rehearsal.recordings import Answers, Readings, readings_from_json
from transactions.rehearsal.scenes import Line, Press, Scene, Text
from transactions.services.stepping import AFTER, BEFORE
from transactions.workflows import REPEATS


class Why(StrEnum):
    """Why a transaction cannot be played again."""

    RETRY = "retry"
    NO_TEXT = "no_text"
    NOT_KEPT = "not_kept"
    NO_RELEASE = "no_release"
    NOT_ENDED = "not_ended"
    DIFFERENT = "different"
    """It was played with its own release, and did not come out as it did in reality."""
    TROUBLE = "trouble"


@dataclass(frozen=True, slots=True)
class Lived:
    """What became of it. ``statuses``: those that count as the same end, where asking later settled it."""

    tool: str
    statuses: frozenset[str]
    reason_code: str
    values: Mapping[str, Any]
    confirmations: int
    is_expired: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """A transaction to play: ``scene`` with the definitions that it ran with, and what was read and answered then.

    ``labels``: what the items were called, by their keys then; every play makes new keys.
    """

    scene: Scene
    readings: Readings
    answers: Answers
    labels: Mapping[str, str]
    lived: Lived


class NotKept(Exception):
    """Something that is needed to play the transaction was not kept."""


def history_of(transaction: Transaction) -> History | Why:
    """What ``transaction`` lived through, from the message that opened it to the last that touched it."""
    if transaction.parent_id is not None:
        return Why.RETRY
    if _is_open(transaction):
        return Why.NOT_ENDED
    try:
        definitions = catalog.release(transaction.release).definitions
    except catalog.NothingPublished:
        return Why.NO_RELEASE
    turns = _turns(transaction)
    if not turns or turns[0].answer is not None:
        return Why.NO_TEXT
    try:
        return _read(transaction, turns, definitions)
    except NotKept:
        return Why.NOT_KEPT


def _is_open(transaction: Transaction) -> bool:
    return not transaction.is_final and transaction.status != Status.VERIFYING


def _turns(transaction: Transaction) -> list[Turn]:
    """Those from the one that opened it to the last that touched it."""
    started = transaction.events.filter(kind="transaction.started").values_list("turn__number", flat=True).first()
    last = transaction.events.exclude(turn=None).order_by("-turn__number").values_list("turn__number", flat=True)
    if started is None:
        return []
    return list(
        Turn.objects.filter(
            conversation=transaction.conversation_id, number__gte=started, number__lte=last[0]
        ).order_by("number")
    )


def _read(transaction: Transaction, turns: Sequence[Turn], definitions: Definitions) -> History:
    events = _events(transaction, turns)
    said = {turn.pk for turn in turns}
    began = (one for one in events if one.kind == "transaction.started" and one.turn_id in said)
    started = [one.transaction_id for one in began if one.transaction_id is not None]
    involved = {one.pk: one for one in Transaction.objects.filter(pk__in=started)}
    shown = {str(one.pk): one.items for one in Confirmation.objects.filter(transaction__in=started)}
    conversation = transaction.conversation
    scene = Scene(
        definitions,
        tuple(_line(turn, shown) for turn in turns),
        locale=conversation.locale,
        identity=conversation.identity,
        executes=True,
        looks_ahead=False,
    )
    return History(
        scene=scene,
        readings=_readings(turns, events),
        answers=_numbered(_made(events, involved)),
        labels=_labels(started, shown.values()),
        lived=_lived(transaction, events),
    )


def _labels(started: Sequence[UUID], shown: Iterable[Sequence[Mapping[str, Any]]]) -> dict[str, str]:
    """Of the items that were asked about, and of those that nobody was asked about."""
    asked = {item["key"]: item["label"] for items in shown for item in items}
    return dict(Item.objects.filter(transaction__in=started).values_list("key", "label")) | asked


def _events(transaction: Transaction, turns: Sequence[Turn]) -> list[Event]:
    """Those of the conversation since the first turn, of its turns and of what they began."""
    since = Event.objects.filter(conversation=transaction.conversation_id, turn=turns[0]).order_by("pk")
    first = since.values_list("pk", flat=True)[0]
    return list(Event.objects.filter(conversation=transaction.conversation_id, pk__gte=first).order_by("pk"))


# Lines ------------------------------------------


def _line(turn: Turn, shown: Mapping[str, Sequence[Mapping[str, Any]]]) -> Line:
    if turn.answer is None:
        return Text(turn.text, is_late=turn.rule == Rule.STALE_CONFIRMATION)
    answer = turn.answer
    items = shown.get(str(answer.get("confirmation_id")))
    if items is None:
        raise NotKept
    keys = answer.get("item_keys")
    keep = None if keys is None else tuple(item["label"] for item in items if item["key"] in keys)
    return Press(answer["decision"], keep)


# Readings ------------------------------------------


def _readings(turns: Sequence[Turn], events: Sequence[Event]) -> Readings:
    handled = {event.turn_id: event for event in events if event.kind == "turn.handled"}
    found: dict[ReadingKey, Completion | Unavailable] = {}
    for number, turn in enumerate(turns):
        if turn.answer is None:
            found |= readings_from_json(_rows(number, handled.get(turn.pk)))
    return found


def _rows(number: int, event: Event | None) -> Iterator[Mapping[str, Any]]:
    """What the model answered about one message; NotKept where that is not known in full."""
    rows = event.data.get("readings", []) if event is not None else None
    if event is None or rows is None or len(rows) != len(event.model_calls) or "given_up" in event.data:
        raise NotKept
    for row in rows:
        yield {**row, "line": number}


# Answers ------------------------------------------


def _made(events: Sequence[Event], involved: Mapping[UUID, Transaction]) -> Iterator[tuple[str, Outcome]]:
    """The calls of what began in this stretch, in their order, each with what it came to."""
    runs = {pk: iter(_validations(one)) for pk, one in involved.items()}
    for event in events:
        if event.transaction_id is None or event.transaction_id not in involved:
            continue
        if event.kind == "pre_validation.finished":
            yield from _next_run(runs[event.transaction_id])
        elif event.kind == "execution.started":
            yield from _executed(involved[event.transaction_id])


def _next_run(runs: Iterator[Mapping[str, Any]]) -> Iterator[tuple[str, Outcome]]:
    run = next(runs, None)
    if run is None:
        raise NotKept
    yield run["tool"], _validator_said(run)


def _validations(transaction: Transaction) -> Sequence[Mapping[str, Any]]:
    """All runs of its validators; older rows know the last one only."""
    if len(transaction.validations) == transaction.validator_runs:
        return list(transaction.validations)
    if transaction.validator_runs == 1 and transaction.pre_validation is not None:
        return [transaction.pre_validation]
    raise NotKept


def _validator_said(run: Mapping[str, Any]) -> Outcome:
    """The way back from what is kept of a run: reading it gives the same."""
    answer, error = run["answer"], run["error"]
    if error == "is_error":
        return Answered(raw=answer, is_error=True)
    if error is not None:
        return NotSent(error, again=False)
    said = Answered({}, texts=(answer,)) if isinstance(answer, str) else Answered({}, answer)
    read = envelope_of(run["tool"], structured=said.structured, texts=said.texts, is_error=False)
    if read["result"] != answer:
        raise NotKept
    return said


def _executed(transaction: Transaction) -> Iterator[tuple[str, Outcome]]:
    """The calls of the attempt that decided: those of a workflow's nodes around the tool's own."""
    attempt = transaction.attempts.filter(is_resend=False).order_by("-number").first()
    if attempt is None:
        raise NotKept
    steps = [step for step in attempt.steps if step["claim"] == attempt.steps[-1]["claim"]]
    yield from ((step["tool"], _node_said(step)) for step in steps if step["phase"] == BEFORE)
    if (outcome := _attempt_said(attempt)) is not None:
        # Where a tool changes nothing, no answer is a reason to ask again.
        times = 1 + REPEATS if isinstance(outcome, NoAnswer) else 1
        yield from [(transaction.tool, outcome)] * times
    yield from ((step["tool"], _node_said(step)) for step in steps if step["phase"] == AFTER)


def _node_said(step: Mapping[str, Any]) -> Outcome:
    return NotSent(step["failure"], again=False) if step["failure"] else _answered(step["answer"])


def _attempt_said(attempt: Attempt) -> Outcome | None:
    """What the one call came to; None where none was made."""
    raw = attempt.raw_answer
    match attempt.status:
        case AttemptStatus.ANSWERED if isinstance(raw, Mapping) and "structured" in raw:
            return _answered(raw)
        case AttemptStatus.ANSWERED:
            return NotSent(attempt.failure, again=False, raw=raw)
        case AttemptStatus.UNKNOWN:
            return NoAnswer(attempt.failure, raw)
        case AttemptStatus.NOT_SENT if attempt.sent_at is not None:
            return NotSent(attempt.failure, again=False)
        case _:
            return None


def _answered(raw: Mapping[str, Any]) -> Answered:
    return Answered(raw["answer"], raw["structured"], tuple(raw["texts"]), raw["is_error"], raw["schema_error"])


def _numbered(made: Iterator[tuple[str, Outcome]]) -> Answers:
    counts: Counter[str] = Counter()
    answers: dict[AnswerKey, Outcome] = {}
    for tool, outcome in made:
        answers[AnswerKey(tool, counts[tool])] = outcome
        counts[tool] += 1
    return answers


# What became of it ------------------------------------------


def _lived(transaction: Transaction, events: Sequence[Event]) -> Lived:
    own = [event for event in events if event.transaction_id == transaction.pk]
    moves = [(event.data["from"], event.data["to"]) for event in own if event.kind == "transaction.moved"]
    return Lived(
        tool=transaction.tool,
        statuses=frozenset(_ends(transaction, moves)),
        reason_code=transaction.reason_code,
        values=transaction.known,
        confirmations=sum(event.kind == "confirmation.opened" for event in own),
        is_expired=transaction.status == Status.EXPIRED,
    )


def _ends(transaction: Transaction, moves: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Time ends nothing while a scene is played, and nobody asks what became of an unknown outcome."""
    if transaction.status == Status.EXPIRED:
        yield moves[-1][0]
        return
    yield transaction.status
    if (Status.EXECUTING, Status.VERIFYING) in moves:
        yield Status.VERIFYING
