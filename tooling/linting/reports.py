"""The report of a check as JSON and back: what is stored beside a tool, and printed by the command. Pure."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tooling.gateway import Answered, Outcome
from tooling.linting.answers import result_of
from tooling.linting.faults import Aspect, Code, Fault, Grade, Level, Seen
from tooling.linting.probes import Plan, Role, Try, Uncallable, Why
from tooling.linting.rules import Report
from tooling.specs import JSON

LONGEST_SHOWN = 1500
"""Characters of what was sent, and of what came back, that are kept of one call."""
_HARMLESS = "\n\t"


@dataclass(frozen=True, slots=True)
class CallShown:
    """One call of a check as people read it; ``came`` is the answer, or why there was none."""

    kind: Try
    sent: str
    came: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Checked:
    """What one check of a tool came to, or why it was not called (``why``, with the ``names`` of arguments)."""

    tool: str
    grade: Grade
    role: Role
    aspects: Mapping[Aspect, Grade]
    faults: tuple[Fault, ...] = ()
    calls: tuple[CallShown, ...] = ()
    why: Why | None = None
    names: tuple[str, ...] = ()


def checked(plan: Plan, report: Report, seen: Sequence[Seen]) -> Checked:
    calls = tuple(CallShown(each.probe.kind, visible(each.sent), came(each.outcome), each.seconds) for each in seen)
    faults = tuple(_visible(each) for each in report.faults)
    return Checked(plan.subject.tool.name, report.grade, plan.subject.role, report.aspects, faults, calls)


def uncalled(found: Uncallable) -> Checked:
    names = tuple(map(visible, found.names))
    return Checked(found.subject.tool.name, Grade.NOT_CHECKED, found.subject.role, {}, why=found.why, names=names)


def came(outcome: Outcome) -> str:
    """An answer as it is shown: its result, cut."""
    if not isinstance(outcome, Answered):
        return visible(outcome.reason)
    result = result_of(outcome)
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return visible(f"isError: {text}" if outcome.is_error else text)


def visible(text: str) -> str:
    """``text`` cut, and with every character that is not seen or turns others around as U+FFFD."""
    short = text[:LONGEST_SHOWN] + ("…" if len(text) > LONGEST_SHOWN else "")
    return "".join("�" if unicodedata.category(one)[0] == "C" and one not in _HARMLESS else one for one in short)


def _visible(fault: Fault) -> Fault:
    items = tuple(visible(item)[:120] for item in fault.items)
    return Fault(fault.code, fault.kind, items, visible(fault.detail), fault.level)


def plain(found: Checked) -> dict[str, JSON]:
    """``found`` as JSON."""
    return {
        "tool": found.tool,
        "grade": str(found.grade),
        "role": str(found.role),
        "aspects": {str(aspect): str(grade) for aspect, grade in found.aspects.items()},
        "faults": [
            {
                "code": str(each.code),
                "level": str(each.level),
                "call": str(each.kind or ""),
                "items": list(each.items),
                "detail": each.detail,
            }
            for each in found.faults
        ],
        "calls": [
            {"call": str(each.kind), "sent": each.sent, "came": each.came, "seconds": round(each.seconds, 3)}
            for each in found.calls
        ],
        "why": str(found.why or ""),
        "names": list(found.names),
    }


def read(said: Mapping[str, JSON]) -> Checked:
    """The reverse."""
    return Checked(
        tool=said["tool"],
        grade=Grade(said["grade"]),
        role=Role(said["role"]),
        aspects={Aspect(name): Grade(grade) for name, grade in said["aspects"].items()},
        faults=tuple(
            Fault(
                Code(each["code"]),
                Try(each["call"]) if each["call"] else None,
                tuple(each["items"]),
                each["detail"],
                Level(each["level"]),
            )
            for each in said["faults"]
        ),
        calls=tuple(
            CallShown(Try(each["call"]), each["sent"], each["came"], each["seconds"]) for each in said["calls"]
        ),
        why=Why(said["why"]) if said["why"] else None,
        names=tuple(said["names"]),
    )
