"""The terminal speaks the same protocol as a page, and a pipe of lines is a conversation."""

import io
import sys

import pytest
from django.core.management import CommandError, call_command

from tests.chat_channel import ORIGIN, serving
from transactions import outbox
from transactions.management.commands.chat import Transcript, socket_url
from transactions.models import Channel, Conversation, Turn

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def turns_that_echo(monkeypatch):
    monkeypatch.setitem(outbox.RUNNERS, "turns", "tests.chat_channel:echo")


@pytest.fixture
def server():
    with serving() as address:
        yield f"http://{address}"


@pytest.fixture
def typed(monkeypatch):
    """Lines on standard input, from a pipe."""

    def pipe(*lines):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return pipe


def test_lines_of_a_pipe_are_said_one_after_the_other(server, typed, capsys):
    Channel.objects.create(key="demo", origins=[ORIGIN], anonymous=True)
    typed("first", "", "second", "/quit", "never")

    call_command("chat", url=server, locale="en")

    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert lines == ["> first", "* Working", "  1/2", "FIRST", "> second", "* Working", "  1/2", "SECOND"]
    assert Conversation.objects.get().locale == "en"


def test_the_end_of_the_pipe_waits_for_the_last_answer(server, typed, capsys):
    Channel.objects.create(key="demo", allow_no_origin=True, anonymous=True)
    typed("last")

    call_command("chat", url=server)

    assert "LAST" in capsys.readouterr().out


def test_a_customer_is_signed_in_with_the_channels_own_key(server, typed, monkeypatch):
    monkeypatch.setenv("SHOP_KEY", "k" * 40)
    Channel.objects.create(key="shop", allow_no_origin=True, jwt_secret_env="SHOP_KEY")
    typed("oi")

    call_command("chat", channel="shop", customer="c-7", url=server)

    assert Conversation.objects.get().identity == {"customer_key": "c-7", "contract_key": "c-7"}


def test_a_command_without_an_open_question_says_so_and_sends_nothing(server, typed, capsys):
    Channel.objects.create(key="demo", allow_no_origin=True, anonymous=True)
    typed("/confirm", "/reject")

    call_command("chat", url=server, locale="en")

    assert capsys.readouterr().out.count("! nothing is open to confirm") == 2
    assert not Turn.objects.exists()


def test_what_is_missing_is_named(typed, monkeypatch):
    with pytest.raises(CommandError, match="no channel"):
        call_command("chat")
    Channel.objects.create(key="demo", jwt_secret_env="NOT_SET_ANYWHERE")
    with pytest.raises(CommandError, match="NOT_SET_ANYWHERE is not set"):
        call_command("chat")
    Channel.objects.update(anonymous=True)
    with pytest.raises(CommandError, match="no server at"):
        call_command("chat", url="http://127.0.0.1:1")
    with pytest.raises(CommandError, match="no web address"):
        call_command("chat", url="file:///etc/passwd")


def test_a_server_that_does_not_want_us_is_said_so(server, typed):
    Channel.objects.create(key="demo", origins=[], anonymous=True)
    typed("oi")

    with pytest.raises(CommandError, match="4403"):
        call_command("chat", url=server)


def event(seq, kind, **data):
    return {"type": "event", "seq": seq, "kind": kind, "data": data}


def test_a_question_is_shown_with_numbered_items_and_what_is_left_out():
    transcript = Transcript("en")
    items = [
        {"key": "a", "label": "Apples", "eligible": True, "reason": None},
        {"key": "b", "label": "Bread", "eligible": False, "reason": "sold out"},
        {"key": "c", "label": "Cheese", "eligible": True, "reason": None},
    ]

    shown = transcript.hear(event(1, "confirmation.requested", confirmation_id="c1", text="Sure?", items=items))

    assert shown.splitlines()[:4] == ["? Sure?", "  1. Apples", "  2. Cheese", "  –  Bread: sold out"]
    assert (transcript.confirmation_id, transcript.item_keys) == ("c1", ["a", "c"])
    transcript.hear(event(2, "confirmation.answered", confirmation_id="c1", decision="confirm", by="text"))
    assert transcript.confirmation_id == ""


def test_an_event_is_shown_once_and_an_unknown_frame_never():
    transcript = Transcript("en")

    assert transcript.hear(event(1, "assistant.message", text="hello")) == "hello"
    assert transcript.hear(event(1, "assistant.message", text="hello")) == ""
    assert transcript.hear({"type": "something new"}) == ""


@pytest.mark.parametrize(("locale", "word"), [("pt-BR", "Parcial"), ("en", "Partly done")])
def test_a_result_is_shown_with_the_word_for_its_status(locale, word):
    shown = Transcript(locale).hear(event(1, "transaction.finished", status="PARTIAL_SUCCESS", text="Two of three."))

    assert shown == f"= {word}\nTwo of three."


@pytest.mark.parametrize(("locale", "hint"), [("pt-BR", "responda com palavras"), ("en", "answer in words")])
def test_the_hints_are_in_the_conversations_language(locale, hint):
    asked = event(1, "confirmation.requested", confirmation_id="c1", text="?", items=[])

    assert hint in Transcript(locale).hear(asked)


def test_without_a_language_the_hints_are_in_the_channels(server, typed, capsys):
    Channel.objects.create(key="demo", allow_no_origin=True, anonymous=True, locale="pt-BR")
    typed("/confirm")

    call_command("chat", url=server, locale="fr")

    assert "! não há nada para confirmar" in capsys.readouterr().out


def test_the_server_is_looked_for_on_the_port_that_it_is_told_to_take(typed, monkeypatch):
    Channel.objects.create(key="demo", anonymous=True)
    monkeypatch.setenv("PORT", "1")

    with pytest.raises(CommandError, match=r"no server at http://127\.0\.0\.1:1 "):
        call_command("chat")


def test_a_secure_page_has_a_secure_socket():
    assert socket_url("https://shop.example/x?y", "/ws/chat/") == "wss://shop.example/ws/chat/"
    assert socket_url("http://127.0.0.1:8000", "/ws/chat/") == "ws://127.0.0.1:8000/ws/chat/"
