"""Every error of the API as RFC 9457 ``application/problem+json``, without hints about what exists."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views import defaults
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from tooling.api_basics import MEDIA_TYPE, problem


class TooLarge(APIException):
    """A body that is larger than DATA_UPLOAD_MAX_MEMORY_SIZE."""

    status_code = 413
    default_detail = _lazy("The request is too large.")
    default_code = "too_large"


def problem_response(exc: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's EXCEPTION_HANDLER. None for what is no expected error: Django's 500 page answers that."""
    if isinstance(exc, RequestDataTooBig):
        exc = TooLarge()
    response = exception_handler(exc, context)
    if response is None:
        return None
    response.data = _describe(exc, response.status_code)
    response.content_type = MEDIA_TYPE
    return response


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404: a problem below /api/, the page elsewhere."""
    if not _is_api(request):
        return defaults.page_not_found(request, exception)
    return _json(problem(404, NotFound.default_code, _("Not found.")))


def server_error(request: HttpRequest) -> HttpResponse:
    """handler500: a problem below /api/, the page elsewhere. Says nothing about the cause."""
    if not _is_api(request):
        return defaults.server_error(request)
    return _json(problem(500, APIException.default_code, _("Something went wrong on our side.")))


def _describe(exc: Exception, status: int) -> dict[str, Any]:
    match exc:
        case ValidationError():
            errors = list(_errors("", exc.detail))
            return problem(status, "invalid", _("The request has values that are not valid."), errors=errors)
        case APIException() if status != 404:
            return problem(status, str(exc.get_codes()), str(exc.detail))
        case _ if status == 404:
            return problem(404, NotFound.default_code, _("Not found."))
        case _:
            return problem(status, HTTPStatus(status).name.lower(), HTTPStatus(status).description)


def _errors(name: str, detail: Any) -> Iterator[dict[str, str]]:
    """Flatten DRF's nested error lists to {name, detail, code} rows."""
    match detail:
        case dict():
            for key, inner in detail.items():
                yield from _errors(f"{name}.{key}" if name else str(key), inner)
        case list() | tuple():
            for inner in detail:
                yield from _errors(name, inner)
        case _:
            yield {"name": name, "detail": str(detail), "code": getattr(detail, "code", "invalid")}


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def _json(content: dict[str, Any]) -> JsonResponse:
    return JsonResponse(content, status=content["status"], content_type=MEDIA_TYPE)
