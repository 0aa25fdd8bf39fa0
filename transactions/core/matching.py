"""Which item a row is about: identity, labels and the index of a confirmed set (runtime.md §4a.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tooling.identifying import EVIDENCE_FIELDS, KEY_FIELD, identity
from tooling.specs import JSON

_KEYS_OF_THINGS = ("id", "key", "code")
_NAMES_OF_THINGS = ("label", "name")
_DEEPEST = 6


def identifying_fields(value: JSON) -> dict[str, str]:
    """The fields of an object that say which item it is about, by name; empty for anything else."""
    if not isinstance(value, Mapping):
        return {}
    named = ((name, identity(content)) for name, content in value.items() if _identifies(name))
    return {name: text for name, text in named if text is not None}


def identity_values(value: JSON) -> frozenset[str]:
    """Every value by which an item, a row or a scalar can be recognised, whatever the field names."""
    if isinstance(value, Mapping):
        return frozenset(identifying_fields(value).values())
    elements = value if isinstance(value, list) else [value]
    return frozenset(text for text in map(identity, elements) if text is not None)


def same_identity(a: JSON, b: JSON) -> bool:
    """Whether two items, each an object or a scalar, are the same thing.

    Keys that both carry under one name decide (``id``, ``…_id``, …), else their label or name, else any value
    that both carry.
    """
    mine, theirs = identifying_fields(a), identifying_fields(b)
    common = [name for name in mine if name in theirs]
    keys = [name for name in common if _is_key(name)]
    deciding = keys or [name for name in _NAMES_OF_THINGS if name in common]
    if deciding:
        return all(mine[name] == theirs[name] for name in deciding)
    return not identity_values(a).isdisjoint(identity_values(b))


def label_of(value: JSON) -> str:
    """How a person calls an item (contracts.md §2): its ``label``, else ``name``, else its first string.

    Of a scalar its text; "" where nothing is left to call it by.
    """
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case Mapping():
            return next(_labels(value), "")
        case list():
            return next((text for text in map(_scalar_text, value) if text), "")
    return _scalar_text(value)


def first_text(value: JSON, names: Iterable[str]) -> str | None:
    """The first of the fields ``names`` of an object that holds a text or a number, as text."""
    if not isinstance(value, Mapping):
        return None
    texts = (_scalar_text(value.get(name)) for name in names)
    return next((text for text in texts if text), None)


@dataclass(frozen=True, slots=True)
class Claimed:
    """The row is about exactly one item of the confirmed set."""

    key: str


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The row fits several items, of which ``candidates`` are named, and decides none of them."""

    candidates: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """The row is about something that nobody confirmed."""


@dataclass(frozen=True, slots=True)
class Anonymous:
    """The row does not say which item it is about."""


Match = Claimed | Ambiguous | Unconfirmed | Anonymous


class Index:
    """Finds the item of a confirmed set that a row is about (runtime.md §4a.1); never by position."""

    def __init__(self, items: Sequence[tuple[str, Mapping[str, JSON]]]) -> None:
        """``items``: our key and the fields of each, excluded and ineligible ones included."""
        self._fields = {key: identifying_fields(fields) for key, fields in items}
        self._by_field: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._by_value: dict[str, set[str]] = defaultdict(set)
        self._by_any_value: dict[str, set[str]] = defaultdict(set)
        for key, fields in items:
            for name, text in self._fields[key].items():
                self._by_field[name, text].add(key)
                self._by_value[text].add(key)
            for text in _deep_values(fields):
                self._by_any_value[text].add(key)

    def match(self, row: JSON) -> Match:
        """The key that we sent, else fields of the same name, else any value, the nested ones last."""
        if isinstance(row, Mapping):
            key = row.get(KEY_FIELD)
            if isinstance(key, str) and key in self._fields:
                return Claimed(key)
        fields = identifying_fields(row)
        named = [self._by_field.get(field, set()) for field in fields.items()]
        return self._settled(named) or self._by_whatever(row, fields)

    def _by_whatever(self, row: JSON, fields: Mapping[str, str]) -> Match:
        values, deep = identity_values(row), _deep_values(row)
        shared: set[str] = set()
        for texts, index in ((values, self._by_value), (deep, self._by_any_value)):
            holders = {text: index.get(text, set()) for text in texts}
            allowed = [{key for key in keys if self._may_be(key, fields)} for keys in holders.values()]
            if settled := self._settled(allowed):
                return settled
            shared |= {text for text, keys in holders.items() if len(keys) > 1}
        if not deep:
            return Anonymous()
        return Ambiguous(frozenset()) if deep <= shared else Unconfirmed()

    def _settled(self, holders: Iterable[set[str]]) -> Match | None:
        """What values held by these items decide; a value that several hold identifies none of them."""
        candidates = {key for keys in holders if len(keys) == 1 for key in keys}
        if not candidates:
            return None
        return Claimed(candidates.pop()) if len(candidates) == 1 else Ambiguous(frozenset(candidates))

    def _may_be(self, key: str, fields: Mapping[str, str]) -> bool:
        """Whether no field of the same name speaks against it: where both carry one, it decides.

        A label is excepted: it is how a thing is called, and of a scalar item it is only our name for it.
        """
        item = self._fields[key]
        common = [name for name in fields if name in item and name != "label"]
        return not common or any(item[name] == fields[name] for name in common)


def _identifies(name: str) -> bool:
    return name not in EVIDENCE_FIELDS


def _is_key(name: str) -> bool:
    return name.casefold() in _KEYS_OF_THINGS or name.casefold().endswith(tuple(f"_{key}" for key in _KEYS_OF_THINGS))


def _scalar_text(value: JSON) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float):
        return repr(value)
    return identity(value) or ""


def _labels(value: Mapping[str, JSON]) -> Iterator[str]:
    """The texts an object can be called by, the best first."""
    yield from filter(None, (_scalar_text(value.get(name)) for name in _NAMES_OF_THINGS))
    own = [content for name, content in value.items() if _identifies(name)]
    yield from filter(None, (content.strip() for content in own if isinstance(content, str)))
    yield from filter(None, map(_scalar_text, own))
    inner = (content for content in own if isinstance(content, Mapping))
    yield from filter(None, (_scalar_text(content.get(name)) for content in inner for name in _NAMES_OF_THINGS))


def _deep_values(value: JSON) -> frozenset[str]:
    """Every identifying value of a row or item, nested ones included, some levels deep."""
    found: set[str] = set()
    level = [value]
    for _ in range(_DEEPEST):
        inner: list[JSON] = []
        for content in level:
            match content:
                case Mapping():
                    inner += [held for name, held in content.items() if _identifies(name)]
                case list():
                    inner += content
                case _:
                    found |= {text for text in (identity(content),) if text is not None}
        level = inner
    return frozenset(found)
