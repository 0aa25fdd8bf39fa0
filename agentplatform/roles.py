"""The two groups that every installation has: who operates transactions and who edits definitions."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

OPERATOR = "operator"
BUSINESS_ADMIN = "business admin"

_OPERATE = Q(content_type__app_label="transactions", codename="operate")
_RUNTIME = Q(content_type__app_label="transactions", codename__startswith="view_") & ~Q(codename="view_apikey")
_DEFINITIONS = Q(content_type__app_label="tooling")

GROUPS = {
    OPERATOR: _OPERATE | _RUNTIME,
    BUSINESS_ADMIN: _OPERATE | _DEFINITIONS,
}


def create_groups(*, using: str, **signal: Any) -> None:
    """Give both groups their permissions after every migration; what an administrator added stays."""
    from django.contrib.auth.models import Group, Permission

    for name, permissions in GROUPS.items():
        group, _ = Group.objects.using(using).get_or_create(name=name)
        group.permissions.add(*Permission.objects.using(using).filter(permissions))
