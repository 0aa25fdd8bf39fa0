"""Optimistic locking of the draft: its version as ETag, If-Match, and what is answered to who comes too late."""

from __future__ import annotations

import re

from django.utils.http import parse_etags
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from tooling.api_basics import MEDIA_TYPE, problem
from tooling.errors import DraftMoved
from tooling.publishing import Version

OURS = re.compile(r'"(?P<release>\d{1,9})-(?P<hash>[0-9a-f]{64})"')


class NoIfMatch(APIException):
    """A change without the version that it was decided on; ``*`` names none either."""

    status_code = status.HTTP_428_PRECONDITION_REQUIRED
    default_code = "if_match_needed"

    def __init__(self) -> None:
        super().__init__(_("Send the ETag of the draft that you read as If-Match."))


def if_match(*, required: bool) -> OpenApiParameter:
    """How the OpenAPI document describes the header."""
    what = "The ETag of `GET definitions/draft/` on which this was decided."
    return OpenApiParameter("If-Match", OpenApiTypes.STR, OpenApiParameter.HEADER, required=required, description=what)


def etag_of(version: Version) -> str:
    """The newest release and the draft's hash: a draft that was published meanwhile is no longer what was read."""
    return f'"{version.release}-{version.hash}"'


def seen_by(request: Request) -> frozenset[Version] | None:
    """The versions in If-Match; empty: none that we could have given; None: no such header."""
    header = request.headers.get("If-Match", "").strip()
    if not header:
        return None
    found = (OURS.fullmatch(tag) for tag in parse_etags(header))
    return frozenset(Version(int(one["release"]), one["hash"]) for one in found if one)


def must_have_seen(request: Request) -> frozenset[Version]:
    """The same; NoIfMatch (428) without the header."""
    seen = seen_by(request)
    if seen is None or request.headers["If-Match"].strip() == "*":
        raise NoIfMatch
    return seen


def too_late(moved: DraftMoved, release: int | None) -> Response:
    """412, and who changed what the caller had read, as far as it is known. ``release``: the newest one now."""
    detail = _("The draft is not as you read it: read it again and decide again.")
    last = moved.last
    if last is not None:
        at = last.at.isoformat(timespec="seconds")
        told = _("The draft is not as you read it: %(by)s changed it last, at %(at)s. Read it again and decide again.")
        detail = told % {"by": last.by, "at": at}
    body = problem(
        status.HTTP_412_PRECONDITION_FAILED,
        "draft_moved",
        detail,
        changed_by=last.by if last else None,
        changed_at=last.at if last else None,
        release=release,
    )
    return Response(body, status=status.HTTP_412_PRECONDITION_FAILED, content_type=MEDIA_TYPE)
