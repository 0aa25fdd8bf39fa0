"""One JSON Schema of a server's input → arguments as we declare them; what does not fit is simplified and noted.

Pure and total: local references are followed a few steps, depth and sizes are bounded, and any JSON may come.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tooling.checks_of_tools import FITS, LONGEST_FORMAT
from tooling.specs import JSON, ArgumentSpec, ArgumentType, Text

STEPS = 10
"""References and single alternatives that are followed, one after the other."""
MOST_ALTERNATIVES = 50
MOST_VALUES = 200
LONGEST_VALUE = 200
LONGEST_TEXT = 2000
LARGEST_ITEMS = 20_000
DEEPEST_ITEMS = 12
LARGEST_NUMBER = 2**53
"""Beyond it JSON's readers do not agree on a whole number."""

PREFERRED = (
    ArgumentType.OBJECT,
    ArgumentType.ARRAY,
    ArgumentType.STRING,
    ArgumentType.NUMBER,
    ArgumentType.INTEGER,
    ArgumentType.BOOLEAN,
)
"""Of several types that a server takes, the first of these is declared."""


class NoteKind(StrEnum):
    """What of a schema is not in the definition."""

    UNTYPED = "untyped"
    NARROWED = "narrowed"
    SIMPLIFIED = "simplified"
    LEFT_OUT = "left_out"
    VALUES = "values"
    FORMAT = "format"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to look at. ``argument`` is empty where it is about the tool; ``detail``: the server's types."""

    kind: NoteKind
    argument: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Properties:
    schemas: Mapping[str, JSON]
    required: tuple[str, ...]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plain:
    """A schema without references and needless alternatives. ``alternatives``: those that remain, if several do."""

    schema: Mapping[str, JSON]
    alternatives: tuple[Mapping[str, JSON], ...] = ()


def cut(text: str, longest: int) -> str:
    """``text``, or its beginning with a mark that there is more."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def properties_of(schema: JSON) -> Properties | None:
    """The arguments that an input schema names; None where it is no schema of an object."""
    if not isinstance(schema, dict):
        return None
    plain = _plain(schema, schema)
    if "object" not in (said := _said_types(plain.schema)) and said:
        return None
    properties, required = plain.schema.get("properties"), plain.schema.get("required")
    names = tuple(name for name in required if isinstance(name, str)) if isinstance(required, list) else ()
    schemas = properties if isinstance(properties, dict) else {}
    # A required name that no property describes is an argument all the same.
    schemas = {**schemas, **{name: {} for name in names if name not in schemas}}
    composed = plain.alternatives or any(key in plain.schema for key in ("not", "if", "dependentRequired"))
    return Properties(schemas, names, (Note(NoteKind.SIMPLIFIED),) if composed else ())


def argument_of(name: str, schema: JSON, root: Mapping[str, JSON]) -> tuple[ArgumentSpec, tuple[Note, ...]]:
    """One argument; ``root`` is the schema in which references are looked up."""
    plain = _plain(schema, root)
    kind, notes = _kind(name, plain)
    enum, about_values = _enum(name, plain, kind)
    described = plain.schema.get("description")
    text = described if isinstance(described, str) else ""
    form = plain.schema.get("format")
    has_format = isinstance(form, str) and kind is ArgumentType.STRING
    is_long = has_format and len(str(form)) > LONGEST_FORMAT
    items, about_items = _items(name, plain.schema, root) if kind is ArgumentType.ARRAY else ({}, ())
    argument = ArgumentSpec(
        name,
        kind,
        description=Text(cut(text, LONGEST_TEXT)),
        enum=enum,
        format=str(form) if has_format and not is_long else "",
        items=items,
    )
    cut_notes = (Note(NoteKind.CUT, name),) if len(text) > LONGEST_TEXT else ()
    format_notes = (Note(NoteKind.FORMAT, name),) if is_long else ()
    return argument, (*notes, *about_values, *about_items, *cut_notes, *format_notes)


def _plain(schema: JSON, root: Mapping[str, JSON]) -> _Plain:
    """``schema`` behind its references, and behind alternatives of which all others are null."""
    current: dict[str, JSON] = dict(schema) if isinstance(schema, dict) else {}
    for _ in range(STEPS):
        if isinstance(current.get("$ref"), str):
            rest = {key: value for key, value in current.items() if key != "$ref"}
            current = {**_referred(current["$ref"], root), **rest}
            continue
        key = next((key for key in ("anyOf", "oneOf", "allOf") if isinstance(current.get(key), list)), None)
        if key is None:
            return _Plain(current)
        each = [_behind(one, root) for one in current[key][:MOST_ALTERNATIVES]]
        real = [one for one in each if one.get("type") != "null"]
        rest = {name: value for name, value in current.items() if name != key}
        if len(real) != 1:
            return _Plain(rest, tuple(real))
        current = {**real[0], **rest}
    return _Plain({}, ({},))


def _behind(schema: JSON, root: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """``schema``, or what its reference stands for."""
    found: Mapping[str, JSON] = schema if isinstance(schema, dict) else {}
    for _ in range(STEPS):
        if not isinstance(found.get("$ref"), str):
            break
        found = _referred(found["$ref"], root)
    return found


def _referred(reference: str, root: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """What a reference into the same schema stands for; nothing where it leads elsewhere or nowhere."""
    if not reference.startswith("#/"):
        return {}
    found: JSON = root
    for step in reference[2:].split("/")[:STEPS]:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _said_types(schema: Mapping[str, JSON]) -> list[str]:
    said = schema.get("type")
    names = said if isinstance(said, list) else [said]
    return [name for name in names if isinstance(name, str) and name != "null"]


def _kind(name: str, plain: _Plain) -> tuple[ArgumentType, tuple[Note, ...]]:
    said = _said_types(plain.schema)
    if plain.alternatives and not said:
        return _kind_of_alternatives(name, plain)
    known = [ArgumentType(each) for each in said if each in list(ArgumentType)]
    if len(known) == 1:
        is_nested = known[0] is ArgumentType.OBJECT and bool(plain.schema.get("properties"))
        is_composed = is_nested or bool(plain.alternatives and not _constants(plain.alternatives))
        return known[0], (Note(NoteKind.SIMPLIFIED, name),) if is_composed else ()
    if known:
        chosen = next(kind for kind in PREFERRED if kind in known)
        return chosen, (Note(NoteKind.NARROWED, name, ", ".join(sorted(set(said)))),)
    return _kind_by_content(name, plain.schema)


def _kind_by_content(name: str, schema: Mapping[str, JSON]) -> tuple[ArgumentType, tuple[Note, ...]]:
    """The type of a schema that names none: that of its values, or of the keywords that it uses."""
    values = list(_values(schema))
    if values:
        # From the narrowest on: whole numbers fit both types of numbers.
        kinds = [kind for kind in reversed(PREFERRED) if all(FITS[kind](value) for value in values)]
        if kinds:
            return kinds[0], ()
    if "properties" in schema or "additionalProperties" in schema:
        return ArgumentType.OBJECT, (Note(NoteKind.SIMPLIFIED, name),)
    if "items" in schema or "prefixItems" in schema:
        return ArgumentType.ARRAY, ()
    return ArgumentType.STRING, (Note(NoteKind.UNTYPED, name),)


def _kind_of_alternatives(name: str, plain: _Plain) -> tuple[ArgumentType, tuple[Note, ...]]:
    """One type for several alternatives: theirs, where they have one in common; else the first preferred one."""
    if _constants(plain.alternatives):
        return _kind_by_content(name, {"enum": _constants(plain.alternatives)})
    kinds: list[ArgumentType] = []
    for one in plain.alternatives:
        said = _said_types(one)
        kinds += [ArgumentType(each) for each in said if each in list(ArgumentType)]
        if not said:
            kinds.append(_kind_by_content(name, one)[0] if one else ArgumentType.OBJECT)
    chosen = next((kind for kind in PREFERRED if kind in kinds), ArgumentType.OBJECT)
    if len(set(kinds)) > 1:
        return chosen, (Note(NoteKind.NARROWED, name, ", ".join(sorted(set(kinds)))),)
    return chosen, (Note(NoteKind.SIMPLIFIED, name),)


def _constants(alternatives: Sequence[Mapping[str, JSON]]) -> list[JSON]:
    """The values of alternatives that are one value each, as titled lists of values are written; else none."""
    return [one["const"] for one in alternatives] if all("const" in one for one in alternatives) else []


def _values(schema: Mapping[str, JSON]) -> Iterator[JSON]:
    """The values that a schema allows one by one, null left out."""
    said = schema.get("enum")
    values = said if isinstance(said, list) else [schema["const"]] if "const" in schema else []
    yield from (value for value in values if value is not None)


def _enum(name: str, plain: _Plain, kind: ArgumentType) -> tuple[tuple[JSON, ...], tuple[Note, ...]]:
    said = list(_values(plain.schema)) or _constants(plain.alternatives)
    if not said:
        return (), ()
    if kind in (ArgumentType.ARRAY, ArgumentType.OBJECT):
        return (), (Note(NoteKind.VALUES, name),)
    kept: list[JSON] = []
    for value in said:
        if len(kept) < MOST_VALUES and FITS[kind](value) and _is_short(value) and value not in kept:
            kept.append(value)
    return tuple(kept), (Note(NoteKind.VALUES, name),) if len(kept) < len(said) else ()


def _is_short(value: JSON) -> bool:
    return len(value) <= LONGEST_VALUE if isinstance(value, str) else abs(value) <= LARGEST_NUMBER


def _items(name: str, schema: Mapping[str, JSON], root: Mapping[str, JSON]) -> tuple[dict[str, JSON], tuple[Note, ...]]:
    """The schema of an array's elements, its type one of ours; nothing but the type where the rest is too much."""
    said = schema.get("items")
    if not isinstance(said, dict) or not said:
        return {}, (Note(NoteKind.SIMPLIFIED, name),) if "prefixItems" in schema or said else ()
    plain = _plain(said, root)
    kind, notes = _kind(name, plain)
    known = {
        key: value for key, value in plain.schema.items() if key not in ("type", "$defs", "definitions", "$schema")
    }
    is_whole = not plain.alternatives and _is_small(known, DEEPEST_ITEMS) and len(json.dumps(known)) <= LARGEST_ITEMS
    if not is_whole:
        return {"type": kind.value}, (Note(NoteKind.SIMPLIFIED, name),)
    kept = tuple(note for note in notes if note.kind is not NoteKind.SIMPLIFIED)
    return {"type": kind.value, **known}, kept


def _is_small(value: JSON, deepest: int) -> bool:
    """Whether ``value`` is at most so deep, refers to nothing, and holds numbers that every reader agrees on."""
    match value:
        case dict():
            return deepest > 0 and "$ref" not in value and all(_is_small(one, deepest - 1) for one in value.values())
        case list():
            return deepest > 0 and all(_is_small(one, deepest - 1) for one in value)
        case int() | float():
            return abs(value) <= LARGEST_NUMBER
    return True
