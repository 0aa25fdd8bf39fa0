"""Which files make up a set, of which kind each is, and how the same kind from several places is merged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath

from tooling.findings import Severity
from tooling.specs import Kind
from tooling.yaml_fields import Report
from tooling.yaml_nodes import (
    Entry,
    ListNode,
    MapNode,
    Node,
    Place,
    Problem,
    ScalarNode,
    describe,
    is_null,
    to_json,
)
from tooling.yaml_reader import MAX_BYTES, read_tree, too_large

YAML = (".yaml", ".yml")
JSON_NAMES = ("mcpservers.json", "mcp_servers.json", "mcp.json", "claude_desktop_config.json")
SINGLE_KINDS = tuple(kind for kind in Kind if kind is not Kind.WORKFLOWS)
NAMES = ", ".join(f"{kind}.yaml" for kind in SINGLE_KINDS)
WORKFLOW_NAME = re.compile(r"(?P<name>.+)\.v(?P<version>[0-9]+)\.ya?ml")

SECTIONS: dict[Kind, dict[str, int]] = {
    Kind.SERVERS: {"mcp_servers": 1, "mcpServers": 1},
    Kind.TOOLS: {"tools": 1},
    Kind.POLICIES: {"defaults": 1, "tool_policies": 1},
    Kind.MAPPINGS: {"mcp_parameter_mapping": 1},
    Kind.ROUTING: {"router": 2, "intents": 1},
    Kind.PROFILES: {"profiles": 1},
}
"""The top-level keys of each kind, and down to which level their mappings are merged key by key."""
MAPPING_SECTIONS = {"defaults": 2, "tools": 1}
"""The same inside ``mcp_parameter_mapping``; its two parts are kept as ``mapping_defaults`` and ``mapping_tools``."""


@dataclass(frozen=True, slots=True)
class File:
    name: str
    data: bytes
    kind: Kind | None


@dataclass(slots=True)
class Sections:
    """The merged top-level mappings of all files, the workflows one by one, and the kinds that were found.

    ``complete`` is false where a part could not be read, so that a reference into it proves nothing.
    """

    maps: dict[str, MapNode] = field(default_factory=dict)
    workflows: list[tuple[str, MapNode]] = field(default_factory=list)
    kinds: set[Kind] = field(default_factory=set)
    complete: bool = True

    def map(self, key: str) -> MapNode:
        return self.maps.get(key) or MapNode((), Place(""))


def kind_of_name(name: str) -> Kind | None:
    """The kind that a file's name says: ``tools.yaml``, ``x.tools.yml``, ``workflows/y.yaml``, ``y.v1.yaml``."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.name.lower() in JSON_NAMES:
        return Kind.SERVERS
    if path.suffix.lower() not in YAML:
        return None
    last = path.stem.rsplit(".", 1)[-1]
    for kind in SINGLE_KINDS:
        if last == kind:
            return kind
    if path.parent.name == Kind.WORKFLOWS or last == "workflow" or WORKFLOW_NAME.fullmatch(path.name):
        return Kind.WORKFLOWS
    return None


def kind_of_content(node: Node) -> Kind | None:
    """The kind whose keys stand at the top of a file with a free name."""
    keys = {entry.key for entry in node.entries} if isinstance(node, MapNode) else set()
    if "nodes" in keys:
        return Kind.WORKFLOWS
    return next((kind for kind, sections in SECTIONS.items() if keys & (sections.keys() - {"defaults"})), None)


def find_files(paths: Sequence[Path], sections: Sections, report: Report) -> list[File]:
    """The files that ``paths`` name, directories opened; names begin as they were typed."""
    files = []
    for path in paths:
        names = _in_directory(path, sections, report) if path.is_dir() else [path]
        for name in names:
            data = _read(name, report)
            if data is None:
                sections.complete = False
            else:
                files.append(File(str(name), data, kind_of_name(str(name))))
    return files


def _in_directory(path: Path, sections: Sections, report: Report) -> list[Path]:
    found = []
    inside = sorted(path.iterdir())
    for file in inside:
        if is_file_of_a_set(file):
            found.append(file)
        elif file.suffix.lower() in YAML and file.is_file():
            report.problems.append(ignored(str(file)))
    workflows = path / Kind.WORKFLOWS
    if workflows.is_dir():
        sections.kinds.add(Kind.WORKFLOWS)
        found += [file for file in sorted(workflows.iterdir()) if file.suffix.lower() in YAML]
    if not found:
        report.problems.append(nothing_in(str(path)))
    return found


def is_file_of_a_set(path: PurePath) -> bool:
    """Whether a file so named, in the directory of a set, is read as part of it."""
    if path.suffix.lower() not in YAML:
        return path.name.lower() in JSON_NAMES
    return path.stem in SINGLE_KINDS or WORKFLOW_NAME.fullmatch(path.name) is not None


def ignored(name: str) -> Problem:
    """What is said of a YAML file in the directory of a set that is not read."""
    message = f"not the name of a definition file, ignored; expected {NAMES}"
    return Problem(Severity.WARNING, "file.ignored", message, name)


def nothing_in(name: str) -> Problem:
    """The refusal of a directory, or an archive, without any definition file."""
    return Problem(Severity.ERROR, "file.none", f"no definition file here; expected {NAMES}", name)


def _read(path: Path, report: Report) -> bytes | None:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            report.problems.append(too_large(str(path), size))
            return None
        return path.read_bytes()
    except OSError as error:
        report.error("file.unreadable", error.strerror or str(error), Place(str(path)))
        return None


def read_sections(files: Iterable[File], sections: Sections, report: Report) -> None:
    """Read and merge ``files`` into ``sections``."""
    for file in files:
        node, problems = read_tree(file.name, file.data)
        report.problems.extend(problems)
        kind = file.kind or (kind_of_content(node) if node is not None else None)
        if node is None:
            sections.complete = False
        elif kind is None:
            message = f"not a definition file; expected {NAMES}, workflows/NAME.vN.yaml or mcpServers.json"
            report.error("file.kind", message, Place(file.name))
        elif not isinstance(node, MapNode):
            report.error("type.mapping", f"expected a mapping, got {describe(node)}", node.place)
        else:
            sections.kinds.add(kind)
            _add(file.name, kind, node, sections, report)


def _add(name: str, kind: Kind, node: MapNode, sections: Sections, report: Report) -> None:
    if kind is Kind.WORKFLOWS:
        sections.workflows.append((name, node))
        return
    _check_version(name, node, report)
    for entry in node.entries:
        depth = SECTIONS[kind].get(entry.key)
        if entry.key == "version" or is_null(entry.value):
            continue
        if kind is Kind.ROUTING and entry.key == "state_policies":
            message = "state_policies are not needed: precedence is fixed (runtime.md §6)"
            report.warning("routing.state_policies", message, entry.place)
        elif depth is None:
            report.unknown_key(entry, SECTIONS[kind])
        elif kind is Kind.MAPPINGS:
            _add_mappings(entry, sections, report)
        else:
            key = "mcp_servers" if entry.key == "mcpServers" else entry.key
            _merge_in(key, _section(entry, report), depth, sections, report)


def _add_mappings(entry: Entry, sections: Sections, report: Report) -> None:
    inner = _section(entry, report)
    for part in inner.entries if inner else ():
        depth = MAPPING_SECTIONS.get(part.key)
        if depth is None:
            report.unknown_key(part, MAPPING_SECTIONS)
        elif not is_null(part.value):
            _merge_in(f"mapping_{part.key}", _section(part, report), depth, sections, report)


def _merge_in(key: str, value: MapNode | None, depth: int, sections: Sections, report: Report) -> None:
    if value is None:
        sections.complete = False
    else:
        earlier = sections.maps.get(key)
        sections.maps[key] = merge(earlier, value, depth, key, report) if earlier else value


def _check_version(name: str, node: MapNode, report: Report) -> None:
    entry = node.get("version")
    if entry is None:
        if not name.endswith(".json"):
            report.warning("file.version_missing", "version is missing; read as version: 1", node.place)
    elif to_json(entry.value) != 1 or isinstance(to_json(entry.value), bool):
        message = f"version: expected 1, got {describe(entry.value)}"
        report.error("file.version", message, entry.value.place)


def _section(entry: Entry, report: Report) -> MapNode | None:
    """The content of one top-level key as a mapping by name."""
    if entry.key == "intents":
        return _intents(entry, report)
    if not isinstance(entry.value, MapNode):
        message = f"{entry.key}: expected a mapping, got {describe(entry.value)}"
        report.error("type.mapping", message, entry.value.place)
        return None
    return _desktop_servers(entry.value) if entry.key == "mcpServers" else entry.value


def _intents(entry: Entry, report: Report) -> MapNode | None:
    if not isinstance(entry.value, ListNode):
        message = f"intents: expected a list, got {describe(entry.value)}"
        report.error("type.list", message, entry.value.place)
        return None
    found: dict[str, Entry] = {}
    for item in entry.value.items:
        name = item.get("name") if isinstance(item, MapNode) else None
        value = to_json(name.value) if name else None
        if not isinstance(value, str):
            report.error("intent.name_missing", "an intent needs a name (a text)", item.place)
        elif value in found:
            hint = f"the first one is in line {found[value].place.line}"
            report.error("intent.twice", f'intent "{value}" is defined twice', item.place, hint)
        else:
            found[value] = Entry(value, item.place, item)
    return MapNode(tuple(found.values()), entry.value.place)


DESKTOP_KEYS = {"url": "endpoint", "serverUrl": "endpoint", "type": "transport", "disabled": "enabled"}
DESKTOP_TRANSPORTS = dict.fromkeys(("http", "streamable-http", "streamableHttp"), "streamable_http")


def _desktop_servers(node: MapNode) -> MapNode:
    """The ``mcpServers`` of a desktop client in the words of mcp_servers.yaml."""
    entries = [
        Entry(entry.key, entry.place, _desktop_server(entry.value)) if isinstance(entry.value, MapNode) else entry
        for entry in node.entries
    ]
    return MapNode(tuple(entries), node.place)


def _desktop_server(node: MapNode) -> MapNode:
    entries = []
    for entry in node.entries:
        value = entry.value
        if isinstance(value, ScalarNode) and entry.key == "disabled" and isinstance(value.value, bool):
            value = ScalarNode(not value.value, value.place)
        if isinstance(value, ScalarNode) and entry.key in ("type", "transport"):
            value = ScalarNode(DESKTOP_TRANSPORTS.get(str(value.value), value.value), value.place)
        entries.append(Entry(DESKTOP_KEYS.get(entry.key, entry.key), entry.place, value))
    return MapNode(tuple(entries), node.place)


def merge(first: MapNode, second: MapNode, depth: int, path: str, report: Report) -> MapNode:
    """Both mappings as one, key by key down to ``depth``; equal duplicates are fine, different ones an error."""
    merged = {entry.key: entry for entry in first.entries}
    for entry in second.entries:
        known = merged.get(entry.key)
        where = f"{path}.{entry.key}"
        if known is None:
            merged[entry.key] = entry
        elif depth > 1 and isinstance(known.value, MapNode) and isinstance(entry.value, MapNode):
            value = merge(known.value, entry.value, depth - 1, where, report)
            merged[entry.key] = Entry(entry.key, known.place, value)
        elif _canonical(known.value) != _canonical(entry.value):
            message = f"{where} differs from {known.place.file}:{known.place.line}; make them equal or remove one"
            report.error("merge.conflict", message, entry.place)
    return MapNode(tuple(merged.values()), first.place)


def _canonical(node: Node) -> object:
    """The value of ``node`` in which true is not 1."""
    match node:
        case ScalarNode(value=value):
            return (type(value).__name__, value)
        case ListNode(items=items):
            return [_canonical(item) for item in items]
        case MapNode(entries=entries):
            return {entry.key: _canonical(entry.value) for entry in entries}
        case _:
            return None


def given_files(files: Mapping[str, bytes]) -> list[File]:
    """Uploaded files by name."""
    return [File(name, data, kind_of_name(name)) for name, data in files.items()]
