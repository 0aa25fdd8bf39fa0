"""Redis killed, frozen, wiped and cut off: nothing waits for it, nothing is lost and nothing is done twice."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.acceptance.client import close_all
from tests.acceptance.outages import (
    ACTION,
    TIMES,
    all_awaiting,
    awaiting,
    calls_of,
    check_done_once,
    confirm,
    press_yes,
    small_worker,
)
from tests.acceptance.parts import real_parts
from tests.own_services import own_redis
from tests.services import wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.redis, pytest.mark.timeout(300)]

OUTLASTS_EVERY_TIMEOUT = 9.0
"""Seconds that the tool takes while Redis is frozen: longer than any socket timeout of publishers and workers."""


@pytest.fixture(scope="module")
def redis(module_processes):
    with own_redis(module_processes) as redis:
        yield redis


@pytest.fixture(scope="module")
def stack(module_processes, tmp_path_factory, postgres_url, redis):
    """Everything but workers and sweeper; each test starts those that it wants."""
    folder = tmp_path_factory.mktemp("redis")
    with real_parts(module_processes, folder, database=postgres_url, redis=redis.url, **TIMES) as stack:
        yield stack


@pytest.fixture
def sweeper(stack):
    sweeper = stack.start_sweeper()
    yield sweeper
    sweeper.kill()


@pytest.fixture(autouse=True)
def everything_is_up_again(stack, redis):
    yield
    redis.thaw()
    if not redis.child.is_running:
        redis.start()
    stack.clear_faults("pedidos")
    for worker in stack.workers:
        worker.kill()
    stack.workers.clear()


def test_a_yes_is_acknowledged_told_and_executed_while_redis_is_frozen(stack, redis, sweeper):
    """DUR-104, DUR-050: everything that is asserted happened before Redis answered again."""
    ana = awaiting(stack, "frozen")
    others = [stack.chat(customer=f"frozen-{n}") for n in range(3)]
    stack.fault("pedidos", tool=ACTION, behaviour="delay", seconds=OUTLASTS_EVERY_TIMEOUT)
    redis.freeze()

    yes = ana.say("sim")
    assert ana.wait_for_ack(yes)["type"] == "ack"
    for other in others:
        for text in ("oi", "quero cancelar pedidos"):
            assert other.wait_for_ack(other.say(text))["type"] == "ack"
        other.wait_for("parameters.requested")
    ana.read_until(lambda: ana.catch_up() or ana.of("execution.started"), what="the yes to be told")
    late = ana.another_socket()
    late.read_until(lambda: late.last_seq >= ana.last_seq, what="the replay")
    check_done_once(stack, [ana])
    assert redis.command("PING") == b""

    assert ana.of("confirmation.answered")[0]["data"]["decision"] == "confirm"
    close_all([ana, late, *others])


def test_the_worker_that_was_there_when_redis_froze_goes_on_afterwards(stack, redis, sweeper):
    """DUR-104"""
    worker = stack.start_worker()
    ana = awaiting(stack, "thawed")
    redis.freeze()
    confirm([ana])
    check_done_once(stack, [ana])

    redis.thaw()
    sweeper.kill()
    wait_until(lambda: redis.command("LLEN celery") == b":0", timeout=40, what="the worker to read again")
    bia = awaiting(stack, "after-the-thaw")
    confirm([bia])

    check_done_once(stack, [bia])
    assert worker.is_running


def test_a_socket_that_connects_while_redis_is_down_gets_the_replay_and_what_happens_later(stack, redis, sweeper):
    ana = awaiting(stack, "connects")
    redis.kill()

    tab = ana.another_socket()
    tab.read_until(lambda: tab.last_seq >= ana.last_seq, what="the replay")
    assert tab.events == ana.events
    said = tab.say("sim")
    assert tab.wait_for_ack(said)["type"] == "ack"
    check_done_once(stack, [tab])

    redis.start()
    conversation_id = ana.session["conversation_id"]
    subscribed = f"PUBSUB CHANNELS *{conversation_id}*"
    wait_until(lambda: redis.command(subscribed) == b"*1", timeout=40, what="the sockets to follow again")
    ana.say("quero cancelar pedidos")
    for chat in (ana, tab):
        chat.wait_for("parameters.requested")


def test_a_worker_goes_on_without_a_restart_when_redis_comes_back(stack, redis):
    """DUR-103: nobody sweeps, so it is the worker that was there before."""
    worker = stack.start_worker()
    ana = awaiting(stack, "before-the-outage")
    connected = worker.text().count("Connected to")
    redis.kill()
    wait_until(lambda: "Connection to broker lost" in worker.text(), what="the worker to notice")

    redis.start()
    wait_until(lambda: worker.text().count("Connected to") > connected, timeout=60, what="the worker to come back")
    confirm([ana])

    check_done_once(stack, [ana])
    assert worker.is_running


def test_a_broker_that_is_wiped_loses_nothing_that_was_confirmed(stack, redis):
    """DUR-099, DUR-051: a hundred confirmed transactions wait, and the broker forgets every wake-up."""
    stack.start_worker()
    chats = all_awaiting(stack, "wiped", 100)
    stack.stop_workers()
    transactions = confirm(chats)
    redis.flush()

    stack.start_worker()
    sweeper = stack.start_sweeper()
    check_done_once(stack, chats, timeout=120)
    sweeper.kill()

    assert len(set(transactions)) == 100
    close_all(chats)


def test_messages_that_a_worker_took_and_nobody_acknowledged_may_be_deleted(stack, redis):
    """DUR-100: the worker has taken them, the broker forgets them, and then the worker is killed."""
    stack.start_worker()
    chats = all_awaiting(stack, "unacked", 5)
    stack.stop_workers()
    stack.fault("pedidos", tool=ACTION, behaviour="delay", seconds=30)
    confirm(chats)
    worker = small_worker(stack, 1)
    wait_until(lambda: redis.command("HLEN unacked") not in (b"", b":0"), what="messages nobody acknowledged")

    assert redis.command("DEL unacked unacked_index") == b":2"
    worker.kill()
    stack.clear_faults("pedidos")
    sweeper = stack.start_sweeper()

    check_done_once(stack, chats)
    sweeper.kill()


def test_connections_that_are_cut_all_the_time_lose_nothing(stack, redis, sweeper):
    """DUR-102"""
    stack.start_worker()
    chats = all_awaiting(stack, "cut", 20)
    cuts = []

    def all_finished():
        redis.cut_connections()
        cuts.append(len(cuts))
        return all(stack.transaction(transaction)["finished_at"] for transaction in started)

    with ThreadPoolExecutor(1) as pool:
        cutting = pool.submit(lambda: [redis.cut_connections() for _ in range(200)])
        started = confirm(chats)
        cutting.result()
    wait_until(all_finished, timeout=60, what="all to be executed")

    check_done_once(stack, chats)
    assert cuts


def test_a_wake_up_that_is_delivered_fifty_times_is_one_call(stack, redis):
    """DUR-052, DUR-090, DUR-113"""
    import psycopg
    from celery import Celery

    stack.start_worker()
    ana = awaiting(stack, "fifty")
    stack.stop_workers()
    (transaction_id,) = confirm([ana])
    with psycopg.connect(stack.database) as connection:
        query = "SELECT id FROM transactions_attempt WHERE transaction_id = %s"
        ((attempt_id,),) = connection.execute(query, [transaction_id]).fetchall()
    publisher = Celery(broker=redis.url)
    for _ in range(49):
        publisher.send_task("transactions.execute", args=[str(attempt_id)], ignore_result=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: small_worker(stack, 2), range(2)))
    check_done_once(stack, [ana])
    wait_until(lambda: redis.command("LLEN celery") == b":0", what="every wake-up to be read")

    assert len(calls_of(stack, transaction_id)) == 1
    assert [attempt["status"] for attempt in stack.transaction(transaction_id)["attempts"]] == ["ANSWERED"]


def test_a_press_while_redis_is_killed_stands_and_a_second_one_is_not_needed(stack, redis, sweeper):
    """DUR-050"""
    ana = awaiting(stack, "killed")
    redis.kill()

    assert ana.wait_for_ack(press_yes(ana))["type"] == "ack"

    check_done_once(stack, [ana])
