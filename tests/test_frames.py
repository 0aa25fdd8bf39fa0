"""Every frame is read strictly, and whatever is sent, the reader answers with a value."""

import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loading import cases
from transactions import frames
from transactions.frames import (
    MAX_BYTES,
    BadFrame,
    ConfirmationAnswer,
    Hello,
    MessageSend,
    Ping,
    TransactionRetry,
    parse,
)

PURE = {"WSK-003", "WSK-018", "WSK-019", "WSK-020", "WSK-022"}
TEXT_CASES = [case for case in cases("websocket") if "frame_text" in case["when"]]


def send(**fields):
    return json.dumps({"type": "message.send", "client_message_id": "m1", "text": "oi"} | fields)


def answer(**fields):
    whole = {"type": "confirmation.answer", "client_message_id": "m1", "confirmation_id": "c1"}
    return json.dumps(whole | {"decision": "confirm"} | fields)


@pytest.mark.parametrize("case", TEXT_CASES, ids=lambda case: case["id"])
def test_a_text_that_is_no_frame_is_answered_with_an_error(case):
    read = parse(case["when"]["frame_text"])

    assert isinstance(read, BadFrame)
    assert json.loads(frames.error(read))["type"] == case["then"]["frame"]["type"]


def test_every_case_of_a_bad_text_is_read_here():
    assert {case["id"] for case in TEXT_CASES} == PURE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        '{"type": "ping"',
        '{"type":"message.send","type":"confirmation.answer","client_message_id":"m1","text":"oi"}',
        '{"type":"ping","x":{"a":1,"a":2}}',
        '{"type":"ping","last_seq":NaN}',
        '{"type":"ping","x":-Infinity}',
        '{"type":"ping","last_seq":1e400}',
        '{"type":"ping","last_seq":' + "9" * 5000 + "}",
        "[" * 20_000,
        '{"type":1}',
        '{"type":["ping"]}',
        "{}",
    ],
    ids=range(13),
)
def test_text_that_is_no_typed_json_object_is_a_bad_frame(text):
    assert isinstance(read := parse(text), BadFrame)
    assert read.code == "bad_frame"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
FIELDS = ("session_token", "after_seq", "client_message_id", "text", "seen_seq", "confirmation_id", "decision",
          "item_keys", "transaction_id", "last_seq")  # fmt: skip


@given(st.text())
def test_any_text_is_read_as_a_value(text):
    assert isinstance(parse(text), BadFrame)


@given(
    st.sampled_from(["hello", "message.send", "confirmation.answer", "transaction.retry", "ping"]),
    st.dictionaries(st.sampled_from(FIELDS), JSON),
)
def test_any_fields_are_read_as_a_value_that_can_be_told_back(kind, fields):
    read = parse(json.dumps({"type": kind} | fields))

    if isinstance(read, BadFrame):
        frames.error(read).encode("utf-8")
    else:
        assert isinstance(read, Hello | MessageSend | ConfirmationAnswer | TransactionRetry | Ping)


def test_a_binary_frame_is_a_bad_frame():
    assert parse(None) == BadFrame("bad_frame", "frames are JSON text")


def test_a_frame_may_have_32_kib_and_not_a_byte_more():
    frame = send(padding="")
    fitting = send(padding="x" * (MAX_BYTES - len(frame)))

    assert isinstance(parse(fitting), MessageSend)
    assert parse(fitting + " ").code == "too_large"


def test_bytes_are_counted_not_characters():
    frame = json.dumps({"type": "ping", "padding": "é" * (MAX_BYTES // 2)}, ensure_ascii=False)

    assert len(frame) < MAX_BYTES
    assert parse(frame).code == "too_large"


@pytest.mark.parametrize("kind", ["__proto__", "__init__", "chat.result", "hello ", "MESSAGE.SEND", ""])
def test_an_unknown_type_is_named_as_such(kind):
    read = parse(send(type=kind))

    assert (read.code, read.client_message_id) == ("unknown_type", "m1")


def test_a_hello_names_its_token_and_its_cursor():
    assert parse('{"type":"hello","session_token":"t","after_seq":5}') == Hello("t", 5)
    assert parse('{"type":"hello","session_token":"t"}') == Hello("t", 0)


@pytest.mark.parametrize("token", ["", ',"session_token":null', ',"session_token":7'])
def test_a_hello_without_a_token_has_the_empty_token(token):
    assert parse('{"type":"hello","after_seq":0' + token + "}") == Hello("", 0)


@pytest.mark.parametrize("number", ["-1", '"5"', "null", "1.0", "true", "[1]"])
@pytest.mark.parametrize(
    "frame",
    [
        '{"type":"hello","session_token":"t","after_seq":%s}',
        '{"type":"message.send","client_message_id":"m1","text":"oi","seen_seq":%s}',
        '{"type":"ping","last_seq":%s}',
    ],
    ids=["hello", "message.send", "ping"],
)
def test_a_seq_is_an_integer_from_0_on_and_nothing_else(frame, number):
    assert parse(frame % number).code == "bad_frame"


def test_a_seq_beyond_every_column_is_cut_to_the_largest():
    assert parse('{"type":"ping","last_seq":9223372036854775808}') == Ping(2**31 - 1)


def test_a_ping_needs_no_seq():
    assert parse('{"type":"ping"}') == Ping(None)


def test_a_message_may_say_what_its_writer_has_seen():
    assert parse(send(seen_seq=3)) == MessageSend("m1", "oi", 3)
    assert parse(send()) == MessageSend("m1", "oi", None)


def test_unknown_keys_are_ignored():
    extra = {f"key{number}": number for number in range(2000)} | {"customer_key": "9", "confirmed": True}

    assert parse(send(**extra)) == MessageSend("m1", "oi", None)


@pytest.mark.parametrize("text", [None, ["oi"], 5, "", "   \n  ", "\u200b\u00a0", "\x00"])
def test_a_message_without_a_text_to_read_is_a_bad_frame(text):
    read = parse(send(text=text))

    assert (read.code, read.client_message_id) == ("bad_frame", "m1")


@pytest.mark.parametrize("character", ["a", "é"])
def test_a_text_has_at_most_4000_characters(character):
    assert parse(send(text=character * 4000)).text == character * 4000

    read = parse(send(text=character * 4001))
    assert (read.code, read.client_message_id) == ("text_too_long", "m1")


def test_what_no_database_takes_and_no_eye_sees_is_cleaned_away():
    dirty = "oi\x00tchau \ud800 Craque 10\U000e0073\U000e0069"

    assert parse(send(text=dirty)).text == "oitchau \ufffd Craque 10"


@pytest.mark.parametrize("text", ["👨‍👩‍👧‍👦🇧🇷👍🏽", "\n" * 3999 + "a", "<script>alert(1)</script>", "Músicа"])
def test_any_other_text_comes_back_identical(text):
    assert parse(send(text=text)).text == text


@pytest.mark.parametrize("name", [None, "", "m" * 101, 7, "a\x00", "\ud800"])
def test_a_message_needs_an_id_that_can_be_told_back(name):
    read = parse(send(client_message_id=name))

    assert (read.code, read.client_message_id) == ("bad_frame", None)


def test_any_text_of_up_to_100_characters_is_an_id():
    # BAD-040 leaves open whether the id must be a uuid; every other case writes m1, so it need not be.
    assert parse(send(client_message_id="m" * 100)).client_message_id == "m" * 100


def test_an_answer_names_its_confirmation_and_its_decision():
    assert parse(answer()) == ConfirmationAnswer("m1", "c1", "confirm", None)
    assert parse(answer(item_keys=["a", "b"])).item_keys == ("a", "b")


@pytest.mark.parametrize("decision", [{}, "maybe", 1, "true", ["confirm"], None, True, "Confirm", "confirm "])
def test_a_decision_is_confirm_or_reject_and_nothing_like_it(decision):
    assert parse(answer(decision=decision)).code == "bad_frame"


@pytest.mark.parametrize("confirmation_id", [None, "", 5, ["c1"], "c\x00"])
def test_an_answer_without_a_confirmation_is_a_bad_frame(confirmation_id):
    assert parse(answer(confirmation_id=confirmation_id)).code == "bad_frame"


def test_item_keys_beside_a_reject_are_ignored():
    assert parse(answer(decision="reject", item_keys=5)) == ConfirmationAnswer("m1", "c1", "reject", None)


@pytest.mark.parametrize(("keys", "code"), [("a", "bad_frame"), ({"a": 1}, "bad_frame"), ([1], "invalid_items")])
def test_item_keys_are_a_list_of_texts(keys, code):
    assert parse(answer(item_keys=keys)).code == code


def test_an_empty_list_of_item_keys_is_not_the_same_as_none():
    assert parse(answer(item_keys=[])).item_keys == ()
    assert parse(answer(item_keys=None)).item_keys is None


def test_a_retry_names_its_transaction():
    frame = '{"type":"transaction.retry","client_message_id":"m1","transaction_id":"t1"}'

    assert parse(frame) == TransactionRetry("m1", "t1")
    assert parse('{"type":"transaction.retry","client_message_id":"m1"}').code == "bad_frame"


def test_an_event_is_told_in_utc_and_survives_a_lone_surrogate():
    at = datetime(2026, 11, 30, 12, 0, tzinfo=timezone(timedelta(hours=-3)))

    told = frames.event(14, kind="assistant.message", at=at, transaction_id=None, data={"text": "\ud800"})

    told.encode("utf-8")
    assert json.loads(told) == {
        "type": "event",
        "seq": 14,
        "kind": "assistant.message",
        "at": "2026-11-30T15:00:00.000Z",
        "transaction_id": None,
        "data": {"text": "\ud800"},
    }
