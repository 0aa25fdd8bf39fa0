"""The Celery tasks: wake-ups that may be lost or come twice; the work itself is claimed (runtime.md §9.1)."""

from __future__ import annotations

from celery import shared_task

from transactions import execution, sweeper


@shared_task(name="transactions.prevalidate", max_retries=0)
def prevalidate(transaction_id: str) -> None:
    execution.prevalidate(transaction_id)


@shared_task(name="transactions.execute", max_retries=0)
def execute(attempt_id: str) -> None:
    execution.execute(attempt_id)


@shared_task(name="transactions.sweep", max_retries=0)
def sweep() -> None:
    sweeper.sweep()
