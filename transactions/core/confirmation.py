"""The one confirmation: what its digest binds, which items are chosen, how a reply is read (runtime.md §6, §8)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tooling.specs import JSON, ToolSpec
from transactions.core.explicit import explicit_answer, is_ambiguous, starts_with_explicit_yes
from transactions.core.folding import fold, tokens
from transactions.core.parameters import Unreadable, argument_schemas, strict_object, values_schema

__all__ = [
    "Choice",
    "Invalid",
    "Plain",
    "ReplyKind",
    "ReplyReading",
    "Subset",
    "choose",
    "digest",
    "effective_set",
    "explicit_answer",
    "is_ambiguous",
    "known_keys",
    "read_reply",
    "reply_request",
    "reply_schema",
    "starts_with_explicit_yes",
    "without_left_out",
]

ReplyKind = Literal["confirm", "reject", "change_items", "change_parameters", "question", "other"]

_KINDS: Mapping[str, ReplyKind] = {
    "confirm": "confirm",
    "reject": "reject",
    "change_items": "change_items",
    "change_parameters": "change_parameters",
    "question": "question",
    "other": "other",
}


# The digest ------------------------------------------


def digest(
    *,
    tool: str,
    server: str,
    arguments: Mapping[str, JSON],
    items: Sequence[Mapping[str, JSON]],
    release: int,
    workflow: str = "",
) -> str:
    """What a confirmation binds, as "sha256:…" (runtime.md §8).

    Equal for equal JSON, also after a database has kept it: the order of keys and of items, and whether a whole
    number came as 14 or 14.0, make no difference. Where a workflow runs the tool, ``workflow`` names it with its
    version, and ``arguments`` are what the workflow starts from: what its own nodes add is not known yet.
    """
    bound = {
        "tool": tool,
        "server": server,
        "arguments": _canonical(arguments),
        "items": sorted(_text(_canonical(item)) for item in items),
        "release": release,
    }
    if workflow:
        bound["workflow"] = workflow
    return "sha256:" + hashlib.sha256(_text(bound).encode("utf-8", "surrogatepass")).hexdigest()


def _text(value: JSON) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _canonical(value: JSON) -> JSON:
    match value:
        case Mapping():
            return {name: _canonical(each) for name, each in value.items()}
        case list() | tuple():
            return [_canonical(each) for each in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


# Choosing items with the button ------------------------------------------


@dataclass(frozen=True, slots=True)
class Plain:
    """The whole eligible set: a plain confirm."""


@dataclass(frozen=True, slots=True)
class Subset:
    """A true subset: the set was changed, so there will be a new confirmation. Keys in the order shown."""

    keep: tuple[str, ...]
    excluded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Invalid:
    """Keys that choose nothing clear; nothing changes."""

    reason: str


Choice = Plain | Subset | Invalid


def effective_set(items: Sequence[Mapping[str, JSON]]) -> tuple[str, ...]:
    """The keys of the eligible items, in order; ``items`` are ``{key, eligible?, …}`` as the confirmation has them."""
    return tuple(item["key"] for item in items if item.get("eligible", True) is True)


def choose(keys: JSON, items: Sequence[Mapping[str, JSON]]) -> Choice:
    """What the ``item_keys`` of a button's answer choose (contracts.md §2); None: the client sent none.

    A key that is named twice counts once; if every one is, the list is taken for a mistake.
    """
    if keys is None:
        return Plain()
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        return Invalid("item_keys is no list of keys")
    if not keys:
        return Invalid("item_keys is empty")
    if min(Counter(keys).values()) > 1:
        return Invalid("item_keys only repeats itself")
    eligible = effective_set(items)
    if not set(keys) <= set(eligible):
        return Invalid("item_keys names an item that is unknown or cannot be done")
    excluded = tuple(key for key in eligible if key not in keys)
    return Subset(tuple(key for key in eligible if key in keys), excluded) if excluded else Plain()


def known_keys(keys: Sequence[str], items: Sequence[Mapping[str, JSON]]) -> tuple[str, ...]:
    """The eligible items among ``keys``, in the order shown; what a model made up is ignored (runtime.md §6.5)."""
    return tuple(key for key in effective_set(items) if key in keys)


# What was taken out stays out ------------------------------------------


def without_left_out(value: JSON, left_out: Sequence[str], kept: Sequence[str]) -> JSON:
    """``value`` of an argument without the labels that the user took out; None where that cannot be done for sure.

    A text is filtered where it is labels joined with commas, as a list is written into a text (runtime.md §5.5).
    """
    if not any(_names_any(text, left_out, kept) for text in _texts_in(value)):
        return value
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return None
    out, known = {fold(label).strip() for label in left_out}, {fold(label).strip() for label in (*left_out, *kept)}
    if not {fold(part).strip() for part in parts} <= known:
        return None
    stays = [part.strip() for part in parts if fold(part).strip() not in out]
    return (", ".join(stays) if isinstance(value, str) else stays) or None


def names_each(values: Iterable[JSON], items: Iterable[Mapping[str, JSON]]) -> bool:
    """Whether every item, by one of its texts, stands in ``values`` as whole words: so a tool knows which are meant."""
    said = [f" {' '.join(tokens(text))} " for value in values for text in _texts_in(value)]
    return all(
        any(f" {' '.join(tokens(name))} " in text for name in _texts_in(dict(item)) if tokens(name) for text in said)
        for item in items
    )


def _names_any(text: str, left_out: Sequence[str], kept: Sequence[str]) -> bool:
    """Whether ``text`` holds a label that was left out as whole words; a longer label is looked for first."""
    rest = f" {' '.join(tokens(text))} "
    marked = [*((label, True) for label in left_out), *((label, False) for label in kept)]
    for label, is_out in sorted(marked, key=lambda pair: -len(pair[0])):
        words = " ".join(tokens(label))
        if words and f" {words} " in rest:
            if is_out:
                return True
            rest = rest.replace(f" {words} ", " | ")
    return False


def _texts_in(value: JSON) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts_in(each)
        case dict():
            yield from _texts_in(list(value.values()))


# Reading a reply with the model ------------------------------------------


@dataclass(frozen=True, slots=True)
class ReplyReading:
    """How the model reads a reply; never a confirmation by itself (runtime.md §8).

    ``keep_item_keys`` None: it says nothing about items; (): nothing is left. ``values`` are neither coerced nor
    grounded yet (``parameters.read_values``) and never null.
    """

    kind: ReplyKind
    keep_item_keys: tuple[str, ...] | None = None
    values: Mapping[str, JSON] = field(default_factory=dict)
    question: str | None = None


def reply_request(
    *,
    tool: ToolSpec,
    message: str,
    confirmation_text: str,
    items: Sequence[Mapping[str, JSON]],
    parameters: Mapping[str, JSON],
    locale: str,
) -> dict[str, JSON]:
    """The user JSON of ``confirmation_reply`` (contracts.md §4); ``items`` are ``{key, label, …}``."""
    return {
        "message": message,
        "confirmation_text": confirmation_text,
        "items": [{"key": item["key"], "label": item["label"]} for item in items],
        "parameters": dict(parameters),
        "schema": argument_schemas(tool, tuple(parameters), locale),
        "locale": locale,
    }


def reply_schema(tool: ToolSpec, names: Sequence[str]) -> dict[str, JSON]:
    """The strict JSON schema of the answer; ``names`` are the parameters that may be changed."""
    return strict_object(
        {
            "kind": {"type": "string", "enum": list(_KINDS)},
            "keep_item_keys": {"type": ["array", "null"], "items": {"type": "string"}},
            "values": values_schema(tool, names),
            "question": {"type": ["string", "null"]},
        }
    )


def read_reply(answer: JSON) -> ReplyReading | Unreadable:
    """The model's ``answer`` as a reading; Unreadable where its shape is not the promised one."""
    if not isinstance(answer, dict):
        return Unreadable("the answer is no object")
    said, keys = answer.get("kind"), answer.get("keep_item_keys")
    kind = _KINDS.get(said) if isinstance(said, str) else None
    if kind is None:
        return Unreadable("the answer has no known kind")
    if keys is not None and not (isinstance(keys, list) and all(isinstance(key, str) for key in keys)):
        return Unreadable("keep_item_keys is no list of keys")
    values, question = answer.get("values"), answer.get("question")
    if values is not None and not isinstance(values, dict):
        return Unreadable("the answer's values are no object")
    return ReplyReading(
        kind=kind,
        keep_item_keys=None if keys is None else tuple(keys),
        values={name: value for name, value in (values or {}).items() if value is not None},
        question=question.strip() or None if isinstance(question, str) else None,
    )
