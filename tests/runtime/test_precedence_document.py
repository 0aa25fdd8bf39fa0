"""The five tests that the precedence document names (S2-1 to S2-5)."""

from __future__ import annotations

import pytest

from tests.runtime import shop
from tests.runtime.staging import EXTRACTION, NOTHING, ROUTING, opens, shift_to, validator_of
from tests.runtime.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]


def in_collecting(tool: str, keywords: dict[str, list[str]] | None = None) -> World:
    world = World(shop.with_keywords(shop.shop(), keywords or {}))
    opens(world, tool, {})
    assert world.transaction.status == "COLLECTING_PARAMETERS"
    return world


def test_s2_1_two_parameters_are_taken_from_one_turn() -> None:
    world = in_collecting("solicitar_devolucao")
    found = {"kind": "answers_pending", "values": {"order_id": "PED-1001", "reason": "desisti da compra"}}
    world.model.script({EXTRACTION: found})

    turn = world.says("PED-1001, desisti da compra")

    assert turn.rule == "collecting.value_found"
    assert world.transaction.known == {"order_id": "PED-1001", "reason": "desisti da compra"}
    assert world.model.calls == [EXTRACTION]


def test_s2_2_a_parameter_beats_a_keyword_of_another_intent() -> None:
    world = in_collecting("solicitar_devolucao", {"fatura": ["ver minha fatura"]})
    found = {"kind": "answers_pending", "values": {"order_id": "PED-1001", "reason": None}}
    world.model.script({EXTRACTION: found})

    turn = world.says("o pedido PED-1001, e quero ver minha fatura")

    assert turn.rule == "collecting.value_found"
    assert world.model.calls == [EXTRACTION]
    assert [transaction.tool for transaction in world.transactions] == ["solicitar_devolucao"]


def test_s2_3_no_parameter_releases_the_intent_shift_without_a_second_extraction() -> None:
    world = in_collecting("solicitar_devolucao")
    nothing = {"kind": "something_else", "values": {"order_id": None, "reason": None}}
    world.model.script({EXTRACTION: nothing, ROUTING: shift_to("fatura")})

    world.says("quero ver minha fatura")

    old, new = world.transactions
    assert (old.status, old.reason_code) == ("ABANDONED", "intent_shift")
    assert new.tool == "consultar_faturas"
    assert world.model.calls == [EXTRACTION, ROUTING]
    assert old.pre_validation is None


def test_s2_3_the_abandoned_pre_validation_is_not_seen_by_the_new_transaction() -> None:
    definitions = shop.with_validator(shop.shop(), "cancelar_vas_avulso", "validar")
    world = World(definitions)
    world.gateway.answers("validar", validator_of(["Música Mais"]))
    opens(world, "cancelar_vas_avulso", {"subject": "Música Mais"})
    world.validate()
    world.model.script({"confirmation_reply": NOTHING, ROUTING: shift_to("fatura")})

    world.says("quero ver minha fatura")

    old, new = world.transactions
    assert old.pre_validation["eligible"] is True
    assert (new.pre_validation, new.arguments, new.items.count()) == (None, {}, 0)


def test_s2_5_yes_beats_an_intent_shift_with_no_model_call() -> None:
    world = World(shop.with_keywords(shop.shop(), {"fatura": ["sim"]}))
    opens(world, "solicitar_devolucao", {"order_id": "PED-1001", "reason": "desisti"})

    turn = world.says("sim")

    assert turn.rule == "confirmation.explicit"
    assert world.transaction.status == "EXECUTING"
    assert world.model.calls == []
