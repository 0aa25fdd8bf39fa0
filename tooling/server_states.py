"""What was found when a live MCP server was last compared with the published definitions."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from tooling.specs import JSON


class ServerState(models.Model):
    """One published server. Written by ``tooling.server_checks`` only; it decides nothing that runs."""

    server = models.CharField(_("MCP server"), max_length=100, unique=True)
    checked_at = models.DateTimeField(_("checked at"), null=True)
    """When somebody last set out to look; whoever moves it does the work."""
    listed_at = models.DateTimeField(_("last answer at"), null=True)
    failure = models.TextField(_("failure"), blank=True, default="")
    """Why there was no listing the last time; empty: there was one."""
    baseline = models.JSONField(default=dict)
    """tool → what the server said of it when its definition was first seen published, or when that was accepted."""
    listing = models.JSONField(default=dict)
    """What drafts are compared with (``tooling.drift.kept``); empty: nobody listed the server yet."""
    fingerprint = models.CharField(max_length=64, blank=True, default="")
    """Of the newest listing."""
    findings = models.JSONField(_("differences"), default=list)
    differs_since = models.DateTimeField(_("differs since"), null=True)

    class Meta:
        verbose_name = _("state of an MCP server")
        verbose_name_plural = _("states of MCP servers")
        default_permissions = ()

    def __str__(self) -> str:
        return self.server


def listings() -> dict[str, JSON]:
    """Server → what it listed when it was last asked."""
    return dict(ServerState.objects.exclude(listing={}).values_list("server", "listing"))
