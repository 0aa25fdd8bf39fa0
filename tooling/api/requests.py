"""Requests to publish over HTTP, where the installation wants four eyes: list them, look at one, decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from tooling import approvals, catalog, publishing
from tooling.api import shapes
from tooling.api.access import DefinitionsEndpoint, MayPublish
from tooling.api.draft import invalid, nothing_changed
from tooling.api.releases import ReleasePages
from tooling.api_basics import MEDIA_TYPE, problem, problems
from tooling.errors import ApprovalRefused, InvalidDraft, MakerIsNotChecker, NothingChanged, OnlyPeopleApprove
from tooling.forms.wording import said
from tooling.models import PublishRequest
from tooling.specs import Definitions

FORBIDDEN = (MakerIsNotChecker, OnlyPeopleApprove)


class RequestPages(ReleasePages):
    ordering = "-pk"


class RequestListView(DefinitionsEndpoint, ListAPIView[PublishRequest]):
    """All requests, newest first."""

    permission_classes = [MayPublish]
    queryset = PublishRequest.objects.defer("content")
    serializer_class = shapes.PublishRequestOut
    pagination_class = RequestPages

    @extend_schema(
        operation_id="definitions_requests_list",
        responses={200: shapes.PublishRequestOut(many=True), **problems(400, 401, 403, 429)},
    )
    def get(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        return self.list(request, *args, **kwargs)


class RequestView(DefinitionsEndpoint):
    """One request with what it changes."""

    permission_classes = [MayPublish]

    @extend_schema(
        operation_id="definitions_requests_retrieve",
        responses={200: shapes.PublishRequestChangesOut, **problems(401, 403, 404, 429)},
    )
    def get(self, request: Request, number: int) -> Response:
        """What was asked, and the differences from the release that was the newest then."""
        asked = _asked(number)
        before = catalog.release(asked.base).definitions if asked.base else Definitions()
        changes = publishing.diff(before, approvals.definitions_of(asked))
        makers = sorted(set(approvals.makers(asked).values()))
        row = shapes.PublishRequestOut(asked).data
        return Response({**row, "makers": makers, "changes": [shapes.change_row(one) for one in changes]})


class ApproveView(DefinitionsEndpoint):
    """The request becomes the next release."""

    permission_classes = [MayPublish]

    @extend_schema(
        operation_id="definitions_requests_approve",
        request=None,
        responses={
            201: shapes.ReleaseOut,
            **problems(401, 403, 404, 409, 411, 429),
            (422, MEDIA_TYPE): shapes.InvalidProblem,
        },
    )
    def post(self, request: Request, number: int) -> Response:
        """Approve. 403 for whoever made one of the changes and for keys; 409: decided already, or overtaken."""
        _asked(number)
        return _answer(lambda: shapes.ReleaseOut(approvals.approve(number, approver=request.user)), made=True)


class RejectView(DefinitionsEndpoint):
    """The request is turned down."""

    permission_classes = [MayPublish]

    @extend_schema(
        operation_id="definitions_requests_reject",
        request=shapes.ReasonIn,
        responses={200: shapes.PublishRequestOut, **problems(400, 401, 403, 404, 409, 411, 413, 429)},
    )
    def post(self, request: Request, number: int) -> Response:
        """Reject with a reason; the draft stays as it is."""
        _asked(number)
        given = shapes.ReasonIn(data=request.data)
        given.is_valid(raise_exception=True)
        reason = given.validated_data["reason"]
        return _answer(lambda: shapes.PublishRequestOut(approvals.reject(number, by=request.user, reason=reason)))


class WithdrawView(DefinitionsEndpoint):
    """The request is taken back."""

    permission_classes = [MayPublish]

    @extend_schema(
        operation_id="definitions_requests_withdraw",
        request=None,
        responses={200: shapes.PublishRequestOut, **problems(401, 403, 404, 409, 411, 429)},
    )
    def post(self, request: Request, number: int) -> Response:
        """Take back the own request."""
        _asked(number)
        return _answer(lambda: shapes.PublishRequestOut(approvals.withdraw(number, by=request.user)))


def _asked(number: int) -> PublishRequest:
    found = PublishRequest.objects.filter(pk=number).first()
    if found is None:
        raise NotFound
    return found


def _answer(act: Callable[[], Any], *, made: bool = False) -> Response:
    try:
        return Response(act().data, status=status.HTTP_201_CREATED if made else status.HTTP_200_OK)
    except InvalidDraft as found:
        return invalid("invalid_draft", found.findings)
    except NothingChanged as unchanged:
        return nothing_changed(unchanged)
    except ApprovalRefused as refusal:
        return refused(refusal)


def refused(refusal: ApprovalRefused) -> Response:
    """403 for who may not decide, 409 where it cannot be decided now."""
    number = status.HTTP_403_FORBIDDEN if isinstance(refusal, FORBIDDEN) else status.HTTP_409_CONFLICT
    body = problem(number, CODES[type(refusal).__name__], said(str(refusal)))
    return Response(body, status=number, content_type=MEDIA_TYPE)


CODES = {
    "MakerIsNotChecker": "maker_is_not_checker",
    "OnlyPeopleApprove": "only_people_approve",
    "AlreadyDecided": "already_decided",
    "RequestOvertaken": "request_overtaken",
}
