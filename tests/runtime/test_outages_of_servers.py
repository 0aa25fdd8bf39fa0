"""What an ill-behaved MCP server does to a transaction in the end: one call, and nothing claimed that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runtime.desk import attempts, calls_of, confirmed, desk, done, result
from tests.runtime.world import World
from tests.tooling.mcp_servers import Behaviour, Exchange, Hostile, hostile
from tooling.mcp_client import McpGateway
from transactions import sweeper

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

LABELS = "Música Mais, Livros Falados, Craque 10"


@pytest.fixture
def gateway() -> Iterator[McpGateway]:
    gateway = McpGateway()
    yield gateway
    gateway.close()


def played(server: Hostile, gateway: McpGateway, *, seconds: float = 5) -> World:
    """Three items are confirmed, the server does what it does, and sweepers come by."""
    world = confirmed(server.spec, gateway, LABELS, timeout_seconds=seconds)
    world.work()
    for _ in range(3):
        sweeper.run_once()
    return world


def check_unknown(world: World, server: Hostile) -> None:
    assert (attempts(world), world.transaction.status) == (["UNKNOWN"], "VERIFYING")
    assert set(world.transaction.items.values_list("status", flat=True)) == {"UNKNOWN"}
    assert len(calls_of(server)) == 1
    told = [event.kind for event in world.events if event.kind.startswith("transaction.")]
    assert told[-1] == "transaction.verifying"
    assert "transaction.finished" not in told


def no_json(exchange: Exchange) -> None:
    exchange.raw(b"<html>502</html>")


def half_an_answer(exchange: Exchange) -> None:
    exchange.raw(b'{"jsonrpc": "2.0", "id": 1, "result": {"structuredContent"')


def nothing_at_all(exchange: Exchange) -> None:
    exchange.close()


def an_event_stream_that_ends_early(exchange: Exchange) -> None:
    exchange.events(b"event: ping\ndata: {}")


def a_reset(exchange: Exchange) -> None:
    exchange.reset()


SILENT: list[Behaviour] = [no_json, half_an_answer, nothing_at_all, an_event_stream_that_ends_early, a_reset]


@pytest.mark.parametrize("behave", SILENT)
def test_an_answer_that_cannot_be_read_leaves_every_item_unknown(behave: Behaviour, gateway: McpGateway) -> None:
    with hostile(desk(behave)) as server:
        check_unknown(played(server, gateway), server)


def test_an_answer_that_comes_after_the_time_of_the_policy_is_unknown_and_not_asked_for_again(
    gateway: McpGateway,
) -> None:
    def too_late(exchange: Exchange) -> None:
        exchange.released.wait(3)
        done(exchange)

    with hostile(desk(too_late)) as server:
        check_unknown(played(server, gateway, seconds=1), server)


def test_a_second_answer_to_the_same_call_changes_nothing(gateway: McpGateway) -> None:
    """The first says that all was done, the second that all failed, on the same connection."""

    def twice(exchange: Exchange) -> None:
        done(exchange)
        keys = exchange.message["params"]["_meta"]["agentplatform/item_keys"]
        exchange.result(result({"results": [{"item_key": key["key"], "success": False} for key in keys]}))

    with hostile(desk(twice)) as server:
        world = played(server, gateway)

        assert len(calls_of(server)) == 1
        following = confirmed(server.spec, gateway, "Outro")
        following.work()

    assert (attempts(world), world.transaction.status) == (["ANSWERED"], "SUCCESS")
    assert world.kinds().count("transaction.finished") == 1
    assert following.transaction.attempts.get().status == "ANSWERED"


def test_a_second_answer_in_an_event_stream_changes_nothing(gateway: McpGateway) -> None:
    import json

    def twice(exchange: Exchange) -> None:
        keys = exchange.message["params"]["_meta"]["agentplatform/item_keys"]
        answers = [
            {"jsonrpc": "2.0", "id": exchange.id, "result": result({"results": rows})}
            for rows in (
                [{"item_key": key["key"], "success": True} for key in keys],
                [{"item_key": key["key"], "success": False} for key in keys],
            )
        ]
        exchange.events(*(b"event: message\ndata: " + json.dumps(answer).encode() for answer in answers))

    with hostile(desk(twice)) as server:
        world = played(server, gateway)

        assert len(calls_of(server)) == 1
    assert (attempts(world), world.transaction.status) == (["ANSWERED"], "SUCCESS")
