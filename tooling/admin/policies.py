"""The pages of policies: how each tool may be used, in plain words."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as gettext_now
from django.utils.translation import gettext_lazy as _

from tooling.admin.draft_pages import DefinitionAdmin, module
from tooling.drafts import policy_of
from tooling.forms.definitions import PolicyForm
from tooling.forms.policy_words import summary
from tooling.models import Policy


@admin.register(Policy)
class PolicyAdmin(DefinitionAdmin):
    section = "tool_policies"
    form = PolicyForm
    list_display = ["tool", "in_words"]
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

    class Media:
        js = (module("risks.js"),)

    @admin.display(description=_("what it means"))
    def in_words(self, policy: Policy) -> str:
        return summary(policy_of(policy))

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        policy = context.get("original")
        words = self.in_words(policy) if policy else ""
        return super().render_change_form(request, {"in_words": words, **context}, *args, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return super().get_fieldsets(request, obj) if obj else self.first_fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["tool"] if obj else []

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        message = gettext_now("The policy was added to the draft. Choose now what it requires.")
        self.message_user(request, message, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:tooling_policy_change", args=[obj.pk]))
