"""The filters of the console's list: those of the API, and what people need besides; all are in the URL."""

from __future__ import annotations

import datetime
import re
from functools import partial
from typing import Any
from uuid import UUID

import django_filters
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from transactions.access import channels_of
from transactions.api.filters import REPORTED, TransactionFilters
from transactions.console import labels
from transactions.core.statuses import FINAL, ReviewState, Status
from transactions.models import Item, Transaction

OPEN = "open"
"""A group of statuses: whatever is not final yet."""

PERIODS = {
    "today": _("today"),
    "24h": _("last 24 hours"),
    "7d": _("last 7 days"),
    "30d": _("last 30 days"),
}
HOURS = {"24h": 24, "7d": 7 * 24, "30d": 30 * 24}
ID_PREFIX = re.compile(r"[0-9a-f]{4,32}")


def narrow_status(rows: QuerySet[Transaction], name: str, value: str) -> QuerySet[Transaction]:
    return rows.exclude(status__in=FINAL) if value == OPEN else rows.filter(status=value)


def narrow_period(rows: QuerySet[Transaction], name: str, value: str) -> QuerySet[Transaction]:
    if value == "today":
        midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
        return rows.filter(created_at__gte=midnight)
    return rows.filter(created_at__gte=Now() - datetime.timedelta(hours=HOURS[value]))


def search(rows: QuerySet[Transaction], name: str, value: str) -> QuerySet[Transaction]:
    """An item's label (any part), a protocol (its beginning), or a transaction id (its beginning)."""
    held = Item.objects.filter(Q(label__icontains=value) | Q(protocol__istartswith=value), transaction=OuterRef("pk"))
    found = Q(Exists(held))
    prefix = value.replace("-", "").lower()
    if ID_PREFIX.fullmatch(prefix):
        first, last = UUID(hex=prefix.ljust(32, "0")), UUID(hex=prefix.ljust(32, "f"))
        found |= Q(pk__gte=first, pk__lte=last)
    return rows.filter(found)


def each_once(rows: QuerySet[Transaction], field: str) -> list[tuple[str, str]]:
    """The values that ``field`` has among ``rows``, as choices."""
    names = rows.select_related(None).order_by(field).values_list(field, flat=True).distinct()
    return [(name, name) for name in names]


def channel_choices(caller: Any) -> list[tuple[str, str]]:
    return [(key, key) for key in channels_of(caller).order_by("key").values_list("key", flat=True)]


class ConsoleFilters(TransactionFilters):
    """``TransactionFilters`` with words instead of codes, plus ``status=open``, ``period`` and ``q``.

    ``caller`` is who looks: only what they may see is offered to choose from.
    """

    def __init__(self, asked: QueryDict, rows: QuerySet[Transaction], *, caller: Any) -> None:
        super().__init__(asked, rows)
        self.filters["tool"].extra["choices"] = partial(each_once, rows, "tool")
        self.filters["channel"].extra["choices"] = partial(channel_choices, caller)

    status = django_filters.ChoiceFilter(
        method=narrow_status,
        choices=[(OPEN, OPEN), *((status.value, status.value) for status in Status)],
        label=_("Status"),
    )
    q = django_filters.CharFilter(method=search, label=_("Search"), max_length=200)
    tool = django_filters.ChoiceFilter(label=_("Tool"), empty_label=_("any"))
    channel = django_filters.ChoiceFilter(
        field_name="conversation__channel__key",
        label=_("Channel"),
        empty_label=_("any"),
    )
    period = django_filters.ChoiceFilter(
        method=narrow_period, choices=list(PERIODS.items()), label=_("Period"), empty_label=_("any time")
    )
    multi_item_status = django_filters.ChoiceFilter(
        choices=[(status.value, labels.STATUSES[status].text) for status in REPORTED],
        label=_("Reported by the tool"),
        empty_label=_("any"),
    )
    review_state = django_filters.ChoiceFilter(
        choices=[(state.value, labels.REVIEW[state]) for state in ReviewState],
        label=_("Review"),
        empty_label=_("any"),
    )


def wrong_filters(filters: Any) -> list[str]:
    """What the filters are called whose values cannot be read; the page leaves them out and says so."""
    return sorted(str(filters.form[name].label or name) for name in filters.form.errors)
