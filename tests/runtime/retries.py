"""A world with a request of three items of which some failed, and the ways to have them tried again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from tests.runtime import shop
from tests.runtime.staging import all_done, opens
from tests.runtime.world import World, rows
from tooling.gateway import Answered, Call, Outcome
from transactions.core.retrying import Refusal
from transactions.models import Transaction
from transactions.services import intake, retrying
from transactions.services.retrying import RetryRefused

ORDERS = "cancelar_pedidos"
SERVICES = "cancelar_vas_avulso"
IDS = ["PED-1003", "PED-1006", "PED-1007"]
NAMES = ["Música Mais", "Livros Falados", "Craque 10"]


def all_but(*failing: str) -> Callable[[Call], Answered]:
    """The action does what it was sent, except these."""

    def act(call: Call) -> Answered:
        keys = call.meta["agentplatform/item_keys"]
        return rows(*({"item_key": k["key"], "name": k["label"], "success": k["label"] not in failing} for k in keys))

    return act


def a_world(tool: str = ORDERS, *, validator: Outcome | Callable[[Call], Outcome] | None = None, **more: Any) -> World:
    definitions = shop.shop()
    if validator is not None:
        definitions = shop.with_validator(definitions, tool, "validar", **more)
    world = World(definitions)
    if validator is not None:
        world.gateway.answers("validar", validator)
    return world


def finished(world: World, tool: str = ORDERS, *, failing: tuple[str, ...] = ("PED-1006", "PED-1007")) -> Transaction:
    """A confirmed request of three items of which ``failing`` failed."""
    labels = IDS if tool == ORDERS else NAMES
    world.gateway.answers(tool, all_but(*failing))
    opens(world, tool, {"order_ids": labels} if tool == ORDERS else {"subject": ", ".join(labels)})
    world.work()
    world.answers("confirm")
    world.work()
    world.gateway.answers(tool, all_done)
    return world.transaction


def retried(parent: Transaction) -> Transaction:
    child = retrying.retry(parent.pk, by="ana")
    assert isinstance(child, Transaction), child
    return child


def refusal_of(transaction: Transaction) -> Refusal | None:
    found = retrying.retry(transaction.pk, by="ana")
    return found.refusal if isinstance(found, RetryRefused) else None


def presses(world: World, transaction: Transaction, message_id: str = "") -> Any:
    """The customer presses the button below a result."""
    return intake.receive_retry(
        world.conversation.pk, client_message_id=message_id or str(uuid4()), transaction_id=str(transaction.pk)
    )


def confirmed_and_done(world: World) -> Transaction:
    world.work()
    world.answers("confirm")
    world.work()
    return world.transaction


def sent(world: World, tool: str = ORDERS) -> list[Any]:
    return [call.arguments for call in world.gateway.calls_of(tool)]
