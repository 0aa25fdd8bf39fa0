"""From the draft to a release and back: check, compare, publish, roll back (runtime.md §3, contracts.md §5)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.db.models import Max
from django.db.transaction import atomic

from tooling.checks_of_policies import doubts_of_policies
from tooling.checks_of_sets import check
from tooling.content import canonical, digest, from_content, to_content
from tooling.drafts import ALL_KINDS, draft, last_edit, replace_draft
from tooling.errors import DraftMoved, InvalidDraft, NothingChanged, NothingPublished, ToolingError
from tooling.findings import Finding
from tooling.models import Release, RouterSettings
from tooling.specs import JSON, Definitions, Kind

__all__ = [
    "ALL_KINDS",
    "Change",
    "ChangeKind",
    "Version",
    "change_draft",
    "check_draft",
    "diff",
    "draft",
    "publish",
    "replace_draft",
    "require",
    "roll_back",
    "take_turn",
    "version_of",
]


@dataclass(frozen=True, slots=True)
class Version:
    """What somebody saw who read the draft: the newest release then (0: none yet), and the draft's hash."""

    release: int
    hash: str


Seen = Collection[Version] | None
"""The versions that a caller may have decided on; None: whatever it is now."""


def version_of(definitions: Definitions) -> Version:
    """The version of a draft that was just read."""
    return Version(_newest_number(), digest(canonical(to_content(definitions))))


def require(seen: Seen) -> None:
    """DraftMoved unless the draft is what the caller saw; binding only for who holds the turn."""
    if seen is not None and version_of(draft()) not in seen:
        raise DraftMoved(last_edit())


@atomic
def change_draft(definitions: Definitions, *, kinds: Collection[Kind], author: object, seen: Seen = None) -> None:
    """Make the draft's ``kinds`` equal to ``definitions``, or raise DraftMoved if it is not what was ``seen``."""
    take_turn()
    require(seen)
    replace_draft(definitions, kinds=kinds, by=author)


def check_draft() -> tuple[Finding, ...]:
    """What would keep the draft from being published, and what is doubtful about it."""
    definitions = draft()
    findings = check(definitions, stdio_commands=settings.MCP_STDIO_COMMANDS)
    return (*findings, *doubts_of_policies(definitions))


@atomic
def publish(*, comment: str, author: object = None, force: bool = False, seen: Seen = None) -> Release:
    """Make the draft the next release.

    ``author`` is shown as text. InvalidDraft if the checks find an error; NothingChanged if the newest release has
    the same content, unless ``force``; DraftMoved if the draft is not what was ``seen``. Numbers have no gaps:
    publishing waits for its turn.
    """
    take_turn()
    require(seen)
    definitions = draft()
    findings = check(definitions, stdio_commands=settings.MCP_STDIO_COMMANDS)
    if any(finding.is_error for finding in findings):
        raise InvalidDraft(findings)
    return _release(canonical(to_content(definitions)), comment=comment, author=author, force=force)


@atomic
def roll_back(number: int, comment: str, author: object = None, *, seen: Seen = None) -> Release:
    """Publish the content of release ``number`` once more, and make the draft follow.

    NothingPublished if there is no such release, NothingChanged if its content is what is published now, DraftMoved
    if the draft that goes is not what was ``seen``. It is not checked again: what once went out must be able to come
    back in a hurry.
    """
    take_turn()
    require(seen)
    content = Release.objects.filter(number=number).values_list("content", flat=True).first()
    if content is None:
        raise NothingPublished(f"there is no release {number}")
    release = _release(content, comment=comment, author=author, force=False)
    replace_draft(from_content(json.loads(content)))
    return release


def take_turn() -> None:
    """Wait, in a database transaction, until nobody else changes the draft or publishes.

    Whoever holds the router's only row may; SQLite has one writer anyway.
    """
    RouterSettings.objects.get_or_create(pk=1)
    RouterSettings.objects.select_for_update().get(pk=1)


def _release(content: str, *, comment: str, author: object, force: bool) -> Release:
    if not comment.strip():
        raise ToolingError("a release needs a comment that says what changes for users")
    content_hash = digest(content)
    number = _newest_number()
    if not force and Release.objects.filter(number=number, hash=content_hash).exists():
        raise NothingChanged(number)
    author_name = "" if author is None else str(author)[:150]
    return Release.objects.create(
        number=number + 1, content=content, hash=content_hash, comment=comment.strip(), author=author_name
    )


def _newest_number() -> int:
    return Release.objects.aggregate(newest=Max("number"))["newest"] or 0


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
    return list(_differences((), to_content(old), to_content(new)))


def _differences(path: tuple[str, ...], old: JSON, new: JSON) -> Iterator[Change]:
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
            yield from _differences((*path, key), before[key], after[key])
    if isinstance(old, list) and list(before) != list(after) and before.keys() == after.keys():
        yield Change((*path, "order"), list(before), list(after), ChangeKind.CHANGED)


def _by_name(value: JSON) -> dict[str, JSON] | None:
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
