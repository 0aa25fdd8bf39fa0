"""The groups that every installation has: who operates transactions, of all channels or of some, and who edits."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

OPERATOR = "operator"
CHANNEL_OPERATOR = "channel operator"
"""Sees only the channels that name it."""
BUSINESS_ADMIN = "business admin"

_OPERATE = Q(content_type__app_label="transactions", codename="operate")
_EVERY_CHANNEL = Q(content_type__app_label="transactions", codename="see_every_channel")
_RUNTIME = Q(content_type__app_label="transactions", codename__startswith="view_") & ~Q(codename="view_apikey")
_DEFINITIONS = Q(content_type__app_label="tooling")

GROUPS = {
    OPERATOR: _OPERATE | _EVERY_CHANNEL | _RUNTIME,
    CHANNEL_OPERATOR: _OPERATE | _RUNTIME,
    BUSINESS_ADMIN: _OPERATE | _EVERY_CHANNEL | _DEFINITIONS,
}


def create_groups(*, using: str, **signal: Any) -> None:
    """Give the groups their permissions after every migration; what an administrator added stays."""
    from django.contrib.auth.models import Group, Permission

    for name, permissions in GROUPS.items():
        group, _ = Group.objects.using(using).get_or_create(name=name)
        group.permissions.add(*Permission.objects.using(using).filter(permissions))
