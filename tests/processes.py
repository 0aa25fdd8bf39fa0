"""Children that a test starts: each with a log that a failed test shows, and none left behind."""

import contextlib
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.services import wait_until

ROOT = Path(__file__).resolve().parent.parent
STOP_SECONDS = 10
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "SSL_CERT_FILE")


@dataclass(slots=True)
class Child:
    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def text(self) -> str:
        return self.log.read_text("utf-8", errors="replace")

    def kill(self) -> None:
        """SIGKILL to the child alone, as a crash would end it."""
        self.process.kill()
        self.process.wait(STOP_SECONDS)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end and return its exit status; a child that does not listen fails the test."""
        if self.is_running:
            self.process.send_signal(number)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pytest.fail(f"{self.name} did not end within {STOP_SECONDS} s of {number.name}:\n{self.text()[-2000:]}")

    def wait_for_url(self, url: str, *, timeout: float = 40) -> None:
        """Wait until ``url`` answers 2xx; fails at once when the child has ended."""

        def answers() -> bool:
            if not self.is_running:
                pytest.fail(f"{self.name} ended with {self.process.returncode}:\n{self.text()[-3000:]}", pytrace=False)
            return responds(url)

        wait_until(answers, timeout=timeout, what=f"{self.name} to answer at {url}")


class Processes:
    """Starts children in sessions of their own and ends every one of them with ``close``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.children: list[Child] = []
        self.started = 0

    def start(self, name: str, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path = ROOT) -> Child:
        """Start ``argv`` with only ``env`` beside a minimal environment; its output goes into one log."""
        log = self.folder / f"{self.started:02}-{name}.log"
        self.started += 1
        inherited = {key: os.environ[key] for key in KEPT if key in os.environ}
        with log.open("wb") as output:
            process = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env=inherited | {"PYTHONUNBUFFERED": "1"} | dict(env or {}),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        child = Child(name, process, log)
        self.children.append(child)
        return child

    def python(self, name: str, *arguments: str, env: Mapping[str, str] | None = None) -> Child:
        """Start this Python with ``arguments``, for example ``("-m", "tooling.demo.contas")``."""
        return self.start(name, [sys.executable, *arguments], env=env)

    def manage(self, *arguments: str, env: Mapping[str, str] | None = None) -> Child:
        """Start ``manage.py`` with ``arguments`` and go on."""
        return self.python(arguments[0], "manage.py", *arguments, env=env)

    def run(self, *arguments: str, env: Mapping[str, str] | None = None, timeout: float = 90) -> str:
        """Run ``manage.py`` with ``arguments`` to its end and return what it printed; it must not fail."""
        child = self.manage(*arguments, env=env)
        status = child.process.wait(timeout)
        if status:
            pytest.fail(f"manage.py {' '.join(arguments)} ended with {status}:\n{child.text()[-3000:]}", pytrace=False)
        return child.text()

    def close(self) -> None:
        """End every child and whatever it started: what a test leaves running would disturb the next one."""
        for child in [*self.children]:
            self.retire(child)

    def retire(self, child: Child) -> None:
        """SIGKILL to the child and to whatever it started, for good: its number may be another process's later."""
        if child.process.stdin:
            with contextlib.suppress(OSError):
                child.process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.process.pid, signal.SIGKILL)
        child.process.wait(STOP_SECONDS)
        self.children.remove(child)

    def logs(self, characters: int = 3000) -> list[tuple[str, str]]:
        found = [(f"log of {child.log.name}", child.text()[-characters:]) for child in self.children]
        return [(title, text) for title, text in found if text.strip()]


def responds(url: str) -> bool:
    """Whether ``url`` answers with a 2xx status now."""
    try:
        with urllib.request.urlopen(url, timeout=3) as response:
            return 200 <= response.status < 300
    except (OSError, urllib.error.URLError):
        return False
