"""Every line of durability.jsonl is driven by a test: which ones here, which ones elsewhere."""

from __future__ import annotations

import re
from importlib import import_module

from tests.core.test_statuses import TABLES
from tests.runtime import test_durability_calls as calls
from tests.runtime.durability import CASES
from tests.test_promises import functions_of

THEMES = ("turns", "confirming", "calls", "waking", "reconciling", "rows")
"""tests/runtime/test_durability_<theme>.py"""

OUTAGES = "tests/acceptance/test_outages_"
ELSEWHERE = {
    "DUR-050": OUTAGES + "redis.py::test_a_press_while_redis_is_killed_stands_and_a_second_one_is_not_needed",
    "DUR-051": OUTAGES + "redis.py::test_a_broker_that_is_wiped_loses_nothing_that_was_confirmed",
    "DUR-079": OUTAGES + "postgres.py::test_a_restart_during_a_call_does_not_make_it_again",
    "DUR-080": OUTAGES + "postgres.py::test_an_answer_that_comes_while_the_database_is_away_is_written_when_it_is_back",
    "DUR-084": "tests/runtime/test_reviewing.py::"
    "test_dur_084_an_operator_and_a_late_success_at_the_same_moment_leave_one_outcome",
    "DUR-085": "tests/runtime/test_retrying.py::test_dur_085_pressed_twice_there_is_one_child",
    "DUR-099": OUTAGES + "redis.py::test_a_broker_that_is_wiped_loses_nothing_that_was_confirmed",
    "DUR-100": OUTAGES + "redis.py::test_messages_that_a_worker_took_and_nobody_acknowledged_may_be_deleted",
    "DUR-101": OUTAGES
    + "workers.py::test_a_container_that_is_stopped_with_one_second_of_grace_loses_none_of_twenty_executions",
    "DUR-102": OUTAGES + "redis.py::test_connections_that_are_cut_all_the_time_lose_nothing",
    "DUR-103": OUTAGES + "redis.py::test_a_worker_goes_on_without_a_restart_when_redis_comes_back",
    "DUR-104": OUTAGES + "redis.py::test_a_yes_is_acknowledged_told_and_executed_while_redis_is_frozen",
    "DUR-110": OUTAGES + "servers.py::test_an_answer_of_fifty_megabytes_is_unknown_and_the_worker_goes_on",
    "DUR-130": "tests/runtime/test_retrying.py::test_dur_130_the_keys_of_child_and_parent_differ",
    "DUR-136": "tests/runtime/test_reviewing.py::"
    "test_dur_136_what_no_tool_can_verify_waits_for_an_operator_who_settles_it",
    "DUR-139": "tests/runtime/test_reviewing.py::test_dur_139_what_succeeded_is_never_changed",
    "DUR-154": "tests/runtime/test_reviewing.py::"
    "test_dur_154_a_late_success_after_an_operators_failure_is_evidence_and_an_incident",
}


def driven_here() -> set[str]:
    """The cases that are in the name of a test, or that a test takes by what they say."""
    found = {case["id"] for case in TABLES} | {*calls.WIRE, *calls.NOT_SENT}
    found |= {id_ for id_, case in CASES.items() if {"move_with", "insert"} & set(case["when"])}
    for theme in THEMES:
        for name in vars(import_module(f"tests.runtime.test_durability_{theme}")):
            if name.startswith("test_dur_"):
                found |= {f"DUR-{number}" for number in re.findall(r"dur_(\d{3})", name)}
    return found


def test_every_case_of_durability_is_driven_here_or_there() -> None:
    assert driven_here() | set(ELSEWHERE) == set(CASES)
    assert not driven_here() & set(ELSEWHERE)


def test_what_is_said_to_be_driven_elsewhere_is_there() -> None:
    missing = []
    for id_, place in ELSEWHERE.items():
        path, _, name = place.partition("::")
        if name not in functions_of(path):
            missing.append(f"{id_}: {place}")

    assert missing == []
