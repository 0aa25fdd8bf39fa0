"""The real services that tests may need: found, else skipped by name, or failed with REQUIRE_SERVICES=1."""

import contextlib
import os
import random
import shutil
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any, NoReturn
from urllib.parse import urlsplit, urlunsplit

import pytest

TEST_ON = os.environ.get("TEST_ON", "sqlite")
SERVICES_REQUIRED = os.environ.get("REQUIRE_SERVICES") == "1"
POSTGRES = os.environ.get("TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
REDIS = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/")
CLAIM = "agentplatform:tests:claim"


def missing(service: str, hint: str) -> NoReturn:
    """Skip the test by the name of what it needs; with REQUIRE_SERVICES=1 that is a failure."""
    if SERVICES_REQUIRED:
        pytest.fail(f"{service} is required and not here: {hint}", pytrace=False)
    pytest.skip(f"{service} is not here: {hint}")


def require(service: str, present: object, hint: str) -> None:
    if not present:
        missing(service, hint)


def postgres_server(database: str) -> str:
    """The URL of ``database`` on the server that the tests may use; the database need not exist."""
    return urlunsplit(urlsplit(POSTGRES)._replace(path=f"/{database}"))


def postgres_problem() -> str:
    """Why the PostgreSQL server of the tests cannot be used; empty when it can."""
    import psycopg

    try:
        psycopg.connect(POSTGRES, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        return f"{error} (set TEST_DATABASE_URL)"
    return ""


def drop_databases(name: str) -> None:
    """Drop every database whose name contains ``name``, whoever is still connected to it."""
    import psycopg

    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        found = connection.execute("SELECT datname FROM pg_database WHERE position(%s in datname) > 0", [name])
        for (database,) in found.fetchall():
            connection.execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')


@contextlib.contextmanager
def scratch_database() -> Iterator[str]:
    """The URL of a new, empty PostgreSQL database that is dropped afterwards."""
    import psycopg

    problem = postgres_problem()
    require("PostgreSQL", not problem, problem)
    name = f"agentplatform_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield postgres_server(name)
    finally:
        drop_databases(name)


@contextlib.contextmanager
def scratch_redis() -> Iterator[str]:
    """The URL of an empty Redis database that nobody else uses, flushed afterwards."""
    import redis

    base = REDIS.rstrip("/")
    for number in range(15, 0, -1):
        url = f"{base}/{number}"
        client = redis.Redis.from_url(url, socket_timeout=3, socket_connect_timeout=3)
        try:
            # The claim makes the check and the taking one step: another run may look at the same moment.
            mine = client.dbsize() == 0 and client.set(CLAIM, os.getpid(), nx=True, ex=1800)
        except redis.RedisError as error:
            missing("Redis", f"{error} (set TEST_REDIS_URL)")
        if mine:
            break
    else:
        missing("Redis", f"none of the databases 1 to 15 of {base} is empty")
    try:
        yield url
    finally:
        client.flushdb()
        client.close()


def chromium_path() -> str:
    """The browser of the system, or skip."""
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if name and (path := shutil.which(name))), "")
    require("Chromium", found, "install the package chromium, or set CHROMIUM")
    return found


def free_port() -> int:
    """A port of the loopback interface that nobody uses now.

    It lies below those that outgoing connections get: a server that is killed can have it again.
    """
    choice = random.SystemRandom()
    while True:
        port = choice.randrange(10_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def is_listening(port: int) -> bool:
    """Whether somebody accepts connections on the loopback ``port`` now."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(condition: Callable[[], Any], *, timeout: float = 20, what: str = "") -> Any:
    """The first true value of ``condition``; fails after ``timeout`` seconds.

    The only place of the tests that sleeps: other processes have no event that a test could wait for.
    """
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout} s for {what or condition}; last seen: {value!r}", pytrace=False)
        time.sleep(0.05)
