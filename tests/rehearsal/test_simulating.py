"""A simulation decides as the runtime does, asks only what changes nothing, and leaves nothing behind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.db import connection

from tests.runtime import shop
from tests.runtime.fakes import FakeGateway, FakeModel
from tests.runtime.staging import EXTRACTION, ROUTING, shift_to, validator_of
from tooling import catalog
from tooling.gateway import NoAnswer
from tooling.models import Release
from tooling.specs import Definitions
from transactions.models import Channel, Conversation, Event, Transaction, Turn
from transactions.rehearsal.recordings import (
    answers_from_json,
    answers_to_json,
    readings_from_json,
    readings_to_json,
)
from transactions.rehearsal.scenes import Played, Press, Scene, Start, Text
from transactions.rehearsal.simulating import Outside, Source, may_be_called, play_again, simulate

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

ACTION = "cancelar_vas_avulso"
VALIDATOR = "validar"
LABELS = ["Música Mais", "Craque 10"]
SAID = Text("quero cancelar Música Mais e Craque 10")


def definitions(*, safe: bool = True) -> Definitions:
    found = shop.with_validator(shop.shop(), ACTION, VALIDATOR)
    validator = replace(found.tools[VALIDATOR], safe_to_simulate=safe)
    return shop.with_tool(found, validator)


def a_model(values: dict[str, Any] | None = None) -> FakeModel:
    read = {"kind": "answers_pending", "values": values or {"subject": "Música Mais, Craque 10"}}
    return FakeModel({ROUTING: shift_to(shop.INTENTS[ACTION]), EXTRACTION: read})


def a_gateway() -> FakeGateway:
    gateway = FakeGateway()
    gateway.answers(VALIDATOR, validator_of(LABELS))
    return gateway


def rows() -> tuple[int, ...]:
    kinds = (Channel, Conversation, Turn, Transaction, Event, Release)
    return tuple(kind.objects.count() for kind in kinds)


def test_the_confirmation_is_the_text_that_a_customer_would_read_and_the_call_is_what_would_be_sent() -> None:
    simulated = simulate(Scene(definitions(), (SAID,)), Outside(a_model(), a_gateway()))

    (played,) = simulated.played.transactions
    assert played.status == "AWAITING_CONFIRMATION"
    assert all(label in played.confirmations[0] for label in LABELS)
    call = simulated.played.next_call
    assert call is not None
    assert (call.tool, call.server.name) == (ACTION, "loja")
    assert call.arguments["subject"] == "Música Mais, Craque 10"
    assert [item["label"] for item in call.meta["agentplatform/item_keys"]] == LABELS


def test_nothing_stays_and_no_action_is_called() -> None:
    gateway, before = a_gateway(), rows()

    simulate(Scene(definitions(), (SAID, Text("sim"))), Outside(a_model(), gateway))

    assert rows() == before
    assert catalog.newest() is None
    assert {call.tool for call in gateway.calls} == {VALIDATOR}


def test_each_reading_is_asked_for_once_and_outside_any_database_transaction() -> None:
    model = a_model()
    outside = connection.in_atomic_block
    depth = len(connection.savepoint_ids)

    def noted(answer: Any) -> Any:
        def read(payload: Any) -> Any:
            assert connection.in_atomic_block == outside
            assert len(connection.savepoint_ids) == depth
            return answer

        return read

    model.script({component: noted(answer) for component, answer in model.answers.items()})

    simulate(Scene(definitions(), (SAID,)), Outside(model, a_gateway()))

    assert model.calls == [ROUTING, EXTRACTION]


def test_a_validator_that_is_not_marked_as_safe_is_not_called_and_its_answer_is_said_to_be_made_up() -> None:
    gateway = a_gateway()

    simulated = simulate(Scene(definitions(safe=False), (SAID,)), Outside(a_model(), gateway))

    assert gateway.calls == []
    assert list(simulated.sources.values()) == [Source.MADE_UP]
    assert simulated.played.transactions[0].status == "AWAITING_CONFIRMATION"


def test_an_answer_that_is_given_replaces_the_call() -> None:
    gateway = a_gateway()
    given = {VALIDATOR: {"eligible": False, "reason": "contrato suspenso"}}

    simulated = simulate(Scene(definitions(), (SAID,)), Outside(a_model(), gateway, given))

    assert gateway.calls == []
    assert list(simulated.sources.values()) == [Source.GIVEN]
    assert (simulated.played.transactions[0].status, simulated.played.next_call) == ("REFUSED", None)


@pytest.mark.parametrize(("fail_open", "status"), [(True, "AWAITING_CONFIRMATION"), (False, "REFUSED")])
def test_a_validator_that_does_not_answer_shows_what_fail_open_does(fail_open: bool, status: str) -> None:
    found = definitions()
    policy = found.policy(ACTION)
    check = replace(policy.pre_validation, fail_open=fail_open)
    gateway = FakeGateway()
    gateway.answers(VALIDATOR, NoAnswer("timeout"))

    scene = Scene(shop.with_policy(found, ACTION, pre_validation=check), (SAID,))
    simulated = simulate(scene, Outside(a_model(), gateway))

    assert simulated.played.transactions[0].status == status


def test_what_is_missing_is_asked_for() -> None:
    model = a_model({"subject": None})
    model.answers[EXTRACTION] = {"kind": "something_else", "values": {"subject": None}}

    simulated = simulate(Scene(definitions(), (Text("quero cancelar"),)), Outside(model, a_gateway()))

    (played,) = simulated.played.transactions
    assert (played.status, played.missing, played.questions) == ("COLLECTING_PARAMETERS", ("subject",), 1)


def test_a_state_can_be_started_from() -> None:
    scene = Scene(definitions(), (Text("sim"),), start=Start(ACTION, {"subject": "Música Mais, Craque 10"}))

    simulated = simulate(scene, Outside(FakeModel(), a_gateway()))

    (played,) = simulated.played.transactions
    assert played.status == "EXECUTING"
    assert simulated.played.next_call is not None
    assert [event.rule for event in simulated.played.events if event.rule][-1] == "confirmation.explicit"


def test_a_button_with_fewer_items_asks_anew_for_those() -> None:
    scene = Scene(
        definitions(),
        (Press("confirm", keep=("Craque 10",)),),
        start=Start(ACTION, {"subject": "Música Mais, Craque 10"}),
    )

    simulated = simulate(scene, Outside(FakeModel(), a_gateway()))

    (played,) = simulated.played.transactions
    assert played.status == "AWAITING_CONFIRMATION"
    assert "Craque 10" in played.confirmations[-1]


def test_what_was_recorded_plays_again_without_asking_anybody() -> None:
    simulated = simulate(Scene(definitions(), (SAID,)), Outside(a_model(), a_gateway()))
    readings = readings_from_json(readings_to_json(simulated.readings))
    answers = answers_from_json(answers_to_json(simulated.answers))

    again = play_again(simulated.scene, readings, answers)

    assert again.played.is_whole
    assert _seen(again.played) == _seen(simulated.played)


def _seen(played: Played) -> Any:
    """What was decided, without the keys that every run makes anew."""
    transactions = [replace(one, id="", pre_validation=None) for one in played.transactions]
    return transactions, [(event.line, event.kind, event.rule) for event in played.events]


def test_a_draft_that_needs_another_reading_says_so_instead_of_guessing() -> None:
    simulated = simulate(Scene(definitions(), (SAID,)), Outside(a_model(), a_gateway()))

    again = play_again(replace(simulated.scene, lines=(SAID, Text("tira a Música"))), simulated.readings, {})

    assert not again.played.is_whole


def test_confirmed_calls_are_made_with_recorded_answers_where_the_scene_says_so() -> None:
    rows = [{"name": label, "success": label != "Craque 10"} for label in LABELS]
    scene = Scene(definitions(), (SAID, Text("sim")), executes=True)

    simulated = simulate(scene, Outside(a_model(), a_gateway(), {ACTION: {"results": rows}}))

    (played,) = simulated.played.transactions
    assert played.status == "PARTIAL_SUCCESS"
    assert [(item.label, item.status) for item in played.items] == [
        ("Música Mais", "SUCCEEDED"),
        ("Craque 10", "FAILED"),
    ]


def test_only_an_internal_tool_that_is_marked_and_switched_on_may_be_called() -> None:
    found = definitions()
    assert may_be_called(found, VALIDATOR)

    marked_action = shop.with_tool(found, replace(found.tools[ACTION], safe_to_simulate=True))
    off = shop.with_tool(found, replace(found.tools[VALIDATOR], enabled=False))

    assert not may_be_called(marked_action, ACTION)
    assert not may_be_called(off, VALIDATOR)
    assert not may_be_called(definitions(safe=False), VALIDATOR)


def test_a_model_that_fails_is_told_as_it_would_be() -> None:
    model = FakeModel(failures={ROUTING: "timeout"})

    simulated = simulate(Scene(definitions(), (SAID,)), Outside(model, FakeGateway()))

    assert simulated.played.transactions == ()
    assert [event.rule for event in simulated.played.events if event.kind == "turn.handled"] == ["model.unavailable"]
