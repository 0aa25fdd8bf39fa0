"""Every line of amendments.jsonl: changes at the confirmation (runtime.md §6.5) and of what failed (§9.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.loading import cases
from tests.runtime import shop
from tests.runtime.desk import VALIDATOR
from tests.runtime.durability import at_once, check, wake_nobody
from tests.runtime.fakes import answered
from tests.runtime.retries import SERVICES, confirmed_and_done
from tests.runtime.staging import ROUTING, all_done, opens
from tests.runtime.world import World, rows
from tooling.gateway import Answered, Call, NoAnswer
from transactions.core.errors import ConfirmationClosed, InvalidItems
from transactions.core.parameters import missing
from transactions.core.statuses import ConfirmationStatus
from transactions.models import Confirmation, Event, Transaction, Turn
from transactions.services import retrying
from transactions.services.calls import rules_of
from transactions.services.retrying import RetryRefused

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

CASES = {case["id"]: case for case in cases("amendments")}
CHANGES = [id_ for id_, case in CASES.items() if "state" in case["given"]]
RETRIES = [id_ for id_, case in CASES.items() if "parent" in case["given"]]
AT_ONCE = [id_ for id_ in RETRIES if "retry_twice_at_once" in CASES[id_]["when"]]
CONTINUE = {"decision": "continue", "intent": None, "confidence": 0.95, "reason": "test"}
OTHER = {"kind": "other", "keep_item_keys": None, "values": {}, "question": None}
ERRORS = {ConfirmationClosed: "confirmation_closed", InvalidItems: "invalid_items"}


def test_every_case_of_amendments_is_driven() -> None:
    assert {*CHANGES, *RETRIES} == set(CASES)


# Changes at the confirmation ------------------------------------------


def labels_in(value: Any) -> list[str]:
    return [str(label) for label in value] if isinstance(value, list) else str(value).split(", ")


def follows(first: str, ineligible: list[str]) -> Callable[[Call], Answered]:
    """A validator whose answer follows ``keep_items`` and the value of the argument ``first``."""

    def validate(call: Call) -> Answered:
        keep = call.arguments.get("keep_items")
        chosen = [label for label in labels_in(call.arguments[first]) if keep is None or label in keep]
        items = [
            {"name": label, **({"eligible": False, "reason": "blocked"} if label in ineligible else {})}
            for label in chosen
        ]
        value = chosen if isinstance(call.arguments[first], list) else ", ".join(chosen)
        resolved = {"items": items, first: value}
        return answered({"eligible": True, "transaction_decision": {"resolved_arguments": resolved}})

    return validate


def staged(given: Mapping[str, Any]) -> World:
    """The confirmation about the state's items is open; ``pre_validation: false``: there is no validator."""
    state = given["state"]
    tool, arguments = state["tool"], state["arguments"]
    first = next(iter(arguments))
    definitions = shop.shop()
    kinds = {name: "array" if isinstance(value, list) else "string" for name, value in arguments.items()}
    if set(kinds) != set(shop.ARGUMENTS[tool]):
        definitions = shop.with_tool(definitions, shop.tool(tool, kinds))
        definitions = shop.with_policy(definitions, tool, requires=tuple(kinds))
    if given.get("pre_validation") is not False:
        definitions = shop.with_validator(definitions, tool, VALIDATOR)
    world = World(definitions)
    world.gateway.answers(VALIDATOR, follows(first, given.get("ineligible", [])))
    world.gateway.answers(tool, all_done)
    opens(world, tool, arguments)
    world.validate()
    Transaction.objects.update(revision=max(world.transaction.revision, state.get("revision", 0)))
    return world


class Played:
    """What stood before the change, what was done, and what stands after it."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.world = staged(given)
        self.tool = given["state"]["tool"]
        self.first = self.world.confirmation
        items = given["state"]["items"]
        held = {item["label"]: item["key"] for item in self.first.items}
        self.keys = {item["key"]: held[item["label"]] for item in items if item["label"] in held}
        self.validations = len(self.world.gateway.calls_of(VALIDATOR))
        self.error = ""
        self.turn: Turn | None = None
        self.routed = False

    def step(self, step: Mapping[str, Any]) -> None:
        if "answer" in step:
            self._press(step["answer"])
        else:
            self._say(step)
        self.world.validate()
        self.status = self.world.transaction.status

    def _press(self, answer: Mapping[str, Any]) -> None:
        keys = answer.get("item_keys")
        wanted = None if keys is None else [self.keys.get(key, key) for key in keys]
        try:
            self.world.answers(answer["decision"], confirmation_id=str(self.first.pk), item_keys=wanted)
        except (ConfirmationClosed, InvalidItems) as error:
            self.error = ERRORS[type(error)]

    def _say(self, step: Mapping[str, Any]) -> None:
        model = {"confirmation_reply": OTHER, ROUTING: CONTINUE, **step.get("model", {})}
        reply = model["confirmation_reply"]
        if reply["keep_item_keys"] is not None:
            model["confirmation_reply"] = {
                **reply,
                "keep_item_keys": [self.keys.get(key, key) for key in reply["keep_item_keys"]],
            }
        self.world.model.script(model)
        for key in ("validator", "validator_answer"):
            if key in step:
                self.world.gateway.answers(VALIDATOR, answered(step[key]))
        self.turn = self.world.says(step["message"])
        self.routed = self.world.model.counts[ROUTING] > 0

    # What a case may say of it

    def open(self) -> Confirmation | None:
        return Confirmation.objects.filter(status=ConfirmationStatus.OPEN).first()

    def labels(self) -> list[str]:
        confirmation = self.open()
        return [item["label"] for item in confirmation.items] if confirmation else []

    def last_validation(self) -> Mapping[str, Any]:
        return self.world.gateway.calls_of(VALIDATOR)[-1].arguments

    def facts(self, then: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
        world, transaction = self.world, self.world.transaction
        evidence = str(list(Event.objects.filter(kind="turn.handled").values_list("data", flat=True)))
        is_open = self.open() is not None
        self.first.refresh_from_db()
        return {
            "new_confirmation": lambda: is_open and self.open() != self.first,
            "old_confirmation_dead": lambda: self.first.status != ConfirmationStatus.OPEN,
            "confirmation_still_open": lambda: "c1" if self.open() == self.first else "",
            "pre_validation_runs_again": lambda: len(world.gateway.calls_of(VALIDATOR)) > self.validations,
            "executed_without_validator": lambda: bool(world.gateway.calls_of(self.tool)),
            "new_items": self.labels,
            "confirmed_set": self.labels,
            "requested_items": lambda: labels_in(next(iter(self.last_validation().values()))),
            "router_called": lambda: self.routed,
            "rule": lambda: self.turn and self.turn.rule,
            "status": lambda: self.status,
            "status_not": lambda: then["status_not"] if self.status != then["status_not"] else "",
            "reason_code": lambda: transaction.reason_code,
            "error_code": lambda: self.error,
            "arguments": lambda: transaction.known,
            "pending": lambda: list(missing(rules_of(transaction).policy.requires, transaction.known)),
            "excluded": lambda: [item.label for item in transaction.items.filter(status="EXCLUDED")],
            "evidence_keeps": lambda: {
                key: value for key, value in then["evidence_keeps"].items() if value in evidence
            },
            "validator_decides_about_the_old_amount": lambda: self.last_validation()["amount"] == 14.99,
            "validator_arguments_have": lambda: {
                key: self.last_validation()[key] for key in then["validator_arguments_have"]
            },
            "revision_above": lambda: min(transaction.revision - 1, then["revision_above"]),
            "user_told_reason": lambda: (
                then["user_told_reason"] if then["user_told_reason"] in str([e.data for e in world.events]) else ""
            ),
            "action_calls": self._action_calls,
        }

    def _action_calls(self) -> int:
        """Asked for last: what was confirmed has run by then."""
        self.world.work()
        return len(self.world.gateway.calls_of(self.tool))


@pytest.mark.parametrize("id_", CHANGES)
def test_a_change_is_validated_and_confirmed_anew_and_nothing_runs_meanwhile(id_: str) -> None:
    given, when, then = (CASES[id_][key] for key in ("given", "when", "then"))
    played = Played(given)
    if when.get("after_an_unfinished_change"):
        nothing = {"kind": "change_parameters", "keep_item_keys": None, "values": {}, "question": None}
        played.step({"message": "quero mudar uma coisa", "model": {"confirmation_reply": nothing}})

    for number, step in enumerate(when.get("steps", [when]), start=1):
        played.step(step)
        so_far = then.get(f"after_step_{number}")
        if so_far is not None:
            check(so_far, played.facts(so_far))

    at_the_end = {key: value for key, value in then.items() if not key.startswith("after_step_")}
    calls = at_the_end.pop("action_calls", None)
    check(at_the_end, played.facts(then))
    assert calls in (None, played._action_calls())


# What failed, tried again ------------------------------------------


def acts(given: Mapping[str, Any]) -> Callable[[Call], Answered]:
    """A row for every item as the case has it; an UNKNOWN one is not reported."""
    said = {"SUCCEEDED": True, "FAILED": False}

    def act(call: Call) -> Answered:
        sent = [key["label"] for key in call.meta["agentplatform/item_keys"]]
        protocols = given.get("protocols", {})
        return rows(
            *(
                {"name": label, "success": said[status], "protocol": protocols.get(label)}
                for label, status in given["items"].items()
                if label in sent and status in said
            )
        )

    return act


def parent_of(given: Mapping[str, Any]) -> tuple[World, Transaction]:
    """The request whose items ended as the case says; another one of the conversation is left as it says."""
    world = World(shop.with_validator(shop.shop(), SERVICES, VALIDATOR))
    world.gateway.answers(VALIDATOR, follows("subject", []))
    world.gateway.answers(SERVICES, acts(given["parent"]))
    opens(world, SERVICES, {"subject": ", ".join(given["parent"]["items"])})
    parent = confirmed_and_done(world)
    assert parent.status == given["parent"].get("status", parent.status)
    if given.get("conversation"):
        world.gateway.answers("solicitar_devolucao", NoAnswer("timeout"))
        opens(world, "solicitar_devolucao", {"order_id": "PED-1001", "reason": "desisti"})
        assert confirmed_and_done(world).status == given["conversation"]["status"]
    return world, parent


def retried(world: World, parent: Transaction, child: Mapping[str, Any]) -> Transaction:
    """A child whose items end as ``child`` says; all well, where it says nothing."""
    world.gateway.answers(SERVICES, acts(child) if child else all_done)
    found = retrying.retry(parent.pk, by="ana")
    assert isinstance(found, Transaction)
    return confirmed_and_done(world)


def as_statuses(result: Mapping[str, bool]) -> dict[str, Any]:
    return {"items": {label: "SUCCEEDED" if done else "FAILED" for label, done in result.items()}}


@pytest.mark.parametrize("id_", [id_ for id_ in RETRIES if id_ not in AT_ONCE])
def test_only_what_failed_is_tried_again_and_only_from_the_newest(id_: str) -> None:
    given, when, then = (CASES[id_][key] for key in ("given", "when", "then"))
    world, parent = parent_of(given)
    before = list(parent.items.values())
    child: Transaction | None = None
    if "child" in given or "child_result" in when:
        child = retried(world, parent, given.get("child") or as_statuses(when["child_result"]))

    outcome = retrying.retry(parent.pk, by="ana") if "retry" in when else child
    world.validate()

    parent.refresh_from_db()
    found = outcome if isinstance(outcome, Transaction) else child
    check(
        then,
        {
            "child_items": lambda: [item.label for item in found.items.all()] if found else [],
            "protocol_of_1": lambda: parent.items.get(label="1").protocol,
            "refused": lambda: isinstance(outcome, RetryRefused),
            "reason": lambda: (
                "UNKNOWN must be resolved first" if getattr(outcome, "refusal", "") == "outcome_unknown" else outcome
            ),
            "child_status": lambda: found and found.status,
            "parent_status": lambda: parent.status,
            "parent_items_unchanged": lambda: list(parent.items.values()) == before,
            "only_the_newest": lambda: (
                "the child can be retried"
                if child and isinstance(retrying.retry(child.pk, by="ana"), Transaction)
                else ""
            ),
            "child_created": lambda: parent.children.count() == 1,
        },
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("id_", AT_ONCE)
def test_of_two_retries_at_the_same_moment_one_opens_a_child(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wake_nobody(monkeypatch)
    _, parent = parent_of(CASES[id_]["given"])

    results = at_once(*[lambda: retrying.retry(parent.pk, by="ana")] * 2)

    assert [isinstance(result, Transaction) for result in results].count(True) == 1
    assert parent.children.count() == CASES[id_]["then"]["children"]
