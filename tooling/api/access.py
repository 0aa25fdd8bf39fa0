"""Who may read, change and publish definitions over HTTP: keys of publishers, and users as in the admin."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from tooling.api_basics import CallerThrottle
from tooling.draft_rights import may_change_draft, may_read_draft


class MayPublish(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated and request.user.has_perm("tooling.publish_release"))


class MayReadDraft(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return may_read_draft(request.user)


class MayChangeDraft(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return may_change_draft(request.user)


class MayReadReleases(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        may_see = request.user.is_authenticated and request.user.has_perm("tooling.view_release")
        return bool(may_see) or MayPublish().has_permission(request, view)


class LengthNeeded(APIException):
    """A body in chunks; the framework takes it for none, and checking nothing would say that all is well."""

    status_code = status.HTTP_411_LENGTH_REQUIRED
    default_code = "length_needed"
    default_detail = _("Send the length of the body as Content-Length.")


class DefinitionsThrottle(CallerThrottle):
    scope = "definitions"


class DefinitionsEndpoint(APIView):
    """Base of every endpoint of definitions: the length of a body and, unless RATE_LIMITS is off, the throttle."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if "Transfer-Encoding" in request.headers and not request.META.get("CONTENT_LENGTH"):
            raise LengthNeeded

    def get_throttles(self) -> list[BaseThrottle]:
        return [DefinitionsThrottle()] if settings.RATE_LIMITS else []
