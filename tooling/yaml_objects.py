"""One object of the draft ↔ the YAML of its file: the same reader, checks and messages as for whole files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tooling.checks_of_sets import check
from tooling.checks_of_tools import check_extract
from tooling.effective import Legacy, PolicyEntry, effective_policy
from tooling.specs import (
    Definitions,
    IntentSpec,
    Kind,
    MappingSpec,
    PolicySpec,
    ProfileSpec,
    RouterSpec,
    ServerSpec,
    ToolSpec,
)
from tooling.yaml_fields import Report
from tooling.yaml_files import File, Sections, read_sections
from tooling.yaml_nodes import MapNode, Place, Problem
from tooling.yaml_sections import index, read_intents, read_profiles, read_router, read_servers
from tooling.yaml_tools import read_mappings, read_policies, read_tools
from tooling.yaml_writer import dump, entry

NAME = "text"
EMPTY = MapNode((), Place(NAME))


@dataclass(frozen=True, slots=True)
class Where:
    """``section``: of the reader; ``path``: the first step of findings; ``field``: of Definitions."""

    kind: Kind
    section: str
    path: str
    field: str


PLACES: Mapping[type, Where] = {
    ServerSpec: Where(Kind.SERVERS, "mcp_servers", "mcp_servers", "servers"),
    ToolSpec: Where(Kind.TOOLS, "tools", "tools", "tools"),
    PolicySpec: Where(Kind.POLICIES, "tool_policies", "tool_policies", "policies"),
    MappingSpec: Where(Kind.MAPPINGS, "mapping_tools", "mcp_parameter_mapping", "mappings"),
    IntentSpec: Where(Kind.ROUTING, "intents", "intents", "intents"),
    RouterSpec: Where(Kind.ROUTING, "router", "router", "router"),
    ProfileSpec: Where(Kind.PROFILES, "profiles", "profiles", "profiles"),
}
ABOUT_OTHERS = (
    "intent.tool_unknown",
    "mapping.argument_unknown",
    "mapping.default_",
    "policy.reconcile_",
    "policy.requires_unknown",
    "policy.validator_",
    "policy.workflow_unknown",
    "policy.workflow_version_unknown",
    "policy.workflow_without_tool",
)
"""Errors that another object may still correct: the draft takes them, and they are told until it is published."""


@dataclass(frozen=True, slots=True)
class Object:
    """``spec`` is None as soon as one of the problems is an error."""

    spec: Any
    problems: tuple[Problem, ...]


def write_object(spec: Any) -> str:
    """The text of one object; TypeError for a workflow, which is a file of its own."""
    return dump({"version": 1, **entry(spec)})


def read_object(text: str, known: Any, draft: Definitions, *, stdio_commands: Collection[str] = ()) -> Object:
    """What ``text`` makes of the object ``known`` of ``draft``: exactly one of its kind, for a policy of its tool."""
    where, sections, report = PLACES[type(known)], Sections(), Report()
    section = "mapping_defaults" if _is_shared(known) else where.section
    read_sections([File(NAME, text.encode("utf-8", "replace"), where.kind)], sections, report)
    spec = _only(section, known, sections, report) if sections.complete else None
    if isinstance(spec, PolicyEntry):
        tool = draft.tools.get(known.tool)
        spec = effective_policy(known.tool, spec, Legacy(tool.tool_type if tool else None))
    if spec is not None:
        index(where.path, sections.map(section), report)
        _check(spec, known, draft, report, stdio_commands)
    problems = tuple(sorted(report.problems, key=lambda one: (one.line, one.column)))
    return Object(None if any(problem.is_error for problem in problems) else spec, problems)


def _is_shared(known: Any) -> bool:
    """Whether it is the mapping that goes for all tools."""
    return isinstance(known, MappingSpec) and not known.tool


def _only(section: str, known: Any, sections: Sections, report: Report) -> Any:
    """The one object of the text; None, reported, where there is none, more than one, or something else."""
    for key, node in sections.maps.items():
        if key != section and node.entries:
            report.error("object.other", f'"{_said(key)}" does not belong here; remove it', node.place)
    node = sections.map(section)
    if section in ("router", "mapping_defaults"):
        return _read(section, node, known, report)
    if len(node.entries) != 1:
        place = node.entries[1].place if node.entries else node.place
        message = f'exactly one entry is expected below "{_said(section)}", got {len(node.entries)}'
        report.error("object.count", message, place)
        return None
    tool = getattr(known, "tool", None)
    if tool is not None and node.entries[0].key != tool:
        message = f'this belongs to the tool "{tool}", which cannot be changed here'
        report.error("object.tool", message, node.entries[0].place)
        return None
    return _read(section, node, known, report)


def _said(section: str) -> str:
    """The key of the file for a section of the reader."""
    return {"mapping_tools": "tools", "mapping_defaults": "defaults"}.get(section, section)


def _read(section: str, node: MapNode, known: Any, report: Report) -> Any:
    found: Mapping[str, Any]
    match section:
        case "router":
            return read_router(node, report)
        case "mapping_defaults":
            return read_mappings(node, EMPTY, report).shared
        case "mcp_servers":
            found = read_servers(node, report)
        case "tools":
            found = _tools(node, report)
        case "tool_policies":
            found = read_policies(node, report)
        case "mapping_tools":
            found = read_mappings(EMPTY, node, report).own
        case "intents":
            found = read_intents(node, report)
        case _:
            found = read_profiles(node, report)
    return next(iter(found.values()), None)


def _tools(node: MapNode, report: Report) -> Mapping[str, ToolSpec]:
    tools = read_tools(node, report)
    for entries in tools.legacy_entries.values():
        for key, one in entries.items():
            report.error("object.legacy", f'"{key}" belongs to the policy of the tool; write it there', one.place)
    return tools.specs


def _check(spec: Any, known: Any, draft: Definitions, report: Report, stdio_commands: Collection[str]) -> None:
    """Report the errors of the checks about this object that nothing but its own text can correct."""
    where = PLACES[type(known)]
    name = getattr(spec, "name", "") or getattr(spec, "tool", "")
    if _is_shared(known):
        found = [one for extract in spec.extract for one in check_extract(extract, (where.path, "", extract.field))]
    else:
        whole = _with(draft, where.field, spec, getattr(known, "name", "") or name)
        found = list(check(whole, stdio_commands=stdio_commands))
    for finding in found:
        is_ours = finding.path[0] == where.path and (where.path == "router" or finding.path[1:2] == (name,))
        if finding.is_error and is_ours and not finding.code.startswith(ABOUT_OTHERS):
            ways = (finding.path[:length] for length in range(len(finding.path), 0, -1))
            place = next((report.places[way] for way in ways if way in report.places), Place(NAME))
            report.error(finding.code, finding.message, place, finding.hint)


def _with(draft: Definitions, field: str, spec: Any, old_name: str) -> Definitions:
    """``draft`` with ``spec`` in the place of what was called ``old_name``."""
    if field == "router":
        return replace(draft, router=spec)
    others = {name: one for name, one in getattr(draft, field).items() if name != old_name}
    others[getattr(spec, "name", "") or getattr(spec, "tool", "")] = spec
    changed: dict[str, Any] = {field: others}
    return replace(draft, **changed)
