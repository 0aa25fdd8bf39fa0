"""The second tab of an object's page: the same object as the YAML of its file; saving either way writes the same.

Going from the form to the YAML takes along what was typed: the form is saved inside of a transaction that is thrown
away, only to be written as YAML. Going back asks for saving or discarding first, so that nothing is dropped silently.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.views.defaults import permission_denied

from tooling.admin.base import DraftAdmin
from tooling.admin.conflicts import CONFLICT, SEEN
from tooling.content import canonical, to_plain
from tooling.draft_edits import Via
from tooling.drafts import draft, spec_of, write_row
from tooling.forms.wording import placed
from tooling.recording import changing
from tooling.yaml_objects import read_object, write_object

AS_YAML, TO_FORM, SAVE_TO_FORM = "_as_yaml", "_to_form", "_save_to_form"


class AsYaml(Exception):
    """The form is good: show what it says as YAML instead of saving it."""

    def __init__(self, row: Model, text: str) -> None:
        super().__init__(str(row))
        self.row, self.text = row, text


class YamlAdmin(DraftAdmin):
    has_yaml = True
    """Off where the form itself is the text of a file."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.yaml_view)
        name = f"tooling_{self.opts.model_name}_yaml"
        own = [path("<int:pk>/yaml/", view, name=name)] if self.has_yaml else []
        return own + super().get_urls()

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        row = context.get("original")
        url = reverse(f"admin:tooling_{self.opts.model_name}_yaml", args=[row.pk]) if row and self.has_yaml else ""
        return super().render_change_form(request, {"yaml_url": url, **context}, *args, **kwargs)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except AsYaml as asked:
            stored = self.model._default_manager.get(pk=asked.row.pk)
            return self._yaml_page(request, stored, asked.text, seen=request.POST.get(SEEN, ""))

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        if AS_YAML in request.POST:
            raise AsYaml(obj, write_object(spec_of(self.model._default_manager.get(pk=obj.pk))))
        return super().response_change(request, obj)

    def yaml_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show the object as YAML; on POST save it, or go back to the form where nothing is lost by that."""
        row = get_object_or_404(self.model, pk=pk)
        is_post = request.method == "POST"
        if not (self.has_change_permission if is_post else self.has_view_or_change_permission)(request, row):
            return permission_denied(request, PermissionDenied())
        if not is_post:
            return self._yaml_page(request, row, write_object(spec_of(row)), seen=_plain(row))
        text = request.POST.get("text", "").replace("\r\n", "\n")
        if TO_FORM in request.POST:
            if text == write_object(spec_of(row)):
                return HttpResponseRedirect(self._form_url(row))
            return self._yaml_page(request, row, text, seen=request.POST.get(SEEN, ""), leaving=True)
        with changing(request.user, Via.ADMIN):
            return self._save_yaml(request, pk, text)

    def _save_yaml(self, request: HttpRequest, pk: int, text: str) -> HttpResponse:
        """Write what ``text`` says unless it is wrong, or somebody else changed the object meanwhile."""
        row = get_object_or_404(self.model, pk=pk)
        stored = spec_of(row)
        if request.POST.get(SEEN, "") != _plain(row):
            return self._yaml_page(request, row, text, seen=_plain(row), theirs=write_object(stored))
        found = read_object(text, stored, draft(), stdio_commands=settings.MCP_STDIO_COMMANDS)
        troubles = [placed(problem) for problem in found.problems if problem.is_error]
        name = getattr(found.spec, "name", "")
        if name and self.model._default_manager.exclude(pk=pk).filter(name=name).exists():
            troubles.append(_("The draft has another one called “%(name)s”.") % {"name": name})
        if troubles:
            return self._yaml_page(request, row, text, seen=request.POST.get(SEEN, ""), troubles=troubles)
        write_row(row, found.spec)
        self.log_change(request, row, _("Changed as YAML."))
        messages.success(request, self.saved(row))
        for problem in found.problems:
            messages.warning(request, placed(problem))
        self.tell_findings(request, row)
        return HttpResponseRedirect(self._form_url(row) if SAVE_TO_FORM in request.POST else request.path)

    def tell_findings(self, request: HttpRequest, obj: Any) -> None:
        """What would keep the object from being published."""
        raise NotImplementedError

    def _form_url(self, row: Model) -> str:
        return reverse(f"admin:tooling_{self.opts.model_name}_change", args=[row.pk])

    def _yaml_page(self, request: HttpRequest, row: Model, text: str, **context: Any) -> HttpResponse:
        """The tab; ``theirs`` is what somebody else saved meanwhile, ``leaving`` that changes would be lost."""
        everything = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("%(name)s as YAML") % {"name": row},
            "original": row,
            "text": text,
            "is_unsaved": text != write_object(spec_of(row)),
            "form_url": self._form_url(row),
            "may_change": self.has_change_permission(request, row),
            **context,
        }
        status = CONFLICT if "theirs" in context else 200
        return TemplateResponse(request, "admin/tooling/yaml_page.html", everything, status=status)


def _plain(row: Model) -> str:
    return canonical(to_plain(spec_of(row)))
