"""A tool as a live server lists it → our definition of it, what of it does not fit in, and what it only suggests.

Pure. Everything a server sends is data to be judged: sizes are bounded, nothing raises, and what a server claims about
itself never decides alone whether a customer is asked first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tooling.checks_of_sets import LONGEST_NAME, check, check_name
from tooling.cleaning import clean_json, clean_text
from tooling.effective import Legacy, PolicyEntry, effective_policy
from tooling.gateway import RemoteTool
from tooling.schema_reading import Note, NoteKind, argument_of, cut, properties_of
from tooling.specs import JSON, ArgumentSpec, Definitions, PolicySpec, ServerSpec, Text, ToolSpec, ToolType

LARGEST_SCHEMA = 256 * 1024
"""Bytes of one input schema; a whole file of definitions may have four times as many."""
MOST_ARGUMENTS = 200
MOST_TOOLS = 400
"""So that a form with two fields per tool stays below the limit of Django."""
LONGEST_DESCRIPTION = 4000


class Why(StrEnum):
    """What the suggested type rests on. Annotations are what the server says of itself; nobody checked them."""

    SAYS_READ_ONLY = "says_read_only"
    SAYS_IT_CHANGES = "says_it_changes"
    SAYS_BOTH = "says_both"
    SAYS_NOTHING = "says_nothing"


class RefusalKind(StrEnum):
    """Why a listed tool cannot be imported."""

    NAME = "name"
    TWICE = "twice"
    TAKEN = "taken"
    NO_OBJECT = "no_object"
    TOO_LARGE = "too_large"
    TOO_MANY = "too_many"
    ARGUMENT_NAME = "argument_name"
    INVALID = "invalid"
    TOO_MANY_TOOLS = "too_many_tools"


@dataclass(frozen=True, slots=True)
class Refused:
    """One tool that stays out. ``name`` is shortened; ``detail`` depends on the kind."""

    name: str
    kind: RefusalKind
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """One tool that can be imported; ``tool`` has the suggested type."""

    tool: ToolSpec
    requires: tuple[str, ...]
    why: Why
    notes: tuple[Note, ...] = ()

    def as_type(self, tool_type: ToolType) -> tuple[ToolSpec, PolicySpec]:
        """The tool and its policy if it is imported as ``tool_type``: actions are transactional and ask first."""
        name = self.tool.name
        tool = ToolSpec(
            name, self.tool.description, self.tool.mcp_server, tool_type=tool_type, arguments=self.tool.arguments
        )
        entry = PolicyEntry(PolicySpec(name, requires=self.requires))
        return tool, effective_policy(name, entry, Legacy(tool_type))


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a listing comes to: what can be imported, what the draft has already, what is refused."""

    found: tuple[Found, ...] = ()
    known: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()

    def of(self, name: str) -> Found | None:
        return next((found for found in self.found if found.tool.name == name), None)


def discover(server: ServerSpec, offered: Sequence[RemoteTool], draft: Definitions) -> Discovery:
    """Every tool of a listing, in the listing's order; what comes after the first ``MOST_TOOLS`` is refused as one."""
    found: list[Found] = []
    known: list[str] = []
    refused: list[Refused] = []
    seen: set[str] = set()
    for remote in offered[:MOST_TOOLS]:
        one = _judged(server, remote, draft, seen)
        seen.add(remote.name)
        match one:
            case Found():
                found.append(one)
            case Refused():
                refused.append(one)
            case str():
                known.append(one)
    if len(offered) > MOST_TOOLS:
        refused.append(Refused("…", RefusalKind.TOO_MANY_TOOLS, str(len(offered) - MOST_TOOLS)))
    return Discovery(tuple(found), tuple(known), tuple(refused))


def _judged(server: ServerSpec, remote: RemoteTool, draft: Definitions, seen: set[str]) -> Found | Refused | str:
    """The tool, why it is refused, or its name where the draft has it from this server already."""
    if remote.name in seen:
        return Refused(cut(remote.name, LONGEST_NAME), RefusalKind.TWICE)
    held = draft.tools.get(remote.name)
    if held is not None and held.mcp_server == server.name:
        return held.name
    if held is not None:
        return Refused(held.name, RefusalKind.TAKEN, held.mcp_server)
    found = read_tool(server.name, remote)
    if isinstance(found, Refused):
        return found
    error = _error_of(server, found)
    return Refused(found.tool.name, RefusalKind.INVALID, error) if error else found


def _error_of(server: ServerSpec, found: Found) -> str:
    """What would keep a draft with this tool from being published; nothing known, but no listing may cause it."""
    tool, policy = found.as_type(found.tool.tool_type)
    alone = Definitions({server.name: server}, {tool.name: tool}, {tool.name: policy})
    errors = (str(finding) for finding in check(alone) if finding.is_error and finding.path[0] != "mcp_servers")
    return next(errors, "")


def read_tool(server: str, remote: RemoteTool) -> Found | Refused:
    """The definition of one listed tool; its suggested type is the one of ``suggestion``."""
    shown = cut(clean_text(remote.name), LONGEST_NAME)
    if any(check_name(remote.name, ("tools", shown))):
        return Refused(shown, RefusalKind.NAME)
    schema = clean_json(remote.input_schema)
    size = len(json.dumps(schema, ensure_ascii=False).encode())
    if size > LARGEST_SCHEMA:
        return Refused(shown, RefusalKind.TOO_LARGE, str(size))
    read = properties_of(schema)
    if read is None:
        return Refused(shown, RefusalKind.NO_OBJECT)
    if len(read.schemas) > MOST_ARGUMENTS:
        return Refused(shown, RefusalKind.TOO_MANY, str(len(read.schemas)))
    bad = next((name for name in read.required if _is_bad(name)), None)
    if bad is not None:
        return Refused(shown, RefusalKind.ARGUMENT_NAME, cut(bad, LONGEST_NAME))
    arguments, notes = _arguments(read.schemas, schema)
    text = cut(clean_text(remote.description), LONGEST_DESCRIPTION)
    if text != clean_text(remote.description):
        notes = [Note(NoteKind.CUT), *notes]
    tool_type, why = suggestion(remote.annotations)
    tool = ToolSpec(remote.name, Text(text), server, tool_type=tool_type, arguments=tuple(arguments))
    required = tuple(name for name in tool.argument_names if name in read.required)
    return Found(tool, required, why, (*read.notes, *notes))


def _is_bad(name: str) -> bool:
    return any(check_name(name, (name,)))


def _arguments(schemas: Mapping[str, JSON], root: Mapping[str, JSON]) -> tuple[list[ArgumentSpec], list[Note]]:
    """Every argument with a usable name, and what of them could not be said."""
    arguments: list[ArgumentSpec] = []
    notes: list[Note] = []
    for name, schema in schemas.items():
        if _is_bad(name):
            notes.append(Note(NoteKind.LEFT_OUT, cut(name, LONGEST_NAME)))
            continue
        argument, about = argument_of(name, schema, root)
        arguments.append(argument)
        notes += about
    return arguments, notes


def suggestion(annotations: Mapping[str, JSON]) -> tuple[ToolType, Why]:
    """The type that a server's annotations suggest. Without a clear word it is an action, which asks the customer."""
    reads_only, destroys = annotations.get("readOnlyHint"), annotations.get("destructiveHint")
    if reads_only is True and destroys is True:
        return ToolType.ACTION, Why.SAYS_BOTH
    if reads_only is True:
        return ToolType.QUERY, Why.SAYS_READ_ONLY
    if reads_only is False or destroys is not None:
        return ToolType.ACTION, Why.SAYS_IT_CHANGES
    return ToolType.ACTION, Why.SAYS_NOTHING
