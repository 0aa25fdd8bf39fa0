"""Reads a tool's answer as the runtime does and says what would become of every item (runtime.md §4, §4a).

Pure. The runtime itself cannot be asked from here; tests compare this with its own accounting.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tooling.cleaning import read_json
from tooling.gateway import Answered
from tooling.identifying import EVIDENCE_FIELDS, KEY_FIELD, PROTOCOL_FIELDS, identity
from tooling.specs import JSON

VERDICTS = ("success", "ok")
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Item:
    """One item that was sent. ``expected``: what the server itself said of it; None: nothing."""

    key: str
    value: JSON
    label: str
    expected: bool | None = None


class Cause(StrEnum):
    """What decided an item, or why nothing did."""

    ROW = "row"
    UNANIMOUS = "unanimous"
    WHOLE = "whole"
    MISSING = "missing"
    MALFORMED = "malformed"
    CONFLICTING = "conflicting"
    AMBIGUOUS = "ambiguous"
    NO_ROWS = "no_rows"


@dataclass(frozen=True, slots=True)
class Concluded:
    """What the platform would conclude of an item; ``done`` None: it would stay "being verified"."""

    done: bool | None
    cause: Cause
    rows: tuple[JSON, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    """Every item's conclusion by its key, the rows about something else, and those that say not what they are about."""

    items: Mapping[str, Concluded]
    extra: tuple[JSON, ...] = ()
    anonymous: tuple[JSON, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its result, its rows (None: no list of them) and its word on the whole call."""

    result: JSON
    rows: tuple[JSON, ...] | None
    verdict: bool


def answer_of(tool: str, answered: Answered) -> Answer:
    """``answered`` as the runtime reads it (runtime.md §4)."""
    result = result_of(answered)
    verdict = not answered.is_error and _says_ok(result)
    return Answer(result, _rows(tool, result), verdict)


def result_of(answered: Answered) -> JSON:
    """The structured content, else the first text that is a JSON object, else the text."""
    if answered.structured is not None and answered.structured != {}:
        return answered.structured
    for text in answered.texts:
        if (found := _object(text)) is not None:
            return found
    return "\n".join(answered.texts)


def _object(text: str) -> JSON:
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = read_json(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _says_ok(result: JSON) -> bool:
    said = [result.get(name) for name in ("ok", "success")] if isinstance(result, dict) else []
    return next((each for each in said if isinstance(each, bool)), True)


def _rows(tool: str, result: JSON) -> tuple[JSON, ...] | None:
    if not isinstance(result, dict):
        return None
    output = result.get("output")
    if isinstance(output, dict) and tool in output:
        node = output[tool]
        rows = node.get("results") if isinstance(node, dict) else None
    else:
        rows = result.get("results")
    return tuple(rows) if isinstance(rows, list) else None


def verdict_of(row: JSON) -> bool | None:
    """The one clear verdict of a row; None for a malformed one (runtime.md §4.2)."""
    said = [row[name] for name in VERDICTS if name in row] if isinstance(row, Mapping) else []
    is_clear = said and all(isinstance(each, bool) for each in said) and said[0] == said[-1]
    return bool(said[0]) if is_clear else None


def protocol_of(row: JSON) -> str:
    said = [row.get(name) for name in PROTOCOL_FIELDS] if isinstance(row, Mapping) else []
    texts = (str(each).strip() for each in said if isinstance(each, str | int) and not isinstance(each, bool))
    return next(filter(None, texts), "")


def label_of(value: JSON) -> str:
    """How a person calls an item: its label, else its name, else its first text (contracts.md §2)."""
    if not isinstance(value, Mapping):
        return str(value).strip() if isinstance(value, str | int) else ""
    own = [each for name, each in value.items() if name not in EVIDENCE_FIELDS]
    named = [value.get("label"), value.get("name"), *own]
    return next((each.strip() for each in named if isinstance(each, str) and each.strip()), "")


def fields_of(value: JSON) -> dict[str, str]:
    """The fields that say what an item or a row is about; a scalar has one, its label."""
    named = value if isinstance(value, Mapping) else {"label": value}
    told = {name: identity(each) for name, each in named.items() if name not in EVIDENCE_FIELDS}
    return {name: text for name, text in told.items() if text is not None}


def account(items: Sequence[Item], answer: Answer, *, is_atomic: bool = False) -> Account:
    """What would become of every item (runtime.md §4a); without rows, what the whole call says."""
    if not answer.rows:
        counts = len(items) <= 1 or is_atomic
        whole = Concluded(answer.verdict, Cause.WHOLE) if counts else Concluded(None, Cause.NO_ROWS)
        return Account({item.key: whole for item in items})
    sorting = _Sorting(items)
    for row in answer.rows:
        sorting.take(row)
    unanimous = _unanimous(sorting.anonymous) if len(sorting.anonymous) == len(answer.rows) == len(items) else None
    is_malformed = len(sorting.anonymous) == len(answer.rows) and None in map(verdict_of, sorting.anonymous)
    concluded = {}
    for item in items:
        rows = sorting.claims.get(item.key, ())
        if rows:
            concluded[item.key] = _from_rows(rows)
        elif item.key in sorting.ambiguous:
            concluded[item.key] = Concluded(None, Cause.AMBIGUOUS)
        elif unanimous is not None:
            concluded[item.key] = Concluded(unanimous, Cause.UNANIMOUS)
        else:
            concluded[item.key] = Concluded(None, Cause.MALFORMED if is_malformed else Cause.MISSING)
    return Account(concluded, tuple(sorting.extra), tuple(sorting.anonymous))


def _from_rows(rows: Sequence[JSON]) -> Concluded:
    verdicts = {verdict_of(row) for row in rows}
    if None in verdicts:
        return Concluded(None, Cause.MALFORMED, tuple(rows))
    if len(verdicts) > 1:
        return Concluded(None, Cause.CONFLICTING, tuple(rows))
    return Concluded(verdicts.pop(), Cause.ROW, tuple(rows))


def _unanimous(rows: Sequence[JSON]) -> bool | None:
    verdicts = {verdict_of(row) for row in rows}
    return verdicts.pop() if len(verdicts) == 1 else None


def deep_values(value: JSON) -> frozenset[str]:
    """Every value of an item or a row that may identify it, nested ones included, some levels deep."""
    found: set[str] = set()
    level = [value]
    for _ in range(_DEEPEST):
        inner: list[JSON] = []
        for content in level:
            match content:
                case Mapping():
                    inner += [held for name, held in content.items() if name not in EVIDENCE_FIELDS]
                case list():
                    inner += content
                case _:
                    found |= {text for text in (identity(content),) if text is not None}
        level = inner
    return frozenset(found)


@dataclass(slots=True)
class _Sorting:
    """Which item each row is about: by the key that we sent, a field of the same name, else any shared value."""

    items: Sequence[Item]
    claims: dict[str, list[JSON]] = field(default_factory=lambda: defaultdict(list))
    ambiguous: set[str] = field(default_factory=set)
    extra: list[JSON] = field(default_factory=list)
    anonymous: list[JSON] = field(default_factory=list)
    _fields: dict[str, dict[str, str]] = field(default_factory=dict)
    _by_field: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    _by_value: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _by_any_value: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        for item in self.items:
            self._fields[item.key] = fields_of(item.value)
            for name, text in self._fields[item.key].items():
                self._by_field[name, text].add(item.key)
                self._by_value[text].add(item.key)
            for text in deep_values(item.value):
                self._by_any_value[text].add(item.key)

    def take(self, row: JSON) -> None:
        key = row.get(KEY_FIELD) if isinstance(row, Mapping) else None
        if isinstance(key, str) and key in self._fields:
            self.claims[key].append(row)
            return
        fields = fields_of(row) if isinstance(row, Mapping) else {}
        if not self._settle(row, [self._by_field.get(each, set()) for each in fields.items()]):
            self._take_by_any_value(row, fields)

    def _take_by_any_value(self, row: JSON, fields: Mapping[str, str]) -> None:
        deep = deep_values(row)
        values = frozenset(fields.values()) if isinstance(row, Mapping) else deep
        shared: set[str] = set()
        for texts, index in ((values, self._by_value), (deep, self._by_any_value)):
            holders = {text: {key for key in index.get(text, ()) if self._may_be(key, fields)} for text in texts}
            if self._settle(row, list(holders.values())):
                return
            shared |= {text for text, keys in holders.items() if len(keys) > 1}
        if not deep:
            self.anonymous.append(row)
        elif not deep <= shared:
            self.extra.append(row)

    def _may_be(self, key: str, fields: Mapping[str, str]) -> bool:
        """Whether no field of the same name speaks against it; a label may be only our name for the item."""
        own = self._fields[key]
        common = [name for name in fields if name in own and name != "label"]
        return not common or any(own[name] == fields[name] for name in common)

    def _settle(self, row: JSON, holders: Sequence[set[str]]) -> bool:
        """Whether values that one item alone holds decide: for that item, or for several that stay undecided."""
        candidates = {key for keys in holders if len(keys) == 1 for key in keys}
        if len(candidates) == 1:
            self.claims[next(iter(candidates))].append(row)
        else:
            self.ambiguous |= candidates
        return bool(candidates)
