"""Laws of normalisation and accounting that hold for any answer, by generated ones (runtime.md §4, §4a)."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooling.identifying import identity
from tooling.specs import Atomicity
from transactions.core.outcomes import (
    ConfirmedItem,
    ItemOutcome,
    Ledger,
    account,
    confirmed_item,
    count,
    envelope_of,
    multi_item_status_of,
    normalize,
    roll_up,
    rows_of,
)
from transactions.core.statuses import ItemStatus, Status, VerdictSource

LEVELS = 10_000
NAMES = ["A", "a ", "B", "C", "Ação", "7", "item_key", "x"]
FIELDS = ["name", "subject", "id", "item_key", "success", "ok", "results", "output", "the_tool", "error", "protocol"]

scalars = st.none() | st.booleans() | st.integers(-3, 9) | st.floats(allow_nan=False) | st.sampled_from(NAMES)
values = st.recursive(
    scalars | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)
verdicts = st.fixed_dictionaries({}, optional={"success": scalars | st.booleans(), "ok": st.booleans()})
identities = st.dictionaries(st.sampled_from(["name", "subject", "id", "item_key"]), st.sampled_from(NAMES), max_size=2)
evidence = st.fixed_dictionaries({}, optional={"protocol": st.sampled_from(["P1", "P2"]), "reason": st.just("r")})
rows = st.builds(
    lambda *parts: {name: value for part in parts for name, value in part.items()}, verdicts, identities, evidence
)
row_lists = st.lists(rows | scalars, max_size=6)
envelopes = st.one_of(
    values,
    st.builds(lambda found, ok: {"ok": ok, "error": "e", "result": {"results": found}}, row_lists, scalars),
    st.builds(
        lambda found, ok: {"ok": ok, "workflow": {"output": {"the_tool": {"results": found}}}},
        st.lists(st.fixed_dictionaries({"success": st.booleans()}), max_size=4),
        st.booleans(),
    ),
)


@st.composite
def confirmed_sets(draw: st.DrawFn, *, least: int = 0) -> list[ConfirmedItem]:
    fields = st.dictionaries(st.sampled_from(["name", "id"]), st.sampled_from(NAMES), min_size=1) | st.sampled_from(
        NAMES
    )
    found = draw(st.lists(fields, min_size=least, max_size=4))
    return [
        confirmed_item(
            f"k{n}",
            value,
            eligible=draw(st.sampled_from([True, True, False])),
            excluded=draw(st.sampled_from([False, False, True])),
        )
        for n, value in enumerate(found)
    ]


def text_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def outline(ledger: Ledger) -> tuple[Any, ...]:
    """A ledger without the order of its parts."""
    outcomes = sorted(
        (o.key, o.label, o.status, o.verdict_source, o.reason or "", o.protocol or "", o.rule, text_of(o.evidence))
        for o in ledger.outcomes
    )
    return outcomes, sorted(map(text_of, ledger.unconfirmed)), ledger.status, len(ledger.incidents)


def by_key(ledger: Ledger) -> dict[str, ItemOutcome]:
    return {outcome.key: outcome for outcome in ledger.outcomes}


# Normalising ---------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(tool=st.sampled_from(["the_tool", "other"]) | values, envelope=envelopes)
def test_normalising_is_total_changes_nothing_and_is_done_after_once(tool, envelope):
    before = copy.deepcopy(envelope)

    once = normalize(tool, envelope)

    assert text_of(envelope) == text_of(before)
    assert text_of(normalize(tool, once)) == text_of(once)
    if multi_item_status_of(once) == "":
        assert text_of(once) == text_of(before)


@given(rows=st.lists(st.fixed_dictionaries({"success": st.booleans()}), min_size=2, max_size=6), ok=st.booleans())
def test_the_reported_status_and_its_numbers_come_from_the_rows_alone(rows, ok):
    envelope = {"ok": ok, "multi_item_status": "SUCCESS", "metadata": {"multi_item": "?"}, "results": rows}

    once = normalize("the_tool", envelope)

    summary = once["metadata"]["multi_item"]
    done = [row["success"] for row in rows]
    assert summary["items_succeeded_count"] + summary["items_failed_count"] == summary["items_count"] == len(rows)
    assert multi_item_status_of(once) == summary["status"] == once["multi_item_status"]
    assert summary["status"] == {(True,): "SUCCESS", (False,): "FAILED"}.get(tuple(set(done)), "PARTIAL_SUCCESS")
    assert once["ok"] is (True if any(done) else ok)


def nested(opening: str, closing: str, inner: str) -> str:
    return opening * LEVELS + inner + closing * LEVELS


def deep_value() -> Any:
    value: Any = []
    for level in range(LEVELS):
        value = [value] if level % 2 else {"inner": value}
    return value


def test_a_value_of_ten_thousand_levels_is_normalised_and_accounted_for():
    row = {"name": "A", "success": True, "deep": deep_value()}
    envelope = {"ok": True, "result": {"results": [row, {"name": "B", "success": False}]}, "deep": deep_value()}

    once = normalize("the_tool", envelope)
    ledger = account([confirmed_item("k1", {"name": "A"}), confirmed_item("k2", "B")], rows_of("the_tool", once))

    assert multi_item_status_of(once) == "PARTIAL_SUCCESS"
    assert ledger.status is Status.PARTIAL_SUCCESS
    assert normalize("the_tool", deep_value()) is not None
    assert account(None, [deep_value(), row, row], verdict=True).status is Status.VERIFYING


# Reading an answer ---------------------------------------------------------------------------------


@given(
    structured=values, texts=st.lists(st.text(max_size=20) | values.map(json.dumps), max_size=3), failed=st.booleans()
)
def test_any_answer_becomes_an_envelope(structured, texts, failed):
    envelope = envelope_of("the_tool", structured=structured, texts=texts, is_error=failed)

    assert list(envelope) == ["tool_name", "ok", "result", "error", "metadata"]
    assert isinstance(envelope["ok"], bool)
    assert not (failed and envelope["ok"])
    assert envelope["error"] is None or not envelope["ok"]


def result_of(text: str) -> Any:
    return envelope_of("the_tool", structured=None, texts=[text], is_error=False)["result"]


def test_a_text_of_ten_thousand_levels_keeps_its_rows():
    deep = nested('{"a": [', "]}", '"]]}}"')

    result = result_of(f'{{"deep": {deep}, "ok": false, "results": [{{"success": true}}]}}')

    assert result["ok"] is False
    assert result["results"] == [{"success": True}]


@pytest.mark.parametrize("end", ["", "]" * 5, '"', '"\\', '{"', ']}"x\\"y'])
def test_a_deep_text_that_is_no_json_stays_text(end):
    text = '{"deep": ' + "[" * LEVELS + end

    assert result_of(text) == text


def test_what_json_does_not_have_is_read_as_null_and_the_last_of_a_name_counts():
    text = '{"a": NaN, "b": -Infinity, "c": 1e999, "d": 1, "d": 2, "e": 1.5}'

    assert result_of(text) == {"a": None, "b": None, "c": None, "d": 2, "e": 1.5}


def test_an_integer_of_any_length_is_read():
    result = result_of('{"ok": false, "n": ' + "9" * 5_000 + "}")

    assert result == {"ok": False, "n": "9" * 5_000}
    assert identity(10**5_000) is None


# Accounting ----------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(
    items=st.none() | confirmed_sets(),
    found=st.none() | row_lists | st.lists(values, max_size=4),
    verdict=st.none() | st.booleans(),
    atomicity=st.sampled_from(Atomicity),
    said=values,
)
def test_accounting_is_total_and_every_confirmed_item_has_one_outcome(items, found, verdict, atomicity, said):
    before = copy.deepcopy((items, found, said))

    ledger = account(items, found, verdict=verdict, atomicity=atomicity, evidence=said)

    assert repr((items, found, said)) == repr(before)
    keys = [outcome.key for outcome in ledger.outcomes]
    assert len(set(keys)) == len(keys) >= 1
    if items:
        assert keys == [item.key for item in items]
    counts = count(outcome.status for outcome in ledger.outcomes)
    assert counts.total == len(keys) == counts.succeeded + counts.failed + counts.unknown + counts.excluded
    assert ledger.status is roll_up(outcome.status for outcome in ledger.outcomes)
    assert (ledger.status is Status.VERIFYING) is bool(counts.unknown)
    assert bool(ledger.unconfirmed) <= bool(ledger.incidents)


@settings(max_examples=300)
@given(items=st.none() | confirmed_sets(), found=row_lists, data=st.data())
def test_the_order_of_the_rows_is_nothing(items, found, data):
    shuffled = data.draw(st.permutations(found))

    assert outline(account(items, shuffled)) == outline(account(items, found))


distinct_items = st.lists(st.sampled_from(["A", "B", "C", "D", "E"]), min_size=1, max_size=5, unique=True).map(
    lambda names: [confirmed_item(f"k-{name}", {"name": name}) for name in names]
)
named_rows = st.lists(
    st.fixed_dictionaries({"subject": st.sampled_from("ABCDEF"), "success": st.sampled_from([True, False, None])}),
    min_size=1,
    max_size=6,
)


@settings(max_examples=300)
@given(items=distinct_items, found=named_rows)
def test_no_row_is_lost(items, found):
    ledger = account(items, found)

    heard = list(ledger.unconfirmed)
    for outcome in ledger.outcomes:
        heard += outcome.evidence.get("rows", [outcome.evidence] if outcome.evidence else [])
    assert sorted(map(text_of, heard)) == sorted(map(text_of, found))
    assert {row["subject"] for row in ledger.unconfirmed}.isdisjoint(item.label for item in items)


@settings(max_examples=300)
@given(items=distinct_items, found=named_rows)
def test_a_success_row_for_an_unreported_item_makes_no_other_outcome_worse(items, found):
    before = by_key(account(items, found))
    silent = [key for key, outcome in before.items() if outcome.verdict_source is VerdictSource.UNREPORTED]

    for key in silent:
        added = {"subject": key.removeprefix("k-"), "success": True}
        after = by_key(account(items, [*found, added]))
        assert after[key].status is ItemStatus.SUCCEEDED
        assert {k: o for k, o in after.items() if k != key} == {k: o for k, o in before.items() if k != key}


@settings(max_examples=200)
@given(items=distinct_items, found=named_rows, error=st.text(max_size=5), atomicity=st.sampled_from(Atomicity))
def test_a_success_is_never_lost_by_an_auxiliary_failure(items, found, error, atomicity):
    output = {"the_tool": {"results": found}}
    good = {"ok": True, "result": {"output": output}, "error": None}
    bad = {
        "ok": False,
        "error": error,
        "result": {"output": {**output, "after": {"success": False}}, "results": [{"success": False}]},
    }

    ledgers = [
        account(items, rows_of("the_tool", envelope), verdict=envelope["ok"], atomicity=atomicity)
        for envelope in (good, bad, normalize("the_tool", bad))
    ]

    assert ledgers[0] == ledgers[1] == ledgers[2]


@given(items=distinct_items, atomicity=st.sampled_from(Atomicity), verdict=st.booleans())
def test_an_answer_without_rows_settles_many_items_only_if_it_is_all_or_nothing(items, atomicity, verdict):
    ledger = account(items, [], verdict=verdict, atomicity=atomicity)

    is_settled = len(items) == 1 or atomicity is Atomicity.ALL_OR_NOTHING
    status = {True: ItemStatus.SUCCEEDED, False: ItemStatus.FAILED}[verdict] if is_settled else ItemStatus.UNKNOWN
    assert {outcome.status for outcome in ledger.outcomes} == {status}


@given(statuses=st.lists(st.sampled_from(ItemStatus)))
def test_excluded_items_do_not_count_for_the_status(statuses):
    assert roll_up(statuses) is roll_up([status for status in statuses if status is not ItemStatus.EXCLUDED])
    assert roll_up(statuses) is roll_up([*statuses, ItemStatus.EXCLUDED])
