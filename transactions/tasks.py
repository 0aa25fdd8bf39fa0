"""The Celery tasks: wake-ups that may be lost or come twice; the work itself is claimed (runtime.md §9.1)."""

from __future__ import annotations

from celery import shared_task
from celery.signals import worker_init

from transactions import execution, outbox, sweeper


@worker_init.connect  # the threads pool sends no worker_process_init
def warm_up(**_: object) -> None:
    outbox.warm_up("execute")


@shared_task(name="transactions.prevalidate", max_retries=0)
def prevalidate(transaction_id: str) -> None:
    execution.prevalidate(transaction_id)


@shared_task(name="transactions.execute", max_retries=0)
def execute(attempt_id: str) -> None:
    execution.execute(attempt_id)


@shared_task(name="transactions.reconcile", max_retries=0)
def reconcile(transaction_id: str) -> None:
    execution.reconcile(transaction_id)


@shared_task(name="transactions.sweep", max_retries=0)
def sweep() -> None:
    sweeper.sweep()
