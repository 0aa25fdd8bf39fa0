"""Finds what is due and has it done: the guarantee behind every wake-up that was lost (runtime.md §9.1).

Several sweepers may run at once; each piece of work is claimed before it is done.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import close_old_connections, connection
from django.db.models import Q, QuerySet

from tooling import server_checks
from transactions import failpoints, outbox
from transactions.core.statuses import BUSY, AttemptStatus, Status
from transactions.models import Attempt, Conversation, ReplayRun, Transaction, Turn
from transactions.outbox import Work
from transactions.services import accounting, alarms, ending, executing
from transactions.services.heartbeat import beat
from transactions.services.rows import database_now
from transactions.services.warning import soon_to_expire, warn_if_due

log = logging.getLogger(__name__)

TURN_GRACE_SECONDS = 1.0
"""A turn this young is still in the hands of the process that received it."""
BATCH = 200
"""At most so many pieces of each kind in one sweep."""


def run_once() -> int:
    """Do everything that is due, here and now, one after the other; how many pieces there were."""
    now = database_now()
    pieces: list[Callable[[], object]] = [
        *_on_rows(now),
        *(partial(outbox.runner(work), key) for work, key in _with_calls(now)),
    ]
    for piece in pieces:
        _run(piece)
    return len(pieces)


def sweep() -> int:
    """Do due work on rows here, and hand work that calls models or tools to this process's pool.

    What nobody did for too long raises an alarm.
    """
    now = database_now()
    _run(partial(alarms.raise_alarms, now))
    pieces, works = list(_on_rows(now)), list(_with_calls(now))
    for piece in pieces:
        _run(piece)
    for work, key in works:
        _run(partial(outbox.run_here, work, key))
    return len(pieces) + len(works)


def loop(stop: threading.Event) -> None:
    """Sweep at once, as the one before may have been killed, and then every ``SWEEP_SECONDS`` until ``stop`` is set."""
    name = f"{socket.gethostname()}-{os.getpid()}"
    outbox.warm_up("turns", "execute")
    pause = 0.0
    while not stop.wait(pause):
        pause = settings.SWEEP_SECONDS
        close_old_connections()
        try:
            sweep()
            beat(name, database_now())
        except DatabaseTrouble as error:
            log.warning("the sweep failed and is repeated: %s", error)
    connection.close()


def _run(piece: Callable[[], object]) -> None:
    try:
        failpoints.hit("sweep_found")
        piece()
    except Exception:
        log.exception("due work failed; it is found again")


def _on_rows(now: datetime) -> Iterator[Callable[[], object]]:
    expired = Transaction.objects.filter(status__in=ending.EXPIRING, expires_at__lte=now).order_by("expires_at")
    for conversation_id in expired.values_list("conversation_id", flat=True)[:BATCH]:
        yield partial(ending.expire_if_due, conversation_id)
    for conversation_id in soon_to_expire(now).values_list("conversation_id", flat=True)[:BATCH]:
        yield partial(warn_if_due, conversation_id)
    unaccounted = Attempt.objects.filter(accounted_at=None)
    abandoned = unaccounted.filter(leased_until__lte=now)
    for key in _keys(abandoned.filter(status=AttemptStatus.SENT)):
        yield partial(executing.give_up_answer, key)
    for key in _keys(abandoned.filter(status=AttemptStatus.READY, claims__gte=executing.CLAIM_LIMIT)):
        yield partial(executing.give_up_unsent, key)
    for key in _keys(unaccounted.filter(status=AttemptStatus.ANSWERED)):
        yield partial(accounting.settle_again, key)


def _with_calls(now: datetime) -> Iterator[tuple[Work, str]]:
    is_free = Q(leased_until=None) | Q(leased_until__lte=now)
    validations = Transaction.objects.filter(is_free, status=Status.PRE_VALIDATING).order_by("created_at")
    for transaction_id in validations.values_list("pk", flat=True)[:BATCH]:
        yield "prevalidate", str(transaction_id)
    unknown = Transaction.objects.filter(is_free, status=Status.VERIFYING, verify_due_at__lte=now)
    for transaction_id in unknown.order_by("verify_due_at").values_list("pk", flat=True)[:BATCH]:
        yield "reconcile", str(transaction_id)
    ready = Attempt.objects.filter(is_free, status=AttemptStatus.READY, due_at__lte=now)
    for key in _keys(ready.filter(claims__lt=executing.CLAIM_LIMIT)):
        yield "execute", str(key)
    for conversation_id in _with_waiting_turns(now).values_list("pk", flat=True)[:BATCH]:
        yield "turns", str(conversation_id)
    for server in server_checks.due():
        yield "check_server", server
    for run in ReplayRun.objects.filter(is_free, finished_at=None).values_list("pk", flat=True)[:BATCH]:
        yield "replay", str(run)


def _keys(attempts: QuerySet[Attempt]) -> list[int]:
    return list(attempts.order_by("due_at").values_list("pk", flat=True)[:BATCH])


def _with_waiting_turns(now: datetime) -> QuerySet[Conversation]:
    """Conversations that nobody handles, with a turn that can be handled now."""
    waiting = Turn.objects.filter(handled_at=None, created_at__lte=now - timedelta(seconds=TURN_GRACE_SECONDS))
    busy = Transaction.objects.filter(status__in=BUSY).values("conversation")
    can_be_handled = waiting.filter(Q(queued=False) | ~Q(conversation__in=busy)).values("conversation")
    return Conversation.objects.filter(
        Q(turns_leased_until=None) | Q(turns_leased_until__lte=now), pk__in=can_be_handled
    ).order_by("created_at")
