"""Whatever a conversation was like: a draft that changes nothing changes nothing in it, and no row stays."""

from __future__ import annotations

import pytest
from django.db.transaction import atomic, set_rollback
from hypothesis import HealthCheck, Phase, event, given, note, settings
from hypothesis import strategies as st

from tests.runtime.test_algebra import Life, own_workers
from tooling import catalog
from transactions.models import Event, Transaction
from transactions.rehearsal.history import Why
from transactions.rehearsal.replaying import chosen, replay

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

STEPS = 12
EXPECTED = {Why.RETRY, Why.NO_TEXT, Why.DIFFERENT, Why.NOT_KEPT}
"""What a random life may be like: its own clock and its crossing messages are not in what is played, and a message
that still waits, or was given up, has no reading."""

__all__ = ["own_workers"]


@pytest.mark.usefixtures("own_workers")
@pytest.mark.timeout(600)
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(data=st.data())
def test_the_same_definitions_never_differ_in_any_life(data: st.DataObject) -> None:
    with atomic():
        life = Life(data.draw)
        for _ in range(STEPS):
            step = data.draw(st.sampled_from(life.steps()))
            note(step.__name__)
            step()
        rows = (Transaction.objects.count(), Event.objects.count())

        for transaction in Transaction.objects.filter(pk__in=chosen(5)).select_related("conversation"):
            result = replay(transaction, catalog.release(transaction.release).definitions)
            event(str(result.why))
            assert result.why is None or result.why in EXPECTED
            assert (result.differences, result.before) == ((), result.after)

        assert (Transaction.objects.count(), Event.objects.count()) == rows
        set_rollback(True)
