"""Faults that a test asks a demo server for: a refusal, a lost answer, a delay, a missing row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tooling.demo.words import folded


class Behaviour(StrEnum):
    FAIL = "fail"
    """The item is refused, with ``reason``."""
    DROP_ANSWER = "drop_answer"
    """The work is done and the connection closes without an answer."""
    DELAY = "delay"
    """The work is done and the answer comes ``seconds`` later."""
    OMIT_ROW = "omit_row"
    """The work is done and the answer does not mention it."""


@dataclass(slots=True)
class Fault:
    """One fault; an empty ``item`` means any. ``times`` None: until the faults are cleared."""

    tool: str
    behaviour: Behaviour
    item: str = ""
    reason: str = "falha_simulada"
    seconds: float = 1.0
    times: int | None = None

    def strikes(self, tool: str, items: Iterable[str]) -> bool:
        if tool != self.tool or self.times == 0:
            return False
        return not self.item or folded(self.item) in map(folded, items)


def fault_from(data: Any) -> Fault:
    """The fault that the JSON of a request describes. Raises ValueError, KeyError or TypeError for anything else."""
    if not isinstance(data, dict):
        raise TypeError("a fault is an object")
    times = data.get("times")
    return Fault(
        tool=str(data["tool"]),
        behaviour=Behaviour(data["behaviour"]),
        item=str(data.get("item") or ""),
        reason=str(data.get("reason") or "falha_simulada"),
        seconds=float(data.get("seconds", 1.0)),
        times=None if times is None else int(times),
    )


@dataclass(slots=True)
class Faults:
    active: list[Fault] = field(default_factory=list)

    def take(self, behaviour: Behaviour, tool: str, items: Iterable[str]) -> Fault | None:
        """The fault that strikes now, counted."""
        wanted = list(items)
        for fault in self.active:
            if fault.behaviour == behaviour and fault.strikes(tool, wanted):
                if fault.times is not None:
                    fault.times -= 1
                return fault
        return None
