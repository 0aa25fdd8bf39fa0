"""The lines of websocket.jsonl that need the runtime behind the socket; the others are in tests/test_consumer.py.

What a socket gets is what ``World.events`` holds: a real socket is used where coming and going is the point.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from websockets.exceptions import InvalidStatus

from tests import chat_channel
from tests.chat_channel import ORIGIN, Client, conversation_in, seqs, serving
from tests.loading import cases
from tests.runtime import shop
from tests.runtime.fakes import answered
from tests.runtime.staging import EXTRACTION, ROUTING, all_done, opens, validator_of
from tests.runtime.world import World, rows
from transactions import outbox
from transactions.core.statuses import FINAL
from transactions.models import Channel, Event

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.runtime]

CASES = {case["id"]: case for case in cases("websocket")}
LABELS = ["Música Mais", "Livros Falados", "Craque 10", "Jogos Dia"]
CANCEL, RETURN = "cancelar_vas_avulso", "solicitar_devolucao"
NO_INTENT = {"decision": "none", "intent": None, "confidence": 0.99, "values": None, "reason": "test"}


@pytest.fixture(autouse=True)
def turns_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is woken: each test is the worker itself."""
    for work in outbox.RUNNERS:
        monkeypatch.setitem(outbox.RUNNERS, work, "tests.chat_channel:leave_for_later")


@pytest.fixture
def server() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest.fixture
def ana() -> World:
    """A customer whose services a validator resolves and the tool cancels; her browser may come in."""
    world = World(shop.with_validator(shop.shop(), CANCEL, "validar"))
    Channel.objects.update(origins=[ORIGIN])
    world.conversation.channel.refresh_from_db()
    world.gateway.answers("validar", validator_of(LABELS[:2]))
    for name in shop.ARGUMENTS:
        world.gateway.answers(name, all_done)
    return world


def asked(world: World, labels: list[str] | None = None) -> World:
    """The confirmation about ``labels`` is open."""
    labels = labels or LABELS[:2]
    world.gateway.answers("validar", validator_of(labels))
    opens(world, CANCEL, {"subject": ", ".join(labels)})
    world.validate()
    return world


# Coming and going ------------------------------------------


def press_yes(client: Client, confirmation_id: str) -> None:
    client.send(
        type="confirmation.answer", client_message_id="yes", confirmation_id=confirmation_id, decision="confirm"
    )


@pytest.mark.parametrize("cut", [True, False], ids=["half a frame", "a whole frame"])
def test_wsk_013_a_yes_that_is_sent_again_after_a_restart_counts_once(ana: World, cut: bool) -> None:
    asked(ana)
    wanted = str(ana.confirmation.pk)
    with serving() as address:
        client = Client.greeted(address, ana.conversation)
        if cut:
            client.socket.socket.sendall(b"\x81\xfe")
        else:
            press_yes(client, wanted)

    with serving() as address, Client.greeted(address, ana.conversation) as again:
        press_yes(again, wanted)
        heard = again.until("ack", client_message_id="yes")
    ana.work()

    assert heard[-1]["duplicate"] in ((False,) if cut else (True, False))
    assert ana.kinds().count("confirmation.answered") == CASES["WSK-013"]["then"]["confirmations"]
    assert ana.kinds().count("transaction.finished") == 1
    assert len(ana.gateway.calls_of(CANCEL)) == 1


def test_wsk_015_models_that_hang_hold_up_no_other_socket(
    server: str, ana: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many turns hang as this process handles at once; who writes meanwhile is acknowledged all the same."""
    chat_channel.held_up.clear()
    monkeypatch.setitem(outbox.RUNNERS, "turns", "tests.chat_channel:hang")
    channel = ana.conversation.channel
    crowd = [conversation_in(channel, customer_key=f"h{number}") for number in range(settings.WORK_THREADS)]
    for waiting in crowd:
        with Client.greeted(server, waiting) as client:
            client.say("oi")
            client.answer("ack")

    for number in range(10):
        with Client.greeted(server, conversation_in(channel, customer_key=f"o{number}")) as client:
            client.say("oi")
            client.send(type="ping", last_seq=0)

            assert client.answer("ack")["duplicate"] is False
            assert client.answer("pong")["seq"] == 1
    assert not chat_channel.held_up.is_set()
    chat_channel.held_up.set()


@pytest.mark.parametrize("path", ["/ws/console/", "/ws/operator/", "/ws/transactions/"])
def test_wsk_023_there_is_no_operators_socket_to_reach_from_a_foreign_page(server: str, path: str) -> None:
    with pytest.raises(InvalidStatus):
        Client(server, path=path, origin="https://evil.example")


def test_wsk_025_a_result_that_arrives_while_nobody_listens_is_there_afterwards(server: str, ana: World) -> None:
    asked(ana)
    with Client.greeted(server, ana.conversation) as client:
        press_yes(client, str(ana.confirmation.pk))
        seen = client.until("event", kind="execution.started")[-1]["seq"]
    assert ana.transaction.status == CASES["WSK-025"]["given"]["status"]

    ana.work()

    with Client.greeted(server, ana.conversation, after_seq=seen) as client:
        (finished,) = client.events
    assert (finished["kind"], finished["seq"]) == ("transaction.finished", seen + 1)
    assert [(item["label"], item["status"]) for item in finished["data"]["items"]] == [
        (label, "SUCCEEDED") for label in LABELS[:2]
    ]


def test_wsk_027_two_values_in_two_quick_messages_are_both_kept(server: str, ana: World) -> None:
    case = CASES["WSK-027"]
    opens(ana, RETURN, {})
    ana.model.script({EXTRACTION: _the_next_value})
    with Client.greeted(server, ana.conversation) as client:
        client.say("PED-1001", "m1")
        client.say("desisti da compra", "m2")
        client.answer("ack", client_message_id="m2")

    ana.think()

    assert ana.transaction.known == case["then"]["arguments"]
    assert ana.transaction.status == "AWAITING_CONFIRMATION"


def _the_next_value(payload: dict[str, Any]) -> dict[str, Any]:
    values = dict.fromkeys(payload["pending"])
    return {"kind": "answers_pending", "values": {**values, payload["pending"][0]: payload["message"]}}


def test_wsk_028_two_transactions_one_after_the_other_end_and_leave_no_gap(server: str, ana: World) -> None:
    with Client.greeted(server, ana.conversation) as client:
        for _ in range(2):
            asked(ana)
            press = {"client_message_id": f"yes-{len(ana.transactions)}", "decision": "confirm"}
            client.send(type="confirmation.answer", confirmation_id=str(ana.confirmation.pk), **press)
            client.answer("ack")
            ana.work()
        ends = Event.objects.for_the_user().filter(kind="transaction.finished").values_list("seq", flat=True)
        heard = client.until("event", seq=ends.last())

    assert [transaction.status in FINAL for transaction in ana.transactions] == [True, True]
    with Client.greeted(server, ana.conversation) as client:
        assert seqs(client.events) == list(range(1, ends.last() + 1))
    assert seqs(heard) == list(range(seqs(heard)[0], ends.last() + 1))


# What the events say ------------------------------------------


def test_wsk_042_a_yes_in_words_is_told_as_one_in_words(ana: World) -> None:
    asked(ana)
    confirmation_id = str(ana.confirmation.pk)

    ana.says("sim")

    wanted = CASES["WSK-042"]["then"]["data"]
    assert ana.last("confirmation.answered").data == {**wanted, "confirmation_id": confirmation_id}


def test_wsk_049_the_counts_of_what_is_verified_hold_every_item(ana: World) -> None:
    asked(ana, LABELS)
    keys = {item["label"]: item["key"] for item in ana.confirmation.items}
    *kept, left_out = LABELS
    ana.answers("confirm", item_keys=[keys[label] for label in kept])
    ana.validate()
    ana.says("sim")
    ana.gateway.answers(CANCEL, rows({"name": kept[0], "success": True}, {"name": kept[1], "success": False}))

    ana.work()

    data = ana.last("transaction.verifying").data
    assert data["counts"] == CASES["WSK-049"]["then"]["data"]["counts"]
    found = {item["label"]: item["status"] for item in data["items"]}
    statuses = CASES["WSK-049"]["given"]["items"].values()
    assert found == dict(zip([*kept, left_out], statuses, strict=True))


def test_wsk_050_a_turn_while_validating_is_stored_and_told_to_wait(server: str, ana: World) -> None:
    case = CASES["WSK-050"]
    opens(ana, CANCEL, {"subject": "Música Mais"})
    assert ana.transaction.status == case["given"]["status"]
    with Client.greeted(server, ana.conversation) as client:
        client.socket.send(json.dumps(case["when"]["frame"]))
        client.answer("ack")
        ana.think()

        heard = client.take_events(2)
    assert [frame["kind"] for frame in heard] == case["then"]["events"]
    assert heard[1]["data"]["client_message_id"] == case["when"]["frame"]["client_message_id"]


# Every end is told ------------------------------------------


def _succeed(world: World) -> None:
    asked(world)
    world.says("sim")
    world.work()


def _fail(world: World) -> None:
    world.gateway.answers(CANCEL, rows(*({"name": label, "success": False} for label in LABELS[:2])))
    _succeed(world)


def _fail_partly(world: World) -> None:
    world.gateway.answers(CANCEL, rows(*({"name": label, "success": label == LABELS[0]} for label in LABELS[:2])))
    _succeed(world)


def _be_refused(world: World) -> None:
    world.gateway.answers("validar", answered({"eligible": False, "error": "contrato bloqueado"}))
    opens(world, CANCEL, {"subject": "Música Mais"})
    world.validate()


def _cancel(world: World) -> None:
    asked(world)
    world.says("não")


def _abandon(world: World) -> None:
    opens(world, RETURN, {})
    nothing = {"kind": "something_else", "values": {"order_id": None, "reason": None}}
    world.model.script({EXTRACTION: nothing, ROUTING: NO_INTENT | {"decision": "shift", "intent": "fatura"}})
    world.says("quero ver minha fatura")


def _expire(world: World) -> None:
    asked(world)
    world.expire()


ENDINGS: dict[str, Callable[[World], None]] = {
    "SUCCESS": _succeed,
    "PARTIAL_SUCCESS": _fail_partly,
    "FAILED": _fail,
    "REFUSED": _be_refused,
    "CANCELLED": _cancel,
    "ABANDONED": _abandon,
    "EXPIRED": _expire,
}


@pytest.mark.parametrize("status", CASES["WSK-051"]["given"]["status_each_of"])
def test_wsk_051_every_final_status_is_told_once_with_its_reason_and_a_text(ana: World, status: str) -> None:
    ENDINGS[status](ana)

    ended = ana.transactions[0]
    told = [event.data for event in ana.events if event.kind == "transaction.finished" and event.transaction == ended]
    assert ended.status == status
    assert [data["status"] for data in told] == [status]
    assert told[0]["reason_code"] == ended.reason_code
    assert bool(ended.reason_code) is (status != "SUCCESS")
    assert told[0]["text"]


def test_every_ending_is_driven() -> None:
    assert set(ENDINGS) == set(FINAL) == set(CASES["WSK-051"]["given"]["status_each_of"])
