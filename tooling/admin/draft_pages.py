"""What every page that edits the draft shows: how it differs from what is published, and what is wrong."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.forms.widgets import Script
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from tooling import catalog, publishing
from tooling.admin.error_list import troubles_of
from tooling.admin.yaml_pages import AS_YAML, YamlAdmin
from tooling.findings import Severity
from tooling.forms.wording import said
from tooling.specs import Definitions


def module(name: str) -> Script:
    """One of the small scripts of these pages; each page works without it."""
    return Script(f"admin_definitions/{name}", type="module")


def unpublished(request: HttpRequest) -> dict[str, Any]:
    """For the banner of every page: how many changes of the draft users do not see yet."""
    newest = catalog.newest()
    changes = publishing.diff(newest.definitions if newest else Definitions(), publishing.draft())
    return {
        "unpublished": len(changes),
        "published_number": newest.number if newest else None,
        "may_publish": request.user.has_perm("tooling.publish_release"),
    }


class DefinitionAdmin(YamlAdmin):
    """Saves into the draft and then says what would keep the edited object from being published."""

    section = ""
    """The first step of the paths of findings about these objects."""
    save_on_top = True

    def finding_name(self, obj: Any) -> str:
        return str(obj)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return super().changelist_view(request, {**unpublished(request), **(extra_context or {})})

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        own = {**unpublished(request), "troubles": troubles_of(context)}
        return super().render_change_form(request, {**own, **context}, *args, **kwargs)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        self.tell_findings(request, obj)
        return super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        if AS_YAML not in request.POST:
            self.tell_findings(request, obj)
        return super().response_change(request, obj)

    def tell_findings(self, request: HttpRequest, obj: Any) -> None:
        about = (self.section, self.finding_name(obj))
        for finding in publishing.check_draft():
            if finding.path[:2] == about:
                before = _("Correct before publishing: ") if finding.is_error else ""
                level = messages.INFO if finding.severity is Severity.NOTE else messages.WARNING
                messages.add_message(request, level, before + said(finding.message))
