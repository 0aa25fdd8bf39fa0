"""What broke off with the database before anything was sent is free for the next process at once (runtime.md §9.1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.transaction import atomic

from tests.runtime import shop
from tests.runtime.staging import opens
from tests.runtime.world import World
from transactions import execution
from transactions.models import Attempt
from transactions.services import executing, turning

pytestmark = [
    pytest.mark.runtime,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="only a server can break off a connection"),
]

BREAK_OFF = """
    CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END';
    CREATE TRIGGER break_off BEFORE UPDATE ON transactions_attempt
        FOR EACH ROW WHEN (NEW.status = 'SENT') EXECUTE FUNCTION break_off();
"""


@contextmanager
def nobody_is_woken() -> Iterator[None]:
    """What is committed here wakes no thread of this process: the test alone does the work."""
    with atomic():
        yield
        connection.run_on_commit.clear()


@pytest.fixture
def broken_gate(transactional_db: None) -> Iterator[None]:
    """The database ends the connection of whoever passes the gate."""
    with connection.cursor() as cursor:
        cursor.execute(BREAK_OFF)
    yield
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION break_off CASCADE")


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_broke_off_with_the_database_is_given_back_on_a_new_connection() -> None:
    with nobody_is_woken():
        world = World(shop.shop())
        world.sends("queria cancelar a Música Mais")

    def break_off(_payload: Any) -> Any:
        connection.connection.close()
        return {"kind": "something_else", "values": {}}

    world.model.script({"intent_routing": break_off, "transaction_parameter_extraction": break_off})

    with pytest.raises(OperationalError):
        world.think()
    connection.close()

    assert turning.claim_turns(world.conversation.pk) is not None


@pytest.mark.usefixtures("broken_gate")
def test_a_claim_that_broke_off_with_the_database_is_given_back_and_not_counted() -> None:
    with nobody_is_woken():
        world = World(shop.shop())
        opens(world, "cancelar_vas_avulso", {"subject": "Música Mais"})
        world.says("sim")
    attempt = Attempt.objects.get()

    with pytest.raises(OperationalError):
        execution.execute(attempt.pk, gateway=world.gateway)
    connection.close()

    attempt.refresh_from_db()
    assert (attempt.status, attempt.claims, attempt.leased_until) == ("READY", 0, None)
    assert world.gateway.calls == []
    assert executing.claim(attempt.pk) is not None
