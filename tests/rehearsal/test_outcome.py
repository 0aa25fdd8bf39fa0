"""What a simulation came to is told whole: why, what was read, asked, answered and would be called; never a secret."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.rehearsal.test_simulating import ACTION, LABELS, SAID, VALIDATOR, a_gateway, a_model, definitions
from tests.runtime import shop
from tests.runtime.fakes import FakeGateway, FakeModel, answered
from tests.runtime.staging import EXTRACTION, ROUTING, shift_to
from tooling.gateway import NoAnswer
from tooling.specs import Definitions, ExecutionMode, ExecutionSpec, WorkflowEdge, WorkflowNode, WorkflowSpec
from transactions.core.statuses import Rule
from transactions.rehearsal.outcome import SECTIONS, Seen, as_json, outcome
from transactions.rehearsal.scenes import Scene, Start, Text
from transactions.rehearsal.simulating import Outside, simulate

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]
INTENT = shop.INTENTS[ACTION]
SECRET = "Bearer very-secret"


def seen(*lines: Text, found: Definitions | None = None, **outside: Any) -> Seen:
    asked = {"model": a_model(), "gateway": a_gateway(), **outside}
    return outcome(simulate(Scene(found or definitions(), lines or (SAID,)), Outside(**asked)))


def with_fail_open(found: Definitions) -> Definitions:
    check = replace(found.policy(ACTION).pre_validation, fail_open=True)
    return shop.with_policy(found, ACTION, pre_validation=check)


def test_every_rule_has_its_section() -> None:
    assert set(SECTIONS) == set(Rule)


def test_an_intent_by_keyword_names_the_word_that_stood_in_the_message() -> None:
    found = shop.with_keywords(definitions(), {INTENT: ["cancelar", "quero cancelar", "plano"]})

    (line,) = seen(found=found).lines

    assert line.intent is not None
    assert (line.intent.by, line.intent.name, line.intent.keyword) == ("keyword", INTENT, "quero cancelar")
    assert [(one.rule, one.section) for one in line.rules] == [("idle.keyword", "6.8")]


def test_an_intent_by_the_model_says_how_sure_it_was_and_what_was_needed() -> None:
    (line,) = seen().lines

    assert line.intent is not None
    assert (line.intent.by, line.intent.name, line.intent.reason) == ("model", INTENT, "test")
    assert (line.intent.confidence, line.intent.threshold) == (0.99, 0.7)
    assert [call["component"] for call in line.model_calls] == [ROUTING, EXTRACTION]
    assert all(call["ok"] for call in line.model_calls)


def test_a_model_that_was_not_sure_enough_is_told_with_what_it_read() -> None:
    unsure = FakeModel({ROUTING: {**shift_to(INTENT), "confidence": 0.2}})

    told = seen(model=unsure)

    (line,) = told.lines
    assert line.intent is not None and line.intent.confidence == 0.2
    assert [one.rule for one in line.rules] == ["idle.fallback"]
    assert told.last is None and line.answers


def test_a_value_that_was_not_said_is_told_as_dropped_with_its_reason() -> None:
    model = a_model()
    model.answers[EXTRACTION] = {"kind": "answers_pending", "values": {"subject": "Livros Falados"}}

    told = seen(model=model)

    (reading,) = told.lines[0].readings
    assert (reading.values, set(reading.dropped)) == ({}, {"subject"})
    assert told.last is not None
    assert [one.name for one in told.last.missing] == ["subject"]
    assert told.last.missing[0].question == told.lines[0].answers[-1]


def test_the_validator_is_told_with_what_it_was_asked_and_said() -> None:
    told = seen()

    assert told.last is not None
    (check,) = told.last.validations
    assert (check.tool, check.source, check.eligible, check.fail_open_used) == (VALIDATOR, "called", True, False)
    assert check.request["subject"] == "Música Mais, Craque 10"
    assert [item.label for item in check.items] == LABELS
    assert told.last.confirmation is not None
    assert [item.label for item in told.last.confirmation.items] == LABELS


@pytest.mark.parametrize("answer", [NoAnswer("timeout"), answered({"eligible": "yes"})])
def test_a_validator_without_a_verdict_is_told_with_what_fail_open_did(answer: Any) -> None:
    gateway = FakeGateway()
    gateway.answers(VALIDATOR, answer)

    through, refused = seen(found=with_fail_open(definitions()), gateway=gateway), seen(gateway=gateway)

    assert through.last is not None and refused.last is not None
    assert [(one.eligible, one.fail_open_used) for one in through.last.validations] == [(True, True)]
    assert [(one.eligible, one.fail_open_used) for one in refused.last.validations] == [(False, False)]
    assert (refused.last.status, refused.last.reason_code) == ("REFUSED", "pre_validation_unavailable")


def test_a_validator_that_is_switched_off_was_not_asked() -> None:
    found = definitions()
    found = shop.with_tool(found, replace(found.tools[VALIDATOR], enabled=False))

    told = seen(found=found, gateway=FakeGateway())

    assert told.last is not None
    assert [(one.tool, one.source, one.error) for one in told.last.validations] == [(VALIDATOR, "", "not asked")]


def test_each_run_of_the_validator_is_told_with_its_own_answer() -> None:
    model = a_model()
    model.answers["confirmation_reply"] = lambda payload: {
        "kind": "change_items",
        "keep_item_keys": [item["key"] for item in payload["items"] if item["label"] == "Craque 10"],
        "values": {},
        "question": None,
    }

    told = seen(SAID, Text("só o Craque 10"), model=model)

    assert told.last is not None
    runs = [[item.label for item in one.items] for one in told.last.validations]
    assert runs == [LABELS, ["Craque 10"]]


def test_the_call_is_shown_to_the_letter_and_without_a_secret() -> None:
    found = definitions()
    server = replace(found.servers["loja"], headers={"Authorization": SECRET})

    told = seen(found=replace(found, servers={"loja": server}))

    call = told.next_call
    assert call is not None and told.executed is False
    assert (call.server, call.tool, call.arguments["subject"]) == ("loja", ACTION, "Música Mais, Craque 10")
    assert "agentplatform/item_keys" in call.meta
    assert SECRET not in json.dumps(as_json(told))


def test_a_workflow_is_shown_with_its_nodes_in_the_order_of_its_edges() -> None:
    found = definitions()
    workflow = WorkflowSpec(
        "fluxo",
        1,
        start="a",
        nodes=(WorkflowNode("c", "info_servicos"), WorkflowNode("b", ACTION), WorkflowNode("a", "consultar_faturas")),
        edges=(WorkflowEdge("a", "b"), WorkflowEdge("b", "c")),
    )
    found = shop.with_policy(found, ACTION, execution=ExecutionSpec(ExecutionMode.WORKFLOW, "fluxo"))

    told = seen(found=replace(found, workflows={("fluxo", 1): workflow}))

    assert told.next_call is not None
    assert told.next_call.workflow == "fluxo v1"
    assert [(one.id, one.action) for one in told.next_call.nodes] == [
        ("a", "consultar_faturas"),
        ("b", ACTION),
        ("c", "info_servicos"),
    ]


def test_a_start_is_a_line_of_its_own() -> None:
    start = Start(ACTION, {"subject": "Música Mais, Craque 10"})

    told = outcome(simulate(Scene(definitions(), (Text("sim"),), start=start), Outside(FakeModel(), a_gateway())))

    assert [line.message for line in told.lines] == [None, "sim"]
    assert told.last is not None and told.last.status == "EXECUTING"
    assert told.next_call is not None


def test_the_whole_of_it_is_json() -> None:
    assert json.loads(json.dumps(as_json(seen())))["requests"][0]["tool"] == ACTION
