"""The lines of durability.jsonl about outcomes that nobody knows: verified against a server that knows what it did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.runtime import shop
from tests.runtime.desk import (
    ACTION,
    ASK,
    VALIDATOR,
    Books,
    attempts,
    calls_of,
    confirmed,
    first_lost,
    with_reconcile_tool,
)
from tests.runtime.durability import CASES, LABELS, Killed, item_statuses, let_leases_run_out, worker_of
from tests.runtime.world import World
from tests.tooling.mcp_servers import Exchange, hostile
from tooling.gateway import Call, Outcome
from tooling.mcp_client import McpGateway
from tooling.specs import Idempotency
from transactions import execution, sweeper
from transactions.models import Attempt

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

THREE = ", ".join(LABELS)
RULES = {"reconcile": {"reconcile_tool": ASK}, "resend": {"idempotency": Idempotency.KEY}, "nothing": {}}


@pytest.fixture
def gateway() -> Iterator[McpGateway]:
    gateway = McpGateway()
    yield gateway
    gateway.close()


class Dying:
    """A gateway in a worker that is killed while its call is on its way; the server hears it."""

    def __init__(self, gateway: McpGateway) -> None:
        self.gateway = gateway

    def call(self, call: Call) -> Outcome:
        self.gateway.call(call)
        raise Killed

    def list_tools(self, *args: Any) -> Any:
        return self.gateway.list_tools(*args)


def closes(exchange: Exchange) -> None:
    exchange.close()


def hangs(exchange: Exchange) -> None:
    exchange.hang()


def test_dur_055_what_a_killed_worker_had_the_server_do_is_found_out_and_not_done_again(gateway: McpGateway) -> None:
    then = CASES["DUR-055"]["then"]
    books = Books(first_lost(lambda exchange: exchange.result({"content": [], "structuredContent": {"ok": True}})))
    with hostile(books) as server:
        world = confirmed(server.spec, gateway, THREE, **RULES["reconcile"])
        with pytest.raises(Killed):
            execution.execute(Attempt.objects.get().pk, gateway=Dying(gateway))
        let_leases_run_out()
        with worker_of(world):
            sweeper.run_once()
        assert (attempts(world), world.transaction.status) == ([then["attempt"]], then["status"])

        world.verify()

        assert world.transaction.status == then["after_reconcile"]
        assert books.effects_per_item == then["effects_per_item_at_most"]
        assert len(calls_of(server)) == 1


def test_dur_118_with_a_key_the_same_call_is_made_again_and_done_once(gateway: McpGateway) -> None:
    then = CASES["DUR-118"]["then"]
    books = Books(first_lost(hangs))
    with hostile(books) as server:
        world = confirmed(server.spec, gateway, THREE, timeout_seconds=1, **RULES["resend"])
        world.work()
        assert world.transaction.status == "VERIFYING"

        world.verify()
        world.work()

        first, again = calls_of(server)
    same = first["_meta"]["agentplatform/idempotency_key"] == again["_meta"]["agentplatform/idempotency_key"]
    assert (same, first["arguments"]) == (then["resend_with_same_key"], again["arguments"])
    assert books.effects_per_item == then["effects_per_item_at_most"]
    assert (world.transaction.status, item_statuses(world)) == ("SUCCESS", {"SUCCEEDED"})


def test_dur_070_a_refusal_after_a_resend_is_a_failure_with_its_reason(gateway: McpGateway) -> None:
    then = CASES["DUR-070"]["then"]
    books = Books(first_lost(closes), refusal=then["reason_kept"])
    with hostile(books) as server:
        world = confirmed(server.spec, gateway, **RULES["resend"])
        world.work()

        world.verify()
        world.work()

    item = world.transaction.items.get()
    assert (item.status, item.reason) == (then["item"], then["reason_kept"])


@pytest.mark.parametrize("means", ["reconcile", "nothing"])
def test_dur_119_without_a_key_nothing_is_sent_again(gateway: McpGateway, means: str) -> None:
    then = CASES["DUR-119"]["then"]
    with hostile(Books(first_lost(closes))) as server:
        world = confirmed(server.spec, gateway, THREE, **RULES[means])
        world.work()

        assert item_statuses(world) == {then["items"]}
        assert world.last("transaction.verifying").data["status"] == "VERIFYING"
        assert "sendo verificado" in world.last("transaction.verifying").data["text"].lower()
        world.verify()
        for _ in range(3):
            with worker_of(world):
                sweeper.run_once()

        assert (len(calls_of(server)) > 1) is then["resent"]
        assert bool(calls_of(server, ASK)) is (means == "reconcile" and then["reconcile_called_if_declared"])


def test_dur_144_the_outcome_of_a_disabled_tool_is_asked_for_and_the_tool_is_not_called(gateway: McpGateway) -> None:
    case = CASES["DUR-144"]
    with hostile(Books(first_lost(closes))) as server:
        world = confirmed(server.spec, gateway, THREE, **RULES["reconcile"])
        world.work()
        disable(world)

        for _ in range(case["when"]["sweeper_runs"]):
            world.verify()

        assert bool(calls_of(server, ASK)) is case["then"]["reconcile_tool_may_run"]
        assert (len(calls_of(server)) > 1) is case["then"]["action_tool_called"]
    assert world.transaction.status == "SUCCESS"


def disable(world: World) -> None:
    definitions = with_reconcile_tool(shop.with_validator(shop.shop(), ACTION, VALIDATOR))
    world.publish(shop.with_tool(definitions, replace(definitions.tools[ACTION], enabled=False)))
