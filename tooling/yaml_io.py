"""Definition files ↔ ``Definitions``: the one reader and writer of contracts.md §5.

``read_sets`` takes paths, ``read_files`` uploads, ``write`` makes the files of an export. A reading holds all
problems of all files; its ``definitions`` are None as soon as one of them is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tooling.checks_of_sets import check
from tooling.doubts import doubts
from tooling.effective import (
    Legacy,
    PolicyEntry,
    effective_mapping,
    effective_policy,
    says_something,
)
from tooling.findings import Finding, Severity
from tooling.specs import (
    JSON,
    Definitions,
    ExtractSpec,
    Kind,
    MappingSpec,
    PolicySpec,
    RouterSpec,
    ToolSpec,
    WorkflowSpec,
)
from tooling.yaml_fields import Report
from tooling.yaml_files import Sections, find_files, given_files, read_sections
from tooling.yaml_nodes import MapNode, Node, Place, Problem, describe, to_json
from tooling.yaml_reader import read_tree
from tooling.yaml_sections import (
    index,
    read_intents,
    read_profiles,
    read_router,
    read_servers,
    read_workflow,
    read_workflows,
)
from tooling.yaml_tools import (
    Tools,
    read_defaults,
    read_extracts,
    read_mappings,
    read_policies,
    read_tools,
    report_legacy,
)
from tooling.yaml_writer import dump, extract_keys, workflow_keys, write

__all__ = [
    "DRAFT",
    "FOLDER",
    "Problem",
    "Reading",
    "dump",
    "extract_keys",
    "read_extract_text",
    "read_files",
    "read_sets",
    "read_value",
    "read_workflow_text",
    "workflow_keys",
    "write",
]


FOLDER = f"{Kind.WORKFLOWS}/"
"""Says among the names of files that there are no workflows; without it those of the base stay."""


DRAFT = "(draft)"
"""Stands for a file where something is wrong with what the files leave as it was."""


Checks = Callable[[Definitions], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Reading:
    """``kinds`` are those that the files hold; a kind found nowhere came from the base (contracts.md §7)."""

    definitions: Definitions | None
    problems: tuple[Problem, ...]
    kinds: frozenset[Kind] = frozenset()


def read_sets(
    paths: Sequence[Path],
    *,
    stdio_commands: Collection[str] = (),
    base: Definitions | None = None,
    keep: bool = False,
    with_doubts: bool = False,
) -> Reading:
    """Read the files and directories ``paths`` as one set; kinds found nowhere are taken from ``base``.

    ``keep``: of the other kinds, what the files do not name is taken from it, too. ``with_doubts``: also what the
    checks before publishing would warn of.
    """
    sections, report = Sections(), Report()
    files = find_files(paths, sections, report)
    read_sections(files, sections, report)
    definitions = _assemble(sections, report, base or Definitions(), keep=keep)
    checks: list[Checks] = [partial(check, stdio_commands=stdio_commands)]
    if with_doubts:
        checks.append(doubts)
    return _reading(definitions, sections, report, [file.name for file in files], checks)


def read_files(
    files: Mapping[str, bytes],
    *,
    stdio_commands: Collection[str] = (),
    base: Definitions | None = None,
    keep: bool = False,
    unread: Sequence[Problem] = (),
) -> Reading:
    """The same for uploaded files by name; an empty one named FOLDER stands for the empty folder of an export.

    ``unread``: what is wrong with files of the set that could not be taken in.
    """
    sections, report = Sections(), Report(list(unread))
    sections.complete = not any(problem.is_error for problem in unread)
    if files.get(FOLDER) == b"":
        sections.kinds.add(Kind.WORKFLOWS)
    read_sections(given_files({name: data for name, data in files.items() if name != FOLDER or data}), sections, report)
    definitions = _assemble(sections, report, base or Definitions(), keep=keep)
    return _reading(definitions, sections, report, list(files), [partial(check, stdio_commands=stdio_commands)])


def read_workflow_text(text: str, name: str = "workflow") -> tuple[WorkflowSpec | None, tuple[Problem, ...]]:
    """One workflow as typed into a form; None where a problem is an error."""
    node, report = _tree(text, name)
    workflow = None
    if isinstance(node, MapNode):
        workflow = read_workflow(name, node, report)
    elif node is not None:
        report.error("type.mapping", f"expected a mapping, got {describe(node)}", node.place)
    failed = any(problem.is_error for problem in report.problems)
    return None if failed else workflow, tuple(report.problems)


def read_extract_text(text: str, name: str = "extract") -> tuple[tuple[ExtractSpec, ...], tuple[Problem, ...]]:
    """The ``extract`` part of one tool's mapping as typed into a form."""
    node, report = _tree(text, name)
    extracts: tuple[ExtractSpec, ...] = ()
    if isinstance(node, MapNode):
        extracts = read_extracts(node, report)
    elif node is not None:
        report.error("type.mapping", f"expected a mapping, got {describe(node)}", node.place)
    return extracts, tuple(report.problems)


def read_value(text: str, name: str = "value") -> tuple[JSON, tuple[Problem, ...]]:
    """Any value as typed into a form, by the same rules as the files."""
    node, report = _tree(text, name)
    return (to_json(node) if node is not None else None), tuple(report.problems)


def _tree(text: str, name: str) -> tuple[Node | None, Report]:
    node, problems = read_tree(name, text.encode("utf-8", "replace"))
    return node, Report(problems)


def _reading(
    definitions: Definitions, sections: Sections, report: Report, files: list[str], checks: Sequence[Checks]
) -> Reading:
    if sections.complete:
        locate = _locator(report)
        errors = {_spot(one) for one in report.problems if one.is_error}
        for each in checks:
            for finding in each(definitions):
                _add_finding(finding, locate(finding.path), report, errors)
            if any(problem.is_error for problem in report.problems):
                break  # What is doubtful may only follow from what is wrong.
    order = {name: number for number, name in enumerate(files)}
    problems = sorted(report.problems, key=lambda one: (order.get(one.file, -1), one.line, one.column))
    failed = any(problem.is_error for problem in problems)
    return Reading(None if failed else definitions, tuple(problems), frozenset(sections.kinds))


def _locator(report: Report) -> Callable[[tuple[str, ...]], Place | None]:
    """Where a path stands: itself, the nearest key above it, else the tool it is about."""

    def locate(path: tuple[str, ...]) -> Place | None:
        ways = [path[:length] for length in range(len(path), 1, -1)]
        if path[0] in (Kind.POLICIES, Kind.MAPPINGS):
            ways.append(("tools", path[1]))
        return next((report.places[way] for way in ways if way in report.places), None)

    return locate


Spot = tuple[str, int, int]


def _spot(place: Place | Problem) -> Spot:
    return (place.file, place.line, place.column)


def _add_finding(finding: Finding, place: Place | None, report: Report, errors: set[Spot]) -> None:
    """Report ``finding`` unless its place is among the ``errors`` already, of which this only follows."""
    severity = finding.severity
    if place is None:
        if severity is not Severity.ERROR:
            return  # About what stays as it was; the checks before publishing show it.
        place = Place(DRAFT)
    elif finding.code == "workflow.action_unknown":
        # A leftover of the draft that nobody runs is only worth a warning; what is being imported must be right.
        severity = Severity.ERROR
    if _spot(place) in errors:
        return
    if severity is Severity.ERROR:
        errors.add(_spot(place))
        report.error(finding.code, finding.message, place)
    elif severity is Severity.WARNING:
        report.warning(finding.code, finding.message, place)
    else:
        report.note(finding.code, finding.message, place)


INDEXED = {
    "mcp_servers": "mcp_servers",
    "tools": "tools",
    "tool_policies": "tool_policies",
    "mapping_tools": "mcp_parameter_mapping",
    "router": "router",
    "intents": "intents",
    "profiles": "profiles",
}
"""Section → the first step of the paths of its findings."""


def _assemble(sections: Sections, report: Report, base: Definitions, *, keep: bool) -> Definitions:
    """The set as the files and ``base`` say it, with every policy and mapping made effective."""
    beside = base if keep else _without(base, sections.kinds)
    for section, name in INDEXED.items():
        index(name, sections.map(section), report)
    known, read = _known_tools(beside), read_tools(sections.map("tools"), report)
    tools = Tools(known.specs | read.specs, known.legacy | read.legacy, read.legacy_entries)
    policies = _policies(sections, report, tools, beside)
    has_router = "router" in sections.maps
    return Definitions(
        servers={**beside.servers, **read_servers(sections.map("mcp_servers"), report)},
        tools=tools.specs,
        policies=policies,
        mappings=_mappings(sections, report, tools.specs, policies, beside),
        intents={**beside.intents, **read_intents(sections.map("intents"), report)},
        router=read_router(sections.map("router"), report) if has_router else beside.router,
        profiles={**beside.profiles, **read_profiles(sections.map("profiles"), report)},
        workflows={**beside.workflows, **read_workflows(sections.workflows, report)},
    )


def _without(base: Definitions, kinds: Collection[Kind]) -> Definitions:
    """What of ``base`` stands beside files that hold ``kinds`` as a whole."""
    return Definitions(
        servers={} if Kind.SERVERS in kinds else base.servers,
        tools={} if Kind.TOOLS in kinds else base.tools,
        policies={} if Kind.POLICIES in kinds else base.policies,
        mappings={} if Kind.MAPPINGS in kinds else base.mappings,
        intents={} if Kind.ROUTING in kinds else base.intents,
        router=RouterSpec() if Kind.ROUTING in kinds else base.router,
        profiles={} if Kind.PROFILES in kinds else base.profiles,
        workflows={} if Kind.WORKFLOWS in kinds else base.workflows,
    )


def _known_tools(base: Definitions) -> Tools:
    return Tools(dict(base.tools), {name: Legacy(tool.tool_type) for name, tool in base.tools.items()})


def _policies(sections: Sections, report: Report, tools: Tools, beside: Definitions) -> dict[str, PolicySpec]:
    """One effective policy per tool, and one per entry that no tool answers to (an error of its own)."""
    entries = {
        name: PolicyEntry(policy, policy.operation_type, policy.require_confirmation)
        for name, policy in beside.policies.items()
        if name in tools.specs
    }
    entries |= read_policies(sections.map("tool_policies"), report)
    defaults = read_defaults(sections.map("defaults"), report)
    report_legacy(tools, entries, report)
    names = [*tools.specs, *(name for name in entries if name not in tools.specs)]
    return {
        name: effective_policy(name, entries.get(name), tools.legacy.get(name, Legacy()), defaults) for name in names
    }


def _mappings(
    sections: Sections,
    report: Report,
    tools: Mapping[str, ToolSpec],
    policies: Mapping[str, PolicySpec],
    beside: Definitions,
) -> dict[str, MappingSpec]:
    if Kind.MAPPINGS not in sections.kinds:
        return {name: mapping for name, mapping in beside.mappings.items() if name in tools}
    read = read_mappings(sections.map("mapping_defaults"), sections.map("mapping_tools"), report)
    own = {**beside.mappings, **read.own}
    effective = {
        name: effective_mapping(tool, policies[name], own.get(name, MappingSpec(name)), read.shared)
        for name, tool in tools.items()
    }
    strangers = {name: mapping for name, mapping in read.own.items() if name not in tools}
    return {name: one for name, one in effective.items() if says_something(one)} | strangers
