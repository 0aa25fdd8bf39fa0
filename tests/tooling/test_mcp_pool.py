"""Many calls, servers that come and go, children, and what this installation does not connect to."""

import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.services import wait_until
from tests.tooling.mcp_servers import STDIO_SCRIPT, Demo, Hostile, hostile, stdio_spec
from tooling import mcp_client, mcp_pool
from tooling.gateway import Answered, Call, NoAnswer, NotSent
from tooling.mcp_client import McpGateway
from tooling.mcp_targets import Target, refusal_of_addresses, target_of
from tooling.specs import ServerSpec, Transport

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(params=["auto", "legacy"])
def gateway(request):
    """A gateway that speaks the 2026 protocol, and one that speaks only 2025."""
    gateway = McpGateway(request.param)
    yield gateway
    gateway.close()


@pytest.fixture
def children(monkeypatch):
    """A gateway that may start children of this Python."""
    monkeypatch.setenv("MCP_STDIO_COMMANDS", f"node, {sys.executable}")
    gateway = McpGateway()
    yield gateway
    gateway.close()


def echo(exchange):
    exchange.result(
        {"resultType": "complete", "content": [], "structuredContent": exchange.message["params"]["arguments"]}
    )


def answered_in(gateway, call, *, tries=4):
    """The answer, tried again as the runtime would: only after proof that nothing was sent."""
    for _ in range(tries):
        outcome = gateway.call(call)
        if not isinstance(outcome, NotSent):
            return outcome
    return outcome


# Many calls ---------------------------------------------------------------------------------------------------


def test_a_hundred_calls_at_once_get_their_own_answers(gateway):
    with hostile(echo, sessions=gateway.mode == "legacy") as server, ThreadPoolExecutor(100) as threads:
        outcomes = list(threads.map(lambda number: gateway.call(server.call(number=number)), range(100)))

        assert [outcome.structured for outcome in outcomes] == [{"number": number} for number in range(100)]
        assert len(server.posts) == 100


def test_a_server_that_hangs_holds_no_call_to_another(gateway):
    with hostile(lambda exchange: exchange.hang()) as frozen, hostile() as well, ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(gateway.call, frozen.call(seconds=20))
        wait_until(lambda: frozen.posts, what="the call to the server that hangs")

        outcome = gateway.call(well.call())

        assert isinstance(outcome, Answered)
        assert not waiting.done()
        frozen.released.set()


def test_a_server_that_takes_connections_and_says_nothing_is_not_sent_and_is_tried_anew(gateway, monkeypatch):
    monkeypatch.setattr(mcp_pool, "OPEN_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = Hostile(port=silent.getsockname()[1])

        outcome = gateway.call(server.call())

    server.start()
    afterwards = gateway.call(server.call())
    server.stop()
    assert outcome == NotSent("could not connect: no answer within 0 s")
    assert isinstance(afterwards, Answered)


def test_a_call_has_no_more_time_for_connecting_than_its_own(gateway):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = Hostile(port=silent.getsockname()[1])

        assert gateway.call(server.call(seconds=0.3)) == NotSent("could not connect in time")


def test_one_call_that_fails_ends_no_other_call_of_the_same_client(gateway):
    arrived, go_on = threading.Event(), threading.Event()

    def behave(exchange):
        if exchange.message["params"]["arguments"].get("fail"):
            exchange.reset()
        arrived.set()
        go_on.wait(20)
        echo(exchange)

    with hostile(behave) as server, ThreadPoolExecutor(1) as threads:
        slow = threads.submit(gateway.call, server.call(number=1))
        assert arrived.wait(20)

        failed = gateway.call(server.call(fail=True))
        go_on.set()

        assert isinstance(failed, NoAnswer)
        assert slow.result(20).structured == {"number": 1}


# Servers that come and go -------------------------------------------------------------------------------------


def test_a_server_that_restarts_ten_times_is_called_after_each(gateway):
    with hostile(echo, sessions=gateway.mode == "legacy") as server:
        for number in range(10):
            assert answered_in(gateway, server.call(number=number)).structured == {"number": number}
            server.stop()
            server.start()

        assert len(server.posts) == 10


def test_a_real_server_killed_and_restarted_does_each_thing_once(gateway, processes, tmp_path):
    demo = Demo(processes, "pedidos", tmp_path / "ledger")
    for number in range(4):
        child = demo.start()
        arguments = {"order_ids": ["PED-1001"], "customer_key": f"C-{number}"}
        outcome = answered_in(gateway, Call(demo.spec, "cancelar_pedidos", arguments))
        assert isinstance(outcome, Answered)
        assert outcome.structured["results"][0]["success"] is True
        child.kill()
    demo.start()

    assert [effect["customer"] for effect in demo.effects] == [f"C-{number}" for number in range(4)]


def test_a_closed_gateway_opens_again(gateway):
    with hostile() as server:
        gateway.call(server.call())
        gateway.close()

        assert isinstance(gateway.call(server.call()), Answered)


def test_the_tools_of_a_server_are_listed_as_they_are_now(gateway):
    with hostile(output_schema={"type": "object"}) as server:
        before = gateway.list_tools(server.spec)
        server.output_schema = None
        after = gateway.list_tools(server.spec)

    assert [(tool.name, tool.input_schema, tool.output_schema) for tool in before] == [
        ("do", {"type": "object"}, {"type": "object"})
    ]
    assert after[0].output_schema is None
    assert isinstance(gateway.list_tools(server.spec, timeout=2), NotSent | NoAnswer)


def test_a_process_has_one_gateway_until_it_is_closed():
    first = mcp_client.gateway()

    assert mcp_client.gateway() is first
    mcp_client.close()
    second = mcp_client.gateway()
    mcp_client.close()

    assert second is not first


# Children -----------------------------------------------------------------------------------------------------


def test_a_child_gets_path_and_what_the_definitions_give_it(children, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_TEST", "s3")
    monkeypatch.setenv("HOME", "/nowhere")
    spec = stdio_spec(str(STDIO_SCRIPT), env={"TOKEN": "a-${SECRET_OF_THE_TEST}"})

    outcome = children.call(Call(spec, "do", {}))

    assert isinstance(outcome, Answered)
    given = outcome.structured["environment"]
    assert given["TOKEN"] == "a-s3"
    assert given.keys() - {"PATH", "TOKEN", "LC_CTYPE"} == set()  # LC_CTYPE is set by Python itself


def test_a_child_that_dies_in_a_call_leaves_it_unknown_and_the_next_call_gets_a_new_one(children):
    spec = stdio_spec(str(STDIO_SCRIPT))
    first = children.call(Call(spec, "do", {}))

    died = children.call(Call(spec, "do", {"die": True}))
    second = answered_in(children, Call(spec, "do", {}))

    assert isinstance(died, NoAnswer)
    assert isinstance(second, Answered)
    assert second.structured["pid"] != first.structured["pid"]


def test_a_child_that_babbles_between_messages_is_understood(children):
    outcome = children.call(Call(stdio_spec(str(STDIO_SCRIPT)), "do", {"babble": True}))

    assert isinstance(outcome, Answered)


def test_an_answer_of_a_child_of_over_ten_mebibytes_is_unknown(children):
    outcome = children.call(Call(stdio_spec(str(STDIO_SCRIPT)), "do", {"large": True}))

    assert isinstance(outcome, NoAnswer)


def test_a_demo_server_works_as_a_child(children, tmp_path):
    spec = stdio_spec("-m", "tooling.demo.pedidos", "--ledger", str(tmp_path / "ledger"))

    outcome = children.call(Call(spec, "consultar_pedidos", {"order_ids": ["PED-1001"]}))

    assert isinstance(outcome, Answered)
    assert outcome.structured["results"][0]["situação"] == "em preparação"


def test_a_child_that_cannot_start_is_not_sent(children):
    outcome = children.call(Call(stdio_spec("-c", "raise SystemExit(3)"), "do", {}))

    assert isinstance(outcome, NotSent)
    assert outcome.again


# Where this installation connects -----------------------------------------------------------------------------


def test_references_to_the_environment_are_resolved_when_connecting():
    spec = ServerSpec("s", endpoint="http://127.0.0.1:1/mcp", headers={"Authorization": "Bearer ${TOKEN}", "X": "y"})

    target = target_of(spec, {"TOKEN": "t"})

    assert target == Target(
        Transport.STREAMABLE_HTTP, endpoint=spec.endpoint, headers=(("Authorization", "Bearer t"), ("X", "y"))
    )


@pytest.mark.parametrize("environment", [{}, {"TOKEN": ""}])
def test_an_unset_reference_is_an_error_and_never_an_empty_value(environment):
    spec = ServerSpec("s", endpoint="http://127.0.0.1:1/mcp", headers={"Authorization": "Bearer ${TOKEN}"})

    assert target_of(spec, environment) == NotSent("environment variable TOKEN is not set", again=False)


@pytest.mark.parametrize("allowed", ["", "node", "python3,npx"])
def test_a_command_that_is_not_allowed_is_not_started(allowed):
    spec = ServerSpec("s", Transport.STDIO, command="python")

    assert target_of(spec, {"MCP_STDIO_COMMANDS": allowed}) == NotSent(
        'command "python" is not in MCP_STDIO_COMMANDS', again=False
    )


@pytest.mark.parametrize(
    "endpoint", ["", "mcp.example", "ftp://mcp.example/", "http://", "http://[::1", "http://x:99999"]
)
def test_what_is_no_web_address_is_not_connected_to(endpoint):
    outcome = target_of(ServerSpec("s", endpoint=endpoint), {})

    assert isinstance(outcome, NotSent)
    assert not outcome.again


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://mcp.example/mcp",
        "https://127.0.0.1/mcp",
        "https://localhost/mcp",
        "https://a.localhost./mcp",
        "https://[::1]/mcp",
        "https://[::ffff:127.0.0.1]/mcp",
        "https://0.0.0.0/mcp",
        "https://169.254.169.254/latest",
        "https://[fe80::1]/mcp",
    ],
)
def test_production_connects_to_neither_itself_nor_link_local_addresses_nor_without_tls(endpoint):
    outcome = target_of(ServerSpec("s", endpoint=endpoint), {"ENVIRONMENT": "production"})

    assert isinstance(outcome, NotSent)
    assert not outcome.again


@pytest.mark.parametrize("endpoint", ["https://mcp.example/mcp", "https://10.0.0.7:8443/mcp"])
def test_production_connects_to_other_machines(endpoint):
    assert isinstance(target_of(ServerSpec("s", endpoint=endpoint), {"ENVIRONMENT": "production"}), Target)


def test_a_name_that_stands_for_this_machine_is_refused_in_production():
    assert "own machine" in refusal_of_addresses("https://localhost:8443/mcp")
