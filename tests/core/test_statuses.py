"""The tables of moves are those of runtime.md §2: every line of durability.jsonl that tries every status."""

from __future__ import annotations

from typing import Any

import pytest

from tests.loading import cases
from transactions.core.errors import ForbiddenMove
from transactions.core.statuses import (
    ATTEMPT_MOVES,
    FINAL,
    ITEM_MOVES,
    MOVES,
    OCCUPYING,
    REVIEW_MOVES,
    AttemptStatus,
    ItemStatus,
    ReviewState,
    Status,
    check_move,
    is_final,
)

CONTRADICTED = {"DUR-001": "runtime.md §2 lets COLLECTING_PARAMETERS end REFUSED (identity_required, too_many_items)"}
TABLES = [case for case in cases("durability") if "try_every_status" in case["when"]]
KINDS: dict[str, Any] = {"status": Status, "item": ItemStatus, "attempt": AttemptStatus}


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case["id"])
def test_only_the_allowed_moves_are_made(case: dict[str, Any]) -> None:
    if case["id"] in CONTRADICTED:
        pytest.skip(CONTRADICTED[case["id"]])
    (kind, name) = next((key, case["given"][key]) for key in KINDS if key in case["given"])
    old = KINDS[kind](name)

    allowed = {str(new) for new in KINDS[kind] if _can_move(old, new)}

    tried = set(case["when"]["try_every_status"])
    assert allowed & tried == set(case["then"]["allowed"])
    if "final" in case["then"]:
        assert is_final(old) is case["then"]["final"]


def _can_move(old: Any, new: Any) -> bool:
    try:
        check_move(old, new)
    except ForbiddenMove:
        return False
    return True


def test_a_succeeded_item_never_changes_again() -> None:
    assert ITEM_MOVES[ItemStatus.SUCCEEDED] == frozenset()


def test_what_is_final_is_exactly_what_the_table_of_statuses_calls_final() -> None:
    assert {
        Status.SUCCESS,
        Status.PARTIAL_SUCCESS,
        Status.FAILED,
        Status.REFUSED,
        Status.CANCELLED,
        Status.ABANDONED,
        Status.EXPIRED,
    } == FINAL


def test_a_status_that_occupies_is_never_final_and_verifying_does_not_occupy() -> None:
    assert not OCCUPYING & FINAL
    assert Status.VERIFYING not in OCCUPYING


def test_every_status_of_every_kind_has_its_moves() -> None:
    assert set(MOVES) == set(Status)
    assert set(ITEM_MOVES) == set(ItemStatus)
    assert set(ATTEMPT_MOVES) == set(AttemptStatus)
    assert set(REVIEW_MOVES) == set(ReviewState)


def test_a_review_goes_forward_and_is_needed_again_when_something_arises() -> None:
    allowed = {str(old): {str(new) for new in ReviewState if _can_move(old, new)} for old in ReviewState}

    assert allowed == {
        "none": {"needed", "resolved"},
        "needed": {"acknowledged", "resolved"},
        "acknowledged": {"needed", "resolved"},
        "resolved": {"needed"},
    }
