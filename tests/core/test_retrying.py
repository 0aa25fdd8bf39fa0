"""Which items may be tried again, the words that ask for it, and arguments without what was done (runtime.md §9.5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runtime.shop import tool
from transactions.core.precedence import NeedRouting, Open, Readings, Retry, Said, Setting, State, decide
from transactions.core.retrying import (
    Named,
    Refusal,
    Why,
    is_one_of,
    is_retry_phrase,
    is_same,
    narrowed,
    refusal_of,
    why_not,
    without_done,
)
from transactions.core.statuses import FINAL, ItemStatus, Status

LIST = tool("l", {"ids": "array"})
LIST_AND_TEXT = tool("lt", {"ids": "array", "why": "string"})
TEXT = tool("t", {"what": "string"})
TWO_TEXTS = tool("tt", {"what": "string", "why": "string"})


def named(*labels: str) -> list[Named]:
    return [Named(label, {"name": label}) for label in labels]


# What may be tried again ------------------------------------------


@pytest.mark.parametrize("status", Status)
def test_only_what_failed_in_whole_or_in_part_may_be_tried_again(status: Status) -> None:
    refusal = refusal_of(status)

    assert (refusal is None) == (status in (Status.FAILED, Status.PARTIAL_SUCCESS))
    assert (refusal is Refusal.OUTCOME_UNKNOWN) == (status is Status.VERIFYING)
    assert (refusal is Refusal.NOT_FINISHED) == (status not in FINAL and status is not Status.VERIFYING)


@pytest.mark.parametrize("status", ItemStatus)
@pytest.mark.parametrize("is_done_since", [False, True])
def test_only_failed_and_not_executed_items_are_tried_again(status: ItemStatus, is_done_since: bool) -> None:
    why = why_not(status, is_done_since=is_done_since)

    assert (why is None) == (status in (ItemStatus.FAILED, ItemStatus.NOT_EXECUTED) and not is_done_since)


def test_a_reason_is_told_for_every_item_that_is_not() -> None:
    reasons = {status: why_not(status, is_done_since=False) for status in ItemStatus}

    assert reasons[ItemStatus.SUCCEEDED] is Why.SUCCEEDED
    assert reasons[ItemStatus.UNKNOWN] is reasons[ItemStatus.IN_FLIGHT] is Why.UNKNOWN
    assert reasons[ItemStatus.INELIGIBLE] is Why.INELIGIBLE
    assert reasons[ItemStatus.EXCLUDED] is Why.EXCLUDED


# The words ------------------------------------------


@pytest.mark.parametrize(
    ("locale", "text", "asks"),
    [
        ("pt-BR", "Tentar de novo", True),
        ("pt-BR", "TENTE NOVAMENTE!!", True),
        ("pt-BR", "tenta de novo o que falhou.", True),
        ("pt-BR", "repetir o que falhou", True),
        ("pt", "tentar outra vez", True),
        ("en", "Try again.", True),
        ("en", "retry what failed", True),
        ("pt-BR", "tentar de novo?", False),
        ("pt-BR", "não quero tentar de novo", False),
        ("pt-BR", "tentar de novo o primeiro", False),
        ("pt-BR", "try again", False),
        ("en", "tentar de novo", False),
        ("en", "try again tomorrow", False),
        ("en", "", False),
        ("en", "...", False),
    ],
)
def test_only_the_whole_message_asks_for_a_retry(locale: str, text: str, asks: bool) -> None:
    assert is_retry_phrase(text, locale) is asks


def test_the_words_count_where_nothing_is_open_and_something_can_be_tried_again() -> None:
    said, setting = Said("tentar de novo", 1), Setting("pt-BR", can_retry=True)

    assert decide(State(), said, Readings(), setting) == Retry()
    assert isinstance(decide(State(), said, Readings(), Setting("pt-BR")), NeedRouting)
    assert decide(State(), said, Readings(), Setting("pt-BR", keyword_intent="x")) == Open("idle.keyword", "x")
    for status in (Status.COLLECTING_PARAMETERS, Status.AWAITING_CONFIRMATION, Status.EXECUTING):
        assert decide(State(status=status), said, Readings(), setting) != Retry()


# The same item ------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (Named("Pedido", {"id": "1"}), Named("Pedido", {"id": "2"}), False),
        (Named("Pedido", {"id": "1"}), Named("Outro", {"id": "1"}), True),
        (Named("Pedido", {"arguments": {}}), Named("pedido ", {"id": "2"}), True),
        (Named("Música", {"name": "Música"}), Named("x", {"label": "música"}), True),
    ],
)
def test_identity_decides_and_the_label_only_where_there_is_none(a: Named, b: Named, same: bool) -> None:
    assert is_same(a, b) is is_same(b, a) is same


# The arguments ------------------------------------------


@pytest.mark.parametrize(
    ("spec", "arguments", "expected"),
    [
        (LIST, {"ids": ["A", "B", "C"]}, {"ids": ["B"]}),
        (LIST, {"ids": ["a", " b "]}, {"ids": [" b "]}),
        (LIST, {"ids": ["first", "second"]}, {"ids": ["B"]}),
        (LIST, {"ids": [{"name": "A"}, {"name": "B", "n": 2}]}, {"ids": [{"name": "B", "n": 2}]}),
        (LIST, {"ids": [{"no": 1}, {"no": 2}]}, None),
        (LIST_AND_TEXT, {"ids": ["A", "B"], "why": "late"}, {"ids": ["B"], "why": "late"}),
        (LIST_AND_TEXT, {"ids": ["A", "B"], "why": "B is late"}, {"ids": ["B"], "why": "B is late"}),
        (LIST_AND_TEXT, {"ids": ["A", "B"], "why": "A is late"}, None),
        (TEXT, {"what": "A, B, C"}, {"what": "B"}),
        (TEXT, {"what": "A, B e C"}, {"what": "B"}),
        (TEXT, {"what": "B"}, {"what": "B"}),
        (TEXT, {"what": "everything"}, None),
        (TEXT, {}, None),
        (TWO_TEXTS, {"what": "A, B", "why": "late"}, {"what": "B", "why": "late"}),
        (TWO_TEXTS, {"what": "A, B", "why": "B is late"}, {"what": "B", "why": "B is late"}),
        (TWO_TEXTS, {"what": "A, B", "why": "A is late"}, None),
        (TWO_TEXTS, {"what": "A and B", "why": "B is late"}, None),
        (TWO_TEXTS, {"what": "all", "why": "late"}, None),
    ],
)
def test_arguments_name_what_is_tried_again_and_nothing_else(spec: Any, arguments: Any, expected: Any) -> None:
    found = narrowed(spec, list(spec.argument_names), arguments, kept=named("B"), left=named("A", "C"))

    assert found == expected


def test_where_nothing_is_left_out_arguments_stay_as_they_were() -> None:
    arguments = {"what": "everything", "more": 7}

    assert narrowed(TEXT, ["what"], arguments, kept=named("A", "B"), left=[]) == arguments


def test_a_text_of_the_validator_is_taken_unless_it_names_what_was_done() -> None:
    def resolved(text: str) -> Any:
        return narrowed(TWO_TEXTS, ["what"], {"what": text}, kept=named("B"), left=named("A"), resolved={"what"})

    assert resolved("the second one") == {"what": "the second one"}
    assert resolved("the second one, not A") == {"what": "B"}


def test_two_things_of_one_name_cannot_be_told_apart_in_a_text_but_in_a_list_by_what_identifies_them() -> None:
    kept, left = [Named("Order", {"id": "2"})], [Named("Order", {"id": "1"})]

    assert narrowed(TEXT, ["what"], {"what": "Order"}, kept=kept, left=left) is None
    found = narrowed(LIST, ["ids"], {"ids": ["1", "2"]}, kept=kept, left=left)
    assert found == {"ids": ["2"]}


@pytest.mark.parametrize(
    ("spec", "arguments", "expected"),
    [
        (LIST, {"ids": ["A", "D"]}, {"ids": ["D"]}),
        (LIST, {"ids": ["A"]}, None),
        (TEXT, {"what": "D"}, {"what": "D"}),
        (TEXT, {"what": "A, D"}, {"what": "D"}),
        (TEXT, {"what": "A e D"}, None),
        (TEXT, {"what": "A"}, None),
        (TEXT, {}, {}),
    ],
)
def test_what_the_user_names_anew_loses_only_what_was_done(spec: Any, arguments: Any, expected: Any) -> None:
    found = without_done(spec, list(spec.argument_names), arguments, named("A"))

    assert found is None if expected is None else {k: v for k, v in (found or {}).items() if v is not None} == expected


ITEMS = st.lists(st.sampled_from("ABCDEFGH"), unique=True, min_size=2, max_size=6)


@given(items=ITEMS, data=st.data())
def test_no_list_and_no_text_ever_keeps_what_was_left_out(items: list[str], data: Any) -> None:
    cut = data.draw(st.integers(1, len(items) - 1))
    kept, left = named(*items[:cut]), named(*items[cut:])
    order = data.draw(st.permutations(items))

    listed = narrowed(LIST, ["ids"], {"ids": order}, kept=kept, left=left)
    written = narrowed(TEXT, ["what"], {"what": ", ".join(order)}, kept=kept, left=left)

    assert listed is not None and written is not None
    assert set(listed["ids"]) == set(written["what"].split(", ")) == set(items[:cut])
    assert not any(is_one_of(Named(each, {"label": each}), left) for each in listed["ids"])
