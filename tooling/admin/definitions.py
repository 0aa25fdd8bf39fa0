"""Editing the draft: one page per kind of definition. Nothing goes live before it is published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as gettext_now
from django.utils.translation import gettext_lazy as _

from tooling import catalog, publishing
from tooling.admin import live
from tooling.admin.base import DraftAdmin
from tooling.admin.importing import LiveServerAdmin
from tooling.content import text_from_plain
from tooling.forms.definitions import (
    ArgumentForm,
    IntentForm,
    MappingForm,
    PolicyForm,
    ProfileForm,
    RouterForm,
    ServerForm,
    ToolForm,
    WorkflowForm,
)
from tooling.forms.wording import said
from tooling.models import (
    Intent,
    LlmProfile,
    McpServer,
    ParameterMapping,
    Policy,
    RouterSettings,
    ServerState,
    Tool,
    ToolArgument,
    Workflow,
)
from tooling.specs import Definitions

if TYPE_CHECKING:
    AnyInline = admin.StackedInline[Any, Any]
else:
    # Django's own class takes no type arguments.
    AnyInline = admin.StackedInline


def unpublished(request: HttpRequest) -> dict[str, Any]:
    """For the banner of every page: how many changes of the draft users do not see yet."""
    newest = catalog.newest()
    changes = publishing.diff(newest.definitions if newest else Definitions(), publishing.draft())
    return {
        "unpublished": len(changes),
        "published_number": newest.number if newest else None,
        "may_publish": request.user.has_perm("tooling.publish_release"),
    }


class DefinitionAdmin(DraftAdmin):
    """Saves into the draft and then says what would keep the edited object from being published."""

    section = ""
    """The first step of the paths of findings about these objects."""
    save_on_top = True

    def finding_name(self, obj: Any) -> str:
        return str(obj)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return super().changelist_view(request, {**unpublished(request), **(extra_context or {})})

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().render_change_form(request, {**unpublished(request), **context}, *args, **kwargs)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        self._tell_findings(request, obj)
        return super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        self._tell_findings(request, obj)
        return super().response_change(request, obj)

    def _tell_findings(self, request: HttpRequest, obj: Any) -> None:
        about = (self.section, self.finding_name(obj))
        for finding in publishing.check_draft():
            if finding.path[:2] == about:
                before = gettext_now("Correct before publishing: ") if finding.is_error else ""
                messages.warning(request, before + said(finding.message))


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


class ArgumentInline(AnyInline):
    model = ToolArgument
    form = ArgumentForm
    extra = 0
    verbose_name_plural = _("Arguments")
    fields = [
        ("position", "name", "type", "format"),
        ("label", "description", "user_prompt"),
        ("enum", "items"),
    ]


@admin.register(Tool)
class ToolAdmin(DefinitionAdmin):
    section = "tools"
    form = ToolForm
    inlines = [ArgumentInline]
    list_display = ["name", "text", "server", "tool_type", "enabled", "policy_link"]
    list_filter = ["enabled", "tool_type", "server"]
    list_select_related = ["server", "policy"]
    search_fields = ["name", "description"]
    readonly_fields = ["policy_link"]
    fieldsets = [
        (None, {"fields": ["name", "description", "server", "tool_type", "enabled", "policy_link"]}),
        (_("Selection"), {"fields": ["selection_keywords"]}),
        (_("Answers"), {"classes": ["collapse"], "fields": ["cache_enabled", "cache_ttl_seconds", "response"]}),
        (_("Simulation"), {"fields": ["safe_to_simulate"]}),
    ]

    @admin.display(description=_("description"))
    def text(self, tool: Tool) -> str:
        return text_from_plain(tool.description).in_locale("pt-BR")

    @admin.display(description=_("policy"))
    def policy_link(self, tool: Tool) -> SafeString | str:
        """The policy in a sentence, or the way to make one."""
        if not tool.pk:
            return "—"
        policy = Policy.objects.filter(tool=tool).first()
        if policy is None:
            url = f"{reverse('admin:tooling_policy_add')}?tool={tool.pk}"
            return format_html('<a href="{}">{}</a>', url, gettext_now("none: follows the type; add one"))
        url = reverse("admin:tooling_policy_change", args=[policy.pk])
        return format_html('<a href="{}">{}</a>', url, summary(policy))


def summary(policy: Policy) -> str:
    """What a policy means, in one line."""
    parts = [str(policy.get_operation_type_display())]
    if policy.require_confirmation:
        parts.append(gettext_now("asks for confirmation"))
    if policy.requires:
        parts.append(gettext_now("needs %(names)s") % {"names": ", ".join(policy.requires)})
    if policy.pre_validation_enabled:
        end = gettext_now("goes on unchecked if it fails") if policy.fail_open else gettext_now("blocks if it fails")
        said = {"tool": policy.pre_validation_tool, "end": end}
        parts.append(gettext_now("validated by %(tool)s (%(end)s)") % said)
    return " · ".join(parts)


@admin.register(Policy)
class PolicyAdmin(DefinitionAdmin):
    section = "tool_policies"
    form = PolicyForm
    list_display = ["tool", "operation_type", "require_confirmation", "needs", "pre_validation_tool", "fail_open"]
    list_filter = ["operation_type", "require_confirmation", "pre_validation_enabled", "fail_open"]
    list_select_related = ["tool"]
    search_fields = ["tool__name"]
    fieldsets = [
        (None, {"fields": ["tool", "operation_type", "require_confirmation", "requires", "requires_identity"]}),
        (_("Pre-validation"), {"fields": ["pre_validation_enabled", "pre_validation_tool", "fail_open"]}),
        (
            _("Execution"),
            {
                "fields": [
                    "execution_mode", "workflow", "workflow_version", "timeout_seconds", "max_items", "atomicity",
                ]
            },
        ),
        (_("When the outcome is unknown"), {"fields": ["idempotency", "reconcile_tool"]}),
        (_("While it is open"), {"fields": ["on_intent_shift", "expires_after"]}),
    ]  # fmt: skip
    first_fieldsets = [(None, {"fields": ["tool", "operation_type", "require_confirmation"]})]
    """What a new policy asks for: which values it requires can be chosen once its tool is known."""

    @admin.display(description=_("requires"))
    def needs(self, policy: Policy) -> str:
        return ", ".join(policy.requires)

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return super().get_fieldsets(request, obj) if obj else self.first_fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["tool"] if obj else []

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        message = gettext_now("The policy was added to the draft. Choose now what it requires.")
        self.message_user(request, message, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:tooling_policy_change", args=[obj.pk]))


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
    section = "workflows"
    form = WorkflowForm
    list_display = ["name", "version", "calls"]
    search_fields = ["name"]

    def finding_name(self, obj: Workflow) -> str:
        return obj.name

    @admin.display(description=_("calls"))
    def calls(self, workflow: Workflow) -> str:
        return " → ".join(node["action"] for node in workflow.content["nodes"])
