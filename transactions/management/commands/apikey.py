"""``manage.py apikey``: keys of programs that use the API (contracts.md §7)."""

from __future__ import annotations

import secrets
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.transaction import atomic
from django.utils import timezone

from transactions.models import ApiKey, Channel


class Command(BaseCommand):
    help = "Create an API key, which is shown only once, or revoke one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="print a new key, and nothing else, on standard output")
        create.add_argument("name")
        create.add_argument("--role", choices=ApiKey.Role.values, required=True)
        create.add_argument("--channel", action="append", default=[], help="only transactions of this channel")
        create.add_argument("--masked", action="store_true", help="who the customers are stays hidden from it")
        actions.add_parser("revoke", help="refuse the key from now on").add_argument("name")

    def handle(self, *, action: str, name: str, **options: Any) -> None:
        if action == "create":
            self.stdout.write(
                create_key(name, role=options["role"], channels=options["channel"], masked=options["masked"])
            )
        else:
            revoke_key(name)
            self.stderr.write(f'API key "{name}" is revoked')


def create_key(name: str, *, role: str, channels: Sequence[str] = (), masked: bool = False) -> str:
    """The new key; only its hash is kept.

    It sees ``channels`` alone, or all of them where none is named; ``masked``: it does not see who customers are.
    """
    if not 1 <= len(name) <= 100:
        raise CommandError("the name of a key has 1 to 100 characters")
    if ApiKey.objects.filter(name=name).exists():
        raise CommandError(f'an API key "{name}" exists already; choose another name')
    known = Channel.objects.filter(key__in=channels)
    if unknown := sorted(set(channels) - {channel.key for channel in known}):
        raise CommandError(f"there is no channel {', '.join(unknown)}; manage.py channel create makes one")
    key = secrets.token_urlsafe(32)
    with atomic():
        row = ApiKey.objects.create(
            name=name,
            role=role,
            hash=ApiKey.hash_of(key),
            every_channel=not channels,
            sees_customer_data=not masked,
        )
        row.channels.set(known)
    return key


def revoke_key(name: str) -> None:
    held = ApiKey.objects.filter(name=name, revoked_at=None)
    if not held.update(revoked_at=timezone.now()):
        raise CommandError(f'there is no working API key "{name}"')
