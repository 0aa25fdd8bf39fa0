"""Workers that die at the worst moments: nothing is executed twice and nothing is claimed that nobody knows."""

import pytest

from tests.acceptance.parts import real_parts
from tests.services import wait_until
from transactions.failpoints import Action

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.redis, pytest.mark.timeout(180)]

ACTION = "cancelar_pedidos"
TIMES = {"LEASE_SECONDS": "2", "SWEEP_SECONDS": "0.3"}


@pytest.fixture(scope="module")
def stack(module_processes, tmp_path_factory, postgres_url, redis_url):
    """Servers, model, web and sweeper on PostgreSQL and Redis; each test starts the worker that is to die."""
    folder = tmp_path_factory.mktemp("kills")
    with real_parts(module_processes, folder, database=postgres_url, redis=redis_url, **TIMES) as stack:
        yield stack


@pytest.fixture
def awaiting(stack):
    """A chat in which the cancellation of two orders waits for its confirmation."""

    def make(customer):
        chat = stack.chat(customer=customer)
        chat.say("cancelar pedidos PED-1001 e PED-1002")
        chat.wait_for("confirmation.requested")
        return chat

    return make


def calls_of(stack, transaction_id):
    """How often the server was asked to act for this transaction."""
    return [call for call in stack.calls("pedidos", ACTION) if call["transaction_id"] == transaction_id]


def test_a_worker_killed_after_sending_leaves_the_outcome_unknown_and_says_so(stack, awaiting):
    worker = stack.start_worker()
    chat = awaiting("killed-after-sending")
    stack.fault("pedidos", tool=ACTION, behaviour="delay", seconds=60)

    chat.say("sim")
    transaction_id = chat.wait_for("execution.started")["transaction_id"]
    wait_until(lambda: stack.transaction(transaction_id)["attempts"][0]["status"] == "SENT", what="SENT")
    worker.kill()
    sweeper = stack.start_sweeper()
    told = chat.wait_for("transaction.verifying", timeout=30)
    sweeper.stop()

    assert told["data"]["status"] == "VERIFYING"
    assert {item["status"] for item in told["data"]["items"]} == {"UNKNOWN"}
    assert len(stack.transaction(transaction_id)["attempts"]) == 1
    assert len(calls_of(stack, transaction_id)) == 1
    stack.clear_faults("pedidos")


def test_a_worker_killed_between_claim_and_sending_is_replaced_and_the_call_is_made_once(stack, awaiting):
    stack.start_worker()
    chat = awaiting("killed-after-claim")
    stack.stop_workers()
    doomed = stack.start_worker(FAILPOINT="claimed:kill")

    chat.say("sim")
    wait_until(lambda: not doomed.is_running, what="the worker to die")
    stack.start_worker()
    sweeper = stack.start_sweeper()
    finished = chat.wait_for("transaction.finished", timeout=40)
    sweeper.stop()

    assert finished["data"]["status"] == "SUCCESS"
    assert len(calls_of(stack, finished["transaction_id"])) == 1


@pytest.mark.parametrize("action", Action)
def test_a_worker_struck_after_the_answer_was_stored_needs_no_second_call(stack, awaiting, action):
    stack.start_worker()
    chat = awaiting(f"{action}-after-answer")
    stack.stop_workers()
    doomed = stack.start_worker(FAILPOINT=f"recorded:{action}")

    chat.say("sim")
    wait_until(lambda: f"failpoint recorded: {action}" in doomed.text(), what="the worker to be struck")
    sweeper = stack.start_sweeper()
    finished = chat.wait_for("transaction.finished", timeout=40)
    sweeper.stop()
    doomed.kill()

    assert finished["data"]["status"] == "SUCCESS"
    assert len(calls_of(stack, finished["transaction_id"])) == 1
