"""One transaction as its page shows it: items, arguments, confirmations, attempts, timeline, messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from transactions.console import labels
from transactions.console.labels import Badge, Text
from transactions.console.presentation import (
    Items,
    Json,
    Moment,
    duration,
    items_of,
    json_view,
    moment,
    plain,
)
from transactions.models import Attempt, Confirmation, Event, Item, Transaction
from transactions.services.reviewing import OPERATOR
from transactions.services.stepping import BEFORE

USER_KINDS = frozenset({"user.message", "confirmation.answered"})


@dataclass(frozen=True, slots=True)
class ItemLine:
    """One item with its outcome and why we hold it to be that."""

    position: int
    label: str
    fields: list[tuple[str, str]]
    status: Badge
    reason: str
    protocol: str
    verdict: Text
    verdict_code: str
    rule: str
    evidence: Json | None
    unconfirmed: bool


def item_line(item: Item) -> ItemLine:
    # A field that only repeats the label tells nothing.
    fields = [(name, plain(value)) for name, value in item.fields.items() if value != item.label]
    return ItemLine(
        position=item.position,
        label=item.label,
        fields=fields,
        status=labels.badge(labels.ITEMS, item.status),
        reason=item.reason or "",
        protocol=item.protocol or "",
        verdict=labels.verdict_of(item),
        verdict_code=item.verdict_source,
        rule=item.rule,
        evidence=json_view(item.evidence, limit=5_000),
        unconfirmed=item.unconfirmed,
    )


def summary_of(items: Iterable[Item]) -> Items:
    return items_of(Counter(item.status for item in items if not item.unconfirmed))


@dataclass(frozen=True, slots=True)
class ArgumentLine:
    name: str
    value: str
    source: Text
    source_code: str


def argument_lines(transaction: Transaction) -> list[ArgumentLine]:
    return [
        ArgumentLine(
            name=name,
            value=plain(held.get("value")),
            source=labels.words(labels.SOURCES, held.get("source", "")),
            source_code=held.get("source", ""),
        )
        for name, held in transaction.arguments.items()
    ]


@dataclass(frozen=True, slots=True)
class Check:
    """The pre-validation; ``eligible`` None: there was no verdict."""

    tool: str
    eligible: bool | None
    fail_open_used: bool
    error: str
    request: Json | None
    answer: Json | None


def check_of(transaction: Transaction) -> Check | None:
    held = transaction.pre_validation
    if held is None:
        return None
    eligible, error = held.get("eligible"), held.get("error")
    return Check(
        tool=str(held.get("tool") or ""),
        eligible=eligible if isinstance(eligible, bool) else None,
        fail_open_used=bool(held.get("fail_open_used")),
        error=plain(error) if error else "",
        request=json_view(held.get("request")),
        answer=json_view(held.get("answer")),
    )


@dataclass(frozen=True, slots=True)
class ConfirmationBlock:
    id: str
    text: str
    digest: str
    status: Badge
    asked_at: Moment | None
    expires_at: Moment | None
    answered_by: Text
    answered_at: Moment | None


def confirmation_block(confirmation: Confirmation) -> ConfirmationBlock:
    return ConfirmationBlock(
        id=str(confirmation.pk),
        text=confirmation.text,
        digest=confirmation.digest,
        status=labels.badge(labels.CONFIRMATIONS, confirmation.status),
        asked_at=moment(confirmation.created_at),
        expires_at=moment(confirmation.expires_at),
        answered_by=labels.words(labels.ANSWERED_BY, confirmation.answered_by),
        answered_at=moment(confirmation.answered_at),
    )


@dataclass(frozen=True, slots=True)
class Step:
    """One node of a workflow beside the tool's own call; ``of_attempt``: it was asked for that earlier attempt."""

    node: str
    tool: str
    at: Moment | None
    is_before: bool
    of_attempt: int | None
    failure: str
    request: Json | None
    answer: Json | None


def step_of(kept: dict[str, Any]) -> Step:
    return Step(
        node=str(kept.get("node", "")),
        tool=str(kept.get("tool", "")),
        at=moment(parse_datetime(str(kept.get("at", ""))), milliseconds=True),
        is_before=kept.get("phase") == BEFORE,
        of_attempt=kept.get("of_attempt"),
        failure=str(kept.get("failure", "")),
        request=json_view(kept.get("request")),
        answer=json_view(kept.get("answer")),
    )


@dataclass(frozen=True, slots=True)
class AttemptBlock:
    number: int
    status: Badge
    idempotency_key: str
    sent_at: Moment | None
    answered_at: Moment | None
    took: str
    failure: str
    secondary_error: str
    request: Json | None
    raw_answer: Json | None
    normalised: Json | None
    steps: list[Step]


def attempt_block(attempt: Attempt) -> AttemptBlock:
    return AttemptBlock(
        number=attempt.number,
        status=labels.badge(labels.ATTEMPTS, attempt.status),
        idempotency_key=attempt.idempotency_key,
        sent_at=moment(attempt.sent_at, milliseconds=True),
        answered_at=moment(attempt.answered_at, milliseconds=True),
        took=duration(attempt.sent_at, attempt.answered_at) if attempt.sent_at else "",
        failure=attempt.failure,
        secondary_error=attempt.secondary_error or "",
        request=json_view(attempt.request),
        raw_answer=json_view(attempt.raw_answer),
        normalised=json_view(attempt.normalised),
        steps=[step_of(kept) for kept in attempt.steps if isinstance(kept, dict)],
    )


@dataclass(frozen=True, slots=True)
class ModelCall:
    component: str
    profile: str
    ms: str
    ok: bool


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One event: when, who, what in words, and the rule that fired."""

    at: Moment | None
    actor: Text
    kind: Text
    kind_code: str
    text: str
    rule: Text
    rule_code: str
    model_calls: list[ModelCall]
    data: Json | None
    is_incident: bool


def timeline_entry(event: Event) -> TimelineEntry:
    return TimelineEntry(
        at=moment(event.at, milliseconds=True),
        actor=_actor(event),
        kind=labels.words(labels.EVENTS, event.kind),
        kind_code=event.kind,
        text=_told(event),
        rule=labels.RULES.get(event.rule, ""),
        rule_code=event.rule,
        model_calls=[_model_call(call) for call in event.model_calls if isinstance(call, dict)],
        data=json_view(event.data, limit=10_000),
        is_incident=event.kind == "incident",
    )


def _actor(event: Event) -> Text:
    """Who did it; of operators, which one."""
    by = event.data.get("by") if event.actor == OPERATOR else None
    if isinstance(by, str) and by:
        return by
    return labels.words(labels.ACTORS, "user" if event.kind in USER_KINDS else event.actor)


def _model_call(call: dict[str, Any]) -> ModelCall:
    return ModelCall(
        component=str(call.get("component", "")),
        profile=str(call.get("profile", "")),
        ms=str(call.get("ms", "")),
        ok=call.get("ok") is not False,
    )


def _told(event: Event) -> str:
    """What the event says to a person without opening its data."""
    data = event.data
    match event.kind:
        case "transaction.moved":
            old, new = (labels.badge(labels.STATUSES, str(data.get(end, ""))).text for end in ("from", "to"))
            return f"{old} → {new}"
        case "confirmation.answered":
            return _("confirmed") if data.get("decision") == "confirm" else _("rejected")
        case "incident":
            return "; ".join(plain(told) for told in data.get("incidents", []))
        case "item.resolved":
            outcome = labels.badge(labels.ITEMS, plain(data.get("status"))).text
            return f"{plain(data.get('label'))}: {outcome}. {plain(data.get('reason'))}"
        case "review.needed":
            return str(labels.words(labels.WHYS, plain(data.get("why"))))
        case "review.changed":
            old, new = (labels.words(labels.REVIEW, plain(data.get(end))) for end in ("from", "to"))
            return " · ".join(part for part in (f"{old} → {new}", data.get("note")) if isinstance(part, str) and part)
        case "items.progress":
            return f"{data.get('done')}/{data.get('total')}"
        case _:
            text = data.get("text") or data.get("reason")
            return text if isinstance(text, str) else ""


@dataclass(frozen=True, slots=True)
class Message:
    """One line of the conversation; ``is_ours``: it belongs to this transaction."""

    is_user: bool
    text: str
    at: Moment | None
    is_ours: bool


def messages_of(events: Sequence[Event], transaction: Transaction, turns: set[Any]) -> list[Message]:
    return [
        Message(
            is_user=event.kind == "user.message",
            text=event.data["text"],
            at=moment(event.at),
            is_ours=event.transaction_id == transaction.pk or event.turn_id in turns,
        )
        for event in events
        if isinstance(event.data.get("text"), str)
    ]
