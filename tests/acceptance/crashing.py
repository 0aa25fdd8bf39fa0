"""One case of a crash: a customer asks and confirms, a process is struck at a point, others take over, all is judged.

The judge is the ledger of the MCP server, which knows what really happened, and the customer, who was told.
"""

from __future__ import annotations

import signal
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.client import Chat, Event, get
from tests.acceptance.forks import Fork, Forks
from tests.acceptance.parts import orders_of
from tests.acceptance.stack import Stack
from tests.processes import Processes, responds
from tests.scripted_model import ScriptedModel
from tests.services import free_port, is_listening, wait_until
from transactions.failpoints import Action

SERVER, ACTION = "pedidos", "cancelar_pedidos"
TRANSACTION = "agentplatform/transaction_id"
ORDERS = ("PED-1001", "PED-1002", "PED-1003")
TIMES = {"LEASE_SECONDS": "1.5", "SWEEP_SECONDS": "0.2", "RECONCILE_SECONDS": "20"}
TOLD_SECONDS = 40
TOLD = ("transaction.finished", "transaction.verifying")


@dataclass(slots=True)
class Scene:
    """The product in the shape of production: web here, sweepers as a case wants them; workers where it starts one."""

    stack: Stack
    forks: Forks
    sweepers: list[Fork] = field(default_factory=list)

    # Processes ------------------------------------------------------------------------------------------------

    def sweeper(self, **more: str) -> Fork:
        """One more sweeper, which is a worker, too; ``more`` is added to its environment."""
        fork = self.forks.start("run_due", "--loop", **more)
        self.sweepers.append(fork)
        return fork

    def kill_sweepers(self) -> None:
        """SIGKILL to every sweeper, also to those that hang, so that nobody does due work."""
        while self.sweepers:
            self.sweepers.pop().end(signal.SIGKILL)

    @contextmanager
    def second_web(self, **more: str) -> Iterator[tuple[Fork, str]]:
        """A web process beside the healthy one, and its address."""
        port = free_port()
        fork = self.forks.start("serve", "--port", str(port), **more)
        base = f"http://127.0.0.1:{port}"
        wait_until(lambda: responds(f"{base}/healthz"), what="the second web process")
        try:
            yield fork, base
        finally:
            fork.end(signal.SIGKILL)

    def release(self, fork: Fork) -> None:
        """What hung goes on as if it had been frozen, and ends when it has nothing left to do."""
        fork.release()
        fork.end()

    # The customer ---------------------------------------------------------------------------------------------

    def somebody(self) -> str:
        """The key of a customer of whom nothing is known."""
        return f"crash-{uuid.uuid4().hex[:12]}"

    def ask(self) -> Chat:
        """A new customer who asks for three orders to be cancelled."""
        chat = self.stack.chat(customer=self.somebody())
        self.request(chat)
        return chat

    def request(self, chat: Chat, *, message_id: str = "") -> str:
        return chat.say(f"cancelar pedidos {ORDERS[0]}, {ORDERS[1]} e {ORDERS[2]}", message_id=message_id)

    def asked_to_confirm(self) -> Chat:
        """A customer who is asked to confirm; afterwards no sweeper runs."""
        self.sweeper()
        chat = self.ask()
        patiently(chat, lambda: chat.of("confirmation.requested"), what="the confirmation")
        self.kill_sweepers()
        return chat

    def through(self, chat: Chat, base: str) -> Chat:
        """The same conversation through another web process, with everything read so far."""
        chat.close()
        return Chat(base, locale=chat.locale, session=chat.session)

    def yes(self, chat: Chat) -> None:
        """Confirm by the button, as somebody who saw the question."""
        (asked,) = patiently(chat, lambda: chat.of("confirmation.requested"), what="the confirmation")
        chat.press(asked["data"]["confirmation_id"], "confirm")

    def transactions_of(self, conversation_id: str) -> list[dict[str, Any]]:
        """Every transaction that the conversation ever had."""
        url = f"{self.stack.base}/api/v1/transactions/?conversation={conversation_id}"
        found: list[dict[str, Any]] = get(url, authorization=f"Bearer {self.stack.key}")["results"]
        return found

    def told(self, chat: Chat, kind: str) -> Event:
        """What the customer is told at last."""
        return patiently(chat, lambda: chat.of(kind), what=kind)[0]


def patiently(chat: Chat, done: Callable[[], Any], *, what: str) -> Any:
    """Read until ``done``, asking for what is new, as a browser does that missed a hint."""

    def read() -> Any:
        chat.catch_up()
        return done()

    return wait_until(read, timeout=TOLD_SECONDS, what=f"{what}; events so far: {chat.kinds()}")


def struck(fork: Fork, point: str, action: Action) -> None:
    """Wait until the failpoint did its work in the doomed process."""
    said = f"failpoint {point}: {action}"
    wait_until(lambda: said in fork.text(), timeout=TOLD_SECONDS, what=f"{said!r} in the log of {fork.name}")
    if action is Action.KILL:
        wait_until(lambda: not fork.is_running, what="the doomed process to be gone")


# The judge -----------------------------------------------------------------------------------------------------

SETTLED = {"SUCCEEDED", "FAILED", "UNKNOWN", "INELIGIBLE", "EXCLUDED", "NOT_EXECUTED"}


@dataclass(frozen=True, slots=True)
class Judged:
    """What the server's ledger and the customer's chat say about one customer's request."""

    calls: int
    asked: frozenset[str]
    transactions: int
    done: Counter[str]
    record: Mapping[str, Any]
    chat: Chat

    def faults(self) -> list[str]:
        """Every promise that is broken, whatever was struck; empty where none is."""
        found = []
        if self.calls > 1:
            found.append(f"the tool was called {self.calls} times")
        found += [f"the tool was asked for {order}, and nobody confirmed that" for order in self.asked - {*ORDERS}]
        if self.transactions > 1:
            found.append(f"one request became {self.transactions} transactions")
        found += [f"{order} was cancelled {times} times" for order, times in self.done.items() if times > 1]
        yes = [event for event in self.chat.of("confirmation.answered") if event["data"]["decision"] == "confirm"]
        if self.done and len(yes) != 1:
            found.append(f"effects with {len(yes)} confirmations")
        heard = Counter(event["data"]["client_message_id"] for event in self.chat.of("user.message"))
        found += [f"one message was heard {times} times" for times in heard.values() if times > 1]
        return found + self._faults_of_items() + self._faults_of_telling()

    def _faults_of_items(self) -> list[str]:
        found = []
        status = {item["label"]: item["status"] for item in self.record["items"]}
        if sorted(status) != sorted(ORDERS):
            found.append(f"the ledger of items names {sorted(status)}")
        for order, said in status.items():
            if said not in SETTLED:
                found.append(f"{order} is left {said}")
            if said == "SUCCEEDED" and not self.done[order]:
                found.append(f"{order} is said to have succeeded and nothing happened")
            if said in ("FAILED", "NOT_EXECUTED") and self.done[order]:
                found.append(f"{order} is said to be {said} and was cancelled")
        return found

    def _faults_of_telling(self) -> list[str]:
        told = [event for kind in TOLD for event in self.chat.of(kind)]
        if not told:
            return ["the customer was told nothing"]
        last = max(told, key=lambda event: event["seq"])["data"]
        said = {item["label"]: item["status"] for item in last["items"]}
        found = []
        if set(said) != set(ORDERS) or any(order not in last["text"] for order in ORDERS):
            found.append(f"the customer was told of {said} only")
        if len(self.chat.of("transaction.finished")) > 1:
            found.append("the customer was told the end twice")
        return found


def judge(scene: Scene, chat: Chat) -> Judged:
    """Compare what was recorded and told with what the server knows; fails on any broken promise."""
    patiently(chat, lambda: any(chat.of(kind) for kind in TOLD), what="an outcome")
    told = [event for kind in TOLD for event in chat.of(kind)]
    transaction_id = told[0]["transaction_id"]
    record = scene.stack.transaction(transaction_id)
    ledger = scene.stack.ledger(SERVER)
    calls = [
        call for call in ledger["calls"] if call["tool"] == ACTION and call["meta"].get(TRANSACTION) == transaction_id
    ]
    judged = Judged(
        calls=len(calls),
        asked=frozenset(order for call in calls for order in call["arguments"]["order_ids"]),
        transactions=len(scene.transactions_of(record["conversation_id"])),
        done=Counter(effect["item"] for effect in ledger["effects"] if effect["transaction_id"] == transaction_id),
        record=record,
        chat=chat,
    )
    if faults := judged.faults():
        pytest.fail("; ".join(faults), pytrace=False)
    return judged


# Starting ------------------------------------------------------------------------------------------------------


@contextmanager
def scene_of(processes: Processes, folder: Path, *, database: str, redis: str) -> Iterator[Scene]:
    """Everything but sweepers and workers is up."""
    stack = Stack(processes, folder, database, redis, TIMES)
    with ScriptedModel(orders_of, port=stack.ports["model"]):
        stack.launch_server(SERVER)
        forks = Forks(processes, folder, stack.env)
        prepare(stack, forks)
        forks.start("serve", "--port", str(stack.ports["web"]))
        wait_until(lambda: is_listening(stack.ports[SERVER]), timeout=40, what="the MCP server")
        wait_until(lambda: responds(f"{stack.base}/readyz"), timeout=40, what="the web process")
        yield Scene(stack, forks)


def prepare(stack: Stack, forks: Forks) -> None:
    """Migrate, publish the set of our server, create channel and operator key."""
    forks.run("migrate", "-v0")
    forks.run("definitions", "import", str(stack.definitions(SERVER)), "--publish", "-m", "crash")
    forks.run("channel", "create", "demo", "--jwt-secret-env", "CHAT_SECRET", "--allow-no-origin")
    stack.key = forks.run("apikey", "create", "tests", "--role", "operator").split()[-1]
