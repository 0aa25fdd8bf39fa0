"""The differences between two sets of definitions as people read them: one line each, in the reader's language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Field
from django.utils.formats import localize
from django.utils.translation import gettext as _

from tooling import yaml_io
from tooling.admin.consequences import consequence_of
from tooling.admin.labels import field_of, section_of, title_of
from tooling.publishing import Change, ChangeKind
from tooling.specs import JSON

LONGEST = 120
"""Characters of a value on its line; what is longer is folded, never cut."""
NESTED = ("pre_validation", "execution", "cache", "arguments", "extract", "nodes")
"""Parts of an object that are told field by field."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value in words; ``full`` is empty unless ``text`` is only its beginning."""

    text: str
    full: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    label: str
    value: Shown


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a list of changes. An object or argument that comes or goes has ``facts`` and no values."""

    kind: str
    title: str
    label: str = ""
    old: Shown | None = None
    new: Shown | None = None
    facts: tuple[Fact, ...] = ()
    consequence: str = ""
    is_riskier: bool = False


def lines_of(changes: Sequence[Change]) -> list[Line]:
    """One line per change; those about one object stand together, as ``publishing.diff`` orders them."""
    return [_with_consequence(change, _line(change)) for change in changes]


def _with_consequence(change: Change, line: Line) -> Line:
    found = consequence_of(change)
    return replace(line, consequence=found.text, is_riskier=found.is_riskier) if found else line


def _line(change: Change) -> Line:
    whole = change.old if change.kind is ChangeKind.REMOVED else change.new
    is_thing = change.kind is not ChangeKind.CHANGED and isinstance(whole, dict)
    path = change.path
    if is_thing and len(path) == 2 and section_of(path) != "router":
        names = {"name": path[1]}
        title = (NEW if change.kind is ChangeKind.ADDED else GONE)[path[0]]() % names
        return Line(change.kind.value, title, facts=tuple(_facts(path, whole)))
    label, column = field_of(path)
    if is_thing and len(path) == 4 and path[2] in NESTED:
        verb = _("new") if change.kind is ChangeKind.ADDED else _("removed")
        return Line(change.kind.value, title_of(path), f"{label}: {verb}", facts=tuple(_facts(path, whole)))
    return Line(change.kind.value, title_of(path), label, shown(change.old, column), shown(change.new, column))


NEW = {
    "servers": lambda: _("New MCP server %(name)s"),
    "tools": lambda: _("New tool %(name)s"),
    "policies": lambda: _("New policy %(name)s"),
    "mappings": lambda: _("New parameter mapping %(name)s"),
    "intents": lambda: _("New intent %(name)s"),
    "profiles": lambda: _("New language model profile %(name)s"),
    "workflows": lambda: _("New workflow %(name)s"),
}
GONE = {
    "servers": lambda: _("MCP server %(name)s removed"),
    "tools": lambda: _("Tool %(name)s removed"),
    "policies": lambda: _("Policy %(name)s removed"),
    "mappings": lambda: _("Parameter mapping %(name)s removed"),
    "intents": lambda: _("Intent %(name)s removed"),
    "profiles": lambda: _("Language model profile %(name)s removed"),
    "workflows": lambda: _("Workflow %(name)s removed"),
}


def _facts(path: Sequence[str], value: JSON) -> Iterator[Fact]:
    """Every field that says something; names of arguments and the like are part of the label."""
    for key, inner in value.items():
        if inner in (None, "", [], {}, False) or (key in ("name", "tool", "field", "id") and inner == path[-1]):
            continue
        where = (*path, key)
        if key in NESTED and isinstance(inner, dict):
            yield from _facts(where, inner)
        elif key in NESTED and isinstance(inner, list):
            for one in inner:
                name = str(one.get("name") or one.get("field") or one.get("id") or "")
                yield from _facts((*where, name), one)
        else:
            label, column = field_of(where)
            yield Fact(label, shown(inner, column))


def in_words(path: Sequence[str], value: JSON) -> Shown:
    """The value at ``path``; a whole argument and the like as its facts."""
    if isinstance(value, dict) and len(path) == 4 and path[2] in NESTED:
        return shown("; ".join(f"{fact.label}: {fact.value.text}" for fact in _facts(path, value)))
    return shown(value, field_of(path)[1])


def shown(value: JSON, column: Field[Any, Any] | None = None) -> Shown:
    """``value`` in words; a text of several lines, or a long one, is folded."""
    text = _text(value, column)
    if len(text) <= LONGEST and "\n" not in text.strip():
        return Shown(text)
    first = text.strip().splitlines()[0]
    return Shown(first[:LONGEST].rstrip() + "…", text)


def _text(value: JSON, column: Field[Any, Any] | None) -> str:
    choices = dict(column.flatchoices) if column is not None and column.choices else {}
    match value:
        case None | "" | []:
            return _("empty")
        case dict() if not value:
            return _("empty")
        case bool():
            return _("yes") if value else _("no")
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(localize(value))
        case str():
            # "transactional – changes something for the customer": the explanation stays in the form.
            return str(choices.get(value, value)).split(" – ")[0] if value in choices else value
        case list() if all(not isinstance(one, list | dict) for one in value):
            return ", ".join(_text(one, None) for one in value)
        case dict() if all(not isinstance(one, list | dict) for one in value.values()):
            return "; ".join(f"{key}: {_text(one, None)}" for key, one in value.items())
        case _:
            return yaml_io.dump(value)
