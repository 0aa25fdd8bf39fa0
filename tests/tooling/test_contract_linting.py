"""Checking the contract of live servers over real HTTP: what is called, what is graded, what is never touched."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.acceptance.client import post
from tests.tooling.mcp_servers import Demo
from tooling import contract_linting, publishing, yaml_io
from tooling.demo import __file__ as demo_package
from tooling.linting.faults import Grade, Level

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(180)]
DEFINITIONS = Path(demo_package).parent / "definitions"
ACTIONS = {"contas": ["cancelar_vas_avulso"], "pedidos": ["cancelar_pedidos", "solicitar_devolucao"]}


@pytest.fixture(scope="module")
def demos(module_processes, tmp_path_factory):
    found = {}
    for name in ACTIONS:
        found[name] = Demo(module_processes, name, tmp_path_factory.mktemp(name) / "ledger")
        found[name].start()
    return found


@pytest.fixture
def shop(demos):
    """Both demo servers, with the demo's own definitions as the draft."""
    reading = yaml_io.read_sets([DEFINITIONS / name for name in ACTIONS], stdio_commands=("python",))
    servers = {name: replace(demo.spec, name=name) for name, demo in demos.items()}
    publishing.replace_draft(replace(reading.definitions, servers=servers))
    for demo in demos.values():
        post(demo.admin("reset"), {})
    return demos


def lint(server, *tools):
    """tool → what its check came to."""
    seen = contract_linting.look(server)
    names = tools or contract_linting.tools_of(seen.definitions, server)
    return {each.tool: each for each in contract_linting.lint(seen, names)}


@pytest.mark.parametrize("server", ACTIONS)
def test_every_tool_of_the_demo_servers_gets_the_best_grade_and_nothing_happens(shop, server):
    found = lint(server)

    assert set(found) > set(ACTIONS[server])
    assert {each.tool: each.grade for each in found.values()} == dict.fromkeys(found, Grade.GOOD)
    assert shop[server].effects == []
    assert all(each.level is Level.HINT for one in found.values() for each in one.faults)
    called = [call for call in shop[server].calls if call["tool"] in ACTIONS[server]]
    assert len(called) >= 6
    assert all(call["meta"]["agentplatform/dry_run"] is True for call in called)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"behaviour": "omit_row", "item": "PED-1002"}, "missing_row"),
        ({"behaviour": "drop_answer", "item": "PED-1002"}, "no_answer"),
        ({"behaviour": "fail", "item": "PED-1002", "reason": "indisponivel"}, "example_failed"),
    ],
)
def test_a_demo_server_that_is_told_to_misbehave_gets_a_worse_grade(shop, fault, code):
    shop["pedidos"].fault(tool="cancelar_pedidos", **fault)

    found = lint("pedidos", "cancelar_pedidos")["cancelar_pedidos"]

    assert code in {each.code for each in found.faults}
    assert found.grade is Grade.USABLE
    assert shop["pedidos"].effects == []
