"""Checks how live tools keep the contract: plans the calls, makes them one by one, stores the grade.

No call is made inside a database transaction, one check of a server runs at a time, and a tool that changes something
is called in the sandbox that its server declares, or not at all (docs/contract-linter.md).
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from tooling.content import to_plain
from tooling.contract_grades import ContractCheck, ToolGrade
from tooling.drafts import draft
from tooling.drift import fingerprint
from tooling.errors import ToolingError
from tooling.gateway import NoAnswer, NotSent, RemoteTool, ToolGateway
from tooling.linting.calls import call_of, shown
from tooling.linting.faults import Seen
from tooling.linting.probes import Plan, Uncallable, plan_of, subject_of
from tooling.linting.reports import Checked, checked, plain, uncalled
from tooling.linting.rules import must_end, report_of
from tooling.specs import JSON, ArgumentType, Definitions, ToolSpec

LISTING_SECONDS = 10.0
RUN_SECONDS = 120.0
"""Time for the calls of one tool; what has not begun by then is not tried."""

TYPES: Mapping[ArgumentType, tuple[type, ...]] = {
    ArgumentType.STRING: (str,),
    ArgumentType.INTEGER: (int,),
    ArgumentType.NUMBER: (int, float),
    ArgumentType.BOOLEAN: (bool,),
    ArgumentType.ARRAY: (list,),
    ArgumentType.OBJECT: (dict,),
}

Values = Mapping[str, Mapping[str, JSON]]
"""tool → argument → value."""


class NoListing(ToolingError):
    """The server gave no list of its tools; ``outcome`` says why, after ``seconds``."""

    def __init__(self, server: str, outcome: NotSent | NoAnswer, seconds: float) -> None:
        super().__init__(f"{server} gave no list of tools: {outcome.reason}")
        self.outcome = outcome
        self.seconds = seconds


class BusyServer(ToolingError):
    """Somebody else checks this server now."""


class BadValue(ToolingError):
    """A value that was given for an argument does not fit its type."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the draft and the live server say, from which checks are planned."""

    definitions: Definitions
    server: str
    offered: Sequence[RemoteTool]

    def plan(self, tool: str, values: Mapping[str, JSON]) -> Plan | Uncallable:
        return plan_of(subject_of(self.definitions, tool, self.offered), values)


def look(server: str, gateway: ToolGateway | None = None) -> Look:
    """Ask the draft's server for its tools. ToolingError where there is no such server, NoListing without an answer."""
    definitions = draft()
    spec = definitions.servers.get(server)
    if spec is None:
        others = ", ".join(sorted(definitions.servers)) or "none"
        raise ToolingError(f'the draft has no server "{server}"; there is {others}')
    began = time.monotonic()
    listed = (gateway or _gateway()).list_tools(spec, LISTING_SECONDS)
    if isinstance(listed, NotSent | NoAnswer):
        raise NoListing(server, listed, time.monotonic() - began)
    return Look(definitions, server, listed)


def tools_of(definitions: Definitions, server: str) -> list[str]:
    """The enabled tools that ``server`` is called for."""
    return sorted(tool.name for tool in definitions.tools.values() if tool.mcp_server == server and tool.enabled)


def values_for(tool: ToolSpec, texts: Mapping[str, str]) -> dict[str, JSON]:
    """What people typed for the arguments of ``tool``, each as its type; blanks say nothing. Raises BadValue."""
    return {name: _value(tool, name, text.strip()) for name, text in texts.items() if text.strip()}


def _value(tool: ToolSpec, name: str, text: str) -> JSON:
    argument = tool.argument(name)
    if argument is None:
        raise BadValue(f"{tool.name} has no argument {name}")
    if argument.type is ArgumentType.STRING:
        return text
    if argument.type is ArgumentType.ARRAY and not text.startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, bool) is not (argument.type is ArgumentType.BOOLEAN) or not isinstance(
        value, TYPES[argument.type]
    ):
        raise BadValue(f"{name} is of type {argument.type}: {text[:80]}")
    return value


def lint(
    seen: Look,
    tools: Collection[str],
    values: Values | None = None,
    *,
    by: str = "",
    gateway: ToolGateway | None = None,
) -> Iterator[Checked]:
    """Check ``tools`` of the server that was looked at, one after the other, and store each grade.

    Raises BusyServer where somebody else does so now.
    """
    with _alone(seen.server, RUN_SECONDS * max(1, len(tools))):
        for name in tools:
            planned = seen.plan(name, (values or {}).get(name, {}))
            found = uncalled(planned) if isinstance(planned, Uncallable) else _run(planned, gateway or _gateway())
            _store(seen.definitions, found, by)
            yield found


def _run(plan: Plan, gateway: ToolGateway) -> Checked:
    """Make the planned calls until one shows that no other may follow, or time is up."""
    run, began = secrets.token_hex(6), time.monotonic()
    timeout = plan.subject.policy.timeout_seconds or settings.TOOL_TIMEOUT_SECONDS
    seen: list[Seen] = []
    for probe in plan.probes:
        call = call_of(plan, probe, run=run, default_timeout=settings.TOOL_TIMEOUT_SECONDS)
        started = time.monotonic()
        outcome = gateway.call(call)
        ended = time.monotonic()
        seen.append(Seen(probe, outcome, ended - started, shown(call)))
        if must_end(plan, seen) or ended - began > RUN_SECONDS:
            break
    return checked(plan, report_of(plan, seen, timeout), seen)


@contextmanager
def _alone(server: str, seconds: float) -> Iterator[None]:
    """Nobody else checks ``server`` meanwhile; after ``seconds`` and some more the check counts as dead."""
    now = timezone.now()
    until = now + timedelta(seconds=2 * seconds)
    ContractCheck.objects.get_or_create(server=server)
    free = ContractCheck.objects.filter(Q(until=None) | Q(until__lt=now), server=server)
    if not free.update(until=until):
        raise BusyServer(f"somebody else is checking {server} now; try again when that is done")
    try:
        yield
    finally:
        ContractCheck.objects.filter(server=server, until=until).update(until=None)


def _store(definitions: Definitions, found: Checked, by: str) -> None:
    ToolGrade.objects.update_or_create(
        tool=found.tool,
        defaults={
            "server": definitions.tools[found.tool].mcp_server,
            "definition": definition_of(definitions, found.tool),
            "grade": found.grade.value,
            "report": plain(found),
            "checked_at": timezone.now(),
            "checked_by": by[:150],
        },
    )


def definition_of(definitions: Definitions, tool: str) -> str:
    """The fingerprint of all that a check of ``tool`` depends on: while it stays, so does the grade."""
    spec, policy = definitions.tools[tool], definitions.policy(tool)
    server = definitions.servers.get(spec.mcp_server)
    return fingerprint([to_plain(each) for each in (spec, policy, definitions.mapping(tool), server)])


def fingerprint_of(seen: Look, planned: Plan | Uncallable) -> str:
    """Of the calls that a check would make: while it stays, what somebody saw is what is called."""
    definition = definition_of(seen.definitions, planned.subject.tool.name)
    if isinstance(planned, Uncallable):
        return fingerprint([definition, planned.why])
    calls = [call_of(planned, probe, run="", default_timeout=0) for probe in planned.probes]
    return fingerprint([definition, [[call.tool, dict(call.arguments), dict(call.meta)] for call in calls]])


def _gateway() -> ToolGateway:
    from tooling.mcp_client import gateway  # the MCP SDK takes long to import, and most processes never check

    return gateway()
