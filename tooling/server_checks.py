"""Looks at live MCP servers and reports where they differ from the newest release; changes nothing that runs.

Several processes may look at once: each look is claimed by moving ``checked_at``, compared with what was read.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from tooling import catalog
from tooling.drift import Difference, Kind, baseline_of, compare, fingerprint, kept, listing_of
from tooling.gateway import NoAnswer, NotSent, RemoteTool, ToolGateway
from tooling.models import ServerState
from tooling.specs import Definitions, ServerSpec, ToolSpec

log = logging.getLogger(__name__)

LISTING_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Checked:
    """What one look came to. ``failure``: the server gave no listing, and the differences are those of before."""

    server: str
    differences: Sequence[Difference] = ()
    failure: str = ""


def enabled_servers(definitions: Definitions) -> list[str]:
    """The servers of a release that are called at all: enabled, with an enabled tool."""
    used = {tool.mcp_server for tool in definitions.tools.values() if tool.enabled}
    return sorted(name for name, server in definitions.servers.items() if server.enabled and name in used)


def due() -> list[str]:
    """The servers that nobody looked at for ``DRIFT_SECONDS``; none where that is 0 or nothing is published."""
    newest = catalog.newest() if settings.DRIFT_SECONDS > 0 else None
    if newest is None:
        return []
    latest = timezone.now() - timedelta(seconds=settings.DRIFT_SECONDS)
    fresh = set(ServerState.objects.filter(checked_at__gt=latest).values_list("server", flat=True))
    return [name for name in enabled_servers(newest.definitions) if name not in fresh]


def check_due(server: str, *, gateway: ToolGateway | None = None) -> Checked | None:
    """Look at a server that is due, unless somebody else took the look meanwhile."""
    # Read before it is asked whether it is due: a look that is taken in between makes this claim void.
    state, _ = ServerState.objects.get_or_create(server=server)
    return check(state, gateway=gateway) if server in due() else None


def check_servers(
    names: Collection[str] = (), *, gateway: ToolGateway | None = None, accept: bool = False
) -> Iterator[Checked]:
    """Look now at the servers of the newest release, or at those of them that are named.

    ``accept``: what they say now is approved from now on. Raises NothingPublished.
    """
    for name in enabled_servers(catalog.current().definitions):
        if not names or name in names:
            state, _ = ServerState.objects.get_or_create(server=name)
            if found := check(state, gateway=gateway, accept=accept):
                yield found


def check(state: ServerState, *, gateway: ToolGateway | None = None, accept: bool = False) -> Checked | None:
    """Take the look at one server and write what was found; None where another took it, or it is published no more."""
    now = timezone.now()
    newest = catalog.newest()
    spec = newest.definitions.servers.get(state.server) if newest else None
    if newest is None or spec is None or not _claimed(state, now):
        return None
    listed = (gateway or _gateway()).list_tools(spec, LISTING_SECONDS)
    if isinstance(listed, NotSent | NoAnswer):
        ServerState.objects.filter(pk=state.pk).update(failure=listed.reason)
        return Checked(state.server, [Difference.of(each) for each in state.findings], listed.reason)
    tools = [tool for tool in newest.definitions.tools.values() if tool.enabled and tool.mcp_server == spec.name]
    return _write(state, spec, tools, listed, now=now, accept=accept)


def _claimed(state: ServerState, now: datetime) -> bool:
    as_read = ServerState.objects.filter(pk=state.pk, checked_at=state.checked_at)
    return bool(as_read.update(checked_at=now))


def _gateway() -> ToolGateway:
    from tooling.mcp_client import gateway  # the MCP SDK takes long to import, and most processes never look

    return gateway()


def _write(
    state: ServerState,
    spec: ServerSpec,
    tools: Sequence[ToolSpec],
    listed: Sequence[RemoteTool],
    *,
    now: datetime,
    accept: bool,
) -> Checked:
    listing = listing_of(tools, listed)
    baseline = baseline_of(spec, tools, listing, {} if accept else state.baseline)
    differences = compare(tools, listing, baseline)
    findings = [each.plain() for each in differences]
    ServerState.objects.filter(pk=state.pk, checked_at=now).update(
        listed_at=now,
        failure="",
        baseline=baseline,
        listing=kept(spec, listed),
        fingerprint=fingerprint(listing),
        findings=findings,
        differs_since=(state.differs_since or now) if findings else None,
    )
    if findings != state.findings:
        _tell(state.server, differences)
    return Checked(state.server, differences)


def _tell(server: str, differences: Sequence[Difference]) -> None:
    """One line for whoever reads the log, when what differs is another thing than before."""
    if differences:
        told = "; ".join(map(in_english, differences))
        log.warning("server %s differs from the published definitions: %s", server, told)
    else:
        log.warning("server %s agrees with the published definitions again", server)


def in_english(difference: Difference) -> str:
    """The difference as the command and the log say it; the admin has its own words."""
    tool, argument, detail = difference.tool, difference.argument, difference.detail
    match difference.kind:
        case Kind.TOOL_GONE:
            return f"tool {tool} is not offered"
        case Kind.ARGUMENT_REQUIRED:
            return f"{tool}: argument {argument} is new and required"
        case Kind.ARGUMENT_GONE:
            return f"{tool}: argument {argument} is unknown to the server"
        case Kind.ARGUMENT_TYPE:
            return f"{tool}: argument {argument} is of type {detail} there"
        case Kind.ARGUMENT_ENUM:
            return f"{tool}: argument {argument} does not take {detail}"
        case Kind.DESCRIPTION_CHANGED:
            return f"{tool}: the description changed after it was published"
        case Kind.SCHEMA_CHANGED:
            return f"{tool}: the input schema changed after it was published"
