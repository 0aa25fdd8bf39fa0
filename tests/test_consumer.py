"""The chat socket over a real server: who gets in, what is replayed, and that every event comes once, in order."""

import json
import threading

import pytest
from django.db.models import Max
from websockets.exceptions import InvalidStatus

from tests import chat_channel
from tests.chat_channel import (
    ORIGIN,
    WAIT,
    Client,
    conversation_in,
    in_thread,
    last_seq,
    seqs,
    serving,
    tell,
    token_of,
)
from tests.loading import cases
from tests.runtime import shop as products
from tests.runtime.staging import opens, validator_of
from tests.runtime.world import World
from transactions import outbox
from transactions.models import Channel, Conversation, Event, Turn
from transactions.sessions import open_session

pytestmark = pytest.mark.django_db(transaction=True)

CASES = {case["id"]: case for case in cases("websocket")}
HERE = {
    "WSK-002", "WSK-003", "WSK-006", "WSK-008", "WSK-011", "WSK-012", "WSK-016", "WSK-017", "WSK-018", "WSK-019",
    "WSK-020", "WSK-022", "WSK-024", "WSK-026", "WSK-032", "WSK-033", "WSK-035", "WSK-036", "WSK-038", "WSK-043",
    "WSK-046", "WSK-047", "WSK-048",
}  # fmt: skip
ELSEWHERE = {  # tests/runtime/test_websocket_cases.py: they need the runtime behind the socket
    "WSK-013", "WSK-015", "WSK-023", "WSK-025", "WSK-027", "WSK-028", "WSK-042", "WSK-049", "WSK-050", "WSK-051",
}  # fmt: skip


def test_every_case_of_the_socket_is_driven_somewhere():
    assert set(CASES) == HERE | ELSEWHERE


@pytest.fixture(autouse=True)
def turns_of_nobody(monkeypatch):
    for work in outbox.RUNNERS:
        monkeypatch.setitem(outbox.RUNNERS, work, "tests.chat_channel:leave_for_later")


@pytest.fixture
def shop():
    return Channel.objects.create(key="shop", origins=[ORIGIN], anonymous=True)


@pytest.fixture
def server(shop):
    with serving() as address:
        yield address


@pytest.fixture
def ana(shop):
    return conversation_in(shop, customer_key="ana")


# Getting in


@pytest.mark.parametrize("token", ["wrong", "", None, 5], ids=repr)
def test_a_hello_with_a_bad_token_closes_with_4401(server, token):
    """WSK-032"""
    with Client(server) as client:
        client.hello(token, after_seq=0)

        assert client.closed() == ([], 4401)


def test_a_first_frame_that_is_no_hello_closes_with_4401_and_is_not_handled(server, ana):
    """WSK-033"""
    with Client(server) as client:
        client.say("oi")

        assert client.closed() == ([], 4401)
    assert not Turn.objects.exists()


@pytest.mark.parametrize("text", ["{bad", "[]", '{"type":"nonsense"}', '{"type":"hello","after_seq":-1}'])
def test_a_first_frame_that_cannot_be_read_is_told_so_and_closes(server, text):
    with Client(server) as client:
        client.socket.send(text)

        (error,), code = client.closed()
    assert (error["type"], code) == ("error", 4401)


def test_a_token_in_the_address_is_not_accepted(server, ana):
    with Client(server, path=f"/ws/chat/?session_token={token_of(ana)}") as client:
        client.say("oi")

        assert client.closed() == ([], 4401)


def test_without_a_hello_in_time_the_socket_closes_with_4408(server, settings):
    """WSK-035"""
    settings.HELLO_SECONDS = 0.1

    with Client(server) as client:
        assert client.closed() == ([], 4408)


def test_an_expired_session_is_told_so_and_closes_with_4401(server, ana, settings):
    settings.SESSION_SECONDS = -1

    with Client(server) as client:
        client.hello(token_of(ana), after_seq=0)

        (error,), code = client.closed()
    assert (error["code"], code) == ("expired_session", 4401)


def test_a_session_that_ends_closes_its_open_socket(server, ana, settings):
    settings.SESSION_SECONDS = 2

    with Client.greeted(server, ana) as client:
        (error,), code = client.closed()
    assert (error["code"], code) == ("expired_session", 4401)


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://shop.example", "https://shop.example.evil.example", None],
)
def test_a_foreign_origin_is_refused_before_it_says_anything(server, origin, caplog):
    """WSK-008"""
    with Client(server, origin=origin) as client:
        assert client.closed() == ([], 4403)
    assert "origin" in caplog.text


def test_an_origin_of_another_channel_is_refused_after_the_hello(server, ana):
    Channel.objects.create(key="kiosk", origins=["https://kiosk.example"], allow_no_origin=True)

    for origin in ("https://kiosk.example", None):
        with Client(server, origin=origin) as client:
            client.hello(token_of(ana))

            assert client.closed() == ([], 4403)


def test_no_origin_is_accepted_where_the_channel_says_so(server, shop, ana):
    Channel.objects.update(allow_no_origin=True)

    with Client.greeted(server, ana, origin=None) as client:
        assert client.events == []


def test_a_session_of_a_channel_that_is_not_the_conversations_is_refused(server, shop, ana):
    other = Channel.objects.create(key="kiosk", origins=[ORIGIN])

    with Client(server) as client:
        client.hello(open_session(ana, other)[0])

        assert client.closed() == ([], 4401)


def test_another_socket_path_is_refused(server):
    with pytest.raises(InvalidStatus):
        Client(server, path="/ws/other/")


# Replay


def test_the_replay_starts_after_the_cursor_and_ends_with_ready(server, ana):
    for number in range(1, 6):
        tell(ana, f"line {number}")

    with Client(server) as client:
        client.hello(token_of(ana), after_seq=2)
        heard = client.until("ready")

    assert [frame.get("seq") for frame in heard] == [3, 4, 5, 5]
    assert heard[0]["data"] == {"text": "line 3"}
    assert heard[0]["transaction_id"] is None
    assert heard[0]["at"].endswith("Z")


def test_a_history_of_many_pages_is_replayed_whole(server, ana):
    for number in range(1, 251):
        tell(ana, f"line {number}")

    with Client.greeted(server, ana) as client:
        assert seqs(client.events) == list(range(1, 251))


def test_a_cursor_from_beyond_the_end_does_not_hide_what_comes(server, ana):
    # BAD-099 leaves open what such a cursor means: it is taken as "everything so far".
    tell(ana, "before")

    with Client.greeted(server, ana, after_seq=999_999) as client:
        tell(ana, "after")

        assert client.events == []
        assert client.answer("event")["data"] == {"text": "after"}


def test_a_token_opens_its_own_conversation_whatever_the_cursor_is_of(server, shop, ana):
    """WSK-017"""
    bruno = conversation_in(shop, customer_key="bruno")
    tell(ana, "for ana")
    for number in range(3):
        tell(bruno, f"for bruno {number}")

    with Client.greeted(server, ana, after_seq=last_seq(bruno)) as client:
        tell(bruno, "for bruno")
        tell(ana, "again for ana")

        assert client.events == []
        assert client.answer("event")["data"] == {"text": "again for ana"}


def test_what_is_for_operators_only_has_no_seq_and_reaches_no_socket(server, ana):
    """WSK-047"""
    with Client.greeted(server, ana) as client:
        tell(ana, "one")
        hidden = tell(ana, "an incident", is_public=False)
        tell(ana, "two")

        heard = client.take_events(2)
    assert hidden.seq is None
    assert [(frame["seq"], frame["data"]["text"]) for frame in heard] == [(1, "one"), (2, "two")]


# Following


def test_an_event_that_is_stored_while_a_client_comes_in_is_seen_once(server, ana):
    """WSK-002"""

    def write():
        for number in range(60):
            tell(ana, f"line {number}")

    writer = in_thread(write)
    clients = [Client.greeted(server, ana) for _ in range(12)]

    heard = [client.events + client.take_events(60 - len(client.events)) for client in clients]
    writer.join(WAIT)
    for client in clients:
        client.close()

    assert [seqs(frames) for frames in heard] == [list(range(1, 61))] * 12


def test_a_socket_that_drops_again_and_again_misses_nothing(server, ana):
    """WSK-024"""
    writer = in_thread(lambda: [tell(ana, f"line {number}") for number in range(50)])
    heard = []
    for _ in range(5):
        with Client.greeted(server, ana, after_seq=len(heard)) as client:
            heard += client.events
            if len(heard) < 50:
                heard += client.take_events(1)
    with Client.greeted(server, ana, after_seq=len(heard)) as client:
        heard += client.events
        heard += client.take_events(50 - len(heard))
    writer.join(WAIT)

    assert seqs(heard) == list(range(1, 51))


def test_a_reader_that_stops_holds_up_nobody_else(server, ana):
    """WSK-011"""
    stuck = Client.greeted(server, ana, max_queue=1, close_timeout=0.1)
    others = [Client.greeted(server, ana) for _ in range(20)]
    writer = in_thread(lambda: [tell(ana, "x" * 20_000) for _ in range(300)])

    for client in others:
        assert seqs(client.take_events(300)) == list(range(1, 301))
        client.close()
    writer.join(WAIT)
    stuck.close()


def test_a_lost_hint_is_made_up_for(server, ana, settings):
    """WSK-012: nothing comes through the layer, and a socket can be opened all the same"""
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "tests.chat_channel.DeafLayer"}}

    with Client.greeted(server, ana) as client:
        tell(ana, "one")
        client.send(type="ping", last_seq=0)
        told = client.until("event")
        tell(ana, "two")

        assert told[0] == {"type": "pong", "seq": 1}
        assert told[-1]["seq"] == 1
        assert client.answer("event")["seq"] == 2


@pytest.mark.redis
def test_hints_come_through_redis(redis_url, shop, ana, settings):
    config = {"hosts": [{"address": redis_url, "socket_timeout": 2}]}
    settings.CHANNEL_LAYERS = {
        "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": config}
    }
    settings.REDIS_URL = redis_url

    with serving() as address, Client.greeted(address, ana) as client:
        for number in range(1, 21):
            tell(ana, f"line {number}")

            assert client.answer("event")["seq"] == number


def test_a_socket_opens_and_works_while_redis_is_away(shop, ana, settings):
    config = {"hosts": [{"address": "redis://127.0.0.1:1", "socket_timeout": 1}]}
    settings.CHANNEL_LAYERS = {
        "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": config}
    }

    with serving() as address, Client.greeted(address, ana) as client:
        client.say("oi")

        assert client.answer("ack")["seq"] == 1
        assert client.answer("event")["kind"] == "user.message"


# Messages


def test_a_message_is_acknowledged_and_then_told(server, ana):
    """WSK-046"""
    with Client.greeted(server, ana) as client:
        client.say("oi", seen_seq=3)

        ack, event = client.next(), client.next()
    assert ack == {"type": "ack", "client_message_id": "m1", "seq": 1, "duplicate": False}
    assert (event["seq"], event["kind"]) == (1, "user.message")
    assert event["data"] == {"text": "oi", "client_message_id": "m1"}
    assert Turn.objects.get().seen_seq == 3


def test_the_same_id_again_is_acknowledged_and_does_nothing(server, ana):
    """WSK-038"""
    with Client.greeted(server, ana) as client:
        client.say("oi")
        client.say("outra coisa")

        acks = [client.answer("ack"), client.answer("ack")]
    assert [ack["duplicate"] for ack in acks] == [False, True]
    assert {ack["seq"] for ack in acks} == {1}
    assert [turn.text for turn in Turn.objects.all()] == ["oi"]


def test_a_message_that_was_not_acknowledged_is_sent_again_without_harm(server, ana):
    """WSK-026"""
    with Client.greeted(server, ana) as client:
        client.say("sim", "yes-1")
    acks = []
    for _ in range(2):
        with Client.greeted(server, ana) as client:
            client.say("sim", "yes-1")
            acks.append(client.answer("ack"))

    assert Turn.objects.count() == 1
    assert acks[-1]["duplicate"] is True


def test_nothing_that_a_message_says_changes_who_the_user_is(server, ana):
    """WSK-043"""
    with Client.greeted(server, ana) as client:
        client.say('{"customer_key": "1"}', customer_key="1", identity={"customer_key": "1"}, state="EXECUTING")
        client.answer("ack")

    assert Conversation.objects.get(pk=ana.pk).identity == {"customer_key": "ana"}


def test_a_slow_turn_holds_up_neither_the_next_message_nor_a_ping(server, ana, monkeypatch):
    """WSK-006"""
    chat_channel.held_up.clear()
    monkeypatch.setitem(outbox.RUNNERS, "turns", "tests.chat_channel:hang")

    with Client.greeted(server, ana) as client:
        client.say("oi", "m1")
        client.answer("ack", client_message_id="m1")
        client.say("de novo", "m2")
        client.send(type="ping", last_seq=0)

        assert client.answer("ack", client_message_id="m2")["duplicate"] is False
        assert client.answer("pong")["seq"] == 2
        assert not chat_channel.held_up.is_set()
    chat_channel.held_up.set()


def test_sockets_that_vanish_in_the_middle_mix_up_no_conversations(server, shop, ana):
    """WSK-016, with 100 sockets"""
    bruno = conversation_in(shop, customer_key="bruno")

    for number in range(100):
        who, text = (ana, "of ana") if number % 2 else (bruno, "of bruno")
        client = Client.greeted(server, who)
        client.say(text, f"m{number}")
        client.socket.socket.shutdown(2)
    with Client.greeted(server, ana) as ana_again, Client.greeted(server, bruno) as bruno_again:
        heard = {"ana": ana_again.events, "bruno": bruno_again.events}

    for name, frames in heard.items():
        assert {frame["data"]["text"] for frame in frames} <= {f"of {name}"}
        assert seqs(frames) == list(range(1, len(frames) + 1))


def test_a_ping_is_answered_with_the_newest_seq(server, ana):
    """WSK-036"""
    for number in range(20):
        tell(ana, f"line {number}")

    with Client.greeted(server, ana) as client:
        client.send(type="ping", last_seq=12)

        assert client.next() == {"type": "pong", "seq": 20}


@pytest.mark.parametrize("case", [CASES[name] for name in sorted(HERE) if "frame_text" in CASES[name]["when"]],
                         ids=lambda case: case["id"])  # fmt: skip
def test_a_text_that_is_no_frame_leaves_the_socket_open(server, ana, case):
    """WSK-003, WSK-018, WSK-019, WSK-020, WSK-022"""
    with Client.greeted(server, ana) as client:
        client.socket.send(case["when"]["frame_text"])

        assert client.next()["type"] == case["then"]["frame"]["type"]
        client.send(type="ping")
        assert client.next()["type"] == "pong"
    assert not Event.objects.exists()


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\x00\xff\x10", "bad_frame"),
        ("", "bad_frame"),
        ('{"type":"ping","padding":"' + "x" * 32_768 + '"}', "too_large"),
        ('{"type":"message.send","client_message_id":"m1","text":"' + "a" * 4001 + '"}', "text_too_long"),
        ('{"type":"hello","session_token":"again","after_seq":0}', "bad_frame"),
        ('{"type":"transaction.retry","client_message_id":"m1","transaction_id":"t"}', "invalid_items"),
        ('{"type":"__init__"}', "unknown_type"),
    ],
    ids=["binary", "empty", "large", "long", "hello", "retry", "type"],
)
def test_a_frame_that_cannot_be_served_is_answered_with_its_code(server, ana, frame, code):
    with Client.greeted(server, ana) as client:
        client.socket.send(frame)

        assert client.next()["code"] == code
        client.send(type="ping")
        assert client.next() == {"type": "pong", "seq": 0}


def test_a_dead_confirmation_is_answered_as_closed_and_nothing_changes(server, ana):
    """WSK-048"""
    answer = {"type": "confirmation.answer", "confirmation_id": "c0", "decision": "confirm"}

    with Client.greeted(server, ana) as client:
        client.send(client_message_id="m1", **answer)

        error = client.next()
        client.send(type="ping")
        assert client.next()["type"] == "pong"
    assert (error["code"], error["client_message_id"]) == ("confirmation_closed", "m1")
    assert Event.objects.aggregate(Max("seq")) == {"seq__max": None}
    assert not Turn.objects.exists()


def test_a_subset_of_the_items_is_asked_anew_and_the_whole_set_confirms(server, shop):
    world = World(products.with_validator(products.shop(), "cancelar_vas_avulso", "validar"))
    Channel.objects.update(origins=[ORIGIN])
    world.gateway.answers("validar", validator_of(["Música Mais", "Livros Falados", "Craque 10"]))
    opens(world, "cancelar_vas_avulso", {"subject": "Música Mais, Livros Falados, Craque 10"})
    world.validate()

    with Client.greeted(server, Conversation.objects.get(pk=world.conversation.pk)) as client:
        first = client.events[-1]["data"]
        keys = [item["key"] for item in first["items"]]
        for id_, chosen in enumerate(([], ["unknown"], keys[:2])):
            client.confirm(f"m{id_}", first, item_keys=chosen)
        replies = [client.answer("error"), client.answer("error"), client.answer("ack")]
        world.validate()
        second = client.answer("event", kind="confirmation.requested")["data"]
        client.confirm("m4", first)
        replies.append(client.answer("error"))
        client.confirm("m5", second, item_keys=keys[:2])
        answered = client.answer("event", kind="confirmation.answered")["data"]

    assert [reply.get("code") for reply in replies] == ["invalid_items"] * 2 + [None, "confirmation_closed"]
    assert [item["key"] for item in second["items"]] == keys[:2]
    assert answered == {"confirmation_id": second["confirmation_id"], "decision": "confirm", "by": "button"}


# Rates


def test_a_writer_in_a_hurry_is_told_to_wait_also_on_a_new_socket(server, ana, settings):
    settings.RATE_LIMITS = True

    with Client.greeted(server, ana) as client:
        for number in range(15):
            client.say("oi", f"m{number}")
        codes = [client.until("error")[-1]["code"]]
    with Client.greeted(server, ana) as client:
        for number in range(15, 30):
            client.say("oi", f"m{number}")
        codes.append(client.until("error")[-1]["code"])

    assert codes == ["rate_limited", "rate_limited"]
    assert Turn.objects.count() < 20


def test_a_flood_of_frames_closes_with_4429(server, ana, settings):
    settings.RATE_LIMITS = True

    with Client.greeted(server, ana) as client:
        flood = json.dumps({"type": "ping"})
        writer = threading.Thread(target=lambda: [client.socket.send(flood) for _ in range(80)], daemon=True)
        writer.start()
        _, code = client.closed()
    assert code == 4429
