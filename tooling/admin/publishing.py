"""The pages that publish the draft and go back to an earlier release: what changes and follows, checks, conflicts.

Each carries the version that it was made from. Where somebody changed the draft or published meanwhile, both changes
are shown with the comment kept, and one decides again from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from tooling import approvals, catalog, exports, publishing
from tooling.admin.base import PlainAdmin
from tooling.admin.changes import lines_of
from tooling.admin.history import tell
from tooling.admin.labels import field_of, title_of
from tooling.admin.places import Places
from tooling.errors import DraftMoved, InvalidDraft, NeverApproved, NothingChanged, RequestWaits
from tooling.findings import Finding, Severity
from tooling.forms.wording import agreed_to, hint_said, said
from tooling.models import Release
from tooling.neighbours import neighbours
from tooling.publishing import Version
from tooling.recording import edits_after, newest_edit
from tooling.specs import Definitions

PUBLISH = "tooling.publish_release"
CONFLICT = 409
MOST_SHOWN = 50
"""Edits and releases that a page of a conflict shows; what is more is in the lists of releases and changes."""
LONGEST_COMMENT = 5000


class PublishForm(forms.Form):
    """The comment of a release, the version that the page was made from, and what was read and is meant."""

    comment = forms.CharField(
        label=gettext_lazy("Comment"),
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        help_text=gettext_lazy("What changes for users; shown in the list of releases."),
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False)
    since = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=0)
    read_warnings = forms.BooleanField(
        label=gettext_lazy("I have read the warnings"),
        error_messages={"required": gettext_lazy("Read the warnings above and tick this before publishing.")},
    )

    def __init__(self, data: QueryDict | None = None, *, findings: Sequence[Finding] = (), **more: Any) -> None:
        super().__init__(data, **more)
        # The length is told by the field's own message, never cut by the browser.
        self.fields["comment"].widget.attrs.pop("maxlength", None)
        if not any(finding.is_warning for finding in findings):
            del self.fields["read_warnings"]
        self.must_be_meant = {finding.key for finding in findings if finding.needs_tick}
        self.given = set(data.getlist("meant")) if data is not None else set()
        """The keys of the warnings that were ticked as meant."""

    def clean(self) -> None:
        if self.must_be_meant - self.given:
            self.add_error(None, _("Say of each marked warning that it is meant."))


@dataclass(frozen=True, slots=True)
class Plan:
    """What one of the pages would do: from what is published to ``after``, by ``act`` with a comment and a version."""

    title: str
    button: str
    before: Definitions
    after: Definitions
    act: Callable[[str, Version], str]
    """Does it and gives the sentence that says what happened; raises as ``tooling.publishing`` does."""
    findings: Sequence[Finding] = ()
    errors_block: bool = True
    """What once went out may come back with its errors, in a hurry; they are shown all the same."""
    more: dict[str, Any] | None = None

    @property
    def is_blocked(self) -> bool:
        return self.errors_block and any(finding.is_error for finding in self.findings)


def publish_page(admin: PlainAdmin, request: HttpRequest) -> HttpResponse:
    """Show what the draft changes and what is wrong with it; publish it on POST."""
    newest = catalog.newest()
    draft = publishing.draft()
    number = (newest.number if newest else 0) + 1
    asks = _("Ask for publication as release %(number)d") if settings.FOUR_EYES else _("Publish as release %(number)d")
    plan = Plan(
        title=_("Publish the draft"),
        button=asks % {"number": number},
        before=newest.definitions if newest else Definitions(),
        after=draft,
        act=lambda comment, seen: _publish(request, comment, seen),
        more={
            "four_eyes": settings.FOUR_EYES,
            "waiting": approvals.pending() if settings.FOUR_EYES else None,
            "replayed": neighbours.replayed(publishing.version_of(draft).hash),
        },
        findings=publishing.findings_of(draft),
    )
    try:
        return _page(admin, request, plan, draft)
    except DraftMoved:
        # Between our look and our turn; a new look tells what it was.
        return publish_page(admin, request)


def _publish(request: HttpRequest, comment: str, seen: Version) -> str:
    """Publish, or ask somebody else for it where the installation wants four eyes."""
    if not settings.FOUR_EYES:
        return done(publishing.publish(comment=comment, author=request.user, seen=[seen]))
    approvals.request_publication(comment=comment, author=request.user, seen=[seen])
    return _("Your request waits for another person's approval. Nothing is published yet.")


def roll_back_page(admin: PlainAdmin, request: HttpRequest, number: int) -> HttpResponse:
    """Show what would change; publish the content of release ``number`` again on POST."""
    current = catalog.current()
    draft = publishing.draft()
    after = catalog.release(number).definitions
    plan = Plan(
        title=_("Roll back to release %(number)d") % {"number": number},
        button=_("Publish as release %(number)d") % {"number": current.number + 1},
        before=current.definitions,
        after=after,
        act=lambda comment, seen: done(publishing.roll_back(number, comment, request.user, seen=[seen])),
        more={"lost": lines_of(publishing.diff(current.definitions, draft)), "alone": settings.FOUR_EYES},
        findings=publishing.findings_of(after),
        errors_block=False,
    )
    try:
        return _page(admin, request, plan, draft)
    except DraftMoved:
        return roll_back_page(admin, request, number)


def _page(admin: PlainAdmin, request: HttpRequest, plan: Plan, draft: Definitions) -> HttpResponse:
    newest = catalog.newest()
    version = Version(newest.number if newest else 0, publishing.hash_of(draft))
    fresh = {"seen": str(version), "since": newest_edit()}
    if request.method != "POST":
        return _show(admin, request, plan, PublishForm(initial=fresh, findings=plan.findings))
    form = PublishForm(request.POST, findings=plan.findings)
    is_valid = form.is_valid()
    seen = Version.read(form.cleaned_data.get("seen") or "")
    if seen != version:
        meanwhile = _meanwhile(seen, form.cleaned_data.get("since") or 0)
        form = PublishForm(initial={**fresh, "comment": request.POST.get("comment", "")}, findings=plan.findings)
        return _show(admin, request, plan, form, meanwhile)
    if is_valid or plan.is_blocked:
        try:
            messages.success(request, plan.act(form.cleaned_data.get("comment", ""), version))
        except InvalidDraft:
            messages.error(request, _("The draft cannot be published: correct the errors first."))
        except (NeverApproved, NothingChanged, RequestWaits) as refused:
            messages.error(request, said(str(refused)))
        else:
            return HttpResponseRedirect(reverse("admin:tooling_release_changelist"))
    return _show(admin, request, plan, form)


def _show(
    admin: PlainAdmin, request: HttpRequest, plan: Plan, form: PublishForm, meanwhile: dict[str, Any] | None = None
) -> HttpResponse:
    changes = publishing.diff(plan.before, plan.after)
    lines = lines_of(changes)
    context = {
        "title": plan.title,
        "button": plan.button,
        "form": form,
        "comment": form["comment"].value() or "",
        "changes": lines,
        "riskier": sum(line.is_riskier for line in lines),
        "files": exports.file_differences(plan.before, plan.after),
        "findings": told(plan.findings),
        "running": running(),
        "can_publish": bool(changes) and not plan.is_blocked,
        "meanwhile": meanwhile,
        **(plan.more or {}),
    }
    everything = {**admin.admin_site.each_context(request), "opts": admin.opts, **context}
    status = 200 if meanwhile is None else CONFLICT
    return TemplateResponse(request, "admin/tooling/release/publish.html", everything, status=status)


def _meanwhile(seen: Version | None, since: int) -> dict[str, Any]:
    """What others did since the page was made; a page that does not say when that was is told nothing more."""
    if seen is None:
        return {}
    releases = Release.objects.filter(number__gt=seen.release).order_by("number")[:MOST_SHOWN]
    return {
        "releases": [release_in_words(release) for release in releases],
        "edits": list(tell(edits_after(since).reverse()[:MOST_SHOWN])),
    }


def release_in_words(release: Release) -> dict[str, Any]:
    """Who published it, and what it changed."""
    after = catalog.release(release.number).definitions
    before = catalog.release(release.number - 1).definitions if release.number > 1 else Definitions()
    return {"release": release, "lines": lines_of(publishing.diff(before, after))}


def running() -> list[tuple[int, int]]:
    """Release → how many transactions run on it and stay on it; newest first."""
    return sorted(((number, count) for number, count in neighbours.running().items() if count), reverse=True)


def done(release: Release) -> str:
    """What happened, for the page after it."""
    said_first = _("Release %(number)d is published.") % {"number": release.number}
    older = sum(count for number, count in running() if number < release.number)
    if not older:
        return said_first
    rest = ngettext(
        "%(n)d transaction still runs on an earlier release and ends there.",
        "%(n)d transactions still run on earlier releases and end there.",
        older,
    )
    return f"{said_first} {rest % {'n': older}}"


def told(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The findings for the page, errors first: where, what, what to do, and the field that corrects it."""
    weight = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
    places = Places()
    return [
        {
            "severity": finding.severity.value,
            "where": " · ".join(filter(None, (title_of(finding.path), field_of(finding.path)[0]))),
            "message": said(finding.message),
            "hint": hint_said(finding.code),
            "url": places.url_of(finding.path),
            "key": finding.key if finding.needs_tick else "",
            "agreed": agreed_to(finding),
        }
        for finding in sorted(findings, key=lambda one: weight[one.severity])
    ]
