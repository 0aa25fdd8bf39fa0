"""The pages of tools: what each is, its arguments, and its policy in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as gettext_now
from django.utils.translation import gettext_lazy as _

from tooling.admin.draft_pages import DefinitionAdmin, module
from tooling.admin.linting import ContractAdmin
from tooling.admin.neighbourhood import neighbourhood_of
from tooling.content import text_from_plain
from tooling.drafts import policy_of, tool_of
from tooling.effective import policy_by_type
from tooling.forms.arguments import ArgumentForm, ArgumentFormSet
from tooling.forms.definitions import ToolForm
from tooling.forms.policy_words import summary
from tooling.models import Policy, Tool, ToolArgument

if TYPE_CHECKING:
    AnyInline = admin.TabularInline[ToolArgument, Tool]
else:
    # Django's own class takes no type arguments.
    AnyInline = admin.TabularInline


class ArgumentInline(AnyInline):
    """A table with a row per argument; long texts fold out below their row."""

    model = ToolArgument
    form = ArgumentForm
    formset = ArgumentFormSet
    template = "admin/tooling/tool/arguments.html"
    verbose_name_plural = _("Arguments")
    fields = ["position", "name", "type", "label", "description", "user_prompt", "enum", "format", "items"]

    def get_extra(self, request: HttpRequest, obj: Tool | None = None, **kwargs: Any) -> int:
        """Blank rows, so that arguments can be added without a script."""
        return 1 if obj else 3


@admin.register(Tool)
class ToolAdmin(DefinitionAdmin, ContractAdmin):
    section = "tools"
    form = ToolForm
    inlines = [ArgumentInline]
    list_display = ["name", "text", "server", "tool_type", "enabled", "contract_grade", "policy_link"]
    list_filter = ["enabled", "tool_type", "server"]
    list_select_related = ["server", "policy"]
    search_fields = ["name", "description"]
    readonly_fields = ["policy_link", "contract_grade"]
    fieldsets = [
        (None, {"fields": ["name", "description", "server", "tool_type", "enabled", "policy_link", "contract_grade"]}),
        (_("Selection"), {"fields": ["selection_keywords"]}),
        (_("Answers"), {"classes": ["collapse"], "fields": ["cache_enabled", "cache_ttl_seconds", "response"]}),
        (_("Simulation"), {"fields": ["safe_to_simulate"]}),
    ]

    class Media:
        js = (module("arguments.js"),)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        tool: Tool | None = context.get("original")
        policy = Policy.objects.filter(tool=tool).first() if tool else None
        own = {
            "policy": policy,
            "required": policy.requires if policy else (),
            "around": neighbourhood_of(tool) if tool else None,
        }
        return super().render_change_form(request, {**own, **context}, *args, **kwargs)

    @admin.display(description=_("description"))
    def text(self, tool: Tool) -> str:
        return text_from_plain(tool.description).in_locale("pt-BR")

    @admin.display(description=_("policy"))
    def policy_link(self, tool: Tool) -> SafeString | str:
        """The policy in words with the way to it, or the way to make one and what goes until then."""
        if not tool.pk:
            return "—"
        policy = Policy.objects.select_related("tool").filter(tool=tool).first()
        if policy is not None:
            url = reverse("admin:tooling_policy_change", args=[policy.pk])
            return format_html('{} <a href="{}">{}</a>', summary(policy_of(policy)), url, gettext_now("Change policy"))
        url = f"{reverse('admin:tooling_policy_add')}?tool={tool.pk}"
        words = summary(policy_by_type(tool_of(tool)))
        said = gettext_now("None of its own; as the type says: %(words)s") % {"words": words}
        return format_html('{} <a href="{}">{}</a>', said, url, gettext_now("Add a policy"))
