"""Which lists of transactions were exported, by whom, how far each came, and whether customer data was in it."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from transactions.clock import database_now


class ExportRun(models.Model):
    """One export. ``done`` of ``total`` transactions are written; one that was broken off has no ``finished_at``."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    by = models.CharField(max_length=150)
    asked = models.TextField(blank=True)
    """The filters, as the query string had them."""
    format = models.CharField(max_length=10)
    per = models.CharField(max_length=15)
    customer_data = models.BooleanField(default=False)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=database_now, editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("export")
        verbose_name_plural = _("exports")
        default_permissions = ("view",)
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.by} {self.created_at:%Y-%m-%d %H:%M}"
