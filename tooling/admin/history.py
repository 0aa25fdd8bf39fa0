"""What was changed in the draft as people read it: who, when, through what, each change in words, and where it went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Model, Prefetch, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _

from tooling.admin.changes import Line, lines_of
from tooling.admin.labels import MODELS
from tooling.draft_edits import DraftChange, DraftEdit, Via
from tooling.models import ParameterMapping, Release
from tooling.recording import change_of

PER_PAGE = 50
SECTION_OF = {model: section for section, model in MODELS.items()}


@dataclass(frozen=True, slots=True)
class Told:
    """One edit. ``release``: where it went out, or the roll back that threw it away; None: not yet."""

    who: str
    at: datetime
    how: str
    lines: list[Line]
    release: int | None = None
    was_thrown_away: bool = False


def section_and_name(obj: Model) -> tuple[str, str]:
    """Where the object stands in the content of a release; no name for the router and for what goes for all tools."""
    section = SECTION_OF[type(obj)]
    nameless = section == "router" or (isinstance(obj, ParameterMapping) and obj.tool is None)
    return section, "" if nameless else str(obj)


def newest_edit_of(obj: Model) -> Told | None:
    """The last recorded change of one object."""
    return next(tell(_edits_of(obj)[:1]), None)


def context_of(request: HttpRequest, obj: Model | None) -> dict[str, Any]:
    """For the page of an object's history."""
    if obj is None:
        return {}
    found = paged(request, _edits_of(obj))
    return {"edits": list(tell(found.object_list)), "edits_page": found}


def paged(request: HttpRequest, edits: QuerySet[DraftEdit]) -> Page[DraftEdit]:
    return Paginator(edits, PER_PAGE).get_page(request.GET.get("p"))


def tell(edits: Iterable[DraftEdit]) -> Iterator[Told]:
    """Each edit in words; its changes are those in ``told``, else all of them."""
    releases = list(Release.objects.order_by("number").values_list("number", "last_edit", "rolled_back_to"))
    for edit in edits:
        rows = getattr(edit, "told", None)
        lines = lines_of([change_of(row) for row in (edit.changes.all() if rows is None else rows)])
        number, back = next(((one, back) for one, last, back in releases if (last or 0) >= edit.pk), (None, None))
        thrown = back is not None and edit.via != Via.ROLLBACK
        yield Told(edit.by, edit.at, how(edit.via), lines, number, thrown)


def how(via: str) -> str:
    """What an edit came through, in words."""
    match via:
        case Via.ADMIN:
            return _("in the administration")
        case Via.API:
            return _("over the API")
        case Via.COMMAND:
            return _("by the command")
        case Via.FILES:
            return _("by importing files")
        case Via.SERVER:
            return _("from a live server")
        case Via.ROLLBACK:
            return _("by rolling back")
        case _:
            return _("by the installation")


def _edits_of(obj: Model) -> QuerySet[DraftEdit]:
    """The edits of one object, newest first, each with what it changed of that object only."""
    section, name = section_and_name(obj)
    changes = DraftChange.objects.filter(section=section).order_by("pk")
    if name:
        changes = changes.filter(name__in=_names(section, name))
    edits = DraftEdit.objects.filter(pk__in=changes.order_by().values("edit")).order_by("-pk")
    return edits.prefetch_related(Prefetch("changes", queryset=changes, to_attr="told"))


def _names(section: str, name: str) -> set[str]:
    """``name`` and what the object was called before: a form that renames removes one name and adds one."""
    names, found = {name}, name
    while found:
        added = DraftChange.objects.filter(section=section, name=found, kind="added", edit__via=Via.ADMIN.value)
        found = ""
        for row in (one for one in added if len(one.path) == 2):
            others = list(row.edit.changes.filter(section=section, kind__in=["added", "removed"]))
            gone = [one.name for one in others if one.kind == "removed" and len(one.path) == 2]
            if len(others) == 2 and len(gone) == 1 and gone[0] not in names:
                found = gone[0]
                names.add(found)
    return names
