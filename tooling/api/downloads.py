"""The files of an answer as one zip archive: ``Accept: application/zip`` or ``?format=zip``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import BaseRenderer, JSONRenderer

from tooling.exports import zipped


class FilesAsZip(BaseRenderer):
    """Takes the ``files`` of the answer; an answer without any, as every error, stays JSON."""

    media_type = "application/zip"
    format = "zip"
    charset = None
    render_style = "binary"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        response = (renderer_context or {})["response"]
        if response.status_code != 200 or "files" not in data:
            return bytes(JSONRenderer().render(data, accepted_media_type, renderer_context))
        name = f"release-{data['number']}" if "number" in data else "draft"
        response["Content-Disposition"] = f'attachment; filename="definitions-{name}.zip"'
        return zipped(data["files"])
