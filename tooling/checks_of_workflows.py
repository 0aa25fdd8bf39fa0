"""Whether a workflow can run: a start, known actions, every node reachable, no cycle, references that exist."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from tooling.findings import Finding, Findings, Severity, did_you_mean, warning
from tooling.specs import (
    JSON,
    Definitions,
    ExecutionMode,
    OperationType,
    ToolSpec,
    WorkflowEdge,
    WorkflowNode,
    WorkflowSpec,
)

MOST_NODES = 200
MOST_EDGES = 1000
MOST_USERS = 20
"""So many tools that run one workflow are named for one fault; the others have the same."""
REFERENCE = re.compile(r"\$\.(?P<root>[^.]+)\.(?P<name>[^.]+)(\..+)?")
OPERATORS = ("equals", "not_equals", "exists", "in")
RETRY_KEYS = ("max_attempts", "wait_seconds")
Path = tuple[str, ...]
Ways = dict[str, list[str]]
"""Node → the nodes that its edges lead to, in the order of the file."""


def workflow_path(workflow: WorkflowSpec) -> Path:
    return ("workflows", workflow.name, str(workflow.version))


def check_workflows(definitions: Definitions) -> Findings:
    users = users_of_workflows(definitions)
    for workflow in definitions.workflows.values():
        yield from _check_workflow(workflow, definitions, users.get(workflow.name, ()))


def check_workflow(workflow: WorkflowSpec, definitions: Definitions) -> Findings:
    """The same for one that need not be among the ``definitions``."""
    yield from _check_workflow(workflow, definitions, users_of_workflows(definitions).get(workflow.name, ()))


def users_of_workflows(definitions: Definitions) -> dict[str, list[str]]:
    """Name of a workflow → the tools whose policy runs it, whatever the version."""
    users: dict[str, list[str]] = {}
    for policy in definitions.policies.values():
        if policy.execution.mode is ExecutionMode.WORKFLOW:
            users.setdefault(policy.execution.workflow, []).append(policy.tool)
    return users


def _check_workflow(workflow: WorkflowSpec, definitions: Definitions, users: Sequence[str]) -> Findings:
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
    yield from _check_nodes(workflow, definitions, is_used=bool(users))
    yield from _check_actions(workflow, definitions, users)
    yield from _check_graph(workflow)
    yield from _check_references(workflow, definitions, users)


def _check_nodes(workflow: WorkflowSpec, definitions: Definitions, *, is_used: bool) -> Findings:
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
            severity = Severity.ERROR if is_used else Severity.WARNING
            yield Finding("workflow.action_unknown", message, (*path, "action"), severity)
        else:
            yield from _check_input_names(node, definitions, path)
        yield from _check_retry(node.retry, (*path, "retry"))


def _check_actions(workflow: WorkflowSpec, definitions: Definitions, users: Sequence[str]) -> Findings:
    """A workflow calls the tool that runs it in one place, and beside it nothing that changes anything.

    So a run has one call that must not be repeated, as a direct call has (runtime.md §9).
    """
    nodes: dict[str, list[str]] = {}
    for node in workflow.nodes:
        nodes.setdefault(node.action, []).append(node.id)
    for user in users:
        if len(nodes.get(user, ())) > 1:
            names = ", ".join(nodes[user])
            message = f"more than one node calls {user}: {names}; it is called once"
            yield Finding("workflow.tool_twice", message, (*workflow_path(workflow), "nodes"))
    for number, node in enumerate(workflow.nodes):
        path = (*workflow_path(workflow), "nodes", str(number))
        if node.action in definitions.tools and _changes(node, definitions):
            for user in islice((user for user in users if user != node.action), MOST_USERS):
                message = f"{node.action} is transactional; of those a workflow of {user} may call only {user}"
                yield Finding("workflow.second_action", message, (*path, "action"))
        tries = node.retry.get("max_attempts")
        if isinstance(tries, int | float) and tries > 1 and node.action in definitions.tools:
            yield from _check_retried(node, definitions, (*path, "retry"))


def _changes(node: WorkflowNode, definitions: Definitions) -> bool:
    return definitions.policy(node.action).operation_type is OperationType.TRANSACTIONAL


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
        reached = {workflow.start} | nodes_below(ways_of(workflow), workflow.start)
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
    earlier: Ways = {}
    for number, edge in enumerate(workflow.edges):
        way = _way(earlier, edge.target, edge.source)
        if way:
            message = "cycle: " + " -> ".join([*way, edge.target])
            yield Finding("workflow.cycle", message, (*workflow_path(workflow), "edges", str(number)))
        else:
            earlier.setdefault(edge.source, []).append(edge.target)


def _way(ways: Ways, start: str, goal: str) -> list[str]:
    """The nodes from ``start`` to ``goal``, a shortest way; empty if there is none."""
    before: dict[str, str] = {start: ""}
    queue = deque([start])
    while queue and goal not in before:
        current = queue.popleft()
        for target in ways.get(current, ()):
            if target not in before:
                before[target] = current
                queue.append(target)
    if goal not in before:
        return []
    way = [goal]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]


def ways_of(workflow: WorkflowSpec) -> Ways:
    ways: Ways = {}
    for edge in workflow.edges:
        ways.setdefault(edge.source, []).append(edge.target)
    return ways


def nodes_below(ways: Ways, start: str) -> set[str]:
    """Every node that can come after ``start``."""
    found: set[str] = set()
    queue = [start]
    while queue:
        for target in ways.get(queue.pop(), ()):
            if target not in found:
                found.add(target)
                queue.append(target)
    return found


def _check_references(workflow: WorkflowSpec, definitions: Definitions, users: Sequence[str]) -> Findings:
    path, ways = workflow_path(workflow), ways_of(workflow)
    inputs = [tool for tool in map(definitions.tools.get, users) if tool is not None]
    below = {node.id: nodes_below(ways, node.id) for node in workflow.nodes}
    for number, node in enumerate(workflow.nodes):
        before = {name for name, later in below.items() if node.id in later}
        for where, text in _texts(dict(node.input), (*path, "nodes", str(number), "input")):
            if text.startswith("$."):
                yield from _check_reference(text, where, workflow, before, inputs)
    for number, edge in enumerate(workflow.edges):
        if edge.when:
            before = {name for name, later in below.items() if edge.source in later} | {edge.source}
            yield from _check_when(edge, (*path, "edges", str(number), "when"), workflow, before, inputs)


def _check_when(
    edge: WorkflowEdge, path: Path, workflow: WorkflowSpec, before: set[str], users: Sequence[ToolSpec]
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
    yield from _check_reference(reference, (*path, "path"), workflow, before, users)


def _check_reference(
    text: str, path: Path, workflow: WorkflowSpec, before: set[str], users: Sequence[ToolSpec]
) -> Findings:
    found = REFERENCE.fullmatch(text)
    if not found or found["root"] not in ("input", "nodes"):
        message = f'"{text}" is no reference; write $.input.NAME or $.nodes.ID.FIELD'
        yield Finding("workflow.reference_malformed", message, path)
        return
    name = found["name"]
    if found["root"] == "input":
        yield from _check_input_reference(name, path, users)
        return
    sources = {node.id for node in workflow.nodes if name in (node.id, node.action)}
    if not sources:
        near = did_you_mean(name, [node.id for node in workflow.nodes])
        message = f'"{text}" names the node "{name}", which does not exist{near}'
        yield Finding("workflow.reference_unknown", message, path)
    elif sources.isdisjoint(before):
        message = f'"{text}" is always empty: node "{name}" never runs before'
        yield warning("workflow.reference_later", message, path)


def _check_input_reference(name: str, path: Path, users: Sequence[ToolSpec]) -> Findings:
    """An input is an argument of the tools that run this workflow; ``items`` is the confirmed set."""
    without = (tool for tool in users if name != "items" and tool.argument(name) is None)
    for tool in islice(without, MOST_USERS):
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
