"""Every line of confirmation.jsonl that needs a conversation, played through the runtime (runtime.md §8)."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from tests.loading import cases
from tests.runtime import shop
from tests.runtime.fakes import answered
from tests.runtime.staging import EXTRACTION, ROUTING, all_done, opens, shift_to, stage, validator_of
from tests.runtime.world import World
from transactions.core.errors import ConfirmationClosed
from transactions.core.statuses import ConfirmationStatus, ItemStatus
from transactions.models import Confirmation, Event, Transaction

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

CASES = {case["id"]: case for case in cases("confirmation")}
ELSEWHERE = {
    "CNF-014": "tests/acceptance/test_once.py: two sockets at the same time, on real parts",
    "CNF-018": "tests/test_frames.py: a malformed decision never reaches the runtime",
    "CNF-019": "tests/test_frames.py",
    "CNF-020": "tests/test_frames.py",
    "CNF-021": "tests/test_frames.py",
    "CNF-025": "tests/test_frames.py",
    "CNF-026": "tests/test_frames.py",
}


def replies(id_: str) -> bool:
    """A text answer to an open confirmation, after which only status and calls are looked at."""
    case = CASES[id_]
    keys = {"action_calls", "status", "asked_again_about", "not_rule", "reason_code", "router_called"}
    keys |= {"pre_validation_kept_as_evidence"}
    return bool(case["when"].get("message")) and "state" in case["given"] and set(case["then"]) <= keys


@pytest.mark.parametrize("id_", [id_ for id_ in CASES if replies(id_)])
def test_a_reply_that_is_no_clear_answer_leaves_the_confirmation_as_it_is(id_: str) -> None:
    case = CASES[id_]
    world = stage(case["given"])
    asked = world.confirmation
    world.model.script(case["when"].get("model", {}))

    turn = world.says(case["when"]["message"])
    world.work()

    then, transaction = case["then"], world.transaction
    assert transaction.status == then["status"]
    assert len(world.gateway.calls_of(transaction.tool)) == then["action_calls"]
    assert turn.rule != then.get("not_rule")
    assert transaction.reason_code == then.get("reason_code", "")
    if then["status"] == "AWAITING_CONFIRMATION":
        assert world.last("confirmation.requested").data["items"] == asked.items
    if then.get("pre_validation_kept_as_evidence"):
        assert transaction.pre_validation["eligible"] is True


def awaiting(id_: str = "CNF-013") -> World:
    return stage(CASES[id_]["given"])


def action_calls(world: World) -> int:
    return len(world.gateway.calls_of(world.transaction.tool))


def test_cnf_003_the_validators_message_is_the_question() -> None:
    given = CASES["CNF-003"]["given"]
    world = _validated([item["label"] for item in given["effective_set"]], message=given["confirmation_message"])

    assert world.confirmation.text == CASES["CNF-003"]["then"]["text"]
    assert Confirmation.objects.filter(status=ConfirmationStatus.OPEN).count() == 1


def test_cnf_004_a_question_about_120_items_names_every_one() -> None:
    labels = [f"Serviço {number:03}" for number in range(1, 121)]
    world = _validated(labels)

    assert all(label in world.confirmation.text for label in labels)


def _validated(labels: list[str], message: str | None = None) -> World:
    definitions = shop.with_validator(shop.shop(), "cancelar_vas_avulso", "validar")
    world = World(definitions)
    decision = {"resolved_arguments": {"items": [{"name": label} for label in labels]}, "confirmation_message": message}
    world.gateway.answers("validar", answered({"eligible": True, "transaction_decision": decision}))
    world.gateway.answers("cancelar_vas_avulso", all_done)
    opens(world, "cancelar_vas_avulso", {"subject": "Música Mais"})
    world.validate()
    return world


def test_cnf_005_what_is_confirmed_is_what_the_validator_resolved() -> None:
    given = CASES["CNF-005"]["given"]
    world = _validated(given["validator_resolves_to"])
    assert "Música Mais Mensal" in world.confirmation.text

    world.says("sim")
    world.work()

    sent = world.gateway.calls_of("cancelar_vas_avulso")[0]
    assert [key["label"] for key in sent.meta["agentplatform/item_keys"]] == ["Música Mais Mensal"]
    assert sent.meta["agentplatform/request_digest"] == world.transaction.confirmations.get().digest


def test_cnf_006_arguments_changed_behind_the_back_are_not_executed() -> None:
    world = awaiting("CNF-006")
    changed = {"subject": {"value": "Jogos Dia", "source": "extraction", "turn_id": None}}
    Transaction.objects.filter(pk=world.transaction.pk).update(arguments=changed)

    world.answers("confirm")
    world.work()

    _refused_by_digest(world)


def test_cnf_009_arguments_changed_after_the_yes_are_not_executed() -> None:
    world = awaiting("CNF-009")
    world.answers("confirm")
    changed = {"subject": {"value": "Jogos Dia", "source": "extraction", "turn_id": None}}
    Transaction.objects.filter(pk=world.transaction.pk).update(arguments=changed)

    world.work()

    _refused_by_digest(world)


def test_cnf_011_another_release_after_the_yes_is_not_executed() -> None:
    world = awaiting("CNF-011")
    world.answers("confirm")
    other = world.publish(shop.with_validator(shop.shop(), "cancelar_vas_avulso", "validar_outro"))
    Transaction.objects.filter(pk=world.transaction.pk).update(release=other)

    world.work()

    _refused_by_digest(world)


def _refused_by_digest(world: World) -> None:
    transaction = world.transaction
    assert (transaction.status, transaction.reason_code) == ("FAILED", "digest_mismatch")
    assert set(transaction.items.values_list("status", flat=True)) == {ItemStatus.NOT_EXECUTED}
    assert action_calls(world) == 0


def test_cnf_013_the_second_press_finds_the_confirmation_closed() -> None:
    world = awaiting("CNF-013")
    confirmation_id = str(world.confirmation.pk)
    world.answers("confirm")

    with pytest.raises(ConfirmationClosed):
        world.answers("confirm", confirmation_id=confirmation_id)

    world.work()
    assert action_calls(world) == 1


@pytest.mark.parametrize("foreign", ["c0", str(uuid4())], ids=["CNF-015", "CNF-016"])
def test_an_unknown_confirmation_changes_nothing(foreign: str) -> None:
    world = awaiting("CNF-015")
    before = list(world.events)

    with pytest.raises(ConfirmationClosed):
        world.answers("confirm", confirmation_id=foreign)

    assert world.events == before
    assert world.transaction.status == "AWAITING_CONFIRMATION"


def test_cnf_015_a_replaced_confirmation_is_dead() -> None:
    world = awaiting("CNF-015")
    old = str(world.confirmation.pk)
    keep = [item["key"] for item in world.confirmation.items][:2]
    world.answers("confirm", item_keys=keep)
    world.validate()

    with pytest.raises(ConfirmationClosed):
        world.answers("confirm", confirmation_id=old)

    assert world.transaction.status == "AWAITING_CONFIRMATION"


def test_cnf_016_the_confirmation_of_another_conversation_is_like_an_unknown_one() -> None:
    world, other = awaiting("CNF-016"), awaiting("CNF-016")

    with pytest.raises(ConfirmationClosed):
        world.answers("confirm", confirmation_id=str(other.confirmation.pk))

    assert other.transaction.status == world.transaction.status == "AWAITING_CONFIRMATION"


def test_cnf_027_a_yes_after_the_time_is_answered_as_expired() -> None:
    world = awaiting("CNF-027")
    confirmation_id = str(world.confirmation.pk)
    world.age()

    with pytest.raises(ConfirmationClosed):
        world.answers("confirm", confirmation_id=confirmation_id)

    text = world.last("transaction.finished").data["text"].lower()
    assert (world.transaction.status, world.transaction.reason_code) == ("EXPIRED", "expired")
    assert all(words in text for words in CASES["CNF-027"]["then"]["text_says"])
    assert action_calls(world) == 0


def test_cnf_029_the_sweeper_expires_once_and_names_time_as_the_actor() -> None:
    world = awaiting("CNF-029")

    world.expire()
    world.expire()

    assert world.transaction.status == "EXPIRED"
    assert world.kinds().count("transaction.finished") == 1
    assert world.last("transaction.finished").actor == "system"


def test_cnf_031_nothing_happens_without_an_answer() -> None:
    world = awaiting("CNF-031")

    world.work()

    assert action_calls(world) == 0


def test_cnf_032_nothing_is_executed_before_a_confirmation_whatever_the_model_says() -> None:
    world = awaiting("CNF-032" if "state" in CASES["CNF-032"]["given"] else "CNF-031")
    confirm = {"kind": "confirm", "keep_item_keys": None, "values": {}, "question": None}
    shift = shift_to("cancelar_servico")
    world.model.script({"confirmation_reply": confirm, ROUTING: shift, EXTRACTION: confirm})

    for text in ("execute agora", "o cliente confirmou", "confirmed: true", "faz logo isso", "SIM?"):
        world.says(text)
        world.work()

    assert action_calls(world) == 0
    assert not Event.objects.filter(kind="execution.started").exists()


def test_cnf_036_one_question_one_yes_one_call() -> None:
    world = awaiting("CNF-036")

    world.says("sim")
    world.work()

    assert world.kinds().count("confirmation.requested") == 1
    assert action_calls(world) == 1
    moved = Event.objects.filter(kind="transaction.moved").order_by("id")
    statuses = [event.data["to"] for event in moved]
    assert "COLLECTING_PARAMETERS" not in statuses[statuses.index("AWAITING_CONFIRMATION") :]


def test_cnf_050_a_finished_yes_confirms_nothing_of_the_next_transaction() -> None:
    world = awaiting("CNF-036")
    world.says("sim")
    world.work()

    world.gateway.answers("validar_cancelar_vas_avulso", validator_of(["Craque 10"]))
    opens(world, "cancelar_vas_avulso", {"subject": "Craque 10"})
    world.work()

    assert world.transaction.status == "AWAITING_CONFIRMATION"
    assert action_calls(world) == 1


def test_cnf_051_every_transaction_is_confirmed_for_itself() -> None:
    world = World(shop.shop())
    world.gateway.answers("cancelar_pedidos", all_done)
    opens(world, "cancelar_pedidos", {"order_ids": ["PED-1"]})
    world.says("sim")
    world.work()

    opens(world, "cancelar_pedidos", {"order_ids": ["PED-2"]})
    world.work()

    assert world.transaction.status == "AWAITING_CONFIRMATION"
    assert action_calls(world) == 1


def test_cnf_053_what_is_sent_is_what_was_confirmed() -> None:
    world = awaiting("CNF-053")
    world.gateway.answers("validar_cancelar_vas_avulso", answered({"eligible": True, "fee": 50}))

    world.says("sim")
    world.work()

    (call,) = world.gateway.calls_of("cancelar_vas_avulso")
    assert call.arguments["subject"] == "Música Mais, Livros Falados, Craque 10"


def test_cnf_054_a_model_cannot_smuggle_in_a_confirmation() -> None:
    world = World(shop.shop())
    smuggled = {"kind": "answers_pending", "values": {"subject": "Música Mais", "confirmed": True}}
    world.model.script({ROUTING: shift_to("cancelar_servico"), EXTRACTION: smuggled})

    world.says("cancela Música Mais")
    world.work()

    assert world.transaction.status == "AWAITING_CONFIRMATION"
    assert "confirmed" not in world.transaction.known


def moves(world: World) -> list[str]:
    found = Event.objects.filter(kind="transaction.moved").order_by("id")
    return [event.data["to"] for event in found]


def test_cnf_056_without_a_confirmation_policy_the_last_value_starts_the_call() -> None:
    definitions = shop.with_policy(shop.shop(), "cancelar_vas_avulso", require_confirmation=False)
    world = World(definitions)

    opens(world, "cancelar_vas_avulso", {"subject": "Música Mais"})

    assert moves(world) == ["EXECUTING"]
    assert not Confirmation.objects.exists()


def test_cnf_057_without_a_confirmation_policy_the_validators_yes_starts_the_call() -> None:
    definitions = shop.with_policy(shop.shop(), "cancelar_vas_avulso", require_confirmation=False)
    world = World(shop.with_validator(definitions, "cancelar_vas_avulso", "validar"))
    world.gateway.answers("validar", answered({"eligible": True}))

    opens(world, "cancelar_vas_avulso", {"subject": "Música Mais"})
    world.validate()

    assert moves(world)[:2] == ["PRE_VALIDATING", "EXECUTING"]


def test_cnf_061_asking_again_shows_the_same_confirmation() -> None:
    world = awaiting("CNF-061")
    first = world.last("confirmation.requested").data
    world.model.script(
        {"confirmation_reply": {"kind": "question", "keep_item_keys": None, "values": {}, "question": "?"}}
    )

    world.says("quanto custa?")

    assert world.last("confirmation.requested").data == first


def test_every_case_is_driven_somewhere() -> None:
    source = Path(__file__).read_text("utf-8")
    driven = {id_ for id_ in CASES if id_.lower().replace("-", "_") in source or id_ in source or replies(id_)}

    assert set(CASES) - driven - set(ELSEWHERE) == set()
