"""Releases: the list, what each changed, publishing the draft and going back to an earlier one."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as gettext_now
from django.utils.translation import gettext_lazy as _
from django.views.defaults import permission_denied

from tooling import catalog
from tooling.admin.base import PlainAdmin
from tooling.admin.publishing import PUBLISH, publish_page, release_in_words, roll_back_page
from tooling.models import Release


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
        lines = release_in_words(release)["lines"]
        return render_to_string("admin/tooling/release/changes.html", {"changes": lines})

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
        if not request.user.has_perm(PUBLISH):
            return permission_denied(request, PermissionDenied())
        return publish_page(self, request)

    def roll_back(self, request: HttpRequest, number: int) -> HttpResponse:
        if not request.user.has_perm(PUBLISH):
            return permission_denied(request, PermissionDenied())
        return roll_back_page(self, request, get_object_or_404(Release, number=number).number)
