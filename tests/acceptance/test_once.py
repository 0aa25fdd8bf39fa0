"""However often and wherever a customer says yes, the operation runs once (runtime.md §2, §8, §9)."""

import random
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.acceptance.client import Chat, close_all
from tests.acceptance.parts import real_parts
from tests.acceptance.stack import Stack

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.redis, pytest.mark.timeout(400)]

ROUNDS, AT_ONCE = 100, 4
SOCKETS, COPIES = 8, 20


@pytest.fixture(scope="module")
def stack(module_processes, tmp_path_factory, postgres_url, redis_url):
    folder = tmp_path_factory.mktemp("once")
    with real_parts(module_processes, folder, database=postgres_url, redis=redis_url) as stack:
        stack.start_worker()
        stack.start_sweeper()
        yield stack


def say_yes(chat: Chat, confirmation_id: str, chance: random.Random, ids: list[str]) -> None:
    """One yes, by word or by button, with an id of its own or one that others use, too."""
    message_id = chance.choice(ids) if chance.random() < 0.5 else str(uuid.uuid4())
    if chance.random() < 0.3:
        chat.press(confirmation_id, "confirm", message_id=message_id)
    else:
        chat.say("sim", message_id=message_id)


def one_round(stack: Stack, number: int) -> tuple[int, int, str]:
    """Twenty yeses from eight sockets at once: how often it executed, how often it ended, and the key it used."""
    chance = random.Random(number)
    chat = stack.chat(customer=f"once-{number}")
    chat.say("cancelar pedidos PED-1001 e PED-1002")
    confirmation_id = chat.wait_for("confirmation.requested")["data"]["confirmation_id"]
    tabs = [chat.another_socket() for _ in range(SOCKETS)]
    for tab in tabs:
        tab.wait_for("confirmation.requested")

    ids = [str(uuid.uuid4()) for _ in range(3)]
    with ThreadPoolExecutor(SOCKETS) as pool:
        list(pool.map(lambda n: say_yes(tabs[n % SOCKETS], confirmation_id, chance, ids), range(COPIES)))
    finished = chat.wait_for("transaction.finished", timeout=60)
    chat.catch_up()
    close_all([chat, *tabs])
    return len(chat.of("execution.started")), len(chat.of("transaction.finished")), finished["transaction_id"]


def test_twenty_yeses_from_eight_sockets_execute_once(stack):
    with ThreadPoolExecutor(AT_ONCE) as pool:
        rounds = list(pool.map(lambda number: one_round(stack, number), range(ROUNDS)))

    calls = [call["transaction_id"] for call in stack.calls("pedidos", "cancelar_pedidos")]
    assert [(executions, ends) for executions, ends, _ in rounds] == [(1, 1)] * ROUNDS
    assert sorted(calls) == sorted(transaction_id for _, _, transaction_id in rounds)
