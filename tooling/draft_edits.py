"""Who changed the draft: one row for every edit, whatever it came through, and one for each thing that it changed.

Rows are written by ``tooling.recording`` only and never change; triggers of the database guard that, too.
"""

from __future__ import annotations

from enum import StrEnum

from django.db import models


class Via(StrEnum):
    """What an edit came through."""

    ADMIN = "admin"
    API = "api"
    COMMAND = "command"
    FILES = "files"
    SERVER = "server"
    ROLLBACK = "rollback"
    SETUP = "setup"


class DraftEdit(models.Model):
    """One change of the draft as somebody made it: a form that was saved, an import, a roll back."""

    by = models.CharField(max_length=150)
    identity = models.CharField(max_length=60, blank=True, default="")
    via = models.CharField(max_length=20)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.by} {self.at:%Y-%m-%d %H:%M}"


class DraftChange(models.Model):
    """One difference that an edit made; ``path`` leads through the content of a release, its first steps apart."""

    edit = models.ForeignKey(DraftEdit, on_delete=models.PROTECT, related_name="changes")
    section = models.CharField(max_length=20)
    name = models.CharField(max_length=200, blank=True, default="")
    path = models.JSONField()
    kind = models.CharField(max_length=10)
    old = models.JSONField(null=True)
    new = models.JSONField(null=True)

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["section", "name", "id"], name="tooling_changes_of_an_object")]

    def __str__(self) -> str:
        return f"{self.kind} {'.'.join(self.path)}"
