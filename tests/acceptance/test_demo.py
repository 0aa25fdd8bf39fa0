"""``make demo``: what a newcomer sees, and what is left when it ends (contracts.md §1, §7)."""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.acceptance.client import Chat, user_token
from tests.acceptance.dialogues import DIALOGUES
from tests.acceptance.playing import play
from tests.processes import ROOT, responds
from tests.services import free_port, wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]


@pytest.fixture
def demo(processes, tmp_path):
    """Starts the demo on a free port, with its data in a directory of the test."""

    def start(port):
        child = processes.manage("demo", env={"DATA_DIR": str(tmp_path / "var"), "PORT": str(port)})
        child.wait_for_url(f"http://127.0.0.1:{port}/readyz", timeout=90)
        wait_until(lambda: "Ctrl-C" in child.text(), what="the box")
        return child

    return start


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    """Whether ``pid`` runs; a zombie that nobody reaps does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_first_start_tells_where_everything_is_and_a_customer_can_use_it(demo, tmp_path):
    port = free_port()
    began = time.monotonic()

    shown = demo(port).text()
    took = time.monotonic() - began

    secret = (tmp_path / "var" / "demo_jwt_secret").read_text()
    token = user_token(secret, customer_key="C-77", contract_key="CT-77")
    chat = Chat(f"http://127.0.0.1:{port}", token=token)
    play(chat, DIALOGUES[0])
    assert f"http://127.0.0.1:{port}/demo" in shown and f"http://127.0.0.1:{port}/console/" in shown
    assert re.search(r"Password +\S{12,} +\(shown only now\)", shown)
    assert responds(f"http://127.0.0.1:{port}/demo")
    assert took < 90


def test_a_second_start_keeps_the_data_and_does_not_show_the_password_again(demo, tmp_path):
    port = free_port()
    demo(port).stop(signal.SIGTERM)

    second = demo(port)

    assert "changepassword demo" in second.text() and "shown only now" not in second.text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ending_the_demo_ends_everything_it_started(demo, number):
    child = demo(free_port())
    started = children_of(child.process.pid)

    status = child.stop(number)

    assert status == 0, child.text()
    assert len(started) == 4
    assert not [pid for pid in started if is_alive(pid)]


def test_killing_the_demo_ends_everything_it_started(demo):
    child = demo(free_port())
    started = children_of(child.process.pid)

    child.kill()

    wait_until(lambda: not [pid for pid in started if is_alive(pid)], what="the children to end")


def test_a_taken_port_is_replaced_and_told(processes, tmp_path):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        child = processes.manage("demo", env={"DATA_DIR": str(tmp_path / "var"), "PORT": str(port)})
        wait_until(lambda: "Ctrl-C" in child.text() or not child.is_running, timeout=90, what="the box")

    assert f"port {port} is taken" in child.text()


def test_secrets_are_readable_by_their_owner_alone_and_ignored_by_git(demo, tmp_path):
    demo(free_port())

    kept = [path for path in (tmp_path / "var").iterdir() if "token" in path.name or "secret" in path.name]
    assert len(kept) >= 3
    assert not [path.name for path in kept if path.stat().st_mode & 0o077]
    assert "/var/" in (ROOT / ".gitignore").read_text().split()
    assert os.environ.get("DEMO_JWT_SECRET") is None
