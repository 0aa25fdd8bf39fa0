"""Requests to publish, where the installation wants four eyes: look at what changes, then approve, reject, withdraw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as gettext_now
from django.utils.translation import gettext_lazy as _
from django.views.defaults import permission_denied

from tooling import approvals, catalog, exports, publishing
from tooling.admin.base import PlainAdmin
from tooling.admin.changes import lines_of
from tooling.admin.publishing import CONFLICT, MOST_SHOWN, PUBLISH, done, release_in_words, running, told
from tooling.authors import author_of
from tooling.errors import ToolingError
from tooling.forms.wording import said
from tooling.models import PublishRequest, Release
from tooling.specs import Definitions

LONGEST_REASON = 5000


class DecisionForm(forms.Form):
    """What somebody decides; approving takes a look, rejecting a reason."""

    decision = forms.ChoiceField(choices=[(one, one) for one in ("approve", "reject", "withdraw")])
    looked = forms.BooleanField(label=_("I have looked at the changes and the warnings"), required=False)
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 80}),
        help_text=_("The author and everybody who edits the draft reads it."),
    )

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.fields["reason"].widget.attrs.pop("maxlength", None)

    def clean(self) -> None:
        if self.cleaned_data.get("decision") == "approve" and not self.cleaned_data.get("looked"):
            self.add_error("looked", gettext_now("Tick that you have looked at the changes and the warnings."))
        if self.cleaned_data.get("decision") == "reject" and not self.cleaned_data.get("reason", "").strip():
            self.add_error("reason", said("a rejection needs a reason"))


@admin.register(PublishRequest)
class PublishRequestAdmin(PlainAdmin):
    """A list to read, and one page per request on which it is decided."""

    list_display = ["number", "status", "comment", "author", "created_at", "decider", "release"]
    list_filter = ["status"]
    search_fields = ["comment", "author", "decider"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description=_("publish request"), ordering="pk")
    def number(self, asked: PublishRequest) -> int:
        return int(asked.pk)

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The request with what it changes; a decision on POST."""
        may_decide = request.user.has_perm(PUBLISH)
        if object_id is None or not (may_decide or self.has_view_permission(request)):
            return permission_denied(request, PermissionDenied())
        asked = self.get_object(request, unquote(object_id))
        if asked is None:
            raise Http404
        if request.method != "POST":
            return self._show(request, asked, DecisionForm())
        if not may_decide:
            return permission_denied(request, PermissionDenied())
        form = DecisionForm(request.POST)
        return self._decide(request, asked, form) if form.is_valid() else self._show(request, asked, form)

    def _decide(self, request: HttpRequest, asked: PublishRequest, form: DecisionForm) -> HttpResponse:
        ways: dict[str, Callable[[], str]] = {
            "approve": lambda: done(approvals.approve(asked.pk, approver=request.user)),
            "reject": lambda: self._rejected(request, asked, form.cleaned_data["reason"]),
            "withdraw": lambda: self._withdrawn(request, asked),
        }
        try:
            messages.success(request, ways[form.cleaned_data["decision"]]())
        except ToolingError as refused:
            messages.error(request, said(str(refused)))
            asked.refresh_from_db()
            return self._show(request, asked, form, status=CONFLICT)
        return HttpResponseRedirect(reverse("admin:tooling_publishrequest_change", args=[asked.pk]))

    def _rejected(self, request: HttpRequest, asked: PublishRequest, reason: str) -> str:
        approvals.reject(asked.pk, by=request.user, reason=reason)
        return gettext_now("The request is rejected. The draft stays as it is.")

    def _withdrawn(self, request: HttpRequest, asked: PublishRequest) -> str:
        approvals.withdraw(asked.pk, by=request.user)
        return gettext_now("The request is withdrawn. The draft stays as it is.")

    def _show(self, request: HttpRequest, asked: PublishRequest, form: DecisionForm, status: int = 200) -> HttpResponse:
        after = approvals.definitions_of(asked)
        before = catalog.release(asked.base).definitions if asked.base else Definitions()
        findings = publishing.findings_of(after) if asked.is_pending else ()
        newest, makers = publishing.newest_number(), approvals.makers(asked)
        who = author_of(request.user)
        later = Release.objects.filter(number__gt=asked.base).order_by("number")[:MOST_SHOWN]
        is_overtaken = asked.is_pending and newest != asked.base
        context = {
            "title": gettext_now("Request %(number)d") % {"number": asked.pk},
            "asked": asked,
            "makers": ", ".join(sorted(set(makers.values()))),
            "changes": lines_of(publishing.diff(before, after)),
            "files": exports.file_differences(before, after),
            "findings": told(findings),
            "has_errors": any(finding.is_error for finding in findings),
            "running": running(),
            "overtaken_by": newest if is_overtaken else None,
            "meanwhile": [release_in_words(release) for release in later] if is_overtaken else [],
            "draft_moved": asked.is_pending and publishing.hash_of(publishing.draft()) != asked.hash,
            "may_decide": request.user.has_perm(PUBLISH) and asked.is_pending,
            "is_author": who.identity == asked.author_identity,
            "is_maker": who.identity in makers,
            "button": gettext_now("Approve and publish as release %(number)d") % {"number": newest + 1},
            "form": form,
        }
        everything = {**self.admin_site.each_context(request), "opts": self.opts, **context}
        return TemplateResponse(request, "admin/tooling/publishrequest/request.html", everything, status=status)
