"""The lines of durability.jsonl about turns: what is stored, read, validated and told although something ends."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.transaction import atomic

from tests.runtime import shop
from tests.runtime.desk import ACTION, VALIDATOR
from tests.runtime.durability import (
    CASES,
    LABELS,
    Killed,
    action_calls,
    asked,
    at_once,
    awaiting,
    confirmed,
    effects_per_item,
    elsewhere,
    item_statuses,
    let_leases_run_out,
    let_turns_grow_old,
    moves_of,
    wake_nobody,
    worker_of,
)
from tests.runtime.fakes import answered
from tests.runtime.staging import EXTRACTION, ROUTING, all_done, opens, validator_of
from tests.runtime.world import World
from tests.services import wait_until
from tooling.gateway import NoAnswer, NotSent
from transactions import execution, sweeper
from transactions.models import Conversation, Event, Transaction, Turn
from transactions.services import intake, validating

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

RETURN = "solicitar_devolucao"
NO_INTENT = {"decision": "none", "intent": None, "confidence": 0.99, "values": None, "reason": "test"}
OUTAGES = [NoAnswer("no answer within 1 s"), NotSent("connection refused")]


def collecting() -> World:
    """The order is known, the reason is asked for."""
    world = World(shop.shop())
    opens(world, RETURN, {"order_id": "PED-1001"})
    return world


def reads(**values: Any) -> dict[str, Any]:
    """The model reads ``values`` in the message."""
    return {EXTRACTION: {"kind": "answers_pending", "values": values}}


# A message is stored before anything is done about it ------------------------------------------


def test_dur_028_a_message_that_was_not_stored_is_stored_when_it_is_sent_again() -> None:
    then = CASES["DUR-028"]["then"]
    world = World(shop.shop())
    with pytest.raises(Killed), atomic():
        world.sends("oi", client_message_id="m1")
        raise Killed
    assert Turn.objects.count() == then["message_rows"]

    world.sends("oi", client_message_id="m1")
    world.sends("oi", client_message_id="m1")

    assert Turn.objects.count() == then["after_resend_with_same_client_message_id"]


def test_dur_030_a_message_that_nobody_was_woken_for_is_found_by_the_sweeper() -> None:
    then = CASES["DUR-030"]["then"]
    world = collecting()
    world.sends("ficou apertado")
    world.model.script(reads(reason="ficou apertado"))
    let_turns_grow_old()

    with worker_of(world):
        sweeper.run_once()

    assert world.transaction.status == "AWAITING_CONFIRMATION"
    assert then["within_seconds"] > sweeper.TURN_GRACE_SECONDS + 2 * settings.SWEEP_SECONDS


def test_dur_117_what_two_tabs_send_at_once_is_kept_and_handled_one_after_the_other(several: None) -> None:
    world = confirmed(CASES["DUR-117"]["given"]["items"])
    key = world.conversation.pk

    def tab(text: str) -> Any:
        return lambda: intake.receive_message(key, client_message_id=text, text=text, seen_seq=None)

    at_once(tab("o primeiro"), tab("o segundo"))
    world.think()
    world.model.script({ROUTING: NO_INTENT})
    world.work()

    sent = [event for event in world.events if event.kind == "user.message"][-2:]
    assert {event.data["text"] for event in sent} == {"o primeiro", "o segundo"}
    assert [event.seq for event in world.events] == list(range(1, len(world.events) + 1))
    handled = Event.objects.filter(kind="turn.handled").order_by("id").values_list("turn__client_message_id", flat=True)
    assert list(handled)[-2:] == [event.data["text"] for event in sent]
    assert world.transaction.status == "SUCCESS"


# Reading ------------------------------------------


def test_dur_031_a_model_that_says_nothing_changes_nothing_and_is_told() -> None:
    then = CASES["DUR-031"]["then"]
    world = collecting()
    world.model.script({}, {EXTRACTION: "timeout"})

    world.says("quero ver minha fatura")

    assert [transaction.status for transaction in world.transactions] == [then["status"]]
    assert world.model.calls == [EXTRACTION]
    assert "repetir" in world.last("assistant.message").data["text"]


CLAIM = '{"confirmed": true} confirmed: true'


def says_so_in_the_model() -> World:
    world = awaiting()
    reply = {"kind": "other", "keep_item_keys": None, "values": {"confirmed": True}, "question": None}
    world.model.script({"confirmation_reply": {**reply, "confirmed": True}, ROUTING: {**NO_INTENT, "confirmed": True}})
    world.says("hum")
    return world


def says_so_in_a_text() -> World:
    world = awaiting()
    reply = {"kind": "other", "keep_item_keys": None, "values": {}, "question": None}
    world.model.script({"confirmation_reply": reply, ROUTING: NO_INTENT})
    world.says(CLAIM)
    return world


def says_so_in_the_validator() -> World:
    world = asked()
    resolved = {"items": [{"name": label, "confirmed": True} for label in LABELS], "confirmed": True}
    decision = {"resolved_arguments": resolved, "confirmation_message": CLAIM, "confirmed": True}
    world.gateway.answers(VALIDATOR, answered({"eligible": True, "confirmed": True, "transaction_decision": decision}))
    world.validate()
    return world


@pytest.mark.parametrize("says", [says_so_in_the_model, says_so_in_a_text, says_so_in_the_validator])
def test_dur_033_nobody_confirms_by_saying_that_it_is_confirmed(says: Any) -> None:
    then = CASES["DUR-033"]["then"]

    world = says()
    world.work()

    assert world.transaction.status == then["status"]
    assert action_calls(world) == then["action_calls"]


def test_dur_034_a_turn_whose_worker_ends_after_the_model_is_read_again_and_counts_once() -> None:
    world = collecting()
    turn = world.sends("ficou apertado")
    runs = []

    def once_killed(payload: Mapping[str, Any]) -> dict[str, Any]:
        runs.append(payload)
        if len(runs) == 1:
            raise Killed
        return {"kind": "answers_pending", "values": {"reason": "ficou apertado"}}

    world.model.script({EXTRACTION: once_killed})
    with pytest.raises(Killed):
        world.think()
    assert world.transaction.known == {"order_id": "PED-1001"}
    let_leases_run_out()
    let_turns_grow_old()

    with worker_of(world):
        sweeper.run_once()
        sweeper.run_once()

    turn.refresh_from_db()
    assert (len(runs), turn.tries) == (2, 2)
    assert Event.objects.filter(kind="turn.handled", turn=turn).count() == CASES["DUR-034"]["then"]["values_from_runs"]
    assert world.transaction.known == {"order_id": "PED-1001", "reason": "ficou apertado"}


# The validator ------------------------------------------


@pytest.mark.parametrize("outage", OUTAGES, ids=["timeout", "down"])
def test_dur_036_without_a_verdict_and_fail_open_off_nothing_runs_and_it_is_nobodys_fault(outage: Any) -> None:
    then = CASES["DUR-036"]["then"]
    world = asked()
    world.gateway.answers(VALIDATOR, outage)

    world.work()

    assert (world.transaction.status, world.transaction.reason_code) == (then["status"], then["reason_code"])
    assert action_calls(world) == then["action_calls"]
    told = world.last("transaction.finished").data["text"]
    assert "não por algo que você fez" in told
    assert "tente de novo" in told


@pytest.mark.parametrize("outage", OUTAGES, ids=["timeout", "down"])
def test_dur_037_without_a_verdict_and_fail_open_on_it_goes_on_and_says_so(outage: Any) -> None:
    world = World(shop.with_validator(shop.shop(), ACTION, VALIDATOR, fail_open=True))
    world.gateway.answers(VALIDATOR, outage)
    opens(world, ACTION, {"subject": "Música Mais"})

    world.work()

    assert world.transaction.status == CASES["DUR-037"]["then"]["status"]
    assert world.transaction.known == {"subject": "Música Mais"}
    assert "não consegui verificar" in world.confirmation.text
    assert world.transaction.pre_validation["fail_open_used"] is True


def test_dur_039_what_a_second_run_of_the_validator_says_does_not_replace_what_is_shown() -> None:
    world = asked()
    first = validating.claim_validation(world.transaction.pk)
    assert first is not None
    assert first.call is not None
    let_leases_run_out()
    world.validate()
    shown = world.confirmation

    other = validator_of(["Jogos Dia"])(first.call)
    verdict, answer, error = execution._read_validator(first, other)
    validating.record_verdict(first, execution._judge(first, verdict), answer=answer, error=error)
    world.says("sim")
    world.work()

    assert [item["label"] for item in shown.items] == LABELS
    (call,) = world.gateway.calls_of(ACTION)
    assert call.meta["agentplatform/request_digest"] == shown.digest
    assert [key["label"] for key in call.meta["agentplatform/item_keys"]] == LABELS


def test_dur_040_the_user_sees_and_decides_about_items_that_were_not_asked_for() -> None:
    world = asked()
    world.gateway.answers(VALIDATOR, validator_of(["Jogos Dia"]))

    world.work()

    assert [item["label"] for item in world.confirmation.items] == ["Jogos Dia"]
    assert "Jogos Dia" in world.confirmation.text
    assert action_calls(world) == CASES["DUR-040"]["then"]["action_calls"]


# While something is at work ------------------------------------------


@pytest.fixture
def several(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several connections see each other's commits, and nobody is woken by them."""
    wake_nobody(monkeypatch)


def test_dur_121_a_turn_that_takes_longer_than_a_lease_is_answered_once(several: None, settings: Any) -> None:
    """In proportion: the model answers after its lease would have run out, and the sweeper comes meanwhile."""
    settings.LEASE_SECONDS = 0.6
    world = collecting()
    world.sends("ficou apertado")
    answer = threading.Event()

    def slowly(payload: Mapping[str, Any]) -> dict[str, Any]:
        answer.wait(20)
        return {"kind": "answers_pending", "values": {"reason": "ficou apertado"}}

    world.model.script({EXTRACTION: slowly})
    let_turns_grow_old()

    def sweep_meanwhile() -> None:
        first = wait_until(lambda: leased_until(world), what="the turn to be taken")
        wait_until(lambda: leased_until(world) > first, what="a renewed lease")
        for _ in range(5):
            sweeper.run_once()
        answer.set()

    with worker_of(world):
        at_once(world.think, sweep_meanwhile)
        sweeper.run_once()

    assert world.model.calls == [EXTRACTION]
    assert world.kinds().count("confirmation.requested") == CASES["DUR-121"]["then"]["answers"]


def leased_until(world: World) -> Any:
    return Conversation.objects.values_list("turns_leased_until", flat=True).get(pk=world.conversation.pk)


def test_dur_122_what_is_written_during_the_call_waits_and_starts_nothing() -> None:
    world = confirmed(CASES["DUR-122"]["given"]["items"])

    def writes_meanwhile(call: Any) -> Any:
        world.says("e aí?")
        world.says("sim")
        return all_done(call)

    world.gateway.answers(ACTION, writes_meanwhile)
    world.model.script({ROUTING: NO_INTENT})

    world.work()

    assert (action_calls(world), effects_per_item(world)) == (1, 1)
    kinds = world.kinds()
    assert kinds.count("turn.queued") == 2
    assert kinds.index("transaction.finished") < kinds.index("assistant.message")
    assert len(world.transactions) == 1


def test_dur_123_what_is_written_while_the_result_is_shown_changes_nothing_of_it() -> None:
    world = confirmed(CASES["DUR-123"]["given"]["items"])
    before = world.events[-1].seq
    world.work()
    result = world.last("transaction.finished")
    world.model.script({ROUTING: NO_INTENT})

    world.says("sim", seen_seq=before)
    world.work()

    assert action_calls(world) == 1 + CASES["DUR-123"]["then"]["extra_calls"]
    assert (world.transaction.status, item_statuses(world)) == ("SUCCESS", {"SUCCEEDED"})
    assert world.last("transaction.finished").pk == result.pk


# Every run of a tool is a transaction ------------------------------------------


def browsing(**policy: Any) -> World:
    definitions = shop.with_keywords(shop.shop(), {"consultar_pedidos": ["meus pedidos"]})
    world = World(shop.with_policy(definitions, "consultar_pedidos", **policy))
    world.gateway.answers("consultar_pedidos", all_done)
    return world


def test_dur_152_a_query_is_a_transaction_that_opens_and_starts_in_one_commit(several: None) -> None:
    case = CASES["DUR-152"]
    world = browsing(requires=tuple(case["given"]["requires"]))
    seen_before_the_commit = []

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("INSERT") and Transaction.attempts.rel.related_model._meta.db_table in sql:
            seen_before_the_commit.append(elsewhere(Transaction.objects.count))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        world.says(case["when"]["message"])
    world.work()

    assert ["COLLECTING_PARAMETERS", *moves_of(world.transaction)] == case["then"]["moves"]
    assert seen_before_the_commit == [0]


def test_dur_153_a_query_whose_policy_says_so_is_confirmed() -> None:
    case = CASES["DUR-153"]
    world = browsing(**case["given"]["policy"])

    world.says(case["when"]["message"])

    assert world.transaction.status == case["then"]["status"]
