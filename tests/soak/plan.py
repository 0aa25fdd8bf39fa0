"""Everything that one seed decides: who the customers are, what is killed after which pause, which faults strike."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")

ITEMS = 3


class Kind(StrEnum):
    """What is killed."""

    WORKER = "worker"
    WEB = "web"
    SWEEPER = "sweeper"
    REDIS = "redis"
    MCP = "mcp"
    POSTGRES = "postgres"


WEIGHTS = {Kind.WORKER: 3, Kind.WEB: 3, Kind.SWEEPER: 2, Kind.REDIS: 3, Kind.MCP: 3, Kind.POSTGRES: 2}
"""How often each is killed, relative to the others."""


class Temper(StrEnum):
    """How a customer answers the one question."""

    CONFIRMS = "confirms"
    REJECTS = "rejects"
    SILENT = "silent"


TEMPERS = {Temper.CONFIRMS: 17, Temper.REJECTS: 2, Temper.SILENT: 1}


@dataclass(frozen=True, slots=True)
class Shop:
    """One MCP server and what customers ask it for: ``good`` items succeed, ``odd`` ones fail or are refused."""

    server: str
    action: str
    validator: str
    request: str
    good: tuple[str, ...]
    odd: tuple[str, ...]
    reconciler: str = ""
    """Without one, what got no answer is sent again with its key: the policy of this tool allows it."""


ORDERS = Shop(
    server="pedidos",
    action="cancelar_pedidos",
    validator="validar_cancelamento_pedidos",
    request="cancelar pedidos",
    good=("PED-1001", "PED-1002", "PED-1003"),
    # Being packed (these refuse a customer's first call), delivered, on its way, unknown.
    odd=("PED-1006", "PED-1007", "PED-1004", "PED-1005", "PED-9999"),
    reconciler="reconciliar_pedidos",
)
SERVICES = Shop(
    server="contas",
    action="cancelar_vas_avulso",
    validator="validar_vas_subject",
    request="cancelar serviço",
    good=("Música Mais", "Livros Falados", "Craque 10"),
    odd=("Tela Kids", "Horóscopo do Dia"),
)
SHOPS = {ORDERS: 3, SERVICES: 1}
ACTIONS = frozenset(shop.action for shop in SHOPS)


@dataclass(frozen=True, slots=True)
class Part:
    """One customer: what is asked for and in which manner."""

    name: str
    shop: Shop
    items: tuple[str, ...]
    temper: Temper
    names_items_at_once: bool
    tabs: int
    seed: int


@dataclass(frozen=True, slots=True)
class Strike:
    """After ``pause`` seconds, kill the ``pick``-th (counted round) component of ``kind``."""

    pause: float
    kind: Kind
    pick: int


@dataclass(frozen=True, slots=True)
class Mischief:
    """After ``pause`` seconds, ask the MCP server for a fault, once."""

    pause: float
    server: str
    fault: dict[str, str | float | int]


def parts(seed: int) -> Iterator[Part]:
    """The customers, without end; each has a name that no other one has."""
    chance = random.Random(f"parts {seed}")
    number = 0
    while True:
        number += 1
        shop = _weighted(chance, SHOPS)
        yield Part(
            name=f"soak-{seed}-{number}",
            shop=shop,
            items=_items(chance, shop),
            temper=_weighted(chance, TEMPERS),
            names_items_at_once=chance.random() < 0.7,
            tabs=2 if chance.random() < 0.25 else 1,
            seed=chance.getrandbits(32),
        )


def _items(chance: random.Random, shop: Shop) -> tuple[str, ...]:
    """Three items, two of which can be cancelled; mostly all of them."""
    chosen = list(shop.good)
    if chance.random() < 0.4:
        chosen[chance.randrange(ITEMS)] = chance.choice(shop.odd)
    chance.shuffle(chosen)
    return tuple(chosen)


def strikes(seed: int, pauses: tuple[float, float], kinds: Collection[Kind] = tuple(Kind)) -> Iterator[Strike]:
    """What is killed, without end: only components of ``kinds``."""
    chance = random.Random(f"strikes {seed}")
    weights = {kind: weight for kind, weight in WEIGHTS.items() if kind in kinds}
    while True:
        kind = _weighted(chance, weights)
        yield Strike(chance.uniform(*pauses), kind, chance.randrange(1000))


def mischiefs(seed: int) -> Iterator[Mischief]:
    """Which faults the MCP server is asked for, without end."""
    chance = random.Random(f"mischiefs {seed}")
    while True:
        shop = _weighted(chance, SHOPS)
        tools = {shop.action: 6, shop.validator: 2} | ({shop.reconciler: 2} if shop.reconciler else {})
        fault: dict[str, str | float | int] = {"tool": _weighted(chance, tools), "times": 1, "behaviour": "drop_answer"}
        if chance.random() < 0.6:
            fault |= {"behaviour": "delay", "seconds": round(chance.uniform(1, 6), 1)}
        elif chance.random() < 0.3:
            fault |= {"behaviour": "omit_row", "item": chance.choice(shop.good)}
        yield Mischief(chance.uniform(1, 4), shop.server, fault)


def _weighted(chance: random.Random, weights: Mapping[T, int]) -> T:
    return chance.choices(list(weights), list(weights.values()))[0]
