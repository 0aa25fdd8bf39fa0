"""Every change of the draft, in its turn and on record: what changed, who did it, when and through what.

The one place that knows: whoever changes the draft does it inside of ``changing``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db.models import QuerySet
from django.db.transaction import atomic

from tooling.authors import author_of
from tooling.differences import Change, ChangeKind, diff
from tooling.draft_edits import DraftChange, DraftEdit, Via
from tooling.drafts import draft
from tooling.errors import LastEdit
from tooling.models import Release, RouterSettings
from tooling.specs import Definitions


@contextmanager
def changing(by: object, via: Via) -> Iterator[None]:
    """Hold the turn, in a database transaction, while the draft is changed; then record what came of it.

    Where nothing changed, nothing is recorded.
    """
    with atomic():
        take_turn()
        before = draft()
        yield
        record(before, draft(), by=by, via=via)


def take_turn() -> None:
    """Wait, in a database transaction, until nobody else changes the draft or publishes.

    Whoever holds the router's only row may; SQLite has one writer anyway.
    """
    RouterSettings.objects.get_or_create(pk=1)
    RouterSettings.objects.select_for_update().get(pk=1)


def record(before: Definitions, after: Definitions, *, by: object, via: Via) -> None:
    """Write down the differences, for who holds the turn."""
    found = diff(before, after)
    if not found:
        return
    author = author_of(by)
    edit = DraftEdit.objects.create(by=author.name, identity=author.identity, via=via.value)
    DraftChange.objects.bulk_create([_row(edit, change) for change in found], batch_size=500)


def _row(edit: DraftEdit, change: Change) -> DraftChange:
    section, *rest = change.path
    return DraftChange(
        edit=edit,
        section=section,
        name="" if section == "router" else rest[0][:200],
        path=list(change.path),
        kind=change.kind.value,
        old=change.old,
        new=change.new,
    )


def change_of(row: DraftChange) -> Change:
    """A recorded change as a difference again."""
    return Change(tuple(row.path), row.old, row.new, ChangeKind(row.kind))


def newest_edit() -> int:
    """The number of the newest edit; 0 where there is none. Numbers grow in the order of the turns."""
    return DraftEdit.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def edits_after(number: int) -> QuerySet[DraftEdit]:
    """The edits after the one ``number``, oldest first, with their changes."""
    return DraftEdit.objects.filter(pk__gt=number).order_by("pk").prefetch_related("changes")


def last_edit() -> LastEdit | None:
    """The newest change of the draft or of what is published that anything recorded."""
    known = [LastEdit(edit.by, edit.at) for edit in DraftEdit.objects.order_by("-pk")[:1] if edit.by]
    releases = Release.objects.order_by("-number")[:1]
    known += [LastEdit(release.author, release.created_at) for release in releases if release.author]
    return max(known, key=lambda edit: edit.at, default=None)
