"""Lists of transactions as files: ``GET /api/v1/transactions/export`` (contracts.md §3)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.handlers.asgi import ASGIRequest
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from tooling.api_basics import problems
from transactions.access import SEES_CUSTOMER_DATA
from transactions.api.export_rows import Shape, chunks, chunks_in_turn
from transactions.api.filters import TransactionFilters
from transactions.api.permissions import OperatorEndpoint
from transactions.models import Transaction
from transactions.services.exporting import begin_export

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t"}


class ExportRequest(serializers.Serializer[Any]):
    """The shape of the file; what is in it is said by the filters of the list."""

    format = serializers.ChoiceField(choices=["csv", "jsonl"], default="csv")
    per = serializers.ChoiceField(choices=["item", "transaction"], default="transaction")
    delimiter = serializers.ChoiceField(choices=list(DELIMITERS), default="comma", help_text="Of CSV.")
    bom = serializers.BooleanField(
        default=False, help_text="Begin CSV with a byte order mark, as some spreadsheets need."
    )
    masked = serializers.BooleanField(
        default=True, help_text="Hide who the customers are, also from callers who may see it."
    )


def shape_of(asked: Any, caller: Any) -> Shape:
    """The shape that was asked for (400 for what is none); customers are shown only to who may see them."""
    read = ExportRequest(data=asked)
    read.is_valid(raise_exception=True)
    said = read.validated_data
    return Shape(
        format=said["format"],
        per=said["per"],
        delimiter=DELIMITERS[said["delimiter"]],
        bom=said["bom"],
        shows_customers=not said["masked"] and caller.has_perm(SEES_CUSTOMER_DATA),
    )


def file_of(
    request: HttpRequest, rows: QuerySet[Transaction], shape: Shape, *, by: str, asked: str, key: UUID | None = None
) -> HttpResponseBase:
    """The file, sent while it is made; that it was asked for, and how far it came, is on record."""
    run = begin_export(
        by=by,
        asked=asked,
        format=shape.format,
        per=shape.per,
        total=rows.order_by().count(),
        customer_data=shape.shows_customers,
        key=key,
    )
    made = chunks_in_turn if isinstance(request, ASGIRequest) else chunks
    response = StreamingHttpResponse(made(rows, shape, run), content_type=shape.content_type)
    name = f"transactions-{timezone.localtime():%Y%m%d-%H%M%S}.{shape.format}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Export-Id"] = str(run.pk)
    response["X-Export-Transactions"] = str(run.total)
    return response


class TransactionExportView(OperatorEndpoint):
    """The whole filter as CSV or JSON lines, one line per transaction or per item."""

    filter_backends = [DjangoFilterBackend]
    filterset_class = TransactionFilters

    def get_queryset(self) -> QuerySet[Transaction]:
        return self.seen()

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """``format`` says what the file is, and never how an error is written."""
        return JSONRenderer(), JSONRenderer.media_type

    @extend_schema(
        operation_id="transactions_export",
        parameters=[ExportRequest, OpenApiParameter("X-Export-Id", OpenApiTypes.UUID, "header", response=True)],
        responses={(200, "text/csv"): str, (200, "application/x-ndjson"): str, **problems(400, 401, 403, 429)},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Every transaction that the filters leave, newest first, streamed.

        What begins after the export is not in it. Texts never begin a formula in CSV.
        """
        shape = shape_of(request.query_params, request.user)
        rows = DjangoFilterBackend().filter_queryset(request, self.get_queryset(), self)
        asked = request.META.get("QUERY_STRING", "")
        return file_of(request._request, rows, shape, by=request.user.get_username(), asked=asked)
