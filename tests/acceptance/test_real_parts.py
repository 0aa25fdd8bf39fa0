"""The product as it runs in production: PostgreSQL, Redis, a Celery worker, the web server and real MCP servers."""

import pytest

from tests.acceptance.client import Chat, post
from tests.acceptance.parts import real_parts

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.redis, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def stack(module_processes, tmp_path_factory, postgres_url, redis_url):
    folder = tmp_path_factory.mktemp("real")
    with real_parts(module_processes, folder, database=postgres_url, redis=redis_url) as stack:
        stack.start_worker()
        stack.start_sweeper()
        yield stack


def test_a_confirmed_request_is_one_call_with_the_keys_of_every_item(stack):
    ana = stack.chat(customer="one-call")

    ana.say("cancelar pedidos PED-1001, PED-1002 e PED-1003")
    asked = ana.wait_for("confirmation.requested")
    ana.press(asked["data"]["confirmation_id"], "confirm")
    finished = ana.wait_for("transaction.finished")

    transaction = stack.transaction(finished["transaction_id"])
    calls = stack.calls("pedidos", "cancelar_pedidos")
    actions = [call for call in calls if call["transaction_id"] == finished["transaction_id"]]
    assert finished["data"]["status"] == transaction["status"] == "SUCCESS"
    assert len(actions) == 1
    assert actions[0]["idempotency_key"] == transaction["attempts"][0]["idempotency_key"]
    assert {item["key"] for item in actions[0]["item_keys"]} == {item["key"] for item in transaction["items"]}
    assert [item["status"] for item in transaction["items"]] == ["SUCCEEDED"] * 3
    effects = stack.effects("pedidos", transaction_id=finished["transaction_id"])
    assert {item["protocol"] for item in finished["data"]["items"]} == {effect["protocol"] for effect in effects}
    assert len(effects) == 3


def test_who_reconnects_reads_everything_again_in_the_same_order(stack):
    ana = stack.chat(customer="reconnects")
    ana.say("cancelar pedidos PED-1001 e PED-1002")
    ana.wait_for("confirmation.requested")
    ana.say("não")
    ana.wait_for("transaction.finished", status="CANCELLED")

    tab = ana.another_socket()
    tab.read_until(lambda: tab.last_seq >= ana.last_seq, what="the replay")

    assert tab.events == ana.events


def test_the_same_message_twice_is_acknowledged_and_does_nothing(stack):
    ana = stack.chat(customer="twice")
    first = ana.say("quero cancelar pedidos")
    ana.wait_for_ack(first)
    ana.wait_for("parameters.requested")
    before = ana.last_seq

    ana.frames.clear()
    ana.say("outra coisa", message_id=first)
    ack = ana.wait_for_ack(first)
    ana.catch_up()

    assert (ack["type"], ack["duplicate"]) == ("ack", True)
    assert ana.last_seq == before


def test_a_token_that_the_channel_did_not_sign_opens_no_session(stack):
    status, _ = post(f"{stack.base}/api/v1/chat/sessions", {"channel": "demo", "locale": "pt-BR", "user_token": "abc"})

    assert status == 401


def test_a_frame_before_hello_closes_the_socket(stack):
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    with connect(stack.base.replace("http", "ws", 1) + "/ws/chat/") as socket:
        socket.send('{"type": "ping", "last_seq": 0}')
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=10)

    assert closed.value.rcvd.code == 4401


def test_the_worker_is_seen_by_the_probe(stack):
    from tests.acceptance.client import get

    ready = get(f"{stack.base}/readyz")

    assert all(check["ok"] for name, check in ready["checks"].items() if check["required"]), ready


def test_two_customers_do_not_read_each_other(stack):
    ana, bia = stack.chat(customer="ana"), stack.chat(customer="bia")

    ana.say("quero cancelar pedidos")
    ana.wait_for("parameters.requested")
    bia.catch_up()

    assert bia.events == []
    assert isinstance(bia, Chat)
