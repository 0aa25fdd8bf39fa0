"""The pages of MCP servers."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from tooling.admin import live
from tooling.admin.draft_pages import DefinitionAdmin
from tooling.admin.importing import LiveServerAdmin
from tooling.forms.definitions import ServerForm
from tooling.models import McpServer, ServerState


@admin.register(McpServer)
class ServerAdmin(DefinitionAdmin, LiveServerAdmin):
    section = "mcp_servers"
    form = ServerForm
    list_display = ["name", "transport", "reached_by", "enabled", "live_state"]
    readonly_fields = ["live_state"]
    actions = ["check_now", "accept_now"]
    list_filter = ["transport", "enabled"]
    search_fields = ["name", "endpoint", "command"]
    fieldsets = [
        (None, {"fields": ["name", "enabled", "transport", "live_state"]}),
        (_("HTTP"), {"fields": ["endpoint", "headers"]}),
        (_("Child process"), {"fields": ["command", "args", "env"]}),
    ]

    @admin.display(description=_("address or command"))
    def reached_by(self, server: McpServer) -> str:
        return server.endpoint or " ".join([server.command, *server.args])

    @admin.display(description=_("live server"))
    def live_state(self, server: McpServer) -> SafeString:
        """Where the server that is called now differs from the published definitions, and since when."""
        state = ServerState.objects.filter(server=server.name).first()
        lines = [(line,) for line in (live.summary(state), *live.details(state))]
        return format_html_join(mark_safe("<br>"), "{}", lines)

    @admin.action(description=_("Compare with the live servers now"), permissions=["change"])
    def check_now(self, request: HttpRequest, servers: QuerySet[McpServer]) -> None:
        self._look(request, servers, accept=False)

    @admin.action(description=_("Approve what the live servers say now"), permissions=["change"])
    def accept_now(self, request: HttpRequest, servers: QuerySet[McpServer]) -> None:
        self._look(request, servers, accept=True)

    def _look(self, request: HttpRequest, servers: QuerySet[McpServer], *, accept: bool) -> None:
        for line in live.look([server.name for server in servers], accept=accept):
            messages.info(request, line)
