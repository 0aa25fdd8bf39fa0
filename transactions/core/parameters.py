"""Collecting parameters: what the model is asked, and what of its answer is taken (runtime.md §5, contracts.md §4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tooling.specs import JSON, ArgumentSpec, ArgumentType, ToolSpec
from transactions.core.coercion import coerce, is_blank
from transactions.core.grounding import ground_of, grounded

Kind = Literal["answers_pending", "something_else"]

_KINDS: Mapping[str, Kind] = {"answers_pending": "answers_pending", "something_else": "something_else"}
_NOTHING_KNOWN: Mapping[str, JSON] = {}
_NO_HINTS: Mapping[str, str] = {}

NOT_PENDING = "not pending"
NOT_IN_THE_MESSAGE = "not in the message"
WRONG_TYPE = "wrong type"
EMPTY = "empty"
SOMETHING_ELSE = "something else"


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a message says about the pending parameters.

    ``values``: coerced, grounded and never null. ``dropped``: name → why the model's value does not count.
    """

    kind: Kind
    values: Mapping[str, JSON] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A model's answer that is not of the shape its component promises: a failure, not "no value" (runtime.md §5.7)."""

    reason: str


# What is missing ------------------------------------------


def missing(requires: Sequence[str], known: Mapping[str, JSON]) -> tuple[str, ...]:
    """The required names without a value, in the policy's order; 0 and false are values."""
    return tuple(name for name in requires if known.get(name) is None)


def only_array_argument(tool: ToolSpec) -> str | None:
    """The name of the tool's array argument, if it has exactly one (runtime.md §4a.1)."""
    arrays = [argument.name for argument in tool.arguments if argument.type is ArgumentType.ARRAY]
    return arrays[0] if len(arrays) == 1 else None


# The request ------------------------------------------


def extraction_request(
    tool: ToolSpec,
    pending: Sequence[str],
    known: Mapping[str, JSON],
    *,
    message: str,
    last_assistant_message: str | None,
    locale: str,
    hints: Mapping[str, str] = _NO_HINTS,
) -> dict[str, JSON]:
    """The user JSON of ``transaction_parameter_extraction`` (runtime.md §5.2).

    ``hints``: a mapping's descriptions, used for arguments that have none of their own.
    """
    return {
        "tool": tool.name,
        "tool_description": tool.description.in_locale(locale),
        "pending": list(pending),
        "known": {name: value for name, value in known.items() if name not in pending},
        "schema": argument_schemas(tool, pending, locale, hints=hints),
        "last_assistant_message": last_assistant_message,
        "message": message,
        "locale": locale,
    }


def argument_schemas(
    tool: ToolSpec, names: Sequence[str], locale: str, *, hints: Mapping[str, str] = _NO_HINTS
) -> dict[str, JSON]:
    """name → ``{type, description, label?, enum?, format?, items?}`` as a model reads it (contracts.md §4)."""
    return {name: _described(argument_of(tool, name), locale, hints.get(name, "")) for name in names}


def argument_of(tool: ToolSpec, name: str) -> ArgumentSpec:
    """The declared argument; a name that the tool does not declare is a text."""
    return tool.argument(name) or ArgumentSpec(name)


def _described(argument: ArgumentSpec, locale: str, hint: str) -> dict[str, JSON]:
    described: dict[str, JSON] = {
        "type": str(argument.type),
        "description": argument.description.in_locale(locale) or hint,
    }
    optional = {
        "label": argument.label.in_locale(locale),
        "enum": list(argument.enum),
        "format": argument.format,
        "items": dict(argument.items),
    }
    return described | {key: value for key, value in optional.items() if value}


# The strict schema of the answer ------------------------------------------


def extraction_schema(tool: ToolSpec, pending: Sequence[str]) -> dict[str, JSON]:
    """The strict JSON schema of the answer: the decision before the values (runtime.md §5.3)."""
    return strict_object({"kind": {"type": "string", "enum": list(_KINDS)}, "values": values_schema(tool, pending)})


def values_schema(tool: ToolSpec, names: Sequence[str]) -> dict[str, JSON]:
    """A strict object with every name required and nullable."""
    return strict_object({name: _nullable(_strict(_declared(argument_of(tool, name)))) for name in names})


def strict_object(properties: Mapping[str, JSON]) -> dict[str, JSON]:
    """An object schema as strict structured outputs want it: everything required, nothing else allowed."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _declared(argument: ArgumentSpec) -> dict[str, JSON]:
    parts = {"enum": list(argument.enum), "format": argument.format, "items": dict(argument.items)}
    return {"type": str(argument.type), **{key: value for key, value in parts.items() if value}}


def _strict(declared: Mapping[str, JSON]) -> dict[str, JSON]:
    """A declared schema reduced to what strict mode takes; what cannot be strict becomes a text that holds JSON."""
    kind, inner, properties = declared.get("type"), declared.get("items"), declared.get("properties")
    match kind:
        case "array":
            return {"type": "array", "items": _strict(inner if isinstance(inner, Mapping) else {})}
        case "object" if isinstance(properties, Mapping) and properties:
            parts = {
                name: _nullable(_strict(part if isinstance(part, Mapping) else {})) for name, part in properties.items()
            }
            return strict_object(parts)
        case "object":
            return {"type": "string", "description": "a JSON object, written as text"}
        case "integer" | "number" | "boolean":
            return {"type": kind, **_kept(declared, "enum")}
        case _:
            return {"type": "string", **_kept(declared, "enum"), **_date_format(declared)}


def _kept(declared: Mapping[str, JSON], key: str) -> dict[str, JSON]:
    value = declared.get(key)
    return {key: list(value)} if isinstance(value, list | tuple) and value else {}


def _date_format(declared: Mapping[str, JSON]) -> dict[str, JSON]:
    return {"format": declared["format"]} if declared.get("format") in ("date", "date-time") else {}


def _nullable(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    nullable = {**schema, "type": [schema["type"], "null"]}
    return {**nullable, "enum": [*schema["enum"], None]} if "enum" in schema else nullable


# The answer ------------------------------------------


def read_extraction(
    answer: JSON,
    tool: ToolSpec,
    pending: Sequence[str],
    *,
    message: str,
    last_assistant_message: str | None,
    locale: str,
) -> Extraction | Unreadable:
    """What of the model's ``answer`` is taken (runtime.md §5.2 to §5.5); values count only with ``answers_pending``."""
    if not isinstance(answer, dict):
        return Unreadable("the answer is no object")
    said, values = answer.get("kind"), answer.get("values")
    kind = _KINDS.get(said) if isinstance(said, str) else None
    if kind is None:
        return Unreadable("the answer has no known kind")
    if not isinstance(values, dict):
        return Unreadable("the answer's values are no object")
    if kind == "something_else":
        return Extraction(kind, dropped={name: SOMETHING_ELSE for name, value in values.items() if value is not None})
    taken, dropped = _sift(
        values, tool, pending, message=message, last_assistant_message=last_assistant_message, locale=locale
    )
    return Extraction(kind, taken, dropped)


def read_values(
    values: JSON,
    tool: ToolSpec,
    names: Sequence[str],
    *,
    message: str,
    last_assistant_message: str | None,
    locale: str,
    known: Mapping[str, JSON] = _NOTHING_KNOWN,
) -> dict[str, JSON]:
    """Corrections of the parameters ``names``, coerced and grounded like an extraction (runtime.md §6.2, §6.5).

    An addition is a new full value, so what ``known`` holds under the same name counts as said. Null deletes nothing.
    """
    if not isinstance(values, dict):
        return {}
    taken, _ = _sift(
        values, tool, names, message=message, last_assistant_message=last_assistant_message, locale=locale, known=known
    )
    return taken


def _sift(
    values: Mapping[str, JSON],
    tool: ToolSpec,
    names: Sequence[str],
    *,
    message: str,
    last_assistant_message: str | None,
    locale: str,
    known: Mapping[str, JSON] = _NOTHING_KNOWN,
) -> tuple[dict[str, JSON], dict[str, str]]:
    """The values that count, and why the others do not."""
    taken: dict[str, JSON] = {}
    dropped: dict[str, str] = {}
    for name, value in values.items():
        if value is None:
            continue
        if name not in names:
            dropped[name] = NOT_PENDING
            continue
        argument = argument_of(tool, name)
        coerced = coerce(argument, value, locale)
        if coerced is None:
            dropped[name] = EMPTY if is_blank(value) else WRONG_TYPE
            continue
        ground = ground_of(message, last_assistant_message, locale, known=known.get(name))
        kept = grounded(coerced, argument, ground)
        if kept is None:
            dropped[name] = NOT_IN_THE_MESSAGE
        else:
            taken[name] = kept
    return taken, dropped
