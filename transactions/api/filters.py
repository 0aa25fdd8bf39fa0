"""What lists of transactions can be narrowed by; a value that is no such thing is an error, never ignored."""

from __future__ import annotations

from typing import Any

import django_filters
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field

from transactions.core.statuses import ReviewState, Status

YES_NO = {"true": True, "1": True, "false": False, "0": False}
REPORTED = [Status.SUCCESS, Status.PARTIAL_SUCCESS, Status.FAILED]


def choices(values: Any) -> list[tuple[str, str]]:
    return [(value.value, value.value) for value in values]


def yes_or_no(**more: Any) -> django_filters.TypedChoiceFilter:
    """A boolean that refuses what it cannot read; django-filter's own takes it for "any"."""
    choice = django_filters.TypedChoiceFilter(
        choices=[(text, text) for text in YES_NO], coerce=lambda text: YES_NO[text], **more
    )
    return extend_schema_field(OpenApiTypes.BOOL)(choice)


class TransactionFilters(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """contracts.md §3; ``status`` may be given several times."""

    status = django_filters.MultipleChoiceFilter(choices=choices(Status), label=_("status"))
    multi_item_status = django_filters.ChoiceFilter(choices=choices(REPORTED), label=_("reported result"))
    tool = django_filters.CharFilter(label=_("tool"))
    channel = django_filters.CharFilter(field_name="conversation__channel__key", label=_("channel"))
    conversation = django_filters.UUIDFilter(field_name="conversation_id", label=_("conversation"))
    created_after = django_filters.IsoDateTimeFilter(
        field_name="created_at", lookup_expr="gte", label=_("created after")
    )
    created_before = django_filters.IsoDateTimeFilter(
        field_name="created_at", lookup_expr="lt", label=_("created before")
    )
    has_unknown = yes_or_no(label=_("has unknown items"))
    has_unconfirmed = yes_or_no(label=_("has unconfirmed rows"))
    review_state = django_filters.ChoiceFilter(choices=choices(ReviewState), label=_("review"))
