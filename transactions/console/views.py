"""The operators' pages: the list of transactions and the record of one. They read and never write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.mixins import PermissionRequiredMixin
from django.db.models import Count, QuerySet
from django.http import QueryDict
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils.translation import pgettext
from django.views.generic import TemplateView

from transactions.access import SEES_CUSTOMER_DATA, visible
from transactions.api.pages import BadCursor, Cursor, page_of
from transactions.api.permissions import PARTS
from transactions.console import labels, record
from transactions.console.customer import mask_on_page
from transactions.console.filters import OPEN, ConsoleFilters, wrong_filters
from transactions.console.presentation import differs, duration, masked, moment, plain, row_of
from transactions.console.review import desk_of
from transactions.core.masking import NOTHING_HIDDEN, Mask
from transactions.core.retrying import refusal_of
from transactions.core.statuses import FINAL, ReviewState, Status
from transactions.masked import hide, hide_record
from transactions.models import Event, Item, Transaction
from transactions.services.ending import EXPIRING

ITEMS_SHOWN = 200
EVENTS_SHOWN = 300
MESSAGES_SHOWN = 200
MORE_FILTERS = ("multi_item_status", "review_state", "has_unknown", "has_unconfirmed")
CHIPS = (
    Status.VERIFYING,
    Status.SUCCESS,
    Status.PARTIAL_SUCCESS,
    Status.FAILED,
    Status.REFUSED,
    Status.CANCELLED,
    Status.ABANDONED,
    Status.EXPIRED,
)


class PrintableResponse(TemplateResponse):
    """JSON can hold half a surrogate pair, which cannot leave as UTF-8: it becomes "?"."""

    @property
    def rendered_content(self) -> str:
        return super().rendered_content.encode("utf-8", "replace").decode("utf-8")


class OperatorPage(PermissionRequiredMixin, TemplateView):
    """Signed in and with ``transactions.operate``; else the login page or 403."""

    permission_required = "transactions.operate"
    response_class = PrintableResponse

    def seen(self) -> QuerySet[Transaction]:
        """The transactions that the reader may see."""
        return visible(Transaction.objects.select_related("conversation__channel"), self.request.user)


class TransactionList(OperatorPage):
    """Newest first, narrowed by what the URL says; the number of queries does not depend on the rows."""

    template_name = "console/list.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        asked, everything = self.request.GET, self.seen()
        filters = ConsoleFilters(asked, everything, caller=self.request.user)
        narrowed = partial(ConsoleFilters, rows=everything.select_related(None), caller=self.request.user)
        wrong = wrong_filters(filters)
        page = page_of(filters.qs, self._cursor(asked))
        tallies = Item.objects.tallies(row.pk for row in page.rows)
        return super().get_context_data(
            **kwargs,
            form=filters.form,
            wrong=wrong,
            chips=chips(asked, narrowed),
            review_chip=review_chip(asked, narrowed),
            rows=[row_of(row, tallies.get(row.pk, {})) for row in page.rows],
            newer=page.newer and query(asked, cursor=page.newer),
            older=page.older and query(asked, cursor=page.older),
            is_narrowed=any(value for name, value in asked.items() if name != "cursor"),
            is_narrowed_more=any(asked.get(name) for name in MORE_FILTERS),
        )

    def _cursor(self, asked: QueryDict) -> Cursor | None:
        """A cursor that is not ours starts from the first page: links go stale, people do not see errors."""
        text = str(asked.get("cursor", ""))
        try:
            return Cursor.decode(text) if text else None
        except BadCursor:
            return None


def query(asked: QueryDict, **changes: str) -> str:
    """This page's query string with ``changes``; an empty value takes its key out, the cursor always goes."""
    kept = {name: value for name, value in asked.items() if value and name != "cursor"}
    return "?" + urlencode({name: value for name, value in (kept | changes).items() if value})


Narrowed = Callable[[QueryDict], ConsoleFilters]
"""What a query string leaves of the transactions that the reader may see."""


def chips(asked: QueryDict, narrowed: Narrowed) -> list[dict[str, Any]]:
    """Every status with its number under the other filters, as links."""
    others = asked.copy()
    others.pop("status", None)
    rows: QuerySet[Transaction] = narrowed(others).qs
    numbers = dict(rows.order_by().values_list("status").annotate(Count("id")))
    unfinished = sum(number for status, number in numbers.items() if status not in FINAL)
    found: list[tuple[str, Any, int]] = [
        ("", pgettext("transactions", "All"), sum(numbers.values())),
        (OPEN, pgettext("transactions", "In progress"), unfinished),
        *((status, labels.PLURALS[status], numbers.get(status, 0)) for status in CHIPS),
    ]
    current = asked.get("status", "")
    return [
        {"text": text, "number": number, "query": query(asked, status=value), "is_current": value == current}
        for value, text, number in found
    ]


def review_chip(asked: QueryDict, narrowed: Narrowed) -> dict[str, Any]:
    """What waits for an operator, under the other filters; a second click shows the rest again."""
    others = asked.copy()
    others.pop("review_state", None)
    rows: QuerySet[Transaction] = narrowed(others).qs
    is_current = asked.get("review_state") == ReviewState.NEEDED
    return {
        "number": rows.filter(review_state=ReviewState.NEEDED).order_by().count(),
        "query": query(asked, review_state="" if is_current else ReviewState.NEEDED),
        "is_current": is_current,
    }


class TransactionRecord(OperatorPage):
    """Everything that is known about one transaction."""

    template_name = "console/record.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        transaction = get_object_or_404(self.seen().prefetch_related(*PARTS), pk=kwargs["pk"])
        mask = mask_on_page(self.request, transaction)
        hide_record(mask, transaction)
        items, own = list(transaction.items.all()), list(transaction.events.all())
        is_whole = "all" in self.request.GET
        return super().get_context_data(
            **kwargs,
            transaction=transaction,
            status=labels.badge(labels.STATUSES, transaction.status),
            reported=labels.badge(labels.STATUSES, transaction.multi_item_status),
            differs=differs(transaction),
            reason=labels.words(labels.REASONS, transaction.reason_code),
            summary=record.summary_of(items),
            items=[record.item_line(item) for item in (items if is_whole else items[:ITEMS_SHOWN])],
            items_total=len(items),
            arguments=record.argument_lines(transaction),
            check=record.check_of(transaction),
            confirmations=[record.confirmation_block(each) for each in transaction.confirmations.all()],
            attempts=[record.attempt_block(attempt) for attempt in transaction.attempts.all()],
            can_retry=refusal_of(Status(transaction.status)) is None,
            children=list(transaction.children.order_by("created_at")),
            release_url=release_url(self.request.user, transaction.release),
            **facts(transaction),
            customer=customer_of(transaction, mask),
            may_show_customer=mask is not NOTHING_HIDDEN and self.request.user.has_perm(SEES_CUSTOMER_DATA),
            desk=desk_of(transaction, items, own),
            **events(transaction, own, mask, is_whole=is_whole),
        )


def facts(transaction: Transaction) -> dict[str, Any]:
    review = transaction.review_state
    return {
        "operation": labels.words(labels.OPERATIONS, transaction.operation_type),
        "created": moment(transaction.created_at),
        "finished": moment(transaction.finished_at),
        "expires": moment(transaction.expires_at) if transaction.status in EXPIRING else None,
        "duration": duration(transaction.created_at, transaction.finished_at),
        "review": labels.words(labels.REVIEW, review),
        "needs_review": review == ReviewState.NEEDED,
        "conversation_query": "?" + urlencode({"conversation": transaction.conversation_id}),
    }


def customer_of(transaction: Transaction, mask: Mask) -> str:
    """Who it is, as far as ``mask`` lets it be seen; empty: anonymous."""
    identity = transaction.conversation.identity
    if mask is not NOTHING_HIDDEN:
        return masked(identity)
    return "; ".join(f"{name}: {plain(value)}" for name, value in identity.items())


def events(transaction: Transaction, own: Sequence[Event], mask: Mask, *, is_whole: bool) -> dict[str, Any]:
    """The timeline: its own events and the messages that led to them; and the whole conversation."""
    turns = {event.turn_id for event in own if event.turn_id}
    said = list(
        Event.objects.filter(conversation=transaction.conversation_id, data__has_key="text").order_by("-id")[
            : None if is_whole else MESSAGES_SHOWN
        ]
    )
    said.reverse()
    hide(mask, said)
    led_here = [event for event in said if event.transaction_id is None and event.turn_id in turns]
    timeline = sorted([*own, *led_here], key=lambda event: event.pk)
    shown = timeline if is_whole else timeline[:EVENTS_SHOWN]
    return {
        "timeline": [record.timeline_entry(event) for event in shown],
        "timeline_total": len(timeline),
        "said": record.messages_of(said, transaction, turns),
    }


def release_url(user: Any, number: int) -> str:
    """Where the administration shows the release; empty for who may not see it."""
    if not user.has_perm("tooling.view_release"):
        return ""
    try:
        return reverse("admin:tooling_release_changelist") + "?" + urlencode({"number": number})
    except NoReverseMatch:
        return ""
