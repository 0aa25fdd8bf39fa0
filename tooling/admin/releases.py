"""Releases: the list, what each changed, the files of one, two compared; and the ways to publish and to go back."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as gettext_now
from django.utils.translation import gettext_lazy as _
from django.views.defaults import permission_denied

from tooling import catalog, exports, publishing
from tooling.admin.base import PlainAdmin
from tooling.admin.changes import lines_of
from tooling.admin.history import paged, tell
from tooling.admin.publishing import PUBLISH, publish_page, release_in_words, roll_back_page
from tooling.draft_rights import may_read_draft
from tooling.models import Release
from tooling.neighbours import neighbours
from tooling.recording import edits_after


class CompareForm(forms.Form):
    """Which two releases to compare."""

    old = forms.ModelChoiceField(Release.objects.defer("content"), to_field_name="number", label=_("from release"))
    new = forms.ModelChoiceField(Release.objects.defer("content"), to_field_name="number", label=_("to release"))


@admin.register(Release)
class ReleaseAdmin(PlainAdmin):
    """Read-only, because a release never changes; what moves are the two pages publish and roll back."""

    list_display = ["number", "comment", "author", "approver", "created_at", "runs", "ways"]
    list_display_links = ["number"]
    search_fields = ["comment", "author", "approver", "hash"]
    fields = (
        "number", "comment", "author", "approver", "created_at", "rolled_back_to", "runs", "hash", "ways", "changes",
    )  # fmt: skip
    readonly_fields = fields
    change_list_template = "admin/tooling/release/change_list.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description=_("running"))
    def runs(self, release: Release) -> int:
        """How many are not ended and stay on it."""
        return neighbours.running().get(release.number, 0)

    @admin.display(description=_("what can be done"))
    def ways(self, release: Release) -> SafeString:
        """Download, compare, and go back to it."""
        newest = catalog.newest()
        compare = reverse("admin:tooling_release_compare")
        older = release.number - 1 if newest is None or newest.number == release.number else release.number
        newer = newest.number if newest else release.number
        links = [(reverse("admin:tooling_release_files", args=[release.number]), gettext_now("Download as YAML"))]
        if older:
            links.append((f"{compare}?old={older}&new={newer}", gettext_now("Compare…")))
        if newest is not None and newest.hash != release.hash:
            back = reverse("admin:tooling_release_roll_back", args=[release.number])
            links.append((back, gettext_now("Roll back to this release…")))
        shown = render_to_string("admin/tooling/release/ways.html", {"links": links})
        return SafeString(shown)

    @admin.display(description=_("changes"))
    def changes(self, release: Release) -> SafeString:
        lines = release_in_words(release)["lines"]
        return render_to_string("admin/tooling/release/changes.html", {"changes": lines})

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("publish/", view(self.publish), name="tooling_release_publish"),
            path("draft/", view(self.draft), name="tooling_release_draft"),
            path("compare/", view(self.compare), name="tooling_release_compare"),
            path("<int:number>/files/", view(self.files), name="tooling_release_files"),
            path("<int:number>/roll-back/", view(self.roll_back), name="tooling_release_roll_back"),
        ]
        return own + super().get_urls()

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        context = {"may_publish": request.user.has_perm(PUBLISH), "may_read_draft": may_read_draft(request.user)}
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def publish(self, request: HttpRequest) -> HttpResponse:
        if not request.user.has_perm(PUBLISH):
            return permission_denied(request, PermissionDenied())
        return publish_page(self, request)

    def roll_back(self, request: HttpRequest, number: int) -> HttpResponse:
        if not request.user.has_perm(PUBLISH):
            return permission_denied(request, PermissionDenied())
        return roll_back_page(self, request, get_object_or_404(Release, number=number).number)

    def draft(self, request: HttpRequest) -> HttpResponse:
        """Every edit since the newest release, with who made it."""
        if not may_read_draft(request.user):
            return permission_denied(request, PermissionDenied())
        number = publishing.newest_number()
        found = paged(request, edits_after(publishing.published_edit()).reverse())
        title = gettext_now("Changes of the draft since release %(number)d") % {"number": number}
        context = {
            "title": title if number else gettext_now("Changes of the draft"),
            "edits": list(tell(found.object_list)),
            "edits_page": found,
            "may_publish": request.user.has_perm(PUBLISH),
        }
        return self._page(request, "draft", context)

    def compare(self, request: HttpRequest) -> HttpResponse:
        """What differs between two releases, in words and as files."""
        if not self.has_view_permission(request):
            return permission_denied(request, PermissionDenied())
        form = CompareForm(request.GET or None)
        context: dict[str, Any] = {"title": gettext_now("Compare two releases"), "form": form}
        if form.is_bound and form.is_valid():
            pair = [form.cleaned_data[name].number for name in ("old", "new")]
            old, new = (catalog.release(number).definitions for number in pair)
            context |= {
                "pair": pair,
                "changes": lines_of(publishing.diff(old, new)),
                "files": exports.file_differences(old, new),
            }
        return self._page(request, "compare", context)

    def files(self, request: HttpRequest, number: int) -> HttpResponse:
        """The release as a ZIP archive of its files."""
        if not self.has_view_permission(request):
            return permission_denied(request, PermissionDenied())
        get_object_or_404(Release, number=number)
        archive = exports.zipped(exports.files_of(catalog.release(number).definitions))
        name = f'attachment; filename="definitions-release-{number}.zip"'
        return HttpResponse(archive, content_type="application/zip", headers={"Content-Disposition": name})

    def _page(self, request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
        everything = {**self.admin_site.each_context(request), "opts": self.opts, **context}
        return TemplateResponse(request, f"admin/tooling/release/{name}.html", everything)
