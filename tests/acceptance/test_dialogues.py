"""The demo dialogues, in both languages, against the embedded product with its demo servers and offline model."""

import pytest

from tests.acceptance.client import Chat, post
from tests.acceptance.dialogues import DIALOGUES
from tests.acceptance.playing import executions, play
from tests.acceptance.stack import Stack

ORDER_TOOLS = ("validar_cancelamento_pedidos", "cancelar_pedidos")

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def stack(module_processes, tmp_path_factory):
    """One process, SQLite, nothing installed beside it."""
    stack = Stack(module_processes, tmp_path_factory.mktemp("dialogues"))
    stack.start_servers()
    stack.start_model()
    stack.prepare()
    stack.wait_for_helpers()
    stack.serve("--embedded")
    return stack


@pytest.mark.parametrize("locale", ["pt-BR", "en"])
@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: dialogue.number)
def test_the_dialogue_goes_as_written(stack, dialogue, locale):
    chat = stack.chat(locale=locale, customer=f"dialogue-{dialogue.number}-{locale}")

    play(chat, dialogue)

    assert all(count == 1 for count in executions(chat).values())


def by_an_operator(stack: Stack, chat: Chat, transaction_id: str) -> None:
    url = f"{stack.base}/api/v1/transactions/{transaction_id}/retry/"
    dry, plan = post(url, {"dry_run": True}, authorization=f"Bearer {stack.key}")
    status, child = post(url, {}, authorization=f"Bearer {stack.key}")
    again, conflict = post(url, {}, authorization=f"Bearer {stack.key}")

    assert dry == 200 and [item["label"] for item in plan["items"]] == ["PED-1006", "PED-1007"]
    assert status == 201 and (again, conflict["about"]) == (409, child["id"])


def in_words(stack: Stack, chat: Chat, transaction_id: str) -> None:
    chat.say("tenta de novo o que falhou" if chat.locale == "pt-BR" else "try again what failed")


def by_the_button(stack: Stack, chat: Chat, transaction_id: str) -> None:
    for number in (1, 2, 2):
        chat.send({"type": "transaction.retry", "client_message_id": f"r-{number}", "transaction_id": transaction_id})


@pytest.mark.parametrize("locale", ["pt-BR", "en"])
@pytest.mark.parametrize("ask", [by_an_operator, in_words, by_the_button])
def test_only_the_failed_orders_are_sent_again_whoever_asks(stack, ask, locale):
    chat = stack.chat(locale=locale, customer=f"retry-{ask.__name__}-{locale}")
    yes = "sim" if locale == "pt-BR" else "yes"
    chat.say("cancelar pedidos PED-1003, PED-1006 e PED-1007")
    chat.wait_for("confirmation.requested")
    chat.say(yes)
    first = chat.wait_for("transaction.finished", status="PARTIAL_SUCCESS", retry=True)

    ask(stack, chat, first["transaction_id"])
    asked = chat.wait_for("confirmation.requested", after=first["seq"])
    chat.say(yes)
    second = chat.wait_for("transaction.finished", after=first["seq"])

    parent, child = (stack.transaction(each["transaction_id"]) for each in (first, second))
    assert {item["label"] for item in asked["data"]["items"]} == {"PED-1006", "PED-1007"}
    assert (parent["status"], child["status"], child["parent_id"]) == ("PARTIAL_SUCCESS", "SUCCESS", parent["id"])
    calls = [call for tool in ORDER_TOOLS for call in stack.calls("pedidos", tool)]
    calls = [call for call in calls if call["transaction_id"] == child["id"]]
    assert calls and not [call for call in calls if "PED-1003" in str(call["arguments"])]
    assert child["attempts"][0]["idempotency_key"] != parent["attempts"][0]["idempotency_key"]
    assert len(chat.of("execution.started")) == 2
