"""The one clock of the runtime: the database's, whatever the processes around it believe (runtime.md §9.6)."""

from __future__ import annotations

from datetime import datetime

from django.db import connection


def database_now() -> datetime:
    """The time of the database."""
    is_postgres = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT clock_timestamp()" if is_postgres else "SELECT strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')"
        )
        (now,) = cursor.fetchone()
    return now if isinstance(now, datetime) else datetime.fromisoformat(now)
