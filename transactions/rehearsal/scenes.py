"""What is played, and what is seen of it: values without rows, kept after everything was taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tooling.gateway import Call
from tooling.specs import JSON, Definitions
from transactions.rehearsal.recorded import AnswerKey, WantedAnswer, WantedReading


@dataclass(frozen=True, slots=True)
class Text:
    """A message of the user; ``is_late``: it was written before the newest question was seen."""

    text: str
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class Press:
    """A button of the open confirmation; ``keep`` are the labels of the items that stay ticked, None: all of them."""

    decision: Literal["confirm", "reject"]
    keep: tuple[str, ...] | None = None


Line = Text | Press


@dataclass(frozen=True, slots=True)
class Start:
    """A request that is open already when the first line is said: its tool and what is known of it."""

    tool: str
    known: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scene:
    """A conversation to play. ``identity`` is what a signed user token would say."""

    definitions: Definitions
    lines: tuple[Line, ...]
    locale: str = "pt-BR"
    identity: Mapping[str, JSON] = field(default_factory=dict)
    start: Start | None = None
    executes: bool = False
    """Whether calls that were confirmed are made too, with recorded answers; else the scene ends before them."""
    looks_ahead: bool = True
    """Whether the next call is worked out; what nobody asks for costs a fifth of the time."""


@dataclass(frozen=True, slots=True)
class PlayedEvent:
    """One event of the conversation. ``line`` is the number of the line that it followed, -1: the start."""

    line: int
    kind: str
    rule: str
    data: Mapping[str, Any]
    model_calls: tuple[Mapping[str, Any], ...]
    transaction: str


@dataclass(frozen=True, slots=True)
class PlayedItem:
    label: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class PlayedTransaction:
    """A transaction as it stood at the end; ``arguments``: name → {"value", "source"}."""

    id: str
    tool: str
    intent: str
    operation_type: str
    status: str
    reason_code: str
    reason: str
    arguments: Mapping[str, Mapping[str, Any]]
    missing: tuple[str, ...]
    pre_validation: Mapping[str, Any] | None
    items: tuple[PlayedItem, ...]
    questions: int
    """How many times a value was asked for."""
    confirmations: tuple[str, ...]
    """The texts of its confirmations, in order."""


@dataclass(frozen=True, slots=True)
class Played:
    """What happened. With ``wanted_…`` something was not recorded, and the scene stopped there."""

    events: tuple[PlayedEvent, ...]
    transactions: tuple[PlayedTransaction, ...]
    next_call: Call | None
    """Exactly what would be sent to the tool next, if the open confirmation were answered with yes."""
    calls: tuple[tuple[AnswerKey, Call], ...]
    wanted_readings: tuple[WantedReading, ...]
    wanted_answers: tuple[WantedAnswer, ...]

    @property
    def is_whole(self) -> bool:
        return not self.wanted_readings and not self.wanted_answers
