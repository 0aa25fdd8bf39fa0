"""What every page needs to know about this installation."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def installation(request: HttpRequest) -> dict[str, object]:
    """``offline_model``: the pages must say that the bundled demo model answers (contracts.md §1)."""
    return {"offline_model": settings.OFFLINE_MODEL, "environment": settings.ENVIRONMENT}
