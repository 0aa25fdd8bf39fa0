"""What the model is asked about parameters, and that only what was said counts (runtime.md §5.2 to §5.4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.test_coercion import ANY_JSON
from tooling.specs import ArgumentSpec, ArgumentType, Text, ToolSpec
from transactions.core.grounding import accepts, ground_of, grounded
from transactions.core.parameters import (
    Extraction,
    Unreadable,
    extraction_request,
    extraction_schema,
    missing,
    only_array_argument,
    read_extraction,
    read_values,
)

TOOL = ToolSpec(
    name="devolver",
    description=Text(by_locale={"pt-BR": "Devolve", "en": "Returns"}),
    mcp_server="loja",
    arguments=(
        ArgumentSpec("pedido", label=Text("o pedido"), description=Text(by_locale={"pt-BR": "Número", "en": "Number"})),
        ArgumentSpec("itens", type=ArgumentType.ARRAY, items={"type": "string"}),
        ArgumentSpec("valor", type=ArgumentType.NUMBER),
        ArgumentSpec("quantos", type=ArgumentType.INTEGER),
        ArgumentSpec("urgente", type=ArgumentType.BOOLEAN),
        ArgumentSpec("data", format="date"),
        ArgumentSpec("turno", enum=("manhã", "tarde")),
        ArgumentSpec("extra", type=ArgumentType.OBJECT),
    ),
)
NAMES = TOOL.argument_names


def read(values: Any, message: str, *, before: str | None = None, locale: str = "pt-BR") -> Extraction:
    found = read_extraction(
        {"kind": "answers_pending", "values": values},
        TOOL,
        NAMES,
        message=message,
        last_assistant_message=before,
        locale=locale,
    )
    assert isinstance(found, Extraction)
    return found


# Grounding ------------------------------------------


def test_a_value_that_nobody_said_is_dropped_with_its_reason() -> None:
    found = read(
        {"pedido": "PED-9", "itens": [], "valor": "muito", "quantos": None, "outro": 1, "extra": "null"},
        "quero devolver",
    )

    assert found.values == {}
    assert found.dropped == {
        "pedido": "not in the message",
        "itens": "empty",
        "valor": "wrong type",
        "outro": "not pending",
        "extra": "empty",
    }


def test_values_beside_something_else_do_not_count() -> None:
    answer = {"kind": "something_else", "values": {"pedido": "PED-1", "valor": None}}

    found = read_extraction(answer, TOOL, NAMES, message="PED-1", last_assistant_message=None, locale="pt-BR")

    assert found == Extraction("something_else", dropped={"pedido": "something else"})


def test_of_a_list_only_the_elements_that_were_said_stay() -> None:
    assert read({"itens": ["PED-1", "PED-2", "PED-3"]}, "ped-1 e PED 3").values == {"itens": ["PED-1", "PED-3"]}


def test_of_an_object_only_the_parts_that_were_said_stay() -> None:
    found = read({"extra": {"nome": "Ana", "idade": 30, "vip": True, "cidade": "Recife"}}, "para Ana, 30 anos")

    assert found.values == {"extra": {"nome": "Ana", "idade": 30, "vip": True}}


def test_enum_boolean_and_date_values_are_exempt() -> None:
    values = {"turno": "manha", "urgente": True, "data": "2026-12-01"}

    assert read(values, "amanhã cedo").values == {"turno": "manhã", "urgente": True, "data": "2026-12-01"}


@pytest.mark.parametrize(
    ("value", "message", "counts"),
    [
        (14.99, "o de 14,99", True),
        ("14,99", "o de R$ 14,99", True),
        (1234.56, "1.234,56", True),
        (14, "o de 14,99", False),
        (1499, "o de 14,99", False),
        (0, "nenhum", False),
        (0, "0", True),
    ],
)
def test_a_numbers_value_must_be_in_the_message(value: Any, message: str, counts: bool) -> None:
    assert bool(read({"valor": value}, message).values) is counts


def test_a_number_kept_as_text_may_be_written_otherwise() -> None:
    assert read({"pedido": "1234.56"}, "é 1.234,56").values == {"pedido": "1234.56"}
    assert read({"pedido": 12345}, "12345").values == {"pedido": "12345"}


def test_a_value_without_letters_or_digits_must_stand_there_as_it_is() -> None:
    assert read({"pedido": "👍"}, "ponha 👍").values == {"pedido": "👍"}
    assert read({"pedido": "👎"}, "ponha 👍").values == {}


OFFER = "Você tem Música Mais por 14,99, Livros Falados por 10,00 e o pedido PED-1002. Qual?"


@pytest.mark.parametrize(
    "message",
    ["sim, esse", "sim", "o de 14,99", "o segundo", "esse mesmo", "quero os dois", "é o PED-1002", "todos", "isso"],
)
def test_a_message_that_only_points_accepts_what_was_offered(message: str) -> None:
    assert accepts(message, OFFER, "pt-BR")


@pytest.mark.parametrize(
    "message",
    [
        "não",
        "esse não",
        "sim, mas não esse",
        "esse?",
        "sim?",
        "PED-1003",
        "sim, o PED-1003",
        "quero ver minha fatura",
        "quero devolver um pedido",
        "o pedido",
        "não sei",
        "",
    ],
)
def test_a_message_with_a_value_of_its_own_a_no_or_a_question_accepts_nothing(message: str) -> None:
    assert not accepts(message, OFFER, "pt-BR")


@pytest.mark.parametrize(
    ("message", "accepted"), [("yes, that one", True), ("the first", True), ("I don't know", False)]
)
def test_english_points_in_english(message: str, accepted: bool) -> None:
    assert accepts(message, "Is it order PED-1002?", "en") is accepted


def test_nothing_was_offered_nothing_is_accepted() -> None:
    assert not accepts("sim, esse", None, "pt-BR")
    assert not accepts("sim, esse", "", "pt-BR")


def test_the_words_of_an_offer_that_was_not_accepted_ground_nothing() -> None:
    assert read({"pedido": "PED-1002"}, "quero devolver um pedido", before=OFFER).values == {}
    assert read({"pedido": "PED-1002"}, "sim, esse", before=OFFER).values == {"pedido": "PED-1002"}


@given(ANY_JSON, st.text(), st.none() | st.text(), st.sampled_from(["pt-BR", "en"]))
def test_whatever_a_model_answers_is_read_or_refused(
    answer: Any, message: str, before: str | None, locale: str
) -> None:
    found = read_extraction(answer, TOOL, NAMES, message=message, last_assistant_message=before, locale=locale)

    assert isinstance(found, Extraction | Unreadable)


@given(st.dictionaries(st.sampled_from(NAMES), ANY_JSON), st.text())
def test_whatever_values_a_model_gives_none_that_counts_is_null(values: dict[str, Any], message: str) -> None:
    found = read(values, message)

    assert None not in found.values.values()
    assert set(found.values).isdisjoint(found.dropped)
    assert set(found.values) | set(found.dropped) == {name for name, value in values.items() if value is not None}


@given(st.text(min_size=1))
def test_a_text_is_grounded_in_itself(text: str) -> None:
    assert grounded(text, ArgumentSpec("v"), ground_of(text, None, "pt-BR")) == text


# Corrections ------------------------------------------


def test_an_addition_may_repeat_what_was_known() -> None:
    known = {"pedido": "Música Mais, Craque 10", "itens": ["PED-1"], "valor": 5}
    values = {"pedido": "Música Mais, Craque 10, Jogos Dia", "itens": ["PED-1", "PED-2", "PED-9"], "valor": 5}

    taken = read_values(
        values,
        TOOL,
        tuple(known),
        message="põe também o Jogos Dia e o PED-2",
        last_assistant_message=None,
        locale="pt-BR",
        known=known,
    )

    assert taken == {"pedido": "Música Mais, Craque 10, Jogos Dia", "itens": ["PED-1", "PED-2"], "valor": 5}


@pytest.mark.parametrize("values", [None, [], "x", {"pedido": None}, {"urgente": True}, {"pedido": "PED-7"}], ids=str)
def test_a_correction_takes_only_named_parameters_that_were_said(values: Any) -> None:
    taken = read_values(values, TOOL, ("pedido",), message="é outro", last_assistant_message=None, locale="pt-BR")

    assert taken == {}


# What is missing ------------------------------------------


def test_what_is_missing_is_asked_for_in_the_policys_order() -> None:
    assert missing(("a", "b", "c"), {"b": 0, "c": None}) == ("a", "c")
    assert missing((), {}) == ()


def test_only_a_single_array_argument_is_the_only_one() -> None:
    two = ToolSpec("t", Text(), "s", arguments=(*TOOL.arguments, ArgumentSpec("mais", type=ArgumentType.ARRAY)))

    assert only_array_argument(TOOL) == "itens"
    assert only_array_argument(two) is None
    assert only_array_argument(ToolSpec("t", Text(), "s")) is None


# Request and schema ------------------------------------------


def test_the_request_names_what_is_pending_and_nothing_else() -> None:
    request = extraction_request(
        TOOL,
        ["pedido", "data"],
        {"pedido": "velho", "valor": 3},
        message="PED-1",
        last_assistant_message=None,
        locale="en",
        hints={"pedido": "unused", "data": "The day"},
    )

    assert request == {
        "tool": "devolver",
        "tool_description": "Returns",
        "pending": ["pedido", "data"],
        "known": {"valor": 3},
        "schema": {
            "pedido": {"type": "string", "description": "Number", "label": "o pedido"},
            "data": {"type": "string", "description": "The day", "format": "date"},
        },
        "last_assistant_message": None,
        "message": "PED-1",
        "locale": "en",
    }


def test_the_schema_of_the_values_is_strict_and_nullable() -> None:
    values = extraction_schema(TOOL, NAMES)["properties"]["values"]["properties"]

    assert values["pedido"] == {"type": ["string", "null"]}
    assert values["itens"] == {"type": ["array", "null"], "items": {"type": "string"}}
    assert values["valor"] == {"type": ["number", "null"]}
    assert values["urgente"] == {"type": ["boolean", "null"]}
    assert values["data"] == {"type": ["string", "null"], "format": "date"}
    assert values["turno"] == {"type": ["string", "null"], "enum": ["manhã", "tarde", None]}
    assert values["extra"]["type"] == ["string", "null"]


def every_object(schema: Any) -> list[dict[str, Any]]:
    found = [schema] if isinstance(schema, dict) and "properties" in schema else []
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else []
    return found + [each for part in inner for each in every_object(part)]


@pytest.mark.parametrize(
    "items",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {"nome": {"type": "string"}, "n": {}, "l": {"type": "array"}}},
        {"type": ["string", "null"]},
        {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}}},
        {"type": "nonsense", "properties": 5},
    ],
    ids=str,
)
def test_every_level_of_an_answers_schema_is_strict(items: dict[str, Any]) -> None:
    tool = ToolSpec("t", Text(), "s", arguments=(ArgumentSpec("v", type=ArgumentType.ARRAY, items=items),))

    schema = extraction_schema(tool, ["v"])

    objects = every_object(schema)
    assert len(objects) >= 2
    for each in objects:
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
    assert "items" in schema["properties"]["values"]["properties"]["v"]


def test_a_pending_name_that_the_tool_does_not_declare_is_a_text() -> None:
    assert extraction_schema(TOOL, ["novo"])["properties"]["values"]["properties"] == {
        "novo": {"type": ["string", "null"]}
    }
