"""Releases over HTTP: list, files, differences, and going back to an earlier one (contracts.md §3)."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.permissions import BasePermission
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from tooling import catalog, exports, publishing
from tooling.api import shapes
from tooling.api.access import DefinitionsEndpoint, MayPublish, MayReadDraft, MayReadReleases
from tooling.api.downloads import FilesAsZip
from tooling.api.draft import newest_number, nothing_changed
from tooling.api.versions import if_match, seen_by, too_late
from tooling.api_basics import MEDIA_TYPE, problems
from tooling.errors import DraftMoved, NeverApproved, NothingChanged
from tooling.forms.wording import said
from tooling.models import Release
from tooling.specs import Definitions

DRAFT = "draft"
MOST_DIGITS = 9


class ReleasePages(CursorPagination):
    """Newest first: ``{next, previous, results}``; a cursor or size that we cannot read: 400."""

    ordering = "-number"
    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"

    def decode_cursor(self, request: Request) -> Cursor | None:
        problem = ValidationError({"cursor": _("This cursor is not one of ours.")})
        try:
            cursor = super().decode_cursor(request)
        except NotFound as error:
            raise problem from error
        if cursor is not None and _number(str(cursor.position)) is None:
            raise problem
        return cursor

    def get_page_size(self, request: Request) -> int:
        size = _number(request.query_params.get("page_size") or str(self.page_size))
        if size is None or not 1 <= size <= self.max_page_size:
            problem = _("A number from 1 to %(most)d is expected.") % {"most": self.max_page_size}
            raise ValidationError({"page_size": problem})
        return size


class ReleaseListView(DefinitionsEndpoint, ListAPIView[Release]):
    """All releases, newest first."""

    permission_classes = [MayReadReleases]
    queryset = Release.objects.defer("content")
    serializer_class = shapes.ReleaseOut
    pagination_class = ReleasePages

    @extend_schema(
        operation_id="definitions_releases_list",
        responses={200: shapes.ReleaseOut(many=True), **problems(400, 401, 403, 429)},
    )
    def get(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        return self.list(request, *args, **kwargs)


class ReleaseView(DefinitionsEndpoint):
    """One release as files."""

    permission_classes = [MayReadReleases]
    renderer_classes = [JSONRenderer, FilesAsZip]

    @extend_schema(
        operation_id="definitions_releases_retrieve",
        responses={
            (200, "application/json"): shapes.ReleaseFilesOut,
            (200, "application/zip"): bytes,
            **problems(401, 403, 404, 429),
        },
    )
    def get(self, request: Request, number: int) -> Response:
        """The files of a release; sent to the draft they make the same content again."""
        release = get_object_or_404(Release, number=number)
        files = exports.files_of(catalog.release(number).definitions)
        return Response({**shapes.ReleaseOut(release).data, "files": files})


class DiffView(DefinitionsEndpoint):
    """What would change, by meaning."""

    def get_permissions(self) -> list[BasePermission]:
        return [MayReadReleases(), *([MayReadDraft()] if self._target() == DRAFT else [])]

    def _target(self) -> str:
        return self.request.query_params.get("to") or DRAFT if isinstance(self.request, Request) else DRAFT

    @extend_schema(
        operation_id="definitions_releases_diff",
        parameters=[
            OpenApiParameter("to", OpenApiTypes.STR, description="The number of a release, or `draft`, the default.")
        ],
        responses={200: shapes.DiffOut, **problems(400, 401, 403, 404, 429)},
    )
    def get(self, request: Request, number: int) -> Response:
        """The differences from release `number` to another one or to the draft."""
        to = self._target()
        changes = publishing.diff(_definitions(number), publishing.draft() if to == DRAFT else _definitions_of(to))
        rows = [shapes.change_row(change) for change in changes]
        return Response({"from": str(number), "to": to, "changes": rows})


class RollbackView(DefinitionsEndpoint):
    """An earlier release comes back."""

    permission_classes = [MayPublish]

    @extend_schema(
        operation_id="definitions_releases_rollback",
        request=shapes.CommentIn,
        parameters=[if_match(required=False)],
        responses={
            201: shapes.ReleaseOut,
            **problems(400, 401, 403, 404, 409, 411, 413, 429),
            (412, MEDIA_TYPE): shapes.MovedProblem,
        },
    )
    def post(self, request: Request, number: int) -> Response:
        """Publish the content of a release once more, and make the draft follow; with If-Match only from that draft."""
        asked = shapes.CommentIn(data=request.data)
        asked.is_valid(raise_exception=True)
        comment = asked.validated_data["comment"]
        try:
            release = publishing.roll_back(number, comment, request.user, seen=seen_by(request))
        except catalog.NothingPublished as error:
            raise NotFound from error
        except NothingChanged as unchanged:
            return nothing_changed(unchanged)
        except NeverApproved as refused:
            raise PermissionDenied(said(str(refused))) from refused
        except DraftMoved as moved:
            return too_late(moved, newest_number())
        return Response(shapes.ReleaseOut(release).data, status=status.HTTP_201_CREATED)


def _definitions(number: int) -> Definitions:
    try:
        return catalog.release(number).definitions
    except catalog.NothingPublished as error:
        raise NotFound from error


def _definitions_of(text: str) -> Definitions:
    number = _number(text)
    if number is None:
        raise ValidationError({"to": _("The number of a release is expected, or draft.")})
    return _definitions(number)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
