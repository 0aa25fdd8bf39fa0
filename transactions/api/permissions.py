"""Who may use the operators' endpoints, and how often."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from tooling.api_basics import CallerThrottle
from transactions.access import visible
from transactions.masked import hide_record, mask_for
from transactions.models import Transaction

PARTS = ("confirmations", "items", "attempts", "events")
"""What belongs to a record beside its own row."""


class IsOperator(BasePermission):
    """An API key of either role, or a signed-in user with ``transactions.operate``."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated and request.user.has_perm("transactions.operate"))


class OperatorThrottle(CallerThrottle):
    scope = "operator"


class OperatorEndpoint(APIView):
    """Base of every operator endpoint: the permission and, unless RATE_LIMITS is off, the throttle."""

    permission_classes = [IsOperator]

    def seen(self) -> QuerySet[Transaction]:
        """The transactions that the caller may see; all others are answered with 404."""
        return visible(Transaction.objects.select_related("conversation__channel"), self.request.user)

    def found(self, pk: UUID) -> Transaction:
        """The transaction, or 404 where the caller may not see it."""
        return get_object_or_404(self.seen(), pk=pk)

    def record(self, pk: UUID) -> Transaction:
        """The transaction with all its parts, as far as the caller may read them; 404 as above."""
        transaction = get_object_or_404(self.seen().prefetch_related(*PARTS), pk=pk)
        hide_record(mask_for(self.request.user, transaction), transaction)
        return transaction

    def get_throttles(self) -> list[BaseThrottle]:
        return [OperatorThrottle()] if settings.RATE_LIMITS else []
