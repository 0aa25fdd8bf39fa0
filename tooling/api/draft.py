"""The draft over HTTP: read it, replace it by files, check files, publish it (contracts.md §3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.db.transaction import atomic
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.permissions import BasePermission
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from tooling import approvals, catalog, exports, publishing, yaml_io
from tooling.api import shapes
from tooling.api.access import DefinitionsEndpoint, MayChangeDraft, MayPublish, MayReadDraft
from tooling.api.downloads import FilesAsZip
from tooling.api.versions import etag_of, if_match, must_have_seen, too_late
from tooling.api_basics import MEDIA_TYPE, problem, problems
from tooling.errors import DraftMoved, InvalidDraft, NothingChanged, RequestWaits
from tooling.findings import Finding
from tooling.forms.wording import said
from tooling.yaml_io import Problem, Reading


class DraftView(DefinitionsEndpoint):
    """The editable draft as files."""

    renderer_classes = [JSONRenderer, FilesAsZip]

    def get_permissions(self) -> list[BasePermission]:
        return [MayChangeDraft()] if self.request.method == "PUT" else [MayReadDraft()]

    @extend_schema(
        operation_id="definitions_draft_retrieve",
        responses={
            (200, "application/json"): shapes.DraftOut,
            (200, "application/zip"): bytes,
            **problems(401, 403, 429),
        },
    )
    def get(self, request: Request) -> Response:
        """The draft, what is wrong with it, and its ETag, without which nothing can be changed."""
        return draft_as_it_is()

    @extend_schema(
        operation_id="definitions_draft_update",
        request=shapes.DraftIn,
        parameters=[if_match(required=True)],
        responses={
            (200, "application/json"): shapes.DraftOut,
            **problems(400, 401, 403, 411, 413, 428, 429),
            (412, MEDIA_TYPE): shapes.MovedProblem,
            (422, MEDIA_TYPE): shapes.InvalidProblem,
        },
    )
    def put(self, request: Request) -> Response:
        """Make the draft equal to files. As with `manage.py definitions import`, kinds of file that are not there stay.

        An empty file named `workflows/` says that there are no workflows. Warnings are in the answer.
        """
        seen = must_have_seen(request)
        asked = shapes.DraftIn(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            publishing.require(seen)
            reading = read(asked.validated_data["files"])
            if reading.definitions is None:
                return invalid("invalid_files", reading.problems)
            with atomic():
                publishing.change_draft(
                    reading.definitions, kinds=reading.kinds, author=request.user, seen=seen, via=publishing.Via.API
                )
                # Before anybody else's turn: the answer's ETag must stand for what this caller sent.
                return draft_as_it_is(reading.problems)
        except DraftMoved as moved:
            return too_late(moved, newest_number())


class ValidateView(DefinitionsEndpoint):
    """Checks without consequences."""

    permission_classes = [MayReadDraft]

    @extend_schema(
        operation_id="definitions_validate",
        request=shapes.ValidateIn,
        responses={200: shapes.CheckedOut, **problems(400, 401, 403, 411, 413, 429)},
    )
    def post(self, request: Request) -> Response:
        """What a `PUT` of these files would say, or without files what publishing the draft would. Changes nothing."""
        asked = shapes.ValidateIn(data=request.data)
        asked.is_valid(raise_exception=True)
        files = asked.validated_data.get("files")
        return Response(shapes.checked(publishing.check_draft() if files is None else read(files).problems))


class PublishView(DefinitionsEndpoint):
    """The draft becomes the next release."""

    permission_classes = [MayPublish]

    @extend_schema(
        operation_id="definitions_publish",
        request=shapes.CommentIn,
        parameters=[if_match(required=True)],
        responses={
            201: shapes.PublishedOut,
            202: shapes.PublishRequestOut,
            **problems(400, 401, 403, 409, 411, 413, 428, 429),
            (412, MEDIA_TYPE): shapes.MovedProblem,
            (422, MEDIA_TYPE): shapes.InvalidProblem,
        },
    )
    def post(self, request: Request) -> Response:
        """Publish. 409: nothing changed; 412: somebody changed the draft or published; 422: the checks found errors.

        Where the installation wants four eyes, 202: the request waits for a person who made none of its changes.
        """
        seen = must_have_seen(request)
        asked = shapes.CommentIn(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            if settings.FOUR_EYES:
                return ask(request, asked.validated_data["comment"], seen)
            release = publishing.publish(comment=asked.validated_data["comment"], author=request.user, seen=seen)
        except DraftMoved as moved:
            return too_late(moved, newest_number())
        except InvalidDraft as refused:
            return invalid("invalid_draft", refused.findings)
        except NothingChanged as unchanged:
            return nothing_changed(unchanged)
        warnings = publishing.findings_of(catalog.release(release.number).definitions)
        answer = {**shapes.ReleaseOut(release).data, "warnings": shapes.checked(warnings)["problems"]}
        return Response(answer, status=status.HTTP_201_CREATED)


def read(files: Mapping[str, bytes]) -> Reading:
    """The files as the command would import them now."""
    return yaml_io.read_files(files, stdio_commands=settings.MCP_STDIO_COMMANDS, base=publishing.draft())


def ask(request: Request, comment: str, seen: publishing.Seen) -> Response:
    """202 with the request that waits now; 409 while another one does."""
    try:
        made = approvals.request_publication(comment=comment, author=request.user, seen=seen)
    except RequestWaits as waits:
        body = problem(status.HTTP_409_CONFLICT, "request_waits", said(str(waits)))
        return Response(body, status=status.HTTP_409_CONFLICT, content_type=MEDIA_TYPE)
    return Response(shapes.PublishRequestOut(made).data, status=status.HTTP_202_ACCEPTED)


def draft_as_it_is(found: Iterable[Problem] | None = None) -> Response:
    """The draft with its ETag; ``found``: what its files were warned of, else what the checks say.

    Read while somebody changes it, its ETag is one that nothing can be changed with.
    """
    definitions = publishing.draft()
    version = publishing.version_of(definitions)
    answer: dict[str, Any] = {
        "release": version.release or None,
        "hash": version.hash,
        "files": exports.files_of(definitions),
        **shapes.checked(publishing.check_draft() if found is None else found),
    }
    return Response(answer, headers={"ETag": etag_of(version)})


def newest_number() -> int | None:
    newest = catalog.newest()
    return newest.number if newest else None


def invalid(code: str, found: Iterable[Problem | Finding]) -> Response:
    """422 with everything that was found."""
    detail = _("The checks found errors; nothing was changed.")
    told = shapes.checked(found)
    del told["valid"]
    body = problem(status.HTTP_422_UNPROCESSABLE_ENTITY, code, detail, **told)
    return Response(body, status=status.HTTP_422_UNPROCESSABLE_ENTITY, content_type=MEDIA_TYPE)


def nothing_changed(unchanged: NothingChanged) -> Response:
    body = problem(status.HTTP_409_CONFLICT, "nothing_changed", said(str(unchanged)), release=unchanged.number)
    return Response(body, status=status.HTTP_409_CONFLICT, content_type=MEDIA_TYPE)
