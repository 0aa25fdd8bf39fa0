"""Saved simulations: a conversation with what was read and answered in it, and what is expected of definitions then."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from transactions.clock import database_now


class CaseResult(models.TextChoices):
    """What the last run against the draft came to."""

    NEVER_RUN = "", _("never run")
    AS_EXPECTED = "as_expected", _("as expected")
    DIFFERS = "differs", _("differs")
    NEEDS_READING = "needs_reading", _("needs the model again")


class SimulationCase(models.Model):
    """One saved simulation. Publishing plays every one of them with what was recorded, and asks nobody."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    scene = models.JSONField(default=dict)
    """{lines, locale, identity, start}; the definitions are those it is played with."""
    readings = models.JSONField(default=list)
    answers = models.JSONField(default=list)
    expected = models.JSONField(default=dict)
    """What is compared: any of tool, status, reason_code, missing, arguments, items, rules."""
    revision = models.PositiveIntegerField(default=0)
    last_result = models.CharField(max_length=20, blank=True, choices=CaseResult.choices, default="")
    last_run_at = models.DateTimeField(null=True, blank=True)
    created_by = models.CharField(max_length=150)
    changed_by = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=database_now, editable=False)
    changed_at = models.DateTimeField(default=database_now, editable=False)

    class Meta:
        verbose_name = _("saved simulation")
        verbose_name_plural = _("saved simulations")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
