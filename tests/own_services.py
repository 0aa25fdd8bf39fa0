"""A Redis and a PostgreSQL of a test's own, which it may kill, freeze, wipe and restart; nobody else uses them."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.processes import Child, Processes
from tests.services import free_port, is_listening, require, wait_until

POSTGRES_HOMES = "/usr/lib/postgresql"
POSTGRES_USER = "postgres"
POSTGRES_OPTIONS = {
    # The machine does not lose its power in a test, only the server its life.
    "fsync": "off",
    "max_connections": "200",
    "unix_socket_directories": "",
    "listen_addresses": "127.0.0.1",
}


@dataclass
class OwnRedis:
    """A Redis server on a free port without persistence: who kills it wipes it."""

    processes: Processes
    program: str
    port: int = field(default_factory=free_port)
    child: Child | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.child = self.processes.start("redis", [self.program, *options], cwd=Path(tempfile.gettempdir()))
        wait_until(lambda: self.command("PING") == b"+PONG", what="Redis to answer")

    def kill(self) -> None:
        """Gone at once, with all its data."""
        assert self.child is not None
        self.child.kill()

    def freeze(self) -> None:
        """It keeps every connection, also accepts new ones, and answers nothing."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def flush(self) -> None:
        """Forget every key: waiting messages, and those that nobody acknowledged."""
        assert self.command("FLUSHALL") == b"+OK"

    def cut_connections(self) -> None:
        """End the connection of everybody, publishers and subscribers."""
        for kind in ("normal", "pubsub"):
            self.command(f"CLIENT KILL TYPE {kind} SKIPME yes")

    def command(self, line: str) -> bytes:
        """The first line of the answer to an inline command; empty when nobody answers."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=3) as connection:
                connection.sendall(f"{line}\r\n".encode())
                return connection.makefile("rb").readline().strip()
        except OSError:
            return b""

    def stop(self) -> None:
        if self.child is not None and self.child.is_running:
            self.child.kill()

    def _signal(self, number: signal.Signals) -> None:
        assert self.child is not None
        self.child.process.send_signal(number)


@dataclass
class OwnPostgres:
    """A PostgreSQL cluster in a folder of its own; ``restart_immediately`` ends it as a crash would."""

    processes: Processes
    programs: Path
    port: int = field(default_factory=free_port)
    child: Child | None = None
    options: dict[str, str] = field(default_factory=dict)
    """Settings of postgresql.conf that win over ``POSTGRES_OPTIONS``."""

    def __post_init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="own-postgres-"))
        self.as_user: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(self.folder, POSTGRES_USER)
            self.as_user = ["setpriv", f"--reuid={POSTGRES_USER}", f"--regid={POSTGRES_USER}", "--clear-groups"]

    @property
    def url(self) -> str:
        return f"postgresql://{POSTGRES_USER}@127.0.0.1:{self.port}/postgres"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def _settings(self) -> dict[str, str]:
        return {**POSTGRES_OPTIONS, **self.options, "port": str(self.port)}

    def create(self) -> None:
        """Make the cluster; anybody on this machine may connect to it."""
        options = ["--auth=trust", f"--username={POSTGRES_USER}", "--no-sync", "--encoding=UTF8", "--locale=C"]
        argv = [*self.as_user, str(self.programs / "initdb"), "-D", str(self.data), *options]
        subprocess.run(argv, cwd=self.folder, check=True, capture_output=True, timeout=120)

    def start(self) -> None:
        settings = [f"-c{name}={value}" for name, value in self._settings.items()]
        argv = [*self.as_user, str(self.programs / "postgres"), "-D", str(self.data), *settings]
        self.child = self.processes.start("postgres", argv, cwd=self.folder)
        wait_until(self.answers, timeout=60, what="PostgreSQL to answer")

    def stop(self) -> None:
        """Gone at once: no connection is ended in good order and no transaction is finished."""
        if self.child is not None and self.child.is_running:
            self.child.stop(signal.SIGQUIT)
        wait_until(lambda: not is_listening(self.port), what="the port of PostgreSQL to be free")

    def restart_immediately(self) -> None:
        """As ``pg_ctl restart -m immediate``: what was not committed is lost, and it recovers from its log."""
        self.stop()
        self.start()

    def answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def postgres_programs() -> Path | None:
    """The folder of initdb and postgres: of the newest version installed, else from PATH."""
    versions = sorted(Path(POSTGRES_HOMES).glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = versions[-1] if versions else shutil.which("initdb")
    return Path(found).parent if found else None


@contextmanager
def own_redis(processes: Processes) -> Iterator[OwnRedis]:
    """A running Redis; skips by name where there is no redis-server."""
    program = shutil.which("redis-server") or ""
    require("redis-server", program, "install the package redis-server")
    redis = OwnRedis(processes, program)
    redis.start()
    try:
        yield redis
    finally:
        redis.stop()


@contextmanager
def own_postgres(processes: Processes, **options: str) -> Iterator[OwnPostgres]:
    """A running PostgreSQL with an empty database and ``options``; skips by name where it is not installed."""
    programs = postgres_programs()
    require("initdb", programs, "install the package postgresql")
    assert programs is not None
    postgres = OwnPostgres(processes, programs, options=options)
    try:
        postgres.create()
        postgres.start()
        yield postgres
    finally:
        postgres.remove()
