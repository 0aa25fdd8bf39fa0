"""Trying a message: the form, the story of what would be done, and saving it; nothing is executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.defaults import permission_denied

from tooling import catalog
from tooling.draft_rights import may_change_draft
from tooling.specs import Definitions
from transactions.rehearsal.outcome import outcome
from transactions.rehearsal.setting_up import DRAFT, NotSound, definitions_of, note_calls, with_everybody
from transactions.rehearsal.simulating import NOTHING, Outside, Recording, Simulated, simulate
from transactions.services.saved_cases import Kept, NameTaken, save_case
from transactions.trying.carrying import Carried, carried, carry, chosen_from_json
from transactions.trying.forms import SaveForm, TryForm, cleaned, filled, first_values
from transactions.trying.story import ASPECTS, story

MOST_RELEASES = 20


def simulate_page(request: HttpRequest) -> HttpResponse:
    """The page for whoever may change the draft; the POST of its form plays the message, and keeps nothing."""
    if not may_change_draft(request.user):
        return permission_denied(request, PermissionDenied())
    if request.method == "POST":
        return _save(request) if "save" in request.POST else _try(request)
    definitions, problem = _definitions(DRAFT)
    form = TryForm(initial=first_values(request.GET.get("tool", "")), definitions=definitions, releases=_releases())
    return _page(request, {"form": form, "problem": problem, "said": []})


def _try(request: HttpRequest) -> HttpResponse:
    sent = cleaned(request.POST)
    which = sent.get("which", DRAFT)
    definitions, problem = _definitions(which)
    form = TryForm(sent, definitions=definitions, releases=_releases(), said=sent.getlist("said"))
    if problem or not form.is_valid():
        return _page(request, {"form": form, "problem": problem, "said": form.said})
    scene, chosen = form.scene(), form.cleaned_data["chosen"]
    before = carried(request.POST.get("recorded", ""), user=_pk(request))
    goes_on = before is not None and bool(form.cleaned_data["message"].strip())
    recorded: Recording = NOTHING
    if before is not None and goes_on and before.is_beginning_of(scene, which, chosen):
        recorded = before.recording
    simulated = simulate(scene, with_everybody(chosen), recorded)
    note_calls(simulated, request.user)
    return _told(request, simulated, which=which, chosen=chosen)


def _told(
    request: HttpRequest, simulated: Simulated, *, which: str, chosen: Outside, save: SaveForm | None = None
) -> HttpResponse:
    """The story, the form for what the customer says next, and the one that saves."""
    seen, scene = outcome(simulated), simulated.scene
    form_values = filled(scene, which, chosen)
    form = TryForm(initial=form_values.initial, definitions=scene.definitions, releases=_releases())
    context = {
        "form": form,
        "said": form_values.said,
        "story": story(seen, scene.definitions, get_language() or scene.locale),
        "recorded": carry(simulated, seen, user=_pk(request), which=which, chosen=chosen) if seen.whole else "",
        "save": save or SaveForm(aspects=ASPECTS),
    }
    return _page(request, context)


def _save(request: HttpRequest) -> HttpResponse:
    """Keep what the page showed under a name, or show it again with what is wrong about the name."""
    held = carried(request.POST.get("recorded", ""), user=_pk(request))
    if held is None:
        messages.error(request, _("The page is too old, or was made for somebody else: simulate again, then save."))
        return HttpResponseRedirect(reverse("simulate"))
    form = SaveForm(request.POST, aspects=ASPECTS)
    if form.is_valid():
        compared = {name: held.kept.expected[name] for name in form.cleaned_data["aspects"]}
        kept = Kept(held.kept.scene, held.kept.readings, held.kept.answers, compared)
        try:
            case = save_case(form.cleaned_data["name"], kept, author=request.user.get_username())
        except NameTaken:
            form.add_error("name", _("There is a saved simulation of this name already."))
        else:
            messages.success(request, _("Saved. Publishing plays it again every time."))
            return HttpResponseRedirect(reverse("simulate-case", args=[case.pk]))
    return _shown_again(request, held, form)


def _shown_again(request: HttpRequest, held: Carried, form: SaveForm) -> HttpResponse:
    definitions, problem = _definitions(held.which)
    if problem:
        messages.error(request, _("The draft changed meanwhile: simulate again, then save."))
        return HttpResponseRedirect(reverse("simulate"))
    chosen = chosen_from_json(held.chosen)
    simulated = simulate(held.scene(definitions), chosen, held.recording)
    return _told(request, simulated, which=held.which, chosen=chosen, save=form)


def _definitions(which: str) -> tuple[Definitions, str]:
    """What is played, or nothing and why."""
    try:
        return definitions_of(which if which == DRAFT else int(which)), ""
    except NotSound:
        return Definitions(), "draft"
    except (ValueError, catalog.NothingPublished):
        return Definitions(), "release"


def _releases() -> list[int]:
    newest = catalog.newest()
    return list(range(newest.number, max(newest.number - MOST_RELEASES, 0), -1)) if newest else []


def _pk(request: HttpRequest) -> int:
    return int(request.user.pk or 0)


def _page(request: HttpRequest, context: Mapping[str, Any]) -> HttpResponse:
    everything = {**admin.site.each_context(request), "title": _("Try a message"), **context}
    return TemplateResponse(request, "simulate/page.html", everything)
