"""A release: one published set of definitions that never changes (architecture.md, "immutable releases")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from django.db import models
from django.db.models.base import ModelBase
from django.utils.translation import gettext_lazy as _

from tooling import help_texts


class ReleaseIsImmutable(TypeError):
    """A published release was to be changed; publish a new one or roll back instead."""

    def __init__(self) -> None:
        super().__init__("a release never changes; publish a new one, or roll back to an earlier one")


class ReleaseQuerySet(models.QuerySet["Release"]):
    """Releases can be read and made, nothing else."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise ReleaseIsImmutable

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ReleaseIsImmutable

    def delete(self) -> NoReturn:
        raise ReleaseIsImmutable


class Release(models.Model):
    """One published set of definitions; a database trigger guards what is refused here, too."""

    number = models.PositiveIntegerField(_("number"), unique=True)
    content = models.TextField(_("content"), help_text=help_texts.RELEASE_CONTENT)
    hash = models.CharField(_("hash"), max_length=64, help_text=help_texts.RELEASE_HASH)
    comment = models.TextField(_("comment"))
    author = models.CharField(_("author"), max_length=150, blank=True, default="")
    author_identity = models.CharField(max_length=60, blank=True, default="", editable=False)
    approver = models.CharField(_("approver"), max_length=150, blank=True, default="")
    approver_identity = models.CharField(max_length=60, blank=True, default="", editable=False)
    rolled_back_to = models.PositiveIntegerField(_("rolled back to"), null=True, blank=True)
    last_edit = models.PositiveBigIntegerField(null=True, blank=True, editable=False)
    """The newest edit of the draft that is in it, or that it threw away by rolling back."""
    created_at = models.DateTimeField(_("published at"), auto_now_add=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        verbose_name = _("release")
        verbose_name_plural = _("releases")
        ordering = ["-number"]
        permissions = [("publish_release", "Can publish and roll back definitions")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(approver_identity="") | ~models.Q(approver_identity=models.F("author_identity")),
                name="tooling_release_approver_is_not_author",
            )
        ]

    def __str__(self) -> str:
        return str(self.number)

    def save(
        self,
        *,
        force_insert: bool | tuple[ModelBase, ...] = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Iterable[str] | None = None,
    ) -> None:
        """Store a new release; ReleaseIsImmutable for one that is stored already."""
        if not self._state.adding:
            raise ReleaseIsImmutable
        super().save(force_insert=True, using=using)

    def delete(self, using: str | None = None, keep_parents: bool = False) -> NoReturn:
        raise ReleaseIsImmutable
