"""Stepping through a workflow: the same steps for the same answers, an end for any graph, JSON compared strictly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.specs import ExecutionMode, ExecutionSpec, WorkflowEdge, WorkflowNode, WorkflowSpec
from transactions.core.workflows import (
    Ended,
    Next,
    NodeResult,
    arguments_of,
    holds,
    reason_of,
    report,
    same,
    step,
    workflow_of,
)

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0, 0.5, "", "1", "a", "true"])
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abx"), inner, max_size=3)
)
IDS = ("a", "b", "c", "d")


def node(name: str, action: str = "", **given_input: Any) -> WorkflowNode:
    return WorkflowNode(name, action or f"tool_{name}", given_input)


def edge(source: str, target: str, priority: int = 0, **when: Any) -> WorkflowEdge:
    return WorkflowEdge(source, target, when, priority)


def flow(*edges: WorkflowEdge, nodes: tuple[WorkflowNode, ...] = (), start: str = "a") -> WorkflowSpec:
    return WorkflowSpec("w", 1, start, nodes or tuple(map(node, IDS)), edges)


def said(name: str, result: Any, ok: bool = True) -> NodeResult:
    return NodeResult(name, f"tool_{name}", ok, result)


def seen(value: Any, path: str = "$.nodes.a.x") -> dict[str, Any]:
    """A lookup of ``value``."""
    return {"path": path, "results": [said("a", {"x": value})]}


# The way ------------------------------------------


def test_it_begins_at_the_start_and_ends_where_no_edge_holds() -> None:
    workflow = flow(edge("a", "b", path="$.nodes.a.x", equals=True))

    begun = step(workflow, {}, [])
    went_on = step(workflow, {}, [said("a", {"x": True})])
    stopped = step(workflow, {}, [said("a", {"x": False})])

    assert isinstance(begun, Next)
    assert isinstance(went_on, Next)
    assert (begun.node.id, went_on.node.id, stopped) == ("a", "b", Ended("a"))


def test_of_the_edges_that_hold_the_lowest_priority_is_taken_then_the_first_of_the_file() -> None:
    workflow = flow(edge("a", "b", 20), edge("a", "c", 10), edge("a", "d", 10))

    taken = step(workflow, {}, [said("a", {})])

    assert isinstance(taken, Next)
    assert taken.node.id == "c"


def test_an_edge_whose_condition_does_not_hold_gives_way_to_the_next() -> None:
    workflow = flow(edge("a", "b", 1, path="$.input.x", equals="no"), edge("a", "c", 2))

    taken = step(workflow, {"x": "yes"}, [said("a", {})])

    assert isinstance(taken, Next)
    assert taken.node.id == "c"


def test_a_node_that_failed_ends_it_whatever_its_edges_say() -> None:
    workflow = flow(edge("a", "b"))

    assert step(workflow, {}, [NodeResult("a", "tool_a", failure="no answer")]) == Ended("a", failed=True)


GRAPHS = st.builds(
    lambda edges, start: flow(*edges, start=start),
    st.lists(st.builds(edge, st.sampled_from(IDS), st.sampled_from(IDS), st.integers(0, 2)), max_size=10),
    st.sampled_from([*IDS, "missing"]),
)


@given(GRAPHS, st.dictionaries(st.sampled_from(IDS), JSON))
def test_any_graph_ends_after_at_most_one_step_per_node_and_no_node_runs_twice(workflow, answers) -> None:
    results: list[NodeResult] = []
    while isinstance(coming := step(workflow, {}, results), Next):
        results.append(said(coming.node.id, answers.get(coming.node.id)))
        assert len(results) <= len(workflow.nodes)

    ran = [result.node for result in results]
    assert len(ran) == len(set(ran))
    assert coming.last == (ran[-1] if ran else "")


@given(GRAPHS, JSON)
def test_the_same_answers_always_lead_the_same_way(workflow, answer) -> None:
    results = [said(name, answer) for name in IDS]

    assert step(workflow, {"x": answer}, results[:1]) == step(workflow, {"x": answer}, results[:1])


def test_active_is_the_highest_version_and_a_number_is_that_one() -> None:
    versions = {("w", number): WorkflowSpec("w", number, "a") for number in (2, 10, 9)} | {
        ("other", 99): WorkflowSpec("other", 99, "a")
    }

    def found(version: int | None) -> WorkflowSpec | None:
        return workflow_of(ExecutionSpec(ExecutionMode.WORKFLOW, "w", version), versions)

    assert [found(None).version, found(2).version, found(3)] == [10, 2, None]  # type: ignore[union-attr]  # None would fail here, too


# Conditions ------------------------------------------


@pytest.mark.parametrize(
    ("value", "when", "expected"),
    [
        (True, {"equals": True}, True),
        (1, {"equals": True}, False),
        ("true", {"equals": True}, False),
        (1, {"equals": 1.0}, True),
        ("1", {"equals": 1}, False),
        (None, {"equals": None}, True),
        (None, {"equals": False}, False),
        ([1, True], {"equals": [1, True]}, True),
        ([1, True], {"equals": [1, 1]}, False),
        ({"y": 0}, {"equals": {"y": False}}, False),
        (False, {"not_equals": True}, True),
        (1, {"not_equals": True}, True),
        (True, {"not_equals": True}, False),
        ("b", {"in": ["a", "b"]}, True),
        (1, {"in": [True, "1"]}, False),
        (0, {"exists": True}, True),
        (None, {"exists": True}, False),
        (None, {"exists": False}, True),
        (1, {"exists": "yes"}, False),
        (1, {"in": 1}, False),
        (1, {"unknown": 1}, False),
    ],
    ids=repr,
)
def test_a_condition_compares_json_strictly(value: Any, when: dict[str, Any], expected: bool) -> None:
    found = seen(value)

    assert holds({"path": found["path"], **when}, {}, found["results"]) is expected


@pytest.mark.parametrize("when", [{"equals": None}, {"not_equals": 1}, {"in": [None]}, {"exists": True}], ids=repr)
@pytest.mark.parametrize("path", ["$.nodes.a.gone", "$.nodes.gone.x", "$.input.gone", "$.input", "$.", "x", None])
def test_a_value_that_is_not_there_proves_nothing(when: dict[str, Any], path: Any) -> None:
    assert not holds({"path": path, **when}, {}, seen(1)["results"])
    assert holds({"path": path, "exists": False}, {}, seen(1)["results"])


@given(JSON, JSON)
def test_equality_is_that_of_json(one: Any, other: Any) -> None:
    def shape(value: Any) -> Any:
        """Text in which only numbers of the same value look alike."""
        match value:
            case dict():
                return {name: shape(each) for name, each in value.items()}
            case list():
                return [shape(each) for each in value]
            case bool() | None | str():
                return value
        return {"number": float(value)}

    assert same(one, other) == (json.dumps(shape(one), sort_keys=True) == json.dumps(shape(other), sort_keys=True))


# References ------------------------------------------


def test_references_stand_anywhere_in_an_input_and_what_is_not_there_is_left_out() -> None:
    wanted = node(
        "b",
        ids=["$.input.id", "$.input.gone", "literal"],
        deep={"one": "$.nodes.a.rows.1.code", "none": "$.nodes.a.rows.9.code"},
        null="$.nodes.a.null",
        gone="$.nodes.z.x",
        whole="$.nodes.a.rows",
        text="costs $.50",
        number=0,
        no=False,
    )
    result = said("a", {"rows": [{"code": "x"}, {"code": "y"}], "null": None})

    arguments = arguments_of(wanted, {"id": "7"}, [result])

    assert arguments == {
        "ids": ["7", "literal"],
        "deep": {"one": "y"},
        "whole": [{"code": "x"}, {"code": "y"}],
        "text": "costs $.50",
        "number": 0,
        "no": False,
    }


def test_a_node_is_called_by_its_id_else_by_the_action_that_ran_last() -> None:
    results = [NodeResult("first", "look", True, {"x": 1}), NodeResult("look_again", "look", True, {"x": 2})]

    by_id = arguments_of(node("b", x="$.nodes.first.x"), {}, results)
    by_action = arguments_of(node("b", x="$.nodes.look.x"), {}, results)

    assert (by_id, by_action) == ({"x": 1}, {"x": 2})


def test_a_node_that_says_no_ok_of_its_own_is_seen_with_its_verdict() -> None:
    assert holds({"path": "$.nodes.a.ok", "equals": False}, {}, [said("a", {"x": 1}, ok=False)])
    assert holds({"path": "$.nodes.a.ok", "equals": "so so"}, {}, [said("a", {"ok": "so so"})])
    assert holds({"path": "$.nodes.a.result", "equals": "text"}, {}, [said("a", "text")])


@given(JSON, JSON, st.lists(st.builds(said, st.sampled_from(IDS), JSON), max_size=3))
def test_no_reference_of_what_was_given_is_left_over(value, given_value, results) -> None:
    paths = ["$.input.x", "$.input.x.a.b", "$.nodes.a.x", "$.nodes.tool_b.0", "$.nodes", "$.nodes.a"]

    arguments = arguments_of(node("n", list=paths, inside={"deep": paths}, value=value), {"x": given_value}, results)

    assert "$." not in json.dumps(arguments)
    assert None not in arguments.values()


# What it came to ------------------------------------------


def test_the_output_is_keyed_by_node_and_action_and_the_tools_key_is_only_its_own() -> None:
    results = [
        NodeResult("act", "look", True, {"results": [{"success": True}]}),
        NodeResult("two", "act", True, {"results": []}),
    ]
    workflow = flow(nodes=(node("act", "look"), node("two", "act")))

    told = report(workflow, results, "act", is_over=True)
    before = report(workflow, results[:1], "act", is_over=False)

    assert told["output"] == {"look": {"results": [{"success": True}]}, "two": {"results": []}, "act": {"results": []}}
    assert (told["status"], told["nodes_run"], told["name"], told["version"]) == ("COMPLETED", ["act", "two"], "w", 1)
    assert "act" not in before["output"]
    assert before["status"] == "RUNNING"


def test_a_failed_node_is_told_in_the_status() -> None:
    failed = [NodeResult("a", "tool_a", failure="no answer")]

    assert report(flow(), failed, "tool_b", is_over=True)["status"] == "FAILED"


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (said("a", {"ok": False, "reason": "closed"}), "closed"),
        (said("a", {"error": " down ", "results": [{"ok": False, "reason": "x"}]}), "down"),
        (
            said("a", {"results": [{"ok": True, "reason": "fine"}, {"ok": False, "reason": "x"}, {"error": "x"}]}),
            "x",
        ),
        (said("a", {"reason": 7, "results": "none"}), ""),
        (said("a", "in words", ok=False), "in words"),
        (said("a", "all is well"), ""),
        (said("a", None), ""),
    ],
    ids=repr,
)
def test_a_node_says_why_in_its_own_words(result: NodeResult, reason: str) -> None:
    assert reason_of(result) == reason
