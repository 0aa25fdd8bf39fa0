"""Who calls the API: programs present a bearer key of which only the hash is kept (contracts.md §7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from transactions.access import EVERY_CHANNEL, SEES_CUSTOMER_DATA
from transactions.models import ApiKey, Channel

REFUSED = _("This API key is not accepted.")
"""One text for an unknown, a malformed and a revoked key, so that an answer tells nothing about keys."""


@dataclass(frozen=True, slots=True)
class KeyPrincipal:
    """The program behind an API key, in the place where Django has a user."""

    pk: int
    name: str
    role: str
    every_channel: bool = True
    sees_customer_data: bool = True

    is_authenticated = True
    is_anonymous = False
    is_active = True

    @property
    def identity(self) -> str:
        """What tells this key from others for good, whatever it is called."""
        return f"apikey:{self.pk}"

    def __str__(self) -> str:
        return f"key:{self.name}"

    def get_username(self) -> str:
        return str(self)

    @property
    def channels(self) -> QuerySet[Channel]:
        return Channel.objects.filter(keys=self.pk)

    def has_perm(self, permission: str, obj: object = None) -> bool:
        """``operator`` acts on transactions; ``publisher`` also on everything of the definitions."""
        if permission == EVERY_CHANNEL:
            return self.every_channel
        if permission == SEES_CUSTOMER_DATA:
            return self.sees_customer_data
        if permission == "transactions.operate":
            return True
        return self.role == ApiKey.Role.PUBLISHER and permission.startswith("tooling.")


class ApiKeyAuthentication(BaseAuthentication):
    """``Authorization: Bearer <key>``; any other scheme is left to the next authenticator."""

    def authenticate(self, request: Request) -> tuple[KeyPrincipal, ApiKey] | None:
        """Return (principal, key), None without a bearer header, or raise AuthenticationFailed (401)."""
        scheme, *rest = get_authorization_header(request).split() or [b""]
        if scheme.lower() != b"bearer":
            return None
        if len(rest) != 1:
            raise AuthenticationFailed(REFUSED)
        # Header bytes are latin-1; a key outside ASCII matches no hash and needs no case of its own.
        key = ApiKey.objects.filter(hash=ApiKey.hash_of(rest[0].decode("latin-1")), revoked_at__isnull=True).first()
        if key is None:
            raise AuthenticationFailed(REFUSED)
        return KeyPrincipal(key.pk, key.name, key.role, key.every_channel, key.sees_customer_data), key

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped registry hook
    """How the OpenAPI document describes the key."""

    target_class = ApiKeyAuthentication
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A key of `manage.py apikey create`."}
