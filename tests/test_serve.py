"""``manage.py serve`` and ``run_due`` as processes: they start, say where and end (contracts.md §1)."""

import asyncio
import signal
import socket
import threading

import pytest

from agentplatform import server
from tests.processes import responds
from tests.services import free_port, wait_until

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module")
def env(module_processes, tmp_path_factory):
    """The settings of a migrated, empty installation; each test starts its own processes on it."""
    folder = tmp_path_factory.mktemp("serve")
    settings = {
        "DATA_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3",
        "RATE_LIMITS": "off",
        "SWEEP_SECONDS": "0.2",
    }
    module_processes.run("migrate", "-v0", env=settings)
    return settings


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_embedded_server_becomes_ready_and_ends_with_status_0(processes, env, number):
    port = free_port()
    server = processes.manage("serve", "--embedded", "--port", str(port), env=env)
    server.wait_for_url(f"http://127.0.0.1:{port}/readyz")

    status = server.stop(number)

    assert status == 0, server.text()
    assert f"Serving on http://127.0.0.1:{port}" in server.text()
    assert "Traceback" not in server.text()


def test_a_signal_that_came_before_the_server_ran_ends_it():
    stop = threading.Event()
    stop.set()

    async def serve() -> None:
        await asyncio.wait_for(server.Server(server.config(), stop).serve([server.bound("127.0.0.1", 0)]), 20)

    asyncio.run(serve())


def test_a_server_without_worker_and_redis_says_what_will_not_run(processes, env):
    port = free_port()

    server = processes.manage("serve", "--port", str(port), env=env)
    server.wait_for_url(f"http://127.0.0.1:{port}/healthz")

    assert "run_due --loop" in server.text()


def test_a_taken_port_is_named(processes, env):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = processes.manage("serve", "--port", str(port), env=env)
        status = server.process.wait(30)

    assert status == 1
    assert f"127.0.0.1:{port}" in server.text() and "Traceback" not in server.text()


def test_a_server_ends_when_the_process_that_holds_its_input_is_gone(processes, env):
    port = free_port()
    server = processes.manage("serve", "--embedded", "--watch-stdin", "--port", str(port), env=env)
    server.wait_for_url(f"http://127.0.0.1:{port}/readyz")

    server.process.stdin.close()

    assert server.process.wait(15) == 0


def test_production_refuses_to_start_without_a_language_model(processes, env):
    production = {"ENVIRONMENT": "production", "SECRET_KEY": "x1" * 30, "ALLOWED_HOSTS": "127.0.0.1"}

    server = processes.manage("serve", "--port", str(free_port()), env=env | production)
    status = server.process.wait(30)

    assert status == 1
    assert "agentplatform.E001" in server.text()


def test_the_sweeper_runs_once_and_says_how_much(processes, env):
    assert processes.run("run_due", env=env).strip() == "0 due"


def test_the_sweeper_loops_until_it_is_told_to_stop_and_shows_that_it_lives(processes, env, tmp_path):
    # A database of its own: in the shared one other tests' workers gave signs of life.
    env = env | {"DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3"}
    processes.run("migrate", "-v0", env=env)
    port = free_port()
    sweeper = processes.manage("run_due", "--loop", env=env)
    server = processes.manage("serve", "--port", str(port), env=env)
    server.wait_for_url(f"http://127.0.0.1:{port}/readyz")

    beat = wait_until(lambda: '"worker": {"ok": true' in read(f"http://127.0.0.1:{port}/readyz"))
    status = sweeper.stop()

    assert beat
    assert status == 0, sweeper.text()


def read(url):
    import urllib.request

    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


def test_a_stopped_server_no_longer_answers(processes, env):
    port = free_port()
    server = processes.manage("serve", "--embedded", "--port", str(port), env=env)
    server.wait_for_url(f"http://127.0.0.1:{port}/healthz")

    server.stop()

    assert not responds(f"http://127.0.0.1:{port}/healthz")


def test_a_database_without_its_tables_is_named_before_anything_is_served(processes, tmp_path):
    bare = {"DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/bare.sqlite3"}

    server = processes.manage("serve", "--port", str(free_port()), env=bare)
    status = server.process.wait(60)

    assert status == 1
    assert "manage.py migrate" in server.text() and "Traceback" not in server.text()


def test_a_wrong_setting_is_one_line_that_says_what_to_do(processes, tmp_path):
    wrong = {"DATA_DIR": str(tmp_path), "ENVIRONMENT": "production", "SECRET_KEY": ""}

    server = processes.manage("serve", env=wrong)
    status = server.process.wait(60)

    assert status == 1
    assert server.text().strip().splitlines()[-1].startswith("Wrong setting: SECRET_KEY")
    assert "Traceback" not in server.text()


def test_without_a_model_endpoint_the_offline_model_answers(processes, env):
    port = free_port()

    server = processes.manage("serve", "--embedded", "--port", str(port), env=env)
    server.wait_for_url(f"http://127.0.0.1:{port}/readyz")

    assert "The offline demo model answers" in server.text()
