"""What follows from a validator's answer, and what is then sent (runtime.md §7, §4a.1, contracts.md §6)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.test_coercion import ANY_JSON
from tests.loading import cases
from tooling.specs import ArgumentSpec, ArgumentType, Atomicity, PolicySpec, PreValidationSpec, Text, ToolSpec
from transactions.core.parameters import missing
from transactions.core.prevalidation import (
    Failure,
    JudgedItem,
    Judgement,
    NeedsParameter,
    Passed,
    Redirect,
    Refused,
    confirmed_items_of,
    declared,
    judge,
    refusal_of,
    sendable_arguments,
    validator_arguments,
)
from transactions.core.statuses import ReasonCode, Status

CASES = cases("pre_validation")
DRIVEN_ELSEWHERE = {
    "PVA-018": "tests/runtime/test_pre_validation_cases.py: the validator of the target runs once",
    "PVA-021": "tests/runtime/test_pre_validation_cases.py: a target that is disabled",
    "PVA-049": "tests/runtime/test_pre_validation_cases.py: asking again does not validate again",
    "PVA-052": "tests/runtime/test_pre_validation_cases.py: text of the user is never the validator's answer",
    "PVA-053": "tests/runtime/test_pre_validation_cases.py: time ends a validation",
    "PVA-054": "tests/runtime/test_pre_validation_cases.py: the fifth run",
    "PVA-055": "tests/runtime/test_pre_validation_cases.py: the fourth run",
    "PVA-064": "tests/runtime/test_pre_validation_cases.py: a success row for an ineligible item",
    "PVA-069": "tests/runtime/test_pre_validation_cases.py: the validator is called again twice",
    "PVA-072": "tests/runtime/test_pre_validation_cases.py: the validator is no target",
}


def tool_of(name: str, arguments: dict[str, str] | list[str]) -> ToolSpec:
    kinds = arguments if isinstance(arguments, dict) else {a: "array" if a == "items" else "string" for a in arguments}
    specs = tuple(ArgumentSpec(key, type=ArgumentType(kind)) for key, kind in kinds.items())
    return ToolSpec(name=name, description=Text(), mcp_server="s", arguments=specs)


def policy_of(given: dict[str, Any]) -> PolicySpec:
    check = given["pre_validation"]
    return PolicySpec(
        tool=given["tool"],
        require_confirmation=True,
        requires=tuple(given["requires"]),
        pre_validation=PreValidationSpec(enabled=True, tool=check["tool"], fail_open=check["fail_open"]),
        atomicity=Atomicity(given.get("policy", {}).get("atomicity", "best_effort")),
    )


class Ruling:
    """A case judged, with one property per key that ``then`` may have."""

    def __init__(self, given: dict[str, Any], judgement: Judgement) -> None:
        self.given, self.judgement = given, judgement
        self.tool_spec = tool_of(given["tool"], given.get("accepted_by_tool") or given["requires"])

    @property
    def status(self) -> Status:
        match self.judgement:
            case Refused():
                return Status.REFUSED
            case NeedsParameter():
                return Status.COLLECTING_PARAMETERS
            case Redirect() if self.pending:
                return Status.COLLECTING_PARAMETERS
            case _:
                return Status.AWAITING_CONFIRMATION

    @property
    def reason_code(self) -> ReasonCode:
        assert isinstance(self.judgement, Refused)
        return self.judgement.reason_code

    @property
    def user_told_has(self) -> str | None:
        assert isinstance(self.judgement, Refused)
        return self.judgement.reason

    @property
    def arguments(self) -> dict[str, Any]:
        match self.judgement:
            case NeedsParameter(parameter=parameter, clear=clear):
                return {name: v for name, v in self.given["arguments"].items() if name not in (parameter, *clear)}
            case Redirect(arguments=arguments):
                return declared(tool_of("target", self.given["target_schema"]), arguments)
            case Passed(arguments=arguments):
                return dict(arguments)
            case Refused():
                return dict(self.given["arguments"])

    @property
    def pending(self) -> list[str]:
        requires = self.given["requires"]
        if isinstance(self.judgement, Redirect):
            requires = self.given["target_requires"]
        return list(missing(requires, self.arguments))

    @property
    def pending_set(self) -> list[str]:
        return sorted(self.pending)

    @property
    def question(self) -> str | None:
        assert isinstance(self.judgement, NeedsParameter)
        return self.judgement.message

    @property
    def tool(self) -> str:
        assert isinstance(self.judgement, Redirect)
        return self.judgement.target_tool

    @property
    def confirmation_text(self) -> str | None:
        assert isinstance(self.judgement, Passed)
        return self.judgement.confirmation_message

    @property
    def judged(self) -> tuple[JudgedItem, ...]:
        assert isinstance(self.judgement, Passed | Refused)
        return self.judgement.items or ()

    @property
    def effective_items(self) -> list[str]:
        return [item.label for item in self.judged if item.eligible]

    @property
    def items(self) -> list[dict[str, Any]]:
        return [{"label": item.label, "eligible": item.eligible, "reason": item.reason} for item in self.judged]

    @property
    def sent_arguments(self) -> dict[str, Any]:
        return sendable_arguments(self.tool_spec, self.arguments, self.judged or None)

    @property
    def evidence_has(self) -> dict[str, Any]:
        assert isinstance(self.judgement, Passed)
        return dict(self.judgement.extra)

    @property
    def marked_in(self) -> list[str]:
        assert isinstance(self.judgement, Passed)
        return ["evidence", "confirmation text"] if self.judgement.unvalidated else []


OF_THE_RUNTIME = {"action_calls", "confirmations", "tools_called", "validator_calls", "tool_declares_items"}
OF_THE_RUNTIME |= {"user_told", "question_when_asked_again", "validator_arguments"}
WITH_LISTS = {"items", "sent_arguments_have"}


def judged_cases() -> list[dict[str, Any]]:
    when = {"validator_answer", "validator_failure"}
    return [case for case in CASES if when & set(case["when"]) and case["id"] not in DRIVEN_ELSEWHERE]


@pytest.mark.parametrize("case", judged_cases(), ids=lambda case: case["id"])
def test_a_validators_verdict(case: dict[str, Any]) -> None:
    given, when, then = dict(case["given"]), case["when"], case["then"]
    if "model" in when:
        values = when["model"]["transaction_parameter_extraction"]["values"]
        given["arguments"] = {**given["arguments"], **values}
    verdict = when.get("validator_answer", Failure(when.get("validator_failure", "")))
    if when.get("validator_failure") == "answer is a text":
        verdict = "tudo certo"

    ruling = Ruling(given, judge_case(given, verdict))

    for key in then.keys() - OF_THE_RUNTIME - WITH_LISTS:
        assert (key, getattr(ruling, key)) == (key, then[key])
    for key in then.keys() & WITH_LISTS:
        found = ruling.items if key == "items" else ruling.sent_arguments["items"]
        wanted = then[key] if key == "items" else then[key]["items"]
        assert [{name: row[name] for name in want} for row, want in zip(found, wanted, strict=True)] == wanted
    if "validator_arguments" in then:
        validator = tool_of("v", [*given["requires"], "target_tool"])
        assert validator_arguments(validator, given["arguments"], given["tool"], None) == then["validator_arguments"]


def judge_case(given: dict[str, Any], verdict: Any) -> Judgement:
    tool = tool_of(given["tool"], given.get("accepted_by_tool") or given["requires"])
    return judge(verdict, policy=policy_of(given), tool=tool, arguments=given["arguments"])


@pytest.mark.parametrize(
    "case", [case for case in CASES if "validator_items" in case["given"]], ids=lambda case: case["id"]
)
def test_the_confirmed_set_without_validators_items(case: dict[str, Any]) -> None:
    given = case["given"]

    found = confirmed_items_of(tool_of("t", given["args_schema"]), given["arguments"], given["validator_items"])

    assert found == case["then"]["confirmed_set"]


def test_every_case_is_driven_here_or_named_elsewhere() -> None:
    ids = {case["id"] for case in CASES}
    driven = {case["id"] for case in judged_cases()}
    driven |= {case["id"] for case in CASES if "validator_items" in case["given"]}

    assert set(DRIVEN_ELSEWHERE) <= ids
    assert ids - driven == set(DRIVEN_ELSEWHERE)


# Beyond the cases ------------------------------------------

TOOL = tool_of("cancelar", {"pedidos": "array", "motivo": "string"})
ARGUMENTS = {"pedidos": ["P1", "P2"], "motivo": "x"}


def ruled(answer: Any, *, fail_open: bool = False, requires: tuple[str, ...] = ("pedidos",)) -> Judgement:
    check = PreValidationSpec(enabled=True, tool="v", fail_open=fail_open)
    policy = PolicySpec("cancelar", requires=requires, pre_validation=check)
    return judge(answer, policy=policy, tool=TOOL, arguments=ARGUMENTS)


def resolved(items: Any = None, **more: Any) -> dict[str, Any]:
    arguments = {**more, **({} if items is None else {"items": items})}
    return {"eligible": True, "transaction_decision": {"resolved_arguments": arguments}}


@pytest.mark.parametrize(
    "answer",
    [None, [], "x", 5, True, {}, {"eligible": None}, {"eligible": 0}, {"eligible": [True]}, Failure("timeout")],
)
def test_without_a_literal_boolean_fail_open_decides(answer: Any) -> None:
    assert ruled(answer) == Refused(ReasonCode.PRE_VALIDATION_UNAVAILABLE)
    assert ruled(answer, fail_open=True) == Passed(ARGUMENTS, unvalidated=True)


@given(ANY_JSON | st.fixed_dictionaries({"eligible": st.booleans(), "transaction_decision": ANY_JSON}), st.booleans())
def test_any_answer_is_judged(answer: Any, fail_open: bool) -> None:
    assert isinstance(ruled(answer, fail_open=fail_open), Passed | NeedsParameter | Redirect | Refused)


@given(ANY_JSON)
def test_a_literal_refusal_ends_it_whatever_stands_beside_it(decision: Any) -> None:
    judgement = ruled({"eligible": False, "transaction_decision": decision}, fail_open=True)

    assert isinstance(judgement, Refused)
    assert judgement.reason_code is ReasonCode.NOT_ELIGIBLE


@pytest.mark.parametrize(
    "decision", [None, [], "x", {"resolved_arguments": []}, {"resolved_arguments": {"items": "x"}}]
)
def test_parts_of_another_type_replace_nothing(decision: Any) -> None:
    assert ruled({"eligible": True, "transaction_decision": decision}) == Passed(ARGUMENTS)


def test_a_refusal_names_every_item_with_its_reason() -> None:
    items = [{"name": "P1", "eligible": False, "reason": "sent"}, {"name": "P2", "reason": "delivered"}]

    judgement = ruled({**resolved(items), "eligible": False, "status": "NOT_ELIGIBLE"})

    assert judgement == Refused(
        ReasonCode.NOT_ELIGIBLE,
        "NOT_ELIGIBLE",
        (JudgedItem({"name": "P1"}, "P1", False, "sent"), JudgedItem({"name": "P2"}, "P2", False, "delivered")),
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"error": " suspensa "}, "suspensa"),
        ({"error": {"message": "suspensa"}, "status": "X"}, "suspensa"),
        ({"error": 5, "status": "X"}, "X"),
        ({"error": "", "status": None}, None),
    ],
)
def test_the_reason_of_a_refusal_is_the_error_else_the_status(answer: dict[str, Any], reason: str | None) -> None:
    assert ruled({"eligible": False, **answer}) == Refused(ReasonCode.NOT_ELIGIBLE, reason)


def test_what_needs_a_parameter_clears_what_it_names_once() -> None:
    answer = {
        "status": "NEEDS_PARAMETER",
        "parameter": "pedidos",
        "parameter_message": "  ",
        "clear_fields": ["motivo", "motivo", "pedidos", 5, None],
    }

    assert ruled(answer) == NeedsParameter("pedidos", None, ("motivo",))
    assert ruled({**answer, "clear_fields": "motivo"}) == NeedsParameter("pedidos")
    assert ruled({**answer, "parameter": ["pedidos"]}) == Refused(ReasonCode.PRE_VALIDATION_UNAVAILABLE)


@pytest.mark.parametrize("value", [None, "", "  ", [], {}, "null", "N/A"])
def test_empty_values_replace_nothing(value: Any) -> None:
    assert ruled(resolved(motivo=value)) == Passed(ARGUMENTS)


@pytest.mark.parametrize("value", [0, False, "y", 0.0, ["a"]])
def test_other_values_replace_arguments(value: Any) -> None:
    assert ruled(resolved(motivo=value)) == Passed({**ARGUMENTS, "motivo": value})


def test_what_the_tool_does_not_declare_is_kept_as_evidence_only() -> None:
    assert ruled(resolved(fatura="F1", motivo="y")) == Passed({**ARGUMENTS, "motivo": "y"}, extra={"fatura": "F1"})


def test_repeated_items_merge_and_a_refusing_mention_decides() -> None:
    items = [{"name": "A"}, {"name": " a "}, {"name": "B"}, {"name": "B", "eligible": False, "reason": "r"}]
    distinct = [{"name": "A", "id": 1}, {"name": "A", "id": 2}, {"kind": "x", "n": "1"}, {"kind": "x", "n": "2"}]

    merged, kept = ruled(resolved(items)), ruled(resolved(distinct))

    assert isinstance(merged, Passed)
    assert [(item.label, item.eligible, item.reason) for item in merged.items or ()] == [
        ("A", True, None),
        ("B", False, "r"),
    ]
    assert isinstance(kept, Passed)
    assert len(kept.items or ()) == 4


def test_items_that_cannot_be_called_anything_are_no_items() -> None:
    assert ruled(resolved([None, {}, [], "", {"eligible": True}])) == Passed(ARGUMENTS)


def test_scalars_can_be_items() -> None:
    judgement = ruled(resolved(["A", 5]))

    assert isinstance(judgement, Passed)
    assert judgement.items == (JudgedItem({"label": "A"}, "A"), JudgedItem({"label": 5}, "5"))


def test_a_redirect_takes_everything_along_and_the_target_decides_what_stays() -> None:
    answer = resolved([{"name": "A"}], fatura="F1")
    answer["transaction_decision"] |= {"target_tool": "outra", "requires_reconfirmation": True}

    judgement = ruled(answer)

    items = (JudgedItem({"name": "A"}, "A"),)
    assert judgement == Redirect("outra", {**ARGUMENTS, "fatura": "F1"}, items, None, True)
    assert declared(tool_of("outra", ["fatura", "novo"]), judgement.arguments) == {"fatura": "F1"}


@pytest.mark.parametrize("target", ["cancelar", "", None, 5, ["outra"]])
def test_the_tool_itself_or_no_name_is_no_redirect(target: Any) -> None:
    assert ruled({"eligible": True, "transaction_decision": {"target_tool": target}}) == Passed(ARGUMENTS)


@pytest.mark.parametrize("flag", [False, None, "true", 1])
def test_only_a_literal_true_forces_a_confirmation(flag: Any) -> None:
    assert ruled({"eligible": True, "transaction_decision": {"requires_reconfirmation": flag}}) == Passed(ARGUMENTS)
    forced = ruled({"eligible": True, "transaction_decision": {"requires_reconfirmation": True}})
    assert forced == Passed(ARGUMENTS, requires_reconfirmation=True)


def test_all_or_nothing_refuses_a_set_that_is_only_partly_eligible() -> None:
    items = (JudgedItem({"name": "A"}, "A"), JudgedItem({"name": "B"}, "B", False, "r"))
    strict = PolicySpec("t", atomicity=Atomicity.ALL_OR_NOTHING)

    assert refusal_of(items, strict) == Refused(ReasonCode.NOT_ELIGIBLE, None, items)
    assert refusal_of(items, PolicySpec("t")) is None
    assert refusal_of(items[:1], strict) is None
    assert refusal_of(items[1:], PolicySpec("t")) == Refused(ReasonCode.NO_ACTIONABLE_ITEM, None, items[1:])
    assert refusal_of(None, strict) is None


# What is sent ------------------------------------------


def test_a_validator_gets_only_what_it_declares() -> None:
    whole = tool_of("v", {"pedidos": "array", "target_tool": "string", "keep_items": "array"})

    assert validator_arguments(whole, {**ARGUMENTS, "nada": None}, "cancelar", ["P1"]) == {
        "pedidos": ["P1", "P2"],
        "target_tool": "cancelar",
        "keep_items": ["P1"],
    }
    assert validator_arguments(whole, ARGUMENTS, "cancelar", None).keys() == {"pedidos", "target_tool"}
    assert validator_arguments(tool_of("v", ["motivo"]), ARGUMENTS, "cancelar", ["P1"]) == {"motivo": "x"}


def test_a_tool_gets_only_what_it_declares() -> None:
    assert sendable_arguments(TOOL, {**ARGUMENTS, "outro": 1, "motivo": None}, None) == {"pedidos": ["P1", "P2"]}


OK, BAD = JudgedItem({"name": "P1"}, "P1"), JudgedItem({"name": "P2"}, "P2", False, "sent")


def test_ineligible_items_go_with_their_flag_where_items_are_declared() -> None:
    objects = tool_of("t", {"items": "array"})
    texts = ToolSpec(
        "t", Text(), "s", arguments=(ArgumentSpec("items", type=ArgumentType.ARRAY, items={"type": "string"}),)
    )

    assert sendable_arguments(objects, {"items": ["p1", "p2"]}, [OK, BAD]) == {
        "items": [{"name": "P1"}, {"name": "P2", "eligible": False, "reason": "sent"}]
    }
    assert sendable_arguments(texts, {"items": ["p1", "p2"]}, [OK, BAD]) == {"items": ["P1"]}
    assert sendable_arguments(objects, {"items": ["A"]}, [JudgedItem({"label": "A"}, "A")]) == {"items": ["A"]}


def test_an_ineligible_element_of_the_only_array_is_not_sent() -> None:
    assert sendable_arguments(TOOL, ARGUMENTS, [OK, BAD]) == {"pedidos": ["P1"], "motivo": "x"}
    assert sendable_arguments(TOOL, {"pedidos": ["p2"]}, [OK, BAD]) == {"pedidos": ["P1"]}


def test_a_scalar_argument_is_sent_as_it_is() -> None:
    scalar = tool_of("t", {"texto": "string"})

    assert sendable_arguments(scalar, {"texto": "P1 e P2"}, [OK, BAD]) == {"texto": "P1 e P2"}


def test_the_confirmed_set_is_the_validators_else_the_only_array() -> None:
    assert confirmed_items_of(TOOL, ARGUMENTS, [OK, BAD]) == [{"name": "P1"}, {"name": "P2"}]
    assert confirmed_items_of(TOOL, ARGUMENTS, None) == ["P1", "P2"]
    assert confirmed_items_of(TOOL, {"pedidos": []}, None) is None
    assert confirmed_items_of(TOOL, {}, None) is None
