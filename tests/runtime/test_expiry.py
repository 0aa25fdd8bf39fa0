"""Time ends what nobody answers: announced once, told honestly, and never a thing that the user did."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.runtime import shop
from tests.runtime.staging import opens
from tests.runtime.world import World
from transactions import sweeper
from transactions.core.reminders import LEAD_SECONDS, WORTH_SECONDS
from transactions.models import Confirmation, Event, Transaction
from transactions.services.rows import database_now

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]


def asked(*, lifetime: int = WORTH_SECONDS, left: int = LEAD_SECONDS // 2, locale: str = "pt-BR") -> World:
    """Two orders wait for a yes; the question was open for ``lifetime`` seconds in all, ``left`` are left."""
    world = World(shop.shop(), locale=locale)
    opens(world, "cancelar_pedidos", {"order_ids": ["PED-1", "PED-2"]})
    set_times(lifetime=lifetime, left=left)
    return world


def set_times(*, lifetime: int, left: int) -> None:
    end = database_now() + timedelta(seconds=left)
    begun = end - timedelta(seconds=lifetime)
    Transaction.objects.update(expires_at=end, created_at=begun)
    Confirmation.objects.update(expires_at=end, created_at=begun)


def warnings(world: World) -> list[str]:
    return [event.data["text"] for event in world.events if event.kind == "assistant.message"]


@pytest.mark.parametrize(("locale", "words"), [("pt-BR", "nada será feito"), ("en", "nothing will be done")])
def test_the_user_is_warned_once_before_a_confirmation_expires(locale: str, words: str) -> None:
    world = asked(locale=locale)

    for _ in range(3):
        sweeper.run_once()

    (text,) = warnings(world)
    assert words in text
    assert world.transaction.status == "AWAITING_CONFIRMATION"


def test_a_yes_after_the_warning_still_counts() -> None:
    world = asked()
    sweeper.run_once()

    world.says("sim")

    assert world.transaction.status == "EXECUTING"


def test_a_question_with_time_left_or_a_short_life_is_not_announced() -> None:
    early = asked(left=LEAD_SECONDS * 2, lifetime=WORTH_SECONDS * 2)
    sweeper.run_once()
    assert warnings(early) == []

    set_times(lifetime=LEAD_SECONDS, left=LEAD_SECONDS // 2)
    sweeper.run_once()

    assert warnings(early) == []


def test_collecting_is_announced_too_and_a_new_answer_gives_new_time() -> None:
    world = World(shop.shop())
    opens(world, "solicitar_devolucao", {"order_id": "PED-1"})
    set_times(lifetime=WORTH_SECONDS, left=LEAD_SECONDS // 2)

    sweeper.run_once()

    assert "expira" in warnings(world)[-1]
    opens(world, "solicitar_devolucao", {"reason": "ficou apertado"})
    assert world.transaction.warned_at is None


def test_expiry_is_told_honestly_and_attributed_to_time() -> None:
    world = asked()
    world.expire()

    finished = world.last("transaction.finished")

    assert (finished.data["status"], finished.data["reason_code"]) == ("EXPIRED", "expired")
    assert "nada foi feito" in finished.data["text"].lower()
    moved = Event.objects.filter(kind="transaction.moved").order_by("-id")[0]
    assert (finished.actor, moved.actor) == ("system", "system")


def test_what_expires_while_the_sweeper_was_away_is_not_announced_any_more() -> None:
    world = asked(left=-3600)

    sweeper.run_once()

    assert warnings(world) == []
    assert world.transaction.status == "EXPIRED"
