"""Who changed the draft from outside the admin, and when; the admin has its own log of that."""

from __future__ import annotations

from django.db import models


class DraftEdit(models.Model):
    """One import of files into the draft. Written by ``tooling.drafts`` only."""

    by = models.CharField(max_length=150)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.by} {self.at:%Y-%m-%d %H:%M}"
