"""Processes that the demo starts beside itself: they log into files, and none of them outlives it."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

READY_SECONDS = 40
SERVER_SECONDS = 10
"""Longer than the server's own bounded shutdown."""
OTHERS_SECONDS = 2
POLL_SECONDS = 0.1


class ChildFailed(Exception):
    """A child ended or did not listen in time; the message says where its log is."""


@dataclass(slots=True)
class Children:
    """Starts Python children with their standard input held open: they end when it closes, even by ``kill -9``."""

    logs: Path
    folder: Path
    """Where they run: the root of the project."""
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, arguments: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        """Start ``python *arguments`` as ``name``, with ``env`` on top of our own environment."""
        self.logs.mkdir(parents=True, exist_ok=True)
        with (self.logs / f"{name}.log").open("wb") as log:
            self.running[name] = subprocess.Popen(  # noqa: S603 - our own modules, no shell
                [sys.executable, *arguments],
                cwd=self.folder,
                env=os.environ | dict(env or {}),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C in the terminal reaches only us: children end after the server's last call.
                start_new_session=True,
            )

    def wait_until_listening(self, name: str, port: int) -> None:
        """Return once ``name`` listens on ``port``; raises ChildFailed."""
        deadline = time.monotonic() + READY_SECONDS
        while not is_taken(port):
            if self.running[name].poll() is not None or time.monotonic() > deadline:
                raise ChildFailed(f"{name} did not start; read {self.logs / name}.log")
            time.sleep(POLL_SECONDS)  # another process gives no event to wait for

    def wait_for(self, name: str) -> int:
        """Wait until ``name`` ends; its exit status."""
        return self.running[name].wait()

    def end(self, first: str) -> None:
        """End ``first`` within its time, then all others; whoever does not listen is killed."""
        server = self.running.pop(first, None)
        if server is not None:
            _terminate([server], SERVER_SECONDS)
        _terminate(list(self.running.values()), OTHERS_SECONDS)
        self.running.clear()


def _terminate(processes: Sequence[subprocess.Popen[bytes]], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def is_taken(port: int) -> bool:
    """Whether somebody accepts connections on the loopback ``port``."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def port_near(wanted: int, host: str = "127.0.0.1") -> int:
    """``wanted`` if it can be listened on, else any free port."""
    for port in (wanted, 0):
        with contextlib.suppress(OSError), socket.create_server((host, port)) as probe:
            return int(probe.getsockname()[1])
    raise OSError(f"no free port on {host}")


def kept_secret(path: Path) -> str:
    """The secret in ``path``, made at the first call and readable by its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with contextlib.suppress(FileExistsError), os.fdopen(os.open(path, flags, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(32))
    return path.read_text("utf-8")
