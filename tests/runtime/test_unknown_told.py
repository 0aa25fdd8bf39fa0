"""What customers read and may ask for while an outcome is unknown, and when nothing failed."""

from __future__ import annotations

import pytest

from tests.runtime import shop
from tests.runtime.fakes import answered
from tests.runtime.staging import ROUTING, opens, validator_of
from tests.runtime.test_execution import LABELS, confirmed, statuses
from tests.runtime.world import World
from tooling.gateway import NoAnswer
from transactions.core.statuses import ItemStatus

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]


def test_an_unsettled_item_among_others_is_told_as_unsettled_and_not_as_the_validator_sees_it() -> None:
    world = confirmed(["Livros Falados"])
    world.gateway.answers("cancelar_vas_avulso", NoAnswer("timeout"))
    world.work()
    items = [{"name": "Craque 10"}, {"name": "Livros Falados", "eligible": False, "reason": "ja_cancelado"}]
    found = {"eligible": True, "transaction_decision": {"resolved_arguments": {"items": items}}}
    world.gateway.answers("validar", answered(found))

    opens(world, "cancelar_vas_avulso", {"subject": "Craque 10, Livros Falados"})
    world.validate()

    assert (world.transaction.status, world.transaction.reason_code) == ("REFUSED", "item_unsettled")
    text = world.last("transaction.finished").data["text"]
    assert "cancelado" not in text
    assert set(statuses(world).values()) == {ItemStatus.NOT_EXECUTED}


@pytest.mark.parametrize("said", ["tentar de novo", "e o meu pedido, deu certo?"])
def test_who_asks_while_an_outcome_is_unknown_is_told_how_it_stands(said: str) -> None:
    world = confirmed()
    world.gateway.answers("cancelar_vas_avulso", NoAnswer("timeout"))
    world.work()
    question = {"decision": "question", "intent": None, "confidence": 0.95, "values": None, "reason": ""}
    world.model.script({ROUTING: question})

    world.says(said)

    assert "estão sendo verificados" in world.last("assistant.message").data["text"]
    assert all(label in world.last("assistant.message").data["text"] for label in LABELS)


def test_who_asks_for_another_try_where_nothing_failed_is_told_so() -> None:
    world = confirmed()
    world.work()
    nothing = {"decision": "none", "intent": None, "confidence": 0.3, "values": None, "reason": ""}
    world.model.script({ROUTING: nothing})

    world.says("tenta de novo")

    assert "nada que eu possa tentar de novo" in world.last("assistant.message").data["text"]


def test_a_message_that_came_before_the_question_is_named_and_not_lost_in_silence() -> None:
    world = World(shop.with_validator(shop.shop(), "cancelar_vas_avulso", "validar"))
    world.gateway.answers("validar", validator_of(LABELS))
    opens(world, "cancelar_vas_avulso", {"subject": ", ".join(LABELS)})
    world.says("e também o Jogos Dia")

    world.validate()

    told = world.last("assistant.message").data["text"]
    assert "“e também o Jogos Dia”" in told
    assert world.kinds()[-1] == "confirmation.requested"


def test_a_message_that_came_too_late_is_told_so() -> None:
    world = confirmed()
    world.says("não, pare!")
    nothing = {"decision": "none", "intent": None, "confidence": 0.3, "values": None, "reason": ""}
    world.model.script({ROUTING: nothing})

    world.work()

    assert "enquanto eu ainda trabalhava" in world.last("assistant.message").data["text"]
