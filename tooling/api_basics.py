"""What the endpoints of every application share: how errors look (RFC 9457), and how often one caller may ask."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

MEDIA_TYPE = "application/problem+json"


def problem(status: int, code: str, detail: str, **more: Any) -> dict[str, Any]:
    """The members of one problem: type, title, status, code, detail, and ``more``."""
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail, **more}


class ErrorOut(serializers.Serializer[dict[str, Any]]):
    name = serializers.CharField()
    detail = serializers.CharField()
    code = serializers.CharField()


class ProblemOut(serializers.Serializer[dict[str, Any]]):
    """RFC 9457."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()
    errors = ErrorOut(many=True, required=False)  # type: ignore[assignment]  # DRF takes declared fields off the class


def problems(*statuses: int) -> dict[Any, Any]:
    """The error answers of an endpoint, for its OpenAPI description."""
    return {(status, MEDIA_TYPE): ProblemOut for status in statuses}


class CallerThrottle(SimpleRateThrottle):
    """Per key or user; generous, so that only a runaway script meets it. A subclass names its ``scope``."""

    rate = "600/min"

    def get_cache_key(self, request: Request, view: APIView) -> str:
        # A key and a user may have the same number.
        ident = f"{type(request.user).__name__}-{request.user.pk}"
        return self.cache_format % {"scope": self.scope, "ident": ident}
