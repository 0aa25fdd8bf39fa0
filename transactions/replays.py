"""Replays: a set of definitions played over what really happened, worked off in slices and kept as what came of it."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from transactions.clock import database_now


class ReplayRun(models.Model):
    """One replay. It holds no text of a customer and no value: only statuses, counts and the ids of transactions."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    created_at = models.DateTimeField(default=database_now, editable=False)
    author = models.CharField(max_length=200)
    last = models.PositiveIntegerField()
    """How many of the newest ended transactions were asked for."""
    tool = models.CharField(max_length=200, blank=True)
    """Only those of this tool; empty: of any."""
    release = models.PositiveIntegerField(default=0)
    """The release that is played; 0: the draft as it was."""
    base = models.PositiveIntegerField(default=0)
    """The newest release when it was asked for; 0: none."""
    hash = models.CharField(max_length=64, db_index=True)
    content = models.TextField()
    """The definitions that are played: what is edited meanwhile changes nothing."""
    chosen = models.JSONField(default=list)
    """The ids of the transactions, newest first."""
    lines = models.JSONField(default=list)
    """What came of each, in that order, as far as it was played."""
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("replay")
        verbose_name_plural = _("replays")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["created_at"], condition=models.Q(finished_at=None), name="replays_at_work")]

    def __str__(self) -> str:
        return f"replay {self.id}"

    @property
    def is_finished(self) -> bool:
        return self.finished_at is not None

    @property
    def total(self) -> int:
        return len(self.chosen)

    @property
    def done(self) -> int:
        return len(self.lines)

    def to_come(self) -> list[Any]:
        """The ids that were not played yet."""
        return list(self.chosen[len(self.lines) :])
