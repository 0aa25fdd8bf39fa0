"""The pages of a server that ask the live one: test the connection, and take chosen tools over into the draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.transaction import atomic
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST
from django.views.defaults import permission_denied

from tooling import choices, importing, publishing, yaml_io
from tooling.admin.base import DraftAdmin
from tooling.admin.changes import lines_of, shown
from tooling.admin.live_words import refused_words, said_of, told_of_note, why_words
from tooling.discovery import Discovery, Found
from tooling.drafts import server_of
from tooling.models import McpServer, Tool
from tooling.probing import probe
from tooling.specs import ToolType

IMPORTS = ("tooling.add_tool", "tooling.add_policy")
"""What a user must be allowed to do for the import page."""
TYPES = {tool_type.value for tool_type in ToolType}


class LiveServerAdmin(DraftAdmin):
    """Adds "Test connection" and "Import tools…" to the page of a server."""

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        may_import = request.user.has_perms(IMPORTS)
        return super().render_change_form(request, {"may_import": may_import, **context}, *args, **kwargs)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("<int:pk>/test/", view(require_POST(self.test)), name="tooling_mcpserver_test"),
            path("<int:pk>/import/", view(self.import_tools), name="tooling_mcpserver_import"),
        ]
        return own + super().get_urls()

    def test(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Try the saved server once, and say on its page what came of it."""
        if not self.has_change_permission(request):
            return permission_denied(request, PermissionDenied())
        server = get_object_or_404(McpServer, pk=pk)
        found = probe(server_of(server))
        level, text = said_of(server.name, found)
        messages.add_message(request, level, text)
        return HttpResponseRedirect(reverse("admin:tooling_mcpserver_change", args=[pk]))

    def import_tools(self, request: HttpRequest, pk: int) -> HttpResponse:
        """List what the live server offers, show what the chosen tools would become, and write just that."""
        if not request.user.has_perms(IMPORTS):
            return permission_denied(request, PermissionDenied())
        server = get_object_or_404(McpServer, pk=pk)
        seen = importing.look(server.name)
        if not seen.probe.is_good:
            level, text = said_of(server.name, seen.probe)
            messages.add_message(request, level, text)
            return HttpResponseRedirect(reverse("admin:tooling_mcpserver_change", args=[pk]))
        chosen = chosen_of(request) if request.method == "POST" else {}
        planned = importing.plan(seen.discovery, chosen)
        if request.method == "POST" and not planned.tools:
            messages.error(request, _("Choose at least one tool."))
        if not planned.tools:
            return self._list(request, server, seen.discovery)
        if request.POST.get("step") == "write":
            if request.POST.get("seen") == planned.fingerprint:
                return self._write(request, planned)
            messages.warning(request, _("The server says something else by now: look at it again before adding it."))
        return self._preview(request, server, seen, planned)

    def _list(self, request: HttpRequest, server: McpServer, discovery: Discovery) -> HttpResponse:
        context = {
            "title": _("Import tools from %(server)s") % {"server": server},
            "tools": [offered(found) for found in discovery.found],
            "known": discovery.known,
            "refused": [(one.name, refused_words(one)) for one in discovery.refused],
            "types": choices.TOOL_TYPES,
        }
        return self._page(request, server, "admin/tooling/mcpserver/import.html", context)

    def _preview(
        self, request: HttpRequest, server: McpServer, seen: importing.Look, planned: importing.Plan
    ) -> HttpResponse:
        changes = publishing.diff(seen.draft, planned.added_to(seen.draft))
        files = yaml_io.write(planned.alone())
        notes = {name: [told_of_note(note) for note in planned.notes[name]] for name in planned.tools}
        context = {
            "title": _("Add to the draft?"),
            "chosen": [(name, tool.tool_type.value) for name, tool in planned.tools.items()],
            "changes": lines_of(changes),
            "notes": {name: lines for name, lines in notes.items() if lines},
            "files": {name: files[name] for name in ("tools.yaml", "tool_policies.yaml")},
            "seen": planned.fingerprint,
        }
        return self._page(request, server, "admin/tooling/mcpserver/preview.html", context)

    def _page(self, request: HttpRequest, server: McpServer, template: str, context: Mapping[str, Any]) -> HttpResponse:
        everything = {**self.admin_site.each_context(request), "opts": self.opts, "server": server, **context}
        return TemplateResponse(request, template, everything)

    def _write(self, request: HttpRequest, planned: importing.Plan) -> HttpResponse:
        with atomic():
            added = importing.write(planned, by=request.user)
            for tool in Tool.objects.filter(name__in=added):
                self.log_addition(request, tool, _("Imported from the live server."))
        text = ngettext(
            "%(n)d tool was added to the draft: %(names)s. Check its policy before you publish.",
            "%(n)d tools were added to the draft: %(names)s. Check their policies before you publish.",
            len(added),
        )
        messages.success(request, text % {"n": len(added), "names": ", ".join(added)})
        return HttpResponseRedirect(reverse("admin:tooling_tool_changelist"))


def chosen_of(request: HttpRequest) -> dict[str, ToolType]:
    """The ticked tools of a sent form, each with the type chosen beside it; without one it is an action."""
    chosen = {}
    for name in request.POST.getlist("tool"):
        said = request.POST.get(f"type.{name}", "")
        chosen[name] = ToolType(said) if said in TYPES else ToolType.ACTION
    return chosen


def offered(found: Found) -> dict[str, Any]:
    """One tool for the list: its arguments as we would declare them, and what to look at."""
    kinds = dict(choices.ARGUMENT_TYPES)
    return {
        "name": found.tool.name,
        "description": shown(found.tool.description.default, None),
        "arguments": [
            {"name": one.name, "type": kinds[one.type.value], "required": one.name in found.requires}
            for one in found.tool.arguments
        ],
        "suggested": found.tool.tool_type.value,
        "why": why_words(found.why),
        "notes": [told_of_note(note) for note in found.notes],
    }
