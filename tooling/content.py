"""``Definitions`` ↔ plain JSON: the canonical content of a release and its hash. Pure.

The JSON follows the dataclasses of ``tooling.specs`` field by field. A field that is missing takes its default, so
that a release of an older version stays readable after a field was added.
"""

from __future__ import annotations

import hashlib
import json
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from tooling.specs import JSON, Definitions, Text

Spec = TypeVar("Spec")


class ContentError(ValueError):
    """The JSON is not the content of a release; the message says where and what was expected."""


def to_content(definitions: Definitions) -> dict[str, JSON]:
    """The plain form of ``definitions``; workflows become a list, every mapping is sorted by key."""
    content: dict[str, JSON] = to_plain(definitions)
    return content


def from_content(content: JSON) -> Definitions:
    """The ``Definitions`` of ``content``, or ContentError."""
    return from_plain(Definitions, content)


def from_plain(kind: type[Spec], value: JSON) -> Spec:
    """The spec ``kind`` from its plain form, or ContentError."""
    spec: Spec = _read(kind, value, kind.__name__)
    return spec


def canonical(content: JSON) -> str:
    """The one text of ``content``: keys sorted, no spaces, letters as they are."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(text: str) -> str:
    """SHA-256 of a canonical text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def to_plain(value: Any) -> JSON:
    """A spec, or any part of one, as JSON."""
    match value:
        case StrEnum():
            return value.value
        case Text():
            return text_to_plain(value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            hints = _hints(type(value))
            return {one.name: _field(hints[one.name], getattr(value, one.name)) for one in fields(value)}
        case Mapping():
            return {key: to_plain(value[key]) for key in sorted(value)}
        case tuple() | list():
            return [to_plain(one) for one in value]
        case float():
            return value + 0.0  # Negative zero is zero; PostgreSQL keeps no difference either.
        case _:
            return value


def _field(kind: Any, value: Any) -> JSON:
    """One field; a number that is declared as a fraction is always written as one, so that 1 equals 1.0."""
    if isinstance(value, int) and not isinstance(value, bool) and float in (kind, *get_args(kind)):
        return float(value)
    if _is_by_pair(kind):
        return [to_plain(value[key]) for key in sorted(value)]
    return to_plain(value)


def text_to_plain(text: Text) -> JSON:
    """One text, or {locale: text} in which ``default`` goes for all other locales."""
    if not text.by_locale:
        return text.default
    default = {"default": text.default} if text.default else {}
    return default | {locale: text.by_locale[locale] for locale in sorted(text.by_locale)}


def text_from_plain(value: JSON) -> Text:
    """The reverse; ContentError for anything else."""
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        others = {locale: text for locale, text in value.items() if locale != "default"}
        return Text(value.get("default", ""), others)
    raise ContentError(f"expected a text or {{locale: text}}, got {value!r}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_by_pair(kind: Any) -> bool:
    """Whether ``kind`` is the mapping of workflows by (name, version)."""
    return get_origin(kind) is Mapping and get_origin(get_args(kind)[0]) is tuple


def _read(kind: Any, value: JSON, where: str) -> Any:
    """``value`` as a ``kind`` of specs.py."""
    if kind is Any:
        return value
    if kind is Text:
        return text_from_plain(value)
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        inner = next(one for one in get_args(kind) if one is not type(None))
        return None if value is None else _read(inner, value, where)
    if origin is tuple:
        return tuple(_read(get_args(kind)[0], one, f"{where}[]") for one in _checked(list, value, where))
    if origin is Mapping:
        return _read_mapping(kind, value, where)
    if is_dataclass(kind):
        return _read_dataclass(kind, value, where)
    if issubclass(kind, StrEnum):
        return _read_choice(kind, value, where)
    if kind is float and type(value) is int:
        return float(value)
    return _checked(kind, value, where)


def _read_mapping(kind: Any, value: JSON, where: str) -> Any:
    inner = get_args(kind)[1]
    if _is_by_pair(kind):
        workflows = [_read(inner, one, f"{where}[]") for one in _checked(list, value, where)]
        return {(one.name, one.version): one for one in workflows}
    plain = _checked(dict, value, where)
    return {key: _read(inner, plain[key], f"{where}.{key}") for key in sorted(plain)}


def _read_dataclass(kind: Any, value: JSON, where: str) -> Any:
    plain = _checked(dict, value, where)
    hints = _hints(kind)
    known = {key: one for key, one in plain.items() if key in hints}
    if len(known) < len(plain):
        raise ContentError(f"{where}: unknown {', '.join(sorted(plain.keys() - hints.keys()))}")
    try:
        return kind(**{key: _read(hints[key], one, f"{where}.{key}") for key, one in known.items()})
    except TypeError as error:
        raise ContentError(f"{where}: {error}") from error


def _read_choice(kind: type[StrEnum], value: JSON, where: str) -> StrEnum:
    try:
        return kind(value)
    except ValueError as error:
        raise ContentError(f"{where}: {error}") from error


def _checked(kind: type, value: JSON, where: str) -> Any:
    if type(value) is not kind:
        raise ContentError(f"{where}: expected {kind.__name__}, got {value!r}")
    return value
