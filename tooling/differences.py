"""What differs between two sets of definitions by meaning, and how two people's changes come together. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tooling.content import canonical, to_content
from tooling.specs import JSON, Definitions


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference of meaning. ``path`` leads through the content: ("policies", "x", "max_items")."""

    path: tuple[str, ...]
    old: JSON
    new: JSON
    kind: ChangeKind

    def __str__(self) -> str:
        where = ".".join(self.path)
        match self.kind:
            case ChangeKind.ADDED:
                return f"+ {where}: {_shown(self.new)}"
            case ChangeKind.REMOVED:
                return f"- {where}: {_shown(self.old)}"
            case ChangeKind.CHANGED:
                return f"~ {where}: {_shown(self.old)} → {_shown(self.new)}"


def _shown(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:199] + "…"


def diff(old: Definitions, new: Definitions) -> list[Change]:
    """What ``new`` changes, in the order of the content; order of names and layout of files mean nothing."""
    return list(differences((), to_content(old), to_content(new)))


def differences(path: tuple[str, ...], old: JSON, new: JSON) -> Iterator[Change]:
    """The same for any part of two contents; ``path`` leads to it."""
    before, after = _by_name(old), _by_name(new)
    if before is None or after is None:
        if canonical(old) != canonical(new):
            yield Change(path, old, new, ChangeKind.CHANGED)
        return
    for key in sorted(before.keys() | after.keys()):
        if key not in before:
            yield Change((*path, key), None, after[key], ChangeKind.ADDED)
        elif key not in after:
            yield Change((*path, key), before[key], None, ChangeKind.REMOVED)
        else:
            yield from differences((*path, key), before[key], after[key])
    if isinstance(old, list) and list(before) != list(after) and before.keys() == after.keys():
        yield Change((*path, "order"), list(before), list(after), ChangeKind.CHANGED)


def merge(base: JSON, theirs: JSON, mine: JSON) -> JSON:
    """``theirs`` with what ``mine`` changed since ``base``; where both changed the same, mine stands."""
    merged = _merge(base, theirs, mine)
    return None if merged is _ABSENT else merged


_ABSENT: Any = object()
"""Stands for a key that one side does not have."""


def _merge(base: Any, theirs: Any, mine: Any) -> Any:
    if _same(mine, base):
        return theirs
    if _same(theirs, base):
        return mine
    before, other, own = _by_name(base), _by_name(theirs), _by_name(mine)
    if before is None or other is None or own is None:
        return mine
    leading, following = (other, own) if list(own) == list(before) else (own, other)
    keys = list(dict.fromkeys([*leading, *following]))
    merged = {key: _merge(before.get(key, _ABSENT), other.get(key, _ABSENT), own.get(key, _ABSENT)) for key in keys}
    kept = {key: value for key, value in merged.items() if value is not _ABSENT}
    return list(kept.values()) if isinstance(mine, list) else kept


def _same(one: Any, other: Any) -> bool:
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return canonical(one) == canonical(other)


def _by_name(value: Any) -> dict[str, JSON] | None:
    """A mapping, or a list of things with unique names as one; None for everything else."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return None
    names = [_name(one) for one in value]
    return dict(zip(names, value, strict=True)) if all(names) and len(set(names)) == len(names) else None


def _name(value: dict[str, JSON]) -> str:
    if "version" in value and "name" in value:
        return f"{value['name']} v{value['version']}"
    return str(value.get("name") or value.get("field") or value.get("id") or "")
