"""What a simulation came to, as values to show and to keep: what was read, decided, asked and would be called.

Nothing in it is secret: of a server only its name is told, never its headers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from tooling.gateway import Answered, Call, NoAnswer, NotSent, Outcome
from tooling.specs import JSON, Definitions, WorkflowNode, WorkflowSpec
from transactions.core.routing import keyword_in
from transactions.core.statuses import Rule
from transactions.readings import EXTRACTION, REPLY, ROUTING
from transactions.rehearsal.scenes import PlayedEvent, PlayedTransaction, Press, Scene, Text
from transactions.rehearsal.simulating import Simulated, Source
from transactions.services.advancing import question_for
from transactions.services.calls import rules_for, workflow_for

SECTIONS: Mapping[str, str] = {
    Rule.COLLECTING_VALUE_FOUND: "6.1",
    Rule.COLLECTING_NO_VALUE: "6.2",
    Rule.CONFIRMATION_BUTTON: "6.3",
    Rule.CONFIRMATION_EXPLICIT: "6.4",
    Rule.CONFIRMATION_AMBIGUOUS: "6.4",
    Rule.CONFIRMATION_COMPOUND: "6.5",
    Rule.CONFIRMATION_CHANGE_ITEMS: "6.5",
    Rule.CONFIRMATION_CHANGE_PARAMETERS: "6.5",
    Rule.CONFIRMATION_READ_REJECT: "6.5",
    Rule.CONFIRMATION_QUESTION: "6.5",
    Rule.CONFIRMATION_OTHER: "6.6",
    Rule.BUSY_QUEUED: "6.7",
    Rule.BUSY_REJECTED: "6.7",
    Rule.IDLE_KEYWORD: "6.8",
    Rule.IDLE_MODEL: "6.8",
    Rule.IDLE_FALLBACK: "6.8",
    Rule.SHIFT_ABANDONED: "6.6",
    Rule.SHIFT_PARKED: "6.6",
    Rule.SHIFT_CANCELLED: "6.8",
    Rule.MODEL_UNAVAILABLE: "5.7",
    Rule.STALE_CONFIRMATION: "6.3",
}
"""Where runtime.md has each rule."""

READINGS = (ROUTING, EXTRACTION, REPLY)
"""The components of the language model whose readings a turn keeps as evidence."""
TOLD = ("assistant.message", "parameters.requested", "confirmation.requested", "transaction.finished", "turn.queued")
"""The events whose text the customer reads."""


@dataclass(frozen=True, slots=True)
class RuleSeen:
    rule: str
    section: str


@dataclass(frozen=True, slots=True)
class IntentSeen:
    """The intent that a line was taken for. ``keyword``: what stood in it; the rest is the model's."""

    name: str
    by: Literal["keyword", "model"]
    keyword: str = ""
    decision: str = ""
    confidence: float | None = None
    threshold: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReadingSeen:
    """What the model read; ``dropped``: name → why its value does not count."""

    component: str
    kind: str
    values: Mapping[str, JSON]
    dropped: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LineSeen:
    """One line and what it led to. ``message`` None: the start, or a button."""

    message: str | None
    button: str
    intent: IntentSeen | None
    rules: tuple[RuleSeen, ...]
    readings: tuple[ReadingSeen, ...]
    model_calls: tuple[Mapping[str, JSON], ...]
    answers: tuple[str, ...]
    """What the customer reads, in order."""


@dataclass(frozen=True, slots=True)
class ItemSeen:
    label: str
    eligible: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ValidationSeen:
    """One run of a validator. ``answer``: what it said; ``error``: why it said nothing; ``source`` "": not asked."""

    tool: str
    source: str
    request: Mapping[str, JSON]
    answer: JSON
    error: str
    eligible: bool
    fail_open_used: bool
    items: tuple[ItemSeen, ...]
    reason_code: str


@dataclass(frozen=True, slots=True)
class MissingSeen:
    name: str
    question: str


@dataclass(frozen=True, slots=True)
class ConfirmationSeen:
    text: str
    items: tuple[ItemSeen, ...]


@dataclass(frozen=True, slots=True)
class RequestSeen:
    """A transaction as it stood at the end; ``arguments``: name → {"value", "source"}."""

    tool: str
    intent: str
    operation_type: str
    status: str
    reason_code: str
    reason: str
    arguments: Mapping[str, Mapping[str, JSON]]
    missing: tuple[MissingSeen, ...]
    validations: tuple[ValidationSeen, ...]
    confirmation: ConfirmationSeen | None
    """The one that was asked last."""


@dataclass(frozen=True, slots=True)
class NodeSeen:
    id: str
    action: str
    input: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class CallSeen:
    """The call that a yes would make, to the letter; through a workflow its nodes decide what each tool gets."""

    server: str
    tool: str
    arguments: Mapping[str, JSON]
    meta: Mapping[str, JSON]
    workflow: str
    nodes: tuple[NodeSeen, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """The whole simulation. ``executed`` is never anything but false, and said so that nobody wonders."""

    lines: tuple[LineSeen, ...]
    requests: tuple[RequestSeen, ...]
    next_call: CallSeen | None
    whole: bool
    """False: what was asked outside did not suffice, or there was no time."""
    executed: Literal[False] = False

    @property
    def last(self) -> RequestSeen | None:
        """The request that the conversation came to."""
        return self.requests[-1] if self.requests else None


def outcome(simulated: Simulated) -> Seen:
    """What ``simulated`` came to."""
    scene, played = simulated.scene, simulated.played
    return Seen(
        lines=tuple(_lines(simulated)),
        requests=tuple(_request(one, simulated) for one in played.transactions),
        next_call=_call(played.next_call, scene.definitions) if played.next_call else None,
        whole=played.is_whole,
    )


def as_json(seen: Any) -> Any:
    """The values of this module as JSON."""
    return asdict(seen)


# Lines ------------------------------------------


def _lines(simulated: Simulated) -> Iterator[LineSeen]:
    scene = simulated.scene
    first = -1 if scene.start is not None else 0
    for number in range(first, len(scene.lines)):
        events = [event for event in simulated.played.events if event.line == number]
        yield _line(scene, number, events)


def _line(scene: Scene, number: int, events: Sequence[PlayedEvent]) -> LineSeen:
    said = scene.lines[number] if number >= 0 else None
    # One turn a line; a shift is told twice, with what was left and with what was started.
    handled = [one for one in events if one.kind == "turn.handled"][-1:]
    message = said.text if isinstance(said, Text) else None
    return LineSeen(
        message=message,
        button=said.decision if isinstance(said, Press) else "",
        intent=_intent(scene.definitions, message or "", handled, events),
        rules=tuple(RuleSeen(one.rule, SECTIONS.get(one.rule, "")) for one in handled),
        readings=tuple(reading for one in handled for reading in _readings(one.data)),
        model_calls=tuple(dict(call) for one in handled for call in one.model_calls),
        answers=tuple(text for one in events if one.kind in TOLD and (text := one.data.get("text"))),
    )


def _readings(data: Mapping[str, Any]) -> Iterator[ReadingSeen]:
    for component in READINGS[1:]:
        if (read := data.get(component)) is not None:
            yield ReadingSeen(component, read["kind"], read["values"], read.get("dropped", {}))


def _intent(
    definitions: Definitions, message: str, handled: Sequence[PlayedEvent], events: Sequence[PlayedEvent]
) -> IntentSeen | None:
    """Why the line was taken for an intent; None where nothing looked for one."""
    for one in handled:
        if (read := one.data.get(ROUTING)) is not None:
            return IntentSeen(
                name=read["intent"] or "",
                by="model",
                decision=read["decision"],
                confidence=read["confidence"],
                threshold=definitions.router.confidence_threshold,
                reason=read["reason"],
            )
    started = [one.data["tool"] for one in events if one.kind == "transaction.started"]
    for intent in definitions.intents.values():
        if intent.enabled and set(intent.mcp_tools) & set(started) and (word := keyword_in(message, intent)):
            return IntentSeen(name=intent.name, by="keyword", keyword=word)
    return None


# Requests ------------------------------------------


def _request(transaction: PlayedTransaction, simulated: Simulated) -> RequestSeen:
    events = [event for event in simulated.played.events if event.transaction == transaction.id]
    return RequestSeen(
        tool=transaction.tool,
        intent=transaction.intent,
        operation_type=transaction.operation_type,
        status=transaction.status,
        reason_code=transaction.reason_code,
        reason=transaction.reason,
        arguments=transaction.arguments,
        missing=tuple(_missing(transaction, events, simulated.scene)),
        validations=tuple(_validations(transaction, events, simulated)),
        confirmation=_confirmation(events),
    )


def _missing(transaction: PlayedTransaction, events: Sequence[PlayedEvent], scene: Scene) -> Iterator[MissingSeen]:
    asked = {one.data["parameter"]: one.data["text"] for one in events if one.kind == "parameters.requested"}
    rules = rules_for(scene.definitions, transaction.tool)
    for name in transaction.missing:
        yield MissingSeen(name, asked.get(name) or question_for(rules, name, scene.locale))


def _confirmation(events: Sequence[PlayedEvent]) -> ConfirmationSeen | None:
    asked = [event.data for event in events if event.kind == "confirmation.requested"]
    return ConfirmationSeen(asked[-1]["text"], _items(asked[-1]["items"])) if asked else None


def _items(rows: Sequence[Mapping[str, Any]]) -> tuple[ItemSeen, ...]:
    return tuple(ItemSeen(row["label"], row["eligible"], row["reason"] or "") for row in rows)


def _validations(
    transaction: PlayedTransaction, events: Sequence[PlayedEvent], simulated: Simulated
) -> Iterator[ValidationSeen]:
    """One per verdict; a call carries the number of its run in its key."""
    verdicts = [event.data for event in events if event.kind == "pre_validation.finished"]
    for number, verdict in enumerate(verdicts, start=1):
        run = f"tx-{transaction.id}-v{number}"
        made = [one for one in simulated.played.calls if one[1].meta.get("agentplatform/idempotency_key") == run]
        # Where it was asked again, the last answer counts.
        answer, error = _said(simulated.answers.get(made[-1][0]) if made else None)
        said_yes = isinstance(answer, dict) and answer.get("eligible") is True
        yield ValidationSeen(
            tool=made[-1][1].tool if made else (transaction.pre_validation or {}).get("tool", ""),
            source=str(simulated.sources.get(made[-1][0], Source.RECORDED)) if made else "",
            request=dict(made[-1][1].arguments) if made else {},
            answer=answer,
            error=error,
            eligible=verdict["eligible"],
            fail_open_used=verdict["eligible"] and not said_yes,
            items=_items(verdict["items"]),
            reason_code=verdict["reason_code"] or "",
        )


def _said(answer: Outcome | None) -> tuple[JSON, str]:
    """What an answer says, and why it says nothing."""
    match answer:
        case Answered():
            said = answer.structured if answer.structured is not None else "\n".join(answer.texts)
            return said, "error" if answer.is_error else ""
        case NotSent() | NoAnswer():
            return None, answer.reason
        case None:
            return None, "not asked"


# The call ------------------------------------------


def _call(call: Call, definitions: Definitions) -> CallSeen:
    workflow = workflow_for(rules_for(definitions, call.tool))
    return CallSeen(
        server=call.server.name,
        tool=call.tool,
        arguments=call.arguments,
        meta=call.meta,
        workflow=f"{workflow.name} v{workflow.version}" if workflow else "",
        nodes=tuple(NodeSeen(one.id, one.action, one.input) for one in _in_order(workflow)) if workflow else (),
    )


def _in_order(workflow: WorkflowSpec) -> list[WorkflowNode]:
    """The nodes from the start on, as far as edges lead; which of several edges is taken only a run can tell."""
    known = {node.id: node for node in workflow.nodes}
    edges = sorted(workflow.edges, key=lambda edge: edge.priority)
    order, ahead = [], [workflow.start]
    while ahead:
        name = ahead.pop(0)
        if (node := known.pop(name, None)) is not None:
            order.append(node)
            ahead += [edge.target for edge in edges if edge.source == name]
    return order
