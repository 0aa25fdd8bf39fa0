"""A definition file as a tree in which everything knows its line and column, and what is wrong with it.

Nothing here parses: ``tooling.yaml_reader`` makes the tree, the section readers walk it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tooling.findings import Severity
from tooling.specs import JSON


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a file; lines and columns count from 1, as editors show them."""

    file: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where, and (``hint``) what to do about it where the message does not say."""

    severity: Severity
    code: str
    message: str
    file: str
    line: int = 1
    column: int = 1
    hint: str = ""

    def __str__(self) -> str:
        kind = "" if self.is_error else f"{self.severity}: "
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.file}:{self.line}:{self.column}: {kind}{self.message}{hint}"

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """Null, a boolean, a number or a text."""

    value: JSON
    place: Place


@dataclass(frozen=True, slots=True)
class ListNode:
    items: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping. ``place`` is the key's, ``value.place`` the value's."""

    key: str
    place: Place
    value: Node


@dataclass(frozen=True, slots=True)
class MapNode:
    entries: tuple[Entry, ...]
    place: Place

    def get(self, key: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.key == key), None)


@dataclass(frozen=True, slots=True)
class BadNode:
    """A value that was reported already and that nobody should report again."""

    place: Place


Node = ScalarNode | ListNode | MapNode | BadNode


def to_json(node: Node) -> JSON:
    """The plain value of ``node``; a bad one is null."""
    match node:
        case ScalarNode(value=value):
            return value
        case ListNode(items=items):
            return [to_json(item) for item in items]
        case MapNode(entries=entries):
            return {entry.key: to_json(entry.value) for entry in entries}
        case BadNode():
            return None


def is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value is None


def describe(node: Node) -> str:
    """``node`` in the words of an error message: 'the text "yes"', 'the number 2024', 'a list'."""
    match node:
        case ScalarNode(value=None):
            return "nothing"
        case ScalarNode(value=bool(value)):
            return "true" if value else "false"
        case ScalarNode(value=str(value)):
            return f'the text "{shorten(value)}"'
        case ScalarNode(value=value):
            return f"the number {value}"
        case ListNode():
            return "a list"
        case MapNode() | BadNode():
            return "a mapping"


def shorten(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


Path = tuple[str, ...]


def places_below(path: Path, place: Place, node: Node) -> Iterator[tuple[Path, Place]]:
    """Every path at and below ``node``, and where to point: at a scalar itself, else at the key or entry."""
    match node:
        case BadNode():
            yield path, node.place
        case ScalarNode(value=value) if value is not None:
            yield path, node.place
        case MapNode(entries=entries):
            yield path, place
            for entry in entries:
                yield from places_below((*path, entry.key), entry.place, entry.value)
        case ListNode(items=items):
            yield path, place
            for number, item in enumerate(items):
                yield from places_below((*path, str(number)), item.place, item)
        case _:
            yield path, place
