"""Saved simulations: the list, running them all against the draft, and one of them beside what was expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.defaults import permission_denied

from tooling.draft_rights import may_change_draft
from tooling.specs import Definitions
from transactions.models import CaseResult, SimulationCase
from transactions.rehearsal.cases import CaseRun, kept_of, run_anew, run_case
from transactions.rehearsal.outcome import Seen
from transactions.rehearsal.setting_up import DRAFT, NotSound, definitions_of, note_calls, with_everybody
from transactions.rehearsal.simulating import Outside, Simulated
from transactions.services import saved_cases
from transactions.services.saved_cases import CaseMoved, NameTaken
from transactions.trying.carrying import carried, carry
from transactions.trying.forms import SaveForm
from transactions.trying.story import ASPECTS, expectation, story

PER_PAGE = 100


def cases(request: HttpRequest) -> HttpResponse:
    """The list; its button plays every case with the draft."""
    if not may_change_draft(request.user):
        return permission_denied(request, PermissionDenied())
    if request.method == "POST":
        _run_all(request)
        return HttpResponseRedirect(request.get_full_path())
    query = request.GET.get("q", "").strip()
    found = SimulationCase.objects.defer("readings", "answers").filter(name__icontains=query)
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    return _page(request, "simulate/cases.html", {"title": _("Saved simulations"), "page": page, "q": query})


def _run_all(request: HttpRequest) -> None:
    definitions = _draft(request)
    if definitions is None:
        return
    counts: Counter[str] = Counter()
    for case in SimulationCase.objects.all():
        run = run_case(case, definitions, looks_ahead=False)
        saved_cases.note_result(case, run.result)
        counts[run.result] += 1
    told = {
        name: counts[result]
        for name, result in (("same", "as_expected"), ("other", "differs"), ("again", "needs_reading"))
    }
    text = _("As expected: %(same)d. Different: %(other)d. Need the model again: %(again)d.") % told
    level = messages.success if counts[CaseResult.AS_EXPECTED] == sum(counts.values()) else messages.warning
    level(request, text)


def case(request: HttpRequest, pk: int) -> HttpResponse:
    """One case as it comes out with the draft now; its buttons accept that, record anew, rename and delete."""
    if not may_change_draft(request.user):
        return permission_denied(request, PermissionDenied())
    held = get_object_or_404(SimulationCase, pk=pk)
    acts = {"rename": _rename, "accept": _accept, "anew": _record_anew, "delete": _delete}
    act = next((acts[name] for name in acts if name in request.POST), None)
    try:
        done = act(request, held) if request.method == "POST" and act else None
    except CaseMoved:
        messages.warning(request, _("Somebody changed it meanwhile: look again."))
        done = HttpResponseRedirect(request.path)
    if done is not None:
        return done
    definitions = _draft(request)
    return _shown(request, held, run_case(held, definitions) if definitions else None, definitions)


def _draft(request: HttpRequest) -> Definitions | None:
    try:
        return definitions_of(DRAFT)
    except NotSound:
        messages.error(request, _("The draft has errors, so that nothing can be played with it: correct them first."))
        return None


def _shown(
    request: HttpRequest, held: SimulationCase, run: CaseRun | None, definitions: Definitions | None
) -> HttpResponse:
    seen = run.seen if run else None
    context = {
        "title": _("Saved simulation %(name)s") % {"name": held.name},
        "case": held,
        "result": CaseResult(run.result) if run else None,
        "rows": _rows(held, run),
        "story": story(seen, definitions, get_language() or "pt-BR") if seen and definitions else None,
        "recorded": _recorded(request, run.simulated, run.seen) if run and run.simulated and run.seen else "",
    }
    return _page(request, "simulate/case.html", context)


def _recorded(request: HttpRequest, simulated: Simulated, seen: Seen) -> str:
    return carry(simulated, seen, user=_pk(request), which=DRAFT, chosen=Outside()) if seen.whole else ""


def _rows(held: SimulationCase, run: CaseRun | None) -> list[dict[str, Any]]:
    """What is expected, and where it is otherwise now."""
    other = {one.aspect: one for one in run.differences} if run else {}
    return [
        {
            "label": label,
            "expected": expectation(aspect, held.expected[aspect]),
            "differs": aspect in other,
            "now": expectation(aspect, other[aspect].now) if aspect in other else "",
        }
        for aspect, label in ASPECTS.items()
        if aspect in held.expected
    ]


def _rename(request: HttpRequest, held: SimulationCase) -> HttpResponse:
    form = SaveForm({"name": request.POST.get("name", ""), "aspects": list(ASPECTS)}, aspects=ASPECTS)
    if not form.is_valid():
        messages.error(request, " ".join(map(str, form.errors.get("name", ()))))
        return HttpResponseRedirect(request.path)
    try:
        saved_cases.rename_case(_as_seen(request, held), form.cleaned_data["name"], author=request.user.get_username())
    except NameTaken:
        messages.error(request, _("There is a saved simulation of this name already."))
    else:
        messages.success(request, _("Renamed."))
    return HttpResponseRedirect(request.path)


def _accept(request: HttpRequest, held: SimulationCase) -> HttpResponse:
    """What the page showed is expected from now on, in the aspects that are compared."""
    seen = carried(request.POST.get("recorded", ""), user=_pk(request))
    if seen is None:
        messages.error(request, _("The page is too old, or was made for somebody else: look again."))
        return HttpResponseRedirect(request.path)
    compared = {name: value for name, value in seen.kept.expected.items() if name in held.expected}
    kept = replace(seen.kept, expected=compared)
    saved_cases.accept(_as_seen(request, held), kept, author=request.user.get_username())
    messages.success(request, _("Accepted: this is what is expected from now on."))
    return HttpResponseRedirect(request.path)


def _record_anew(request: HttpRequest, held: SimulationCase) -> HttpResponse | None:
    """Ask the model once more; a result as expected is kept at once, another one is shown to be accepted."""
    definitions = _draft(request)
    if definitions is None:
        return HttpResponseRedirect(request.path)
    run = run_anew(held, definitions, with_everybody(Outside()))
    if run.simulated is not None:
        note_calls(run.simulated, request.user)
    if run.result == CaseResult.AS_EXPECTED and run.simulated is not None:
        kept = kept_of(run.simulated, held.expected)
        saved_cases.accept(held, kept, author=request.user.get_username())
        messages.success(request, _("Recorded anew; it comes out as expected."))
        return HttpResponseRedirect(request.path)
    messages.warning(request, _("Recorded anew, and it comes out differently: accept the new result, or leave it."))
    return _shown(request, held, run, definitions)


def _delete(request: HttpRequest, held: SimulationCase) -> HttpResponse:
    saved_cases.delete_case(held)
    messages.success(request, _("Deleted: saved simulation “%(name)s”.") % {"name": held.name})
    return HttpResponseRedirect(reverse("simulate-cases"))


def _as_seen(request: HttpRequest, held: SimulationCase) -> SimulationCase:
    """``held`` at the revision that the page showed; raises CaseMoved where that is no number or another one."""
    if request.POST.get("revision") != str(held.revision):
        raise CaseMoved(f"{held} was changed meanwhile")
    return held


def _pk(request: HttpRequest) -> int:
    return int(request.user.pk or 0)


def _page(request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    return TemplateResponse(request, template, {**admin.site.each_context(request), **context})
