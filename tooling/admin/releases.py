"""Releases: the list, what each changed, publishing the draft and going back to an earlier one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as gettext_now
from django.utils.translation import gettext_lazy as _

from tooling import catalog, publishing
from tooling.errors import InvalidDraft, NothingChanged
from tooling.findings import Finding
from tooling.models import Release
from tooling.publishing import Change
from tooling.specs import Definitions

if TYPE_CHECKING:
    AnyAdmin = admin.ModelAdmin[Any]
else:
    # Django's own classes take no type arguments.
    AnyAdmin = admin.ModelAdmin

PUBLISH = "tooling.publish_release"


class CommentForm(forms.Form):
    """The comment of a release, and the newest release that the page was made from."""

    comment = forms.CharField(
        label=_("Comment"),
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        help_text=_("What changes for users; shown in the list of releases."),
    )
    base = forms.IntegerField(widget=forms.HiddenInput)


@admin.register(Release)
class ReleaseAdmin(AnyAdmin):
    """Read-only, because a release never changes; what moves are the two pages publish and roll back."""

    list_display = ["number", "comment", "author", "created_at", "short_hash", "roll_back_link"]
    list_display_links = ["number"]
    search_fields = ["comment", "author", "hash"]
    readonly_fields = ["number", "comment", "author", "created_at", "hash", "changes", "roll_back_link"]
    change_list_template = "admin/tooling/release/change_list.html"

    class Media:
        css = {"all": ["css/admin.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description=_("hash"))
    def short_hash(self, release: Release) -> SafeString:
        return format_html("<code>{}</code>", release.hash[:12])

    @admin.display(description=_("roll back"))
    def roll_back_link(self, release: Release) -> SafeString | str:
        newest = catalog.newest()
        if newest is None or newest.hash == release.hash:
            return gettext_now("published now")
        url = reverse("admin:tooling_release_roll_back", args=[release.number])
        return format_html('<a href="{}">{}</a>', url, gettext_now("Roll back to this release…"))

    @admin.display(description=_("changes"))
    def changes(self, release: Release) -> SafeString:
        before = catalog.release(release.number - 1).definitions if release.number > 1 else Definitions()
        found = publishing.diff(before, catalog.release(release.number).definitions)
        return format_html("<pre>{}</pre>", "\n".join(map(str, found)) or gettext_now("no difference"))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("publish/", view(self.publish), name="tooling_release_publish"),
            path("<int:number>/roll-back/", view(self.roll_back), name="tooling_release_roll_back"),
        ]
        return own + super().get_urls()

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return super().changelist_view(
            request, {"may_publish": request.user.has_perm(PUBLISH), **(extra_context or {})}
        )

    def publish(self, request: HttpRequest) -> HttpResponse:
        """Show what the draft changes and what is wrong with it; publish it on POST."""
        _need(request)
        newest = catalog.newest()
        draft = publishing.draft()
        changes = publishing.diff(newest.definitions if newest else Definitions(), draft)
        findings = publishing.check_draft()
        number = (newest.number if newest else 0) + 1
        context = {
            "title": gettext_now("Publish the draft"),
            "changes": rows_of(changes),
            "findings": [(finding, place_of(finding)) for finding in findings],
            "can_publish": bool(changes) and not any(finding.is_error for finding in findings),
            "button": gettext_now("Publish as release %(number)d") % {"number": number},
        }
        return self._page(
            request, context, lambda comment: publishing.publish(comment=comment, author=request.user).number
        )

    def roll_back(self, request: HttpRequest, number: int) -> HttpResponse:
        """Show what would change; publish the content of release ``number`` again on POST."""
        _need(request)
        release = get_object_or_404(Release, number=number)
        current = catalog.current()
        changes = publishing.diff(current.definitions, catalog.release(release.number).definitions)
        draft_differs = bool(publishing.diff(current.definitions, publishing.draft()))
        context = {
            "title": gettext_now("Roll back to release %(number)d") % {"number": number},
            "changes": rows_of(changes),
            "can_publish": bool(changes),
            "loses_draft": draft_differs,
            "button": gettext_now("Publish as release %(number)d") % {"number": current.number + 1},
        }
        return self._page(request, context, lambda comment: publishing.roll_back(number, comment, request.user).number)

    def _page(self, request: HttpRequest, context: dict[str, Any], act: Callable[[str], int]) -> HttpResponse:
        """The page with the comment; ``act`` publishes and gives the number of the new release."""
        newest = catalog.newest()
        base = newest.number if newest else 0
        form = CommentForm(request.POST or None, initial={"base": base})
        if request.method == "POST" and form.is_valid():
            if form.cleaned_data["base"] != base:
                form = CommentForm(initial={"base": base, "comment": form.cleaned_data["comment"]})
                message = gettext_now("Somebody published release %(number)d meanwhile: look at the changes again.")
                messages.warning(request, message % {"number": base})
            else:
                return self._act(request, form.cleaned_data["comment"], act)
        everything = {**self.admin_site.each_context(request), "opts": self.opts, "form": form, **context}
        return TemplateResponse(request, "admin/tooling/release/publish.html", everything)

    def _act(self, request: HttpRequest, comment: str, act: Callable[[str], int]) -> HttpResponse:
        try:
            number = act(comment)
        except (InvalidDraft, NothingChanged) as refused:
            messages.error(request, str(refused))
            return HttpResponseRedirect(request.path)
        messages.success(request, gettext_now("Release %(number)d is published.") % {"number": number})
        return HttpResponseRedirect(reverse("admin:tooling_release_changelist"))


def _need(request: HttpRequest) -> None:
    if not request.user.has_perm(PUBLISH):
        raise PermissionDenied


def rows_of(changes: Sequence[Change]) -> list[dict[str, str]]:
    """The changes as rows of a table: what, which field, before, after."""
    return [
        {
            "kind": change.kind.value,
            "object": ".".join(change.path[:2]),
            "field": ".".join(change.path[2:]),
            "old": _shown(change.old),
            "new": _shown(change.new),
        }
        for change in changes
    ]


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def place_of(finding: Finding) -> str:
    """Where to correct it: the list of that kind, searched for the name."""
    models = {
        "mcp_servers": "mcpserver",
        "tools": "tool",
        "tool_policies": "policy",
        "mcp_parameter_mapping": "parametermapping",
        "intents": "intent",
        "router": "routersettings",
        "profiles": "llmprofile",
        "workflows": "workflow",
    }
    url = reverse(f"admin:tooling_{models[finding.path[0]]}_changelist")
    return url if finding.path[0] == "router" else f"{url}?q={finding.path[1]}"
