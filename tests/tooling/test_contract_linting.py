"""Checking the contract of live servers over real HTTP: what is called, what is graded, what is never touched."""

import pytest

from tests.acceptance.client import post
from tests.tooling.mcp_servers import Demo
from tooling import contract_linting, publishing, yaml_io
from tooling.demo import __file__ as demo_package
from tooling.linting.faults import Grade, Level
from tooling.linting.words import message_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(180)]
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
    from dataclasses import replace
    from pathlib import Path

    folder = Path(demo_package).parent / "definitions"
    reading = yaml_io.read_sets([folder / "contas", folder / "pedidos"], stdio_commands=("python",))
    servers = {name: replace(demo.spec, name=name) for name, demo in demos.items()}
    publishing.replace_draft(replace(reading.definitions, servers=servers))
    for demo in demos.values():
        post(demo.admin("reset"), {})
    return demos


def lint(server, *tools, **values):
    seen = contract_linting.look(server)
    names = tools or contract_linting.tools_of(seen.definitions, server)
    return {each.tool: each for each in contract_linting.lint(seen, names, {tools[0]: values} if values else None)}


def told(found):
    return [(str(each.level), message_of(each)) for each in found.faults]


@pytest.mark.parametrize("server", ACTIONS)
def test_every_tool_of_the_demo_servers_gets_the_best_grade_and_nothing_happens(shop, server):
    found = lint(server)

    for each in found.values():
        print(each.tool, each.grade, told(each), [(str(c.kind), c.sent, c.came) for c in each.calls])
    assert {each.tool: each.grade for each in found.values()} == dict.fromkeys(found, Grade.GOOD)
    assert shop[server].effects == []
    assert all(each.level is Level.HINT for one in found.values() for each in one.faults)
