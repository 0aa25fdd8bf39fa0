"""The pages of replays, for whoever may change the draft: ask for one, watch it, read what it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from tooling import publishing
from tooling.draft_rights import may_change_draft
from tooling.specs import Definitions
from transactions.access import visible
from transactions.console.presentation import moment
from transactions.models import ReplayRun, Transaction
from transactions.rehearsal import replay_runs
from transactions.rehearsal.courses import Difference
from transactions.rehearsal.replay_runs import Line, lines_of, summary_of
from transactions.rehearsal.setting_up import NotSound, definitions_of
from transactions.replay import words
from transactions.replay.forms import ReplayForm

RUNS_SHOWN = 10
LINES_SHOWN = 100
SAME, APART, ALL = "same", "apart", "different"


def replay(request: HttpRequest) -> HttpResponse:
    """``GET`` asks what is to be played and lists the newest replays; ``POST`` begins one and shows it."""
    _check(request)
    draft = publishing.draft()
    asked = request.POST if request.method == "POST" else None
    form = ReplayForm(asked, draft=draft, initial={"tool": request.GET.get("tool", "")})
    if request.method == "POST" and form.is_valid():
        run = _begun(form, str(request.user.get_username()))
        if run is not None:
            return HttpResponseRedirect(reverse("replay-run", args=[run.pk]))
    runs = ReplayRun.objects.defer("content")[:RUNS_SHOWN]
    context = {"title": _("Replay"), "form": form, "runs": [_in_the_list(run, draft) for run in runs]}
    return _page(request, "replay/replay.html", context, status=400 if form.errors else 200)


def replay_run(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What one replay found, or how far it is."""
    _check(request)
    run = get_object_or_404(ReplayRun, pk=pk)
    lines = lines_of(run)
    summary = summary_of(lines)
    shown = request.GET.get("show", ALL)
    return _page(
        request,
        "replay/run.html",
        {
            "title": _("What the replay found") if run.is_finished else _("The replay is being played"),
            "run": run,
            "name": words.name_of(run),
            "at": moment(run.created_at),
            "sentence": words.in_short(summary, run.release),
            "left_out": words.left_out(summary),
            "is_stale": not run.release and run.hash != publishing.hash_of(publishing.draft()),
            "categories": _categories(summary.counts, shown),
            "others": _others(summary, shown),
            "whys": [(words.WHYS[why], number) for why, number in sorted(summary.apart.items())],
            "shown": shown,
            **_listed(request, lines, shown),
        },
    )


def replay_state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """How far it is, for the page's script."""
    _check(request)
    run = get_object_or_404(ReplayRun.objects.defer("content"), pk=pk)
    return JsonResponse({"done": run.done, "total": run.total, "finished": run.is_finished})


def _check(request: HttpRequest) -> None:
    if not may_change_draft(request.user):
        raise PermissionDenied


def _begun(form: ReplayForm, author: str) -> ReplayRun | None:
    """The replay that was asked for; None where the form now says why there is none."""
    try:
        definitions = definitions_of(form.which)
    except NotSound:
        form.add_error("definitions", _("The draft has errors; correct them first. The publish page names them."))
        return None
    release = form.which if isinstance(form.which, int) else 0
    asked = form.cleaned_data
    return replay_runs.begin(definitions, last=asked["last"], tool=asked["tool"], release=release, author=author)


def _in_the_list(run: ReplayRun, draft: Definitions) -> dict[str, Any]:
    return {
        "run": run,
        "name": words.name_of(run),
        "at": moment(run.created_at),
        "is_of_draft": not run.release and run.hash == publishing.hash_of(draft),
        "sentence": words.told_of(run) if run.is_finished else "",
    }


# Results ------------------------------------------


def _categories(counts: Mapping[Difference, int], shown: str) -> list[dict[str, Any]]:
    """Every difference with its number; that a confirmation is skipped stands first, also where none is."""
    return [
        {
            "text": text,
            "number": counts[one],
            "is_risk": one in words.RISKS and counts[one] > 0,
            "query": "?" + urlencode({"show": one}) if counts[one] else "",
            "is_current": shown == one,
        }
        for one, text in words.DIFFERENCES.items()
    ]


def _others(summary: replay_runs.Summary, shown: str) -> list[dict[str, Any]]:
    groups = [
        (SAME, _("would go exactly as they did"), summary.same),
        (APART, _("could not be compared"), sum(summary.apart.values())),
    ]
    return [
        {"text": text, "number": number, "query": f"?show={name}" if number else "", "is_current": shown == name}
        for name, text, number in groups
    ]


def _listed(request: HttpRequest, lines: Sequence[Line], shown: str) -> dict[str, Any]:
    """One page of the transactions that ``shown`` names; only those that the reader may open have a link."""
    chosen = [line for line in lines if _is_in(line, shown)]
    page = _number(request.GET.get("page", ""))
    start = min(page * LINES_SHOWN, max(0, len(chosen) - 1) // LINES_SHOWN * LINES_SHOWN)
    part = chosen[start : start + LINES_SHOWN]
    may_open = _openable(request, [line.transaction for line in part])
    query = {"show": shown}
    return {
        "rows": [_row(line, line.transaction in may_open) for line in part],
        "chosen": len(chosen),
        "newer": "?" + urlencode({**query, "page": start // LINES_SHOWN - 1}) if start else "",
        "older": "?" + urlencode({**query, "page": start // LINES_SHOWN + 1})
        if len(chosen) > start + len(part)
        else "",
    }


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def _is_in(line: Line, shown: str) -> bool:
    match shown:
        case "same":
            return line.why is None and not line.differences
        case "apart":
            return line.why is not None
        case _ if shown in list(Difference):
            return shown in line.differences
        case _:
            return bool(line.differences)


def _openable(request: HttpRequest, ids: Sequence[str]) -> set[str]:
    if not request.user.has_perm("transactions.operate"):
        return set()
    found = visible(Transaction.objects.filter(pk__in=ids), request.user)
    return {str(pk) for pk in found.values_list("pk", flat=True)}


def _row(line: Line, may_open: bool) -> dict[str, Any]:
    before, before_why = words.stand_of(line.before, line.tool)
    after, after_why = words.stand_of(line.after, line.tool)
    return {
        "url": reverse("console:transaction", args=[line.transaction]) if may_open else "",
        "tool": line.tool,
        "at": moment(line.at),
        "why": words.WHYS[line.why] if line.why else "",
        "differences": [{"text": words.DIFFERENCES[one], "is_risk": one in words.RISKS} for one in line.differences],
        "before": before,
        "before_why": before_why,
        "after": after,
        "after_why": after_why,
    }


def _page(request: HttpRequest, template: str, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
    return TemplateResponse(request, template, {**admin.site.each_context(request), **context}, status=status)
