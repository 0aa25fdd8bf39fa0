"""A request that a second person publishes a draft: what it holds, who asked, and what became of it.

Maker and checker are told apart by their identities, here and by triggers of the database: neither the author nor
anybody whose edits are contained can approve, whatever they may do otherwise or are called by then.
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from tooling import help_texts


class RequestStatus(models.TextChoices):
    PENDING = "pending", _("waiting")
    APPROVED = "approved", _("approved")
    REJECTED = "rejected", _("rejected")
    WITHDRAWN = "withdrawn", _("withdrawn")


class PublishRequest(models.Model):
    """The content of the draft at one moment, waiting to become a release. Written by ``tooling.approvals`` only."""

    content = models.TextField(_("content"), help_text=help_texts.RELEASE_CONTENT)
    hash = models.CharField(_("hash"), max_length=64, help_text=help_texts.RELEASE_HASH)
    base = models.PositiveIntegerField(_("newest release then"))
    first_edit = models.PositiveBigIntegerField(editable=False)
    last_edit = models.PositiveBigIntegerField(editable=False)
    """The edits it holds: those after ``first_edit``, up to ``last_edit``."""
    comment = models.TextField(_("comment"))
    author = models.CharField(_("author"), max_length=150)
    author_identity = models.CharField(max_length=60, editable=False)
    created_at = models.DateTimeField(_("requested at"), auto_now_add=True)
    status = models.CharField(_("status"), max_length=10, choices=RequestStatus.choices, default=RequestStatus.PENDING)
    decider = models.CharField(_("decided by"), max_length=150, blank=True, default="")
    decider_identity = models.CharField(max_length=60, blank=True, default="", editable=False)
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    reason = models.TextField(_("reason"), blank=True, default="")
    release = models.PositiveIntegerField(_("release"), null=True, blank=True)

    class Meta:
        verbose_name = _("publish request")
        verbose_name_plural = _("publish requests")
        ordering = ["-pk"]
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=RequestStatus.values), name="tooling_request_status_is_known"
            ),
            models.CheckConstraint(condition=~models.Q(author_identity=""), name="tooling_request_has_an_author"),
            models.CheckConstraint(
                condition=~models.Q(status__in=["approved", "rejected"])
                | (
                    models.Q(decider_identity__startswith="user:")
                    & ~models.Q(decider_identity=models.F("author_identity"))
                ),
                name="tooling_request_checker_is_not_maker",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="withdrawn") | models.Q(decider_identity=models.F("author_identity")),
                name="tooling_request_withdrawn_by_its_author",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="rejected") | ~models.Q(reason=""),
                name="tooling_request_rejected_with_reason",
            ),
            models.CheckConstraint(
                condition=models.Q(status="approved", release__isnull=False)
                | (~models.Q(status="approved") & models.Q(release__isnull=True)),
                name="tooling_request_approved_is_released",
            ),
            models.UniqueConstraint(
                fields=["status"], condition=models.Q(status="pending"), name="tooling_one_request_waits"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pk}"

    @property
    def is_pending(self) -> bool:
        return self.status == RequestStatus.PENDING
