"""The sign of life of the processes that run due work."""

from __future__ import annotations

from datetime import datetime, timedelta

from transactions.models import WorkerHeartbeat


def beat(name: str, now: datetime) -> None:
    """Say that ``name`` is alive; signs older than a day are swept away."""
    WorkerHeartbeat.objects.update_or_create(name=name, defaults={"beat_at": now})
    WorkerHeartbeat.objects.filter(beat_at__lt=now - timedelta(days=1)).delete()
