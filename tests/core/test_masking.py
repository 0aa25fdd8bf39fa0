"""Whoever may not see customer data reads no value of the signed identity, wherever a server put it."""

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transactions.core.masking import NOTHING_HIDDEN, SHORTEST_INSIDE, hidden, mask_of

IDENTITY = {"customer_key": "C-000123", "contract_key": "88-17", "level": 7, "vip": True, "phones": ["11987654321"]}
MASK = mask_of(IDENTITY)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("C-000123", "•••123"),
        ("the customer c-000123 called", "the customer •••123 called"),
        ("contract 88-17.", "contract •••7."),
        ("C-0001234 is somebody else", "C-0001234 is somebody else"),
        ("7", "•••7"),
        ("7 items of 17", "7 items of 17"),
        ("11987654321", "•••321"),
        ("nobody", "nobody"),
        ("", ""),
    ],
)
def test_a_value_is_hidden_where_it_stands_as_a_word(text: str, shown: str) -> None:
    assert MASK.text(text) == shown


def test_json_is_hidden_at_every_depth_keys_and_numbers_included() -> None:
    answer = {"rows": [{"C-000123": {"level": 7, "ok": True, "n": 70}}], "note": None, "who": ["c-000123", 1.5]}

    assert MASK.json(answer) == {
        "rows": [{"•••123": {"level": "•••7", "ok": True, "n": 70}}],
        "note": None,
        "who": ["•••123", 1.5],
    }


def test_a_boolean_of_the_identity_hides_nothing() -> None:
    assert MASK.json({"done": True, "text": "True"}) == {"done": True, "text": "True"}


def test_an_anonymous_customer_has_nothing_to_hide() -> None:
    assert mask_of({}).json({"a": ["b", 1]}) == {"a": ["b", 1]}
    assert NOTHING_HIDDEN.text("C-000123") == "C-000123"


def test_two_customers_can_be_told_apart_and_none_is_told() -> None:
    assert (hidden("C-000123"), hidden("C-000124"), hidden("12345"), hidden("")) == ("•••123", "•••124", "•••5", "")


words = st.text(string.ascii_letters + string.digits + "-", min_size=6, max_size=12).filter(
    lambda word: word.strip("-") == word
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(words, values)
def test_no_long_value_survives_and_masking_twice_changes_nothing_more(value: str, around: object) -> None:
    assert len(value) >= SHORTEST_INSIDE
    mask = mask_of({"customer_key": value})

    shown = mask.json({"around": around, "alone": value, "inside": f"for {value}, today", value: [value]})

    assert value.casefold() not in json.dumps([shown["alone"], shown["inside"]], ensure_ascii=False).casefold()
    assert value not in shown
    assert mask.json(shown) == shown
