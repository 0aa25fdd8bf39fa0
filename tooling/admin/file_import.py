"""The page that imports files into the draft: choose, see what is wrong and what would change, write just that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format, localize
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.defaults import permission_denied

from tooling import publishing
from tooling.admin.changes import lines_of
from tooling.admin.labels import MODELS
from tooling.admin.uploads import MOST_TOGETHER, Seen, Upload, carried, carry, read, refusal_of_body, taken_from
from tooling.draft_rights import may_change_draft
from tooling.errors import DraftMoved
from tooling.forms.wording import said_of_file
from tooling.models import Tool
from tooling.publishing import ChangeKind
from tooling.specs import Kind
from tooling.yaml_io import DRAFT, FOLDER, Problem
from tooling.yaml_reader import MAX_BYTES

MOST_TOLD = 500
"""Problems that one page shows; the rest is counted."""
SECTIONS = {
    Kind.SERVERS: "servers",
    Kind.TOOLS: "tools",
    Kind.POLICIES: "policies",
    Kind.MAPPINGS: "mappings",
    Kind.ROUTING: "intents",
    Kind.PROFILES: "profiles",
    Kind.WORKFLOWS: "workflows",
}


@dataclass(frozen=True, slots=True)
class Told:
    """A problem as the command prints it, in the reader's language."""

    is_error: bool
    place: str
    text: str

    @classmethod
    def of(cls, problem: Problem) -> Told:
        file = _("(draft)") if problem.file == DRAFT else problem.file
        return cls(problem.is_error, f"{file}:{problem.line}:{problem.column}", said_of_file(problem))


@csrf_exempt
def import_files(request: HttpRequest) -> HttpResponse:
    """The page for whoever is signed in as staff. A body that cannot be taken is told before its token is looked for.

    Exempt only for that: ``_guarded`` protects all that does something.
    """
    refused = refusal_of_body(request) if request.method == "POST" else None
    if refused is None or not may_change_draft(request.user):
        return _guarded(request)
    status, why = refused
    messages.error(request, why)
    return _choose(request, status=status, typed={})


@csrf_protect
def _guarded(request: HttpRequest) -> HttpResponse:
    if not may_change_draft(request.user):
        return permission_denied(request, PermissionDenied())
    if request.method != "POST":
        return _choose(request)
    return _write(request) if request.POST.get("step") == "write" else _look(request)


def _look(request: HttpRequest) -> HttpResponse:
    """What the chosen files would do, or what is wrong with them."""
    upload = taken_from(request)
    if upload.is_empty:
        skipped = ", ".join(upload.skipped)
        messages.error(request, _("Choose at least one file, or paste a text.") + (f" ({skipped})" if skipped else ""))
        return _choose(request)
    seen = read(upload)
    if seen.reading.definitions is None:
        return _choose(request, seen, skipped=upload.skipped)
    return _preview(request, seen, upload)


def _write(request: HttpRequest) -> HttpResponse:
    """Write what was shown, if the draft is still what it was compared with; else show it again."""
    held = carried(int(request.user.pk or 0), request.POST.get("files", ""))
    if held is None:
        messages.error(request, _("The page was made for somebody else or is too old: choose the files again."))
        return _choose(request)
    upload, version = held
    seen = read(upload)
    if seen.reading.definitions is None:
        return _choose(request, seen)
    if not seen.changes():
        messages.info(request, _("The draft already holds what the files say; nothing was written."))
        return HttpResponseRedirect(reverse("admin:tooling_tool_changelist"))
    # What was read stands for the draft that it was read against, and for no other.
    decided_on = [version] if seen.version == version else []
    try:
        publishing.change_draft(
            seen.reading.definitions, kinds=seen.reading.kinds, author=request.user, seen=decided_on
        )
    except DraftMoved as moved:
        messages.warning(request, _moved(moved))
        return _preview(request, read(upload), upload, status=409)
    messages.success(request, _("The draft holds what the files say. It reaches customers when you publish it."))
    return HttpResponseRedirect(reverse("admin:tooling_tool_changelist"))


def _moved(moved: DraftMoved) -> str:
    if moved.last is None:
        return _("The draft was changed meanwhile. These are the changes against the draft as it is now.")
    at = date_format(timezone.localtime(moved.last.at), "SHORT_DATETIME_FORMAT")
    told = _("The draft was changed by “%(by)s” (%(at)s). These are the changes against the draft as it is now.")
    return told % {"by": moved.last.by, "at": at}


def _choose(
    request: HttpRequest,
    seen: Seen | None = None,
    *,
    skipped: Sequence[str] = (),
    status: int = 200,
    typed: Mapping[str, str] | None = None,
) -> HttpResponse:
    """The form, and above it what is wrong with the files that were sent; a pasted text is still there."""
    sent = request.POST if typed is None else typed
    context = {
        "title": _("Import files"),
        "problems": _told(seen),
        "skipped": skipped,
        "name": sent.get("name", ""),
        "text": sent.get("text", ""),
        "keep": sent.get("keep") == "yes",
        "most_each": f"{MAX_BYTES / 2**20:g} MiB",
        "most_together": f"{localize(MOST_TOGETHER / 2**20)} MiB",
    }
    return _page(request, "admin/tooling/import_files.html", context, status)


def _preview(request: HttpRequest, seen: Seen, upload: Upload, *, status: int = 200) -> HttpResponse:
    """What would change, and the button that writes it."""
    changes = seen.changes()
    context = {
        "title": _("Write this into the draft?"),
        "problems": _told(seen),
        "skipped": upload.skipped,
        "names": [name for name in upload.files if name != FOLDER],
        "keep": upload.keep,
        "replaced": _names_of(kind for kind in Kind if kind in seen.reading.kinds),
        "kept": _names_of(kind for kind in Kind if kind not in seen.reading.kinds),
        "removed": sum(1 for change in changes if change.kind is ChangeKind.REMOVED and len(change.path) == 2),
        "changes": lines_of(changes),
        "files": carry(int(request.user.pk or 0), upload, seen.version),
    }
    return _page(request, "admin/tooling/import_files_preview.html", context, status)


def _told(seen: Seen | None) -> dict[str, Any]:
    problems = seen.reading.problems if seen else ()
    errors = sum(problem.is_error for problem in problems)
    return {
        "errors": errors,
        "warnings": len(problems) - errors,
        "shown": [Told.of(problem) for problem in problems[:MOST_TOLD]],
        "more": max(0, len(problems) - MOST_TOLD),
    }


def _names_of(kinds: Iterable[Kind]) -> list[str]:
    """The kinds as their lists are called; routing holds the intents and the settings of the router."""
    names = []
    for kind in kinds:
        names.append(str(MODELS[SECTIONS[kind]]._meta.verbose_name_plural))
        if kind is Kind.ROUTING:
            names.append(str(MODELS["router"]._meta.verbose_name_plural))
    return names


def _page(request: HttpRequest, template: str, context: Mapping[str, Any], status: int) -> HttpResponse:
    everything = {**admin.site.each_context(request), "opts": Tool._meta, **context}
    return TemplateResponse(request, template, everything, status=status)
