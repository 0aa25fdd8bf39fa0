"""Who looked at customer data, of which transaction, when and in which form."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from transactions.clock import database_now


class Disclosure(models.Model):
    """One look at customer data. Rows are added and never changed."""

    class What(models.TextChoices):
        RECORD = "record", _("the record")
        EVIDENCE = "evidence", _("the signed evidence")

    by = models.CharField(max_length=150)
    transaction = models.ForeignKey("transactions.Transaction", on_delete=models.PROTECT, related_name="disclosures")
    what = models.CharField(max_length=10, choices=What.choices)
    at = models.DateTimeField(default=database_now, editable=False)

    class Meta:
        verbose_name = _("look at customer data")
        verbose_name_plural = _("looks at customer data")
        default_permissions = ("view",)
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.by} {self.at:%Y-%m-%d %H:%M}"
