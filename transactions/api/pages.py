"""Pages of transactions, newest first, that stay put while new rows arrive: a cursor names the edge row."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param
from rest_framework.views import APIView

Row = TypeVar("Row", bound=Model)

PAGE_SIZE = 50
MAX_PAGE_SIZE = 200


class BadCursor(ValueError):
    """The cursor was not made by us; start again from the first page."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The row (created_at, id) at the edge, and whether the page lies after (older) or before (newer) it."""

    older: bool
    created_at: datetime
    id: UUID

    def encode(self) -> str:
        plain = f"{'o' if self.older else 'n'}|{self.created_at.isoformat()}|{self.id.hex}"
        return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> Cursor:
        """Read what ``encode`` wrote, or raise BadCursor."""
        try:
            plain = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode()
            side, at, key = plain.split("|")
            cursor = cls(older=side == "o", created_at=datetime.fromisoformat(at), id=UUID(hex=key))
        except (binascii.Error, ValueError) as error:
            raise BadCursor(text) from error
        if side not in ("o", "n") or cursor.created_at.tzinfo is None:
            raise BadCursor(text)
        return cursor


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """One page, newest first, and the cursors of its neighbours."""

    rows: list[Row]
    newer: str | None
    older: str | None


def page_of(rows: QuerySet[Row], cursor: Cursor | None, size: int = PAGE_SIZE) -> Page[Row]:
    """Cut one page out of ``rows`` with one query, whatever their number (order: -created_at, -id)."""
    older = cursor is None or cursor.older
    edge = _beyond(cursor) if cursor else Q()
    order = ("-created_at", "-id") if older else ("created_at", "id")
    found = list(rows.filter(edge).order_by(*order)[: size + 1])
    more, shown = len(found) > size, found[:size]
    if not older:
        shown.reverse()
    has_newer, has_older = (cursor is not None, more) if older else (more, True)
    return Page(
        rows=shown,
        newer=_edge(shown[0], older=False) if shown and has_newer else None,
        older=_edge(shown[-1], older=True) if shown and has_older else None,
    )


def _beyond(cursor: Cursor) -> Q:
    """Written as a range and an exception, so that the index on created_at carries it."""
    at, key = cursor.created_at, cursor.id
    if cursor.older:
        return Q(created_at__lte=at) & (Q(created_at__lt=at) | Q(id__lt=key))
    return Q(created_at__gte=at) & (Q(created_at__gt=at) | Q(id__gt=key))


def _edge(row: Any, *, older: bool) -> str:
    return Cursor(older=older, created_at=row.created_at, id=row.pk).encode()


class CursorPages(BasePagination):
    """DRF's door to ``page_of``: ``{next, previous, results}``; a cursor or size that we cannot read: 400."""

    def paginate_queryset(
        self, queryset: QuerySet[Any] | Sequence[Any], request: Request, view: APIView | None = None
    ) -> list[Any]:
        if not isinstance(queryset, QuerySet):
            raise TypeError("CursorPages cuts query sets, not lists")
        self.request = request
        self.page = page_of(queryset, self._cursor(), self._size())
        return self.page.rows

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self._link(self.page.older), "previous": self._link(self.page.newer), "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": "string", "format": "uri", "nullable": True}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": link, "previous": link, "results": schema},
        }

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        size = {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": PAGE_SIZE}
        return [
            {"name": "cursor", "in": "query", "required": False, "schema": {"type": "string"}},
            {"name": "page_size", "in": "query", "required": False, "schema": size},
        ]

    def _cursor(self) -> Cursor | None:
        text = self.request.query_params.get("cursor", "")
        if not text:
            return None
        try:
            return Cursor.decode(text)
        except BadCursor as error:
            raise ValidationError({"cursor": _("This cursor is not one of ours.")}) from error

    def _size(self) -> int:
        text = self.request.query_params.get("page_size", "")
        if not text:
            return PAGE_SIZE
        if not (text.isascii() and text.isdigit() and len(text) < 5 and 1 <= int(text) <= MAX_PAGE_SIZE):
            problem = _("A number from 1 to %(most)d is expected.") % {"most": MAX_PAGE_SIZE}
            raise ValidationError({"page_size": problem})
        return int(text)

    def _link(self, cursor: str | None) -> str | None:
        if cursor is None:
            return None
        url = remove_query_param(self.request.build_absolute_uri(), "cursor")
        return replace_query_param(url, "cursor", cursor)
