"""Whether a workflow can run: a start, known actions, every node reachable, no cycle, references that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tooling.findings import Finding, Findings, Severity, did_you_mean, warning
from tooling.specs import JSON, Definitions, ExecutionMode, OperationType, WorkflowEdge, WorkflowNode, WorkflowSpec

MOST_NODES = 200
MOST_EDGES = 1000
REFERENCE = re.compile(r"\$\.(?P<root>[^.]+)\.(?P<name>[^.]+)(\..+)?")
OPERATORS = ("equals", "not_equals", "exists", "in")
RETRY_KEYS = ("max_attempts", "wait_seconds")
Path = tuple[str, ...]


def workflow_path(workflow: WorkflowSpec) -> Path:
    return ("workflows", workflow.name, str(workflow.version))


def check_workflows(definitions: Definitions) -> Findings:
    for workflow in definitions.workflows.values():
        yield from check_workflow(workflow, definitions)


def check_workflow(workflow: WorkflowSpec, definitions: Definitions) -> Findings:
    path = workflow_path(workflow)
    if workflow.version < 1:
        yield Finding("workflow.version", "version must be 1 or higher", (*path, "version"))
    if not workflow.nodes:
        yield Finding("workflow.empty", "a workflow needs at least one node", path)
        return
    if len(workflow.nodes) > MOST_NODES or len(workflow.edges) > MOST_EDGES:
        message = f"a workflow has at most {MOST_NODES} nodes and {MOST_EDGES} edges"
        yield Finding("workflow.too_large", message, path)
        return
    yield from _check_nodes(workflow, definitions)
    yield from _check_actions(workflow, definitions)
    yield from _check_graph(workflow)
    yield from _check_references(workflow, definitions)


def _check_nodes(workflow: WorkflowSpec, definitions: Definitions) -> Findings:
    users = _users(workflow, definitions)
    seen: set[str] = set()
    for number, node in enumerate(workflow.nodes):
        path = (*workflow_path(workflow), "nodes", str(number))
        if not node.id:
            yield Finding("workflow.node_id_missing", f"node {number + 1} has no id", path)
        elif node.id in seen:
            yield Finding("workflow.node_twice", f'node "{node.id}" is defined twice', (*path, "id"))
        seen.add(node.id)
        if not node.action:
            yield Finding("workflow.action_missing", f'node "{node.id}" has no action', path)
        elif node.action not in definitions.tools:
            near = did_you_mean(node.action, definitions.tools)
            message = f'action "{node.action}" is not in tools.yaml{near}'
            severity = Severity.ERROR if users else Severity.WARNING
            yield Finding("workflow.action_unknown", message, (*path, "action"), severity)
        else:
            yield from _check_input_names(node, definitions, path)
        yield from _check_retry(node.retry, (*path, "retry"))


def _users(workflow: WorkflowSpec, definitions: Definitions) -> list[str]:
    """The tools whose policy runs this workflow, whatever the version."""
    return [
        policy.tool
        for policy in definitions.policies.values()
        if policy.execution.mode is ExecutionMode.WORKFLOW and policy.execution.workflow == workflow.name
    ]


def _check_actions(workflow: WorkflowSpec, definitions: Definitions) -> Findings:
    """A workflow calls the tool that runs it in one place, and beside it nothing that changes anything.

    So a run has one call that must not be repeated, as a direct call has (runtime.md §9).
    """
    for user in _users(workflow, definitions):
        own = [node.id for node in workflow.nodes if node.action == user]
        if len(own) > 1:
            names = ", ".join(own)
            message = f"more than one node calls {user}: {names}; it is called once"
            yield Finding("workflow.tool_twice", message, (*workflow_path(workflow), "nodes"))
    for number, node in enumerate(workflow.nodes):
        path = (*workflow_path(workflow), "nodes", str(number))
        changes = definitions.policy(node.action).operation_type is OperationType.TRANSACTIONAL
        for user in _users(workflow, definitions):
            if changes and node.action in definitions.tools and node.action != user:
                message = f"{node.action} is transactional; of those a workflow of {user} may call only {user}"
                yield Finding("workflow.second_action", message, (*path, "action"))
        tries = node.retry.get("max_attempts")
        if isinstance(tries, int | float) and tries > 1 and node.action in definitions.tools:
            yield from _check_retried(node, definitions, (*path, "retry"))


def _check_retried(node: WorkflowNode, definitions: Definitions, path: Path) -> Findings:
    operation = definitions.policy(node.action).operation_type
    if operation not in (OperationType.READ_ONLY, OperationType.INTERNAL):
        message = f"retry has no effect: {node.action} is {operation}, not read_only or internal"
        yield warning("workflow.retry_unused", message, path)


def _check_input_names(node: WorkflowNode, definitions: Definitions, path: Path) -> Findings:
    tool = definitions.tools[node.action]
    for name in node.input:
        if tool.argument(name) is None:
            near = did_you_mean(name, tool.argument_names)
            message = f'input "{name}" is not in the args_schema of {node.action}{near}'
            yield Finding("workflow.argument_unknown", message, (*path, "input", name))


def _check_retry(retry: Mapping[str, JSON], path: Path) -> Findings:
    for key, value in retry.items():
        if key not in RETRY_KEYS:
            message = f'unknown key "{key}": has no effect; remove it'
            yield warning("key.unknown", message, (*path, key))
        elif isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            yield Finding("workflow.retry", f"{key}: expected a number of 0 or more", (*path, key))


def _check_graph(workflow: WorkflowSpec) -> Findings:
    path = workflow_path(workflow)
    ids = [node.id for node in workflow.nodes]
    if not workflow.start:
        yield Finding("workflow.start_missing", "the workflow names no start", path)
    elif workflow.start not in ids:
        near = did_you_mean(workflow.start, ids)
        message = f'start "{workflow.start}" is not a node{near}'
        yield Finding("workflow.start_unknown", message, (*path, "start"))
    for number, edge in enumerate(workflow.edges):
        for key, end in (("from", edge.source), ("to", edge.target)):
            if end not in ids:
                near = did_you_mean(end, ids)
                message = f'edge {key} "{end}", which is not a node{near}'
                yield Finding("workflow.edge_unknown", message, (*path, "edges", str(number), key))
    yield from _check_cycles(workflow)
    yield from _check_order(workflow)
    if workflow.start in ids:
        reached = {workflow.start} | _below(workflow, workflow.start)
        for number, node in enumerate(workflow.nodes):
            if node.id and node.id not in reached:
                message = f'node "{node.id}" cannot be reached from "{workflow.start}"'
                yield Finding("workflow.unreachable", message, (*path, "nodes", str(number)))


def _check_order(workflow: WorkflowSpec) -> Findings:
    """Edges are tried by priority, the lowest first, then in the order of the file; none after one without when."""
    closed: dict[str, int] = {}
    for number, edge in sorted(enumerate(workflow.edges), key=lambda one: one[1].priority):
        if edge.source in closed:
            message = f'the edge to "{edge.target}" is never taken: one without when comes before it'
            yield warning("workflow.edge_never", message, (*workflow_path(workflow), "edges", str(number)))
        elif not edge.when:
            closed[edge.source] = number


def _check_cycles(workflow: WorkflowSpec) -> Findings:
    """One finding per edge that closes a cycle, in the order of the file."""
    earlier: list[WorkflowEdge] = []
    for number, edge in enumerate(workflow.edges):
        way = _way(earlier, edge.target, edge.source)
        if way:
            message = "cycle: " + " -> ".join([*way, edge.target])
            yield Finding("workflow.cycle", message, (*workflow_path(workflow), "edges", str(number)))
        else:
            earlier.append(edge)


def _way(edges: list[WorkflowEdge], start: str, goal: str) -> list[str]:
    """The nodes from ``start`` to ``goal`` along ``edges``; empty if there is no way."""
    ways = [[start]]
    seen = {start}
    while ways:
        way = ways.pop(0)
        if way[-1] == goal:
            return way
        for edge in edges:
            if edge.source == way[-1] and edge.target not in seen:
                seen.add(edge.target)
                ways.append([*way, edge.target])
    return []


def _below(workflow: WorkflowSpec, start: str) -> set[str]:
    """Every node that can come after ``start``."""
    found: set[str] = set()
    queue = [start]
    while queue:
        current = queue.pop()
        for edge in workflow.edges:
            if edge.source == current and edge.target not in found:
                found.add(edge.target)
                queue.append(edge.target)
    return found


def _check_references(workflow: WorkflowSpec, definitions: Definitions) -> Findings:
    path = workflow_path(workflow)
    below = {node.id: _below(workflow, node.id) for node in workflow.nodes}
    for number, node in enumerate(workflow.nodes):
        before = {name for name, later in below.items() if node.id in later}
        for where, text in _texts(dict(node.input), (*path, "nodes", str(number), "input")):
            if text.startswith("$."):
                yield from _check_reference(text, where, workflow, before, definitions)
    for number, edge in enumerate(workflow.edges):
        if edge.when:
            before = {name for name, later in below.items() if edge.source in later} | {edge.source}
            yield from _check_when(edge, (*path, "edges", str(number), "when"), workflow, before, definitions)


def _check_when(
    edge: WorkflowEdge, path: Path, workflow: WorkflowSpec, before: set[str], definitions: Definitions
) -> Findings:
    used = [key for key in edge.when if key in OPERATORS]
    if len(used) != 1:
        message = f"when needs exactly one of {', '.join(OPERATORS)}"
        yield Finding("workflow.when_operator", message, path)
    for key in edge.when:
        if key not in (*OPERATORS, "path"):
            yield warning("key.unknown", f'unknown key "{key}": has no effect; remove it', (*path, key))
    if not isinstance(edge.when.get("exists", True), bool):
        yield Finding("workflow.when_exists", "exists: expected true or false", (*path, "exists"))
    if not isinstance(edge.when.get("in", []), list):
        yield Finding("workflow.when_in", "in: expected a list", (*path, "in"))
    reference = edge.when.get("path")
    if not isinstance(reference, str) or not reference.startswith("$."):
        message = "when needs a path such as $.nodes.ID.field"
        yield Finding("workflow.when_path", message, (*path, "path"))
        return
    yield from _check_reference(reference, (*path, "path"), workflow, before, definitions)


def _check_reference(
    text: str, path: Path, workflow: WorkflowSpec, before: set[str], definitions: Definitions
) -> Findings:
    found = REFERENCE.fullmatch(text)
    if not found or found["root"] not in ("input", "nodes"):
        message = f'"{text}" is no reference; write $.input.NAME or $.nodes.ID.FIELD'
        yield Finding("workflow.reference_malformed", message, path)
        return
    name = found["name"]
    if found["root"] == "input":
        yield from _check_input_reference(name, path, workflow, definitions)
        return
    sources = {node.id for node in workflow.nodes if name in (node.id, node.action)}
    if not sources:
        near = did_you_mean(name, [node.id for node in workflow.nodes])
        message = f'"{text}" names the node "{name}", which does not exist{near}'
        yield Finding("workflow.reference_unknown", message, path)
    elif sources.isdisjoint(before):
        message = f'"{text}" is always empty: node "{name}" never runs before'
        yield warning("workflow.reference_later", message, path)


def _check_input_reference(name: str, path: Path, workflow: WorkflowSpec, definitions: Definitions) -> Findings:
    """An input is an argument of the tools that run this workflow; ``items`` is the confirmed set."""
    for tool in (definitions.tools.get(user) for user in _users(workflow, definitions)):
        if tool is not None and name != "items" and tool.argument(name) is None:
            near = did_you_mean(name, tool.argument_names)
            message = f'"$.input.{name}" is not in the args_schema of {tool.name}{near}'
            yield Finding("workflow.input_unknown", message, path)


def _texts(value: JSON, path: Path) -> Iterator[tuple[Path, str]]:
    """Every text inside ``value`` with its path; references may stand inside lists and mappings."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, (*path, str(number)))
