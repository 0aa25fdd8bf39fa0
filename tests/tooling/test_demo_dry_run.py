"""A dry run of the demo servers: they answer as if, and nothing happens (docs/contract-linter.md)."""

import pytest

from tests.acceptance.client import post
from tests.tooling.mcp_servers import Demo
from tooling.gateway import Answered, Call
from tooling.mcp_client import McpGateway

PREFIX = "agentplatform/"
DRY = {PREFIX + "dry_run": True}
ACTIONS = {
    "contas": [("cancelar_vas_avulso", {"subject": "Craque 10, Tela Kids"}, [True, False])],
    "pedidos": [
        ("cancelar_pedidos", {"order_ids": ["PED-1001", "PED-1004"]}, [True, False]),
        ("solicitar_devolucao", {"order_id": "PED-1004", "reason": "veio errado"}, None),
    ],
}


@pytest.fixture(scope="module", params=["auto", "legacy"])
def gateway(request):
    """Clients of both protocols."""
    gateway = McpGateway(request.param)
    yield gateway
    gateway.close()


@pytest.fixture(scope="module")
def demos(module_processes, tmp_path_factory):
    found = {}
    for name in ("contas", "pedidos"):
        found[name] = Demo(module_processes, name, tmp_path_factory.mktemp(name) / "ledger")
        found[name].start()
    return found


@pytest.fixture(autouse=True)
def fresh(demos):
    for demo in demos.values():
        post(demo.admin("reset"), {})


def each_action():
    return [(server, *action) for server, actions in ACTIONS.items() for action in actions]


def answer(gateway, demo, tool, arguments, **meta):
    outcome = gateway.call(Call(demo.spec, tool, arguments, {PREFIX + name: value for name, value in meta.items()}))
    assert isinstance(outcome, Answered), outcome
    return outcome


@pytest.mark.parametrize(("server", "tool", "arguments", "verdicts"), each_action())
def test_a_dry_run_answers_as_if_and_leaves_no_trace(gateway, demos, server, tool, arguments, verdicts):
    said = answer(gateway, demos[server], tool, arguments, dry_run=True, idempotency_key="k").structured

    assert demos[server].effects == []
    if verdicts is None:
        assert said["success"] is True
        assert said["protocol"]
    else:
        assert [row["success"] for row in said["results"]] == verdicts
    again = answer(gateway, demos[server], tool, arguments, dry_run=True, idempotency_key="another").structured
    assert again["ok" if verdicts is None else "results"] is not None
    assert demos[server].effects == []


@pytest.mark.parametrize(("server", "tool", "arguments", "verdicts"), each_action())
def test_a_dry_run_honours_its_key_and_a_real_call_under_it_still_acts(
    gateway, demos, server, tool, arguments, verdicts
):
    demo = demos[server]
    first, second = (answer(gateway, demo, tool, arguments, dry_run=True, idempotency_key="k") for _ in range(2))
    other = {**arguments, "subject": "Craque 10", "order_ids": ["PED-1002"], "order_id": "PED-1008"}
    refused = answer(gateway, demo, tool, {name: other[name] for name in arguments}, dry_run=True, idempotency_key="k")
    answer(gateway, demo, tool, arguments, idempotency_key="k")

    assert first.structured == second.structured
    assert refused.is_error
    assert len(demo.effects) == 1


def test_only_a_literal_true_makes_a_dry_run(gateway, demos):
    answer(gateway, demos["pedidos"], "cancelar_pedidos", {"order_ids": ["PED-1001"]}, dry_run="true")

    assert len(demos["pedidos"].effects) == 1


def test_an_order_that_is_being_packed_refuses_the_first_real_call_also_after_a_dry_run(gateway, demos):
    arguments = {"order_ids": ["PED-1006"], "customer_key": "C-1"}
    answer(gateway, demos["pedidos"], "cancelar_pedidos", arguments, dry_run=True)

    row = answer(gateway, demos["pedidos"], "cancelar_pedidos", arguments).structured["results"][0]

    assert row["reason"] == "em_separacao"


def test_what_acts_declares_a_dry_run_and_everything_has_examples(gateway, demos):
    for server, actions in ACTIONS.items():
        listed = {tool.name: tool.meta for tool in gateway.list_tools(demos[server].spec)}

        sandboxed = {name for name, meta in listed.items() if PREFIX + "sandbox" in meta}
        assert sandboxed == {tool for tool, _, _ in actions}
        assert all(meta[PREFIX + "sandbox"] == {"meta": PREFIX + "dry_run"} for meta in map(listed.get, sandboxed))
        assert {name for name, meta in listed.items() if PREFIX + "fixtures" not in meta} <= {"reconciliar_pedidos"}
