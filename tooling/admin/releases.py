"""Releases: the list, what each changed, publishing the draft and going back to an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as gettext_now
from django.utils.translation import gettext_lazy as _
from django.views.defaults import permission_denied

from tooling import catalog, publishing
from tooling.admin.base import PlainAdmin
from tooling.admin.changes import lines_of
from tooling.admin.labels import MODELS, field_of, section_of, title_of
from tooling.errors import InvalidDraft, NothingChanged
from tooling.findings import Finding
from tooling.forms.wording import said
from tooling.models import Release
from tooling.specs import Definitions

PUBLISH = "tooling.publish_release"


class CommentForm(forms.Form):
    """The comment of a release, and the newest release that the page was made from."""

    comment = forms.CharField(
        label=_("Comment"),
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        help_text=_("What changes for users; shown in the list of releases."),
    )
    base = forms.IntegerField(widget=forms.HiddenInput)
    read_warnings = forms.BooleanField(
        label=_("I have read the warnings"),
        error_messages={"required": _("Read the warnings above and tick this before publishing.")},
    )

    def __init__(self, *args: Any, has_warnings: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not has_warnings:
            del self.fields["read_warnings"]


@admin.register(Release)
class ReleaseAdmin(PlainAdmin):
    """Read-only, because a release never changes; what moves are the two pages publish and roll back."""

    list_display = ["number", "comment", "author", "created_at", "short_hash", "roll_back_link"]
    list_display_links = ["number"]
    search_fields = ["comment", "author", "hash"]
    readonly_fields = ["number", "comment", "author", "created_at", "hash", "changes", "roll_back_link"]
    fieldsets = [
        (None, {"fields": ["number", "comment", "author", "created_at", "hash", "changes", "roll_back_link"]}),
        (_("Content"), {"classes": ["collapse"], "fields": ["content"]}),
    ]
    change_list_template = "admin/tooling/release/change_list.html"

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
        return render_to_string("admin/tooling/release/changes.html", {"changes": lines_of(found)})

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
        if not request.user.has_perm(PUBLISH):
            return permission_denied(request, PermissionDenied())
        newest = catalog.newest()
        draft = publishing.draft()
        changes = publishing.diff(newest.definitions if newest else Definitions(), draft)
        findings = publishing.check_draft()
        number = (newest.number if newest else 0) + 1
        context = {
            "title": gettext_now("Publish the draft"),
            "changes": lines_of(changes),
            "findings": told(findings),
            "has_warnings": any(not finding.is_error for finding in findings),
            "can_publish": bool(changes) and not any(finding.is_error for finding in findings),
            "button": gettext_now("Publish as release %(number)d") % {"number": number},
        }
        return self._page(
            request, context, lambda comment: publishing.publish(comment=comment, author=request.user).number
        )

    def roll_back(self, request: HttpRequest, number: int) -> HttpResponse:
        """Show what would change; publish the content of release ``number`` again on POST."""
        if not request.user.has_perm(PUBLISH):
            return permission_denied(request, PermissionDenied())
        release = get_object_or_404(Release, number=number)
        current = catalog.current()
        changes = publishing.diff(current.definitions, catalog.release(release.number).definitions)
        draft_differs = bool(publishing.diff(current.definitions, publishing.draft()))
        context = {
            "title": gettext_now("Roll back to release %(number)d") % {"number": number},
            "changes": lines_of(changes),
            "can_publish": bool(changes),
            "loses_draft": draft_differs,
            "button": gettext_now("Publish as release %(number)d") % {"number": current.number + 1},
        }
        return self._page(request, context, lambda comment: publishing.roll_back(number, comment, request.user).number)

    def _page(self, request: HttpRequest, context: dict[str, Any], act: Callable[[str], int]) -> HttpResponse:
        """The page with the comment; ``act`` publishes and gives the number of the new release."""
        newest = catalog.newest()
        base = newest.number if newest else 0
        has_warnings = bool(context.get("has_warnings"))
        form = CommentForm(request.POST or None, initial={"base": base}, has_warnings=has_warnings)
        if request.method == "POST" and form.is_valid():
            if form.cleaned_data["base"] != base:
                initial = {"base": base, "comment": form.cleaned_data["comment"]}
                form = CommentForm(initial=initial, has_warnings=has_warnings)
                message = gettext_now("Somebody published release %(number)d meanwhile: look at the changes again.")
                messages.warning(request, message % {"number": base})
            else:
                return self._act(request, form.cleaned_data["comment"], act)
        everything = {**self.admin_site.each_context(request), "opts": self.opts, "form": form, **context}
        return TemplateResponse(request, "admin/tooling/release/publish.html", everything)

    def _act(self, request: HttpRequest, comment: str, act: Callable[[str], int]) -> HttpResponse:
        try:
            number = act(comment)
        except InvalidDraft:
            messages.error(request, gettext_now("The draft cannot be published: correct the errors first."))
            return HttpResponseRedirect(request.path)
        except NothingChanged as unchanged:
            messages.error(request, said(str(unchanged)))
            return HttpResponseRedirect(request.path)
        messages.success(request, gettext_now("Release %(number)d is published.") % {"number": number})
        return HttpResponseRedirect(reverse("admin:tooling_release_changelist"))


def told(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The findings for the page, errors first: where, what, and the way to correct it."""
    return [
        {
            "is_error": finding.is_error,
            "where": " · ".join(filter(None, (title_of(finding.path), field_of(finding.path)[0]))),
            "message": said(finding.message),
            "url": place_of(finding),
        }
        for finding in sorted(findings, key=lambda one: not one.is_error)
    ]


def place_of(finding: Finding) -> str:
    """Where to correct it: the list of that kind, searched for the name."""
    section = section_of(finding.path)
    url = reverse(f"admin:tooling_{MODELS[section]._meta.model_name}_changelist")
    return url if section == "router" else f"{url}?{urlencode({'q': finding.path[1]})}"
