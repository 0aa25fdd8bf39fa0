"""A model's value becomes its declared type or nothing; nothing makes it fail (runtime.md §5.5)."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.specs import ArgumentSpec, ArgumentType
from transactions.core.coercion import coerce, is_blank, is_plain

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
ANY_JSON = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
FORMS = (
    [ArgumentSpec("v", type=kind) for kind in ArgumentType]
    + [ArgumentSpec("v", format=form) for form in ("date", "date-time")]
    + [ArgumentSpec("v", enum=("A", "á", 1, True, None))]
    + [
        ArgumentSpec("v", type=ArgumentType.ARRAY, items=items)
        for items in (
            {"type": "string"},
            {"type": "integer"},
            {"type": "object"},
            {"type": "array", "items": {"type": "string"}},
            {"type": "nonsense"},
            {"type": ["string", "null"]},
            {"type": "string", "enum": ["a"]},
        )
    ]
)


def of(kind: str, **more: Any) -> ArgumentSpec:
    return ArgumentSpec("v", type=ArgumentType(kind), **more)


@given(st.sampled_from(FORMS), ANY_JSON, st.sampled_from(["pt-BR", "en", ""]))
def test_any_json_is_coerced_or_dropped_and_what_comes_back_can_be_stored(
    argument: ArgumentSpec, value: Any, locale: str
) -> None:
    coerced = coerce(argument, value, locale)

    assert is_plain(coerced)
    json.dumps(coerced, allow_nan=False)


@given(st.sampled_from(FORMS), ANY_JSON, st.sampled_from(["pt-BR", "en"]))
def test_coercing_twice_changes_nothing_more(argument: ArgumentSpec, value: Any, locale: str) -> None:
    once = coerce(argument, value, locale)

    if once is not None:
        assert coerce(argument, once, locale) == once


@given(st.sampled_from(FORMS), st.sampled_from([None, "", "  ", "null", "NULL", "N/A", "n/a", [], [None], {}]))
def test_what_says_nothing_is_null_for_every_type(argument: ArgumentSpec, value: Any) -> None:
    assert coerce(argument, value, "pt-BR") is None


def test_nested_values_without_end_are_dropped() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]

    assert [coerce(argument, deep, "pt-BR") for argument in FORMS] == [None] * len(FORMS)
    assert coerce(of("array"), "[" * 5000 + "]" * 5000, "pt-BR") is not None
    assert coerce(of("object"), '{"a":' * 5000, "pt-BR") is None


@pytest.mark.parametrize(
    ("value", "locale", "expected"),
    [
        ("3.0", "pt-BR", 3),
        (3.0, "pt-BR", 3),
        ("1.234", "pt-BR", 1234),
        ("1,234", "en", 1234),
        ("100000000000000000001", "en", 100000000000000000001),
        ("R$ 10", "pt-BR", 10),
        ("+7", "en", 7),
        ("\u22125", "en", -5),
        ("5 itens", "pt-BR", None),
        (False, "en", None),
        ([5], "en", None),
        ({"v": 5}, "en", None),
        (float("inf"), "en", None),
        ("1" * 5000, "en", None),
    ],
)
def test_integers(value: Any, locale: str, expected: int | None) -> None:
    assert coerce(of("integer"), value, locale) == expected


@pytest.mark.parametrize(
    ("value", "locale", "expected"),
    [
        ("14,99", "pt-BR", 14.99),
        ("-R$ 5,50", "pt-BR", -5.5),
        ("R$ -5,50", "pt-BR", -5.5),
        ("US$ 1,234.50", "en", 1234.5),
        ("10 €", "en", 10.0),
        ("€ 10 €", "en", None),
        ("BRL 10", "pt-BR", None),
        ("10%", "pt-BR", None),
        (math.nan, "en", None),
        ("-Infinity", "en", None),
        (True, "en", None),
        (10**50, "en", 10**50),
        (10**400, "en", None),
    ],
)
def test_numbers(value: Any, locale: str, expected: float | None) -> None:
    assert coerce(of("number"), value, locale) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("Sim", True), ("NÃO", False), ("yes", True), (0, False), ("0", False), (1.0, True), ("talvez", None), ([], None)],
)
def test_booleans(value: Any, expected: bool | None) -> None:
    assert coerce(of("boolean"), value, "pt-BR") is expected


def test_an_enum_gives_the_declared_value_and_only_that() -> None:
    argument = of("string", enum=("Manhã", "tarde", "N/A"))

    assert coerce(argument, " MANHA ", "pt-BR") == "Manhã"
    assert coerce(argument, "n/a", "pt-BR") == "N/A"
    assert coerce(argument, ["tarde"], "pt-BR") == "tarde"
    assert coerce(argument, "noite", "pt-BR") is None


def test_an_enum_of_numbers_takes_their_texts() -> None:
    argument = of("integer", enum=(1, 12))

    assert coerce(argument, "12", "en") == 12
    assert coerce(argument, 1, "en") == 1
    assert coerce(argument, True, "en") is None
    assert coerce(argument, 2, "en") is None


@pytest.mark.parametrize(
    ("form", "value", "locale", "expected"),
    [
        ("date", "2026-09-10", "en", "2026-09-10"),
        ("date", "1/9/2026", "pt-BR", "2026-09-01"),
        ("date", "10/09/2026", "en", None),
        ("date", "2026-02-29", "pt-BR", None),
        ("date", "2026-09-10T14:30:00Z", "pt-BR", "2026-09-10"),
        ("date", "20260910", "pt-BR", None),
        ("date", 20260910, "pt-BR", None),
        ("date-time", "2026-09-10 14:30", "pt-BR", "2026-09-10T14:30"),
        ("date-time", "10/09/2026 14:30", "pt-BR", "2026-09-10T14:30"),
        ("date-time", "2026-09-10t14:30:00z", "pt-BR", "2026-09-10T14:30:00Z"),
        ("date-time", "2026-09-10", "pt-BR", None),
        ("date-time", "2026-09-10T25:00", "pt-BR", None),
    ],
)
def test_dates(form: str, value: Any, locale: str, expected: str | None) -> None:
    assert coerce(of("string", format=form), value, locale) == expected


@pytest.mark.parametrize(
    ("items", "value", "expected"),
    [
        ({}, "A, B", ["A, B"]),
        ({}, 7, [7]),
        ({}, "['A', 'B']", ["A", "B"]),
        ({}, ["A", "", "null", ["B"], 0, False], ["A", 0, False]),
        ({}, {"name": "A"}, [{"name": "A"}]),
        ({"type": "string"}, [1001, "B"], ["1001", "B"]),
        ({"type": "integer"}, ["1", "x", 2], [1, 2]),
        ({"type": "object"}, ['{"name": "A"}', "B"], [{"name": "A"}]),
        ({"type": "string", "enum": ["manhã"]}, ["MANHA", "x"], ["manhã"]),
        ({"type": "array", "items": {"type": "string"}}, [["A"], "B"], [["A"], ["B"]]),
    ],
    ids=str,
)
def test_arrays(items: Any, value: Any, expected: Any) -> None:
    assert coerce(of("array", items=items), value, "pt-BR") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ({}, None),
        ("x", None),
        ('{"a": NaN}', None),
        ({"a": math.inf}, None),
    ],
    ids=str,
)
def test_objects(value: Any, expected: Any) -> None:
    assert coerce(of("object"), value, "pt-BR") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["A", 2, None, {"x": 1}], "A, 2"),
        ('["A", "B"]', "A, B"),
        ("['A', 'B']", "A, B"),
        ("[urgente]", "[urgente]"),
        (1001.0, "1001"),
        (14.99, "14.99"),
        (True, None),
        ({"a": {"b": 1}}, None),
        ("x" * 10_000_000, None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_texts(value: Any, expected: str | None) -> None:
    assert coerce(of("string"), value, "pt-BR") == expected


def test_nothing_and_a_value_are_told_apart() -> None:
    assert [is_blank(value) for value in (None, "", " n/A ", [], {})] == [True] * 5
    assert [is_blank(value) for value in (0, False, 0.0, "0", [None], "não")] == [False] * 6
