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
from tooling.models import (
    Intent,
    LlmProfile,
    McpServer,
    ParameterMapping,
    Policy,
    Release,
    RouterSettings,
    Tool,
    ToolArgument,
    Workflow,
)

DRAFT = tuple(
    kind._meta.model_name
    for kind in (
        McpServer,
        Tool,
        ToolArgument,
        Policy,
        ParameterMapping,
        Intent,
        RouterSettings,
        LlmProfile,
        Workflow,
    )
)
"""The draft comes and goes as a whole, so that it takes the permissions on every kind of row."""


def _may(request: Request, verb: str, model: str | None) -> bool:
    return bool(request.user.has_perm(f"tooling.{verb}_{model}"))


class MayPublish(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated and request.user.has_perm("tooling.publish_release"))


class MayReadDraft(BasePermission):
    """Who may change a row may read it, as in the admin."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated) and all(
            _may(request, "view", model) or _may(request, "change", model) for model in DRAFT
        )


class MayChangeDraft(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated) and all(
            _may(request, verb, model) for model in DRAFT for verb in ("add", "change", "delete")
        )


class MayReadReleases(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        may_see = request.user.is_authenticated and _may(request, "view", Release._meta.model_name)
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
