"""What of a workflow is refused, or warned of, when it is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.runtime import shop
from tests.runtime.flows import ACTION, AFTERWARDS, definitions, the_workflow
from tooling.checks_of_sets import check
from tooling.specs import Definitions, OperationType, WorkflowEdge


def codes(set_: Definitions) -> set[str]:
    return {finding.code for finding in check(set_) if finding.code.startswith("workflow.")}


def test_a_workflow_that_could_change_something_twice_is_refused() -> None:
    first, own, last = the_workflow().nodes
    twice = the_workflow(nodes=(first, own, replace(last, action=ACTION, input={})))
    other = shop.with_policy(definitions(), AFTERWARDS, operation_type=OperationType.TRANSACTIONAL)

    assert codes(definitions(twice)) == {"workflow.tool_twice"}
    assert codes(other) == {"workflow.second_action"}
    assert codes(definitions()) == set()


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"edges": (WorkflowEdge("olhar", "devolver"), *the_workflow().edges)}, "workflow.edge_never"),
        (
            {"nodes": tuple(replace(node, retry={"max_attempts": 2}) for node in the_workflow().nodes)},
            "workflow.retry_unused",
        ),
    ],
)
def test_what_has_no_effect_is_warned_of(changed: Mapping[str, Any], code: str) -> None:
    assert codes(definitions(the_workflow(**changed))) == {code}
