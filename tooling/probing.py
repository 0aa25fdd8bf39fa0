"""Whether a server can be reached and speaks MCP: one try, and in which way it failed, without any secret."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tooling.gateway import NoAnswer, NotSent, RemoteTool, ToolGateway
from tooling.specs import ServerSpec

LISTING_SECONDS = 10.0
SLOW_SECONDS = 3.0


class Reached(StrEnum):
    """What one try came to."""

    WELL = "well"
    SLOWLY = "slowly"
    NOT_CONNECTED = "not_connected"
    NOT_LET_IN = "not_let_in"
    NOT_MCP = "not_mcp"
    TOO_SLOW = "too_slow"
    NOT_TRIED = "not_tried"


@dataclass(frozen=True, slots=True)
class Probe:
    """``tools``: how many it lists. ``reason``: the gateway's own words where it failed."""

    reached: Reached
    seconds: float
    tools: tuple[RemoteTool, ...] = ()
    reason: str = ""

    @property
    def is_good(self) -> bool:
        return self.reached in (Reached.WELL, Reached.SLOWLY)


def probe(server: ServerSpec, gateway: ToolGateway | None = None) -> Probe:
    """Connect to ``server`` as the runtime would and list its tools; never raises, never calls a tool."""
    began = time.monotonic()
    listed = (gateway or _gateway()).list_tools(server, LISTING_SECONDS)
    return judged(listed, time.monotonic() - began)


def _gateway() -> ToolGateway:
    from tooling.mcp_client import gateway  # the MCP SDK takes long to import, and most processes never ask

    return gateway()


def judged(listed: Sequence[RemoteTool] | NotSent | NoAnswer, seconds: float) -> Probe:
    """The listing, or the failure of one, as a probe."""
    if isinstance(listed, NotSent | NoAnswer):
        is_never_tried = isinstance(listed, NotSent) and not listed.again
        reached = Reached.NOT_TRIED if is_never_tried else kind_of(listed.reason)
        return Probe(reached, seconds, reason=listed.reason)
    reached = Reached.WELL if seconds < SLOW_SECONDS else Reached.SLOWLY
    return Probe(reached, seconds, tuple(listed))


NO_CONNECTION = re.compile(r"ConnectError|ConnectTimeout|FileNotFoundError|PermissionError|ProxyError|\[Errno")
LATE = re.compile(r"in time|no answer within|ReadTimeout|do not move on")


def kind_of(reason: str) -> Reached:
    """In which way a try failed, from the words of the gateway."""
    if re.search(r"HTTP (401|403)\b", reason):
        return Reached.NOT_LET_IN
    if LATE.search(reason):
        return Reached.TOO_SLOW
    return Reached.NOT_CONNECTED if NO_CONNECTION.search(reason) else Reached.NOT_MCP
