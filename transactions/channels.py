"""Where customers meet us, and which programs may speak to us: rows that administrators make and the runtime reads."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Channel(models.Model):
    """A place where end users meet us: one web site, one language, one way to prove who they are."""

    key = models.SlugField(_("key"), unique=True)
    locale = models.CharField(_("locale"), max_length=16, default="pt-BR")
    origins = models.JSONField(_("allowed origins"), default=list, blank=True)
    allow_no_origin = models.BooleanField(_("accept clients without an Origin header"), default=False)
    anonymous = models.BooleanField(_("accept users without a token"), default=False)
    jwt_secret_env = models.CharField(
        _("token secret"),
        max_length=100,
        blank=True,
        help_text=_("The environment variable that holds the key of user tokens."),
    )
    operators = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        verbose_name=_("operators of this channel"),
        related_name="channels",
        blank=True,
        help_text=_("Who sees its transactions without being allowed to see those of every channel."),
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("channel")
        verbose_name_plural = _("channels")

    def __str__(self) -> str:
        return self.key


class ApiKey(models.Model):
    """A key of a program. Only its hash is kept; the key itself was shown once."""

    class Role(models.TextChoices):
        OPERATOR = "operator", _("operator")
        PUBLISHER = "publisher", _("publisher")

    name = models.CharField(max_length=100, unique=True)
    role = models.CharField(max_length=20, choices=Role.choices)
    hash = models.CharField(max_length=64, unique=True)
    every_channel = models.BooleanField(default=True)
    """Whether it sees the transactions of all channels; else those of ``channels``."""
    channels = models.ManyToManyField(Channel, related_name="keys", blank=True)
    sees_customer_data = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def hash_of(key: str) -> str:
        return hashlib.sha256(key.encode()).hexdigest()
