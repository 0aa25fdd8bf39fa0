"""However many definitions and faults there are, the checks end: nothing of them grows with the square of the set.

Nothing here measures time. Done tool by tool or pair by pair, these sets would take hours, which the limit of each
test notices.
"""

from dataclasses import replace

import pytest

from tooling.checks_of_sets import check
from tooling.findings import did_you_mean
from tooling.specs import (
    Definitions,
    ExecutionMode,
    ExecutionSpec,
    IntentSpec,
    OperationType,
    PolicySpec,
    PreValidationSpec,
    ServerSpec,
    Text,
    ToolSpec,
    WorkflowEdge,
    WorkflowNode,
    WorkflowSpec,
)

MANY = 10_000
pytestmark = pytest.mark.timeout(60)


def many_tools() -> Definitions:
    tools = {name: ToolSpec(name, Text("x"), "s") for name in (f"tool_{number}" for number in range(MANY))}
    return Definitions(servers={"s": ServerSpec("s", endpoint="https://x.example/mcp")}, tools=tools)


def chained(ends_at: str) -> Definitions:
    """Each tool is validated by the next one, and the last by ``ends_at``."""
    every = many_tools()
    following = [*list(every.tools)[1:], ends_at]
    validations = {name: PreValidationSpec(True, after) for name, after in zip(every.tools, following, strict=True)}
    return replace(
        every,
        policies={
            name: PolicySpec(name, OperationType.INTERNAL, pre_validation=validations[name]) for name in validations
        },
    )


def codes_of(definitions: Definitions) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in check(definitions):
        found[one.code] = found.get(one.code, 0) + 1
    return found


def test_a_loop_of_many_validators_is_told_once():
    (loop,) = check(chained("tool_0"))

    assert loop.code == "policy.validator_loop"
    assert loop.message.count(" -> ") == MANY


def test_a_long_way_into_a_loop_is_told_from_its_beginning():
    (loop,) = check(chained(f"tool_{MANY - 2}"))

    assert loop.message.startswith("validator loop: tool_0 -> tool_1 -> ")
    assert loop.message.endswith(f" -> tool_{MANY - 2} -> tool_{MANY - 1} -> tool_{MANY - 2}")


def test_many_validators_in_a_row_without_a_loop_are_told_one_by_one():
    assert codes_of(chained("nowhere")) == {"policy.validator_validated": MANY - 1, "policy.validator_unknown": 1}


def test_many_misspelt_names_are_told_with_what_was_meant():
    every = many_tools()
    intents = {f"i{number}": IntentSpec(f"i{number}", mcp_tools=(f"tol_{number}",)) for number in range(MANY // 4)}

    found = check(replace(every, intents=intents))

    assert len(found) == len(intents)
    assert '(did you mean "tool_2321"?)' in found[2321].message


@pytest.mark.parametrize("word", ["xancelar_pedido_7777", "cancelar_pedido_7777x", "cancelarpedido_7777"])
def test_among_many_names_the_meant_one_is_found_whichever_end_is_misspelt(word: str):
    names = [f"{verb}_pedido_{number}" for number in range(MANY // 2) for verb in ("cancelar", "consultar")]

    assert did_you_mean(word, [*names, "cancelar_pedido_7777"]) == ' (did you mean "cancelar_pedido_7777"?)'


def test_many_tools_with_workflows_of_many_versions_are_checked():
    every = many_tools()
    runs = ExecutionSpec(ExecutionMode.WORKFLOW, "w")
    policies = {name: PolicySpec(name, execution=runs) for name in every.tools}
    nodes = tuple(WorkflowNode(f"n{number}", "") for number in range(2))
    workflows = {("w", version): WorkflowSpec("w", version, "n0", nodes) for version in range(1, MANY // 10)}

    found = codes_of(replace(every, policies=policies, workflows=workflows))

    assert found["workflow.action_missing"] == 2 * len(workflows)


def test_a_workflow_of_many_edges_is_searched_for_cycles():
    nodes = tuple(WorkflowNode(f"n{number}", "tool_0") for number in range(200))
    ways = [(low, high) for low in range(200) for high in range(low + 1, min(low + 6, 200))]
    edges = tuple(WorkflowEdge(f"n{low}", f"n{high}", {"path": "$.input.x", "exists": True}) for low, high in ways)
    workflows = {("w", version): WorkflowSpec("w", version, "n0", nodes, edges) for version in range(1, 21)}

    assert "workflow.cycle" not in codes_of(replace(many_tools(), workflows=workflows))
