"""``manage.py channel create``: a place where end users meet us (contracts.md §7)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug

from transactions.models import Channel

LOCALES = ("pt-BR", "en")
PORTS = {"http": 80, "https": 443}
"""The ports that an Origin header leaves out."""


class Command(BaseCommand):
    help = "Create a channel: its origins, its language and how it proves who its users are."

    def add_arguments(self, parser: ArgumentParser) -> None:
        create = parser.add_subparsers(dest="action", required=True).add_parser("create")
        create.add_argument("key", help="letters, digits, hyphens and underscores")
        create.add_argument(
            "--origin",
            action="append",
            default=[],
            dest="origins",
            metavar="URL",
            help="scheme://host[:port] of a site that may talk in it; may come several times",
        )
        create.add_argument("--locale", choices=LOCALES, default="pt-BR")
        create.add_argument(
            "--jwt-secret-env", default="", metavar="NAME", help="the variable with the key of user tokens"
        )
        create.add_argument("--anonymous", action="store_true", help="accept users without a token")
        create.add_argument("--allow-no-origin", action="store_true", help="accept clients that send no Origin header")
        create.add_argument("--update", action="store_true", help="change the channel if it exists")

    def handle(self, *, key: str, origins: list[str], update: bool, **options: Any) -> None:
        try:
            validate_slug(key)
        except ValidationError:
            raise CommandError(f'"{key}" is no key: use letters, digits, hyphens and underscores') from None
        if not update and Channel.objects.filter(key=key).exists():
            raise CommandError(f'channel "{key}" exists already; add --update to change it')
        names = ("locale", "jwt_secret_env", "anonymous", "allow_no_origin")
        fields = {name: options[name] for name in names}
        fields["origins"] = list(dict.fromkeys(normal_origin(origin) for origin in origins))
        Channel.objects.update_or_create(key=key, defaults=fields)
        self.stdout.write(f'channel "{key}" is ready')


def normal_origin(text: str) -> str:
    """``text`` as a browser writes an Origin header; CommandError for a pattern, a path or anything else."""
    try:
        parts = urlsplit(text.strip())
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
    except ValueError:
        scheme, host, port = "", "", None
    if scheme not in PORTS or not host or parts.path not in ("", "/") or any(mark in text for mark in "*@?#"):
        raise CommandError(f'"{text}" is no origin: write scheme://host[:port], one --origin for each')
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" + (f":{port}" if port and port != PORTS[scheme] else "")
