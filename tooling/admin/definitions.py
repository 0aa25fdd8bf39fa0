"""The pages of mappings, intents, the router, model profiles and workflows."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from tooling.admin.draft_pages import DefinitionAdmin
from tooling.forms.definitions import IntentForm, MappingForm, ProfileForm, RouterForm, WorkflowForm
from tooling.models import Intent, LlmProfile, ParameterMapping, RouterSettings, Workflow


@admin.register(ParameterMapping)
class MappingAdmin(DefinitionAdmin):
    section = "mcp_parameter_mapping"
    form = MappingForm
    list_display = ["__str__", "fills"]
    list_select_related = ["tool"]
    search_fields = ["tool__name"]

    @admin.display(description=_("fills"))
    def fills(self, mapping: ParameterMapping) -> str:
        extracted = [one["field"] for one in mapping.extract]
        return ", ".join(dict.fromkeys([*mapping.map.values(), *mapping.defaults, *extracted]))


@admin.register(Intent)
class IntentAdmin(DefinitionAdmin):
    section = "intents"
    form = IntentForm
    list_display = ["name", "tools", "priority", "enabled", "domain"]
    list_filter = ["enabled", "domain"]
    search_fields = ["name", "keywords", "examples"]
    fieldsets = [
        (None, {"fields": ["name", "description", "mcp_tools", "enabled"]}),
        (_("How it is recognised"), {"fields": ["keywords", "examples", "priority"]}),
        (_("Kept for other clients"), {"classes": ["collapse"], "fields": ["domain", "agent"]}),
    ]

    @admin.display(description=_("tools"))
    def tools(self, intent: Intent) -> str:
        return ", ".join(intent.mcp_tools)


@admin.register(RouterSettings)
class RouterAdmin(DefinitionAdmin):
    section = "router"
    form = RouterForm
    fieldsets = [
        (None, {"fields": ["confidence_threshold"]}),
        (_("Portuguese"), {"fields": ["confirm_pt_br", "reject_pt_br"]}),
        (_("English"), {"fields": ["confirm_en", "reject_en"]}),
    ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """There is one row; go to it."""
        if not self.has_view_permission(request):
            return super().changelist_view(request, extra_context)
        settings, _created = RouterSettings.objects.get_or_create(pk=1)
        return HttpResponseRedirect(reverse("admin:tooling_routersettings_change", args=[settings.pk]))


@admin.register(LlmProfile)
class ProfileAdmin(DefinitionAdmin):
    section = "profiles"
    form = ProfileForm
    list_display = ["name", "provider", "model", "base_url", "timeout_seconds"]
    search_fields = ["name", "model"]


@admin.register(Workflow)
class WorkflowAdmin(DefinitionAdmin):
    has_yaml = False
    section = "workflows"
    form = WorkflowForm
    list_display = ["name", "version", "calls"]
    search_fields = ["name"]

    def finding_name(self, obj: Workflow) -> str:
        return obj.name

    @admin.display(description=_("calls"))
    def calls(self, workflow: Workflow) -> str:
        return " → ".join(node["action"] for node in workflow.content["nodes"])
