"""System checks: settings that are each right alone and wrong together, with what to do about it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured

from transactions import failpoints

Apps = Sequence[AppConfig] | None


def check_language_model(app_configs: Apps = None, **options: Any) -> list[CheckMessage]:
    """The bundled demo model must not answer customers by accident (contracts.md §1)."""
    offline = settings.OFFLINE_MODEL or not settings.LLM_BASE_URL
    if not (settings.IS_PRODUCTION and offline) or settings.ALLOW_OFFLINE_MODEL:
        return []
    return [
        Error(
            "No language model is configured for production.",
            hint="Set LLM_BASE_URL, LLM_API_KEY and LLM_MODEL; for a trial ALLOW_OFFLINE_MODEL=1.",
            id="agentplatform.E001",
        )
    ]


def check_database_of_workers(app_configs: Apps = None, **options: Any) -> list[CheckMessage]:
    """SQLite has one writer at a time: several processes would wait for each other."""
    if not (settings.REDIS_URL and settings.USES_SQLITE):
        return []
    return [
        Warning(
            "REDIS_URL starts Celery workers, but the database is SQLite.",
            hint="Set DATABASE_URL to PostgreSQL, or unset REDIS_URL and use `manage.py serve --embedded`.",
            id="agentplatform.W001",
        )
    ]


def check_production_is_one_process(app_configs: Apps = None, **options: Any) -> list[CheckMessage]:
    """Without Redis a second web process would not learn what happens in the first."""
    if not settings.IS_PRODUCTION or settings.REDIS_URL:
        return []
    return [
        Warning(
            "The channel layer lives in the memory of one process.",
            hint="Set REDIS_URL; without it run exactly one process, `manage.py serve --embedded`.",
            id="agentplatform.W002",
        )
    ]


def check_production_database(app_configs: Apps = None, **options: Any) -> list[CheckMessage]:
    if not (settings.IS_PRODUCTION and settings.USES_SQLITE):
        return []
    return [
        Warning(
            "The production database is a SQLite file.",
            hint="Set DATABASE_URL to PostgreSQL: backups, several processes and row locks need it.",
            id="agentplatform.W003",
        )
    ]


def check_evidence_key(app_configs: Apps = None, **options: Any) -> list[CheckMessage]:
    """A key that signs nothing is found when the product starts, not when evidence is asked for."""
    from transactions.services import signing

    try:
        signing.public_key()
    except ImproperlyConfigured as error:
        return [
            Error(
                str(error),
                hint="Unset it to derive the key from SECRET_KEY.",
                id="agentplatform.E002",
            )
        ]
    return []


def check_failpoints(app_configs: Apps = None, **options: Any) -> list[CheckMessage]:
    """Crash points are for tests: production ignores them, and whoever set one should know."""
    if not (settings.IS_PRODUCTION and os.environ.get(failpoints.VARIABLE)):
        return []
    return [
        Error(
            f"{failpoints.VARIABLE} is set in production; it strikes nothing there.",
            hint=f"Unset {failpoints.VARIABLE}; crashes are tried with `make crash` in development.",
            id="agentplatform.E003",
        )
    ]


def register_all() -> None:
    """Called once by the application; the last two matter only to ``check --deploy``."""
    register(check_language_model, Tags.security)
    register(check_evidence_key, Tags.security)
    register(check_failpoints, Tags.security)
    register(check_database_of_workers, Tags.compatibility)
    register(check_production_is_one_process, Tags.compatibility, deploy=True)
    register(check_production_database, Tags.compatibility, deploy=True)
