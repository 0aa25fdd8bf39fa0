"""Evidence is written once, bound together, and any row that is not as it was written is named (runtime.md §9.2)."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.db.transaction import atomic, set_rollback
from django.test.utils import CaptureQueriesContext

from tests.builders import an_event
from tests.runtime import shop
from tests.runtime.test_execution import confirmed
from tests.runtime.world import World
from tooling.gateway import NoAnswer
from transactions.core.errors import StaleTransaction
from transactions.core.evidence import START, Finding, Wrong, fingerprint, link
from transactions.failpoints import VARIABLE, FailpointHit
from transactions.models import Attempt, Confirmation, Conversation, Event, EventIsFinal
from transactions.services.conversations import open_conversation
from transactions.services.evidence import Tally, verify
from transactions.services.rows import entry_of, hold, record

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

SEALED = ["transactions_event", "transactions_attempt", "transactions_confirmation"]


def findings() -> list[Finding]:
    return [finding for _, finding in verify(Tally())]


def named() -> list[tuple[Wrong, int | None, str]]:
    return [(finding.wrong, finding.number, finding.kind) for finding in findings()]


def chain(world: World) -> list[Event]:
    return list(Event.objects.filter(conversation=world.conversation).order_by("number"))


def event_of(kind: str) -> Event:
    return Event.objects.get(kind=kind)


@contextmanager
def without_triggers() -> Iterator[Callable[..., None]]:
    """What somebody with all rights on the database can do; gives what executes SQL."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for table in SEALED:
                cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        else:
            for table in SEALED:
                cursor.execute(f"DROP TRIGGER IF EXISTS {table}_refuses_update")
        yield lambda sql, *values: cursor.execute(sql, values)


def settled() -> World:
    world = confirmed()
    world.work()
    return world


# Writing ------------------------------------------


def test_every_event_of_a_life_is_numbered_and_bound_to_the_one_before_it() -> None:
    world = settled()

    events = chain(world)

    previous = START
    for number, event in enumerate(events, 1):
        assert event.number == number
        assert event.hash == link(previous, entry_of(event).content())
        previous = event.hash
    conversation = Conversation.objects.get(pk=world.conversation.pk)
    assert (conversation.chain_length, conversation.chain_head) == (len(events), previous)
    assert {event.seq is None for event in events} == {True, False}


def test_an_event_costs_three_statements_of_which_one_writes_the_conversation() -> None:
    world = settled()

    for is_public in (True, False):
        with atomic():
            conversation = hold(world.conversation.pk)
            with CaptureQueriesContext(connection) as queries:
                record(conversation, "incident", {}, is_public=is_public)
        verbs = [query["sql"].split()[0] for query in queries]
        assert sorted(verbs) == ["INSERT", "SELECT", "UPDATE"]


def test_a_conversation_that_is_not_held_writes_no_event() -> None:
    world = settled()
    stale = Conversation.objects.get(pk=world.conversation.pk)
    record(hold(world.conversation.pk), "incident", {})
    before = len(chain(world))

    with pytest.raises(StaleTransaction), atomic():
        record(stale, "incident", {})

    assert len(chain(world)) == before
    assert findings() == []


def test_a_message_is_written_with_its_turn() -> None:
    confirmed()

    turns = set(Event.objects.filter(kind="user.message").values_list("turn__text", "data__text"))

    assert len(turns) == 2
    assert all(text == told for text, told in turns)


def test_the_request_and_the_raw_answer_are_in_the_chain() -> None:
    settled()

    attempt = Attempt.objects.get()
    sent, answered = event_of("attempt.sent"), event_of("attempt.answered")
    assert sent.data == {"attempt": 1, "request_sha256": fingerprint(attempt.request)}
    assert answered.data == {"attempt": 1, "raw_answer_sha256": fingerprint(attempt.raw_answer)}
    assert answered.seq is None
    assert answered.number is not None
    assert answered.number < Event.objects.get(kind="transaction.finished").number


def test_the_raw_answer_and_its_event_are_committed_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    world = confirmed()
    monkeypatch.setenv(VARIABLE, "recorded:raise")

    with pytest.raises(FailpointHit):
        world.execute()

    assert Attempt.objects.get().raw_answer is not None
    assert event_of("attempt.answered").number == Conversation.objects.get(pk=world.conversation.pk).chain_length
    assert findings() == []


def test_what_came_back_without_an_answer_is_in_the_chain() -> None:
    world = confirmed()
    world.gateway.answers("cancelar_vas_avulso", NoAnswer("broken", raw={"status": 502, "body": "…"}))

    world.work()

    attempt = Attempt.objects.get()
    assert event_of("attempt.unknown").data["raw_answer_sha256"] == fingerprint({"status": 502, "body": "…"})
    assert attempt.raw_answer == {"status": 502, "body": "…"}
    assert findings() == []


def test_numbers_that_a_database_writes_in_another_way_are_no_finding() -> None:
    world = confirmed()
    odd = {"a": 1.0, "b": 1e16, "c": 1e300, "d": -0.0, "e": 1e-7, "f": 10**30, "g": [2.50, "é\u0000", True, None]}
    world.gateway.answers("cancelar_vas_avulso", NoAnswer("broken", raw={**odd, "g": [2.50, "é"]}))

    world.work()
    record(hold(world.conversation.pk), "incident", odd, model_calls=[{"ms": 12.0, "ok": True}])

    assert findings() == []


# Refusing ------------------------------------------


@pytest.mark.parametrize(
    "forbidden",
    [
        lambda: Event.objects.filter(kind="attempt.sent").update(data={}),
        lambda: Event.objects.update(seq=None),
        lambda: event_of("attempt.sent").save(update_fields=["data"]),
        lambda: Attempt.objects.update(raw_answer={"results": []}),
        lambda: Attempt.objects.update(raw_answer=None),
        lambda: Attempt.objects.update(request={}),
        lambda: Confirmation.objects.update(text="Confirma?"),
        lambda: Confirmation.objects.update(items=[]),
        lambda: Confirmation.objects.update(digest="sha256:00"),
    ],
)
def test_the_database_refuses_a_change_of_evidence(forbidden: Callable[[], object]) -> None:
    settled()

    with pytest.raises(IntegrityError, match="is evidence: it is written once and never changed"), atomic():
        forbidden()

    assert findings() == []


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite empties test databases row by row")
@pytest.mark.parametrize("table", SEALED)
def test_postgresql_refuses_that_evidence_is_deleted(table: str) -> None:
    settled()

    with pytest.raises(IntegrityError, match="is evidence"), atomic(), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - a name of ours


def test_the_product_itself_deletes_no_event() -> None:
    settled()

    with pytest.raises(EventIsFinal):
        Event.objects.all().delete()
    with pytest.raises(EventIsFinal):
        event_of("attempt.sent").delete()


def test_the_rest_of_an_attempt_and_of_a_confirmation_still_moves() -> None:
    settled()

    Attempt.objects.update(failure="x", normalised={"ok": True})
    Confirmation.objects.update(answered_at=None)

    assert findings() == []


# Verifying ------------------------------------------


def tampered(sql: str, *values: Any) -> None:
    with without_triggers() as execute:
        execute(sql, *values)


def test_a_life_as_it_was_written_has_no_finding() -> None:
    settled()
    tally = Tally()

    assert list(verify(tally)) == []
    assert (tally.conversations, tally.events, tally.older) == (1, Event.objects.count(), 0)


@pytest.mark.parametrize(
    ("column", "kind", "noun"),
    [("raw_answer", "attempt.answered", "raw answer"), ("request", "attempt.sent", "request")],
)
def test_a_changed_request_or_raw_answer_is_named_by_its_event(column: str, kind: str, noun: str) -> None:
    world = settled()

    tampered(f"UPDATE transactions_attempt SET {column} = %s", '{"results": []}')  # noqa: S608 - a name of ours

    (finding,) = findings()
    assert (finding.wrong, finding.number, finding.kind) == (Wrong.CHANGED, event_of(kind).number, kind)
    assert finding.detail == f"the {noun} of attempt 1 of transaction {world.transaction.pk} is not what was recorded"


@pytest.mark.parametrize(
    ("column", "value", "kind"),
    [
        ("text", "Confirma?", "confirmation.requested"),
        ("items", "[]", "confirmation.requested"),
        ("digest", "sha256:00", "confirmation.opened"),
    ],
)
def test_a_changed_confirmation_is_named_by_its_event(column: str, value: str, kind: str) -> None:
    settled()

    tampered(f"UPDATE transactions_confirmation SET {column} = %s", value)  # noqa: S608 - a name of ours

    (finding,) = findings()
    assert (finding.wrong, finding.kind, column in finding.detail) == (Wrong.CHANGED, kind, True)


def test_a_deleted_attempt_and_a_deleted_confirmation_are_named() -> None:
    settled()

    with without_triggers() as execute:
        execute("DELETE FROM transactions_attempt")
        execute("DELETE FROM transactions_confirmation")

    assert [finding.wrong for finding in findings()] == [Wrong.MISSING, Wrong.MISSING]


def test_an_answer_that_no_event_speaks_of_is_named() -> None:
    world = confirmed()
    attempt = Attempt.objects.get()

    tampered("UPDATE transactions_attempt SET raw_answer = %s", '{"results": []}')

    (finding,) = findings()
    assert finding.wrong is Wrong.INSERTED
    assert (
        finding.detail
        == f"the raw answer of attempt {attempt.number} of transaction {world.transaction.pk} is in no event"
    )


def test_an_event_that_lost_its_fingerprint_is_named_once() -> None:
    settled()
    number = event_of("attempt.answered").number

    tampered("UPDATE transactions_event SET data = %s WHERE kind = 'attempt.answered'", '{"attempt": 1}')

    assert named() == [(Wrong.CHANGED, number, "attempt.answered")]


def test_a_conversation_without_any_of_its_events_is_named() -> None:
    world = settled()
    length = len(chain(world))

    tampered("DELETE FROM transactions_event")

    assert named() == [(Wrong.MISSING, number, "") for number in range(1, length + 1)]


def test_what_is_older_than_the_chain_is_counted_and_no_finding() -> None:
    world = World(shop.shop())
    an_event(world.conversation, "user.message", {"text": "oi"})
    world.conversation.refresh_from_db()
    record(hold(world.conversation.pk), "incident", {})
    tally = Tally()

    assert list(verify(tally)) == []
    assert (tally.events, tally.older) == (2, 1)


# One row of ten thousand ------------------------------------------

CONVERSATIONS, EACH = 8, 1250


def ten_thousand() -> list[Conversation]:
    """Conversations with 10,000 events, bound as the product binds them."""
    world = World(shop.shop())
    made = []
    for _ in range(CONVERSATIONS):
        conversation = open_conversation(world.conversation.channel, locale="pt-BR", identity={})
        at, head, events = conversation.created_at, START, []
        for number in range(1, EACH + 1):
            event = Event(conversation=conversation, kind="items.progress", seq=number, number=number, at=at)
            event.data = {"done": number, "total": EACH}
            head = event.hash = link(head, entry_of(event).content())
            events.append(event)
        Event.objects.bulk_create(events, batch_size=500)
        Conversation.objects.filter(pk=conversation.pk).update(last_seq=EACH, chain_length=EACH, chain_head=head)
        made.append(conversation)
    return made


def verified() -> tuple[list[str], bool]:
    """What the command prints, and whether it failed."""
    out = io.StringIO()
    try:
        call_command("verify_evidence", stdout=out)
    except CommandError:
        return out.getvalue().splitlines(), True
    return out.getvalue().splitlines(), False


TAMPERINGS: dict[str, tuple[list[tuple[str, list[Any]]], list[str]]] = {
    "changed": (
        [("UPDATE transactions_event SET data = %s WHERE conversation_id = %s AND number = 700", ['{"done": 1}'])],
        ["event 700 items.progress: changed"],
    ),
    "changed at the end": (
        [("UPDATE transactions_event SET data = %s WHERE conversation_id = %s AND number = 1250", ["{}"])],
        ["event 1250 items.progress: changed"],
    ),
    "deleted": (
        [("DELETE FROM transactions_event WHERE conversation_id = %s AND number = 700", [])],
        ["event 700 -: missing"],
    ),
    "deleted at the end": (
        [("DELETE FROM transactions_event WHERE conversation_id = %s AND number = 1250", [])],
        ["event 1250 -: missing"],
    ),
    "numbers exchanged": (
        [
            ("UPDATE transactions_event SET number = 9999 WHERE conversation_id = %s AND number = 300", []),
            ("UPDATE transactions_event SET number = 300 WHERE conversation_id = %s AND number = 700", []),
            ("UPDATE transactions_event SET number = 700 WHERE conversation_id = %s AND number = 9999", []),
        ],
        [
            "event 300 items.progress: reordered: it was written as number 700",
            "event 700 items.progress: reordered: it was written as number 300",
        ],
    ),
    "places in the table exchanged": (
        [
            ("UPDATE transactions_event SET id = -id WHERE conversation_id = %s AND number IN (300, 700)", []),
            ("UPDATE transactions_event SET id = 400 - id WHERE conversation_id = %s AND number = 300", []),
            ("UPDATE transactions_event SET id = -400 - id WHERE conversation_id = %s AND number = 700", []),
        ],
        [
            "event 300 items.progress: reordered: it was moved in the table, behind later events",
            "event 700 items.progress: reordered: it was moved in the table, before earlier events",
        ],
    ),
    "renumbered": (
        [("UPDATE transactions_event SET number = 1300 WHERE conversation_id = %s AND number = 700", [])],
        ["event 1300 items.progress: reordered: it was written as number 700"],
    ),
}


def test_one_row_of_ten_thousand_that_is_changed_deleted_or_moved_is_found_and_named() -> None:
    struck = ten_thousand()[3].pk
    stored = struck.hex if connection.vendor == "sqlite" else struck
    assert verified() == (["10000 events of 9 conversations read, 0 older than the chain"], False)

    for name, (statements, expected) in TAMPERINGS.items():
        with atomic():
            with without_triggers() as execute:
                for sql, values in statements:
                    execute(sql, *values, stored)
            lines, has_failed = verified()
            set_rollback(True)

        assert has_failed, name
        assert len(lines) == len(expected) + 1, (name, lines)
        for wanted in expected:
            assert any(line.startswith(f"{struck} {wanted}") for line in lines), (name, wanted, lines)


def test_one_conversation_can_be_verified_alone() -> None:
    one = settled()
    other = open_conversation(one.conversation.channel, locale="pt-BR", identity={})
    record(hold(other.pk), "incident", {})
    tampered("UPDATE transactions_event SET kind = 'x' WHERE kind = 'incident'")
    out = io.StringIO()

    call_command("verify_evidence", "--conversation", str(one.conversation.pk), stdout=out)
    with pytest.raises(CommandError, match="1 row is not as written"):
        call_command("verify_evidence", "--conversation", str(other.pk), stdout=out)
    with pytest.raises(CommandError, match="there is no conversation"):
        call_command("verify_evidence", "--conversation", str(other.pk).replace("4", "5"), stdout=out)

    assert f"{other.pk} event 1 x: changed" in out.getvalue()
