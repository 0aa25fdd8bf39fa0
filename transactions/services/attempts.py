"""The rows of attempts: making one, and moving one along its table (runtime.md §2)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from transactions.core.statuses import AttemptStatus, check_move
from transactions.models import Attempt, Transaction
from transactions.services.calls import request_key
from transactions.services.rows import database_now


def new_attempt(
    transaction: Transaction, *, number: int, digest: str, delay: float = 0, is_resend: bool = False
) -> Attempt:
    """A READY attempt, due after ``delay`` seconds, under the one key of its transaction (runtime.md §9.3)."""
    return Attempt.objects.create(
        transaction=transaction,
        number=number,
        is_resend=is_resend,
        idempotency_key=request_key(transaction),
        digest=digest,
        due_at=database_now() + timedelta(seconds=delay),
    )


def move_attempt(attempt: Attempt, new: AttemptStatus, **fields: Any) -> None:
    """Move a held attempt; raises ForbiddenMove where the table of runtime.md §2 knows no such move."""
    check_move(AttemptStatus(attempt.status), new)
    Attempt.objects.filter(pk=attempt.pk, status=attempt.status).update(status=new, **fields)
    attempt.status = new
