"""What the tests of outages share: customers at their confirmation, and what became of them afterwards."""

import sys
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.acceptance.client import Chat
from tests.acceptance.stack import Stack
from tests.processes import Child
from tests.services import wait_until

ACTION = "cancelar_pedidos"
REQUEST = "cancelar pedidos PED-1001 e PED-1002"
ITEMS = 2
TIMES = {"LEASE_SECONDS": "5", "SWEEP_SECONDS": "0.3"}


def awaiting(stack: Stack, customer: str) -> Chat:
    """A chat in which the cancellation of two orders waits for its confirmation."""
    chat = stack.chat(customer=customer)
    chat.say(REQUEST)
    chat.wait_for("confirmation.requested", timeout=40)
    return chat


def all_awaiting(stack: Stack, name: str, number: int) -> list[Chat]:
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda n: awaiting(stack, f"{name}-{n}"), range(number)))


def press_yes(chat: Chat) -> str:
    """Confirm by the button; the client message id."""
    return chat.press(chat.of("confirmation.requested")[-1]["data"]["confirmation_id"], "confirm")


def confirm(chats: Sequence[Chat]) -> list[str]:
    """Press yes in every chat; the transactions that may be executed now, each after its acknowledgement."""
    asked = [(chat, press_yes(chat)) for chat in chats]
    for chat, message_id in asked:
        assert chat.wait_for_ack(message_id)["type"] == "ack"
    return [chat.wait_for("execution.started")["transaction_id"] for chat in chats]


def calls_of(stack: Stack, transaction_id: str) -> list[dict[str, Any]]:
    """How often the server was asked to act for this transaction."""
    return [call for call in stack.calls("pedidos", ACTION) if call["transaction_id"] == transaction_id]


def check_done_once(stack: Stack, chats: Sequence[Chat], *, timeout: float = 60) -> None:
    """Every chat is told of its success, once, and the server did each item of each once."""
    finished = [chat.wait_for("transaction.finished", timeout=timeout) for chat in chats]
    assert [event["data"]["status"] for event in finished] == ["SUCCESS"] * len(chats)
    for chat in chats:
        chat.catch_up()
        assert len(chat.of("transaction.finished")) == 1, chat.kinds()
    ours = {event["transaction_id"] for event in finished}
    ledger = stack.ledger("pedidos")
    done = [(effect["idempotency_key"], effect["item"]) for effect in ledger["effects"]]
    keys = {
        call["idempotency_key"]
        for call in ledger["calls"]
        if call["tool"] == ACTION and call["meta"]["agentplatform/transaction_id"] in ours
    }
    assert len(keys) == len(chats)
    effects = [pair for pair in done if pair[0] in keys]
    assert len(effects) == len(set(effects)) == ITEMS * len(chats)


def small_worker(stack: Stack, threads: int) -> Child:
    """A Celery worker with so few threads that messages wait for it."""
    name = f"small@{uuid.uuid4().hex[:8]}"
    arguments = ["-m", "celery", "-A", "agentplatform", "worker", "--pool", "threads", "-c", str(threads), "-n", name]
    worker = stack.processes.start("worker", [sys.executable, *arguments, "--loglevel", "INFO"], env=stack.env)
    stack.workers.append(worker)
    wait_until(lambda: " ready." in worker.text(), timeout=40, what="the worker to be ready")
    return worker
