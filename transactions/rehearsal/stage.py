"""Plays a scene with the runtime itself, on rows that are taken back: no model and no tool is reached from here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tooling.gateway import Call
from tooling.trying import as_if_published, taken_back
from transactions import execution, turns
from transactions.core.errors import ConfirmationClosed, InvalidItems
from transactions.core.parameters import missing
from transactions.core.statuses import AttemptStatus, ConfirmationStatus, Rule, Status
from transactions.models import Attempt, Confirmation, Conversation, Event, Transaction
from transactions.rehearsal.recorded import RecordedGateway, RecordedModel
from transactions.rehearsal.scenes import (
    Line,
    Played,
    PlayedEvent,
    PlayedItem,
    PlayedTransaction,
    Press,
    Scene,
    Start,
    Text,
)
from transactions.services import advancing, confirming, executing, intake
from transactions.services.advancing import Opening
from transactions.services.calls import rules_for, rules_of
from transactions.services.conversations import open_rehearsal
from transactions.services.rows import hold
from transactions.services.turning import occupying

MOST_STEPS = 12
"""Validator runs and calls that may follow one line; the runtime's own limits are lower."""


@dataclass(slots=True)
class _Stage:
    scene: Scene
    conversation: Conversation
    model: RecordedModel
    gateway: RecordedGateway
    seen: int = 0
    events: list[PlayedEvent] = field(default_factory=list)

    @property
    def is_stuck(self) -> bool:
        return bool(self.model.wanted or self.gateway.wanted)


def play(scene: Scene, model: RecordedModel, gateway: RecordedGateway) -> Played:
    """Play ``scene`` to its end, or until something is not recorded. Nothing stays in the database.

    The very functions run that serve customers, so what is decided here is what would be decided for them.
    """
    with as_if_published(scene.definitions) as published:
        conversation = open_rehearsal(locale=scene.locale, identity=scene.identity)
        stage = _Stage(scene, conversation, model, gateway)
        if scene.start is not None:
            _start(stage, scene.start, published.number)
            _work(stage)
        _note_events(stage, -1)
        for number, line in enumerate(scene.lines):
            if stage.is_stuck:
                break
            model.line = number
            _say(stage, number, line)
            _work(stage)
            _note_events(stage, number)
        return Played(
            events=tuple(stage.events),
            transactions=tuple(_transactions(conversation)),
            next_call=_next_call(conversation) if scene.looks_ahead and not stage.is_stuck else None,
            calls=tuple(gateway.made),
            wanted_readings=tuple(model.wanted),
            wanted_answers=tuple(gateway.wanted),
        )
    raise AssertionError("unreachable: the block above returns")


def _start(stage: _Stage, start: Start, release: int) -> None:
    rules = rules_for(stage.scene.definitions, start.tool)
    opening = Opening(_intent_of(stage.scene, start.tool), start.tool, release, "", start.known)
    advancing.open_transaction(hold(stage.conversation.pk), opening, rules, turn=None)


def _intent_of(scene: Scene, tool: str) -> str:
    return next((one.name for one in scene.definitions.intents.values() if tool in one.mcp_tools), "")


def _say(stage: _Stage, number: int, line: Line) -> None:
    key, client_message_id = stage.conversation.pk, f"line-{number}"
    match line:
        case Text(text=text, is_late=is_late):
            seen_seq = 0 if is_late else None
            intake.receive_message(key, client_message_id=client_message_id, text=text, seen_seq=seen_seq)
            turns.run_turns(key, model=stage.model)
        case Press():
            _press(stage, line, client_message_id)


def _press(stage: _Stage, press: Press, client_message_id: str) -> None:
    """The button of the open confirmation; where none is open any more, a button says nothing."""
    confirmation = _open_confirmation(stage.conversation)
    if confirmation is None:
        return
    keys = None
    if press.keep is not None:
        keys = [item["key"] for item in confirmation.items if item["label"] in press.keep]
    try:
        intake.receive_answer(
            stage.conversation.pk,
            client_message_id=client_message_id,
            confirmation_id=str(confirmation.pk),
            decision=press.decision,
            item_keys=keys,
        )
    except (ConfirmationClosed, InvalidItems):
        return


def _open_confirmation(conversation: Conversation) -> Confirmation | None:
    found = Confirmation.objects.filter(transaction__conversation=conversation, status=ConfirmationStatus.OPEN)
    return found.select_related("transaction").first()


def _work(stage: _Stage) -> None:
    """What workers would do after this line, and the turns that waited for it."""
    for _ in range(MOST_STEPS):
        transaction = occupying(stage.conversation.pk)
        if transaction is None or stage.is_stuck:
            return
        if transaction.status == Status.PRE_VALIDATING:
            execution.prevalidate(transaction.pk, gateway=stage.gateway)
        elif transaction.status == Status.EXECUTING and stage.scene.executes:
            for attempt in transaction.attempts.filter(status=AttemptStatus.READY):
                execution.execute(attempt.pk, gateway=stage.gateway)
        else:
            return
        turns.run_turns(stage.conversation.pk, model=stage.model)


# What is seen ------------------------------------------


def _note_events(stage: _Stage, line: int) -> None:
    for event in Event.objects.filter(conversation=stage.conversation, pk__gt=stage.seen).order_by("pk"):
        stage.seen = event.pk
        stage.events.append(
            PlayedEvent(
                line=line,
                kind=event.kind,
                rule=event.rule,
                data=event.data,
                model_calls=tuple(event.model_calls),
                transaction=str(event.transaction_id or ""),
            )
        )


def _transactions(conversation: Conversation) -> Iterator[PlayedTransaction]:
    for transaction in Transaction.objects.filter(conversation=conversation).order_by("created_at", "pk"):
        required = rules_of(transaction).policy.requires
        items = transaction.items.filter(unconfirmed=False).order_by("position")
        yield PlayedTransaction(
            id=str(transaction.pk),
            tool=transaction.tool,
            intent=transaction.intent,
            operation_type=transaction.operation_type,
            status=transaction.status,
            reason_code=transaction.reason_code,
            reason=transaction.reason,
            arguments={
                name: {"value": held["value"], "source": held["source"]} for name, held in transaction.arguments.items()
            },
            missing=missing(required, transaction.known),
            pre_validation=transaction.pre_validation,
            items=tuple(PlayedItem(item.label, item.status, item.reason or "") for item in items),
            questions=transaction.events.filter(kind="parameters.requested").count(),
            confirmations=tuple(transaction.confirmations.order_by("requested_seq").values_list("text", flat=True)),
        )


def _next_call(conversation: Conversation) -> Call | None:
    """The call that the gate would let through next, after a yes where one is asked for."""
    with taken_back():
        confirmation = _open_confirmation(conversation)
        if confirmation is not None:
            rule = Rule.CONFIRMATION_BUTTON
            confirming.confirm(hold(conversation.pk), confirmation, rule=rule, by="button")
        ready = Attempt.objects.filter(transaction__conversation=conversation, status=AttemptStatus.READY).first()
        claim = executing.claim(ready.pk) if ready else None
        return executing.gate(claim) if claim else None
    raise AssertionError("unreachable: the block above returns")
