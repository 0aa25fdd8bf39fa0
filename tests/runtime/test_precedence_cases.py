"""Every line of precedence.jsonl, played through the runtime on a database with scripted model and tools."""

from __future__ import annotations

from typing import Any

import pytest

from tests.loading import cases
from tests.runtime import shop
from tests.runtime.staging import EXTRACTION, ROUTING, shift_to, stage
from tests.runtime.world import World
from transactions.core.statuses import ItemStatus
from transactions.models import Transaction, Turn

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

CASES = cases("precedence")


def keys_for(world: World, answer: Any) -> Any:
    """The case's own item keys k1, k2, … replaced by the real ones."""
    if not isinstance(answer, dict) or not answer.get("keep_item_keys"):
        return answer
    real = [item["key"] for item in world.confirmation.items]
    return {**answer, "keep_item_keys": [real[int(key[1:]) - 1] for key in answer["keep_item_keys"]]}


def named_item(payload: dict[str, Any]) -> dict[str, Any]:
    """An extraction of the item after the article, for the first pending parameter."""
    found = payload["message"].partition(" o ")[2] or None
    values = {name: found if number == 0 else None for number, name in enumerate(payload["pending"])}
    return {"kind": "answers_pending" if found else "something_else", "values": values}


def play(world: World, step: dict[str, Any], given: dict[str, Any]) -> Turn | None:
    answers = {name: keys_for(world, value) for name, value in step.get("model", {}).items()}
    if EXTRACTION not in answers and "message" in step:
        # Where the case scripts no extraction for the transaction that a shift opens: what the message names.
        answers[EXTRACTION] = named_item
    if (given.get("state") or {}).get("parked") and "message" in step:
        # Where the case scripts no routing: the customer asks for what was set aside.
        answers.setdefault(ROUTING, shift_to(shop.INTENTS[given["state"]["parked"]["tool"]]))
    world.model.script(answers, step.get("model_failure"))
    if "answer" in step:
        world.answers(step["answer"]["decision"])
        return Turn.objects.order_by("number").last()
    if "validator_answer" in step:
        world.validate()
        return None
    seen = step.get("seen_seq")
    if seen is not None:
        seen += world.confirmation.requested_seq - given["confirmation_requested_seq"]
    return world.says(step["message"], seen_seq=seen)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_precedence(case: dict[str, Any]) -> None:
    given, then = case["given"], case["then"]
    world = stage(given)
    parked = [transaction for transaction in world.transactions if transaction.status == "PARKED"]
    old = (parked or world.transactions or [None])[-1]
    before = _Before(world, old)
    extractions = 0
    turns = []
    for number, step in enumerate(case["when"].get("steps") or [case["when"]]):
        if number and "message" in step:
            world.execute()
        turns.append(play(world, step, given))
        extractions += world.model.counts[EXTRACTION]

    if old is not None:
        old.refresh_from_db()
    turn = next(turn for turn in turns if turn is not None)
    turn.refresh_from_db()
    Checks(world, old, turn, before, extractions).all(then)


class _Before:
    def __init__(self, world: World, old: Transaction | None) -> None:
        self.seq = world.events[-1].seq if world.events else 0
        self.transactions = len(world.transactions)
        self.arguments = old.known if old else {}
        tool = old.tool if old else ""
        self.action_calls = len(world.gateway.calls_of(tool))
        self.validations = sum(call.tool.startswith("validar") for call in world.gateway.calls)
        asked = [c for t in world.transactions for c in t.confirmations.all()]
        open_ones = [c for c in asked if c.status == "open"]
        self.confirmation = (open_ones or asked or [None])[-1]
        self.statuses = [t.status for t in world.transactions]


class Checks:
    """One method per key of ``then``; a key without a method fails the case."""

    def __init__(self, world: World, old: Transaction | None, turn: Turn, before: _Before, extractions: int) -> None:
        self.world, self.old, self.turn, self.before, self.extractions = world, old, turn, before, extractions
        self.new_events = [event for event in world.events if event.seq > before.seq]
        self.rules = set(turn.events.values_list("rule", flat=True)) | {turn.rule}

    def all(self, then: dict[str, Any]) -> None:
        for key, expected in then.items():
            getattr(self, key)(expected)

    @property
    def current(self) -> Transaction:
        return self.world.transactions[-1] if self.old is None else self.old

    def said(self) -> str:
        return "\n".join(event.data.get("text", "") for event in self.new_events)

    def rule(self, expected: str) -> None:
        assert expected in self.rules, self.rules

    def not_rule(self, expected: str) -> None:
        assert expected not in self.rules

    def rule_one_of(self, expected: list[str]) -> None:
        assert self.rules & set(expected), self.rules

    def status(self, expected: str) -> None:
        assert self.current.status == expected

    old_status = status

    def old_status_unchanged(self, expected: bool) -> None:
        assert self.current.status == self.before.statuses[-1]

    def reason_code(self, expected: str) -> None:
        assert self.current.reason_code == expected

    old_reason_code = reason_code

    def arguments(self, expected: dict[str, Any]) -> None:
        assert self.current.known == expected

    def pending(self, expected: list[str]) -> None:
        required = self.world_rules().requires
        assert [name for name in required if name not in self.current.known] == expected

    def world_rules(self) -> Any:
        from transactions.services.calls import rules_of

        return rules_of(self.current).policy

    def router_called(self, expected: bool) -> None:
        assert (self.world.model.counts[ROUTING] > 0) is expected

    def router_calls(self, expected: int) -> None:
        assert self.world.model.counts[ROUTING] == expected

    def model_calls(self, expected: int) -> None:
        assert len(self.world.model.calls) == expected, self.world.model.calls

    def model_calls_at_most(self, expected: int) -> None:
        assert len(self.world.model.calls) <= expected

    def extraction_calls(self, expected: int) -> None:
        assert self.extractions == expected

    def extraction_calls_for_the_old_tool(self, expected: int) -> None:
        asked = [p for p in self.world.model.payloads if p.get("tool") == self.current.tool and "pending" in p]
        assert len(asked) == expected

    def extractions_per_tool(self, expected: int) -> None:
        asked = [p["tool"] for p in self.world.model.payloads if "pending" in p]
        assert all(asked.count(name) <= expected for name in asked)

    def intent(self, expected: str) -> None:
        assert self.world.transactions[-1].intent == expected

    def by(self, expected: str) -> None:
        assert self.world.last("confirmation.answered").data["by"] == expected

    def action_calls(self, expected: int) -> None:
        self.world.work()
        calls = len(self.world.gateway.calls_of(self.current.tool))
        assert calls - self.before.action_calls == expected

    action_calls_exactly = action_calls

    def new_items(self, expected: list[str]) -> None:
        self.world.validate()
        assert [item["label"] for item in self.world.confirmation.items] == expected

    def excluded(self, expected: list[str]) -> None:
        found = self.current.items.filter(status=ItemStatus.EXCLUDED).values_list("label", flat=True)
        assert list(found) == expected

    def new_confirmation(self, expected: bool) -> None:
        self.world.validate()
        assert (self.world.confirmation.pk != self.before.confirmation.pk) is expected

    def old_confirmation_dead(self, expected: bool) -> None:
        self.before.confirmation.refresh_from_db()
        assert (self.before.confirmation.status != "open") is expected

    def pre_validation_runs_again(self, expected: bool) -> None:
        self.world.validate()
        runs = sum(call.tool.startswith("validar") for call in self.world.gateway.calls)
        assert (runs > self.before.validations) is expected

    def parked_resumed(self, expected: bool) -> None:
        assert (self.current.status == "PRE_VALIDATING") is expected
        assert len(self.world.transactions) == self.before.transactions

    def confirmation_still_open(self, expected: str) -> None:
        assert self.world.confirmation.pk == self.before.confirmation.pk

    def confirmation_asked_again(self, expected: bool) -> None:
        asked = [e for e in self.new_events if e.kind == "confirmation.requested"]
        assert bool(asked) is expected
        assert asked[-1].data["confirmation_id"] == str(self.world.confirmation.pk)

    def question_answered(self, expected: bool) -> None:
        assert ("assistant.message" in [event.kind for event in self.new_events]) is expected

    def question_repeated_once(self, expected: bool) -> None:
        assert [event.kind for event in self.new_events].count("parameters.requested") == 1

    def rest_not_lost(self, expected: str) -> None:
        assert expected in self.said()

    def new_transaction(self, expected: dict[str, Any]) -> None:
        new = self.world.transactions[-1]
        assert len(self.world.transactions) > self.before.transactions
        if "tool" in expected:
            assert new.tool == expected["tool"]
        for value in expected.get("does_not_have", []):
            assert value not in str(new.arguments)
        if "arguments" in expected:
            assert new.known == expected["arguments"]
        if "pending" in expected:
            assert self.world.last("parameters.requested").data["pending"] == expected["pending"]
        if "status" in expected:
            self.world.validate()
            new.refresh_from_db()
            assert (new.status, new.reason_code) == (expected["status"], expected["reason_code"])

    def old_keeps(self, expected: dict[str, Any]) -> None:
        assert self.current.known == expected

    def turn_stored(self, expected: bool) -> None:
        assert Turn.objects.filter(pk=self.turn.pk, handled_at=None).exists() is expected

    def acknowledged(self, expected: bool) -> None:
        assert ("turn.queued" in [event.kind for event in self.new_events]) is expected

    def second_run(self, expected: bool) -> None:
        assert (self.current.attempts.count() > 1) is expected

    def handled_when(self, expected: str) -> None:
        self.world.model.script({ROUTING: {"decision": "none", "intent": None, "confidence": 0.9, "reason": ""}})
        self.world.work()
        self.turn.refresh_from_db()
        assert self.turn.handled_at is not None

    then_handled_as = handled_when

    def handled(self, expected: str) -> None:
        assert self.turn.handled_at is not None

    def transactions_changed(self, expected: int) -> None:
        assert len(self.world.transactions) == expected

    def confirmations(self, expected: int) -> None:
        assert self.current.confirmations.count() == expected

    def late_validator_answer(self, expected: str) -> None:
        assert self.current.status == "CANCELLED"

    def user_told(self, expected: str) -> None:
        assert self.new_events[-1].kind == "assistant.message"
        assert self.new_events[-1].data["rule"] == "model.unavailable"


def test_every_state_of_the_cases_is_one_of_the_shop() -> None:
    named = {(case["given"].get("state") or {}).get("tool") for case in CASES} - {None}

    assert named <= set(shop.ARGUMENTS)
