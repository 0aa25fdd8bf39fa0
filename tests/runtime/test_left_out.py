"""What the user took out at the confirmation is never sent, however the validator puts its answer (runtime.md §6.5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime import shop
from tests.runtime.fakes import answered
from tests.runtime.staging import all_done, opens, validator_of
from tests.runtime.world import World
from tooling.gateway import NoAnswer, Outcome
from transactions.core.confirmation import without_left_out

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

TOOL = "cancelar_vas_avulso"
LABELS = ["Música Mais", "Livros Falados", "Craque 10"]


def resolved(**arguments: Any) -> Outcome:
    return answered({"eligible": True, "transaction_decision": {"resolved_arguments": arguments}})


def without_one(second: Outcome, **validator: Any) -> World:
    """Three items were asked for and the last one taken out; ``second`` is what the validator says then."""
    world = World(shop.with_validator(shop.shop(), TOOL, "validar", **validator))
    world.gateway.answers("validar", validator_of(LABELS), second)
    world.gateway.answers(TOOL, all_done)
    opens(world, TOOL, {"subject": ", ".join(LABELS)})
    world.validate()
    world.answers("confirm", item_keys=[item["key"] for item in world.confirmation.items[:2]])
    world.validate()
    return world


def two(**more: Any) -> Outcome:
    return resolved(items=[{"name": name} for name in LABELS[:2]], **more)


def test_a_joined_list_that_the_validator_left_alone_is_sent_without_the_item() -> None:
    world = without_one(two())

    world.says("sim")
    world.work()

    (call,) = world.gateway.calls_of(TOOL)
    assert call.arguments == {"subject": "Música Mais, Livros Falados"}
    assert world.transaction.status == "SUCCESS"


@pytest.mark.parametrize(
    "second",
    [two(subject="tudo, menos o Craque 10"), two(subject=f"{', '.join(LABELS)} e mais"), answered({"eligible": True})],
    ids=["other words", "more than the items", "no items"],
)
def test_a_text_that_cannot_be_filtered_for_sure_is_asked_for_again(second: Outcome) -> None:
    world = without_one(second)

    assert world.transaction.status == "COLLECTING_PARAMETERS"
    assert world.last("parameters.requested").data["pending"] == ["subject"]
    assert world.gateway.calls_of(TOOL) == []


@pytest.mark.parametrize("second", [two(), answered({"eligible": True})], ids=["items", "no items"])
def test_a_text_that_means_everything_is_asked_for_again_when_something_was_taken_out(second: Outcome) -> None:
    world = World(shop.with_validator(shop.shop(), TOOL, "validar"))
    world.gateway.answers("validar", resolved(items=[{"name": name} for name in LABELS]), second)
    opens(world, TOOL, {"subject": "tudo"})
    world.validate()

    world.answers("confirm", item_keys=[item["key"] for item in world.confirmation.items[:2]])
    world.validate()

    assert world.transaction.status == "COLLECTING_PARAMETERS"
    assert world.gateway.calls_of(TOOL) == []


def test_a_validator_that_fails_open_does_not_bring_the_item_back() -> None:
    world = without_one(NoAnswer("timeout"), fail_open=True)

    assert world.transaction.status == "COLLECTING_PARAMETERS"


def test_a_text_without_the_item_is_sent_as_the_validator_resolved_it() -> None:
    world = without_one(two(subject="os dois primeiros"))

    world.says("sim")
    world.work()

    (call,) = world.gateway.calls_of(TOOL)
    assert call.arguments == {"subject": "os dois primeiros"}


@pytest.mark.parametrize(
    ("value", "left_out", "kept", "wanted"),
    [
        ("A, B, C", ["B"], ["A", "C"], "A, C"),
        ("A", ["B"], ["A"], "A"),
        ("musica mais, CRAQUE 10", ["Craque 10"], ["Música Mais"], "musica mais"),
        ("Craque 10", ["Craque"], ["Craque 10"], "Craque 10"),
        ("Craque 10, Craque", ["Craque 10"], ["Craque"], "Craque"),
        ("A e B", ["B"], ["A"], None),
        ("B", ["B"], ["A"], None),
        (["A", "B"], ["B"], ["A"], ["A"]),
        (["B"], ["B"], ["A"], None),
        ([{"name": "B"}], ["B"], ["A"], None),
        (7, ["7"], [], 7),
        (None, ["A"], [], None),
        ("A, B", [], ["A"], "A, B"),
    ],
)
def test_a_value_without_what_was_left_out(value: Any, left_out: list[str], kept: list[str], wanted: Any) -> None:
    assert without_left_out(value, left_out, kept) == wanted
