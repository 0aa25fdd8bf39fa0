"""Rows that show an outcome are what their chained events say; each column that is not is named (runtime.md §9.2)."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Model

from tests.runtime import retries
from tests.runtime import test_parking as parking
from tests.runtime import test_reviewing as reviewing
from tests.runtime import test_workflows as flows
from tests.runtime.desk import ACTION
from tests.runtime.durability import LABELS, asked, awaiting, confirmed, sent
from tests.runtime.fakes import answered
from tests.runtime.world import World, rows
from tooling.gateway import NotSent
from transactions import outbox
from transactions.api.evidence import bundle_of
from transactions.core.evidence import Wrong, link
from transactions.core.statuses import ItemStatus
from transactions.models import Confirmation, Conversation, Event, Item, Transaction, Turn
from transactions.services import retrying
from transactions.services.evidence import Tally, verify
from transactions.services.rows import entry_of

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]


@pytest.fixture(autouse=True)
def no_one_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is committed wakes nobody: the test is the worker."""
    for work in outbox.RUNNERS:
        monkeypatch.setitem(outbox.RUNNERS, work, "tests.chat_channel:leave_for_later")


def findings() -> list[str]:
    return [finding.detail for _, finding in verify(Tally())]


# Rows in the middle of their life ------------------------------------------


def partly_failed() -> World:
    """One item succeeded, one failed with a reason, one is not eligible."""
    world = confirmed()
    world.gateway.answers(
        ACTION,
        rows(
            {"name": LABELS[0], "success": True, "protocol": "P-1"},
            {"name": LABELS[1], "success": False, "reason": "já cancelado"},
            {"name": LABELS[2], "success": False, "error": "java.lang.NullPointerException\n\tat a.b.C(C.java:1)"},
        ),
    )
    world.work()
    return world


def changed_at_the_confirmation() -> World:
    world = awaiting()
    keys = [item["key"] for item in world.confirmation.items]
    world.answers("confirm", item_keys=keys[:2])
    world.validate()
    return world


def rejected() -> World:
    world = awaiting()
    world.says("não")
    return world


def expired() -> World:
    world = awaiting()
    world.expire()
    return world


def refused() -> World:
    world = asked()
    world.gateway.answers("validar", answered({"eligible": False, "error": "conta bloqueada"}))
    world.validate()
    return world


def in_flight() -> World:
    world = confirmed()
    sent(world)
    return world


def not_sent_yet() -> World:
    world = confirmed()
    world.gateway.answers(ACTION, NotSent("connection refused"))
    world.execute()
    return world


def resolved_in_part() -> World:
    world = reviewing.undecided()
    reviewing.settles(world, LABELS[0], ItemStatus.SUCCEEDED, protocol="P-9")
    return world


def answered_late() -> World:
    """The late answer settles nothing, and says why it does not."""
    world = reviewing.undecided()
    reviewing.answers_late(world, {"name": LABELS[0], "success": None, "reason": "fila cheia"})
    return world


def retried() -> World:
    world = retries.a_world()
    child = retrying.retry(retries.finished(world).pk, by="ana")
    assert isinstance(child, Transaction)
    return world


def in_a_workflow() -> World:
    world = flows.confirmed()
    world.work()
    return world


LIVES: dict[str, Callable[[], World]] = {
    "the validator is due": asked,
    "a question is open": awaiting,
    "confirmed": confirmed,
    "changed at the confirmation": changed_at_the_confirmation,
    "rejected": rejected,
    "expired": expired,
    "refused": refused,
    "a call is in flight": in_flight,
    "a call that was not sent is due again": not_sent_yet,
    "partly failed": partly_failed,
    "being verified": reviewing.undecided,
    "resolved in part": resolved_in_part,
    "a late answer that settles nothing": answered_late,
    "set aside": parking.parked,
    "tried again": retried,
    "in a workflow": in_a_workflow,
}


@pytest.mark.parametrize("life", LIVES)
def test_a_healthy_row_is_accused_at_no_point_of_its_life(life: str) -> None:
    world = LIVES[life]()

    assert findings() == []
    for transaction in world.transactions:
        assert bundle_of(transaction)["transaction"]["id"] == str(transaction.pk)


# One changed column ------------------------------------------

TABLES: dict[str, type[Model]] = {
    "transactions_transaction": Transaction,
    "transactions_item": Item,
    "transactions_confirmation": Confirmation,
    "transactions_turn": Turn,
}
CHANGES: dict[str, list[tuple[str, str, str]]] = {
    # a point of a life: (table, column, what it is changed to)
    "partly failed": [
        ("transactions_transaction", "status", "SUCCESS"),
        ("transactions_transaction", "multi_item_status", "SUCCESS"),
        ("transactions_transaction", "reason_code", "not_sent"),
        ("transactions_transaction", "reason", "because"),
        ("transactions_transaction", "review_state", "resolved"),
        ("transactions_transaction", "release", "7"),
        ("transactions_transaction", "tool", "other"),
        ("transactions_transaction", "arguments", "{}"),
        ("transactions_transaction", "pre_validation", '{"eligible": false}'),
        ("transactions_transaction", "pre_validation", "[1]"),
        ("transactions_item", "status", "NOT_EXECUTED"),
        ("transactions_item", "label", "?"),
        ("transactions_item", "protocol", "FAKE"),
        ("transactions_item", "reason", "?"),
        ("transactions_confirmation", "status", "rejected"),
        ("transactions_confirmation", "answered_by", "button"),
        ("transactions_turn", "text", "não"),
        ("transactions_turn", "client_message_id", "x"),
    ],
    "a question is open": [
        ("transactions_transaction", "status", "EXECUTING"),
        ("transactions_transaction", "arguments", '{"subject": {"value": "x", "source": "extraction"}}'),
        ("transactions_item", "status", "SUCCEEDED"),
        ("transactions_item", "status", "INELIGIBLE"),
        ("transactions_item", "protocol", "FAKE"),
        ("transactions_item", "reason", "?"),
        ("transactions_item", "label", "?"),
        ("transactions_confirmation", "status", "confirmed"),
    ],
    "being verified": [
        ("transactions_item", "status", "FAILED"),
        ("transactions_item", "protocol", "FAKE"),
        ("transactions_transaction", "status", "FAILED"),
    ],
    "changed at the confirmation": [("transactions_item", "status", "EXCLUDED")],
    "rejected": [("transactions_confirmation", "status", "confirmed"), ("transactions_item", "status", "FAILED")],
    "expired": [("transactions_confirmation", "status", "replaced")],
}
ONE_BY_ONE = [(life, *change) for life, changes in CHANGES.items() for change in changes]
IN_NO_BUNDLE = {("transactions_turn", "text"), ("transactions_turn", "client_message_id")} | {
    ("transactions_transaction", "reason")
}
"""What a bundle does not show; the message that it shows is its event's."""


def tampered(table: str, column: str, value: str) -> Any:
    """Change one column of the first row that does not say so already, as SQL does it; gives the row's key."""
    row = TABLES[table].objects.exclude(**{column: value} if value[0] not in "[{" else {}).order_by("pk").first()
    assert row is not None
    with connection.cursor() as cursor:
        key = row.pk.hex if connection.vendor == "sqlite" and hasattr(row.pk, "hex") else row.pk
        cursor.execute(f"UPDATE {table} SET {column} = %s WHERE id = %s", [value, key])  # noqa: S608 - names of ours
        assert cursor.rowcount == 1
    return row


@pytest.mark.parametrize(("life", "table", "column", "value"), ONE_BY_ONE)
def test_one_changed_column_is_found_and_named(life: str, table: str, column: str, value: str) -> None:
    world = LIVES[life]()

    row = tampered(table, column, value)

    (found,) = verify(Tally())
    conversation, finding = found
    assert conversation == str(world.conversation.pk)
    assert finding.wrong is Wrong.CHANGED
    name = row.key if isinstance(row, Item) else str(row.pk)
    assert table in finding.detail and name in finding.detail and f" {column} " in finding.detail


@pytest.mark.parametrize(
    ("life", "table", "column", "value"), [case for case in ONE_BY_ONE if case[1:3] not in IN_NO_BUNDLE]
)
def test_no_bundle_is_signed_of_a_changed_column(life: str, table: str, column: str, value: str) -> None:
    world = LIVES[life]()

    row = tampered(table, column, value)

    name = row.key if isinstance(row, Item) else str(row.pk)
    with pytest.raises(CommandError) as caught:
        call_command("evidence_bundle", str(world.transaction.pk), stdout=io.StringIO())
    assert table in str(caught.value) and name in str(caught.value) and column in str(caught.value)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("transactions_transaction", "arguments", "[]"),
        ("transactions_transaction", "arguments", '{"subject": "x"}'),
        ("transactions_transaction", "pre_validation", '"yes"'),
        ("transactions_attempt", "steps", '{"node": 1}'),
    ],
)
def test_a_row_of_which_no_record_can_be_made_is_named(table: str, column: str, value: str) -> None:
    world = partly_failed()
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {column} = %s", [value])  # noqa: S608 - names of ours

    with pytest.raises(CommandError, match=rf"{table} .*: {column} (is no|holds no)") as caught:
        call_command("evidence_bundle", str(world.transaction.pk), stdout=io.StringIO())

    assert str(world.transaction.pk) in str(caught.value)


def test_an_item_that_was_deleted_and_one_that_was_added_are_named() -> None:
    partly_failed()
    first, second, _ = Item.objects.order_by("position")
    Item.objects.filter(pk=first.pk).delete()
    Item.objects.filter(pk=second.pk).update(key="other")

    named = {(finding.wrong, finding.detail.split()[1]) for _, finding in verify(Tally())}

    assert named == {(Wrong.MISSING, first.key), (Wrong.MISSING, second.key), (Wrong.INSERTED, "other")}


def test_a_confirmed_item_that_was_hidden_among_the_unconfirmed_is_named() -> None:
    partly_failed()
    item = Item.objects.order_by("position")[1]

    Item.objects.filter(pk=item.pk).update(unconfirmed=True)

    (found,) = findings()
    assert item.key in found


def test_a_message_that_no_event_holds_is_named() -> None:
    world = awaiting()
    world.answers("reject")

    Turn.objects.exclude(answer=None).update(text="sim")

    assert [" text is in no event" in found for found in findings()] == [True]


def without_fingerprints(conversation: Conversation) -> None:
    """The chain as a release wrote it that knew no fingerprints of arguments, and no event of a redirect."""
    head = ""
    rows_of_chain = list(Event.objects.filter(conversation=conversation).order_by("number"))
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER IF EXISTS transactions_event_refuses_update")
        else:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("ALTER TABLE transactions_event DISABLE TRIGGER USER")
    for event in rows_of_chain:
        event.data = {key: held for key, held in event.data.items() if key not in SEALS}
        head = event.hash = link(head, entry_of(event).content())
        event.save()
    Conversation.objects.filter(pk=conversation.pk).update(chain_head=head)


SEALS = ("arguments_sha256", "pre_validation_sha256", "reason_sha256")


def test_rows_that_are_older_than_the_fingerprints_are_not_accused() -> None:
    world = partly_failed()
    without_fingerprints(world.conversation)

    Transaction.objects.update(arguments={}, tool="other")

    assert findings() == []


def test_a_broken_column_is_named_where_no_fingerprint_is_kept() -> None:
    world = partly_failed()
    without_fingerprints(world.conversation)

    Transaction.objects.update(arguments=[])

    assert findings() == [f"transactions_transaction {world.transaction.pk}: arguments is no object"]
