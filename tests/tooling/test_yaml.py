"""How definition files are read: scalars, merging, kinds of files, defaults and every check (contracts.md §5)."""

from pathlib import Path
from typing import Any

import pytest

from tests.loading import DEFINITIONS
from tests.tooling.conftest import COMMANDS, read
from tooling import yaml_io
from tooling.specs import (
    ExecutionMode,
    ExtractSpec,
    Kind,
    OperationType,
    Strategy,
    Text,
    Transport,
)
from tooling.yaml_nodes import to_json
from tooling.yaml_reader import read_tree

SERVERS = "version: 1\nmcp_servers:\n  s: {endpoint: 'http://127.0.0.1:1/mcp'}\n"
TOOL = """version: 1
tools:
  t:
    description: does it
    mcp_server: s
    tool_type: action
    args_schema: {a: string, b: {type: integer, enum: [1, 2]}, c: array}
  v: {mcp_server: s, tool_type: internal, args_schema: {a: string}}
  q: {mcp_server: s, description: asks, tool_type: query, args_schema: {a: string}}
"""
POLICIES = "version: 1\ntool_policies:\n"


def reading_of(**files: str) -> yaml_io.Reading:
    """Files by kind, on top of one server and three tools."""
    texts = {"mcp_servers": SERVERS, "tools": TOOL} | files
    return yaml_io.read_files(
        {f"{kind.replace('__', '/')}.yaml": text.encode() for kind, text in texts.items()}, stdio_commands=("python",)
    )


def codes_of(**files: str) -> list[str]:
    return [problem.code for problem in reading_of(**files).problems]


def value_of(text: str) -> Any:
    node, problems = read_tree("file", text.encode())
    assert node is not None and not problems, problems
    return to_json(node)


# Scalars ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["no", "on", "yes", "off", "012", "-007", "2026-01-02", "1_000", "1:30", "0b1", "=", "<<"]
)
def test_a_word_that_looks_like_something_in_old_yaml_stays_text(text: str):
    assert value_of(f"a: {text}") == {"a": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("False", False), ("null", None), ("~", None), ("", None), ("12", 12), ("-3", -3), ("+5", 5),
        ("0", 0), ("0o17", 15), ("0x1F", 31), ("1.5", 1.5), (".5", 0.5), ("1e3", 1000.0), ("!!str 12", "12"),
        ("'12'", "12"), ("!!int 12", 12), ("!!float 3", 3), ("!!null ''", None),
    ],
)  # fmt: skip
def test_a_scalar_follows_the_core_schema(text: str, value: Any):
    read_value = value_of(f"a: {text}")["a"]

    assert (type(read_value), read_value) == (type(value), value)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: .inf", "type.number"),
        ("a: -.INF", "type.number"),
        ("a: .nan", "type.number"),
        ('a: "\\0"', "yaml.character"),
        ('"\\0": a', "yaml.character"),
        ("a: \x07", "yaml.character"),
        ("a: !!binary aGk=", "yaml.tag"),
        ("a: !!int twelve", "yaml.tag"),
        ("!thing {a: b}", "yaml.tag"),
        ("? [a]\n: b", "yaml.key"),
        ("a: 1\n---\nb: 2", "yaml.documents"),
        ("a: [1, 2", "yaml.syntax"),
        ("a: b: c", "yaml.syntax"),
        ("a: &x 1\nb: *x", "yaml.alias"),
        ("[" * 40 + "]" * 40, "yaml.too_deep"),
        ("[" * 5000, "yaml.too_deep"),
        ("1: a\n'1': b", "yaml.duplicate_key"),
    ],
)
def test_what_yaml_is_abused_for_is_refused(text: str, code: str):
    _, problems = read_tree("file", text.encode())

    assert [problem.code for problem in problems] == [code]


def test_thirty_two_levels_are_not_too_deep():
    deepest = "[" * 32 + "]" * 32

    assert read_tree("file", deepest.encode())[1] == []


def test_keys_are_texts_as_written():
    assert value_of("{no: a, 12: b, true: c}") == {"no": "a", "12": "b", "true": "c"}


# Which files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["contas", "pedidos"])
def test_a_good_set_is_read_without_a_word(name: str):
    reading = yaml_io.read_sets([DEFINITIONS / name], stdio_commands=COMMANDS)

    assert reading.problems == ()


def test_several_directories_make_one_set():
    both = read("contas", "pedidos")

    assert both.tools.keys() == read("contas").tools.keys() | read("pedidos").tools.keys()
    assert both.mapping("cancelar_vas_avulso").map == {"contract_key": "contract_key"}


def test_equal_duplicates_are_fine_and_different_ones_are_not():
    tools = TOOL.replace("does it", "does something else")
    same = yaml_io.read_files({"a/mcp_servers.yaml": SERVERS.encode(), "b/mcp_servers.yaml": SERVERS.encode()})
    other = yaml_io.read_files(
        {"mcp_servers.yaml": SERVERS.encode(), "a/tools.yaml": TOOL.encode(), "b/tools.yaml": tools.encode()}
    )

    assert same.problems == ()
    assert [(one.code, one.file, one.line) for one in other.problems] == [("merge.conflict", "b/tools.yaml", 3)]


def test_policy_defaults_are_merged_key_by_key():
    first = "version: 1\ndefaults: {operation_type: read_only}\n"
    second = "version: 1\ndefaults: {require_confirmation: true}\n"
    third = "version: 1\ndefaults: {operation_type: internal}\n"

    merged = yaml_io.read_files({"a/tool_policies.yaml": first.encode(), "b/tool_policies.yaml": second.encode()})
    clash = yaml_io.read_files({"a/tool_policies.yaml": first.encode(), "b/tool_policies.yaml": third.encode()})

    assert merged.problems == ()
    assert [one.code for one in clash.problems] == ["merge.conflict"]


def test_a_kind_found_nowhere_comes_from_the_base():
    base = read("pedidos")

    reading = yaml_io.read_sets([DEFINITIONS / "pedidos" / "routing.yaml"], base=base, stdio_commands=COMMANDS)

    assert reading.kinds == {Kind.ROUTING}
    assert reading.definitions == base


def test_an_empty_workflows_directory_says_that_there_are_none(copy_of: Any):
    folder = copy_of("contas")
    (folder / "workflows").mkdir()

    reading = yaml_io.read_sets([folder], base=read("pedidos"), stdio_commands=COMMANDS)

    assert reading.definitions is not None and reading.definitions.workflows == {}


def test_a_file_with_a_free_name_is_known_by_its_keys(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text(SERVERS)

    assert yaml_io.read_sets([file]).kinds == {Kind.SERVERS}


def test_a_misspelt_file_name_in_a_directory_is_told(copy_of: Any):
    folder = copy_of("contas")
    (folder / "tool_policy.yaml").write_text("version: 1\n")

    assert [one.code for one in yaml_io.read_sets([folder]).problems] == ["file.ignored"]


# Meaning ------------------------------------------------------------------------------------------


def test_a_disabled_server_of_a_desktop_client_is_disabled():
    text = '{"mcpServers": {"x": {"url": "https://a.example/mcp", "type": "http", "disabled": true}}}'

    definitions = yaml_io.read_files({"mcpServers.json": text.encode()}).definitions

    assert definitions is not None
    assert definitions.servers["x"].transport is Transport.STREAMABLE_HTTP
    assert not definitions.servers["x"].enabled


def test_defaults_apply_only_where_neither_policy_nor_tool_says_anything():
    silent = "  silent: {mcp_server: s, description: x}\n"
    tools = f"version: 1\ntools:\n{silent}  acting: {{mcp_server: s, description: x, tool_type: action}}\n"
    policies = "version: 1\ndefaults: {operation_type: conversational, require_confirmation: false}\n"

    definitions = reading_of(tools=tools, tool_policies=policies).definitions

    assert definitions is not None
    assert definitions.policy("silent").operation_type is OperationType.CONVERSATIONAL
    assert definitions.policy("acting").operation_type is OperationType.TRANSACTIONAL
    assert definitions.policy("acting").require_confirmation


def test_a_policy_is_read_with_everything_it_says():
    policy = """  t:
    operation_type: transactional
    require_confirmation: true
    requires: [a]
    pre_validation: {enabled: true, tool: v, fail_open: true}
    reconcile: {tool: q}
    idempotency: key
    on_intent_shift: park
    expires_after: 2d
    timeout_seconds: 2.5
    max_items: 3
    atomicity: all_or_nothing
    requires_identity: true
"""

    definitions = reading_of(tool_policies=POLICIES + policy).definitions

    assert definitions is not None
    read_policy = definitions.policy("t")
    assert (read_policy.requires, read_policy.reconcile_tool, read_policy.expires_after) == (("a",), "q", 172_800)
    assert read_policy.pre_validation.fail_open and read_policy.requires_identity
    assert (read_policy.idempotency, read_policy.on_intent_shift) == ("key", "park")
    assert (read_policy.timeout_seconds, read_policy.max_items, read_policy.atomicity) == (2.5, 3, "all_or_nothing")


def test_mapping_defaults_fill_the_auxiliary_arguments_that_a_tool_declares():
    mapping = """version: 1
mcp_parameter_mapping:
  defaults: {map: {who: a, where: nowhere}}
  tools:
    t: {extract: {b: {from: message, type: int, strategy: regex, pattern: '(\\d)', group: 1}}}
"""

    definitions = reading_of(
        mcp_parameter_mapping=mapping, tool_policies=POLICIES + "  t: {requires: [a]}\n"
    ).definitions

    assert definitions is not None
    assert definitions.mapping("v").map == {"who": "a"}
    assert definitions.mapping("t").map == {}
    assert definitions.mapping("t").extract == (
        ExtractSpec("b", type="integer", strategy=Strategy.REGEX, pattern="(\\d)", group=1),
    )


def test_a_text_may_stand_in_several_languages():
    tools = TOOL.replace("description: does it", "description: {pt-BR: faz, en: does, default: x}")

    definitions = reading_of(tools=tools).definitions

    assert definitions is not None
    assert definitions.tools["t"].description == Text("x", {"pt-BR": "faz", "en": "does"})


def test_the_policy_names_a_workflow_version_or_the_active_one():
    workflow = "name: w\nversion: 2\nstart: n\nnodes: [{id: n, action: t, input: {a: $.input.a}}]\n"
    policy = POLICIES + "  t: {execution: {mode: workflow, workflow: w, version: active}}\n"

    definitions = reading_of(tool_policies=policy, **{"workflows__w.v2": workflow}).definitions

    assert definitions is not None
    assert definitions.policy("t").execution.mode is ExecutionMode.WORKFLOW
    assert definitions.policy("t").execution.version is None
    assert definitions.workflows["w", 2].nodes[0].input == {"a": "$.input.a"}


# Checks -------------------------------------------------------------------------------------------

SERVER_FAULTS = {
    "server.endpoint_scheme": "{endpoint: 'ftp://x/y'}",
    "server.endpoint_missing": "{enabled: true}",
    "server.endpoint_malformed": "{endpoint: 'http://'}",
    "server.transport_unknown": "{endpoint: 'http://x', transport: pigeon}",
    "server.command_missing": "{transport: stdio}",
    "server.reference_malformed": "{endpoint: 'http://x', headers: {X-A: '${a b}'}}",
    "server.name_malformed": "{endpoint: 'http://x', headers: {'A b': c}}",
    "server.value_malformed": '{endpoint: "http://x", headers: {A: "b\\nc"}}',
    "type.string": "{endpoint: 'http://x', headers: {A: 5}}",
}


@pytest.mark.parametrize(("code", "server"), SERVER_FAULTS.items())
def test_a_server_that_cannot_be_reached_is_refused(code: str, server: str):
    assert codes_of(mcp_servers=f"version: 1\nmcp_servers:\n  s: {server}\n") == [code]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", "abc"), ("X-Api-Key", "abc"), ("Cookie", "a=b"), ("x-auth-token", "abc"),
        ("X-Anything", "Bearer abcdef"), ("X-Anything", "sk-0123456789abcdef"),
    ],
)  # fmt: skip
def test_a_secret_in_a_header_is_refused(name: str, value: str):
    server = f"version: 1\nmcp_servers:\n  s: {{endpoint: 'http://x', headers: {{{name}: {value}}}}}\n"

    assert codes_of(mcp_servers=server) == ["server.secret_literal"]


@pytest.mark.parametrize("endpoint", ["https://user:pass@x.example/mcp", "https://x.example/mcp?api_key=abc"])
def test_a_secret_in_an_address_is_refused(endpoint: str):
    assert codes_of(mcp_servers=f"version: 1\nmcp_servers:\n  s: {{endpoint: '{endpoint}'}}\n") == [
        "server.secret_literal"
    ]


@pytest.mark.parametrize(
    ("name", "value"), [("Authorization", "Bearer ${A}"), ("X-Origem", "chat"), ("X-Monkey", "banana")]
)
def test_a_reference_and_an_ordinary_header_are_fine(name: str, value: str):
    server = f"version: 1\nmcp_servers:\n  s: {{endpoint: 'http://x', headers: {{{name}: '{value}'}}}}\n"

    assert codes_of(mcp_servers=server) == []


POLICY_FAULTS = {
    "policy.tool_unknown": "x: {operation_type: internal}",
    "policy.reconcile_unknown": "t: {reconcile: {tool: x}}",
    "policy.workflow_missing": "t: {execution: {mode: workflow}}",
    "policy.workflow_unknown": "t: {execution: {mode: workflow, workflow: x}}",
    "policy.expires_after": "t: {expires_after: 30}",
    "number.range": "t: {max_items: 99999999999}",
    "policy.max_items_range": "t: {max_items: 0}",
    "policy.timeout_seconds_range": "t: {timeout_seconds: 0}",
    "policy.idempotency_unknown": "t: {idempotency: maybe}",
    "policy.requires_unknown": "t: {requires: [z]}",
    "type.list": "t: {requires: a}",
}


@pytest.mark.parametrize(("code", "policy"), POLICY_FAULTS.items())
def test_a_policy_that_cannot_be_carried_out_is_refused(code: str, policy: str):
    assert codes_of(tool_policies=f"{POLICIES}  {policy}\n") == [code]


def test_a_validator_has_no_validator_of_its_own():
    tools = TOOL + "  w: {mcp_server: s, tool_type: internal}\n"
    policies = POLICIES + "  t: {pre_validation: {tool: v}}\n  v: {pre_validation: {tool: w}}\n"

    problems = reading_of(tools=tools, tool_policies=policies).problems

    assert [(one.code, one.line) for one in problems] == [("policy.validator_validated", 4)]


def test_a_transactional_tool_without_confirmation_is_worth_a_warning():
    policies = POLICIES + "  t: {require_confirmation: false}\n"

    problems = reading_of(tool_policies=policies).problems

    assert [(one.code, one.severity.value, one.line) for one in problems] == [("policy.no_confirmation", "warning", 3)]


MAPPING_FAULTS = {
    "mapping.tool_unknown": "x: {defaults: {a: b}}",
    "mapping.argument_unknown": "t: {map: {who: z}}",
    "mapping.default_type": "t: {defaults: {b: text}}",
    "mapping.default_enum": "t: {defaults: {b: 3}}",
    "mapping.pattern_missing": "t: {extract: {a: {strategy: regex}}}",
    "mapping.pattern_malformed": "t: {extract: {a: {strategy: regex, pattern: '('}}}",
    "mapping.group_unknown": "t: {extract: {a: {strategy: regex, pattern: a, group: 1}}}",
    "mapping.strategy_unknown": "t: {extract: {a: {strategy: guess}}}",
}


@pytest.mark.parametrize(("code", "mapping"), MAPPING_FAULTS.items())
def test_a_mapping_that_fits_no_argument_is_refused(code: str, mapping: str):
    assert codes_of(mcp_parameter_mapping=f"version: 1\nmcp_parameter_mapping:\n  tools:\n    {mapping}\n") == [code]


TOOL_FAULTS = {
    "argument.type_unknown": "args_schema: {a: strng}",
    "argument.type": "args_schema: {a: [string]}",
    "argument.enum_type": "args_schema: {a: {enum: [1]}}",
    "tool.type_unknown": "tool_type: doer",
    "tool.keyword_empty": "selection_keywords: [' ']",
    "argument.items_unused": "args_schema: {a: {type: string, items: {type: string}}}",
    "key.unknown": "multi_item: true",
}


@pytest.mark.parametrize(("code", "key"), TOOL_FAULTS.items())
def test_a_tool_that_makes_no_sense_is_told(code: str, key: str):
    assert codes_of(tools=f"version: 1\ntools:\n  t:\n    description: x\n    mcp_server: s\n    {key}\n") == [code]


def test_a_tool_needs_a_server():
    assert codes_of(tools="version: 1\ntools:\n  t: {description: x}\n") == ["tool.server_missing"]


ROUTING_FAULTS = {
    "intent.tool_unknown": "intents: [{name: i, mcp_tools: [x]}]",
    "intent.name_missing": "intents: [{mcp_tools: [t]}]",
    "intent.twice": "intents: [{name: i, mcp_tools: [t]}, {name: i, mcp_tools: [t]}]",
    "intent.tool_internal": "intents: [{name: i, mcp_tools: [v]}]",
    "intent.no_tools": "intents: [{name: i}]",
    "router.phrase_empty": "router: {confirmation_phrases: {en: {confirm: ['']}}}",
    "router.phrase_ambiguous": "router: {confirmation_phrases: {en: {confirm: [ok], reject: [OK]}}}",
    "type.list": "intents: {i: {}}",
}


@pytest.mark.parametrize(("code", "routing"), ROUTING_FAULTS.items())
def test_routing_that_leads_nowhere_is_told(code: str, routing: str):
    assert codes_of(routing=f"version: 1\n{routing}\n") == [code]


PROFILE_FAULTS = {
    "profile.base_url_scheme": "{base_url: 'file:///etc'}",
    "profile.secret_literal": "{api_key_env: sk-0123}",
    "profile.temperature_range": "{temperature: 3}",
    "profile.timeout_range": "{timeout_seconds: 0}",
    "profile.max_tokens_range": "{max_tokens: 0}",
    "type.number": "{temperature: hot}",
}


@pytest.mark.parametrize(("code", "profile"), PROFILE_FAULTS.items())
def test_a_profile_that_no_model_can_serve_is_refused(code: str, profile: str):
    assert codes_of(llm_profiles=f"version: 1\nprofiles:\n  p: {profile}\n") == [code]


WORKFLOW_FAULTS = {
    "workflow.start_unknown": "start: x\nnodes: [{id: n, action: t}]",
    "workflow.start_missing": "nodes: [{id: n, action: t}]",
    "workflow.empty": "start: n",
    "workflow.node_twice": "start: n\nnodes: [{id: n, action: t}, {id: n, action: t}]",
    "workflow.action_unknown": "start: n\nnodes: [{id: n, action: x}]",
    "workflow.argument_unknown": "start: n\nnodes: [{id: n, action: t, input: {z: 1}}]",
    "workflow.reference_unknown": "start: n\nnodes: [{id: n, action: t, input: {c: ['$.nodes.x.y']}}]",
    "workflow.reference_later": "start: n\nnodes: [{id: n, action: t, input: {a: $.nodes.n.y}}]",
    "workflow.reference_malformed": "start: n\nnodes: [{id: n, action: t, input: {a: $.elsewhere.y}}]",
    "workflow.edge_unknown": "start: n\nnodes: [{id: n, action: t}]\nedges: [{from: n, to: x}]",
    "workflow.when_operator": (
        "start: n\nnodes: [{id: n, action: t}, {id: m, action: q}]\n"
        "edges: [{from: n, to: m, when: {path: $.nodes.n.ok}}]"
    ),
    "workflow.when_path": (
        "start: n\nnodes: [{id: n, action: t}, {id: m, action: q}]\nedges: [{from: n, to: m, when: {equals: 1}}]"
    ),
    "workflow.retry": "start: n\nnodes: [{id: n, action: t, retry: {max_attempts: many}}]",
}  # fmt: skip


@pytest.mark.parametrize(("code", "workflow"), WORKFLOW_FAULTS.items())
def test_a_workflow_that_cannot_run_is_told(code: str, workflow: str):
    assert codes_of(**{"workflows__w.v1": f"name: w\nversion: 1\n{workflow}\n"}) == [code]


def test_a_workflow_that_never_calls_its_tool_is_refused():
    workflow = "name: w\nversion: 1\nstart: n\nnodes: [{id: n, action: q}]\n"
    policy = POLICIES + "  t: {execution: {workflow: w}}\n"

    assert codes_of(tool_policies=policy, **{"workflows__w.v1": workflow}) == ["policy.workflow_without_tool"]


def test_a_leftover_workflow_that_nobody_runs_does_not_stop_an_import():
    reading = yaml_io.read_sets([DEFINITIONS / "contas"], base=read("pedidos"), stdio_commands=COMMANDS)

    assert reading.problems == ()
    assert reading.definitions is not None
    assert ("devolucao_pedido", 1) in reading.definitions.workflows
