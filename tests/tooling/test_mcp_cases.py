"""The cases of the topic mcp that a call through the gateway decides; the others are decided by the runtime."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.loading import cases
from tests.services import free_port
from tests.tooling.mcp_servers import GOOD, Exchange, hostile
from tooling.gateway import Answered, Call, NoAnswer, NotSent
from tooling.mcp_client import McpGateway
from tooling.specs import ServerSpec

RUNTIME = "played in tests/runtime/test_mcp_cases.py"
ELSEWHERE = {
    "MCP-003": RUNTIME,
    "MCP-005": RUNTIME,
    "MCP-007": RUNTIME,
    "MCP-008": RUNTIME,
    "MCP-014": RUNTIME,
    "MCP-019": RUNTIME,
    "MCP-021": RUNTIME,
    "MCP-037": RUNTIME,
    "MCP-042": RUNTIME,
    "MCP-043": RUNTIME,
    "MCP-046": RUNTIME,
    "MCP-047": RUNTIME,
}
FAULTS = {
    "reset": lambda exchange: exchange.reset(),
    "timeout": lambda exchange: exchange.hang(),
    "half an answer": lambda exchange: exchange.raw(b'{"jsonrpc"', length=100, headers="connection: close\r\n"),
    "500": lambda exchange: exchange.raw(b"", 500),
    "bad JSON": lambda exchange: exchange.raw(b"{"),
}


@pytest.fixture
def gateway():
    """A gateway of the test's own, closed afterwards."""
    gateway = McpGateway()
    yield gateway
    gateway.close()


@pytest.mark.parametrize("case", cases("mcp"), ids=lambda case: case["id"])
def test_mcp(case, gateway):
    if case["id"] in ELSEWHERE:
        pytest.skip(ELSEWHERE[case["id"]])
    DRIVERS[case["id"]](case, gateway)


def post_only(case, _gateway):
    """The server answers 405 to the GET with which the 2025 protocol opens a stream."""
    gateway = McpGateway("legacy")
    with hostile(sessions=True) as server:
        outcome = gateway.call(server.call())
        gateway.close()

        assert isinstance(outcome, Answered)


def broken_stream(case, gateway):
    def behave(exchange: Exchange) -> None:
        exchange.events(b'id: 1\nretry: 10\ndata: {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}')

    with hostile(behave) as server:
        assert isinstance(gateway.call(server.call()), NoAnswer)
        assert len(server.posts) == case["then"]["posts_of_the_action"]


def restarts(case, gateway):
    with hostile() as server:
        outcomes = []
        for _ in range(10):
            outcomes.append(gateway.call(server.call()))
            server.stop()
            server.start()

        broken = [outcome for outcome in outcomes if not isinstance(outcome, Answered)]
        assert len(broken) == case["then"]["broken_workers"]


def parallel(case, gateway):
    def behave(exchange: Exchange) -> None:
        exchange.result(GOOD | {"structuredContent": exchange.message["params"]["arguments"], "resultType": "complete"})

    with hostile(behave) as server, ThreadPoolExecutor(100) as threads:
        numbers = range(100)
        outcomes = list(threads.map(lambda number: gateway.call(server.call(number=number)), numbers))

    assert [outcome.structured["number"] for outcome in outcomes] == list(numbers)


def refused(case, gateway):
    outcome = gateway.call(Call(ServerSpec("s", endpoint=f"http://127.0.0.1:{free_port()}/mcp"), "do", {}))

    assert isinstance(outcome, NotSent)
    assert outcome.again


def faults(case, gateway):
    for name, behave in FAULTS.items():
        with hostile(behave) as server:
            outcome = gateway.call(server.call(seconds=1))

            assert isinstance(outcome, NoAnswer), name
            assert len(server.posts) == case["then"]["posts_of_the_action_per_attempt"], name


def wrong_id(case, gateway):
    for body in ({"id": 424242, "result": GOOD}, {"result": GOOD}):
        with hostile(lambda exchange, body=body: exchange.json({"jsonrpc": "2.0", **body})) as server:
            outcome = gateway.call(server.call())

            assert isinstance(outcome, NoAnswer)
            assert outcome.raw["result"] == GOOD


def slow(case, gateway):
    """Slower than any time limit of the transport below would allow, in proportion."""

    def behave(exchange: Exchange) -> None:
        exchange.released.wait(1)
        exchange.result({"resultType": "complete", **GOOD})

    with hostile(behave) as server:
        assert isinstance(gateway.call(server.call(seconds=4)), Answered)


def tool_error(case, gateway):
    trace = "Traceback (most recent call last):\n  ZeroDivisionError"
    result = {"resultType": "complete", "content": [{"type": "text", "text": trace}], "isError": True}
    with hostile(lambda exchange: exchange.result(result)) as server:
        outcome = gateway.call(server.call())

    assert isinstance(outcome, Answered)
    assert outcome.is_error
    assert outcome.raw["content"][0]["text"] == trace


def reading(case, gateway):
    """The answer arrives as the case writes it; which part of it counts is said by what is not None."""
    answer = case["when"]["answer"]
    wire = {"resultType": "complete", "content": answer.get("content", [])}
    if answer.get("structured_content") is not None:
        wire["structuredContent"] = answer["structured_content"]
    if answer.get("is_error"):
        wire["isError"] = True
    with hostile(lambda exchange: exchange.result(wire)) as server:
        outcome = gateway.call(server.call())

    assert isinstance(outcome, Answered)
    assert outcome.texts == tuple(block["text"] for block in wire["content"])
    assert outcome.is_error == bool(answer.get("is_error"))
    assert outcome.structured == (answer.get("structured_content") or None)


def meta(case, gateway):
    items = case["given"]["items"]
    keys = items if isinstance(items, list) else [{"key": f"k{n}", "label": f"Item {n}"} for n in range(items)]
    given = {
        "agentplatform/idempotency_key": "key",
        "agentplatform/transaction_id": "id",
        "agentplatform/item_keys": keys,
        "agentplatform/request_digest": "sha256:0",
    }
    with hostile() as server:
        gateway.call(Call(server.spec, "do", {}, given))

        arrived = server.posts[0]["params"]["_meta"]
        assert {name: arrived[name] for name in given} == json.loads(json.dumps(given))


DRIVERS = {
    "MCP-010": post_only,
    "MCP-011": broken_stream,
    "MCP-013": restarts,
    "MCP-015": parallel,
    "MCP-016": refused,
    "MCP-020": faults,
    "MCP-022": wrong_id,
    "MCP-024": slow,
    "MCP-025": tool_error,
    "MCP-026": reading,
    "MCP-027": reading,
    "MCP-029": reading,
    "MCP-031": reading,
    "MCP-033": reading,
    "MCP-036": meta,
    "MCP-048": meta,
}
