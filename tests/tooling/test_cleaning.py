"""JSON from outside becomes JSON that can be stored."""

import json
import math

import pytest

from tooling.cleaning import CUT, DEEPEST, clean_json, read_json


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "á\n", [], {}, {"a": [1, {"b": None}]}])
def test_what_can_be_stored_stays_as_it_is(value):
    assert clean_json(value) == value


@pytest.mark.parametrize(
    ("value", "cleaned"),
    [
        ("a\x00b", "a�b"),
        ("\ud800", "�"),
        ({"k\x00": "\udfff"}, {"k�": "�"}),
        ([math.nan, math.inf, -math.inf], [None, None, None]),
        ((1, 2), [1, 2]),
        ({1: "a"}, {"1": "a"}),
    ],
)
def test_what_a_database_refuses_is_replaced(value, cleaned):
    assert clean_json(value) == cleaned


def test_what_is_nested_too_deeply_is_cut():
    value = []
    for _ in range(10_000):
        value = [value]

    cleaned = clean_json(value)

    assert json.dumps(cleaned, ensure_ascii=False).count("[") == DEEPEST
    assert CUT in json.dumps(cleaned, ensure_ascii=False)


def test_cleaning_does_not_change_its_input():
    value = {"a": ["\x00"]}

    clean_json(value)

    assert value == {"a": ["\x00"]}


@pytest.mark.parametrize("depth", [10, 500, 10_000])
def test_json_of_any_depth_is_read_with_what_stands_beside(depth):
    text = '{"deep": ' + "[" * depth + r'"]\"["' + "]" * depth + ', "beside": [1, {"a": 2}]}'

    assert read_json(text.encode())["beside"] == [1, {"a": 2}]


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 10_000, b"nope"])
def test_what_is_no_json_is_a_value_error(data):
    with pytest.raises(ValueError):
        read_json(data)
