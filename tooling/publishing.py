"""From the draft to a release and back: check, compare, publish, roll back (runtime.md §3, contracts.md §5)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Max
from django.db.transaction import atomic

from tooling.authors import author_of
from tooling.checks_of_sets import check
from tooling.content import canonical, digest, from_content, to_content
from tooling.differences import Change, ChangeKind, diff
from tooling.doubts import doubts
from tooling.draft_edits import Via
from tooling.drafts import ALL_KINDS, draft, replace_draft
from tooling.errors import (
    DraftMoved,
    InvalidDraft,
    NeverApproved,
    NothingChanged,
    NothingPublished,
    SecondPersonNeeded,
    ToolingError,
)
from tooling.findings import Finding
from tooling.models import Release
from tooling.neighbours import neighbours
from tooling.recording import changing, last_edit, newest_edit, take_turn
from tooling.server_states import listings
from tooling.specs import Definitions, Kind

__all__ = [
    "ALL_KINDS",
    "Change",
    "ChangeKind",
    "Version",
    "Via",
    "change_draft",
    "check_draft",
    "diff",
    "draft",
    "findings_of",
    "install",
    "publish",
    "published_edit",
    "replace_draft",
    "require",
    "roll_back",
    "take_turn",
    "version_of",
]

WRITTEN = re.compile(r"(?P<release>\d{1,9})-(?P<hash>[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Version:
    """What somebody saw who read the draft: the newest release then (0: none yet), and the draft's hash."""

    release: int
    hash: str

    def __str__(self) -> str:
        return f"{self.release}-{self.hash}"

    @classmethod
    def read(cls, text: str) -> Version | None:
        """The version that ``str`` wrote; None for anything else."""
        found = WRITTEN.fullmatch(text)
        return cls(int(found["release"]), found["hash"]) if found else None


Seen = Collection[Version] | None
"""The versions that a caller may have decided on; None: whatever it is now."""


def version_of(definitions: Definitions) -> Version:
    """The version of a draft that was just read."""
    return Version(newest_number(), hash_of(definitions))


def hash_of(definitions: Definitions) -> str:
    return digest(canonical(to_content(definitions)))


def require(seen: Seen) -> None:
    """DraftMoved unless the draft is what the caller saw; binding only for who holds the turn."""
    if seen is not None and version_of(draft()) not in seen:
        raise DraftMoved(last_edit())


def change_draft(
    definitions: Definitions, *, kinds: Collection[Kind], author: object, seen: Seen = None, via: Via = Via.FILES
) -> None:
    """Make the draft's ``kinds`` equal to ``definitions``, or raise DraftMoved if it is not what was ``seen``."""
    with changing(author, via):
        require(seen)
        replace_draft(definitions, kinds=kinds)


def check_draft() -> tuple[Finding, ...]:
    """What would keep the draft from being published, and what is doubtful about it; nothing is rehearsed."""
    return _checked(draft())


def findings_of(definitions: Definitions) -> tuple[Finding, ...]:
    """The same with what the saved cases find, for who is about to publish; not for inside of a turn."""
    return (*_checked(definitions), *neighbours.rehearse(definitions))


def _checked(definitions: Definitions) -> tuple[Finding, ...]:
    findings = check(definitions, stdio_commands=settings.MCP_STDIO_COMMANDS)
    return (*findings, *doubts(definitions, listings()))


def publish(*, comment: str, author: object = None, force: bool = False, seen: Seen = None) -> Release:
    """Make the draft the next release.

    ``author``: a user, the principal of a key, or a name. InvalidDraft if the checks find an error; NothingChanged if
    the newest release has the same content, unless ``force``; DraftMoved if the draft is not what was ``seen``;
    SecondPersonNeeded where the installation wants one. Numbers have no gaps: publishing waits for its turn.
    """
    if settings.FOUR_EYES:
        raise SecondPersonNeeded
    require(seen)
    definitions = sound(draft())
    with atomic():
        take_turn()
        require(seen)
        require_unchanged(definitions)
        content = canonical(to_content(definitions))
        return make_release(content, comment, author=author, force=force, last_edit=newest_edit())


def sound(definitions: Definitions) -> Definitions:
    """``definitions``, or InvalidDraft where a check finds an error."""
    findings = findings_of(definitions)
    if any(finding.is_error for finding in findings):
        raise InvalidDraft(findings)
    return definitions


def require_unchanged(checked: Definitions) -> None:
    """DraftMoved where the draft is not what was ``checked`` before the turn came."""
    if hash_of(draft()) != hash_of(checked):
        raise DraftMoved(last_edit())


def install(definitions: Definitions, *, comment: str, author: str) -> Release:
    """Publish ``definitions`` past the draft and without a second person: what an installation ships or moved."""
    content = canonical(to_content(sound(definitions)))
    with atomic():
        take_turn()
        holds_all = hash_of(draft()) == digest(content)
        contained = newest_edit() if holds_all else published_edit()
        return make_release(content, comment, author=author, last_edit=contained)


@atomic
def roll_back(number: int, comment: str, author: object = None, *, seen: Seen = None) -> Release:
    """Publish the content of release ``number`` once more, and make the draft follow.

    NothingPublished if there is no such release, NothingChanged if its content is what is published now, DraftMoved
    if the draft that goes is not what was ``seen``. It is not checked again: what once went out must be able to come
    back in a hurry. With four eyes it needs no second person if one approved that content before, else NeverApproved.
    """
    take_turn()
    require(seen)
    content = Release.objects.filter(number=number).values_list("content", flat=True).first()
    if content is None:
        raise NothingPublished(f"there is no release {number}")
    if settings.FOUR_EYES and not Release.objects.filter(hash=digest(content)).exclude(approver="").exists():
        raise NeverApproved(number)
    with changing(author, Via.ROLLBACK):
        replace_draft(from_content(json.loads(content)))
    return make_release(content, comment, author=author, rolled_back_to=number, last_edit=newest_edit())


def make_release(content: str, comment: str, *, author: object, force: bool = False, **more: Any) -> Release:
    """The next release, for who holds the turn; ``more``: its other columns. ToolingError without a comment."""
    if not comment.strip():
        raise ToolingError("a release needs a comment that says what changes for users")
    content_hash = digest(content)
    number = newest_number()
    if not force and Release.objects.filter(number=number, hash=content_hash).exists():
        raise NothingChanged(number)
    who = author_of(author)
    return Release.objects.create(
        number=number + 1,
        content=content,
        hash=content_hash,
        comment=comment.strip(),
        author=who.name,
        author_identity=who.identity,
        **more,
    )


def published_edit() -> int:
    """The newest edit of the draft that is in the newest release; 0 where nothing is published."""
    return Release.objects.order_by("-number").values_list("last_edit", flat=True).first() or 0


def newest_number() -> int:
    return Release.objects.aggregate(newest=Max("number"))["newest"] or 0
