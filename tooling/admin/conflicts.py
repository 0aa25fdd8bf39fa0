"""Two people at one object of the draft: who saves second sees what the first changed, and decides.

A form carries what it was made from. Where the object says something else by now, what was typed is saved inside of a
transaction that is thrown away, only to compare three versions: what both began with, theirs, and mine.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.admin.utils import unquote
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from tooling.admin.changes import Shown, in_words
from tooling.admin.history import newest_edit_of, section_and_name
from tooling.admin.labels import field_of
from tooling.content import canonical, digest, from_plain, to_plain
from tooling.differences import Change, ChangeKind, differences, merge
from tooling.drafts import spec_of, write_row
from tooling.specs import JSON

if TYPE_CHECKING:
    from tooling.admin.base import PlainAdmin

SEEN, TAKE = "seen_of_draft", "take_mine"
CONFLICT = 409
NOT_TYPED = {"csrfmiddlewaretoken", SEEN, TAKE}


@dataclass(frozen=True, slots=True)
class Moved:
    """The object is not what the form was made from. ``take``: what the person saw of ``theirs``, and decided on."""

    base: JSON
    theirs: JSON
    take: str


class Overtaken(Exception):
    """Somebody saved, or removed, the object since the form was made; ``mine`` is what was typed, as it would be."""

    def __init__(self, object_id: str, moved: Moved | None = None, mine: JSON = None) -> None:
        super().__init__(object_id)
        self.object_id, self.moved, self.mine = object_id, moved, mine


def seen_by(request: HttpRequest, obj: Model | None) -> str:
    """What the form says that it was made from; a form that is shown again still says what it did at first."""
    if request.method == "POST":
        return request.POST.get(SEEN, "")
    return _plain(obj) if obj is not None else ""


def begin(request: HttpRequest, model: type[Model], object_id: str | None) -> None:
    """Remember whether the object moved since the form was made. Overtaken if it is gone. For who holds the turn."""
    if object_id is None:
        return
    try:
        row = model._default_manager.filter(pk=unquote(object_id)).first()
    except (ValueError, ValidationError):
        return  # No key at all: the page says so itself.
    if row is None:
        raise Overtaken(object_id)
    theirs, seen = _plain(row), request.POST.get(SEEN, "")
    if seen != theirs:
        moved = Moved(_read(seen, theirs), json.loads(theirs), request.POST.get(TAKE, ""))
        request.moved_in_draft = moved  # type: ignore[attr-defined]  # an attribute of ours


def settle(request: HttpRequest, row: Model) -> None:
    """After the form was saved: let it be, bring both together where that was decided, or raise Overtaken."""
    moved: Moved | None = getattr(request, "moved_in_draft", None)
    if moved is None:
        return
    fresh = type(row)._default_manager.get(pk=row.pk)
    mine = json.loads(_plain(fresh))
    if canonical(mine) == canonical(moved.theirs):
        return
    if moved.take != _token(moved.theirs):
        raise Overtaken(str(row.pk), moved, mine)
    merged = merge(moved.base, moved.theirs, mine)
    write_row(fresh, from_plain(type(spec_of(fresh)), merged))


def page(admin: PlainAdmin, request: HttpRequest, overtaken: Overtaken) -> HttpResponse:
    """Both changes side by side, what was typed kept in the form, and the two ways to go on."""
    obj = admin.get_object(request, unquote(overtaken.object_id))
    if obj is None:
        title = _("Somebody removed this meanwhile")
        context: dict[str, Any] = {"typed": [(name, value) for name, value in _typed(request) if value]}
    else:
        title = _("Somebody else changed this meanwhile")
        context = _compared(obj, overtaken)
        context["fields"] = _typed(request)
        context["change_url"] = reverse(f"admin:tooling_{admin.opts.model_name}_change", args=[obj.pk])
    each = admin.admin_site.each_context(request)
    everything = {**each, "opts": admin.opts, "title": title, "object": obj, **context}
    return TemplateResponse(request, "admin/tooling/conflict.html", everything, status=CONFLICT)


def _compared(obj: Model, overtaken: Overtaken) -> dict[str, Any]:
    moved = overtaken.moved
    if moved is None:
        return {}
    section, name = section_and_name(obj)
    path = (section, name) if name else (section,)
    theirs = {change.path: change for change in differences(path, moved.base, moved.theirs)}
    mine = {change.path: change for change in differences(path, moved.base, overtaken.mine)}
    rows = [_row(where, theirs.get(where), mine.get(where)) for where in sorted(theirs.keys() | mine.keys())]
    return {
        "rows": rows,
        "edit": newest_edit_of(obj),
        "seen": canonical(moved.base),
        "take": _token(moved.theirs),
    }


def _row(path: tuple[str, ...], theirs: Change | None, mine: Change | None) -> dict[str, Any]:
    one = theirs or mine
    return {
        "label": field_of(path)[0],
        "before": in_words(path, one.old) if one and one.kind is not ChangeKind.ADDED else None,
        "theirs": _after(path, theirs),
        "mine": _after(path, mine),
        "both": theirs is not None and mine is not None and canonical(theirs.new) != canonical(mine.new),
    }


def _after(path: tuple[str, ...], change: Change | None) -> Shown | None:
    if change is None:
        return None
    return Shown(_("removed")) if change.kind is ChangeKind.REMOVED else in_words(path, change.new)


def _typed(request: HttpRequest) -> list[tuple[str, str]]:
    every = ((name, value) for name in request.POST for value in request.POST.getlist(name))
    return [(name, value) for name, value in every if name not in NOT_TYPED]


def _plain(row: Model) -> str:
    return canonical(to_plain(spec_of(row)))


def _read(seen: str, otherwise: str) -> JSON:
    """What the form was made from; where it does not say, what is there, so that everything typed is shown."""
    try:
        value = json.loads(seen)
        canonical(value)
    except (ValueError, RecursionError):
        return json.loads(otherwise)
    return value if isinstance(value, dict) else json.loads(otherwise)


def _token(theirs: JSON) -> str:
    return digest(canonical(theirs))
