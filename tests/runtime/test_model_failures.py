"""The lines of extraction.jsonl in which a model fails: nothing changes, and it is said (runtime.md §5.7)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.loading import cases
from tests.runtime.staging import EXTRACTION, stage
from tests.runtime.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

FAILURES = [case for case in cases("extraction") if "model_failure" in case["when"]]
UNREADABLE = {"array instead of object": ["PED-1"], "invalid JSON": None}


@pytest.mark.parametrize("case", FAILURES, ids=lambda case: case["id"])
def test_a_failing_extraction_leaves_everything_as_it_was(case: dict[str, Any]) -> None:
    world = stage(case["given"])
    before = world.transaction
    fail(world, case["when"]["model_failure"])

    turn = world.says(case["when"]["message"])

    then, after = case["then"], world.transaction
    assert turn.rule == then["rule"]
    assert (after.status, after.known, after.revision) == (then["status"], then["arguments"], before.revision)
    assert (world.kinds()[-1], world.events[-1].data["rule"]) == ("assistant.message", "model.unavailable")
    assert (world.model.counts["intent_routing"] > 0) is then["router_called"]


def fail(world: World, failures: dict[str, str]) -> None:
    """Fail as the case says: an answer of the wrong shape, or no answer at all."""
    (component, how) = next(iter(failures.items()))
    if UNREADABLE.get(how) is not None:
        world.model.script({component: UNREADABLE[how]})
    else:
        world.model.script({}, {component: how})


def test_a_turn_that_crashes_us_is_tried_three_times_and_then_answered_honestly() -> None:
    world = stage(FAILURES[0]["given"])

    def crash(payload: Any) -> Any:
        raise ZeroDivisionError

    world.model.script({EXTRACTION: crash})

    turn = world.says("desisti")

    assert (turn.rule, turn.tries) == ("model.unavailable", 4)
    assert turn.handled_at is not None
    assert world.kinds()[-1] == "assistant.message"
