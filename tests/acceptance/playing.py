"""Plays a dialogue in a chat and compares what comes back with what must come back."""

from collections import Counter
from typing import Any

from tests.acceptance.client import Chat, Event
from tests.acceptance.dialogues import Dialogue, Expected, Said

PROGRESS = "items.progress"


def play(chat: Chat, dialogue: Dialogue) -> None:
    """Say every turn of ``dialogue`` in the chat's own language and check the events of each."""
    for said in dialogue.turns:
        before = chat.last_seq
        act(chat, said)
        if said.error:
            expect_error(chat, said.error, before)
            continue
        events = wait_for_turn(chat, said, before)
        for event, expected in zip(events, said.events, strict=True):
            check(event, expected)
        check_text(events[-1], said)


def act(chat: Chat, said: Said) -> None:
    """Say the text of the chat's language, or press the button."""
    if not said.button:
        chat.say(said.pt if chat.locale == "pt-BR" else said.en)
    elif said.button == "retry":
        finished = chat.of("transaction.finished")[-1]
        chat.send(
            {
                "type": "transaction.retry",
                "client_message_id": f"retry-{chat.last_seq}",
                "transaction_id": finished["transaction_id"],
            }
        )
    else:
        asked = chat.of("confirmation.requested")
        chat.press(asked[0 if said.on == "first" else -1]["data"]["confirmation_id"], said.button)


def wait_for_turn(chat: Chat, said: Said, before: int) -> list[Event]:
    """The events after ``before``, progress aside, once as many came as ``said`` expects and no more come."""

    def events() -> list[Event]:
        return [event for event in chat.events if event["seq"] > before and event["kind"] != PROGRESS]

    kinds = [expected.kind for expected in said.events]
    chat.read_until(lambda: len(events()) >= len(kinds), what=f"{kinds}; said {said.pt or said.button!r}")
    chat.catch_up()
    assert [event["kind"] for event in events()] == kinds, events()
    return events()


def expect_error(chat: Chat, code: str, before: int) -> None:
    chat.read_until(lambda: any(frame.get("code") == code for frame in chat.frames), what=f"error {code}")
    chat.catch_up()
    assert chat.last_seq == before


def check(event: Event, expected: Expected) -> None:
    """Compare the data of ``event`` with each thing that ``expected`` names."""
    data = event["data"]
    for key, value in expected.data.items():
        found = seen(data, key)
        if isinstance(value, dict):
            found = {name: found.get(name) for name in value}
        assert found == (set(value) if isinstance(value, tuple) else value), f"{expected.kind}.{key}: {data}"


def seen(data: dict[str, Any], key: str) -> Any:
    """What ``data`` says about ``key``, in the shape that the dialogues write it."""
    items = data.get("items") or []
    match key:
        case "item_count":
            return len(items)
        case "eligible_labels":
            return {item["label"] for item in items if item["eligible"]}
        case "reasons":
            return {item["label"]: item["reason"] for item in items if item.get("reason")}
        case "statuses":
            return {item["label"]: item["status"] for item in items}
        case "protocols":
            return sum(bool(item.get("protocol")) for item in items)
        case "counts":
            names = ("total", "succeeded", "failed", "unknown", "excluded")
            return "/".join(str(data["counts"][name]) for name in names)
        case "multi_item_status":
            return data.get(key) or ""
        case _:
            return data.get(key)


def check_text(event: Event, said: Said) -> None:
    text = event["data"].get("text", "")
    assert not [part for part in said.text_has if part not in text], text
    assert not [part for part in said.text_lacks if part.casefold() in text.casefold()], text


def executions(chat: Chat) -> Counter[str]:
    """How often each transaction of the chat began to execute."""
    return Counter(event["transaction_id"] for event in chat.of("execution.started"))
