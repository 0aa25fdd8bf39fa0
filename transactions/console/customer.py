"""Showing who the customer is: on request, to who may see it, for a while, and on record."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from transactions.access import SEES_CUSTOMER_DATA, visible
from transactions.clock import database_now
from transactions.console.review import Deed
from transactions.core.masking import NOTHING_HIDDEN, Mask, mask_of
from transactions.models import Disclosure, Transaction
from transactions.services.disclosing import disclose

SHOWN = "customer_data_shown"
"""Key of the session: transaction id → until when, in seconds since the epoch."""
SHOWN_SECONDS = 600


class ShowCustomer(Deed):
    """Shows the customer data of one transaction to this session for ten minutes, and records who asked."""

    def post(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        if not request.user.has_perm(SEES_CUSTOMER_DATA):
            raise PermissionDenied
        transaction = get_object_or_404(visible(Transaction.objects.all(), request.user), pk=pk)
        disclose(transaction, by=request.user.get_username(), what=Disclosure.What.RECORD)
        now = database_now().timestamp()
        kept = {key: until for key, until in request.session.get(SHOWN, {}).items() if until > now}
        request.session[SHOWN] = {**kept, str(pk): now + SHOWN_SECONDS}
        messages.info(request, _("Customer data is shown for ten minutes; that you asked for it is on record."))
        return redirect("console:transaction", pk=pk)


def mask_on_page(request: HttpRequest, transaction: Transaction) -> Mask:
    """What the page of ``transaction`` hides: everything of the customer, unless it was just asked for."""
    return NOTHING_HIDDEN if is_shown(request, transaction.pk) else mask_of(transaction.conversation.identity)


def is_shown(request: HttpRequest, pk: Any) -> bool:
    until = request.session.get(SHOWN, {}).get(str(pk), 0)
    return bool(until > database_now().timestamp() and request.user.has_perm(SEES_CUSTOMER_DATA))
