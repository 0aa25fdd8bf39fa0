"""The lines of durability.jsonl about rows: revisions, what occupies a conversation, the clock, and old answers."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError
from django.db.transaction import atomic
from django.utils import timezone

from tests.runtime import shop
from tests.runtime.durability import (
    CASES,
    LABELS,
    action_calls,
    asked,
    awaiting,
    confirmed,
    let_leases_run_out,
    let_turns_grow_old,
    sent,
    worker_of,
)
from tests.runtime.staging import EXTRACTION, opens, validator_of
from tests.runtime.world import World
from transactions import execution, sweeper
from transactions.core.errors import StaleTransaction
from transactions.core.statuses import MOVES, Status
from transactions.models import Attempt, Event, Transaction
from transactions.services import executing, validating
from transactions.services.conversations import open_conversation
from transactions.services.rows import database_now, hold, move

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

# Revisions ------------------------------------------


def row(world: World, status: str, revision: int = 0) -> Transaction:
    """A transaction as it may stand in the table, in a conversation of its own."""
    conversation = open_conversation(world.conversation.channel, locale="pt-BR", identity={})
    return insert(conversation, status, revision=revision)


def insert(conversation: Any, status: str, **fields: Any) -> Transaction:
    until = database_now() + timedelta(hours=1)
    return Transaction.objects.create(
        conversation=conversation,
        release=1,
        tool="cancelar_vas_avulso",
        operation_type="transactional",
        status=status,
        expires_at=until,
        **fields,
    )


@pytest.mark.parametrize("id_", [id_ for id_, case in CASES.items() if "move_with" in case["when"]])
def test_a_move_needs_the_status_and_the_revision_that_it_was_decided_on(id_: str) -> None:
    given, when, then = (CASES[id_][key] for key in ("given", "when", "then"))
    stored = row(World(shop.shop()), given["status"], given["revision"])
    read = Transaction.objects.get(pk=stored.pk)
    read.status, read.revision = when["move_with"]["status"], when["move_with"]["revision"]

    try:
        with atomic():
            move(hold(stored.conversation_id), read, Status(when["to"]))
    except StaleTransaction:
        pass

    stored.refresh_from_db()
    moved = stored.status != given["status"]
    assert int(moved) == then["rows_updated"]
    assert Event.objects.filter(transaction=stored).count() == then["event_rows"]
    assert stored.status == then.get("status", when["to"])
    assert stored.revision > then.get("revision_above", -1)
    assert moved or stored.revision == given["revision"]


IN_TURN = CASES["DUR-148"]["given"]


@pytest.mark.parametrize("new", sorted(MOVES[Status(IN_TURN["status"])]))
def test_dur_148_every_allowed_move_raises_the_revision(new: Status) -> None:
    stored = row(World(shop.shop()), IN_TURN["status"], IN_TURN["revision"])

    with atomic():
        move(hold(stored.conversation_id), stored, new)

    stored.refresh_from_db()
    assert (stored.status, stored.revision > IN_TURN["revision"]) == (new, True)


def test_dur_147_a_wake_up_or_an_answer_of_an_older_revision_changes_nothing() -> None:
    """A wake-up names a row and no more: whoever is woken looks at what the row says now. The validator's answer
    carries the revision that it was asked at."""
    world = asked()
    validation = validating.claim_validation(world.transaction.pk)
    assert validation is not None
    assert validation.call is not None
    let_leases_run_out()
    world.validate()
    Transaction.objects.update(revision=CASES["DUR-147"]["given"]["revision"])
    before = Transaction.objects.values().get()
    stale = replace(validation, revision=5)

    with worker_of(world):
        execution.prevalidate(world.transaction.pk, gateway=world.gateway)
        execution.reconcile(world.transaction.pk, gateway=world.gateway)
        world.think()
    verdict, answer, error = execution._read_validator(stale, validator_of(["Jogos Dia"])(validation.call))
    applied = validating.record_verdict(stale, execution._judge(stale, verdict), answer=answer, error=error)

    assert not applied
    assert Transaction.objects.values().get() == before
    assert [item["label"] for item in world.confirmation.items] == LABELS
    assert action_calls(world) == 0


# What occupies a conversation ------------------------------------------


@pytest.mark.parametrize("id_", [id_ for id_, case in CASES.items() if "insert" in case["when"]])
def test_one_transaction_occupies_a_conversation_and_what_waits_outside_does_not(id_: str) -> None:
    given, when, then = (CASES[id_][key] for key in ("given", "when", "then"))
    conversation = World(shop.shop()).conversation
    for held in given["conversation"]:
        insert(conversation, "PARKED" if held.get("parked") else held["status"])

    try:
        with atomic():
            insert(conversation, when["insert"]["status"])
        accepted = True
    except IntegrityError:
        accepted = False

    assert accepted is then["accepted"]
    assert Transaction.objects.occupying().count() == then.get("occupying", 1)


def test_a_second_transaction_that_would_occupy_the_conversation_is_refused_by_the_database() -> None:
    conversation = World(shop.shop()).conversation
    insert(conversation, "EXECUTING")

    with pytest.raises(IntegrityError), atomic():
        insert(conversation, "COLLECTING_PARAMETERS")


# The clock ------------------------------------------


@pytest.fixture(params=[1, -1], ids=["ahead", "behind"])
def wrong_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> timedelta:
    """The clock of this process is an hour off; that of the database is not."""
    jump = timedelta(hours=request.param)
    right = timezone.now
    monkeypatch.setattr("django.utils.timezone.now", lambda: right() + jump)
    monkeypatch.setattr("time.time", lambda: (right() + jump).timestamp())
    return jump


def test_dur_082_a_question_and_a_lease_last_as_long_as_the_database_says(wrong_clock: timedelta) -> None:
    world = awaiting()
    sweeper.run_once()
    assert world.transaction.status == "AWAITING_CONFIRMATION"

    world.says("sim")
    attempt = Attempt.objects.get()
    assert executing.claim(attempt.pk) is not None
    assert executing.claim(attempt.pk) is None
    with worker_of(world):
        sweeper.run_once()
    assert Attempt.objects.get().status == "READY"

    let_leases_run_out()
    with worker_of(world):
        sweeper.run_once()
    assert world.transaction.status == "SUCCESS"


def test_dur_082_a_message_is_found_by_the_sweeper_whatever_clock_stored_it(wrong_clock: timedelta) -> None:
    world = World(shop.shop())
    opens(world, "solicitar_devolucao", {"order_id": "PED-1001"})
    turn = world.sends("ficou apertado")
    world.model.script({EXTRACTION: {"kind": "answers_pending", "values": {"reason": "ficou apertado"}}})
    assert abs(turn.created_at - database_now()) < timedelta(minutes=30)
    let_turns_grow_old()

    with worker_of(world):
        sweeper.run_once()

    assert world.transaction.status == "AWAITING_CONFIRMATION"
    assert abs(world.transaction.created_at - database_now()) < timedelta(minutes=30)


RUNTIME = Path(sweeper.__file__).parent
CLOCKS = {"timezone.now", "datetime.now", "datetime.utcnow", "datetime.today", "time.time"}
OWN_TIME = {"sessions.py", "admin.py", "management/commands/apikey.py"}
"""Tokens and keys: their time is that of the process that signs or revokes them; no transaction depends on it."""


def clocks_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = f"{node.value.id}.{node.attr}"
            yield from [f"{path.relative_to(RUNTIME)}:{node.lineno} {name}"] if name in CLOCKS else ()


def test_dur_082_nothing_but_the_database_tells_the_runtime_what_time_it_is() -> None:
    paths = [path for path in RUNTIME.rglob("*.py") if str(path.relative_to(RUNTIME)) not in OWN_TIME]

    assert [found for path in sorted(paths) for found in clocks_in(path)] == []
    assert "auto_now" not in (RUNTIME / "models.py").read_text("utf-8")


# Answers that an older version stored ------------------------------------------

RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "recorded_answers.jsonl").read_text("utf-8").splitlines()
]
"""Raw answers as they stood in the table of attempts, and what they came to when they were recorded."""


def settled(raw: Any) -> dict[str, Any]:
    """What the answer ``raw`` of a call for three items comes to, today."""
    world = confirmed()
    sent(world)
    Attempt.objects.update(status="ANSWERED", raw_answer=raw, answered_at=database_now())

    sweeper.run_once()

    transaction, attempt = world.transaction, Attempt.objects.get()
    items = transaction.items.order_by("position")
    return {
        "status": transaction.status,
        "multi_item_status": transaction.multi_item_status,
        "normalised": attempt.normalised,
        "items": [
            [item.label, item.status, item.verdict_source, item.reason, item.protocol, item.unconfirmed]
            for item in items
        ],
    }


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded["what"])
def test_dur_088_an_answer_that_an_older_version_stored_comes_to_the_same(recorded: dict[str, Any]) -> None:
    assert settled(recorded["raw_answer"]) == recorded["result"]
