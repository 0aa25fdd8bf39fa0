"""What a retry of failed items would do, and the button that starts it (runtime.md §9.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from transactions.api.retry import REFUSALS, WHYS
from transactions.console import labels
from transactions.console.customer import mask_on_page
from transactions.console.labels import Badge, Text
from transactions.console.presentation import plain
from transactions.console.views import OperatorPage
from transactions.core.masking import Mask
from transactions.core.parameters import missing
from transactions.models import Transaction
from transactions.services.retrying import LeftOut, RetryPlan, RetryRefused, plan, retry


@dataclass(frozen=True, slots=True)
class Line:
    """An item as it stands, and why it is, or is not, tried again."""

    label: str
    status: Badge
    why: Text


class RetryPage(OperatorPage):
    """``GET`` shows what would be sent again, what not and why; ``POST`` opens the child and shows its record."""

    template_name = "console/retry.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        transaction = get_object_or_404(self.seen(), pk=kwargs["pk"])
        found = plan(transaction)
        mask = mask_on_page(self.request, transaction)
        shown = _refused(found) if isinstance(found, RetryRefused) else _planned(found, mask)
        return super().get_context_data(**kwargs, transaction=transaction, **shown)

    def post(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        get_object_or_404(self.seen(), pk=pk)
        match retry(pk, by=request.user.get_username()):
            case RetryRefused(refusal=refusal):
                messages.error(request, _("Nothing was started: %(why)s") % {"why": REFUSALS[refusal]})
                return redirect("console:retry", pk=pk)
            case Transaction() as child:
                messages.success(request, _("The retry was started; the customer is asked to confirm it in the chat."))
                return redirect("console:transaction", pk=child.pk)


def _refused(found: RetryRefused) -> dict[str, Any]:
    return {"refusal": REFUSALS[found.refusal], "about": found.about}


def _planned(found: RetryPlan, mask: Mask) -> dict[str, Any]:
    known = {name: held["value"] for name, held in found.arguments.items()}
    asked = missing(found.rules.policy.requires, known)
    return {
        "plan": found,
        "again": [_line(item.label, item.status, item.reason or "") for item in found.again],
        "left_out": [_left_out(each) for each in found.left_out],
        "arguments": [(name, plain(mask.json(value))) for name, value in known.items()],
        "asked": ", ".join(asked),
    }


def _left_out(each: LeftOut) -> Line:
    return _line(each.item.label, each.item.status, WHYS[each.why])


def _line(label: str, status: str, why: Text) -> Line:
    return Line(label=label, status=labels.badge(labels.ITEMS, status), why=why)
