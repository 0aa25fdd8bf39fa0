"""Text is compared without case, accents and punctuation, and numbers are read as the locale writes them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transactions.core.folding import Clause, clauses, fold, language_of, numbers_in, read_number, tokens, words


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_case_makes_no_difference(text: str) -> None:
    assert fold(text.upper()) == fold(text.lower())


@pytest.mark.parametrize(
    ("written", "folded"),
    [("Música", "musica"), ("MÚSICA", "musica"), ("não", "nao"), ("Straße", "strasse"), ("a\u200bb", "ab")],
)
def test_accents_case_and_invisible_characters_are_folded_away(written: str, folded: str) -> None:
    assert fold(written) == folded


def test_composed_and_decomposed_accents_are_the_same() -> None:
    assert fold("caf\u00e9") == fold("cafe\u0301")


def test_tokens_are_runs_of_letters_and_digits() -> None:
    assert tokens("O pedido PED-1001, da Música_Mais!") == ("o", "pedido", "ped", "1001", "da", "musica", "mais")
    assert tokens("👍 … --") == ()


@given(st.text())
def test_every_token_is_found_again_in_its_own_text(text: str) -> None:
    assert tokens(" ".join(tokens(text))) == tokens(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" Sim, confirmo. ", ("sim", "confirmo")),
        ("sim?", ("sim", "?")),
        ("¿sim", ("?", "sim")),
        ("don’t", ("dont",)),
        ("sim 👍", ("sim", "👍")),
        ("...", ()),
    ],
)
def test_words_lose_their_punctuation_but_not_the_question_mark(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == expected


def test_clauses_end_at_punctuation_and_know_whether_they_ask() -> None:
    assert clauses("Sim, e tem multa?! Ok") == (
        Clause(("sim",), False),
        Clause(("e", "tem", "multa"), True),
        Clause(("ok",), False),
    )
    assert clauses("sim ... ?") == (Clause(("sim",), True),)
    assert clauses("?!") == ()


@pytest.mark.parametrize(
    ("text", "locale", "expected"),
    [
        ("1.234", "pt-BR", "1234"),
        ("1.234", "en", "1.234"),
        ("1,234", "en-US", "1234"),
        ("1,234", "pt", "1.234"),
        ("14,99", "pt-BR", "14.99"),
        ("14.99", "pt-BR", "14.99"),
        ("14,99", "en", "14.99"),
        ("1.234,56", "pt-BR", "1234.56"),
        ("1,234.56", "pt-BR", "1234.56"),
        ("1.234,56", "en", "1234.56"),
        ("1.234.567", "en", "1234567"),
        ("0.123", "pt-BR", "0.123"),
        ("007", "pt-BR", "7"),
        ("1e3", "pt-BR", "1000"),
    ],
)
def test_separators_mean_what_the_locale_says(text: str, locale: str, expected: str) -> None:
    assert read_number(text, locale) == Decimal(expected)


@pytest.mark.parametrize("text", ["", "1.", ".5", "1..2", "1,2,3", "12.34.56", "١٢", "NaN", "Infinity", "1" * 401])
def test_what_is_no_number_is_none(text: str) -> None:
    assert read_number(text, "pt-BR") is None


@given(st.text(), st.sampled_from(["pt-BR", "en", "", "xx"]))
def test_reading_numbers_never_fails(text: str, locale: str) -> None:
    assert read_number(text, locale) is None or text
    assert isinstance(numbers_in(text, locale), frozenset)


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_a_written_integer_is_found(number: int) -> None:
    assert numbers_in(f"quero {number} hoje", "pt-BR") == {Decimal(number)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("o de 14,99.", {"14.99"}),
        ("R$ 1.234,56 e R$50", {"1234.56", "50"}),
        ("PED-1001", {"1001"}),
        ("nº1001", {"1001"}),
        ("10kg", {"10"}),
        ("10/09/2026", {"10", "9", "2026"}),
        ("1,2,3", {"1", "2", "3"}),
        ("-5 (-3)", {"-5", "-3"}),
        ("PED-1O01", set()),
        ("3x15,90", set()),
        ("nenhum", set()),
    ],
)
def test_numbers_of_a_message_are_found_and_misspelt_codes_are_not(text: str, expected: set[str]) -> None:
    assert numbers_in(text, "pt-BR") == {Decimal(number) for number in expected}


def test_a_locale_has_a_language() -> None:
    assert [language_of(locale) for locale in ("pt-BR", "pt_BR", "EN", "")] == ["pt", "pt", "en", ""]
