"""The operators' endpoints: lists and records of transactions (contracts.md §3, §8)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from tooling.api_basics import problems
from transactions.api import serializers
from transactions.api.filters import TransactionFilters
from transactions.api.pages import CursorPages
from transactions.api.permissions import OperatorEndpoint
from transactions.models import Item, Transaction


class TransactionListView(OperatorEndpoint, ListAPIView[Transaction]):
    """Transactions, newest first."""

    serializer_class = serializers.TransactionRow
    filter_backends = [DjangoFilterBackend]
    filterset_class = TransactionFilters
    pagination_class = CursorPages

    def get_queryset(self) -> QuerySet[Transaction]:
        return self.seen()

    @extend_schema(
        operation_id="transactions_list",
        responses={200: serializers.TransactionRow(many=True), **problems(400, 401, 403, 429)},
    )
    def get(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        rows = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        tallies = Item.objects.tallies(row.pk for row in rows)
        shown = self.get_serializer(rows, many=True, context={"tallies": tallies})
        return self.get_paginated_response(shown.data)


class TransactionDetailView(OperatorEndpoint):
    """Everything that is known about one transaction."""

    @extend_schema(
        operation_id="transactions_retrieve",
        responses={200: serializers.TransactionDetail, **problems(401, 403, 404, 429)},
    )
    def get(self, request: Request, pk: UUID) -> Response:
        """The whole record; who the customer is stays hidden from callers who may not see it."""
        return Response(serializers.TransactionDetail(self.record(pk)).data)
