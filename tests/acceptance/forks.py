"""Processes of the product that begin in milliseconds: forked from one that has imported everything already.

Each is a process of its own, with its own memory, connections and log, and runs ``manage.py`` or a module as in
production; only the seconds of imports are shared. ``python -m tests.acceptance.forks`` is the process that forks.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import select
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import NoReturn, get_args

import pytest

from tests.processes import Child, Processes
from tests.services import wait_until

END_SECONDS = 10
LOADED = (
    "celery.bin.worker",
    "celery.concurrency.thread",
    "django.core.management",
    "agentplatform.server",
    "agentplatform.urls",
    "kombu.transport.redis",
    "openai",
    "tooling.demo.desk",
    "tooling.demo.serving",
    "tooling.mcp_client",
    "transactions.consumers",
    "transactions.execution",
    "transactions.sweeper",
    "transactions.turns",
    "uvicorn.protocols.websockets.websockets_impl",
)


@dataclass(slots=True)
class Fork:
    """One process that was forked; it is ended by the test or with the process that forked it.

    It is known by a descriptor: its number may be another process's when it has ended.
    """

    name: str
    pid: int
    log: Path
    descriptor: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.descriptor = os.pidfd_open(self.pid)

    @property
    def is_running(self) -> bool:
        if self.descriptor is None:
            return False
        end = select.poll()
        end.register(self.descriptor, select.POLLIN)
        if end.poll(0):
            os.close(self.descriptor)
            self.descriptor = None
        return self.descriptor is not None

    def text(self) -> str:
        return self.log.read_text("utf-8", errors="replace")

    def send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self.descriptor is not None:
                signal.pidfd_send_signal(self.descriptor, number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send ``number`` and wait for the end; what does not listen fails the test."""
        self.send(number)
        wait_until(lambda: not self.is_running, timeout=END_SECONDS, what=f"the end of {self.name}")

    def release(self) -> None:
        """Let what hangs in it go on, to the end of what it was doing."""
        self.send(signal.SIGUSR1)
        wait_until(lambda: "released" in self.text(), timeout=40, what=f"{self.name} to go on")


@dataclass(slots=True)
class Forks:
    """Starts commands as forks with the environment ``env`` and what is added to it."""

    processes: Processes
    folder: Path
    env: Mapping[str, str]
    host: Child = field(init=False)
    started: int = 0

    def __post_init__(self) -> None:
        self.host = self.processes.python("forks", "-m", "tests.acceptance.forks", env=self.env)

    def start(self, *command: str, **more: str) -> Fork:
        """Start ``manage.py`` with ``command``, or the module after "-m", and go on; ``more``: its environment, too."""
        self.started += 1
        name = command[1].rpartition(".")[2] if command[0] == "-m" else command[0]
        log = self.folder / f"fork-{self.started:03}-{name}.log"
        log.touch()
        order = {"command": command, "env": more, "log": str(log)}
        assert self.host.process.stdin is not None
        self.host.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.host.process.stdin.flush()
        note = log.with_suffix(".pid")
        wait_until(lambda: note.exists() or self._has_ended(), timeout=60, what=f"{name} to be forked")
        return Fork(name, int(note.read_text()), log)

    def _has_ended(self) -> bool:
        if not self.host.is_running:
            pytest.fail(f"the process that forks has ended:\n{self.host.text()[-3000:]}", pytrace=False)
        return False

    def run(self, *command: str, **more: str) -> str:
        """Run ``manage.py`` with ``command`` to its end and return what it printed; it must not fail."""
        fork = self.start(*command, **more)
        wait_until(lambda: not fork.is_running, timeout=90, what=f"the end of manage.py {command[0]}")
        if not fork.log.with_suffix(".ok").exists():
            pytest.fail(f"manage.py {' '.join(command)} failed:\n{fork.text()[-3000:]}", pytrace=False)
        return fork.text()


# The process that forks ------------------------------------------------------------------------------------


def main() -> None:
    """Load everything, then fork for every line of standard input until it closes."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentplatform.settings")
    import_module("django").setup()
    for name in LOADED:
        import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps them: a pid that is gone is an end
    while line := sys.stdin.buffer.readline():
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            become(order["command"], order["env"], Path(order["log"]))
        note = Path(order["log"]).with_suffix(".pid")
        note.with_suffix(".new").write_text(str(pid))
        note.with_suffix(".new").rename(note)


def become(command: list[str], env: dict[str, str], log: Path) -> NoReturn:
    """Be ``manage.py`` with ``command``, or a module: its own output, environment and end."""
    from django.core.management import execute_from_command_line

    from transactions import outbox

    with log.open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(env)
    signal.signal(signal.SIGUSR1, go_on)
    status = 1
    try:
        if command[0] == "-m":
            sys.argv = command[1:]
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        else:
            execute_from_command_line(["manage.py", *command])
        outbox.shutdown()
        for thread in threading.enumerate():
            if thread is not threading.main_thread() and not thread.daemon:
                thread.join()  # the work that it had begun
        log.with_suffix(".ok").touch()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)  # without the seconds in which connections to tools are closed in good order


def go_on(_number: int, _frame: object) -> None:
    threading.Thread(target=finish, name="finish").start()  # a handler must not wait for what it interrupted


def finish() -> None:
    """Let everything that hangs go on, and say so when the work that was begun is done."""
    from transactions import failpoints, outbox

    failpoints.release()
    outbox.shutdown()
    for thread in threading.enumerate():
        if thread.name.partition("_")[0] in get_args(outbox.Pool):
            thread.join()
    print("released", flush=True)


if __name__ == "__main__":
    main()
