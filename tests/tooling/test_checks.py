"""What keeps definitions from being published, and what is doubtful about them (contracts.md §5)."""

from dataclasses import replace

import pytest

from tests.tooling.conftest import COMMANDS, read
from tooling import yaml_io
from tooling.checks_of_risks import doubts_of_policies
from tooling.checks_of_sets import check, check_name
from tooling.specs import Definitions, MappingSpec, PolicySpec

ACTION = "cancelar_vas_avulso"


def with_policy(definitions: Definitions, policy: PolicySpec) -> Definitions:
    return replace(definitions, policies=dict(definitions.policies) | {policy.tool: policy})


def doubts(definitions: Definitions) -> list[tuple[str, tuple[str, ...]]]:
    found = list(doubts_of_policies(definitions))
    assert not any(one.is_error for one in found)
    return [(one.code, one.path) for one in found]


# Doubts before publishing -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["contas", "pedidos", "biblioteca", "legacy"])
def test_the_good_sets_raise_no_doubt(name: str):
    assert doubts(read(name)) == []


def test_an_action_that_asks_for_nothing_is_doubtful(contas: Definitions):
    careless = with_policy(contas, replace(contas.policy(ACTION), requires=()))

    assert doubts(careless) == [("policy.requires_nothing", ("tool_policies", ACTION, "requires"))]


def test_an_action_whose_arguments_are_all_filled_by_the_mapping_may_ask_for_nothing(contas: Definitions):
    filled = MappingSpec(ACTION, {"customer": "contract_key"}, {"subject": "x", "canal": "chat"})
    careless = with_policy(contas, replace(contas.policy(ACTION), requires=()))

    assert doubts(replace(careless, mappings=dict(contas.mappings) | {ACTION: filled})) == []


def test_an_action_without_arguments_may_ask_for_nothing(contas: Definitions):
    bare = replace(contas.tools[ACTION], arguments=())
    careless = with_policy(contas, replace(contas.policy(ACTION), requires=()))

    assert doubts(replace(careless, tools=dict(contas.tools) | {ACTION: bare})) == []


def test_a_query_may_ask_for_nothing(contas: Definitions):
    assert contas.policy("listar_servicos").requires == ()
    assert doubts(contas) == []


def test_items_that_nobody_validated_are_doubtful_where_the_validator_is_on(contas: Definitions):
    policy = contas.policy(ACTION)
    is_open = replace(policy.pre_validation, fail_open=True)

    on = with_policy(contas, replace(policy, pre_validation=is_open))
    off = with_policy(contas, replace(policy, pre_validation=replace(is_open, enabled=False)))

    assert doubts(on) == [("policy.fail_open", ("tool_policies", ACTION, "pre_validation", "fail_open"))]
    assert doubts(off) == []


# Names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x", "_x", "cancelar_vas_avulso", "Vas.v2-beta", "2x", "ação", "a:b", "x" * 100])
def test_an_identifier_is_a_name(name: str):
    assert list(check_name(name, ("tools", name))) == []


@pytest.mark.parametrize("name", ["", " ", " x", "x ", "a b", "-x", ".x", "..", "<b>x</b>", "a/b", "x\n", "x'", "😀"])
def test_what_is_no_identifier_is_no_name(name: str):
    assert [one.code for one in check_name(name, ("tools", name))] == ["name.malformed"]


def test_a_long_name_is_refused_with_its_length():
    (finding,) = check_name("x" * 101, ("tools", "x"))

    assert (finding.code, finding.message) == ("name.too_long", "a name of 101 characters, the limit is 100")


def test_every_kind_of_name_is_checked(contas: Definitions, pedidos: Definitions):
    bad = "a b"
    tool, server = contas.tools[ACTION], contas.servers["contas"]
    argument = replace(tool.arguments[0], name=bad)
    intent, profile = next(iter(contas.intents.values())), next(iter(contas.profiles.values()))
    workflow = next(iter(pedidos.workflows.values()))

    broken = Definitions(
        servers={bad: replace(server, name=bad)},
        tools={bad: replace(tool, name=bad, arguments=(argument,))},
        intents={bad: replace(intent, name=bad)},
        profiles={bad: replace(profile, name=bad)},
        workflows={(bad, 1): replace(workflow, name=bad)},
    )

    assert [one.path for one in check(broken) if one.code == "name.malformed"] == [
        ("mcp_servers", bad),
        ("tools", bad),
        ("intents", bad),
        ("profiles", bad),
        ("tools", bad, "args_schema", bad),
        ("workflows", bad, "1", "name"),
    ]


def test_a_bad_name_in_a_file_is_told_at_its_place():
    text = b"version: 1\ntools:\n  a b:\n    mcp_server: s\n    description: x\n    args_schema:\n      <i>: string\n"

    reading = yaml_io.read_files({"tools.yaml": text}, stdio_commands=COMMANDS, base=read("contas"))

    lines = [one.line for one in reading.problems if one.code == "name.malformed"]
    assert lines == [3, 7]
