"""What operators do on the record of a transaction: settle its unknown items, move its review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import View

from transactions.access import visible
from transactions.console import labels
from transactions.console.labels import Text
from transactions.console.presentation import moment
from transactions.core.statuses import REVIEW_MOVES, ItemStatus, ReviewState, Status, is_final
from transactions.models import Event, Item, Transaction
from transactions.services.resolving import LONGEST_REASON, RESOLUTIONS, NoReason, Resolved, Settled, resolve
from transactions.services.reviewing import NotThere, Reviewed, ReviewMoved, StillUnknown, review

LONGEST_NOTE = 1000
"""Characters of a note, which operators read."""

CHOICES: dict[ItemStatus, Text] = {
    ItemStatus.SUCCEEDED: gettext_lazy("It was done."),
    ItemStatus.FAILED: gettext_lazy("It was tried and did not work."),
    ItemStatus.NOT_EXECUTED: gettext_lazy("It was never done."),
}
MOVES: dict[ReviewState, Text] = {
    ReviewState.NEEDED: gettext_lazy("Ask for a review"),
    ReviewState.ACKNOWLEDGED: gettext_lazy("I take care of it"),
    ReviewState.RESOLVED: gettext_lazy("Nothing more to do"),
}


# What the record shows ------------------------------------------


@dataclass(frozen=True, slots=True)
class Unknown:
    """An item that can be settled; ``position`` tells the fields of its form from those of the next."""

    key: str
    label: str
    position: int


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    text: Text


@dataclass(frozen=True, slots=True)
class Desk:
    """``why``: what operators were asked to look at, while they are; ``moves``: where the review may go."""

    unknown: list[Unknown]
    choices: list[Choice]
    moves: list[Choice]
    state: Text
    why: Text
    longest_reason: int = LONGEST_REASON
    longest_note: int = LONGEST_NOTE


def desk_of(transaction: Transaction, items: Sequence[Item], events: Sequence[Event]) -> Desk:
    """What can be done about ``transaction``; ``events`` are its own, in order."""
    state = ReviewState(transaction.review_state)
    asked = [str(event.data.get("why", "")) for event in events if event.kind == "review.needed"]
    unknown = [item for item in items if item.status == ItemStatus.UNKNOWN and not item.unconfirmed]
    return Desk(
        unknown=[Unknown(item.key, item.label, item.position) for item in unknown],
        choices=[Choice(status.value, CHOICES[status]) for status in RESOLUTIONS],
        moves=[Choice(new.value, text) for new, text in MOVES.items() if new in REVIEW_MOVES[state]],
        state=labels.words(labels.REVIEW, state),
        why=labels.words(labels.WHYS, asked[-1]) if asked and state is not ReviewState.RESOLVED else "",
    )


# What operators send ------------------------------------------


class WordsField(forms.CharField):
    """Some lines of text; a browser counts the end of a line as one character and sends two."""

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class ResolveForm(forms.Form):
    status = forms.ChoiceField(choices=[(status.value, CHOICES[status]) for status in RESOLUTIONS])
    reason = WordsField(max_length=LONGEST_REASON)
    protocol = forms.CharField(max_length=200, required=False)


class ReviewForm(forms.Form):
    state = forms.ChoiceField(choices=[(state.value, text) for state, text in MOVES.items()])
    note = WordsField(max_length=LONGEST_NOTE, required=False)


class Deed(PermissionRequiredMixin, View):
    """Something that an operator does to a transaction; afterwards its record says how it went."""

    permission_required = "transactions.operate"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """404 for a transaction that the operator may not see, before anything is looked at."""
        if self.has_permission():
            get_object_or_404(visible(Transaction.objects.all(), request.user), pk=kwargs["pk"])
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest, pk: UUID, **rest: str) -> HttpResponse:
        """Who had to sign in first comes back here without what was sent."""
        return _to_record(pk)


class ResolveItem(Deed):
    """Settles an item of unknown outcome."""

    def post(self, request: HttpRequest, pk: UUID, key: str) -> HttpResponse:
        form = ResolveForm(request.POST)
        if not form.is_valid():
            messages.error(request, _("Nothing was changed: say what became of the item, and the reason."))
            return _to_record(pk, "resolve")
        said = form.cleaned_data
        outcome = resolve(
            pk,
            key,
            status=ItemStatus(said["status"]),
            reason=said["reason"],
            protocol=said["protocol"],
            actor=request.user.get_username(),
        )
        match outcome:
            case Resolved(label=label, status=status):
                messages.success(request, _settled_now(label, ItemStatus(said["status"]), status))
            case Settled():
                messages.error(request, _settled_before(outcome))
            case NoReason():
                messages.error(request, _("Nothing was changed: say what became of the item, and the reason."))
            case NotThere():
                raise Http404
        return _to_record(pk)


class MoveReview(Deed):
    """Moves the review of a transaction."""

    def post(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        form = ReviewForm(request.POST)
        if not form.is_valid():
            messages.error(request, _("Nothing was changed: the note is too long, or there is no such state."))
            return _to_record(pk, "review")
        said = form.cleaned_data
        actor = request.user.get_username()
        match review(pk, state=ReviewState(said["state"]), note=said["note"], actor=actor):
            case Reviewed(state=state):
                now = labels.words(labels.REVIEW, state)
                messages.success(request, _("The review is “%(state)s” now.") % {"state": now})
            case ReviewMoved() as moved:
                messages.error(request, _moved_before(moved))
            case StillUnknown():
                messages.error(request, _("Nothing was changed: settle the unknown items first."))
            case NotThere():
                raise Http404
        return _to_record(pk)


def _to_record(pk: UUID, part: str = "") -> HttpResponse:
    response = redirect("console:transaction", pk=pk)
    if part:
        response["Location"] += f"#{part}"
    return response


# What is said afterwards ------------------------------------------


def _settled_now(label: str, item: ItemStatus, transaction: Status) -> str:
    told = _("“%(label)s” is “%(outcome)s” now, and the customer was told.") % {
        "label": label,
        "outcome": labels.badge(labels.ITEMS, item).text,
    }
    if not is_final(transaction):
        return told
    status = labels.badge(labels.STATUSES, transaction).text
    return told + " " + _("Nothing of this transaction is unknown any more: it is “%(status)s”.") % {"status": status}


def _settled_before(found: Settled) -> str:
    """Who was first, when and with what reason."""
    told = _("Nothing was changed: “%(label)s” is “%(outcome)s” already.") % {
        "label": found.label,
        "outcome": labels.badge(labels.ITEMS, found.status).text,
    }
    at = moment(datetime.fromisoformat(found.at)) if found.at else None
    if not found.by or at is None:
        decided = labels.words(labels.VERDICTS, found.verdict_source)
        return f"{told} " + _("Decided by: %(decided)s.") % {"decided": decided} if found.verdict_source else told
    by = _("%(by)s said so on %(day)s at %(time)s %(zone)s: “%(reason)s”.") % {
        "by": found.by,
        "day": at.date,
        "time": at.time,
        "zone": at.zone,
        "reason": found.reason,
    }
    return f"{told} {by}"


def _moved_before(moved: ReviewMoved) -> str:
    told = _("Nothing was changed: the review is “%(state)s” already.") % {
        "state": labels.words(labels.REVIEW, moved.state)
    }
    if not moved.by:
        return told
    by = _("%(by)s moved it: “%(note)s”.") if moved.note else _("%(by)s moved it.")
    return f"{told} {by % {'by': moved.by, 'note': moved.note}}"
