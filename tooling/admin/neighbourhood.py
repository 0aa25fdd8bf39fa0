"""What stands around a tool: who names it, and how its live server is."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from tooling import publishing
from tooling.admin import live
from tooling.admin.places import Places
from tooling.drift import Difference
from tooling.models import ServerState, Tool
from tooling.uses import Role, Use, uses_of


@dataclass(frozen=True, slots=True)
class Named:
    sentence: str
    name: str
    url: str


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """``drift``: how the server that is called now differs from what is published of this tool."""

    uses: tuple[Named, ...]
    server: str
    server_url: str
    state: str
    is_disabled: bool
    drift: tuple[str, ...]


def neighbourhood_of(tool: Tool) -> Neighbourhood:
    places = Places()
    uses = sorted(uses_of(tool.name, publishing.draft()), key=lambda use: (list(Role).index(use.role), use.path))
    state = ServerState.objects.filter(server=tool.server.name).first()
    differences = [Difference.of(each) for each in (state.findings if state else ())]
    return Neighbourhood(
        uses=tuple(Named(said_of(use), use.name, places.url_of(use.path)) for use in uses),
        server=tool.server.name,
        server_url=places.url_of(("mcp_servers", tool.server.name)),
        state=live.summary(state),
        is_disabled=not tool.server.enabled,
        drift=tuple(live.told_of(one) for one in differences if one.tool == tool.name),
    )


def said_of(use: Use) -> str:
    match use.role:
        case Role.OFFERED:
            return _("Offered by the intent")
        case Role.VALIDATOR:
            return _("Validates for the policy")
        case Role.RECONCILER:
            return _("Is asked what happened by the policy")
        case Role.FILLED:
            return _("Its arguments are filled by the mapping")
        case Role.STEP:
            return _("Is a step of the workflow")
        case Role.BY_WORKFLOW:
            return _("Runs inside of the workflow")
