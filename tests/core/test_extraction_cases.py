"""Every line of extraction.jsonl that needs no conversation, no model and no server (runtime.md §5).

Decisions on the points that the rules leave open:

* EXT-017: a token is a run of letters and digits, so "ped 1001" grounds "PED-1001".
* EXT-049: a number with words around it is not taken; a currency mark is part of a number.
* EXT-079: a list in a list is dropped, unless the schema declares lists of lists.
* EXT-092: "N/A" and "null" are empty in any case. EXT-095: outer blanks are trimmed.
* EXT-096: a null among elements is skipped. EXT-125: a mapping's description fills a missing one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.loading import cases
from tooling.specs import ArgumentSpec, ArgumentType, Text, ToolSpec
from transactions.core.coercion import coerce
from transactions.core.parameters import (
    Extraction,
    Unreadable,
    extraction_request,
    extraction_schema,
    missing,
    read_extraction,
    read_values,
)
from transactions.core.precedence import Failed, Readings, Said, SayAgain, Setting, State, decide
from transactions.core.reply import ask_parameter
from transactions.core.statuses import Status

CASES = cases("extraction")
EXTRACTION = "transaction_parameter_extraction"
DRIVEN_ELSEWHERE = {
    "EXT-100": "tests/test_house.py: no business words, no patterns over business values",
    "EXT-118": "the tests of transactions/llm.py: a second try after a refusal",
    "EXT-121": "the tests of transactions/llm.py: the profile's timeout bounds the whole call",
    "EXT-122": "the tests of transactions/llm.py: the profile of the component's name",
    "EXT-161": "tests/test_house.py: no string of the runtime is a business word",
    "EXT-162": "the tests of transactions/llm.py: no second try after a timeout",
}


def argument(name: str, declared: Mapping[str, Any]) -> ArgumentSpec:
    """An argument as a case writes it; "enum" and "date" are texts with an enum or a format."""
    kind = declared.get("type", "string")
    is_date = kind in ("date", "date-time")
    return ArgumentSpec(
        name=name,
        type=ArgumentType.STRING if is_date or kind == "enum" else ArgumentType(kind),
        format=kind if is_date else "",
        enum=tuple(declared.get("enum", ())),
        label=text(declared.get("label", "")),
        description=text(declared.get("description", "")),
    )


def text(value: str | Mapping[str, str]) -> Text:
    return Text(default=value) if isinstance(value, str) else Text(by_locale=value)


def tool_of(given: Mapping[str, Any]) -> ToolSpec:
    """The tool of a case; arguments that a case only names are texts, or numbers where its values are."""
    declared = dict(given.get("schema", {}))
    for name, value in {**given.get("context_arguments", {}), **given.get("known", {})}.items():
        declared.setdefault(name, {"type": "number" if isinstance(value, float) else "string"})
    arguments = tuple(argument(name, spec) for name, spec in declared.items())
    return ToolSpec(name="t", description=Text("Uma ferramenta"), mcp_server="s", arguments=arguments)


def driven_by(key: str) -> list[dict[str, Any]]:
    return [case for case in CASES if key in case["when"] and case["id"] not in DRIVEN_ELSEWHERE]


@pytest.mark.parametrize("case", driven_by("model"), ids=lambda case: case["id"])
def test_what_of_an_extraction_is_taken(case: dict[str, Any]) -> None:
    given, when, then = case["given"], case["when"], case["then"]
    tool, known = tool_of(given), given.get("known", {})

    read = read_extraction(
        when["model"][EXTRACTION],
        tool,
        given["pending"],
        message=when["message"],
        last_assistant_message=given.get("last_assistant_message"),
        locale=given.get("locale", "pt-BR"),
    )

    assert isinstance(read, Extraction)
    arguments = {**known, **read.values}
    assert arguments == then["arguments"]
    if "pending" in then:
        assert list(missing(given["pending"], arguments)) == then["pending"]
    if "dropped" in then:
        assert sorted(read.dropped) == sorted(then["dropped"])


@pytest.mark.parametrize("case", driven_by("model_value"), ids=lambda case: case["id"])
def test_how_a_models_value_is_read(case: dict[str, Any]) -> None:
    given, then = case["given"], case["then"]
    spec = argument("v", given["schema"]["v"])

    value = coerce(spec, case["when"]["model_value"], given.get("locale", "pt-BR"))

    if "value" in then:
        assert value == then["value"]
        assert isinstance(value, bool) is isinstance(then["value"], bool)
    if "value_kept" in then:
        changes = {} if value is None else {"v": value}
        assert {**given["known"], **changes} == {"v": then["value_kept"]}


@pytest.mark.parametrize("case", driven_by("ask"), ids=lambda case: case["id"])
def test_a_question_names_one_parameter_in_the_users_words(case: dict[str, Any]) -> None:
    given, then = case["given"], case["then"]
    locale = given.get("locale", "pt-BR")
    asked, *later = missing(given["pending"], {})
    spec = tool_of(given).argument(asked)
    assert spec is not None

    question = ask_parameter(
        spec.user_prompt.in_locale(locale), spec.label.in_locale(locale), spec.description.in_locale(locale), locale
    )

    assert question.strip()
    assert then.get("question_contains", "").casefold() in question.casefold()
    assert not any(name in question for name in given["pending"])
    for name in later:
        other = tool_of(given).argument(name)
        assert other is not None
        assert other.description.in_locale(locale) not in question
    if then.get("language"):
        assert locale == then["language"]


@pytest.mark.parametrize("case", driven_by("model_failure"), ids=lambda case: case["id"])
def test_a_failed_extraction_asks_to_say_it_again_and_asks_no_router(case: dict[str, Any]) -> None:
    state = State(status=Status(case["given"]["state"]["status"]))
    said = Said(text=case["when"]["message"], seen_seq=5)
    assert set(case["when"]["model_failure"]) == {EXTRACTION}

    decision = decide(state, said, Readings(extraction=Failed(EXTRACTION)), Setting(locale="pt-BR"))

    assert decision == SayAgain(EXTRACTION)
    assert decision.rule == case["then"]["rule"]


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [{"kind": "answers_pending", "values": {}}],
        "answers_pending",
        None,
        {},
        {"values": {}},
        {"kind": "answers_pending"},
        {"kind": "answers_pending", "values": []},
        {"kind": "answers_pending", "values": None},
        {"kind": "maybe", "values": {}},
        {"kind": ["answers_pending"], "values": {}},
    ],
    ids=str,
)
def test_an_answer_of_another_shape_is_a_failure_and_not_no_value(answer: Any) -> None:
    tool = tool_of({"schema": {"v": {"type": "string"}}})

    read = read_extraction(answer, tool, ["v"], message="x", last_assistant_message=None, locale="pt-BR")

    assert isinstance(read, Unreadable)


def inspected(what: str) -> list[dict[str, Any]]:
    return [case for case in driven_by("inspect") if case["when"]["inspect"] == what]


@pytest.mark.parametrize("case", inspected("response schema of the request"), ids=lambda case: case["id"])
def test_the_answers_schema_puts_the_decision_first(case: dict[str, Any]) -> None:
    given, then = case["given"], case["then"]

    schema = extraction_schema(tool_of(given), given["pending"])

    assert list(schema["properties"]) == then["property_order"]
    assert schema["properties"]["kind"]["enum"] == then["kind_enum"]
    assert schema["properties"]["values"]["required"] == then["values_required"]


@pytest.mark.parametrize("case", inspected("request schema"), ids=lambda case: case["id"])
def test_the_schemas_description_wins_over_the_mappings(case: dict[str, Any]) -> None:
    given = case["given"]
    (name,) = given["schema"]

    request = extraction_request(
        tool_of(given),
        [name],
        {},
        message="x",
        last_assistant_message=None,
        locale="pt-BR",
        hints={name: given["mapping_description"]},
    )

    assert request["schema"][name]["description"] == case["then"]["description"]


def test_an_older_value_of_the_context_is_no_correction() -> None:
    (case,) = [case for case in CASES if case["id"] == "EXT-128"]
    tool = tool_of(case["given"])

    taken = read_values(
        case["given"]["context_arguments"],
        tool,
        ["subject"],
        message=case["when"]["message"],
        last_assistant_message=None,
        locale="pt-BR",
        known=case["given"]["known"],
    )

    assert taken == {}


def test_every_case_is_driven_here_or_named_elsewhere() -> None:
    ids = {case["id"] for case in CASES}
    driven = {case["id"] for key in ("model", "model_value", "ask", "model_failure") for case in driven_by(key)}
    driven |= {case["id"] for what in ("response schema of the request", "request schema") for case in inspected(what)}

    assert set(DRIVEN_ELSEWHERE) <= ids
    assert ids - driven == set(DRIVEN_ELSEWHERE)
