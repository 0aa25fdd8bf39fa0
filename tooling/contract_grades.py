"""How well the tools of the draft keep the contract with the platform: the newest check of each, and who checks now."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

GRADES = [("good", _("good")), ("usable", _("usable")), ("unsafe", _("unsafe")), ("not_checked", _("not checked"))]


class ToolGrade(models.Model):
    """The newest check of one tool. Written by ``tooling.contract_linting`` only; it decides nothing that runs."""

    tool = models.CharField(_("tool"), max_length=100, unique=True)
    server = models.CharField(_("MCP server"), max_length=100)
    definition = models.CharField(max_length=64)
    """Fingerprint of what was checked: another one now makes the grade an old one."""
    grade = models.CharField(_("grade"), max_length=20, choices=GRADES)
    report = models.JSONField(_("report"), default=dict)
    """Aspects, faults and calls, as ``tooling.linting.reports`` writes and reads them."""
    checked_at = models.DateTimeField(_("checked at"))
    checked_by = models.CharField(_("checked by"), max_length=150, blank=True, default="")

    class Meta:
        verbose_name = _("grade of a tool")
        verbose_name_plural = _("grades of tools")
        default_permissions = ()
        ordering = ["tool"]

    def __str__(self) -> str:
        return f"{self.tool}: {self.grade}"


class ContractCheck(models.Model):
    """That somebody checks a server now: one at a time, and forgotten where its process died."""

    server = models.CharField(_("MCP server"), max_length=100, unique=True)
    until = models.DateTimeField(null=True)
    """Until when the check may take; null, or in the past: nobody checks."""

    class Meta:
        verbose_name = _("running check of a server")
        verbose_name_plural = _("running checks of servers")
        default_permissions = ()

    def __str__(self) -> str:
        return self.server
