"""An MCP server that is down, dies after the effect, or answers more than fits: told honestly, done once."""

import re
from pathlib import Path

import pytest

from tests.acceptance.outages import ACTION, TIMES, awaiting, calls_of, check_done_once, confirm
from tests.acceptance.parts import real_parts
from tests.services import is_listening, wait_until
from tests.tooling.mcp_servers import hostile

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.redis, pytest.mark.timeout(300)]

ANSWER_BYTES = 50 * 1024 * 1024
MEMORY_BYTES = 200 * 1024 * 1024


@pytest.fixture(scope="module")
def stack(module_processes, tmp_path_factory, postgres_url, redis_url):
    folder = tmp_path_factory.mktemp("servers")
    with real_parts(module_processes, folder, database=postgres_url, redis=redis_url, **TIMES) as stack:
        stack.start_sweeper()
        yield stack


@pytest.fixture
def worker(stack):
    worker = stack.start_worker()
    yield worker
    assert worker.is_running
    worker.kill()


@pytest.fixture
def server(stack):
    """Ends and starts the MCP server of the orders; it is there again after the test."""

    class Server:
        def kill(self):
            for child in [one for one in stack.processes.children if one.name == "pedidos"]:
                child.kill()

        def start(self):
            stack.launch_server("pedidos")
            wait_until(lambda: is_listening(stack.ports["pedidos"]), timeout=40, what="the server to listen")

    yield Server()
    if not is_listening(stack.ports["pedidos"]):
        Server().start()


def test_a_server_that_is_down_is_tried_four_times_and_then_nothing_was_done(stack, worker, server):
    ana = awaiting(stack, "down")
    server.kill()

    (transaction_id,) = confirm([ana])
    finished = ana.wait_for("transaction.finished", timeout=60)

    data = finished["data"]
    assert (data["status"], data["reason_code"]) == ("FAILED", "not_sent")
    assert {item["status"] for item in data["items"]} == {"NOT_EXECUTED"}
    assert [one["status"] for one in stack.transaction(transaction_id)["attempts"]] == ["NOT_SENT"] * 4
    assert not ana.of("transaction.verifying")


def test_a_server_that_comes_back_between_two_tries_is_called_once(stack, worker, server):
    ana = awaiting(stack, "back")
    server.kill()
    (transaction_id,) = confirm([ana])

    def was_refused():
        return [one["status"] for one in stack.transaction(transaction_id)["attempts"]][:1] == ["NOT_SENT"]

    wait_until(was_refused, what="the first try")
    server.start()

    check_done_once(stack, [ana])
    assert len(calls_of(stack, transaction_id)) == 1


def test_a_server_killed_after_the_effect_and_before_its_answer_is_asked_and_not_called_again(stack, worker, server):
    ana = awaiting(stack, "after-the-effect")
    stack.fault("pedidos", tool=ACTION, behaviour="delay", seconds=60)
    (transaction_id,) = confirm([ana])
    wait_until(lambda: stack.effects("pedidos", transaction_id=transaction_id), what="the effect")

    server.kill()
    verifying = ana.wait_for("transaction.verifying", timeout=40)
    server.start()

    assert {item["status"] for item in verifying["data"]["items"]} == {"UNKNOWN"}
    check_done_once(stack, [ana], timeout=120)
    assert len(calls_of(stack, transaction_id)) == 1


def test_an_answer_of_fifty_megabytes_is_unknown_and_the_worker_goes_on(stack, worker, server):
    """DUR-110: the worker takes less than 200 MB for it."""
    ana, bia = awaiting(stack, "fifty"), awaiting(stack, "warm")
    confirm([bia])
    check_done_once(stack, [bia])
    server.kill()
    wait_until(lambda: not is_listening(stack.ports["pedidos"]), what="the port to be free")
    with hostile(lambda exchange: exchange.raw(b" " * ANSWER_BYTES), port=stack.ports["pedidos"]) as monster:
        before = memory(worker, "VmRSS")
        Path(f"/proc/{worker.process.pid}/clear_refs").write_text("5")  # the peak is measured from here

        (transaction_id,) = confirm([ana])
        told = ana.wait_for("transaction.verifying", timeout=60)
        peak = memory(worker, "VmHWM")
        posts = [post for post in monster.posts if post["params"]["name"] == ACTION]
    server.start()

    assert {item["status"] for item in told["data"]["items"]} == {"UNKNOWN"}
    assert stack.transaction(transaction_id)["attempts"][0]["status"] == "UNKNOWN"
    assert len(posts) == 1
    assert peak - before < MEMORY_BYTES
    carla = awaiting(stack, "after-the-monster")
    confirm([carla])
    check_done_once(stack, [carla])


def memory(child, name):
    """A line of the child's memory, in bytes."""
    status = Path(f"/proc/{child.process.pid}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) * 1024
