"""A language model and tools that only know recorded answers, and note what they were asked in vain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tooling.gateway import Answered, Call, NoAnswer, NotSent, Outcome, RemoteTool
from tooling.specs import JSON, ProfileSpec, ServerSpec
from transactions.llm import Completion, Unavailable

NOT_RECORDED = "no answer is recorded"


class ReadingKey(NamedTuple):
    """Which reading of the language model: of which line, by which component, about which tool ("": about none)."""

    line: int
    component: str
    tool: str


class AnswerKey(NamedTuple):
    """Which call of a tool: the first is number 0."""

    tool: str
    number: int


@dataclass(frozen=True, slots=True)
class WantedReading:
    """What the model must be asked before the conversation can be played further."""

    key: ReadingKey
    payload: Mapping[str, JSON]
    schema: Mapping[str, JSON]
    profiles: Mapping[str, ProfileSpec]


@dataclass(frozen=True, slots=True)
class WantedAnswer:
    """The call whose answer is missing."""

    key: AnswerKey
    call: Call


@dataclass(slots=True)
class RecordedModel:
    """Answers from ``readings``. ``line`` is the number of the line that is being played, from 0."""

    readings: Mapping[ReadingKey, Completion | Unavailable]
    line: int = 0
    wanted: list[WantedReading] = field(default_factory=list)

    def complete(
        self,
        component: str,
        payload: Mapping[str, JSON],
        schema: Mapping[str, JSON],
        *,
        profiles: Mapping[str, ProfileSpec],
    ) -> Completion | Unavailable:
        key = ReadingKey(self.line, component, str(payload.get("tool", "")))
        names = _names_of_items(payload)
        known = self.readings.get(key)
        if known is not None:
            return _with_keys(known, {name: item for item, name in names.items()})
        self.wanted.append(WantedReading(key, _with_names(payload, names), schema, profiles))
        return Unavailable(component, "", NOT_RECORDED, 0)


# Keys of items are made anew each time a scene is played, so that readings name items by their place.


def _names_of_items(payload: Mapping[str, JSON]) -> dict[str, str]:
    """The key of each item in what the model is asked → its name in recordings."""
    return {item["key"]: f"item-{place}" for place, item in enumerate(payload.get("items") or (), start=1)}


def _with_names(payload: Mapping[str, JSON], names: Mapping[str, str]) -> Mapping[str, JSON]:
    if not names:
        return payload
    return {**payload, "items": [{**item, "key": names[item["key"]]} for item in payload["items"]]}


def _with_keys(reading: Completion | Unavailable, keys: Mapping[str, str]) -> Completion | Unavailable:
    """The reading with the keys of now; what names no item of now stays as it is."""
    match reading:
        case Completion(value={"keep_item_keys": [*kept], **rest}):
            found = [keys.get(name, name) if isinstance(name, str) else name for name in kept]
            return replace(reading, value={**rest, "keep_item_keys": found})
        case _:
            return reading


@dataclass(slots=True)
class RecordedGateway:
    """Answers from ``answers``; ``made`` are all calls in their order. Nothing ever leaves the process."""

    answers: Mapping[AnswerKey, Outcome]
    made: list[tuple[AnswerKey, Call]] = field(default_factory=list)
    wanted: list[WantedAnswer] = field(default_factory=list)

    def call(self, call: Call) -> Outcome:
        key = AnswerKey(call.tool, sum(1 for known, _ in self.made if known.tool == call.tool))
        self.made.append((key, call))
        known = self.answers.get(key)
        if known is not None:
            return _final(known)
        self.wanted.append(WantedAnswer(key, call))
        return NotSent(NOT_RECORDED, again=False)

    def list_tools(self, server: ServerSpec, timeout: float = 10.0) -> Sequence[RemoteTool] | NotSent | NoAnswer:
        return NotSent(NOT_RECORDED, again=False)


def _final(outcome: Outcome) -> Outcome:
    """A recorded failure is what all tries came to; it is not tried again."""
    match outcome:
        case Answered() | NoAnswer():
            return outcome
        case NotSent():
            return NotSent(outcome.reason, again=False, raw=outcome.raw)
