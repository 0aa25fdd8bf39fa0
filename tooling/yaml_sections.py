"""Servers, intents, the router, profiles and workflows: merged mappings of the files → specs."""

from __future__ import annotations

from pathlib import PurePosixPath

from tooling.specs import (
    IntentSpec,
    Phrases,
    ProfileSpec,
    RouterSpec,
    ServerSpec,
    Transport,
    WorkflowEdge,
    WorkflowNode,
    WorkflowSpec,
)
from tooling.yaml_fields import Fields, Report, fields_of_each
from tooling.yaml_files import WORKFLOW_NAME
from tooling.yaml_nodes import BadNode, ListNode, MapNode, Place, describe, places_below, to_json


def read_servers(node: MapNode, report: Report) -> dict[str, ServerSpec]:
    return {name: _server(name, fields) for name, fields in fields_of_each(node, report)}


def _server(name: str, fields: Fields) -> ServerSpec:
    transport = fields.choice("transport", Transport, "server.transport_unknown")
    command, endpoint = fields.text("command"), fields.text("endpoint")
    if transport is None:
        transport = Transport.STDIO if command and not endpoint else Transport.STREAMABLE_HTTP
    enabled = fields.boolean("enabled")
    server = ServerSpec(
        name=name,
        transport=transport,
        endpoint=endpoint,
        command=command,
        args=fields.texts("args") or (),
        enabled=enabled is not False,
        headers=fields.text_map("headers"),
        env=fields.text_map("env"),
    )
    fields.finish()
    return server


def read_intents(node: MapNode, report: Report) -> dict[str, IntentSpec]:
    return {name: _intent(name, fields) for name, fields in fields_of_each(node, report)}


def _intent(name: str, fields: Fields) -> IntentSpec:
    fields.text("name")
    enabled = fields.boolean("enabled")
    priority = fields.integer("priority")
    intent = IntentSpec(
        name=name,
        description=fields.localized("description"),
        mcp_tools=fields.texts("mcp_tools") or (),
        keywords=fields.texts("keywords") or (),
        examples=fields.texts("examples") or (),
        priority=IntentSpec("").priority if priority is None else priority,
        enabled=enabled is not False,
        domain=fields.text("domain"),
        agent=fields.text("agent"),
    )
    fields.finish()
    return intent


def read_router(node: MapNode, report: Report) -> RouterSpec:
    fields = Fields(node, node.place, report)
    threshold = fields.number("confidence_threshold")
    phrases = {}
    for locale, inner in fields.each("confirmation_phrases"):
        phrases[locale] = Phrases(inner.texts("confirm") or (), inner.texts("reject") or ())
        inner.finish()
    fields.finish()
    return RouterSpec(RouterSpec().confidence_threshold if threshold is None else threshold, phrases)


def read_profiles(node: MapNode, report: Report) -> dict[str, ProfileSpec]:
    return {name: _profile(name, fields) for name, fields in fields_of_each(node, report)}


def _profile(name: str, fields: Fields) -> ProfileSpec:
    profile = ProfileSpec(
        name=name,
        provider=fields.text("provider"),
        model=fields.text("model"),
        base_url=fields.text("base_url"),
        api_key_env=fields.text("api_key_env"),
        temperature=fields.number("temperature"),
        max_tokens=fields.integer("max_tokens"),
        timeout_seconds=fields.number("timeout_seconds"),
    )
    fields.finish()
    return profile


def read_workflows(files: list[tuple[str, MapNode]], report: Report) -> dict[tuple[str, int], WorkflowSpec]:
    """Every workflow of ``files``; the same one twice must be equal."""
    found: dict[tuple[str, int], WorkflowSpec] = {}
    for file, node in files:
        workflow = read_workflow(file, node, report)
        if workflow is None:
            continue
        key = (workflow.name, workflow.version)
        if key not in found:
            path = ("workflows", workflow.name, str(workflow.version))
            report.places.update(places_below(path, node.place, node))
        elif found[key] != workflow:
            place = report.places["workflows", workflow.name, str(workflow.version)]
            message = f"workflow {workflow.name} v{workflow.version} differs from {place.file}"
            report.error("merge.conflict", message, node.place, "make them equal or remove one")
        found.setdefault(key, workflow)
    return found


def read_workflow(file: str, node: MapNode, report: Report) -> WorkflowSpec | None:
    """The workflow of one file; None, reported, where it has no name or version."""
    fields = Fields(node, node.place, report)
    name, version = fields.text("name"), fields.integer("version", least=1)
    workflow = WorkflowSpec(
        name=name,
        version=version or 0,
        start=fields.text("start"),
        nodes=tuple(_node(inner) for inner in _each_in_list(fields, "nodes")),
        edges=tuple(_edge(inner) for inner in _each_in_list(fields, "edges")),
    )
    fields.finish()
    for key, value in (("name", name), ("version", version)):
        if not value and not fields.has(key):
            report.error(f"workflow.{key}_missing", f"a workflow needs a {key}", node.place)
    if not name or version is None:
        return None
    said = WORKFLOW_NAME.fullmatch(PurePosixPath(file).name)
    if said and (said["name"], int(said["version"])) != (name, version):
        message = f'the file holds workflow "{name}" version {version}; name it {name}.v{version}.yaml'
        report.warning("workflow.file_name", message, Place(file))
    return workflow


def _each_in_list(fields: Fields, key: str) -> list[Fields]:
    """The mappings of a list of mappings; other elements are reported."""
    entry = fields.entry(key)
    if entry is None:
        return []
    if not isinstance(entry.value, ListNode):
        fields.wrong("type.list", key, "a list", entry.value)
        return []
    found = []
    for item in entry.value.items:
        if isinstance(item, MapNode):
            found.append(Fields(item, item.place, fields.report))
        elif not isinstance(item, BadNode):
            message = f"{key}: expected a list of mappings, got {describe(item)}"
            fields.report.error("type.mapping", message, item.place)
    return found


def _node(fields: Fields) -> WorkflowNode:
    node = WorkflowNode(fields.text("id"), fields.text("action"), fields.json_map("input"), fields.json_map("retry"))
    fields.finish()
    return node


def _edge(fields: Fields) -> WorkflowEdge:
    priority = fields.integer("priority")
    edge = WorkflowEdge(fields.text("from"), fields.text("to"), _when(fields), priority or 0)
    fields.finish()
    return edge


def _when(fields: Fields) -> dict[str, object]:
    """The condition of an edge; ``equals: null`` is kept, because null is a value there."""
    inner = fields.mapping("when")
    return to_json(inner.node) if inner else {}


def index(section: str, node: MapNode, report: Report) -> None:
    """Remember where every path below ``section`` stands."""
    for entry in node.entries:
        report.places.update(places_below((section, entry.key), entry.place, entry.value))
