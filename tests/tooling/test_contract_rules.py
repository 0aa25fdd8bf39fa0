"""The rules of grading, for any answer at all: they never fail, forget nothing of what they store, and have words."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.utils.translation import override
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.contract_servers import DECLARED, ITEMS, definitions
from tests.tooling.mcp_servers import Hostile
from tooling.gateway import Answered, NoAnswer, NotSent, RemoteTool
from tooling.linting import words
from tooling.linting.calls import call_of
from tooling.linting.declarations import Declared, Examples, Sandbox, declared_by
from tooling.linting.faults import Code, Fault, Grade, Seen
from tooling.linting.probes import Plan, Role, Try, Uncallable, Why, plan_of, subject_of
from tooling.linting.reports import checked, plain, read, uncalled
from tooling.linting.rules import must_end, report_of

LINTING = Path(words.__file__).parent
HELD = definitions(Hostile())
REMOTE = [RemoteTool(name, "", ITEMS, meta=DECLARED) for name in ("cancelar", "validar")]
PLANS = [plan_of(subject_of(HELD, name, REMOTE), {}) for name in ("cancelar", "validar")]
assert all(isinstance(plan, Plan) for plan in PLANS)
RECONCILER = replace(PLANS[0], subject=replace(PLANS[0].subject, role=Role.RECONCILER))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["results", "success", "ok", "eligible", "items", "item_key", "status", "parameter", "reason",
                         "transaction_decision", "resolved_arguments", "target_tool", "error", "protocol", "boleto"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip
outcomes = st.one_of(
    st.builds(
        lambda value, text, is_error, broken: Answered({}, value, (text,), is_error, broken),
        json_values, st.text(max_size=5), st.booleans(), st.sampled_from(["", "broken"]),
    ),
    st.builds(NotSent, st.text(max_size=5), st.booleans(), st.sampled_from([None, {"code": -32602}])),
    st.builds(NoAnswer, st.sampled_from(["no answer within 5 s", "larger than 10 MiB", "broken"])),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([*PLANS, RECONCILER]), st.data())
def test_any_answers_come_to_a_report_that_is_stored_and_read_back_and_can_be_said(plan, data):
    seen = [Seen(probe, data.draw(outcomes), 0.1, "{}") for probe in plan.probes]

    report = report_of(plan, seen, 5.0)
    found = checked(plan, report, seen)

    assert isinstance(must_end(plan, seen), bool)
    assert read(plain(found)) == replace(found, calls=read(plain(found)).calls)
    assert (report.grade is Grade.NOT_CHECKED) is not any(each.answered for each in seen)
    assert all(words.message_of(each) and words.hint_of(each) for each in found.faults)


@given(json_values, json_values, st.dictionaries(st.text(max_size=4), json_values, max_size=2))
def test_any_declaration_is_read_without_an_error(sandbox, examples, schema):
    meta = {"agentplatform/sandbox": sandbox, "agentplatform/fixtures": examples}

    found = declared_by(RemoteTool("t", "", schema | {"properties": schema}, meta=meta))

    assert isinstance(found, Declared)
    assert found.sandbox is None or found.sandbox.place


def test_examples_of_any_size_are_bounded():
    many = {"agentplatform/fixtures": {"argument": "boletos", "succeed": [str(number) for number in range(1, 500)]}}
    huge = {"agentplatform/fixtures": {"argument": "boletos", "succeed": ["x" * 100_000]}}

    assert len(declared_by(RemoteTool("t", "", ITEMS, meta=many)).examples.succeed) == 20
    assert declared_by(RemoteTool("t", "", ITEMS, meta=huge)).troubles == ("examples_malformed",)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=3) | st.dictionaries(st.just("id"), st.text(max_size=2), min_size=1)),
    st.lists(st.text(min_size=1, max_size=3), max_size=3),
    st.sampled_from([{"argument": "dry_run"}, {"meta": "x/dry", "value": "yes"}]),
    st.dictionaries(st.sampled_from(["dry_run", "boletos"]), st.booleans(), max_size=1),
)
def test_every_planned_call_of_what_changes_something_is_marked(succeed, fail, mark, values):
    meta = {"agentplatform/sandbox": mark, "agentplatform/fixtures": {"succeed": succeed, "fail": fail}}
    plan = plan_of(subject_of(HELD, "cancelar", [RemoteTool("cancelar", "", ITEMS, meta=meta)]), values)

    for probe in plan.probes if isinstance(plan, Plan) else ():
        call = call_of(plan, probe, run="r", default_timeout=5.0)
        where = call.arguments if "argument" in mark else call.meta
        assert where[mark.get("argument") or mark["meta"]] == mark.get("value", True)


def test_a_batch_is_never_larger_than_the_policy_allows():
    held = definitions(Hostile(), max_items=2)
    plan = plan_of(subject_of(held, "cancelar", REMOTE), {})

    assert max(len(probe.items) for probe in plan.probes) == 2


def test_what_the_linter_tries_covers_every_batch_that_servers_get_wrong():
    assert {probe.kind for probe in PLANS[0].probes} == {
        Try.ONE, Try.AGAIN, Try.REPEATED, Try.OTHER_ARGUMENTS, Try.ONE_FAILS, Try.ALL_SUCCEED, Try.ALL_FAIL, Try.MIXED,
        Try.REORDERED, Try.STRANGER,
    }  # fmt: skip
    assert Try.KEPT in {probe.kind for probe in PLANS[1].probes}


@pytest.mark.parametrize("locale", ["pt-br", "en"])
def test_every_fault_call_role_and_refusal_has_words_in_both_languages(locale):
    with override(locale):
        for code in Code:
            fault = Fault(code, Try.ONE, ("A",), "B")
            assert words.message_of(fault) and "%(" not in words.message_of(fault)
            assert words.hint_of(fault) and "%(" not in words.hint_of(fault)
        for why in Why:
            found = replace(uncalled(Uncallable(PLANS[0].subject, why, ("x",))))
            assert words.why_of(found) and "%(" not in words.why_of(found)
        assert set(words.CALLS) == set(Try)
        assert set(words.ROLES) == set(Role)
        assert set(words.GRADES) == set(words.MEANINGS) == set(Grade)


def test_the_declaration_that_the_documentation_shows_is_read_as_it_says():
    text = (LINTING.parent.parent / "docs" / "contract-linter.md").read_text("utf-8")
    shown = json.loads(text.split("```json")[1].split("```")[0])
    schema = {"properties": {"order_ids": {"type": "array"}, "dry_run": {}}}

    found = declared_by(RemoteTool(shown["name"], "", schema, meta=shown["_meta"]))

    assert found == Declared(
        Sandbox(argument="dry_run"),
        Examples("order_ids", "", ("A-1", "A-2", "A-3"), ("A-8", "A-9"), ("A-7",), {"customer_key": "tester"}),
    )


def test_every_fault_is_found_by_some_rule():
    used = {
        node.attr
        for name in ("rules", "batches", "validators")
        for node in ast.walk(ast.parse((LINTING / f"{name}.py").read_text("utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Code"
    }

    assert used == {code.name for code in Code}
