"""Bytes of a definition file → a tree with places, refusing what YAML is abused for (contracts.md §5).

Refused: over 1 MiB, not UTF-8, duplicate keys, aliases, custom tags, more than one document, deeper than 32.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

from tooling.findings import Severity
from tooling.specs import JSON
from tooling.yaml_nodes import (
    BadNode,
    Entry,
    ListNode,
    MapNode,
    Node,
    Place,
    Problem,
    ScalarNode,
    shorten,
)
from tooling.yaml_scalars import plain_value

MAX_BYTES = 1_048_576
MAX_DEPTH = 32
BOM = b"\xef\xbb\xbf"
UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
STANDARD = "tag:yaml.org,2002:"
TAGGED = {"null": (type(None),), "bool": (bool,), "int": (int,), "float": (int, float)}
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def too_large(name: str, size: int) -> Problem:
    """The refusal of a file of ``size`` bytes, which nobody needs to read for it."""
    message = f"{size} bytes, the limit is {MAX_BYTES}"
    return Problem(Severity.ERROR, "file.too_large", message, name, hint="split the set into several directories")


class _Unreadable(Exception):
    """The rest of the file cannot be read; the reason is among the problems already."""


def read_tree(name: str, data: bytes) -> tuple[Node | None, list[Problem]]:
    """The tree of the file ``name`` and all that is wrong with it; None where nothing can be read on."""
    problems: list[Problem] = []
    try:
        return _Reader(name, problems).read(data), problems
    except _Unreadable:
        return None, problems


class _Reader:
    """Reads one file; every complaint goes into ``problems``."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.name = name
        self.problems = problems

    def read(self, data: bytes) -> Node:
        text = self.decode(data)
        self.events: Iterator[Any] = yaml.parse(text, Loader=LOADER)
        try:
            return self.document()
        except yaml.MarkedYAMLError as error:
            self.complain_of_syntax(text, error)
        except yaml.YAMLError as error:
            self.error("yaml.syntax", str(error), Place(self.name))
        raise _Unreadable

    def error(self, code: str, message: str, place: Place, hint: str = "") -> None:
        problem = Problem(Severity.ERROR, code, message, self.name, place.line, place.column, hint)
        self.problems.append(problem)

    def stop(self, code: str, message: str, place: Place, hint: str = "") -> _Unreadable:
        self.error(code, message, place, hint)
        return _Unreadable()

    def decode(self, data: bytes) -> str:
        if len(data) > MAX_BYTES:
            self.problems.append(too_large(self.name, len(data)))
            raise _Unreadable
        if data.startswith(BOM):
            data = data[len(BOM) :]
            message = "byte order mark ignored"
            hint = "save the file as UTF-8 without BOM"
            self.problems.append(Problem(Severity.WARNING, "file.bom", message, self.name, hint=hint))
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            place = self.place_at(data[: error.start].decode("utf-8"))
            message = f"byte 0x{data[error.start]:02x} is not UTF-8"
            raise self.stop("file.not_utf8", message, place, "save the file as UTF-8") from error
        unprintable = UNPRINTABLE.search(text)
        if unprintable:
            message = f"character U+{ord(unprintable.group()):04X} is not allowed"
            place = self.place_at(text[: unprintable.start()])
            raise self.stop("yaml.character", message, place, "remove it, or write it as an escape in quotes")
        return text

    def place_at(self, before: str) -> Place:
        lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return Place(self.name, len(lines), len(lines[-1]) + 1)

    def place(self, mark: Any) -> Place:
        return Place(self.name, mark.line + 1, mark.column + 1)

    def document(self) -> Node:
        """The only document of the stream; an empty stream is an empty mapping."""
        node: Node = MapNode((), Place(self.name))
        documents = 0
        for event in self.events:
            match event:
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        message = "a second document begins"
                        place = self.place(event.start_mark)
                        raise self.stop("yaml.documents", message, place, "one file holds one document")
                case yaml.StreamStartEvent() | yaml.StreamEndEvent() | yaml.DocumentEndEvent():
                    pass
                case _:
                    node = self.node(event, 1)
        return MapNode((), Place(self.name)) if isinstance(node, ScalarNode) and node.value is None else node

    def node(self, event: Any, depth: int) -> Node:
        place = self.place(event.start_mark)
        match event:
            case yaml.AliasEvent():
                hint = "write the value out"
                raise self.stop("yaml.alias", "aliases are not allowed", place, hint)
            case yaml.ScalarEvent():
                return self.scalar(event, place)
            case _:
                return self.collection(event, depth, place)

    def collection(self, event: Any, depth: int, place: Place) -> Node:
        is_map = isinstance(event, yaml.MappingStartEvent)
        tag = STANDARD + ("map" if is_map else "seq")
        allowed = event.tag in (None, "!", tag)
        if not allowed:
            self.complain_of_tag(event.tag, place)
        if depth > MAX_DEPTH:
            message = f"nested {self.deepest(depth)} deep, the limit is {MAX_DEPTH}"
            raise self.stop("yaml.too_deep", message, place, "flatten it")
        node = self.mapping(depth, place) if is_map else self.sequence(depth, place)
        return node if allowed else BadNode(place)

    def deepest(self, level: int) -> str:
        """How deep the collection that has just begun on ``level`` goes, without building anything."""
        start = deepest = level
        try:
            for event in self.events:
                level += isinstance(event, yaml.CollectionStartEvent)
                level -= isinstance(event, yaml.CollectionEndEvent)
                deepest = max(deepest, level)
                if level < start:
                    break
        except yaml.YAMLError:
            return f"more than {MAX_DEPTH}"
        return str(deepest)

    def sequence(self, depth: int, place: Place) -> ListNode:
        items = []
        for event in self.until(yaml.SequenceEndEvent):
            items.append(self.node(event, depth + 1))
        return ListNode(tuple(items), place)

    def mapping(self, depth: int, place: Place) -> MapNode:
        entries: dict[str, Entry] = {}
        for event in self.until(yaml.MappingEndEvent):
            key_place = self.place(event.start_mark)
            key = self.key(event, depth, key_place)
            value = self.node(next(self.events), depth + 1)
            if key is None:
                continue
            if key in entries:
                message = f'duplicate key "{shorten(key)}"'
                hint = f"the first one is in line {entries[key].place.line}"
                self.error("yaml.duplicate_key", message, key_place, hint)
                continue
            entries[key] = Entry(key, key_place, value)
        return MapNode(tuple(entries.values()), place)

    def key(self, event: Any, depth: int, place: Place) -> str | None:
        """The key as it is written; None for one that cannot be a key, which is reported."""
        if isinstance(event, yaml.ScalarEvent):
            if event.tag not in (None, "!", STANDARD + "str"):
                self.complain_of_tag(event.tag, place)
            return None if self.cannot_be_stored(event.value, place) else str(event.value)
        self.node(event, depth + 1)
        self.error("yaml.key", "a key must be a text", place)
        return None

    def until(self, end: type[yaml.Event]) -> Iterator[Any]:
        """The events up to the one that ends this collection; whoever takes one takes its whole value."""
        for event in self.events:
            if isinstance(event, end):
                return
            yield event

    def scalar(self, event: Any, place: Place) -> Node:
        value = self.value(event, place)
        if isinstance(value, float) and not math.isfinite(value):
            self.error("type.number", f'"{event.value}" is not a finite number', place)
            return BadNode(place)
        if isinstance(value, str) and self.cannot_be_stored(value, place):
            return BadNode(place)
        return value if isinstance(value, BadNode) else ScalarNode(value, place)

    def cannot_be_stored(self, text: str, place: Place) -> bool:
        """Whether ``text`` holds, by an escape, what no database takes; then it is reported."""
        bad = UNSTORABLE.search(text)
        if bad:
            self.error("yaml.character", "NUL and surrogates cannot be stored", place, "remove the escape")
        return bad is not None

    def value(self, event: Any, place: Place) -> JSON | BadNode:
        tag = event.tag
        if tag is None:
            return plain_value(event.value) if event.implicit[0] else event.value
        if tag in ("!", STANDARD + "str"):
            return event.value
        value = plain_value(event.value)
        if tag.startswith(STANDARD) and type(value) in TAGGED.get(tag.removeprefix(STANDARD), ()):
            return value
        self.complain_of_tag(tag, place)
        return BadNode(place)

    def complain_of_tag(self, tag: str, place: Place) -> None:
        shown = "!!" + tag.removeprefix(STANDARD) if tag.startswith(STANDARD) else tag
        hint = "environment values are written ${NAME}, in headers and env only" if "env" in tag.lower() else ""
        self.error("yaml.tag", f'tag "{shorten(shown)}" is not allowed', place, hint or "remove it")

    def complain_of_syntax(self, text: str, error: yaml.MarkedYAMLError) -> None:
        mark = error.problem_mark or error.context_mark
        if mark is None:
            self.error("yaml.syntax", str(error), Place(self.name))
            return
        if "nesting depth" in str(error.problem):
            message = f"nested more than {MAX_DEPTH} deep, the limit is {MAX_DEPTH}"
            self.error("yaml.too_deep", message, self.place(mark), "flatten it")
            return
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        first = error.context_mark.line if error.context_mark else mark.line
        for number in range(first, min(mark.line, len(lines) - 1) + 1):
            indentation = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
            if "\t" in indentation:
                place = Place(self.name, number + 1, indentation.index("\t") + 1)
                self.error("yaml.syntax", "a tab cannot indent; use spaces", place)
                return
        context = f" {error.context}" if error.context else ""
        hint = HINTS.get(error.problem or "", "")
        self.error("yaml.syntax", f"{error.problem}{context}", self.place(mark), hint)


COLON = "check the indentation; quote a text that contains a colon"
HINTS = {
    "mapping values are not allowed here": COLON,
    "mapping values are not allowed in this context": COLON,
    "did not find expected key": "check the indentation",
    "did not find expected ',' or ']'": "a list is not closed",
    "did not find expected ',' or '}'": "a mapping is not closed",
}
