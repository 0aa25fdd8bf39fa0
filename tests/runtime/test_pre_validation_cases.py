"""Every line of pre_validation.jsonl played through the runtime: the validator, its answer and what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.loading import cases
from tests.runtime import shop
from tests.runtime.fakes import answered
from tests.runtime.staging import EXTRACTION, ROUTING, all_done, opens, shift_to
from tests.runtime.world import World
from tooling.gateway import Answered, NoAnswer, NotSent
from tooling.specs import Atomicity, Definitions
from transactions.core.statuses import ItemStatus, Status
from transactions.models import Transaction
from transactions.services.calls import confirmed_items

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

CASES = cases("pre_validation")

FAILURES: dict[str, Any] = {
    "timeout": NoAnswer("timeout"),
    "HTTP 503": NoAnswer("HTTP 503"),
    "is_error": answered({"message": "x"}, is_error=True),
    "answer is a text": Answered(raw={}, texts=("tudo certo",)),
}


def definitions_for(given: dict[str, Any]) -> Definitions:
    name, check = given["tool"], given["pre_validation"]
    definitions = shop.shop()
    accepted = given.get("accepted_by_tool") or list(given["requires"])
    declared = {key: "array" if key == "items" else shop.ARGUMENTS[name].get(key, "string") for key in accepted}
    definitions = shop.with_tool(definitions, shop.tool(name, declared))
    definitions = shop.with_policy(definitions, name, requires=tuple(given["requires"]))
    definitions = _with_target(definitions, given)
    atomicity = Atomicity(given.get("policy", {}).get("atomicity", "best_effort"))
    definitions = shop.with_policy(definitions, name, atomicity=atomicity)
    return shop.with_validator(definitions, name, check["tool"], fail_open=check["fail_open"])


def _with_target(definitions: Definitions, given: dict[str, Any]) -> Definitions:
    if "target_schema" in given:
        declared = dict.fromkeys(given["target_schema"], "string")
        definitions = shop.with_tool(definitions, shop.tool("ferramenta_b", declared))
        return shop.with_policy(definitions, "ferramenta_b", requires=tuple(given["target_requires"]))
    if "second_validator" in given:
        return shop.with_validator(definitions, "ferramenta_b", given["second_validator"])
    return definitions


def start(given: dict[str, Any]) -> World:
    """The customer has named every value; the validator has not answered yet."""
    world = World(definitions_for(given))
    world.gateway.answers(given["tool"], all_done)
    opens(world, given["tool"], given["arguments"])
    if "validator_runs" in given:
        Transaction.objects.update(validator_runs=given["validator_runs"])
    return world


@pytest.mark.parametrize("case", [c for c in CASES if "validator_answer" in c["when"]], ids=lambda case: case["id"])
def test_a_validators_answer(case: dict[str, Any]) -> None:
    given, when = case["given"], case["when"]
    world = start(given)
    world.gateway.answers(given["pre_validation"]["tool"], answered(when["validator_answer"]))
    if "second_validator_answer" in when:
        world.gateway.answers(given["second_validator"], answered(when["second_validator_answer"]))
    if "message" in when:
        world.model.script(when["model"])
        world.says(when["message"])

    for _ in range(2):
        world.validate()
    if when.get("then") == "confirmed":
        if "answer" in when:
            world.gateway.answers(given["tool"], answered(when["answer"]))
        world.says("sim")
        world.work()

    Checks(world, given).all(case["then"])


@pytest.mark.parametrize("case", [c for c in CASES if "validator_failure" in c["when"]], ids=lambda case: case["id"])
def test_a_validator_without_verdict(case: dict[str, Any]) -> None:
    world = start(case["given"])
    world.gateway.answers(case["given"]["pre_validation"]["tool"], FAILURES[case["when"]["validator_failure"]])

    world.validate()

    Checks(world, case["given"]).all(case["then"])


class Checks:
    """One method per key of ``then``."""

    def __init__(self, world: World, given: dict[str, Any]) -> None:
        self.world, self.given = world, given
        self.transaction = world.transaction

    def all(self, then: dict[str, Any]) -> None:
        for key, expected in then.items():
            getattr(self, key)(expected)

    def status(self, expected: str) -> None:
        assert self.transaction.status == expected

    def reason_code(self, expected: str) -> None:
        assert self.transaction.reason_code == expected

    def tool(self, expected: str) -> None:
        assert self.transaction.tool == expected

    def confirmations(self, expected: int) -> None:
        assert self.transaction.confirmations.count() == expected

    def tools_called(self, expected: list[str]) -> None:
        assert [call.tool for call in self.world.gateway.calls] == expected

    def action_calls(self, expected: int) -> None:
        assert len(self.world.gateway.calls_of(self.transaction.tool)) == expected

    def validator_arguments(self, expected: dict[str, Any]) -> None:
        assert self.world.gateway.calls[0].arguments == expected

    def validator_calls(self, expected: int) -> None:
        assert len(self.world.gateway.calls_of(self.given["pre_validation"]["tool"])) == expected

    def validator_calls_total(self, expected: int) -> None:
        assert self.transaction.validator_runs == expected

    def pending(self, expected: list[str]) -> None:
        assert self.world.last("parameters.requested").data["pending"] == expected

    def pending_set(self, expected: list[str]) -> None:
        assert sorted(self.world.last("parameters.requested").data["pending"]) == sorted(expected)

    def arguments(self, expected: dict[str, Any]) -> None:
        known = {name: value for name, value in self.transaction.known.items() if name in self.given["requires"]}
        assert known == expected

    def question(self, expected: str) -> None:
        assert self.world.last("parameters.requested").data["text"] == expected

    def question_when_asked_again(self, expected: str) -> None:
        first = self.world.last("parameters.requested").data["text"]
        nothing = {"kind": "something_else", "values": {}}
        routing = {"decision": "none", "intent": None, "confidence": 0.9, "reason": ""}
        self.world.model.script({EXTRACTION: nothing, ROUTING: routing})
        self.world.says("hum")
        assert self.world.last("parameters.requested").data["text"] != first

    def confirmation_text(self, expected: str) -> None:
        assert self.world.confirmation.text == expected

    def effective_items(self, expected: list[str]) -> None:
        assert [item["label"] for item in self.world.confirmation.items] == expected

    def items(self, expected: list[dict[str, Any]]) -> None:
        rows = self.transaction.items.order_by("position")
        found = [{"label": i.label, "eligible": i.eligible, "reason": i.reason} for i in rows]
        for row, wanted in zip(found, expected, strict=True):
            assert {key: row[key] for key in wanted} == wanted

    def tool_declares_items(self, expected: bool) -> None:
        assert ("items" in shop.ARGUMENTS[self.given["tool"]]) is expected

    def _sent(self) -> Any:
        if self.transaction.status == Status.AWAITING_CONFIRMATION:
            self.world.says("sim")
            self.world.work()
        return self.world.gateway.calls_of(self.given["tool"])[0].arguments

    def sent_arguments(self, expected: dict[str, Any]) -> None:
        assert self._sent() == expected

    def sent_arguments_have(self, expected: dict[str, Any]) -> None:
        sent = self._sent()
        for key, items in expected.items():
            for found, wanted in zip(sent[key], items, strict=True):
                assert {name: found[name] for name in wanted} == wanted

    def evidence_has(self, expected: dict[str, Any]) -> None:
        assert self.transaction.pre_validation["extra"] == expected

    def user_told_has(self, expected: str) -> None:
        assert expected in self.world.last("transaction.finished").data["text"]

    def user_told(self, expected: list[str]) -> None:
        text = self.world.last("transaction.finished").data["text"].lower()
        assert "não por algo que você fez" in text
        assert "tente" in text or "tentar" in text

    def marked_in(self, expected: list[str]) -> None:
        assert self.transaction.pre_validation["fail_open_used"] is True
        assert "verific" in self.world.confirmation.text.lower() or "conferir" in self.world.confirmation.text.lower()

    def incident(self, expected: bool) -> None:
        assert bool(self.world.incidents()) is expected

    def counts_as_success(self, expected: bool) -> None:
        item = self.transaction.items.get(label="Livros Falados")
        assert (item.status == ItemStatus.SUCCEEDED) is expected


def test_pva_049_asking_again_does_not_validate_again() -> None:
    case = next(c for c in CASES if c["id"] == "PVA-049")
    world = start(case["given"])
    world.gateway.answers("validar_vas_subject", answered({"eligible": True}))
    world.validate()
    world.model.script(case["when"]["model"])

    for _ in range(case["when"]["re_asked_times"]):
        world.says(case["when"]["message"])

    assert len(world.gateway.calls_of("validar_vas_subject")) == case["then"]["validator_calls_total"]


def test_pva_052_text_of_the_user_is_never_read_as_the_validators_answer() -> None:
    case = next(c for c in CASES if c["id"] == "PVA-052")
    world = start(case["given"])
    world.gateway.answers("validar_contestacao", answered({"eligible": True}))
    world.validate()
    other = {"kind": "other", "keep_item_keys": None, "values": {}, "question": None}
    none = {"decision": "none", "intent": None, "confidence": 0.9, "reason": ""}
    world.model.script({"confirmation_reply": other, ROUTING: none})

    world.says(case["when"]["user_pasted"])

    assert world.transaction.known == case["then"]["arguments"]


def test_pva_053_time_ends_a_validation_that_nobody_runs() -> None:
    case = next(c for c in CASES if c["id"] == "PVA-001")
    world = start(case["given"])

    world.expire()

    assert (world.transaction.status, world.transaction.reason_code) == ("EXPIRED", "expired")


def test_pva_054_a_fifth_validator_run_is_refused() -> None:
    case = next(c for c in CASES if c["id"] == "PVA-054")
    world = World(definitions_for(case["given"]))
    world.gateway.answers("validar_contestacao", answered({"status": "NEEDS_PARAMETER", "parameter": "amount"}))
    opens(world, "contestar_cobranca", case["given"]["arguments"])

    for number in range(1, 5):
        world.validate()
        world.model.script({EXTRACTION: {"kind": "answers_pending", "values": {"amount": number}}})
        world.says(f"foram {number}")

    assert (world.transaction.status, world.transaction.reason_code) == ("REFUSED", "validation_loop")
    assert len(world.gateway.calls_of("validar_contestacao")) == 4


def test_pva_069_the_validator_is_called_again_twice() -> None:
    case = next(c for c in CASES if c["id"] == "PVA-069")
    world = start(case["given"])
    world.gateway.answers("validar_contestacao", NoAnswer("HTTP 503"))

    world.validate()

    assert len(world.gateway.calls_of("validar_contestacao")) == case["then"]["validator_calls"]
    Checks(world, case["given"]).all({"status": "REFUSED", "reason_code": "pre_validation_unavailable"})


@pytest.mark.parametrize("id_", ["PVA-074", "PVA-075", "PVA-076"])
def test_the_confirmed_set_without_a_validator(id_: str) -> None:
    case = next(c for c in CASES if c["id"] == id_)
    given = case["given"]
    definitions = shop.with_tool(shop.shop(), shop.tool("cancelar_vas_avulso", given["args_schema"]))
    requires = tuple(given["arguments"])
    world = World(shop.with_policy(definitions, "cancelar_vas_avulso", requires=requires))
    world.gateway.answers("cancelar_vas_avulso", all_done)

    opens(world, "cancelar_vas_avulso", given["arguments"])
    world.says("sim")

    found = confirmed_items(world.transaction)
    assert (None if found is None else [item.label for item in found]) == case["then"]["confirmed_set"]


def test_pva_of_another_redirect_is_a_loop() -> None:
    case = next(c for c in CASES if c["id"] == "PVA-018")
    world = start(case["given"])
    redirect = {"eligible": True, "transaction_decision": {"target_tool": "ferramenta_b"}}
    back = {"eligible": True, "transaction_decision": {"target_tool": "contestar_cobranca"}}
    world.gateway.answers("validar_contestacao", answered(redirect))
    world.gateway.answers("validar_b", answered(back))

    world.validate()
    world.validate()

    assert (world.transaction.status, world.transaction.reason_code) == ("REFUSED", "validation_loop")


def test_a_request_without_identity_is_refused_before_anything_is_asked() -> None:
    definitions = shop.with_policy(shop.shop(), "cancelar_vas_avulso", requires_identity=True)
    world = World(definitions, identity={})
    world.model.script(
        {ROUTING: shift_to("cancelar_servico"), EXTRACTION: {"kind": "something_else", "values": {"subject": None}}}
    )

    world.says("quero cancelar")

    assert (world.transaction.status, world.transaction.reason_code) == ("REFUSED", "identity_required")


def test_more_eligible_items_than_the_policy_allows_are_refused_with_the_limit() -> None:
    definitions = shop.with_policy(shop.shop(), "cancelar_pedidos", max_items=2)
    world = World(definitions)

    opens(world, "cancelar_pedidos", {"order_ids": ["PED-1", "PED-2", "PED-3"]})

    assert (world.transaction.status, world.transaction.reason_code) == ("REFUSED", "too_many_items")
    assert "2" in world.last("transaction.finished").data["text"]


def test_not_sent_and_a_disabled_validator_are_no_verdict() -> None:
    case = next(c for c in CASES if c["id"] == "PVA-026")
    world = start(case["given"])
    world.gateway.answers("validar_contestacao", NotSent("refused"))

    world.validate()

    assert world.transaction.reason_code == "pre_validation_unavailable"


def test_every_case_is_driven_here() -> None:
    source = Path(__file__).read_text("utf-8")
    driven = {c["id"] for c in CASES if {"validator_answer", "validator_failure"} & set(c["when"]) or c["id"] in source}
    named = {c["id"] for c in CASES if c["id"].lower().replace("-", "_") in source}

    assert {c["id"] for c in CASES} - driven - named == set()
