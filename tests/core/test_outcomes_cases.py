"""Normalisation and accounting by their case files, and the four results that the multi-item guide names (S1)."""

import copy
import json
from typing import Any

import pytest

from tests.loading import cases
from tooling.specs import Atomicity
from transactions.core.outcomes import (
    ConfirmedItem,
    Ledger,
    account,
    confirmed_item,
    count,
    envelope_of,
    multi_item_status_of,
    normalize,
    rows_of,
)
from transactions.core.statuses import ItemStatus, Status

NORMALISATION = cases("normalisation")
ACCOUNTING = cases("accounting")
OURS = {"key", "eligible", "reason", "excluded"}


def strictly(value: Any) -> str:
    """``value`` as JSON text: ``True`` is not ``1`` there, and 1 is not 1.0."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def envelope_in(when: dict[str, Any], tool: str = "a_tool") -> dict[str, Any]:
    answer = when["mcp_answer"]
    texts = [block["text"] for block in answer.get("content", []) if block["type"] == "text"]
    return envelope_of(
        tool,
        structured=answer.get("structured_content"),
        texts=texts,
        is_error=answer.get("is_error", False),
    )


@pytest.mark.parametrize("case", NORMALISATION, ids=lambda case: case["id"])
def test_an_envelope_is_normalised(case):
    tool, then = case["given"]["primary_tool"], case["then"]
    envelope = case["when"]["envelope"] if "envelope" in case["when"] else envelope_in(case["when"])
    before = copy.deepcopy(envelope)

    once = normalize(tool, envelope)

    assert strictly(envelope) == strictly(before)
    assert strictly(normalize(tool, once)) == strictly(once)
    for name, value in then.get("envelope", {}).items():
        assert strictly(envelope[name]) == strictly(value)
    if "output" in then:
        assert strictly(once) == strictly(then["output"])
    if then.get("equal_to_input"):
        assert strictly(once) == strictly(before)
        assert multi_item_status_of(once) == ""


def item_in(given: dict[str, Any]) -> ConfirmedItem:
    fields = {name: value for name, value in given.items() if name not in OURS}
    return confirmed_item(
        given["key"],
        fields,
        eligible=given.get("eligible", True),
        reason=given.get("reason"),
        excluded=given.get("excluded", False),
    )


def accounted(case: dict[str, Any]) -> tuple[Ledger, str]:
    """The ledger of a case and what the rows of its envelope say together."""
    given, when = case["given"], case["when"]
    confirmed = given["confirmed_items"]
    items = None if confirmed is None else [item_in(item) for item in confirmed]
    atomicity = Atomicity(given.get("policy", {}).get("atomicity", "best_effort"))
    tool, answer = given.get("primary_tool", "a_tool"), dict(when.get("answer", {}))
    texts = [answer.pop("text")] if "text" in answer else []
    is_error = answer.pop("is_error", False)
    envelope = when.get("envelope") or envelope_of(tool, structured=answer, texts=texts, is_error=is_error)
    ledger = account(
        items,
        when["rows"] if "rows" in when else rows_of(tool, envelope),
        verdict=envelope["ok"],
        atomicity=atomicity,
        evidence=envelope.get("result"),
        error=envelope.get("error"),
    )
    return ledger, multi_item_status_of(normalize(tool, envelope))


@pytest.mark.parametrize("case", ACCOUNTING, ids=lambda case: case["id"])
def test_every_item_is_accounted_for(case):
    then = case["then"]

    ledger, reported = accounted(case)

    found = {outcome.key: outcome for outcome in ledger.outcomes}
    if "outcomes" in then:
        assert found.keys() == then["outcomes"].keys()
    for key, expected in then.get("outcomes", {}).items():
        assert {name: getattr(found[key], name) for name in expected} == expected
    for key, kept in then.get("evidence_kept", {}).items():
        assert strictly({name: found[key].evidence[name] for name in kept}) == strictly(kept)
    assert strictly(list(ledger.unconfirmed)) == strictly(then.get("unconfirmed", []))
    assert ledger.status == then["transaction_status"]
    assert all(outcome.rule.startswith("runtime.md §") for outcome in ledger.outcomes)
    assert bool(ledger.incidents) is then.get("incident", bool(then.get("unconfirmed")))
    assert reported == then.get("multi_item_status", reported)


# S1: the four results of the multi-item guide ------------------------------------------------------

ITEMS = [confirmed_item(key, {"name": name}) for key, name in (("k1", "A"), ("k2", "B"), ("k3", "C"))]


def played(*verdicts: bool, ok: bool = True, error: str | None = None) -> tuple[dict[str, Any], Ledger]:
    """A workflow's envelope for A, B and C, normalised, and its ledger."""
    rows = [{"title": name, "success": verdict} for name, verdict in zip("ABC", verdicts, strict=True)]
    result = {"output": {"the_tool": {"results": rows}, "afterwards": {"success": ok}}}
    envelope = {"tool_name": "the_tool", "ok": ok, "result": result, "error": error, "metadata": {}}
    normalised = normalize("the_tool", envelope)
    return normalised, account(ITEMS, rows_of("the_tool", normalised), verdict=normalised["ok"])


def test_s1_1_all_succeed():
    normalised, ledger = played(True, True, True)

    assert multi_item_status_of(normalised) == "SUCCESS"
    assert ledger.status is Status.SUCCESS
    assert {outcome.status for outcome in ledger.outcomes} == {ItemStatus.SUCCEEDED}


def test_s1_2_partial():
    normalised, ledger = played(True, False, True)

    assert multi_item_status_of(normalised) == "PARTIAL_SUCCESS"
    assert normalised["metadata"]["multi_item"]["items_failed_count"] == 1
    assert ledger.status is Status.PARTIAL_SUCCESS
    assert [outcome.label for outcome in ledger.outcomes if outcome.status is ItemStatus.FAILED] == ["B"]


def test_s1_3_all_fail():
    normalised, ledger = played(False, False, False, ok=False, error="nothing worked")

    assert multi_item_status_of(normalised) == "FAILED"
    assert normalised["ok"] is False
    assert "secondary_error" not in normalised
    assert ledger.status is Status.FAILED
    assert count(outcome.status for outcome in ledger.outcomes).failed == 3


def test_s1_4_an_auxiliary_failure_afterwards_keeps_the_successes():
    normalised, ledger = played(True, True, True, ok=False, error="the mail was not sent")

    assert multi_item_status_of(normalised) == "SUCCESS"
    assert normalised["ok"] is True
    assert normalised["original_ok"] is False
    assert normalised["secondary_error"] == "the mail was not sent"
    assert ledger.status is Status.SUCCESS
