"""Who may use the operators' endpoints, and how often."""

from __future__ import annotations

from django.conf import settings
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from tooling.api_basics import CallerThrottle


class IsOperator(BasePermission):
    """An API key of either role, or a signed-in user with ``transactions.operate``."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated and request.user.has_perm("transactions.operate"))


class OperatorThrottle(CallerThrottle):
    scope = "operator"


class OperatorEndpoint(APIView):
    """Base of every operator endpoint: the permission and, unless RATE_LIMITS is off, the throttle."""

    permission_classes = [IsOperator]

    def get_throttles(self) -> list[BaseThrottle]:
        return [OperatorThrottle()] if settings.RATE_LIMITS else []
