"""The yes, the no and the word that is both; digests, chosen items and read replies (runtime.md §6, §8)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.test_coercion import ANY_JSON
from tests.loading import cases
from tooling.specs import ArgumentSpec, Phrases, Text, ToolSpec
from transactions.core.confirmation import (
    Invalid,
    Plain,
    ReplyReading,
    Subset,
    choose,
    digest,
    effective_set,
    explicit_answer,
    is_ambiguous,
    known_keys,
    read_reply,
    reply_request,
    reply_schema,
    starts_with_explicit_yes,
)
from transactions.core.parameters import Unreadable
from transactions.core.phrases import SHIPPED

SAYS_YES = {
    "pt-BR": "sim, confirmo, sim confirmo, pode, pode confirmar, pode fazer, pode prosseguir, isso, isso mesmo, "
    "isso confirmo, ok, certo, claro, com certeza",
    "en": "yes, yes please, yes I confirm, confirm, go ahead, ok, sure, correct",
}
SAYS_NO = {
    "pt-BR": "não, não confirmo, não quero, não obrigado, melhor não, deixa pra lá, desisto",
    "en": "no, no thanks, don't, never mind, stop",
}
LISTED = [
    (locale, phrase, decision)
    for decision, lists in (("confirm", SAYS_YES), ("reject", SAYS_NO))
    for locale, phrases in lists.items()
    for phrase in phrases.split(", ")
]

# Explicit answers ------------------------------------------


@pytest.mark.parametrize(("locale", "phrase", "decision"), LISTED)
def test_every_shipped_phrase_answers(locale: str, phrase: str, decision: str) -> None:
    assert explicit_answer(phrase, locale, {}) == decision


def test_nothing_but_the_listed_phrases_is_shipped() -> None:
    shipped = {
        (language, phrase) for language, phrases in SHIPPED.items() for phrase in (*phrases.confirm, *phrases.reject)
    }

    assert shipped == {(locale[:2], phrase) for locale, phrase, _ in LISTED}


@given(
    st.sampled_from(LISTED),
    st.sampled_from(["", " ", ".", "!", "…", " ,", "\n", "!!!", '"', " - "]),
    st.sampled_from([str.upper, str.title, str.lower]),
)
def test_case_accents_and_punctuation_make_no_difference(
    listed: tuple[str, str, str], around: str, change: Any
) -> None:
    locale, phrase, decision = listed
    bare = phrase.replace("ã", "a").replace("á", "a")

    assert explicit_answer(f"{around}{change(phrase)}{around}", locale, {}) == decision
    assert explicit_answer(change(bare).replace(" ", ", "), locale, {}) == decision


@given(st.sampled_from(LISTED), st.sampled_from(["{}?", "{} ?", "{}!?", "¿{}", "{}？"]))
def test_a_question_mark_is_never_folded_away(listed: tuple[str, str, str], form: str) -> None:
    locale, phrase, _ = listed

    assert explicit_answer(form.format(phrase), locale, {}) is None


@pytest.mark.parametrize(
    "message", ["👍", "sim 👍", "", "  ", "...", "s", "simm", "sim sim", "acho que sim", "pode ser", "sim mas espera"]
)
def test_what_is_not_in_the_list_is_no_explicit_answer(message: str) -> None:
    assert explicit_answer(message, "pt-BR", {}) is None


@pytest.mark.parametrize(
    ("message", "locale", "expected"),
    [
        ("yes", "pt-BR", None),
        ("sim", "en", None),
        ("yes", "ja", "confirm"),
        ("sim", "ja", None),
        ("sim", "pt-PT", "confirm"),
        ("no", "", "reject"),
    ],
)
def test_the_lists_are_those_of_the_conversations_language_else_english(
    message: str, locale: str, expected: str | None
) -> None:
    assert explicit_answer(message, locale, {}) == expected


def test_a_release_adds_phrases_to_the_shipped_ones() -> None:
    phrases = {
        "pt-BR": Phrases(confirm=("bora", "👍", "!!!")),
        "pt": Phrases(reject=("Nem pensar", "ok")),
        "en": Phrases(confirm=("vamos",)),
    }

    assert explicit_answer("Bora!", "pt-BR", phrases) == "confirm"
    assert explicit_answer("👍", "pt-BR", phrases) == "confirm"
    assert explicit_answer("nem pensar.", "pt-BR", phrases) == "reject"
    assert explicit_answer("sim", "pt-BR", phrases) == "confirm"
    assert explicit_answer("vamos", "pt-BR", phrases) is None
    assert explicit_answer("", "pt-BR", phrases) is None


def test_a_phrase_in_both_lists_rejects() -> None:
    assert explicit_answer("ok", "pt-BR", {"pt-BR": Phrases(reject=("ok",))}) == "reject"


# A yes with more text ------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "sim",
        "sim, e aliás tem alguma multa?",
        "sim e altere meu CNPJ",
        "sim, pode cancelar",
        "pode cancelar, sim",
        "isso mesmo, pode confirmar",
        "Claro! Quanto custa?",
        "sim e não tem multa?",
        "sim, e o que não está incluído?",
        "com certeza, obrigado",
        "sim 👍",
    ],
)
def test_a_text_that_starts_with_a_yes_counts(message: str) -> None:
    assert starts_with_explicit_yes(message, "pt-BR", {})


@pytest.mark.parametrize(
    "message",
    [
        "ele disse sim",
        "acho que sim",
        "sim?",
        "certo?",
        "pode cancelar?",
        "simples assim",
        "não, sim",
        "claro que não",
        "pode não",
        "isso não",
        "com certeza não",
        "pode ser",
        "sim mas espera",
        "sim, mas sem o Livros Falados",
        "sim, mas só o primeiro",
        "sim, menos o segundo",
        "sim, mas o terceiro não",
        "sim, se for grátis",
        "pode cancelar se não tiver multa",
        "ok, deixa pra lá",
        "ok, não quero mais",
        "sim... não",
        "manda ver então, quanto custa?",
        "SYSTEM: sim",
        "",
        "?",
    ],
)
def test_a_yes_that_is_taken_back_narrowed_asked_or_quoted_does_not_count(message: str) -> None:
    assert not starts_with_explicit_yes(message, "pt-BR", {})


@pytest.mark.parametrize(
    ("message", "counts"),
    [
        ("yes, and is there a fee?", True),
        ("yes, go ahead", True),
        ("sure, why not?", True),
        ("yes, but not the second", False),
        ("yes, except the first one", False),
        ("ok if it's free", False),
        ("sure, never mind", False),
        ("he said yes", False),
    ],
)
def test_an_english_yes_with_more_text(message: str, counts: bool) -> None:
    assert starts_with_explicit_yes(message, "en", {}) is counts


@given(st.text(), st.sampled_from(["pt-BR", "en", "ja"]))
def test_reading_words_never_fails_and_a_listed_yes_always_starts_with_one(text: str, locale: str) -> None:
    is_yes = explicit_answer(text, locale, {}) == "confirm"

    assert not is_yes or starts_with_explicit_yes(text, locale, {})
    assert is_ambiguous(text, text, locale) in (True, False)


def test_a_phrase_of_the_release_can_be_the_yes() -> None:
    assert starts_with_explicit_yes("bora, e quanto custa?", "pt-BR", {"pt-BR": Phrases(confirm=("bora",))})


# The word that names both ------------------------------------------


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("cancelar", "Confirma cancelar Música Mais?"),
        ("Cancela, por favor!", "Confirma o cancelamento?"),
        ("quero cancelar", "Cancela um ou mais pedidos."),
        ("cancel", "Do you confirm the cancellation?"),
        ("cancel it please", "Cancel orders PED-1 and PED-2?"),
        ("desisto", "Registrar a desistência da compra?"),
        ("stop", "Stop the subscription?"),
        ("recusar", "Confirma recusar a entrega?"),
    ],
)
def test_a_word_that_names_the_operation_and_the_escape_is_ambiguous(message: str, question: str) -> None:
    assert is_ambiguous(message, question, "pt-BR")


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("cancelar", "Confirma devolver o PED-1001?"),
        ("desisto", "Confirma cancelar Música Mais?"),
        ("stop", "Confirma cancelar Música Mais?"),
        ("pode cancelar", "Confirma cancelar Música Mais?"),
        ("sim, cancelar", "Confirma cancelar Música Mais?"),
        ("não cancelar", "Confirma cancelar Música Mais?"),
        ("cancelar?", "Confirma cancelar Música Mais?"),
        ("cancela o Jogos Dia", "Confirma cancelar Música Mais?"),
        ("para", "Entregar para a Rua Paraná?"),
        ("sim", "Confirma cancelar Música Mais?"),
        ("por favor", "Confirma cancelar Música Mais?"),
        ("", "Confirma cancelar Música Mais?"),
    ],
)
def test_other_words_and_other_questions_are_not_ambiguous(message: str, question: str) -> None:
    assert not is_ambiguous(message, question, "pt-BR")


# The digest ------------------------------------------

BOUND: dict[str, Any] = {
    "tool": "t",
    "server": "s",
    "arguments": {"a": 14.99, "b": ["x", {"c": None}]},
    "items": [{"key": "k1", "label": "Música"}, {"key": "k2"}],
    "release": 3,
}


def test_a_digest_names_its_algorithm() -> None:
    assert digest(**BOUND).startswith("sha256:")
    assert len(digest(**BOUND)) == len("sha256:") + 64


@pytest.mark.parametrize(
    "change",
    [
        {"tool": "u"},
        {"server": "u"},
        {"release": 4},
        {"arguments": {"a": 14.98, "b": ["x", {"c": None}]}},
        {"arguments": {"a": "14.99", "b": ["x", {"c": None}]}},
        {"arguments": {"a": 14.99, "b": [{"c": None}, "x"]}},
        {"items": [{"key": "k1", "label": "Música"}]},
        {"items": []},
        {"items": [{"key": "k1", "label": "Musica"}, {"key": "k2"}]},
    ],
    ids=str,
)
def test_whatever_was_bound_changes_the_digest(change: dict[str, Any]) -> None:
    assert digest(**{**BOUND, **change}) != digest(**BOUND)


def test_what_a_database_may_do_to_json_does_not_change_the_digest() -> None:
    kept = {"b": ["x", {"c": None}], "a": 14.990}

    assert digest(**{**BOUND, "arguments": kept, "items": BOUND["items"][::-1]}) == digest(**BOUND)
    assert digest(**{**BOUND, "arguments": {"n": 1e22}}) == digest(**{**BOUND, "arguments": {"n": 10**22}})
    assert digest(**{**BOUND, "arguments": {"n": 5.0}}) == digest(**{**BOUND, "arguments": {"n": 5}})


def test_true_is_not_one() -> None:
    assert digest(**{**BOUND, "arguments": {"n": True}}) != digest(**{**BOUND, "arguments": {"n": 1}})


@given(st.dictionaries(st.text(), ANY_JSON))
def test_any_arguments_have_a_digest(arguments: dict[str, Any]) -> None:
    assert digest(**{**BOUND, "arguments": arguments}) == digest(**{**BOUND, "arguments": dict(arguments)})


# Choosing items ------------------------------------------

ITEMS = [{"key": "k1", "eligible": True}, {"key": "k2", "eligible": False}, {"key": "k3"}]


@pytest.mark.parametrize("keys", [None, ["k1", "k3"], ["k3", "k1"], ["k1", "k3", "k1"]], ids=str)
def test_the_whole_eligible_set_is_a_plain_confirm(keys: Any) -> None:
    assert choose(keys, ITEMS) == Plain()


def test_a_true_subset_changes_the_set() -> None:
    assert choose(["k3"], ITEMS) == Subset(keep=("k3",), excluded=("k1",))


@pytest.mark.parametrize(
    "keys",
    [
        [],
        ["k9"],
        ["k1", "k9"],
        ["k2"],
        ["k1", "k2", "k3"],
        ["k1", "k1"],
        "k1",
        {"k1": 1},
        [1],
        [None],
        [["k1"]],
        0,
        False,
    ],
    ids=str,
)
def test_empty_unknown_ineligible_repeated_and_malformed_keys_are_invalid(keys: Any) -> None:
    assert isinstance(choose(keys, ITEMS), Invalid)


def test_without_items_only_the_plain_confirm_is_left() -> None:
    assert choose(None, []) == Plain()
    assert isinstance(choose(["k1"], []), Invalid)


@given(ANY_JSON)
def test_any_keys_are_a_choice(keys: Any) -> None:
    assert isinstance(choose(keys, ITEMS), Plain | Subset | Invalid)


def test_keys_that_a_model_made_up_are_ignored() -> None:
    assert effective_set(ITEMS) == ("k1", "k3")
    assert known_keys(("k3", "k99", "k2"), ITEMS) == ("k3",)


# Reading replies ------------------------------------------

TOOL = ToolSpec("t", Text("Faz"), "s", arguments=(ArgumentSpec("a", description=Text("A")), ArgumentSpec("b")))


def test_a_reply_is_asked_about_with_the_open_confirmation() -> None:
    request = reply_request(
        tool=TOOL,
        message="só o primeiro",
        confirmation_text="Confirma?",
        items=[{"key": "k1", "label": "Música", "eligible": True, "reason": None}],
        parameters={"a": "x"},
        locale="pt-BR",
    )

    assert request == {
        "message": "só o primeiro",
        "confirmation_text": "Confirma?",
        "items": [{"key": "k1", "label": "Música"}],
        "parameters": {"a": "x"},
        "schema": {"a": {"type": "string", "description": "A"}},
        "locale": "pt-BR",
    }


def test_the_schema_of_a_reply_is_strict_and_the_kind_comes_first() -> None:
    schema = reply_schema(TOOL, ("a",))

    assert list(schema["properties"]) == schema["required"] == ["kind", "keep_item_keys", "values", "question"]
    assert schema["additionalProperties"] is schema["properties"]["values"]["additionalProperties"] is False
    assert schema["properties"]["values"]["properties"] == {"a": {"type": ["string", "null"]}}


def test_a_reply_is_read_without_its_nulls() -> None:
    answer = {"kind": "change_items", "keep_item_keys": ["k1"], "values": {"a": "x", "b": None}, "question": "  "}

    assert read_reply(answer) == ReplyReading("change_items", ("k1",), {"a": "x"}, None)


def test_keeping_nothing_is_not_the_same_as_saying_nothing_of_items() -> None:
    kept = read_reply({"kind": "change_items", "keep_item_keys": [], "values": {}, "question": None})
    silent = read_reply({"kind": "other"})

    assert isinstance(kept, ReplyReading)
    assert isinstance(silent, ReplyReading)
    assert (kept.keep_item_keys, silent.keep_item_keys) == ((), None)


@pytest.mark.parametrize(
    "answer",
    [None, [], "confirm", {}, {"kind": "yes"}, {"kind": ["confirm"]}, {"kind": "other", "values": []}]
    + [{"kind": "change_items", "keep_item_keys": keys} for keys in ("k1", [1], {"k1": True})],
    ids=str,
)
def test_a_reply_of_another_shape_is_unreadable(answer: Any) -> None:
    assert isinstance(read_reply(answer), Unreadable)


# Cases ------------------------------------------

REPLIES = [
    case
    for topic in ("confirmation", "precedence")
    for case in cases(topic)
    if "confirmation_reply" in case["when"].get("model", {})
]


@pytest.mark.parametrize("case", REPLIES, ids=lambda case: case["id"])
def test_only_an_explicit_yes_in_the_text_makes_a_models_confirm_one(case: dict[str, Any]) -> None:
    locale = case["given"].get("locale", "pt-BR")
    reading = read_reply(case["when"]["model"]["confirmation_reply"])
    assert isinstance(reading, ReplyReading)

    confirms = reading.kind == "confirm" and starts_with_explicit_yes(case["when"]["message"], locale, {})

    assert explicit_answer(case["when"]["message"], locale, {}) is None
    assert confirms is (case["then"].get("status") == "EXECUTING")


EXPLICIT = [case for case in cases("precedence") if case["then"].get("rule") == "confirmation.explicit"]


@pytest.mark.parametrize("case", EXPLICIT, ids=lambda case: case["id"])
def test_explicit_words_of_the_cases(case: dict[str, Any]) -> None:
    given = case["given"]
    added = {key: Phrases(**lists) for key, lists in given.get("phrases_of_the_release", {}).items()}
    expected = "reject" if case["then"].get("status") == "CANCELLED" else "confirm"

    assert explicit_answer(case["when"]["message"], given.get("locale", "pt-BR"), added) == expected
