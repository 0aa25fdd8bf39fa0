"""Saved simulations played again: with what was recorded, against other definitions, and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tooling.gateway import Answered
from tooling.specs import JSON, Definitions
from transactions.models import CaseResult, SimulationCase
from transactions.rehearsal.outcome import Seen, outcome
from transactions.rehearsal.recordings import (
    answers_from_json,
    answers_to_json,
    readings_from_json,
    readings_to_json,
)
from transactions.rehearsal.scenes import Line, Press, Scene, Start, Text
from transactions.rehearsal.simulating import Outside, Recording, Simulated, Source, simulate
from transactions.services.saved_cases import Kept

ASPECTS = ("tool", "status", "reason_code", "missing", "arguments", "items", "rules")
"""What of an outcome is compared. The text of a confirmation is not: wording may change without a consequence."""


@dataclass(frozen=True, slots=True)
class Difference:
    aspect: str
    expected: JSON
    now: JSON


@dataclass(frozen=True, slots=True)
class CaseRun:
    """What a saved simulation comes to now. ``seen`` None: it cannot even begin, because its tool is gone."""

    result: CaseResult
    differences: tuple[Difference, ...]
    simulated: Simulated | None
    seen: Seen | None


# As JSON ------------------------------------------


def scene_to_json(scene: Scene) -> dict[str, JSON]:
    """Everything but the definitions."""
    start = {"tool": scene.start.tool, "known": scene.start.known} if scene.start else None
    lines = [_line_to_json(line) for line in scene.lines]
    return {"lines": lines, "locale": scene.locale, "identity": scene.identity, "start": start}


def _line_to_json(line: Line) -> JSON:
    match line:
        case Text(text=text):
            return {"text": text}
        case Press(decision=decision, keep=keep):
            return {"press": decision, "keep": None if keep is None else list(keep)}


def scene_from_json(row: Mapping[str, JSON], definitions: Definitions) -> Scene:
    """The reverse; KeyError for what is not such a row."""
    start = row["start"]
    return Scene(
        definitions,
        tuple(_line_from_json(line) for line in row["lines"]),
        locale=row["locale"],
        identity=row["identity"],
        start=Start(start["tool"], start["known"]) if start else None,
    )


def _line_from_json(row: Mapping[str, JSON]) -> Line:
    if "text" in row:
        return Text(row["text"])
    return Press(row["press"], None if row["keep"] is None else tuple(row["keep"]))


def recording_to_json(recording: Recording) -> tuple[list[JSON], list[JSON]]:
    """Readings and answers; an answer says where it comes from."""
    answers = answers_to_json(recording.answers)
    for row, key in zip(answers, sorted(recording.answers), strict=True):
        row["source"] = str(recording.sources.get(key, Source.RECORDED))
    return readings_to_json(recording.readings), answers


def recording_from_json(readings: Sequence[Mapping[str, JSON]], answers: Sequence[Mapping[str, JSON]]) -> Recording:
    """The reverse; KeyError or ValueError for what is not such rows."""
    known = answers_from_json(answers)
    sources = {key: Source(row["source"]) for key, row in zip(known, answers, strict=True)}
    return Recording(readings_from_json(readings), known, sources)


def kept_of(simulated: Simulated, expected: Mapping[str, JSON]) -> Kept:
    readings, answers = recording_to_json(simulated.recording)
    return Kept(scene_to_json(simulated.scene), readings, answers, expected)


# What is expected ------------------------------------------


def expected_of(seen: Seen) -> dict[str, JSON]:
    """Every aspect of what came out."""
    last = seen.last
    items = last.confirmation.items if last and last.confirmation else ()
    return {
        "tool": last.tool if last else "",
        "status": last.status if last else "",
        "reason_code": last.reason_code if last else "",
        "missing": [one.name for one in last.missing] if last else [],
        "arguments": {name: held["value"] for name, held in last.arguments.items()} if last else {},
        "items": [{"label": item.label, "eligible": item.eligible} for item in items],
        "rules": [one.rule for line in seen.lines for one in line.rules],
    }


def differences(expected: Mapping[str, JSON], now: Mapping[str, JSON]) -> tuple[Difference, ...]:
    """The aspects that are expected and come out otherwise."""
    return tuple(
        Difference(aspect, expected[aspect], now.get(aspect))
        for aspect in ASPECTS
        if aspect in expected and expected[aspect] != now.get(aspect)
    )


# Playing ------------------------------------------


def standing(recording: Recording) -> Outside:
    """What somebody chose that tools answer, for whenever they are asked; and nobody else to ask."""
    chosen = {key.tool: recording.answers[key] for key, source in recording.sources.items() if source is Source.GIVEN}
    return Outside(
        given={tool: answer.structured for tool, answer in chosen.items() if isinstance(answer, Answered)},
        silent=frozenset(tool for tool, answer in chosen.items() if not isinstance(answer, Answered)),
        made_up=frozenset(key.tool for key, source in recording.sources.items() if source is Source.MADE_UP),
    )


def is_possible(scene: Scene) -> bool:
    """Whether there is the tool that the scene starts with."""
    return scene.start is None or scene.start.tool in scene.definitions.tools


def run_case(case: SimulationCase, definitions: Definitions, *, looks_ahead: bool = True) -> CaseRun:
    """Play ``case`` with ``definitions``; nobody is asked, and nothing stays."""
    scene = scene_from_json(case.scene, definitions)
    recording = recording_from_json(case.readings, case.answers)
    if not is_possible(scene):
        gone = Difference("tool", case.expected.get("tool", ""), "")
        return CaseRun(CaseResult.DIFFERS, (gone,), None, None)
    outside = replace(standing(recording), is_closed=True)
    return _judged(case, simulate(replace(scene, looks_ahead=looks_ahead), outside, recording))


def run_anew(case: SimulationCase, definitions: Definitions, outside: Outside) -> CaseRun:
    """The same, with everything asked anew that was asked outside; what was said to be answered stays said."""
    scene = scene_from_json(case.scene, definitions)
    recording = recording_from_json(case.readings, case.answers)
    if not is_possible(scene):
        return run_case(case, definitions)
    asked = replace(standing(recording), model=outside.model, gateway=outside.gateway)
    return _judged(case, simulate(scene, asked))


def _judged(case: SimulationCase, simulated: Simulated) -> CaseRun:
    seen = outcome(simulated)
    if not seen.whole:
        return CaseRun(CaseResult.NEEDS_READING, (), simulated, seen)
    found = differences(case.expected, expected_of(seen))
    return CaseRun(CaseResult.DIFFERS if found else CaseResult.AS_EXPECTED, found, simulated, seen)
