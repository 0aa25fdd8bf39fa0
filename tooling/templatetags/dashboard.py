"""The first page of the administration: how many definitions there are, what is wrong with them, where to go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.db.models import Model
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from tooling import publishing
from tooling.admin.draft_pages import unpublished
from tooling.admin.labels import MODELS, section_of

register = template.Library()
ORDER = ("tools", "policies", "servers", "intents", "mappings", "workflows", "profiles", "router")
PAGES: tuple[tuple[str, str, Callable[[], str]], ...] = (
    ("simulate", "tooling.view_tool", lambda: _("Try a message…")),
    ("replay", "tooling.change_policy", lambda: _("Replay real requests…")),
    ("import-files", "tooling.change_tool", lambda: _("Import files…")),
    ("admin:tooling_release_publish", "tooling.publish_release", lambda: _("Publish…")),
)
"""(name of the page, permission, words); one that this installation does not have is left out."""


@dataclass(frozen=True, slots=True)
class Card:
    """``count`` is None for what there is only one of."""

    title: str
    url: str
    add_url: str
    count: int | None
    errors: int
    warnings: int


@register.simple_tag(takes_context=True)
def definitions_dashboard(context: Mapping[str, Any]) -> dict[str, Any]:
    """What the user may see of the draft: the banner's numbers, a card per kind of definition, and the next steps."""
    request: HttpRequest = context["request"]
    shown = [section for section in ORDER if _may(request, "view", section)]
    findings = publishing.check_draft() if shown else ()
    errors = Counter(section_of(one.path) for one in findings if one.is_error)
    warnings = Counter(section_of(one.path) for one in findings if one.is_warning)
    cards = [_card(request, section, errors[section], warnings[section]) for section in shown]
    return {
        **(unpublished(request) if shown else {}),
        "cards": cards,
        "steps": list(_steps(request)) if shown else [],
        "errors": sum(card.errors for card in cards),
        "others": _others(context.get("app_list", ()), {MODELS[section] for section in shown}),
    }


def _others(apps: Sequence[Mapping[str, Any]], shown: Collection[type[Model]]) -> list[dict[str, Any]]:
    """Django's list of applications without what has a card."""
    rest = [{**app, "models": [one for one in app["models"] if one["model"] not in shown]} for app in apps]
    return [app for app in rest if app["models"]]


def _may(request: HttpRequest, verb: str, section: str) -> bool:
    name = MODELS[section]._meta.model_name
    verbs = [verb, "change"] if verb == "view" else [verb]
    return any(request.user.has_perm(f"tooling.{one}_{name}") for one in verbs)


def _card(request: HttpRequest, section: str, errors: int, warnings: int) -> Card:
    model = MODELS[section]
    page = f"admin:tooling_{model._meta.model_name}"
    is_list = section != "router"
    may_add = is_list and _may(request, "add", section)
    return Card(
        title=capfirst(str(model._meta.verbose_name_plural)),
        url=reverse(f"{page}_changelist"),
        add_url=reverse(f"{page}_add") if may_add else "",
        count=model._default_manager.count() if is_list else None,
        errors=errors,
        warnings=warnings,
    )


def _steps(request: HttpRequest) -> list[tuple[str, str]]:
    """(address, words) of the pages that this user may open and this installation has."""
    found = []
    for name, permission, words in PAGES:
        try:
            if request.user.has_perm(permission):
                found.append((reverse(name), words()))
        except NoReverseMatch:
            continue
    return found
