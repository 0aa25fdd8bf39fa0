"""Conversations that really happened in a test's world, to be replayed; nothing in them is written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.runtime import shop
from tests.runtime.staging import EXTRACTION, REPLY, all_done, opens, shift_to, validator_of
from tests.runtime.world import World
from tooling.specs import Definitions
from transactions.models import Transaction
from transactions.rehearsal.replaying import Replayed, replay

ACTION = "cancelar_vas_avulso"
VALIDATOR = "validar"
LABELS = ["Música Mais", "Livros Falados", "Craque 10"]
SUBJECT = ", ".join(LABELS)
ORDERS = "cancelar_pedidos"
RETURN = "solicitar_devolucao"


def validated(*, fail_open: bool = False) -> Definitions:
    """The shop, with a validator before its one action on services."""
    return shop.with_validator(shop.shop(), ACTION, VALIDATOR, fail_open=fail_open)


def a_world(definitions: Definitions | None = None, **more: Any) -> World:
    world = World(definitions or validated(), **more)
    for name in shop.ARGUMENTS:
        world.gateway.answers(name, all_done)
    world.gateway.answers(VALIDATOR, validator_of(LABELS))
    return world


def asked(definitions: Definitions | None = None, *, tool: str = ACTION, **arguments: Any) -> World:
    """The customer asked for everything in one message; the validator has run, if there is one."""
    world = a_world(definitions)
    opens(world, tool, arguments or {"subject": SUBJECT})
    world.work()
    return world


def confirmed(definitions: Definitions | None = None, *, tool: str = ACTION, **arguments: Any) -> World:
    """The same, confirmed with a word and executed."""
    world = asked(definitions, tool=tool, **arguments)
    world.says("sim")
    world.work()
    return world


def reads_reply(world: World, kind: str, **more: Any) -> None:
    """What the model reads in the next reply to the open confirmation."""
    reading = {"kind": kind, "keep_item_keys": None, "values": {}, "question": None, **more}
    world.model.script({REPLY: reading})


def collects(world: World, **values: Any) -> None:
    """What the model reads in the next answer to a question."""
    world.model.script({EXTRACTION: lambda payload: _read(payload, values)})


def _read(payload: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    read = {name: values.get(name) for name in payload["pending"]}
    kind = "answers_pending" if any(value is not None for value in read.values()) else "something_else"
    return {"kind": kind, "values": read}


def routed(tool: str) -> dict[str, Any]:
    return shift_to(shop.INTENTS[tool])


def replayed(world: World, draft: Definitions, transaction: Transaction | None = None) -> Replayed:
    """The replay of a transaction of ``world``, the newest if none is named, with ``draft``."""
    return replay(Transaction.objects.get(pk=(transaction or world.transaction).pk), draft)
