"""The frame ``transaction.retry`` over a real socket: acknowledged once, and refused with a code (contracts.md §2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.chat_channel import ORIGIN, Client, serving
from tests.runtime import shop
from tests.runtime.retries import SERVICES, finished
from tests.runtime.staging import opens
from tests.runtime.world import World
from transactions import outbox
from transactions.models import Channel, Transaction, Turn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.runtime]


@pytest.fixture(autouse=True)
def work_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for work in outbox.RUNNERS:
        monkeypatch.setitem(outbox.RUNNERS, work, "tests.chat_channel:leave_for_later")


@pytest.fixture
def ana() -> World:
    Channel.objects.create(key="test", origins=[ORIGIN], anonymous=True)
    return World(shop.shop())


@pytest.fixture
def client(ana: World) -> Iterator[Client]:
    with serving() as address, Client.greeted(address, ana.conversation) as client:
        yield client


def press(client: Client, transaction: Any, id_: str = "r-1") -> dict[str, Any]:
    """Send the frame; the ack or error that answers it."""
    key = str(getattr(transaction, "pk", transaction))
    client.send(type="transaction.retry", client_message_id=id_, transaction_id=key)
    while True:
        frame: dict[str, Any] = client.next()
        if frame["type"] in ("ack", "error"):
            return frame


def test_the_frame_is_acknowledged_before_the_events_of_the_child(ana: World, client: Client) -> None:
    parent = finished(ana)
    last = ana.events[-1].seq

    ack = press(client, parent)
    started, asked = (client.answer("event", kind=kind) for kind in ("transaction.started", "confirmation.requested"))

    assert ack == {"type": "ack", "client_message_id": "r-1", "seq": last, "duplicate": False}
    assert started["data"]["parent_id"] == str(parent.pk)
    assert [item["label"] for item in asked["data"]["items"]] == ["PED-1006", "PED-1007"]


def test_the_same_frame_again_is_a_duplicate_and_another_one_is_refused(ana: World, client: Client) -> None:
    parent = finished(ana)

    answers = [press(client, parent, id_) for id_ in ("r-1", "r-1", "r-2")]

    assert [answer.get("duplicate") for answer in answers[:2]] == [False, True]
    assert (answers[2]["code"], answers[2]["client_message_id"]) == ("invalid_items", "r-2")
    assert Transaction.objects.filter(parent=parent).count() == 1
    assert Turn.objects.filter(client_message_id="r-2").count() == 0


def test_while_another_request_is_open_the_answer_is_busy(ana: World, client: Client) -> None:
    parent = finished(ana)
    opens(ana, SERVICES, {})

    assert press(client, parent)["code"] == "busy"


def test_what_succeeded_is_refused(ana: World, client: Client) -> None:
    assert press(client, finished(ana, failing=()))["code"] == "invalid_items"


def test_a_disabled_tool_is_not_available(ana: World, client: Client) -> None:
    parent = finished(ana)
    ana.publish(shop.Definitions())

    assert press(client, parent)["code"] == "unavailable"


def test_what_is_not_of_this_conversation_is_answered_like_what_does_not_exist(ana: World, client: Client) -> None:
    other = finished(World(shop.shop()))

    refused = [press(client, key, f"r-{n}") for n, key in enumerate((other, "nothing"))]

    assert refused[0] | {"client_message_id": ""} == refused[1] | {"client_message_id": ""}
    assert Transaction.objects.filter(parent=other).count() == 0
