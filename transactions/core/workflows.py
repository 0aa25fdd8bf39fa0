"""Steps through a workflow: which node runs next, with which arguments, and what its nodes said (contracts.md §5).

Pure: nothing is called here. ``transactions.workflows`` calls the nodes, ``transactions.services.stepping`` keeps
what they answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tooling.specs import JSON, ExecutionSpec, WorkflowEdge, WorkflowNode, WorkflowSpec
from transactions.core.envelope import verdict_of

OK = "ok"
COMPLETED = "COMPLETED"
FAILED = "FAILED"
RUNNING = "RUNNING"


@dataclass(frozen=True, slots=True)
class NodeResult:
    """What one node came to. ``ok`` and ``result``: those of the envelope of its answer (runtime.md §4).

    ``failure``: why there is no answer to read, or that the tool called it an error; empty otherwise.
    """

    node: str
    action: str
    ok: bool = False
    result: JSON = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Next:
    """The node that runs next, and the arguments that its references come to."""

    node: WorkflowNode
    arguments: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Ended:
    """No node is left to run. ``last`` is the id of the last one that ran."""

    last: str
    failed: bool = False


# Which version runs ------------------------------------------


def workflow_of(execution: ExecutionSpec, workflows: Mapping[tuple[str, int], WorkflowSpec]) -> WorkflowSpec | None:
    """The workflow that ``execution`` names; without a version ("active") the highest one of the same release."""
    versions = {number: spec for (name, number), spec in workflows.items() if name == execution.workflow}
    if execution.version is not None:
        return versions.get(execution.version)
    return versions[max(versions)] if versions else None


# Stepping ------------------------------------------


def step(workflow: WorkflowSpec, given: Mapping[str, JSON], results: Sequence[NodeResult]) -> Next | Ended:
    """What comes after ``results``, which are the nodes that ran, each once, in order.

    ``given`` is what ``$.input`` reads. Total for any workflow, also one that was never checked: no node runs twice,
    so there are at most as many steps as nodes. The first node that failed ends it.
    """
    ran = {result.node: result for result in results}
    nodes = {node.id: node for node in workflow.nodes}
    current, last, walked = workflow.start, "", set[str]()
    while current in nodes and current not in walked:
        walked.add(current)
        if current not in ran:
            return Next(nodes[current], arguments_of(nodes[current], given, results))
        if ran[current].failure:
            return Ended(current, failed=True)
        last = current
        edge = _edge_from(current, workflow, given, results)
        if edge is None:
            break
        current = edge.target
    return Ended(last)


def _edge_from(
    source: str, workflow: WorkflowSpec, given: Mapping[str, JSON], results: Sequence[NodeResult]
) -> WorkflowEdge | None:
    """The edge taken: of those whose condition holds the lowest ``priority``, then the first in the file."""
    edges = sorted((edge for edge in workflow.edges if edge.source == source), key=lambda edge: edge.priority)
    return next((edge for edge in edges if holds(edge.when, given, results)), None)


def holds(when: Mapping[str, JSON], given: Mapping[str, JSON], results: Sequence[NodeResult]) -> bool:
    """Whether a condition holds; none at all always does.

    A value that is not there proves nothing: only ``exists`` speaks about it (null does not exist), the other
    operators are false then, ``not_equals`` too. An operator that is unknown or malformed never holds.
    """
    if not when:
        return True
    found = list(_looked_up(when.get("path"), given, results))
    match when:
        case {"exists": bool(wanted)}:
            return (bool(found) and found[0] is not None) is wanted
        case {"equals": wanted}:
            return bool(found) and same(found[0], wanted)
        case {"not_equals": wanted}:
            return bool(found) and not same(found[0], wanted)
        case {"in": list(wanted)}:
            return bool(found) and any(same(found[0], each) for each in wanted)
        case _:
            return False


def same(one: JSON, other: JSON) -> bool:
    """Whether two JSON values are equal: ``true`` is not 1, "1" is not 1, but 1 and 1.0 are the same number."""
    match one, other:
        case (dict(), dict()):
            return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
        case (list(), list()):
            return len(one) == len(other) and all(map(same, one, other))
        case _:
            is_kind = isinstance(one, bool) == isinstance(other, bool) and not isinstance(one, dict | list)
            return is_kind and bool(one == other)


# References ------------------------------------------


def arguments_of(node: WorkflowNode, given: Mapping[str, JSON], results: Sequence[NodeResult]) -> dict[str, JSON]:
    """The node's input with every reference replaced, inside lists and mappings too.

    A reference to what is not there, or is null, is left out together with its place.
    """
    filled: dict[str, JSON] = _filled(dict(node.input), given, results)
    return {name: value for name, value in filled.items() if value is not None}


def _filled(value: JSON, given: Mapping[str, JSON], results: Sequence[NodeResult]) -> JSON:
    match value:
        case str() if is_reference(value):
            return next(_looked_up(value, given, results), None)
        case dict():
            return {
                name: _filled(each, given, results)
                for name, each in value.items()
                if not _is_gone(each, given, results)
            }
        case list():
            return [_filled(each, given, results) for each in value if not _is_gone(each, given, results)]
        case _:
            return value


def _is_gone(value: JSON, given: Mapping[str, JSON], results: Sequence[NodeResult]) -> bool:
    return is_reference(value) and next(_looked_up(value, given, results), None) is None


def is_reference(value: JSON) -> bool:
    return isinstance(value, str) and value.startswith("$.")


def _looked_up(path: JSON, given: Mapping[str, JSON], results: Sequence[NodeResult]) -> Iterator[JSON]:
    """The value that ``path`` leads to, if there is one: ``$.input.NAME…`` or ``$.nodes.NODE.FIELD…``."""
    if not is_reference(path):
        return
    root, *steps = path.removeprefix("$.").split(".")
    value: JSON = given if root == "input" else None
    if root == "nodes" and steps:
        result = _result_called(steps.pop(0), results)
        value = seen_of(result) if result is not None else None
    if not steps:
        return
    for name in steps:
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return
    yield value


def _result_called(name: str, results: Sequence[NodeResult]) -> NodeResult | None:
    """The result of the node with this id, else of the last node with this action."""
    by_id = next((result for result in results if result.node == name), None)
    return by_id or next((result for result in reversed(results) if result.action == name), None)


def seen_of(result: NodeResult) -> dict[str, JSON]:
    """What references see of a node: its answer, and its verdict as ``ok`` where the answer says none."""
    if isinstance(result.result, dict):
        return {OK: result.ok, **result.result}
    return {OK: result.ok, "result": result.result}


# What its nodes said ------------------------------------------


def report(workflow: WorkflowSpec, results: Sequence[NodeResult], tool: str, *, is_over: bool) -> dict[str, JSON]:
    """What the workflow came to, as it is kept beside the answer of ``tool`` (runtime.md §4.1).

    ``output`` is keyed by node id and by action; under ``tool`` stands only what the tool's own node answered, so
    that no other node's rows are ever taken for its own. ``status``: COMPLETED where it ran to its end, wherever that
    was, FAILED where a node did, RUNNING where nodes are left.
    """
    failed = next((result for result in results if result.failure), None)
    output: dict[str, JSON] = {result.action: result.result for result in results}
    output |= {result.node: result.result for result in results}
    own = next((result for result in results if result.action == tool), None)
    output.pop(tool, None)
    if own is not None:
        output[tool] = own.result
    status = FAILED if failed else COMPLETED if is_over else RUNNING
    return {
        "name": workflow.name,
        "version": workflow.version,
        "status": status,
        "nodes_run": [result.node for result in results],
        "output": output,
    }


def reason_of(result: NodeResult) -> str:
    """Why a node stopped the workflow, in its own words: its reason or error, else those of its rows that are not
    successes; "" where it gave none.
    """
    said = result.result
    if isinstance(said, str):
        return "" if result.ok else said.strip()
    if not isinstance(said, dict):
        return ""
    rows = said.get("results")
    others = [row for row in rows if verdict_of(row) is not True] if isinstance(rows, list) else []
    own = list(_reasons([said]))
    return ", ".join(own or dict.fromkeys(_reasons(others)))


def _reasons(rows: Iterable[JSON]) -> Iterator[str]:
    for row in rows:
        if isinstance(row, dict):
            words = (row.get(name) for name in ("reason", "error"))
            yield from [text.strip() for text in words if isinstance(text, str) and text.strip()][:1]
