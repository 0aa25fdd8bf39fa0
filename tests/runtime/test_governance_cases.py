"""The cases of governance.jsonl about running transactions; tests/tooling/test_governance_cases.py names them all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.builders import a_user
from tests.loading import cases
from tests.runtime import shop
from tests.runtime.staging import ROUTING, all_done, opens, shift_to
from tests.runtime.test_execution import confirmed
from tests.runtime.test_reviewing import told, undecided
from tests.runtime.world import World, rows
from tooling import publishing
from tooling.specs import CacheSpec, OperationType, Text
from transactions.core.errors import ConfirmationClosed, InvalidItems
from transactions.core.statuses import ReviewState, VerdictSource
from transactions.services.reviewing import review

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]
CASES = {case["id"]: case for case in cases("governance")}
TOOL = "cancelar_vas_avulso"


def test_gov_007_a_read_only_tool_without_confirmation_runs_without_a_question() -> None:
    given = CASES["GOV-007"]["given"]
    definitions = shop.with_policy(
        shop.shop(),
        "consultar_faturas",
        operation_type=OperationType(given["operation_type"]),
        require_confirmation=given["require_confirmation"],
    )
    world = World(definitions)
    world.gateway.answers("consultar_faturas", rows({"name": "março", "ok": True}))
    world.model.script({ROUTING: shift_to("fatura")})

    world.says("quero ver minhas faturas")
    world.work()

    assert world.transaction.confirmations.count() == CASES["GOV-007"]["then"]["confirmations"]
    assert len(world.gateway.calls_of("consultar_faturas")) == 1


def asked() -> World:
    """Two items wait for an answer."""
    world = World(shop.shop())
    world.gateway.answers(TOOL, all_done)
    opens(world, TOOL, {"subject": "Música Mais, Livros Falados"})
    return world


def test_gov_010_the_confirmation_of_somebody_else_and_another_set_of_items_are_refused() -> None:
    world, other = asked(), asked()
    held, before = other.confirmation, len(other.events)

    with pytest.raises(ConfirmationClosed):
        world.answers(confirmation_id=str(held.pk), decision="confirm")
    with pytest.raises(InvalidItems):
        other.answers(confirmation_id=str(held.pk), decision="confirm", item_keys=["not-one-of-them"])

    held.refresh_from_db()
    assert (held.status, len(other.events)) == ("open", before)


def test_gov_013_a_confirmation_outlives_a_release_that_changes_only_labels() -> None:
    world = asked()
    definitions = shop.shop()
    tools = dict(definitions.tools)
    tools[TOOL] = replace(tools[TOOL], description=Text("another text"))

    world.publish(replace(definitions, tools=tools))
    world.says("sim")
    world.work()

    assert (world.transaction.release, world.transaction.status) == (1, "SUCCESS")


def test_gov_027_two_operators_that_review_are_both_in_the_events() -> None:
    world = undecided()

    review(world.transaction.pk, state=ReviewState.ACKNOWLEDGED, note="mine", actor=str(a_user("ana")))
    review(world.transaction.pk, state=ReviewState.NEEDED, note="not mine", actor=str(a_user("rui")))

    assert [event.data["by"] for event in told(world, "review.changed")] == ["ana", "rui"]


def test_gov_031_review_states_and_verdict_sources_are_exactly_these() -> None:
    then = CASES["GOV-031"]["then"]

    assert [state.value for state in ReviewState] == then["review_states"]
    assert [source.value for source in VerdictSource] == then["verdict_sources"]


def test_gov_040_what_is_cached_for_reading_is_called_again_for_an_action() -> None:
    definitions = shop.shop()
    tools = dict(definitions.tools)
    tools[TOOL] = replace(tools[TOOL], cache=CacheSpec(True, 60))
    world = World(replace(definitions, tools=tools))
    world.gateway.answers(TOOL, all_done)

    for _ in range(2):
        opens(world, TOOL, {"subject": "Música Mais"})
        world.says("sim")
        world.work()

    assert len(world.gateway.calls_of(TOOL)) == CASES["GOV-040"]["then"]["calls"]


def test_a_running_transaction_is_untouched_by_a_roll_back() -> None:
    world = confirmed()
    world.publish(shop.with_policy(shop.shop(), TOOL, max_items=1))

    publishing.roll_back(1, "back")
    world.work()

    assert (world.transaction.release, world.transaction.status) == (1, "SUCCESS")
