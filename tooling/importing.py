"""From a live server into the draft: what it lists, what would be written of it, and writing just that.

Nothing is published here, and a tool that the draft has already is never changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tooling.content import to_plain
from tooling.discovery import Discovery, Found, RefusalKind, Refused, Why, discover
from tooling.draft_edits import Via
from tooling.drafts import add_tools, draft
from tooling.drift import fingerprint
from tooling.errors import ToolingError
from tooling.gateway import ToolGateway
from tooling.probing import Probe, probe
from tooling.recording import changing
from tooling.schema_reading import Note, NoteKind
from tooling.specs import JSON, Definitions, PolicySpec, ToolSpec, ToolType


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a server of the draft; ``draft`` is the draft that the listing was compared with."""

    probe: Probe
    draft: Definitions
    discovery: Discovery


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be added to the draft."""

    tools: Mapping[str, ToolSpec]
    policies: Mapping[str, PolicySpec]
    notes: Mapping[str, tuple[Note, ...]]

    @property
    def fingerprint(self) -> str:
        """Of what would be written: while it stays, what somebody saw is what is written."""
        plain: JSON = [to_plain(dict(self.tools)), to_plain(dict(self.policies))]
        return fingerprint(plain)

    def alone(self) -> Definitions:
        """The new tools and policies as a set of their own, to show them as files."""
        return Definitions(tools=self.tools, policies=self.policies)

    def added_to(self, before: Definitions) -> Definitions:
        return replace(before, tools={**before.tools, **self.tools}, policies={**before.policies, **self.policies})


def look(server: str, gateway: ToolGateway | None = None) -> Look:
    """Ask the draft's server ``server`` for its tools. ToolingError where the draft has no such server."""
    held = draft()
    spec = held.servers.get(server)
    if spec is None:
        others = ", ".join(sorted(held.servers)) or "none"
        raise ToolingError(f'the draft has no server "{server}"; there is {others}')
    found = probe(spec, gateway)
    return Look(found, held, discover(spec, found.tools, held) if found.is_good else Discovery())


def plan(discovery: Discovery, chosen: Mapping[str, ToolType]) -> Plan:
    """What importing the ``chosen`` tools, each as a type, would write; names that cannot be imported are left out."""
    found = [(one, chosen[one.tool.name]) for one in discovery.found if one.tool.name in chosen]
    pairs = [one.as_type(tool_type) for one, tool_type in found]
    return Plan(
        tools={tool.name: tool for tool, _ in pairs},
        policies={policy.tool: policy for _, policy in pairs},
        notes={one.tool.name: one.notes for one, _ in found},
    )


def write(planned: Plan, *, by: object = None) -> list[str]:
    """Add what was planned to the draft, in its turn; the names that were new. ToolingError if their server is gone."""
    with changing(by, Via.SERVER):
        servers = draft().servers
        if gone := {tool.mcp_server for tool in planned.tools.values()} - servers.keys():
            raise ToolingError(f"the draft has no server {', '.join(sorted(gone))} any more; nothing was changed")
        return add_tools(planned.tools, planned.policies)


# For the command, in English; the admin has its own words -----------------------------------------------------


def note_in_english(note: Note) -> str:
    about = f"argument {note.argument}" if note.argument else "the tool"
    match note.kind:
        case NoteKind.UNTYPED:
            return f"{about} has no type there; declared as string"
        case NoteKind.NARROWED:
            return f"{about} may be {note.detail} there; one type is declared"
        case NoteKind.SIMPLIFIED:
            return f"{about} has a schema that a definition cannot hold; its inner rules are left out"
        case NoteKind.LEFT_OUT:
            return f"{about} is left out: its name cannot be used"
        case NoteKind.VALUES:
            return f"{about}: not all of its allowed values could be kept"
        case NoteKind.FORMAT:
            return f"{about}: its format is too long and was left out"
        case NoteKind.CUT:
            return f"{about}: its description was cut"


def why_in_english(found: Found) -> str:
    match found.why:
        case Why.SAYS_READ_ONLY:
            said = "the server says that it only reads"
        case Why.SAYS_IT_CHANGES:
            said = "the server says that it changes something"
        case Why.SAYS_BOTH:
            said = "the server contradicts itself"
        case Why.SAYS_NOTHING:
            said = "the server says nothing about it"
    return f"suggested {found.tool.tool_type}: {said}; nobody checked that"


def refusal_in_english(refused: Refused) -> str:
    match refused.kind:
        case RefusalKind.NAME:
            return "its name cannot be used; letters, digits, _ . - and : are allowed, 100 at most"
        case RefusalKind.TWICE:
            return "it is listed twice"
        case RefusalKind.TAKEN:
            return f"the draft has a tool of that name from server {refused.detail}"
        case RefusalKind.NO_OBJECT:
            return "its input schema is not that of an object"
        case RefusalKind.TOO_LARGE:
            return f"its input schema has {refused.detail} bytes"
        case RefusalKind.TOO_MANY:
            return f"it has {refused.detail} arguments"
        case RefusalKind.ARGUMENT_NAME:
            return f"it requires the argument {json.dumps(refused.detail)}, whose name cannot be used"
        case RefusalKind.INVALID:
            return refused.detail
        case RefusalKind.TOO_MANY_TOOLS:
            return f"{refused.detail} more tools are listed and were not read"
