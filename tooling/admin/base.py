"""What the pages of the definitions share: plain refusals, and words that fit every kind of object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.defaults import permission_denied

from tooling.admin import conflicts, history
from tooling.draft_edits import Via
from tooling.recording import changing

if TYPE_CHECKING:
    AnyAdmin = admin.ModelAdmin[Any]
else:
    # Django's own class takes no type arguments.
    AnyAdmin = admin.ModelAdmin


class PlainAdmin(AnyAdmin):
    """A refusal is an answer and no accident: its page is shown, and no stack trace is logged."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        try:
            return super().changelist_view(request, extra_context)
        except PermissionDenied as refused:
            return permission_denied(request, refused)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except PermissionDenied as refused:
            return permission_denied(request, refused)

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().delete_view(request, *args, **kwargs)
        except PermissionDenied as refused:
            return permission_denied(request, refused)

    def history_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().history_view(request, *args, **kwargs)
        except PermissionDenied as refused:
            return permission_denied(request, refused)


class DraftAdmin(PlainAdmin):
    """Tells what happened to the draft without articles: Django's sentences take every object for a masculine one.

    Every change waits for its turn, so that nobody publishes or replaces half of it.
    """

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if request.method != "POST":
            return super().changeform_view(request, object_id, form_url, extra_context)
        try:
            with changing(request.user, Via.ADMIN):
                conflicts.begin(request, self.model, object_id)
                return super().changeform_view(request, object_id, form_url, extra_context)
        except conflicts.Overtaken as overtaken:
            return conflicts.page(self, request, overtaken)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        conflicts.settle(request, form.instance)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        seen = conflicts.seen_by(request, context.get("original"))
        return super().render_change_form(request, {"seen": seen, **context}, *args, **kwargs)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        context = history.context_of(request, self.get_object(request, unquote(object_id)))
        return super().history_view(request, object_id, {**context, **(extra_context or {})})

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        with changing(request.user, Via.ADMIN):
            super().delete_model(request, obj)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions: dict[str, Any] = dict(super().get_actions(request))
        if "delete_selected" in actions:
            function, name, _of_django = actions["delete_selected"]
            actions["delete_selected"] = (function, name, _("Remove from the draft"))
        return actions

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        _say(request, self.saved(obj))
        return super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        _say(request, self.saved(obj))
        return super().response_change(request, obj)

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        what = {"kind": self.opts.verbose_name, "name": obj_display}
        _say(request, _("Removed from the draft: %(kind)s “%(name)s”.") % what)
        return super().response_delete(request, obj_display, obj_id)

    def saved(self, obj: Any) -> str:
        return _("Saved in the draft: %(kind)s “%(name)s”.") % {"kind": self.opts.verbose_name, "name": obj}

    def message_user(
        self, request: HttpRequest, message: Any, level: int | str = messages.INFO, *args: Any, **kwargs: Any
    ) -> None:
        """Django's own success message gives way to the one that ``_say`` left."""
        if level == messages.SUCCESS:
            message = getattr(request, "said_of_the_draft", message)
        super().message_user(request, message, level, *args, **kwargs)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        names = ", ".join(str(one) for one in queryset)
        _say(request, _("Removed from the draft: %(names)s.") % {"names": names})
        with changing(request.user, Via.ADMIN):
            super().delete_queryset(request, queryset)


def _say(request: HttpRequest, message: str) -> None:
    # A model admin serves all requests at once, so that only the request can carry it.
    request.said_of_the_draft = message  # type: ignore[attr-defined]  # an attribute of ours
