"""What is known about a call is written, however often the database breaks off meanwhile (runtime.md §9.2)."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection

from tests.runtime import shop
from tests.runtime.staging import all_done, opens
from tests.runtime.world import World
from tooling.gateway import Call, NotSent
from transactions.keeping import written
from transactions.leases import kept_alive
from transactions.models import Attempt
from transactions.services import accounting, executing
from transactions.services.executing import Claim

pytestmark = pytest.mark.runtime


@pytest.mark.django_db(transaction=True)
def test_what_could_not_be_written_is_written_again_on_a_new_connection() -> None:
    broken: list[object] = []

    def write() -> None:
        connection.ensure_connection()
        broken.append(connection.connection)
        if len(broken) < 3:
            raise OperationalError("server closed the connection unexpectedly")

    written(write)

    assert len(broken) == len({id(one) for one in broken}) == 3


@pytest.mark.django_db(transaction=True)
def test_what_the_database_will_never_take_is_not_tried_again() -> None:
    tries: list[int] = []

    def write() -> None:
        tries.append(1)
        raise IntegrityError("no")

    with pytest.raises(IntegrityError):
        written(write)

    assert len(tries) == 1


@pytest.mark.django_db(transaction=True)
def test_a_lease_is_renewed_again_after_the_connection_broke(settings: Any) -> None:
    settings.LEASE_SECONDS = 0.03
    used: list[object] = []
    renewed = threading.Event()

    def renew() -> None:
        connection.ensure_connection()
        used.append(connection.connection)
        if len(used) < 3:
            raise OperationalError("server closed the connection unexpectedly")
        renewed.set()

    with kept_alive(renew):
        assert renewed.wait(20)

    assert len({id(one) for one in used[:3]}) == 3


def sent() -> tuple[World, Claim, Call]:
    """One item, confirmed, and a worker past the gate."""
    world = World(shop.shop())
    opens(world, "cancelar_vas_avulso", {"subject": "Música Mais"})
    world.says("sim")
    claim = executing.claim(Attempt.objects.get().pk)
    assert claim is not None
    call = executing.gate(claim)
    assert call is not None
    return world, claim, call


@pytest.mark.django_db
def test_a_commit_that_was_reported_as_lost_and_had_happened_is_harmless_to_repeat() -> None:
    world, claim, _ = sent()

    for _ in range(2):
        executing.record_not_sent(claim, NotSent("connection refused"))

    assert list(Attempt.objects.values_list("number", "status")) == [(1, "NOT_SENT"), (2, "READY")]
    assert world.transaction.status == "EXECUTING"


@pytest.mark.django_db
def test_an_answer_that_is_recorded_twice_counts_once() -> None:
    world, claim, call = sent()

    for _ in range(2):
        executing.record_answer(claim, all_done(call))
    accounting.settle(claim.attempt_id)
    executing.record_answer(claim, all_done(call))

    assert world.transaction.status == "SUCCESS"
    assert world.kinds().count("transaction.finished") == 1
