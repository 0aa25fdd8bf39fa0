"""The linter reads answers as the runtime does: compared with the runtime's own normalising and accounting."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tooling.gateway import Answered
from tooling.identifying import PROTOCOL_FIELDS
from tooling.linting import answers as ours
from tooling.specs import Atomicity
from transactions.core import envelope, matching, outcomes
from transactions.core.statuses import ItemStatus

TOOL = "acao"
NAMES = ["Música", "música ", "PED-1", "PED-2", "7", "a", ""]
VALUES = st.sampled_from([*NAMES, 7, 8, True, None, 1.5])
FIELDS = st.sampled_from(["label", "name", "order_id", "id", "reason", "protocol"])
DONE = {ItemStatus.SUCCEEDED: True, ItemStatus.FAILED: False, ItemStatus.UNKNOWN: None}

flat = st.dictionaries(FIELDS, VALUES, max_size=3)
values = st.one_of(st.sampled_from([name for name in NAMES if name] + [7]), flat)
verdicts = st.dictionaries(
    st.sampled_from(["success", "ok"]), st.sampled_from([True, False, True, False, "true", 1, None]), max_size=2
)
keyed = st.dictionaries(st.just("item_key"), st.sampled_from(["i0", "i1", "i2", "other"]), max_size=1)
nested = st.dictionaries(st.just("order"), st.one_of(flat, st.lists(VALUES, max_size=2)), max_size=1)
rows = st.one_of(
    st.tuples(flat, verdicts, keyed, nested).map(lambda parts: parts[0] | parts[1] | parts[2] | parts[3]),
    st.sampled_from(["Música", 7, None, True, ["PED-1"]]),
)
results = st.one_of(
    st.fixed_dictionaries({"results": st.lists(rows, max_size=4)}, optional={"ok": st.booleans() | st.none()}),
    st.builds(lambda found: {"output": {TOOL: {"results": found}}, "results": []}, st.lists(rows, max_size=3)),
    st.just({"output": {TOOL: None}, "results": [{"ok": True}]}),
    st.dictionaries(st.sampled_from(["ok", "success", "error"]), st.sampled_from([True, False, "no", 1])),
    st.sampled_from(["done", "", None]),
)


def items_of(found):
    return [ours.Item(f"i{number}", value, ours.label_of(value)) for number, value in enumerate(found)]


@settings(max_examples=600, deadline=None)
@given(st.lists(values, min_size=1, max_size=3), results, st.booleans(), st.booleans(), st.sampled_from(Atomicity))
def test_every_item_comes_to_what_the_runtime_would_conclude(found, result, in_text, is_error, atomicity):
    is_text = in_text or not isinstance(result, dict)
    text = result if isinstance(result, str) else json.dumps(result)
    answered = Answered(raw={}, structured=None if is_text else result, texts=(text,), is_error=is_error)
    normal = envelope.envelope_of(TOOL, structured=answered.structured, texts=answered.texts, is_error=is_error)
    confirmed = [outcomes.confirmed_item(f"i{number}", value) for number, value in enumerate(found)]
    ledger = outcomes.account(
        confirmed, envelope.rows_of(TOOL, normal), verdict=bool(normal["ok"]), atomicity=atomicity
    )

    answer = ours.answer_of(TOOL, answered)
    account = ours.account(items_of(found), answer, is_atomic=atomicity is Atomicity.ALL_OR_NOTHING)

    assert {key: each.done for key, each in account.items.items()} == {
        outcome.key: DONE[outcome.status] for outcome in ledger.outcomes
    }
    assert list(account.extra) == list(ledger.unconfirmed)
    assert {key: str(each.cause) for key, each in account.items.items()} == {
        outcome.key: spoken(outcome, answer) for outcome in ledger.outcomes
    }


def spoken(outcome, answer):
    """The runtime's source of a verdict in the linter's words."""
    if outcome.verdict_source == "unreported":
        return "missing" if answer.rows else "no_rows"
    if outcome.verdict_source == "conflicting" and "ambiguous_rows" in outcome.evidence:
        return "ambiguous"
    return {"global": "whole"}.get(outcome.verdict_source, str(outcome.verdict_source))


@given(st.one_of(st.sampled_from(NAMES), st.dictionaries(FIELDS, st.sampled_from(NAMES), min_size=1)))
def test_an_item_is_called_as_customers_read_it(value):
    assert ours.label_of(value) == matching.label_of(value)


@given(rows)
def test_a_row_has_the_same_verdict_and_protocol(row):
    assert ours.verdict_of(row) is envelope.verdict_of(row)
    assert ours.protocol_of(row) == (matching.first_text(row, PROTOCOL_FIELDS) or "") or isinstance(
        row.get("protocol"), float
    )
