"""Typed reading of one mapping of a definition file: what is wrong or unknown is reported, never raised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from tooling.findings import Severity
from tooling.specs import JSON, Text
from tooling.yaml_nodes import (
    BadNode,
    Entry,
    ListNode,
    MapNode,
    Node,
    Path,
    Place,
    Problem,
    ScalarNode,
    describe,
    is_null,
    shorten,
    to_json,
)

Choice = TypeVar("Choice", bound=StrEnum)
MAX_INTEGER = 2_147_483_647
"""The largest whole number of a definition: what the database's integers hold."""


@dataclass(slots=True)
class Report:
    """What was found so far: the problems, and where every path of the definitions stands."""

    problems: list[Problem] = field(default_factory=list)
    places: dict[Path, Place] = field(default_factory=dict)
    _told: set[Problem] = field(default_factory=set)
    """The problems again, so that a file of many thousands is read in time."""

    def error(self, code: str, message: str, place: Place, hint: str = "") -> None:
        self._add(Severity.ERROR, code, message, place, hint)

    def warning(self, code: str, message: str, place: Place, hint: str = "") -> None:
        self._add(Severity.WARNING, code, message, place, hint)

    def note(self, code: str, message: str, place: Place) -> None:
        self._add(Severity.NOTE, code, message, place, "")

    def _add(self, severity: Severity, code: str, message: str, place: Place, hint: str) -> None:
        problem = Problem(severity, code, message, place.file, place.line, place.column, hint)
        if problem not in self._told:
            self._told.add(problem)
            self.problems.append(problem)

    def unknown_key(self, entry: Entry, known: Mapping[str, object] | set[str]) -> None:
        """``entry`` means nothing here; say so, and what was probably meant."""
        near = get_close_matches(entry.key, known, 1, cutoff=0.8)
        hint = f'did you mean "{near[0]}"?' if near else ""
        message = f'unknown key "{shorten(entry.key)}": has no effect; remove it'
        self.warning("key.unknown", message, entry.place, hint)


class Fields:
    """The keys of one mapping. Reading gives the default, or None, where a key is absent, null or wrong.

    ``place`` is where to point when a key is missing: the key or list entry that holds this mapping.
    """

    def __init__(self, node: MapNode, place: Place, report: Report) -> None:
        self.node = node
        self.place = place
        self.report = report
        self.used: set[str] = set()

    def entry(self, key: str) -> Entry | None:
        """The entry ``key`` if it says something: null counts as absent, a bad value was reported already."""
        self.used.add(key)
        entry = self.node.get(key)
        if entry is None or is_null(entry.value) or isinstance(entry.value, BadNode):
            return None
        return entry

    def has(self, key: str) -> bool:
        return self.entry(key) is not None

    def finish(self) -> None:
        """Report every key that nobody asked for; call it last."""
        for entry in self.node.entries:
            if entry.key not in self.used:
                self.report.unknown_key(entry, self.used)

    def wrong(self, code: str, key: str, expected: str, node: Node) -> None:
        self.report.error(code, f"{key}: expected {expected}, got {describe(node)}", node.place)

    def text(self, key: str, default: str = "") -> str:
        entry = self.entry(key)
        if entry is None:
            return default
        if isinstance(entry.value, ScalarNode) and isinstance(entry.value.value, str):
            return entry.value.value
        self.wrong("type.string", key, "text", entry.value)
        return default

    def boolean(self, key: str) -> bool | None:
        entry = self.entry(key)
        if entry is None:
            return None
        if isinstance(entry.value, ScalarNode) and isinstance(entry.value.value, bool):
            return entry.value.value
        self.wrong("type.boolean", key, "true or false", entry.value)
        return None

    def integer(self, key: str, *, least: int = -MAX_INTEGER) -> int | None:
        entry = self.entry(key)
        if entry is None:
            return None
        value = entry.value.value if isinstance(entry.value, ScalarNode) else None
        if type(value) is not int:
            self.wrong("type.integer", key, "a whole number", entry.value)
            return None
        if not least <= value <= MAX_INTEGER:
            message = f"{key}: {shorten(str(value))} is not between {least} and {MAX_INTEGER}"
            self.report.error("number.range", message, entry.value.place)
            return None
        return value

    def number(self, key: str) -> float | None:
        entry = self.entry(key)
        if entry is None:
            return None
        value = entry.value.value if isinstance(entry.value, ScalarNode) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        self.wrong("type.number", key, "a number", entry.value)
        return None

    def choice(self, key: str, kind: type[Choice], code: str) -> Choice | None:
        """One of the values of ``kind``; another text is an error ``code`` that lists them."""
        text = self.text(key)
        entry = self.entry(key)
        if entry is None or not text:
            return None
        values = [member.value for member in kind]
        if text in values:
            return kind(text)
        near = get_close_matches(text, values, 1)
        hint = f'did you mean "{near[0]}"?' if near else ""
        message = f'{key} "{shorten(text)}" is none of {", ".join(values)}'
        self.report.error(code, message, entry.value.place, hint)
        return None

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of texts; elements that are none are reported and left out."""
        entry = self.entry(key)
        if entry is None:
            return None
        if not isinstance(entry.value, ListNode):
            self.wrong("type.list", key, "a list", entry.value)
            return None
        texts = []
        for item in entry.value.items:
            if isinstance(item, ScalarNode) and isinstance(item.value, str):
                texts.append(item.value)
            elif not isinstance(item, BadNode):
                self.wrong("type.string", key, "a list of texts", item)
        return tuple(texts)

    def localized(self, key: str) -> Text:
        """A text, or {locale: text}; the locale ``default`` goes for all others."""
        entry = self.entry(key)
        if entry is None:
            return Text()
        if not isinstance(entry.value, MapNode):
            return Text(self.text(key))
        texts = self.text_map(key)
        return Text(texts.pop("default", ""), texts)

    def text_map(self, key: str) -> dict[str, str]:
        """{text: text}."""
        found = {}
        inner = self.mapping(key)
        for entry in inner.node.entries if inner else ():
            if isinstance(entry.value, ScalarNode) and isinstance(entry.value.value, str):
                found[entry.key] = entry.value.value
            elif not isinstance(entry.value, BadNode):
                self.wrong("type.string", f"{key}.{entry.key}", "text", entry.value)
        return found

    def json_map(self, key: str) -> dict[str, JSON]:
        """{text: any value}."""
        inner = self.mapping(key)
        return to_json(inner.node) if inner else {}

    def json_list(self, key: str) -> tuple[JSON, ...]:
        entry = self.entry(key)
        if entry is None:
            return ()
        if isinstance(entry.value, ListNode):
            return tuple(to_json(item) for item in entry.value.items)
        self.wrong("type.list", key, "a list", entry.value)
        return ()

    def mapping(self, key: str) -> Fields | None:
        entry = self.entry(key)
        if entry is None:
            return None
        if isinstance(entry.value, MapNode):
            return Fields(entry.value, entry.place, self.report)
        self.wrong("type.mapping", key, "a mapping", entry.value)
        return None

    def each(self, key: str) -> list[tuple[str, Fields]]:
        """Every (name, mapping) of a mapping of mappings; null stands for an empty one."""
        inner = self.mapping(key)
        return fields_of_each(inner.node, self.report) if inner else []


def fields_of_each(node: MapNode, report: Report) -> list[tuple[str, Fields]]:
    """Every (name, mapping) below ``node``; null stands for an empty mapping, other kinds are reported."""
    found = []
    for entry in node.entries:
        match entry.value:
            case MapNode() as inner:
                found.append((entry.key, Fields(inner, entry.place, report)))
            case ScalarNode(value=None):
                found.append((entry.key, Fields(MapNode((), entry.place), entry.place, report)))
            case BadNode():
                pass
            case other:
                message = f"{shorten(entry.key)}: expected a mapping, got {describe(other)}"
                report.error("type.mapping", message, other.place)
    return found
