"""Which item a row is about, what it is called, and what operators hear of (runtime.md §4a, contracts.md §2)."""

import pytest

from tooling.specs import Atomicity
from transactions.core.outcomes import (
    ConfirmedItem,
    account,
    confirmed_item,
    count,
    envelope_of,
    identity_values,
    label_of,
    same_identity,
)
from transactions.core.statuses import ItemStatus, Status, VerdictSource

TWO = [confirmed_item("k1", {"name": "A", "id": 1}), confirmed_item("k2", {"name": "B", "id": 2})]


def statuses(items, rows, **more):
    return {outcome.key: outcome.status.value for outcome in account(items, rows, **more).outcomes}


@pytest.mark.parametrize(
    ("row", "statuses_of_both"),
    [
        ({"item_key": "k2", "success": True}, ("UNKNOWN", "SUCCEEDED")),
        ({"item_key": "B", "success": True}, ("UNKNOWN", "SUCCEEDED")),
        ({"item_key": "k9", "title": "b", "success": True}, ("UNKNOWN", "SUCCEEDED")),
        ({"thing": {"name": " b "}, "success": True}, ("UNKNOWN", "SUCCEEDED")),
        ({"things": ["B"], "success": True}, ("UNKNOWN", "SUCCEEDED")),
        ({"title": "B", "bundle": ["A"], "success": True}, ("UNKNOWN", "SUCCEEDED")),
        ({"number": "2", "success": False}, ("UNKNOWN", "FAILED")),
        ({"number": 2.0, "flag": True, "success": False}, ("UNKNOWN", "UNKNOWN")),
    ],
)
def test_a_row_finds_its_item(row, statuses_of_both):
    assert tuple(statuses(TWO, [row]).values()) == statuses_of_both


def test_a_field_of_the_same_name_decides_against_any_other_value():
    """A row with an id of its own is about that id, even if some other field names a confirmed item."""
    row = {"id": 3, "seller": "A", "success": True}

    ledger = account(TWO, [row])

    assert ledger.unconfirmed == (row,)
    assert {outcome.status for outcome in ledger.outcomes} == {ItemStatus.UNKNOWN}


def test_a_row_about_another_item_is_unconfirmed_although_it_shares_a_value():
    items = [confirmed_item("k1", {"id": "1", "plan": "F"}), confirmed_item("k2", {"id": "2", "plan": "F"})]
    row = {"id": "3", "plan": "F", "success": True}

    assert account(items, [row]).unconfirmed == (row,)


def test_rows_with_a_key_that_nobody_sent_are_never_unanimous():
    rows = [{"item_key": "x", "success": True}, {"item_key": "y", "success": True}]

    ledger = account(TWO, rows)

    assert ledger.status is Status.VERIFYING
    assert ledger.unconfirmed == tuple(rows)


def test_what_unanimous_rows_say_alike_is_kept():
    rows = [{"success": False, "reason": "closed", "protocol": "P1"}, {"success": False, "reason": "closed"}]

    outcomes = account(TWO, rows).outcomes

    assert {(outcome.reason, outcome.protocol) for outcome in outcomes} == {("closed", None)}


def test_the_only_row_of_the_only_item_gives_its_protocol():
    (outcome,) = account(TWO[:1], [{"success": True, "protocol": 77}]).outcomes

    assert (outcome.status, outcome.verdict_source, outcome.protocol) == ("SUCCEEDED", "unanimous", "77")


def test_agreeing_rows_are_all_kept():
    rows = [{"name": "A", "success": True, "protocol": "P1"}, {"name": "A", "success": True, "fee": 0}]

    outcome = account(TWO[:1], rows).outcomes[0]

    assert outcome.protocol == "P1"
    assert outcome.evidence["fee"] == 0
    assert len(outcome.evidence["rows"]) == 2


def test_a_row_that_fits_two_items_does_not_touch_what_a_clear_row_says():
    rows = [{"name": "A", "success": True}, {"x": "A", "y": "B", "success": False}]

    first, second = account(TWO, rows).outcomes

    assert first.status is ItemStatus.SUCCEEDED
    assert (second.status, second.verdict_source) == (ItemStatus.UNKNOWN, VerdictSource.CONFLICTING)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("closed", "closed"),
        ({"message": "closed"}, "closed"),
        ({"code": 7}, "7"),
        (None, None),
        ([1], None),
        (True, None),
    ],
)
def test_an_error_is_the_reason_where_no_reason_is_given(error, reason):
    (outcome,) = account(TWO[:1], [{"name": "A", "success": False, "error": error}]).outcomes

    assert outcome.reason == reason


def test_the_reason_of_a_whole_call_is_its_error():
    envelope = envelope_of("t", structured=None, texts=["no balance"], is_error=True)

    (outcome,) = account(
        TWO[:1], None, verdict=envelope["ok"], evidence=envelope["result"], error=envelope["error"]
    ).outcomes

    assert (outcome.status, outcome.reason) == (ItemStatus.FAILED, "no balance")
    assert outcome.evidence == {"answer": "no balance"}


def test_a_call_without_a_verdict_is_not_known():
    (outcome,) = account(TWO[:1], None).outcomes

    assert (outcome.status, outcome.verdict_source) == (ItemStatus.UNKNOWN, VerdictSource.UNREPORTED)


def test_an_ineligible_item_keeps_the_validators_reason_and_the_rows_words():
    item = ConfirmedItem("k1", {"name": "A"}, "A", eligible=False)

    (outcome,) = account([item], [{"name": "A", "success": False, "reason": "blocked"}]).outcomes

    assert (outcome.status, outcome.reason) == (ItemStatus.INELIGIBLE, "blocked")
    assert outcome.evidence["reason"] == "blocked"


def test_mixed_rows_of_all_or_nothing_are_an_incident():
    rows = [{"name": "A", "success": True}, {"name": "B", "success": False}]

    assert account(TWO, rows, atomicity=Atomicity.ALL_OR_NOTHING).incidents
    assert not account(TWO, rows).incidents
    assert not account(TWO, rows[:1], atomicity=Atomicity.ALL_OR_NOTHING).incidents


def test_an_incident_names_a_few_and_counts_the_rest():
    rows = [{"name": f"N{n}", "success": True} for n in range(7)]

    (incident,) = account(TWO, rows).incidents

    assert incident.endswith("N0, N1, N2, N3, N4 and 2 more")


def test_items_that_the_rows_define_have_short_distinct_keys():
    rows = [
        {"id": "a/b c", "success": True},
        {"name": "A/B C", "success": True},
        {"name": "x" * 500, "success": True},
        {"success": True},
        {"name": "row-1", "success": True},
    ]

    keys = [outcome.key for outcome in account(None, rows).outcomes]

    assert len(set(keys)) == len(rows)
    assert all(len(key) <= 64 and "/" not in key and " " not in key for key in keys)


def test_an_empty_set_takes_the_verdict_of_the_call_as_one_implicit_item():
    assert statuses([], None, verdict=True) == {"*": "SUCCEEDED"}
    assert statuses(None, [], verdict=False) == {"*": "FAILED"}


def test_ten_thousand_items_and_rows_are_matched():
    items = [confirmed_item(f"k{n}", f"item {n}") for n in range(10_000)]
    rows = [{"title": f"ITEM {n}", "success": n % 2 == 0} for n in reversed(range(10_000))]

    ledger = account(items, rows)

    assert [outcome.status is ItemStatus.SUCCEEDED for outcome in ledger.outcomes] == [True, False] * 5_000


def test_what_could_not_be_done_counts_as_failed_and_what_is_open_as_unknown():
    counts = count(ItemStatus)

    assert (counts.total, counts.succeeded, counts.failed, counts.unknown, counts.excluded) == (8, 1, 3, 3, 1)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ({"name": "N", "label": " L "}, "L"),
        ({"id": "x", "name": "N"}, "N"),
        ({"eligible": True, "reason": "r", "id": "X-1", "title": "T"}, "X-1"),
        ({"id": 7}, "7"),
        ({"name": 7, "sku": "S"}, "7"),
        ({"label": "  ", "sku": "S"}, "S"),
        ({"thing": {"name": "N"}}, "N"),
        ({"success": True}, ""),
        ({}, ""),
        ("  text ", "text"),
        (7, "7"),
        (1.5, "1.5"),
        (True, "true"),
        (None, ""),
        ([None, "a"], "a"),
    ],
)
def test_an_item_is_called_by_its_label_its_name_or_its_first_text(value, label):
    assert label_of(value) == label


def test_a_scalar_element_is_an_item_with_one_field():
    assert confirmed_item("k", "PED-1") == ConfirmedItem("k", {"label": "PED-1"}, "PED-1")
    assert confirmed_item("k", 7).label == "7"
    assert confirmed_item("k", {"id": 1}, label="own").label == "own"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("A", " a", True),
        (7, "7", True),
        (7, 7.0, False),
        (True, 1, False),
        ("Ação", "Ac\u0327a\u0303o", True),
        ("Acao", "Ação", False),
        ("A", {"title": "a"}, True),
        ({"label": "A"}, {"title": "a"}, True),
        ({"id": "1", "plan": "F"}, {"id": "2", "plan": "F"}, False),
        ({"id": "1", "name": "new name"}, {"id": 1, "name": "old name"}, True),
        ({"thing_id": "1", "note": "x"}, {"thing_id": "1", "note": "y"}, True),
        ({"name": "A", "price": "9,90"}, {"name": "B", "price": "9,90"}, False),
        ({"status": "x"}, {"status": "x"}, False),
        ({}, {}, False),
        (None, None, False),
    ],
)
def test_two_items_are_the_same_thing_or_not(a, b, same):
    assert same_identity(a, b) is same
    assert same_identity(b, a) is same


def test_identity_ignores_verdicts_and_evidence():
    row = {"success": True, "reason": "A", "protocol": "P", "request_id": "r", "title": "T", "n": 3}

    assert identity_values(row) == {"t", "3"}
