"""Workers that are stopped or killed while they are at work, and sweepers that are two: nothing is lost or doubled."""

import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.acceptance.client import close_all
from tests.acceptance.outages import (
    ACTION,
    ITEMS,
    TIMES,
    all_awaiting,
    awaiting,
    calls_of,
    check_done_once,
    confirm,
)
from tests.acceptance.parts import real_parts
from tests.services import wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.redis, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def stack(module_processes, tmp_path_factory, postgres_url, redis_url):
    """Everything but workers and sweeper; each test starts those that it wants."""
    folder = tmp_path_factory.mktemp("workers")
    with real_parts(module_processes, folder, database=postgres_url, redis=redis_url, **TIMES) as stack:
        yield stack


@pytest.fixture(autouse=True)
def nobody_is_left(stack):
    yield
    stack.clear_faults("pedidos")
    for worker in stack.workers:
        worker.kill()
    stack.workers.clear()


def test_a_worker_that_is_asked_to_stop_during_a_call_ends_it_first(stack):
    """DUR-095: and a wake-up that the next worker gets for it does nothing."""
    import psycopg
    from celery import Celery

    worker = stack.start_worker()
    ana = awaiting(stack, "soft")
    stack.fault("pedidos", tool=ACTION, behaviour="delay", seconds=3)
    (transaction_id,) = confirm([ana])
    wait_until(lambda: calls_of(stack, transaction_id), what="the call")

    worker.process.send_signal(signal.SIGTERM)
    wait_until(lambda: not worker.is_running, timeout=60, what="the worker to end on its own")
    assert worker.process.returncode == 0
    check_done_once(stack, [ana])

    stack.start_worker()
    with psycopg.connect(stack.database) as connection:
        query = "SELECT id FROM transactions_attempt WHERE transaction_id = %s"
        ((attempt_id,),) = connection.execute(query, [transaction_id]).fetchall()
    Celery(broker=stack.redis).send_task("transactions.execute", args=[str(attempt_id)], ignore_result=True)
    bia = awaiting(stack, "soft-after")
    confirm([bia])
    check_done_once(stack, [ana, bia])
    assert len(calls_of(stack, transaction_id)) == 1


def test_all_workers_killed_right_after_a_confirmation_are_not_missed(stack):
    """DUR-098: nobody starts another worker; a sweeper is there."""
    workers = [stack.start_worker() for _ in range(2)]
    ana = awaiting(stack, "all-killed")
    sweeper = stack.start_sweeper()
    wait_until(lambda: "Running due work" in sweeper.text(), what="the sweeper")
    for worker in workers:
        worker.process.send_signal(signal.SIGSTOP)  # nothing of it happens between the yes and the kill

    confirm([ana])
    for worker in workers:
        worker.kill()

    check_done_once(stack, [ana])
    sweeper.kill()


def test_a_container_that_is_stopped_with_one_second_of_grace_loses_none_of_twenty_executions(stack):
    """DUR-101: what was in flight is unknown at first, is asked about, and was done once."""
    worker = stack.start_worker()
    chats = all_awaiting(stack, "grace", 20)
    stack.fault("pedidos", tool=ACTION, behaviour="delay", seconds=30)
    transactions = confirm(chats)
    wait_until(lambda: any(calls_of(stack, one) for one in transactions), what="a call")

    worker.process.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        worker.process.wait(1)
    worker.kill()
    stack.clear_faults("pedidos")
    stack.start_worker()
    sweeper = stack.start_sweeper()

    check_done_once(stack, chats, timeout=120)
    sweeper.kill()
    assert all(len(calls_of(stack, one)) == 1 for one in transactions)
    close_all(chats)


def test_two_sweepers_and_no_worker_do_everything_once_and_tell_it_once(stack):
    """DUR-086, DUR-105"""
    sweepers = [stack.start_sweeper() for _ in range(2)]
    chats = all_awaiting(stack, "swept", 12)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda half: confirm(half), [chats[:6], chats[6:]]))

    check_done_once(stack, chats)
    for chat in chats:
        assert len(chat.of("execution.started")) == 1
        assert len(chat.of("confirmation.requested")) == 1
    for sweeper in sweepers:
        sweeper.kill()
    assert len(stack.effects("pedidos", customer="swept-0")) == ITEMS
    close_all(chats)
