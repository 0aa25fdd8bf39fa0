"""What a query found is told item by item."""

from __future__ import annotations

from transactions.core.answers import Found, render_found
from transactions.core.statuses import ItemStatus

DONE, FAILED = ItemStatus.SUCCEEDED, ItemStatus.FAILED


def test_every_item_is_told_with_what_is_known_of_it() -> None:
    found = [
        Found("Plano A", DONE, {"name": "Plano A", "ok": True, "preco_mensal": 14.9, "ativo": True}),
        Found("Plano B", FAILED, {"name": "Plano B", "ok": False}, reason="not_found"),
    ]

    text = render_found(found, locale="pt-BR")

    assert "Plano A – preco mensal: 14,90; ativo: sim" in text
    assert "Plano B: não consegui consultar" in text


def test_no_verdict_field_or_code_is_shown() -> None:
    text = render_found([Found("A", DONE, {"ok": True, "item_key": "k-1", "status": "on the way"})], locale="en")

    assert text == "• A – status: on the way"


def test_deep_and_long_answers_are_cut_and_never_fail() -> None:
    deep: dict[str, object] = {}
    for _ in range(50):
        deep = {"more": deep, "text": "x" * 2000}

    text = render_found([Found("A", DONE, deep)], locale="en")

    assert len(text) < 2000


def test_nested_lists_are_told_in_words() -> None:
    said = {"itens": [{"produto": "Tênis", "quantidade": 1}, {"produto": "Meia", "quantidade": 2}]}

    text = render_found([Found("PED-1", DONE, said)], locale="pt-BR")

    assert text == "• PED-1 – itens: produto: Tênis; quantidade: 1, produto: Meia; quantidade: 2"


def test_a_date_is_written_as_people_of_the_locale_write_it() -> None:
    item = Found("PED-1", DONE, {"since": "2026-11-30", "code": "20261130x"})

    assert render_found([item], locale="pt-BR") == "• PED-1 – since: 30/11/2026; code: 20261130x"
    assert render_found([item], locale="en") == "• PED-1 – since: 2026-11-30; code: 20261130x"
