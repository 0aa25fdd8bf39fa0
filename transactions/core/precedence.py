"""What one turn does to a conversation: the order of precedence of runtime.md §6, as one pure function.

``decide`` is called again and again for one turn: it answers with the model reading that it needs next, or with the
decision. So what costs a model call, and in which order, is decided here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tooling.specs import JSON, Phrases
from transactions.core.confirmation import (
    ReplyReading,
    explicit_answer,
    is_ambiguous,
    starts_with_explicit_yes,
)
from transactions.core.parameters import Extraction
from transactions.core.retrying import is_retry_phrase
from transactions.core.routing import Routing
from transactions.core.statuses import BUSY, Rule, Status

# The state and the turn ------------------------------------------


@dataclass(frozen=True, slots=True)
class State:
    """What the conversation is occupied with; ``status`` None: with nothing (VERIFYING does not occupy)."""

    status: Status | None = None
    question: str = ""
    """The open confirmation's text with the operation's description: what the user was asked."""
    requested_seq: int = 0
    """Where the open confirmation was first shown."""
    offered_seq: int | None = None
    """Where the user was last asked whether to go on with what was set aside; None: something else was said since."""
    retry_is_aside: bool = False
    """What was set aside is itself another try of what failed."""


@dataclass(frozen=True, slots=True)
class Said:
    """A text of the user. ``seen_seq`` is the last event that was on screen, else the turn's own seq (§6.3)."""

    text: str
    seen_seq: int


@dataclass(frozen=True, slots=True)
class Setting:
    """What of the release and the channel the precedence depends on."""

    locale: str
    confidence_threshold: float = 0.65
    phrases: Mapping[str, Phrases] = field(default_factory=dict)
    keyword_intent: str | None = None
    """The intent whose keyword the text holds; counts only where nothing occupies the conversation (§6.8)."""
    can_retry: bool = False
    """Items of the conversation's newest transaction failed and may be tried again (§9.5)."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A component of the language model did not answer, or not readably (§5.7)."""

    component: str


@dataclass(frozen=True, slots=True)
class Readings:
    """What the model has read of this turn so far; each component is called at most once."""

    extraction: Extraction | Failed | None = None
    reply: ReplyReading | Failed | None = None
    routing: Routing | Failed | None = None


# Decisions ------------------------------------------


@dataclass(frozen=True, slots=True)
class NeedExtraction:
    """Read the pending parameters."""


@dataclass(frozen=True, slots=True)
class NeedReply:
    """Read the text against the open confirmation."""


@dataclass(frozen=True, slots=True)
class NeedRouting:
    """Ask the EnterpriseRouter."""


Need = NeedExtraction | NeedReply | NeedRouting


@dataclass(frozen=True, slots=True)
class TakeValues:
    """Values of pending parameters, or corrections of known ones while collecting."""

    rule: Rule
    values: Mapping[str, JSON]
    source: str = "extraction"


@dataclass(frozen=True, slots=True)
class Confirm:
    rule: Rule
    question: str | None = None
    """What the user asked or wanted besides, to be answered too."""


@dataclass(frozen=True, slots=True)
class Reject:
    rule: Rule


@dataclass(frozen=True, slots=True)
class ChangeItems:
    rule: Rule
    keep: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeParameters:
    rule: Rule
    values: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Stay:
    """Nothing moves: answer ``question`` if there is one, then ask the pending question again."""

    rule: Rule
    question: str | None = None


@dataclass(frozen=True, slots=True)
class AskMeaning:
    """The word names the operation and the escape alike: ask which (§6.4)."""

    rule: Rule = Rule.CONFIRMATION_AMBIGUOUS


@dataclass(frozen=True, slots=True)
class Shift:
    """Leave the active transaction for another intent (§6.2, §6.6)."""

    rule: Rule
    intent: str


@dataclass(frozen=True, slots=True)
class Leave:
    """The router read that the user gives the request up, for nothing else."""

    rule: Rule


@dataclass(frozen=True, slots=True)
class Queue:
    """Wait until the validator or the tool is done (§6.7)."""

    rule: Rule = Rule.BUSY_QUEUED


@dataclass(frozen=True, slots=True)
class Open:
    """Start a transaction for ``intent`` (§6.8)."""

    rule: Rule
    intent: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again what failed (§9.5)."""

    rule: Rule = Rule.IDLE_KEYWORD


@dataclass(frozen=True, slots=True)
class Resume:
    """Take up what was set aside: a yes to the offer of it (§6.6)."""

    rule: Rule


@dataclass(frozen=True, slots=True)
class LetGo:
    """A no to the offer to go on with what was set aside."""

    rule: Rule


@dataclass(frozen=True, slots=True)
class Answer:
    """Nothing to start: answer the question, or say what can be done."""

    rule: Rule
    question: str | None = None
    is_bare_answer: bool = False
    """It was a yes or a no, and nothing is open."""
    is_clear: bool = False
    """The router is sure that nothing was asked for: a greeting, a thank you."""


@dataclass(frozen=True, slots=True)
class SayAgain:
    """The model failed: nothing changes and the user is told honestly (§5.7)."""

    component: str
    rule: Rule = Rule.MODEL_UNAVAILABLE


Decision = (
    TakeValues
    | Confirm
    | Reject
    | ChangeItems
    | ChangeParameters
    | Stay
    | AskMeaning
    | Shift
    | Leave
    | Queue
    | Open
    | Retry
    | Resume
    | LetGo
    | Answer
    | SayAgain
)


def decide(state: State, said: Said, readings: Readings, setting: Setting) -> Decision | Need:
    """The decision for this turn, or the reading that it still needs (runtime.md §6)."""
    if state.status is None:
        return _answer_to_offer(state, said, setting) or _idle_after_offer(state, said, readings, setting)
    if state.status in BUSY:
        return _busy(state.status, said, setting)
    if state.status is Status.COLLECTING_PARAMETERS:
        return _collecting(said, readings, setting)
    return _awaiting(state, said, readings, setting)


def _collecting(said: Said, readings: Readings, setting: Setting) -> Decision | Need:
    match readings.extraction:
        case None:
            return NeedExtraction()
        case Failed(component):
            return SayAgain(component)
        case Extraction(values=values) if values:
            return TakeValues(Rule.COLLECTING_VALUE_FOUND, values)
        case _:
            return _routed(Rule.COLLECTING_NO_VALUE, said, readings, setting)


def _awaiting(state: State, said: Said, readings: Readings, setting: Setting) -> Decision | Need:
    if said.seen_seq <= state.requested_seq - 1:
        return Stay(Rule.STALE_CONFIRMATION)
    if is_ambiguous(said.text, state.question, setting.locale):
        return AskMeaning()
    match explicit_answer(said.text, setting.locale, setting.phrases):
        case "confirm":
            return Confirm(Rule.CONFIRMATION_EXPLICIT)
        case "reject":
            return Reject(Rule.CONFIRMATION_EXPLICIT)
        case _:
            return _read_reply(said, readings, setting)


def _read_reply(said: Said, readings: Readings, setting: Setting) -> Decision | Need:
    reply = readings.reply
    if reply is None:
        return NeedReply()
    if isinstance(reply, Failed):
        return SayAgain(reply.component)
    match reply.kind:
        case "confirm" if starts_with_explicit_yes(said.text, setting.locale, setting.phrases):
            return Confirm(Rule.CONFIRMATION_COMPOUND, reply.question)
        case "confirm":
            # The model can never produce a confirmation (§8): without an explicit yes the question stays open.
            return Stay(Rule.CONFIRMATION_OTHER, reply.question)
        case "reject":
            return Reject(Rule.CONFIRMATION_READ_REJECT)
        case "change_items" if reply.values and not reply.keep_item_keys:
            # An addition is a new full value of the parameter (§6.5).
            return ChangeParameters(Rule.CONFIRMATION_CHANGE_ITEMS, reply.values)
        case "change_items" if reply.keep_item_keys is not None:
            return ChangeItems(Rule.CONFIRMATION_CHANGE_ITEMS, tuple(reply.keep_item_keys))
        case "change_parameters" if reply.values:
            return ChangeParameters(Rule.CONFIRMATION_CHANGE_PARAMETERS, reply.values)
        case "question":
            return Stay(Rule.CONFIRMATION_QUESTION, reply.question or said.text)
        case _:
            return _routed(Rule.CONFIRMATION_OTHER, said, readings, setting)


def _routed(rule: Rule, said: Said, readings: Readings, setting: Setting) -> Decision | Need:
    """The router's say over an active transaction; ``rule`` is the rule that let it speak."""
    routing = readings.routing
    if routing is None:
        return NeedRouting()
    if isinstance(routing, Failed):
        return SayAgain(routing.component)
    sure = routing.confidence >= setting.confidence_threshold
    match routing.decision:
        case "shift" | "abandon" if sure and routing.intent:
            return Shift(rule, routing.intent)
        case "abandon" if sure:
            return Leave(rule)
        case "continue" if routing.values:
            if rule is Rule.COLLECTING_NO_VALUE:
                return TakeValues(rule, routing.values, source="user_change")
            return ChangeParameters(rule, routing.values)
        case "question":
            return Stay(rule, said.text)
        case _:
            return Stay(rule)


def _busy(status: Status, said: Said, setting: Setting) -> Decision:
    if status is Status.PRE_VALIDATING and explicit_answer(said.text, setting.locale, setting.phrases) == "reject":
        return Reject(Rule.BUSY_REJECTED)
    return Queue()


def _answer_to_offer(state: State, said: Said, setting: Setting) -> Decision | None:
    """A plain yes or no to the offer of what was set aside, if the user has seen it (§6.6)."""
    if state.retry_is_aside and is_retry_phrase(said.text, setting.locale):
        return Resume(Rule.SHIFT_PARKED)
    if state.offered_seq is None or said.seen_seq < state.offered_seq:
        return None
    match explicit_answer(said.text, setting.locale, setting.phrases):
        case "confirm":
            return Resume(Rule.SHIFT_PARKED)
        case "reject":
            return LetGo(Rule.SHIFT_CANCELLED)
        case _:
            return None


def _idle_after_offer(state: State, said: Said, readings: Readings, setting: Setting) -> Decision | Need:
    """What is said in other words than yes or no; where it asks for nothing, a yes at its beginning resumes (§6.6)."""
    decision = _idle(said, readings, setting)
    asks_nothing = isinstance(decision, Answer) and not decision.question
    was_offered = state.offered_seq is not None and said.seen_seq >= state.offered_seq
    if asks_nothing and was_offered and starts_with_explicit_yes(said.text, setting.locale, setting.phrases):
        return Resume(Rule.SHIFT_PARKED)
    return decision


def _idle(said: Said, readings: Readings, setting: Setting) -> Decision | Need:
    if setting.can_retry and is_retry_phrase(said.text, setting.locale):
        return Retry()
    if setting.keyword_intent:
        return Open(Rule.IDLE_KEYWORD, setting.keyword_intent)
    routing = readings.routing
    if routing is None:
        return NeedRouting()
    if isinstance(routing, Failed):
        return SayAgain(routing.component)
    sure = routing.confidence >= setting.confidence_threshold
    if routing.decision == "shift" and routing.intent and sure:
        return Open(Rule.IDLE_MODEL, routing.intent)
    if routing.decision == "question" and sure:
        return Answer(Rule.IDLE_MODEL, said.text)
    bare = explicit_answer(said.text, setting.locale, setting.phrases) is not None
    return Answer(Rule.IDLE_FALLBACK, is_bare_answer=bare, is_clear=routing.decision == "none" and sure)
