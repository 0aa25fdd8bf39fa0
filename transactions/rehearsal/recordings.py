"""Readings and answers of a rehearsal as JSON, to be kept with a saved case and played again (no secrets in them)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tooling.gateway import Answered, NoAnswer, NotSent, Outcome
from tooling.specs import JSON
from transactions.llm import Completion, Unavailable
from transactions.rehearsal.recorded import AnswerKey, ReadingKey

Readings = Mapping[ReadingKey, Completion | Unavailable]
Answers = Mapping[AnswerKey, Outcome]


def answered_with(value: JSON) -> Answered:
    """What a tool that answered with the object ``value`` would have come to."""
    return Answered(raw={"structuredContent": value}, structured=value)


def readings_to_json(readings: Readings) -> list[JSON]:
    return [_reading_to_json(key, one) for key, one in sorted(readings.items(), key=lambda pair: pair[0])]


def _reading_to_json(key: ReadingKey, reading: Completion | Unavailable) -> JSON:
    where: dict[str, JSON] = {"line": key.line, "component": key.component, "tool": key.tool}
    match reading:
        case Completion():
            version = reading.prompt_version
            return {**where, "profile": reading.profile, "value": reading.value, "prompt_version": version}
        case Unavailable():
            return {**where, "profile": reading.profile, "failure": reading.reason}


def readings_from_json(rows: Iterable[Mapping[str, JSON]]) -> dict[ReadingKey, Completion | Unavailable]:
    """The reverse; KeyError for what is not such a row."""
    found: dict[ReadingKey, Completion | Unavailable] = {}
    for row in rows:
        key = ReadingKey(row["line"], row["component"], row["tool"])
        if "failure" in row:
            found[key] = Unavailable(key.component, row["profile"], row["failure"], 0)
        else:
            version = row["prompt_version"]
            found[key] = Completion(key.component, row["profile"], "", row["value"], 0, version)
    return found


def answers_to_json(answers: Answers) -> list[JSON]:
    return [_answer_to_json(key, one) for key, one in sorted(answers.items(), key=lambda pair: pair[0])]


def _answer_to_json(key: AnswerKey, outcome: Outcome) -> JSON:
    where: dict[str, JSON] = {"tool": key.tool, "number": key.number}
    match outcome:
        case Answered():
            read = {"structured": outcome.structured, "texts": list(outcome.texts), "is_error": outcome.is_error}
            return {**where, "answered": read}
        case NotSent():
            return {**where, "not_sent": outcome.reason}
        case NoAnswer():
            return {**where, "no_answer": outcome.reason}


def answers_from_json(rows: Iterable[Mapping[str, JSON]]) -> dict[AnswerKey, Outcome]:
    """The reverse; KeyError for what is not such a row."""
    return {AnswerKey(row["tool"], row["number"]): _outcome(row) for row in rows}


def _outcome(row: Mapping[str, JSON]) -> Outcome:
    if "not_sent" in row:
        return NotSent(row["not_sent"], again=False)
    if "no_answer" in row:
        return NoAnswer(row["no_answer"])
    read = row["answered"]
    raw = {"structuredContent": read["structured"], "isError": read["is_error"]}
    return Answered(raw, read["structured"], tuple(read["texts"]), read["is_error"])
