"""Every way of breaking the contract over real HTTP, the grade it gets and what customers would live through."""

import pytest

from tests.tooling.contract_servers import OPEN, Till, a_till, check, codes, judged
from tooling.linting.faults import Grade
from tooling.specs import Atomicity, Idempotency, PreValidationSpec

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]


def without_last(till, rows):
    return {"results": rows[:-1] if len(rows) > 1 else rows}


def with_another(success):
    return lambda till, rows: {"results": [*rows, {"boleto": "BOL-77", "success": success, "protocol": "P-77"}]}


def each(change):
    return lambda till, rows: {"results": [change(dict(row)) for row in rows]}


def drop(*names):
    return each(lambda row: {name: value for name, value in row.items() if name not in names})


def first_as(change):
    return lambda till, rows: {"results": [*rows[:1], *(change(dict(row)) for row in rows[1:])]}


def by_position(till, rows):
    verdicts = [index % 2 == 0 for index in range(len(rows))]
    return {"results": [row | {"success": good} for row, good in zip(rows, verdicts, strict=True)]}


BROKEN = [
    ("a missing row", without_last, "missing_row", Grade.USABLE),
    ("an extra row", with_another(False), "extra_row", Grade.USABLE),
    ("something done that nobody asked for", with_another(True), "extra_done", Grade.UNSAFE),
    ("true as a text", each(lambda row: row | {"success": str(row["success"]).lower()}), "flag_not_boolean", "usable"),
    ("true as a number", each(lambda row: row | {"success": int(row["success"])}), "flag_not_boolean", Grade.USABLE),
    ("no verdict", drop("success"), "flag_missing", Grade.USABLE),
    ("two verdicts", each(lambda row: row | {"ok": not row["success"]}), "flags_disagree", Grade.USABLE),
    ("two rows that disagree", lambda till, rows: {"results": [*rows, rows[0] | {"success": False}]},
     "rows_disagree", Grade.USABLE),
    ("two rows that agree", lambda till, rows: {"results": [*rows, rows[0]]}, "rows_repeated", Grade.GOOD),
    ("rows about nobody", drop("item_key", "boleto"), "rows_anonymous", Grade.USABLE),
    ("rows known by name only", drop("item_key"), "key_not_echoed", Grade.GOOD),
    ("no rows for several", lambda till, rows: {"ok": True} if len(rows) > 1 else {"results": rows},
     "no_rows", Grade.USABLE),
    ("a text", lambda till, rows: "Feito.", "not_structured", Grade.UNSAFE),
    ("everything is told as done", each(lambda row: row | {"success": True}), "refusal_told_as_done", Grade.UNSAFE),
    ("everything fails", each(lambda row: row | {"success": False}), "example_failed", Grade.USABLE),
    ("results by position", by_position, "order_matters", Grade.UNSAFE),
    ("no reason", drop("reason"), "no_reason", Grade.GOOD),
    ("no protocol", drop("protocol"), "no_protocol", Grade.USABLE),
    ("a whole that contradicts", lambda till, rows: {"results": rows, "ok": False}, "whole_contradicts", Grade.GOOD),
    ("one protocol for every run", each(lambda row: row | ({"protocol": "P-1"} if row["success"] else {})),
     "key_not_shown", Grade.USABLE),
]  # fmt: skip


@pytest.mark.parametrize(("name", "spoil", "code", "grade"), BROKEN, ids=[name for name, *_ in BROKEN])
def test_a_broken_contract_is_named_and_graded(name, spoil, code, grade):
    with a_till(Till(spoil)):
        found = check()

    assert code in codes(found)
    assert found.grade == grade


def test_a_server_that_keeps_the_contract_gets_the_best_grade_in_every_order_of_rows():
    with a_till(Till(lambda till, rows: {"results": rows[::-1]})):
        found = check()

    assert codes(found) == set()
    assert found.grade is Grade.GOOD
    assert set(found.aspects.values()) == {Grade.GOOD}


def test_rows_in_a_text_are_read_as_well():
    import json

    with a_till(Till(lambda till, rows: json.dumps({"results": rows}))):
        assert check().grade is Grade.GOOD


def test_all_or_nothing_may_answer_with_one_verdict_for_all():
    def whole(till, rows):
        return {"ok": all(row["success"] for row in rows), "protocol": rows[0].get("protocol", ""), "reason": "pago"}

    with a_till(Till(whole), atomicity=Atomicity.ALL_OR_NOTHING):
        found = check()

    assert codes(found) == {"example_failed"}
    assert {each.kind for each in found.faults if each.code == "example_failed"} == {"mixed"}


# At most once -------------------------------------------------------------------------------------------------


def test_a_key_that_runs_twice_is_unsafe_where_the_policy_relies_on_it_and_a_hint_elsewhere():
    with a_till(Till(honours_keys=False)):
        relied_on = check()
    with a_till(Till(honours_keys=False), idempotency=Idempotency.NONE):
        not_used = check()

    assert (codes(relied_on), relied_on.grade) == ({"key_ignored"}, Grade.UNSAFE)
    assert (codes(not_used), not_used.grade) == ({"key_ignored"}, Grade.GOOD)


def test_a_key_that_is_taken_for_other_arguments_is_told():
    class Forgetful(Till):
        def behave(self, exchange):
            arguments = exchange.message["params"]["arguments"]
            held = list(self.answers.items())
            self.answers = {key: (arguments, said) for key, (_, said) in held if _ == arguments}
            super().behave(exchange)

    with a_till(Forgetful()):
        found = check()

    assert (codes(found), found.grade) == ({"key_takes_others"}, Grade.USABLE)


def test_a_server_that_runs_a_key_once_may_be_relied_on():
    with a_till(idempotency=Idempotency.NONE):
        found = check()

    assert (codes(found), found.grade) == ({"key_could_be_used"}, Grade.GOOD)


# Validators ---------------------------------------------------------------------------------------------------


def said(**answer):
    return lambda arguments: answer


def items(change):
    def judge(arguments):
        changed = [each for item in judged(arguments) if (each := change(dict(item))) is not None]
        good = any(item in OPEN for item in arguments["boletos"])
        return {"eligible": good, "transaction_decision": {"resolved_arguments": {"items": changed}}}

    return judge


VALIDATORS = [
    ("no verdict", said(eligible="true"), "no_verdict", Grade.USABLE),
    ("everything passes", said(eligible=True), "refusal_passes", Grade.UNSAFE),
    ("nothing passes", said(eligible=False), "eligible_refused", Grade.USABLE),
    ("a flag as a text", items(lambda item: item | {"eligible": str(item["eligible"])}), "item_flag", Grade.USABLE),
    ("no reasons", items(lambda item: {name: item[name] for name in ("boleto", "eligible")}), "item_no_reason", "good"),
    ("an item is dropped", items(lambda item: None if item["boleto"] == "BOL-9" else item), "item_dropped", "usable"),
    ("a nameless item", items(lambda item: {"eligible": item["eligible"], "reason": "pago"}), "item_nameless",
     Grade.USABLE),
    ("a parameter that nobody requires", said(eligible=False, status="NEEDS_PARAMETER", parameter="cpf"),
     "bad_parameter", Grade.USABLE),
    ("customers may not take items out",
     lambda arguments: {"eligible": any(item in OPEN for item in arguments["boletos"]), "transaction_decision": {
         "resolved_arguments": {"items": judged({"boletos": arguments["boletos"]})}}}, "kept_ignored", Grade.USABLE),
]  # fmt: skip


@pytest.mark.parametrize(("name", "judge", "code", "grade"), VALIDATORS, ids=[name for name, *_ in VALIDATORS])
def test_a_validator_that_breaks_the_contract_is_named_and_graded(name, judge, code, grade):
    with a_till(Till(judge=judge)):
        found = check("validar")

    assert code in codes(found)
    assert found.grade == grade


def test_a_validator_without_verdict_is_unsafe_where_the_policy_goes_on_without_one():
    with a_till(Till(judge=said(eligible=None)), pre_validation=PreValidationSpec(True, "validar", fail_open=True)):
        assert check("validar").grade is Grade.UNSAFE


def test_a_good_validator_gets_the_best_grade():
    with a_till():
        found = check("validar")

    assert (codes(found), found.grade) == (set(), Grade.GOOD)
