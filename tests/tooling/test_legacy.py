"""An old installation's files are accepted, with exactly the warnings that tell what to move (contracts.md §5)."""

import pytest

from tests.loading import DEFINITIONS
from tests.tooling.conftest import COMMANDS, read
from tooling import yaml_io
from tooling.specs import ArgumentType, OperationType

LEGACY = DEFINITIONS / "legacy"
EXPECTED = [line for line in (LEGACY / "warnings.expect").read_text("utf-8").splitlines() if not line.startswith("#")]


def told() -> list[str]:
    """Every problem as file:line: text, without the column."""
    problems = yaml_io.read_sets([LEGACY], stdio_commands=COMMANDS).problems
    lines = []
    for problem in problems:
        file, line, _, text = str(problem).removeprefix(f"{LEGACY}/").split(":", 3)
        lines.append(f"{file}:{line}:{text}")
    return lines


@pytest.mark.parametrize("warning", EXPECTED)
def test_what_is_outdated_is_told_at_its_line(warning: str):
    assert warning in told()


def test_nothing_else_is_told():
    assert sorted(told()) == sorted(EXPECTED)


def test_requires_of_the_tool_and_of_its_policy_are_united():
    policies = read("legacy").policies

    assert policies["cancelar_produtos"].requires == ("items",)
    assert policies["contestar_cobranca"].requires == ("fatura", "valor", "motivo")


def test_a_tool_without_a_policy_follows_its_type():
    policies = read("legacy").policies

    assert policies["contestar_cobranca"].operation_type is OperationType.TRANSACTIONAL
    assert policies["contestar_cobranca"].require_confirmation is True
    assert policies["consultar_faturas"].operation_type is OperationType.READ_ONLY
    assert policies["validar_produtos"].operation_type is OperationType.INTERNAL


def test_old_names_of_types_are_read_as_todays():
    tools = read("legacy").tools
    argument = tools["prorrogar_vencimento"].argument("nova_data")

    assert argument is not None
    assert (argument.type, argument.format) == (ArgumentType.STRING, "date")
    assert [one.type.value for one in tools["contestar_cobranca"].arguments] == [
        "string", "number", "string", "array",
    ]  # fmt: skip


def test_servers_of_desktop_clients_are_read_beside_our_own():
    servers = read("legacy").servers

    assert set(servers) == {"cobranca", "cobranca_local", "fretes"}
    assert (servers["cobranca_local"].command, servers["cobranca_local"].args) == ("python", ("-m", "cobranca_mcp"))
    assert servers["fretes"].endpoint == "http://127.0.0.1:8104/mcp"
    assert servers["fretes"].headers == {"Authorization": "Bearer ${FRETES_TOKEN}"}
