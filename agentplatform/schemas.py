"""The JSON Schemas of definition files, for editors; open to everybody, for they say nothing of an installation."""

from __future__ import annotations

from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from tooling.file_schemas import schema_of
from tooling.specs import Kind


@require_safe
def definition_schema(request: HttpRequest, kind: str) -> JsonResponse:
    """The schema of files of ``kind``; its address stays, because exported files name it."""
    if kind not in list(Kind):
        raise Http404(f"there is no kind of file {kind}")
    return JsonResponse(
        schema_of(Kind(kind)), content_type="application/schema+json", headers={"Cache-Control": "max-age=3600"}
    )
