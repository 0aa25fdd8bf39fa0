"""The pages of policies: how each tool may be used, in plain words."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as gettext_now
from django.utils.translation import gettext_lazy as _

from tooling.admin.draft_pages import DefinitionAdmin
from tooling.forms.definitions import PolicyForm
from tooling.models import Policy


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
