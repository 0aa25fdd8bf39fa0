"""PostgreSQL stopped and restarted at bad moments: only what was stored is acknowledged, no tool is called again."""

import uuid

import pytest
from websockets.exceptions import ConnectionClosed

from tests.acceptance.client import close_all
from tests.acceptance.outages import (
    ACTION,
    REQUEST,
    TIMES,
    all_awaiting,
    awaiting,
    calls_of,
    check_done_once,
    confirm,
)
from tests.acceptance.parts import real_parts
from tests.own_services import own_postgres
from tests.services import wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.redis, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def postgres(module_processes):
    with own_postgres(module_processes) as postgres:
        yield postgres


@pytest.fixture(scope="module")
def stack(module_processes, tmp_path_factory, postgres, redis_url):
    """Everything but workers and sweeper; the web process lives through every test."""
    folder = tmp_path_factory.mktemp("postgres")
    with real_parts(module_processes, folder, database=postgres.url, redis=redis_url, **TIMES) as stack:
        yield stack


@pytest.fixture
def worker(stack):
    worker = stack.start_worker()
    yield worker
    assert worker.is_running
    worker.kill()


@pytest.fixture
def sweeper(stack):
    sweeper = stack.start_sweeper()
    yield sweeper
    assert sweeper.is_running
    sweeper.kill()


@pytest.fixture(autouse=True)
def everything_is_up_again(stack, postgres):
    yield
    if not postgres.child.is_running:
        postgres.start()
    stack.clear_faults("pedidos")


def insist(chat, send):
    """Send the same frame until it is acknowledged, as a client does."""
    while True:
        try:
            message_id = send()
            answer = chat.wait_for_ack(message_id)
        except ConnectionClosed:
            wait_until(lambda: comes_back(chat), what="the socket to be accepted again")
            continue
        chat.frames.remove(answer)
        if answer["type"] == "ack":
            return
        assert answer["code"] == "unavailable", answer


def comes_back(chat):
    try:
        chat.reconnect()
        chat.catch_up()
    except ConnectionClosed:
        return False
    return True


def test_a_message_is_not_acknowledged_while_the_database_is_away_and_is_stored_once_afterwards(
    stack, postgres, sweeper
):
    ana = stack.chat(customer="away")
    ana.wait_for_ack(ana.say("oi"))
    message_id = str(uuid.uuid4())
    postgres.stop()

    ana.say("quero cancelar pedidos", message_id=message_id)
    refusal = ana.wait_for_ack(message_id)
    assert (refusal["type"], refusal["code"]) == ("error", "unavailable")

    postgres.start()
    insist(ana, lambda: ana.say("quero cancelar pedidos", message_id=message_id))
    insist(ana, lambda: ana.say("quero cancelar pedidos", message_id=message_id))
    ana.wait_for("parameters.requested")
    ana.catch_up()
    said = [event for event in ana.of("user.message") if event["data"]["client_message_id"] == message_id]
    assert len(said) == 1


def test_restarts_between_the_turns_are_noticed_by_nobody(stack, postgres, worker, sweeper):
    """DUR-079: the same web process, worker and sweeper before and after."""
    ana = stack.chat(customer="between")
    steps = ["quero cancelar pedidos", "PED-1001 e PED-1002", "sim"]
    awaited = ["parameters.requested", "confirmation.requested", "transaction.finished"]

    for text, kind in zip(steps, awaited, strict=True):
        postgres.restart_immediately()
        message_id = str(uuid.uuid4())
        insist(ana, lambda text=text, message_id=message_id: ana.say(text, message_id=message_id))
        ana.wait_for(kind, timeout=40)

    check_done_once(stack, [ana])


def test_a_restart_during_a_call_does_not_make_it_again(stack, postgres, worker, sweeper):
    """DUR-079"""
    ana = awaiting(stack, "during")
    stack.fault("pedidos", tool=ACTION, behaviour="delay", seconds=4)
    (transaction_id,) = confirm([ana])
    wait_until(lambda: calls_of(stack, transaction_id), what="the call")

    postgres.restart_immediately()

    check_done_once(stack, [ana])
    assert len(calls_of(stack, transaction_id)) == 1
    assert [attempt["status"] for attempt in stack.transaction(transaction_id)["attempts"]] == ["ANSWERED"]


def test_an_answer_that_comes_while_the_database_is_away_is_written_when_it_is_back(stack, postgres, worker):
    """DUR-080: nobody sweeps, so it is the worker that kept the answer."""
    ana = awaiting(stack, "kept")
    stack.fault("pedidos", tool=ACTION, behaviour="delay", seconds=4)
    (transaction_id,) = confirm([ana])
    wait_until(lambda: calls_of(stack, transaction_id), what="the call")
    postgres.stop()
    wait_until(lambda: "could not be written and is kept" in worker.text(), what="the answer to come")

    postgres.start()

    check_done_once(stack, [ana])
    (attempt,) = stack.transaction(transaction_id)["attempts"]
    assert attempt["status"] == "ANSWERED"
    assert attempt["raw_answer"]
    assert len(calls_of(stack, transaction_id)) == 1


def test_an_answer_that_was_kept_beats_the_unknown_that_was_told_meanwhile(stack, postgres, worker):
    """DUR-080: the lease runs out while the database is away, and a sweeper is there first."""
    ana = awaiting(stack, "beats")
    stack.fault("pedidos", tool=ACTION, behaviour="delay", seconds=10)
    (transaction_id,) = confirm([ana])
    wait_until(lambda: calls_of(stack, transaction_id), what="the call")
    postgres.stop()
    wait_until(lambda: "could not be written and is kept" in worker.text(), what="the answer to come")

    postgres.start()
    sweeper = stack.start_sweeper()
    check_done_once(stack, [ana])
    sweeper.kill()

    assert len(calls_of(stack, transaction_id)) == 1


def test_restarts_in_the_middle_of_many_confirmations_lose_none_and_double_none(stack, postgres, worker, sweeper):
    """DUR-079: an outcome may be unknown for a while; it is never made again and never called failed."""
    chats = all_awaiting(stack, "many", 8)
    for number, chat in enumerate(chats):
        message_id = str(uuid.uuid4())
        if number % 3 == 0:
            postgres.restart_immediately()
        insist(chat, lambda chat=chat, message_id=message_id: chat.say("sim", message_id=message_id))

    told = [chat.read_until(lambda chat=chat: outcome_of(chat), timeout=60, what="an outcome") for chat in chats]

    assert {event["data"]["status"] for event in told} <= {"SUCCESS", "VERIFYING"}
    for event in told:
        assert len(calls_of(stack, event["transaction_id"])) <= 1
    effects = [(effect["transaction_id"], effect["item"]) for effect in stack.ledger("pedidos")["effects"]]
    assert len(effects) == len(set(effects))
    close_all(chats)


def outcome_of(chat):
    return next(iter([*chat.of("transaction.finished"), *chat.of("transaction.verifying")]), None)


def test_a_session_is_opened_again_after_the_database_was_away(stack, postgres):
    postgres.stop()
    postgres.start()

    ana = stack.chat(customer="later")
    ana.wait_for_ack(ana.say(REQUEST))
    ana.wait_for("transaction.started")
