"""``/healthz`` and ``/readyz``: whether this process lives, and whether it can work (contracts.md §3)."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, JsonResponse

from transactions.models import WorkerHeartbeat
from transactions.services import alarms
from transactions.services.reviewing import queue
from transactions.services.rows import database_now

CHECK_SECONDS = 2.0
HEARTBEAT_SECONDS = 30
_POOL = ThreadPoolExecutor(4, "readyz")
"""Own threads, so that a check that hangs holds neither the request nor the database pool of the chat."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. ``required`` false: reported, but the process is ready without it."""

    ok: bool
    detail: str
    ms: int
    required: bool = True


class HealthMiddleware:
    """Answers the two probes before anything else looks at the request.

    Orchestrators probe by address and over plain http: the host check and the https redirect would refuse.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        match request.path:
            case "/healthz":
                return JsonResponse({"status": "ok"})
            case "/readyz":
                return readyz()
            case _:
                return self.get_response(request)


def readyz() -> JsonResponse:
    """200 when every required check passes, else 503; the body names each check. Takes some 2 s at most."""
    findings = run_checks()
    ready = all(finding.ok for finding in findings.values() if finding.required)
    body = {
        "status": "ready" if ready else "not ready",
        "checks": {name: asdict(finding) for name, finding in findings.items()},
    }
    return JsonResponse(body, status=200 if ready else 503)


def run_checks() -> dict[str, Finding]:
    """Every check, all at once, each within ``CHECK_SECONDS``."""
    started = time.monotonic()
    running = {name: _POOL.submit(_closing, check) for name, check in _checks().items()}
    return {name: _finding(name, future, started) for name, future in running.items()}


def _checks() -> dict[str, Callable[[], str]]:
    found: dict[str, Callable[[], str]] = {
        "database": check_database,
        "migrations": check_migrations,
        "worker": check_worker,
        "due_work": check_due_work,
        "review": check_review,
    }
    if settings.REDIS_URL:
        found |= {
            "channel_layer": partial(check_redis, ("PUBLISH", "health", "")),
            "broker": partial(check_redis, ("LLEN", "celery")),
        }
    return found


def _finding(name: str, future: Future[str], started: float) -> Finding:
    # A worker may well start after the web process: its absence, and what it left undone, is told, not punished. What
    # waits for an operator needs the very process that serves them.
    required = name not in ("worker", "due_work", "review")
    try:
        problem = future.result(max(0.0, started + CHECK_SECONDS - time.monotonic()))
    except TookTooLong:
        future.cancel()
        problem = f"no answer within {CHECK_SECONDS:g} s"
    except Exception as error:
        # Only the kind: messages of drivers carry addresses and user names.
        problem = type(error).__name__
    return Finding(not problem, problem, round(1000 * (time.monotonic() - started)), required)


def _closing(check: Callable[[], str]) -> str:
    try:
        return check()
    finally:
        connection.close()


def check_database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


_migrated: set[str] = set()
"""Databases that were seen with every migration: looking again would read all migration files."""


def check_migrations() -> str:
    name = str(connection.settings_dict["NAME"])
    if name in _migrated:
        return ""
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        return f"{len(missing)} migrations are not applied; run `manage.py migrate`"
    _migrated.add(name)
    return ""


def check_worker() -> str:
    """Whether any process ran due work lately."""
    alive = WorkerHeartbeat.objects.filter(beat_at__gte=Now() - timedelta(seconds=HEARTBEAT_SECONDS))
    return "" if alive.exists() else f"no sign of a worker or sweeper for {HEARTBEAT_SECONDS} s"


def check_due_work() -> str:
    """Whether anything that is due has been waiting for too long."""
    return "; ".join(map(str, alarms.overdue(database_now())))


def check_review() -> str:
    """How many transactions wait for an operator, and for how long the oldest of them."""
    waiting = queue()
    if not waiting.length:
        return ""
    told = f"transactions that wait for an operator: {waiting.length}"
    if waiting.since is None:
        return told
    seconds = max(0, round((database_now() - waiting.since).total_seconds()))
    return f"{told}; the oldest for {seconds} s"


def check_redis(command: tuple[str, ...]) -> str:
    """The server behind REDIS_URL takes ``command``: what the layer publishes, what workers read."""
    import redis

    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1) as client:
        client.execute_command(*command)
    return ""
