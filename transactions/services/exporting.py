"""The row of an export: begun, how far it is, finished."""

from __future__ import annotations

from uuid import UUID

from transactions.exports import ExportRun
from transactions.services.rows import database_now


def begin_export(
    *, by: str, asked: str, format: str, per: str, total: int, customer_data: bool, key: UUID | None = None
) -> ExportRun:
    """Keep on record who exports what, before the first row leaves; ``key`` is one that the page made up for it."""
    named = {"pk": key} if key and not ExportRun.objects.filter(pk=key).exists() else {}
    return ExportRun.objects.create(
        by=by[:150], asked=asked[:2000], format=format, per=per, total=total, customer_data=customer_data, **named
    )


def note_progress(key: UUID, done: int) -> None:
    ExportRun.objects.filter(pk=key).update(done=done)


def finish_export(key: UUID, done: int) -> None:
    ExportRun.objects.filter(pk=key).update(done=done, finished_at=database_now())
