"""What the pages of a contract check show: the calls that would be made, the values they lack, and the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from tooling import choices
from tooling.linting.calls import call_of
from tooling.linting.faults import Level
from tooling.linting.probes import Plan, Role, Uncallable, Why
from tooling.linting.reports import read, uncalled, visible
from tooling.linting.words import (
    ASPECTS,
    CALLS,
    GRADES,
    LEVELS,
    MEANINGS,
    ROLES,
    hint_of,
    message_of,
    why_of,
)
from tooling.specs import JSON, ArgumentSpec, ToolSpec

STYLES = {Level.UNSAFE: "error", Level.WAITS: "warning", Level.HINT: "note"}


def planned_words(planned: Plan | Uncallable) -> dict[str, Any]:
    """Which calls a check would make, how they are marked as a dry run; or why none may be made."""
    said: dict[str, Any] = {"role": ROLES[planned.subject.role], "is_action": planned.subject.role is Role.ACTION}
    if isinstance(planned, Uncallable):
        return said | {"why": why_of(uncalled(planned))}
    calls = [call_of(planned, probe, run="…", default_timeout=0) for probe in planned.probes]
    said["calls"] = [
        {"kind": CALLS[probe.kind], "tool": call.tool, "sent": visible(json.dumps(call.arguments, ensure_ascii=False))}
        for probe, call in zip(planned.probes, calls, strict=True)
    ]
    said["untried"] = [CALLS[kind] for kind in planned.untried]
    if planned.sandbox is not None:
        mark = {"name": visible(planned.sandbox.place), "value": json.dumps(planned.sandbox.value)}
        if planned.sandbox.argument:
            said["sandbox"] = _("the argument %(name)s is %(value)s") % mark
        else:
            said["sandbox"] = _("the key %(name)s of _meta is %(value)s") % mark
    return said


def values_wanted(
    tool: ToolSpec, planned: Plan | Uncallable, sent: Mapping[str, Any], wrong: Mapping[str, str]
) -> list[dict[str, Any]]:
    """A field for each argument of the tool that the check may be given a value for; none where none would help."""
    if isinstance(planned, Uncallable) and planned.why is not Why.VALUES_MISSING and not wrong:
        return []
    kinds = dict(choices.ARGUMENT_TYPES)
    missing = planned.names if isinstance(planned, Uncallable) else ()
    marked = planned.sandbox.argument if isinstance(planned, Plan) and planned.sandbox else ""
    return [
        {
            "name": argument.name,
            "kind": kinds[argument.type.value],
            "text": sent.get(f"value.{argument.name}", ""),
            "is_missing": argument.name in missing,
            "is_wrong": argument.name in wrong,
            "known": _known(planned, argument),
        }
        for argument in tool.arguments
        if argument.name not in (marked, "target_tool", "keep_items")
    ]


def _known(planned: Plan | Uncallable, argument: ArgumentSpec) -> str:
    """What is sent for the argument if nobody gives a value, as the first call has it."""
    held: JSON = planned.probes[0].arguments.get(argument.name) if isinstance(planned, Plan) else None
    return "" if held is None else visible(held if isinstance(held, str) else json.dumps(held, ensure_ascii=False))


def shown_report(report: Mapping[str, JSON]) -> dict[str, Any]:
    """A stored report in the reader's language."""
    found = read(report)
    return {
        "meaning": MEANINGS[found.grade],
        "role": ROLES[found.role],
        "why": why_of(found),
        "aspects": [(ASPECTS[aspect], grade, GRADES[grade]) for aspect, grade in found.aspects.items()],
        "faults": [
            {
                "style": STYLES[fault.level],
                "level": LEVELS[fault.level],
                "message": message_of(fault),
                "hint": hint_of(fault),
                "call": CALLS[fault.kind] if fault.kind else "",
            }
            for fault in found.faults
        ],
        "calls": [
            {"kind": CALLS[call.kind], "sent": call.sent, "came": call.came, "seconds": call.seconds}
            for call in found.calls
        ],
    }
