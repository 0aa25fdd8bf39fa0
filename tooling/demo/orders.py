"""The orders of every customer of the server pedidos."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Order:
    product: str
    situation: str
    """preparing, shipped or delivered."""
    placed: str
    expected: str
    is_being_packed: bool = False


ORDERS = {
    "PED-1001": Order("Fone de ouvido sem fio", "preparing", "2026-11-24", "2026-12-03"),
    "PED-1002": Order("Mochila 25 L", "preparing", "2026-11-25", "2026-12-04"),
    "PED-1003": Order("Luminária de mesa", "preparing", "2026-11-26", "2026-12-05"),
    "PED-1004": Order("Tênis de corrida", "delivered", "2026-11-10", "2026-11-18"),
    "PED-1005": Order("Cafeteira", "shipped", "2026-11-20", "2026-12-01"),
    "PED-1006": Order("Teclado mecânico", "preparing", "2026-11-27", "2026-12-06", is_being_packed=True),
    "PED-1007": Order("Cadeira de escritório", "preparing", "2026-11-27", "2026-12-08", is_being_packed=True),
    "PED-1008": Order("Liquidificador", "delivered", "2026-11-08", "2026-11-15"),
}


def ids(said: Iterable[str]) -> list[str]:
    """Order numbers as the shop writes them, in order and each once: "ped 1001" and "1001" are PED-1001."""
    found = []
    for text in said:
        number = re.fullmatch(r"(?:ped)?[\s-]*(\d+)", text.strip(), re.IGNORECASE)
        found.append(f"PED-{number[1]}" if number else text.strip())
    return list(dict.fromkeys(filter(None, found)))
