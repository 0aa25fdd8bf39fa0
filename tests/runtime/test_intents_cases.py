"""Every line of intents.jsonl, played through the runtime on a database with scripted model and tools.

INT-044 is open: a comma between the words of a keyword leaves them adjacent, as in transactions/core/routing.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.loading import cases
from tests.runtime import shop
from tests.runtime.fakes import answered
from tests.runtime.staging import EXTRACTION, ROUTING, all_done, opens, validator_of
from tests.runtime.world import World, rows
from tooling.specs import Definitions, IntentSpec, OnIntentShift
from transactions.core import reply
from transactions.models import Turn

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

CASES = {case["id"]: case for case in cases("intents")}
SKIPPED = {
    "INT-036": "simulating a message is a feature of its own that is not built yet",
}
BY_KEYWORD = [id_ for id_, case in CASES.items() if case["given"].get("keywords")]
BY_MODEL = [id_ for id_, case in CASES.items() if case["given"].get("keywords") == {} and "intent" in case["then"]]
BY_TOOL = [id_ for id_, case in CASES.items() if "intent_tools" in case["given"]]
AFTER_ANOTHER = [id_ for id_, case in CASES.items() if "previous" in case["given"]]
BY_NAME = {"INT-031", "INT-032", "INT-034", "INT-040", "INT-045"}
NO_INTENT = {"decision": "none", "intent": None, "confidence": 0.99, "values": None, "reason": "test"}
RETURN = "solicitar_devolucao"


def test_every_case_is_played_here_or_skipped_with_a_reason() -> None:
    played = {*BY_KEYWORD, *BY_MODEL, *BY_TOOL, *AFTER_ANOTHER, *BY_NAME}

    assert played | set(SKIPPED) == set(CASES)
    assert not played & set(SKIPPED)


def no_values(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "something_else", "values": dict.fromkeys(payload["pending"])}


def hears(world: World, case: Mapping[str, Any], **answers: Any) -> Turn:
    """The customer's message, with the case's model and ``answers``; where neither scripts one, nothing is read."""
    world.model.script({ROUTING: NO_INTENT, EXTRACTION: no_values, **case["when"].get("model", {}), **answers})
    return world.says(case["when"]["message"])


# By keyword, by the model ------------------------------------------


def with_intents(given: Mapping[str, Any]) -> Definitions:
    """The shop with the case's keywords; an intent that it does not know asks for the invoices."""
    definitions = shop.with_keywords(shop.shop(), given["keywords"])
    priorities = given.get("priority", {})
    intents = {
        name: replace(intent, priority=priorities.get(name, intent.priority))
        for name, intent in definitions.intents.items()
    }
    definitions = replace(definitions, intents=intents)
    return shop.with_router(definitions, threshold=given.get("confidence_threshold"))


@pytest.mark.parametrize("id_", BY_KEYWORD)
def test_a_keyword_opens_the_transaction_of_its_intent(id_: str) -> None:
    case = CASES[id_]
    then = case["then"]
    wanted = then["keyword_match"] if "keyword_match" in then else then["intent"]
    world = World(with_intents(case["given"]))

    turn = hears(world, case)

    assert [transaction.intent for transaction in world.transactions] == ([wanted] if wanted else [])
    assert turn.rule == then.get("rule", "idle.keyword" if wanted else "idle.fallback")
    assert world.model.counts[ROUTING] == then.get("model_calls_for_routing", 0 if wanted else 1)


@pytest.mark.parametrize("id_", BY_MODEL)
def test_the_models_intent_counts_from_the_threshold_on(id_: str) -> None:
    case = CASES[id_]
    then = case["then"]
    world = World(with_intents(case["given"]))

    turn = hears(world, case)

    wanted = [] if then["intent"] == "fallback" else [then["intent"]]
    assert [transaction.intent for transaction in world.transactions] == wanted
    assert turn.rule == then["rule"]
    if not wanted:
        assert world.kinds()[-1] == "assistant.message"
        assert world.model.calls == [ROUTING]


def test_an_intent_below_the_threshold_is_answered_with_what_can_be_done() -> None:
    case = CASES["INT-013"]
    world = World(with_intents(case["given"] | {"confidence_threshold": 0.71}))

    turn = hears(world, case)

    assert (turn.rule, world.transactions) == ("idle.fallback", [])
    assert "Operação trocar plano" in world.last("assistant.message").data["text"]


# Which tool of the intent ------------------------------------------


@pytest.mark.parametrize("id_", BY_TOOL)
def test_the_message_selects_the_tool_of_an_intent(id_: str) -> None:
    case = CASES[id_]
    definitions = shop.shop()
    for name, keywords in case["given"]["intent_tools"].items():
        definitions = shop.with_tool(definitions, shop.tool(name, {}, selection_keywords=tuple(keywords)))
    intent = IntentSpec(name="i", mcp_tools=tuple(case["given"]["intent_tools"]))
    world = World(replace(definitions, intents={"i": intent}))

    hears(world, case, **{ROUTING: NO_INTENT | {"decision": "shift", "intent": "i"}})

    if "asks_which" in case["then"]:
        assert world.transactions == []
        asked = world.last("assistant.message").data["text"]
        descriptions = [definitions.tools[name].description.in_locale("pt-BR") for name in case["then"]["asks_which"]]
        assert all(description in asked for description in descriptions)
    else:
        assert [transaction.tool for transaction in world.transactions] == [case["then"]["tool"]]


def test_int_040_a_disabled_tool_is_said_to_be_unavailable_and_opens_nothing() -> None:
    definitions = shop.shop()
    off = replace(definitions.tools["cancelar_vas_avulso"], enabled=False)
    world = World(shop.with_tool(definitions, off))

    hears(world, CASES["INT-040"])

    assert world.transactions == []
    assert world.last("assistant.message").data["text"] == reply.not_available("pt-BR")
    assert world.model.calls == [ROUTING]


# After a transaction that has ended ------------------------------------------


def after(status: str) -> World:
    """The customer's return of an order has ended with ``status``, the way a customer gets there."""
    world = World(shop.with_validator(shop.shop(), RETURN, "validar"))
    world.gateway.answers("validar", validator_of(["Fone", "Capa"]))
    for name in shop.ARGUMENTS:
        world.gateway.answers(name, all_done)
    ENDINGS[status](world)
    assert world.transactions[0].status == status
    return world


def _asked(world: World) -> None:
    opens(world, RETURN, {"order_id": "PED-1001", "reason": "defeito"})
    world.validate()


def _done(world: World) -> None:
    _asked(world)
    world.answers("confirm")
    world.work()


def _failed(world: World) -> None:
    world.gateway.answers(RETURN, rows({"name": "Fone", "success": False}, {"name": "Capa", "success": False}))
    _done(world)


def _partly_failed(world: World) -> None:
    world.gateway.answers(RETURN, rows({"name": "Fone", "success": True}, {"name": "Capa", "success": False}))
    _done(world)


def _refused(world: World) -> None:
    world.gateway.answers("validar", answered({"eligible": False, "error": "fora do prazo"}))
    _asked(world)


def _abandoned(world: World) -> None:
    opens(world, RETURN, {"order_id": "PED-1001"})
    world.model.script({EXTRACTION: no_values, ROUTING: NO_INTENT | {"decision": "shift", "intent": "trocar_plano"}})
    world.says("quero trocar de plano")
    world.work()


def _expired(world: World) -> None:
    opens(world, RETURN, {"order_id": "PED-1001"})
    world.expire()


ENDINGS: dict[str, Callable[[World], None]] = {
    "SUCCESS": _done,
    "FAILED": _failed,
    "PARTIAL_SUCCESS": _partly_failed,
    "REFUSED": _refused,
    "ABANDONED": _abandoned,
    "EXPIRED": _expired,
}


@pytest.mark.parametrize("id_", AFTER_ANOTHER)
def test_what_has_ended_has_no_say_in_what_comes_next(id_: str) -> None:
    case = CASES[id_]
    then, previous = case["then"], case["given"]["previous"]
    world = after(previous["status"])
    old, known = world.transactions[0], len(world.transactions)

    turn = hears(world, case)

    new = world.transaction
    assert len(world.transactions) == known + 1
    assert turn.rule == then.get("rule", "idle.model")
    assert new.intent == then.get("intent", new.intent)
    assert new.tool == then.get("new_transaction", {}).get("tool", new.tool)
    assert old.tool not in [payload.get("tool") for payload in world.model.payloads]
    assert new.arguments == {}
    left = world.transactions[0]
    assert (left.status, left.revision, left.arguments) == (then["old_status"], old.revision, old.arguments)


# Questions, and more than was asked ------------------------------------------


def test_int_031_a_question_while_collecting_is_answered_and_changes_nothing() -> None:
    case = CASES["INT-031"]
    world = World(shop.with_policy(shop.shop(), RETURN, on_intent_shift=OnIntentShift.PARK))
    opens(world, RETURN, case["given"]["state"]["arguments"])

    hears(world, case)

    assert len(world.transactions) == 1
    assert (world.transaction.status, world.transaction.known) == (case["then"]["status"], case["then"]["arguments"])
    assert world.kinds()[-2:] == ["assistant.message", "parameters.requested"]
    assert case["when"]["message"] in world.last("assistant.message").data["text"]


@pytest.mark.parametrize("id_", ["INT-032", "INT-045"])
def test_a_question_is_answered_and_opens_nothing(id_: str) -> None:
    case = CASES[id_]
    world = World(shop.shop())

    turn = hears(world, case)
    world.work()

    assert turn.rule in case["then"].get("rule_one_of", ["idle.model"])
    assert world.kinds() == ["user.message", "assistant.message"]
    assert case["when"]["message"] in world.last("assistant.message").data["text"]
    assert (world.transactions, world.gateway.calls) == ([], [])


def test_int_034_what_is_wished_for_afterwards_is_not_done_before_the_first_is_over() -> None:
    email = shop.tool("enviar_email", {})
    definitions = shop.with_tool(shop.shop(), email)
    wish = IntentSpec(name="email", mcp_tools=("enviar_email",))
    world = World(replace(definitions, intents={**definitions.intents, "email": wish}))
    case = CASES["INT-034"]
    found = {"kind": "answers_pending", "values": {"subject": "Música Mais"}}
    world.gateway.answers("cancelar_vas_avulso", all_done)

    hears(world, case, **{EXTRACTION: found})
    world.says("sim")
    world.work()

    assert [transaction.intent for transaction in world.transactions] == [case["then"]["intent"]]
    assert world.transaction.status == "SUCCESS"
    assert len(world.gateway.calls_of("enviar_email")) == case["then"]["email_tool_calls_before_final_status"]
