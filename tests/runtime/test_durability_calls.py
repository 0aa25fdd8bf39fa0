"""The lines of durability.jsonl about the one call: what a real server does to it, and what that comes to (§9.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.runtime import shop
from tests.runtime.desk import ACTION, VALIDATOR, attempts, calls_of, desk, done, result
from tests.runtime.desk import asked as at_the_desk
from tests.runtime.desk import confirmed as confirmed_at_the_desk
from tests.runtime.durability import (
    CASES,
    LABELS,
    action_calls,
    check,
    confirmed,
    effects_per_item,
    item_statuses,
)
from tests.runtime.staging import all_done
from tests.runtime.world import World
from tests.tooling.mcp_servers import Behaviour, Exchange, Hostile, hostile
from tooling.gateway import NotSent
from tooling.mcp_answers import LARGEST
from tooling.mcp_client import McpGateway
from transactions import execution, sweeper
from transactions.core.statuses import AttemptStatus
from transactions.models import Attempt, Event, Transaction
from transactions.services import executing
from transactions.services.calls import request_key

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

SECONDS = 1
"""The time that a tool has in these tests; nothing waits for it but what never answers."""


@pytest.fixture
def gateway() -> Iterator[McpGateway]:
    gateway = McpGateway()
    yield gateway
    gateway.close()


# What the server does ------------------------------------------


def too_large(exchange: Exchange) -> None:
    """One byte more than is read of an answer."""
    frame = b'{"jsonrpc": "2.0", "id": %d, "result": {"content": [], "structuredContent": {"a": "' % exchange.id
    end = b'"}}}'
    exchange.raw(frame + b"x" * (LARGEST + 1 - len(frame) - len(end)) + end)


def broken_off(exchange: Exchange) -> None:
    exchange.raw(b'{"jsonrpc": "2.0", "id"', length=500)
    exchange.reset()


def error_without_rows(exchange: Exchange) -> None:
    exchange.result(result({"message": "sem saldo"}, isError=True))


IN_WORDS: dict[str, Behaviour] = {
    "the stream breaks in the middle of the answer": broken_off,
    "an answer of 10 MiB and one byte": too_large,
    "the answer is larger than 10 MiB": too_large,
    "is_error true without rows": error_without_rows,
    "the server accepts the connection and never answers": lambda exchange: exchange.hang(),
}


def behaviour_of(happens: str) -> Behaviour | None:
    """What a server does that a case describes as ``happens``; None: the case is not about that."""
    if found := re.fullmatch(r"HTTP (\d{3})( each time)?", happens):
        return lambda exchange: exchange.raw(b"no", int(found[1]))
    if found := re.fullmatch(r"JSON-RPC (-\d+)", happens):
        return lambda exchange: exchange.error(int(found[1]))
    return IN_WORDS.get(happens)


WIRE = [id_ for id_, case in CASES.items() if behaviour_of(case["when"].get("happens", "")) is not None]

AGAINST_THE_RULE = {"DUR-175": {"items": "NOT_EXECUTED"}}
"""DUR-175 calls the item of a tool that does not exist FAILED. runtime.md §9.4 says of -32601 and -32602 alike that
nothing ran and the items are NOT_EXECUTED, as DUR-176 does; the rule wins, everything else of the case holds."""


def facts(world: World, server: Hostile) -> dict[str, Callable[[], Any]]:
    """What the ``then`` of a case about one call may say."""
    calls = calls_of(server)
    return {
        "attempt": lambda: Attempt.objects.values_list("status", flat=True).distinct().get(),
        "tries": lambda: len(attempts(world)),
        "posts_of_the_action": lambda: len(calls),
        "same_key": lambda: len({call["_meta"]["agentplatform/idempotency_key"] for call in calls}) == 1,
        "items": lambda: world.transaction.items.values_list("status", flat=True).distinct().get(),
        "status": lambda: world.transaction.status,
        "reason_code": lambda: world.transaction.reason_code,
        "reason_code_if_any": lambda: world.transaction.reason_code or "outcome_unknown",
        "by": lambda: "the timeout of the policy" if f"{SECONDS} s" in Attempt.objects.get().failure else "",
        "never": lambda: "FAILED or a second call" if world.transaction.status != "FAILED" and len(calls) == 1 else "",
    }


@pytest.mark.parametrize("id_", WIRE)
def test_what_a_server_does_decides_what_is_known(id_: str, gateway: McpGateway) -> None:
    case = CASES[id_]
    behave = behaviour_of(case["when"]["happens"])
    assert behave is not None
    labels = ", ".join(case["given"].get("items", LABELS))
    with hostile(desk(behave)) as server:
        world = confirmed_at_the_desk(server.spec, gateway, labels, timeout_seconds=SECONDS)

        world.work()
        sweeper.run_once()

        check({**case["then"], **AGAINST_THE_RULE.get(id_, {})}, facts(world, server))


NOT_SENT = [id_ for id_, case in CASES.items() if "connect_errors" in case["when"]]


@pytest.mark.parametrize("id_", NOT_SENT)
def test_refused_connections_are_tried_again_with_the_same_key(id_: str) -> None:
    case = CASES[id_]
    world = confirmed(case["given"]["items"])
    world.gateway.answers(ACTION, *[NotSent("connection refused")] * case["when"]["connect_errors"], all_done)

    world.work()

    tried = attempts(world)
    check(
        {key: value for key, value in case["then"].items() if value != "from the answer"},
        {
            "attempts_not_sent": lambda: tried.count("NOT_SENT"),
            "tries": lambda: len(tried),
            "items": lambda: item_statuses(world).pop(),
            "status": lambda: world.transaction.status,
            "reason_code": lambda: world.transaction.reason_code,
            "action_effects": lambda: tried.count("ANSWERED"),
            "effects_per_item_at_most": lambda: action_calls(world) - tried.count("NOT_SENT"),
        },
    )
    if case["then"]["status"] == "from the answer":
        assert (world.transaction.status, item_statuses(world)) == ("SUCCESS", {"SUCCEEDED"})


def test_dur_178_a_validator_whose_connection_breaks_is_called_three_times(gateway: McpGateway) -> None:
    then = CASES["DUR-178"]["then"]
    with hostile(desk(validate=lambda exchange: exchange.reset())) as server:
        world = at_the_desk(server.spec, gateway, timeout_seconds=SECONDS)

        world.validate()

        assert len(calls_of(server, VALIDATOR)) == then["validator_calls"]
        assert not calls_of(server)
    assert (world.transaction.status, world.transaction.reason_code) == ("REFUSED", "pre_validation_unavailable")


def test_dur_178_a_validator_is_not_called_again_after_its_time(gateway: McpGateway) -> None:
    with hostile(desk(validate=lambda exchange: exchange.hang())) as server:
        world = at_the_desk(server.spec, gateway)
        definitions = shop.with_policy(
            shop.with_validator(shop.shop(), ACTION, VALIDATOR), VALIDATOR, timeout_seconds=1
        )
        world.publish(replace(definitions, servers={"loja": replace(server.spec, name="loja")}))
        Transaction.objects.update(release=2)

        world.validate()

        assert len(calls_of(server, VALIDATOR)) == 1


# The answer ------------------------------------------


def test_dur_064_an_answer_that_breaks_its_schema_and_names_no_item_is_verified(gateway: McpGateway) -> None:
    """open: §4 reads such an answer all the same. One without rows proves nothing about three items ..."""
    schema = {"type": "object", "required": ["results"]}
    with hostile(
        desk(lambda exchange: exchange.result(result({"done": "x"}))), output_schema=schema, tool=ACTION
    ) as server:
        world = confirmed_at_the_desk(server.spec, gateway, ", ".join(LABELS))
        world.work()
        sweeper.run_once()

        assert len(calls_of(server)) == 1
    assert world.transaction.status == CASES["DUR-064"]["then"]["status"]
    assert Attempt.objects.get().raw_answer["structured"] == {"done": "x"}


def test_dur_064_rows_that_are_well_formed_count_although_the_schema_is_broken(gateway: McpGateway) -> None:
    """... and rows that are well formed are accounted, with an incident that says what is wrong (§4)."""
    schema = {"type": "object", "properties": {"results": {"type": "string"}}}
    with hostile(desk(done), output_schema=schema, tool=ACTION) as server:
        world = confirmed_at_the_desk(server.spec, gateway, ", ".join(LABELS))
        world.work()

    assert world.transaction.status == "SUCCESS"
    assert Attempt.objects.get().raw_answer["schema_error"]
    assert "schema" in str(world.incidents()[0].data)


def rows_for(*labels: str, **more: Any) -> Behaviour:
    """A success row for each of ``labels``."""
    rows = [{"name": label, "success": True} for label in labels]
    return lambda exchange: exchange.result(result({"results": rows}, **more))


def test_dur_065_a_confirmed_item_that_the_answer_leaves_out_is_unknown(gateway: McpGateway) -> None:
    then = CASES["DUR-065"]["then"]
    with hostile(desk(rows_for(*LABELS[:2]))) as server:
        world = confirmed_at_the_desk(server.spec, gateway, ", ".join(LABELS))
        world.work()

    statuses = dict(world.transaction.items.values_list("label", "status"))
    assert statuses == {LABELS[0]: "SUCCEEDED", LABELS[1]: "SUCCEEDED", LABELS[2]: then["item"]}
    assert world.transaction.status == then["status"]


def test_dur_066_an_item_that_nobody_confirmed_is_an_incident_and_no_success(gateway: McpGateway) -> None:
    with hostile(desk(rows_for(*LABELS, "Jogos Dia"))) as server:
        world = confirmed_at_the_desk(server.spec, gateway, ", ".join(LABELS))
        world.work()

    assert world.transaction.items.get(unconfirmed=True).label == "Jogos Dia"
    assert len(world.incidents()) == 1
    assert world.last("transaction.finished").data["counts"]["succeeded"] == len(LABELS)


def test_dur_069_an_error_with_rows_of_success_keeps_the_successes(gateway: McpGateway) -> None:
    then = CASES["DUR-069"]["then"]
    with hostile(desk(rows_for(*LABELS, isError=True))) as server:
        world = confirmed_at_the_desk(server.spec, gateway, ", ".join(LABELS))
        world.work()

    envelope = Attempt.objects.get().normalised
    assert {key: envelope[key] for key in then["envelope"]} == then["envelope"]
    assert "secondary_error" in envelope
    assert (item_statuses(world), world.transaction.status) == ({"SUCCEEDED"}, "SUCCESS")


def test_dur_157_a_single_yes_reports_nothing_about_several_items(gateway: McpGateway) -> None:
    case = CASES["DUR-157"]
    with hostile(desk(lambda exchange: exchange.result(result(case["when"]["answer"])))) as server:
        world = confirmed_at_the_desk(server.spec, gateway)
        world.work()

    assert world.transaction.multi_item_status == case["then"]["multi_item_status"]
    assert world.transaction.status == case["then"]["status"]


# The keys ------------------------------------------


def keys_of(world: World) -> tuple[set[Any], list[Any]]:
    """The request keys and the item keys of every try."""
    metas = [call.meta for call in world.gateway.calls_of(ACTION)]
    return {meta["agentplatform/idempotency_key"] for meta in metas}, [
        meta["agentplatform/item_keys"] for meta in metas
    ]


@pytest.mark.parametrize(("id_", "failures"), [("DUR-129", 1), ("DUR-185", 4)])
def test_dur_129_dur_185_every_try_carries_the_same_keys(id_: str, failures: int) -> None:
    then: Mapping[str, Any] = CASES[id_]["then"]
    world = confirmed()
    world.gateway.answers(ACTION, *[NotSent("connection refused")] * failures, all_done)

    world.work()

    keys, items = keys_of(world)
    assert len(items) == min(failures + 1, executing.SEND_LIMIT)
    check(
        then,
        {
            "keys_equal": lambda: len(keys) == 1,
            "request_keys": lambda: len(keys),
            "item_keys_stable": lambda: all(item == items[0] for item in items),
            "key_derives_from": lambda: "the transaction only" if keys == {request_key(world.transaction)} else "",
        },
    )


# The gate ------------------------------------------


def test_dur_128_the_gate_stays_shut_for_a_worker_whose_lease_another_has() -> None:
    world = confirmed()
    attempt = Attempt.objects.get()
    assert executing.claim(attempt.pk) is not None

    execution.execute(attempt.pk, gateway=world.gateway)

    assert action_calls(world) == CASES["DUR-128"]["then"]["action_calls"]
    assert Attempt.objects.get().status == AttemptStatus.READY


def switched_off(definitions: Any) -> Any:
    return shop.with_tool(definitions, replace(definitions.tools[ACTION], enabled=False))


@pytest.mark.parametrize("id_", ["DUR-072", "DUR-184"])
def test_dur_072_dur_184_a_tool_disabled_after_the_yes_is_not_called(id_: str) -> None:
    world = confirmed()
    world.publish(switched_off(shop.with_validator(shop.shop(), ACTION, VALIDATOR)))

    world.work()

    told = world.last("transaction.finished").data["text"]
    check(
        CASES[id_]["then"],
        {
            "action_calls": lambda: action_calls(world),
            "attempt": lambda: Attempt.objects.get().status,
            "items": lambda: item_statuses(world).pop(),
            "status": lambda: world.transaction.status,
            "reason_code": lambda: world.transaction.reason_code,
            "user_told": lambda: "nothing was done" if "nada foi feito" in told else told,
        },
    )


def test_dur_074_an_address_that_changes_meanwhile_is_not_that_of_a_running_transaction(gateway: McpGateway) -> None:
    with hostile(desk()) as old, hostile(desk()) as new:
        world = confirmed_at_the_desk(old.spec, gateway)
        moved = shop.with_validator(shop.shop(), ACTION, VALIDATOR)
        world.publish(replace(moved, servers={"loja": replace(new.spec, name="loja")}))

        world.work()

        assert (len(calls_of(old)), len(calls_of(new))) == (1, 0)
    assert (world.transaction.release, world.transaction.status) == (1, "SUCCESS")


def test_an_attempt_that_was_never_sent_says_so_to_operators() -> None:
    world = confirmed()
    world.gateway.answers(ACTION, NotSent("connection refused"), all_done)

    world.work()

    assert Event.objects.filter(kind="attempt.not_sent").count() == 1
    assert effects_per_item(world) == 2  # asked twice, told once: the first never left
