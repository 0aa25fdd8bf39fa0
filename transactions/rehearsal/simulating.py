"""Simulating a conversation: play, ask outside what is not recorded yet, play again, until nothing is missing.

So no model and no tool is waited for inside a database transaction, and only what changes nothing is ever called.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tooling.gateway import NotSent, Outcome, ToolGateway
from tooling.specs import JSON, Definitions, OperationType
from transactions.llm import Completion, LanguageModel, Unavailable
from transactions.rehearsal.recorded import (
    AnswerKey,
    RecordedGateway,
    RecordedModel,
    WantedAnswer,
    WantedReading,
)
from transactions.rehearsal.recordings import Answers, Readings, answered_with
from transactions.rehearsal.scenes import Played, Scene
from transactions.rehearsal.stage import play

MOST_ROUNDS = 80
MADE_UP: JSON = {"eligible": True}
"""What a validator that may not be called is taken to say."""


class Source(StrEnum):
    """Where an answer of a tool comes from."""

    CALLED = "called"
    GIVEN = "given"
    MADE_UP = "made_up"
    RECORDED = "recorded"


@dataclass(frozen=True, slots=True)
class Outside:
    """What may be asked. ``model`` and ``gateway`` None: nobody is; ``given``: tool → what it is to answer."""

    model: LanguageModel | None = None
    gateway: ToolGateway | None = None
    given: Mapping[str, JSON] = field(default_factory=dict)
    silent: Collection[str] = ()
    """Tools that are to give no answer."""
    made_up: Collection[str] = ()
    """Tools that are not called although they might be."""
    seconds: float = 60.0
    """After this time nothing more is asked; what is missing then counts as unavailable."""
    is_closed: bool = False
    """Nothing that only the outside knows is made up for it: what was not recorded stays missing."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What was read and answered before, by whom; nobody is asked again for it."""

    readings: Readings = field(default_factory=dict)
    answers: Answers = field(default_factory=dict)
    sources: Mapping[AnswerKey, Source] = field(default_factory=dict)


NOTHING = Recording()


@dataclass(frozen=True, slots=True)
class Simulated:
    """What was played, and with what: enough to play it again without asking anybody."""

    scene: Scene
    played: Played
    readings: Readings
    answers: Answers
    sources: Mapping[AnswerKey, Source]

    @property
    def recording(self) -> Recording:
        return Recording(self.readings, self.answers, self.sources)


def simulate(scene: Scene, outside: Outside, recorded: Recording = NOTHING) -> Simulated:
    """Play ``scene``; the model reads it, validators are called where that is safe. Nothing is executed or kept.

    What is ``recorded`` is taken as it is. Closed to the outside, ``played`` may not be whole.
    """
    readings, answers, sources = dict(recorded.readings), dict(recorded.answers), dict(recorded.sources)
    until = time.monotonic() + outside.seconds
    played = _play(scene, readings, answers)
    for _ in range(MOST_ROUNDS):
        known = len(readings) + len(answers)
        for reading in played.wanted_readings:
            if (read := _read(reading, outside, until)) is not None:
                readings[reading.key] = read
        for answer in played.wanted_answers:
            if (found := _answer(answer, scene.definitions, outside, until)) is not None:
                answers[answer.key], sources[answer.key] = found
        if len(readings) + len(answers) == known:
            break
        played = _play(scene, readings, answers)
    return Simulated(scene, played, readings, answers, sources)


def play_again(scene: Scene, readings: Readings, answers: Answers) -> Simulated:
    """Play ``scene`` with what was recorded and nothing else; where more is wanted, ``played`` is not whole."""
    played = _play(scene, readings, answers)
    return Simulated(scene, played, readings, answers, dict.fromkeys(answers, Source.RECORDED))


def _play(scene: Scene, readings: Readings, answers: Answers) -> Played:
    return play(scene, RecordedModel(readings), RecordedGateway(answers))


def _read(wanted: WantedReading, outside: Outside, until: float) -> Completion | Unavailable | None:
    if outside.model is None:
        return None
    if time.monotonic() >= until:
        return Unavailable(wanted.key.component, "", "the time for simulating was over", 0)
    component = wanted.key.component
    return outside.model.complete(component, wanted.payload, wanted.schema, profiles=wanted.profiles)


def _answer(
    wanted: WantedAnswer, definitions: Definitions, outside: Outside, until: float
) -> tuple[Outcome, Source] | None:
    tool = wanted.key.tool
    if tool in outside.given:
        return answered_with(outside.given[tool]), Source.GIVEN
    if tool in outside.silent:
        return NotSent("it was to give no answer", again=False), Source.GIVEN
    if tool in outside.made_up or not may_be_called(definitions, tool):
        return answered_with(MADE_UP), Source.MADE_UP
    if outside.gateway is None:
        return None if outside.is_closed else (answered_with(MADE_UP), Source.MADE_UP)
    if time.monotonic() >= until:
        return NotSent("the time for simulating was over", again=False), Source.CALLED
    return outside.gateway.call(wanted.call), Source.CALLED


def may_be_called(definitions: Definitions, tool: str) -> bool:
    """Whether a simulation may really call ``tool``: it is internal, marked as safe, and switched on."""
    spec = definitions.tools.get(tool)
    if spec is None or not spec.safe_to_simulate or not definitions.is_available(tool):
        return False
    return definitions.policy(tool).operation_type is OperationType.INTERNAL
