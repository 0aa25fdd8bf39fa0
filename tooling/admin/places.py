"""Where on the pages of the draft a finding is corrected: the page of the object and the field on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.urls import reverse

from tooling.admin.labels import COLUMNS, MODELS, SIMULATIONS, section_of
from tooling.models import (
    Intent,
    LlmProfile,
    McpServer,
    ParameterMapping,
    Policy,
    RouterSettings,
    Tool,
    ToolArgument,
    Workflow,
)

PHRASES = {"pt-BR": "pt_br", "en": "en"}
"""Locale of a list of phrases → how its field on the router's page ends."""
Steps = tuple[str, ...]


class Places:
    """The places of one set of findings; each kind of object is looked up once, however many there are."""

    def url_of(self, path: Sequence[str]) -> str:
        """The page that corrects what ``path`` leads to, with the field; the list of its kind where there is none."""
        section, steps = section_of(path), tuple(path[1:])
        if section == SIMULATIONS:
            return f"{reverse('simulate-cases')}?{urlencode({'q': path[1]})}"
        model = MODELS[section]
        known = self._known[section]()
        # A finding about a workflow names the version as a step of its own.
        length = {"router": 0, "workflows": 2}.get(section, 1)
        name, rest = steps[:length], steps[length:]
        pk = known.get(name)
        page = f"admin:tooling_{model._meta.model_name}"
        if pk is not None:
            anchor = self._anchor(section, name, rest)
            return reverse(f"{page}_change", args=[pk]) + (f"#{anchor}" if anchor else "")
        if section == "policies" and name in self._tools:
            return f"{reverse(f'{page}_add')}?{urlencode({'tool': self._tools[name]})}"
        return f"{reverse(f'{page}_changelist')}?{urlencode({'q': name[0]})}" if name else reverse(f"{page}_changelist")

    @cached_property
    def _known(self) -> Mapping[str, Callable[[], Mapping[Steps, Any]]]:
        return {
            "servers": lambda: self._servers,
            "tools": lambda: self._tools,
            "policies": lambda: self._policies,
            "mappings": lambda: self._mappings,
            "intents": lambda: self._intents,
            "router": lambda: self._router,
            "profiles": lambda: self._profiles,
            "workflows": lambda: self._workflows,
        }

    @cached_property
    def _servers(self) -> Mapping[Steps, Any]:
        return {(name,): pk for name, pk in McpServer.objects.values_list("name", "pk")}

    @cached_property
    def _tools(self) -> Mapping[Steps, Any]:
        return {(name,): pk for name, pk in Tool.objects.values_list("name", "pk")}

    @cached_property
    def _policies(self) -> Mapping[Steps, Any]:
        return {(name,): pk for name, pk in Policy.objects.values_list("tool__name", "pk")}

    @cached_property
    def _mappings(self) -> Mapping[Steps, Any]:
        """A tool without a mapping of its own is filled by the one of all tools."""
        own: dict[str | None, Any] = dict(ParameterMapping.objects.values_list("tool__name", "pk"))
        shared = own.pop(None, None)
        every = dict.fromkeys(self._tools, shared) if shared is not None else {}
        return every | {(name,): pk for name, pk in own.items()}

    @cached_property
    def _intents(self) -> Mapping[Steps, Any]:
        return {(name,): pk for name, pk in Intent.objects.values_list("name", "pk")}

    @cached_property
    def _router(self) -> Mapping[Steps, Any]:
        return dict.fromkeys([()], RouterSettings.objects.values_list("pk", flat=True).first())

    @cached_property
    def _profiles(self) -> Mapping[Steps, Any]:
        return {(name,): pk for name, pk in LlmProfile.objects.values_list("name", "pk")}

    @cached_property
    def _workflows(self) -> Mapping[Steps, Any]:
        rows = Workflow.objects.values_list("name", "version", "pk")
        return {(name, str(version)): pk for name, version, pk in rows}

    @cached_property
    def _arguments(self) -> Mapping[Steps, int]:
        """(tool, argument) → its row on the tool's page."""
        rows: dict[Steps, int] = {}
        count: dict[str, int] = {}
        for tool, name in ToolArgument.objects.order_by("tool", "position", "pk").values_list("tool__name", "name"):
            rows[tool, name] = count.get(tool, 0)
            count[tool] = count.get(tool, 0) + 1
        return rows

    def _anchor(self, section: str, name: Steps, rest: Steps) -> str:
        """The id of the field that holds what ``rest`` leads to; empty for the object itself."""
        match rest:
            case ("args_schema", argument, *inner) if section == "tools":
                row = self._arguments.get((*name, argument))
                column = inner[0] if inner else "name"
                return f"id_arguments-{row}-{column}" if row is not None else ""
            case ("confirmation_phrases", locale, kind, *_):
                return _id_of(section, f"{kind}_{PHRASES.get(locale, '')}")
            case () if section != "workflows":
                return ""
        if section == "workflows":
            return _id_of(section, "text")
        return _id_of(section, COLUMNS.get(rest[:2]) or COLUMNS.get(rest[:1]) or rest[0])


def _id_of(section: str, name: str) -> str:
    """The id that the widget of a form's field has on the page; empty where the form has no such field."""
    form: Any = admin.site._registry[MODELS[section]].form
    field = form.base_fields.get(name)
    return (field.widget.id_for_label(f"id_{name}") or f"id_{name}") if field is not None else ""
