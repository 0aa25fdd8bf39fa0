"""Whatever a set of definitions holds, checking it ends, raises nothing and says the same again."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.generated import definitions, text, value
from tooling.admin.labels import MODELS, section_of
from tooling.checks_of_sets import check
from tooling.doubts import doubts
from tooling.drift import address_of
from tooling.findings import Finding, Severity
from tooling.hints import HINTS
from tooling.specs import (
    ArgumentSpec,
    ArgumentType,
    Definitions,
    ExecutionMode,
    ExecutionSpec,
    ExtractSpec,
    Idempotency,
    IntentSpec,
    MappingSpec,
    OnIntentShift,
    OperationType,
    Phrases,
    PolicySpec,
    PreValidationSpec,
    ProfileSpec,
    RouterSpec,
    ServerSpec,
    Strategy,
    Text,
    ToolSpec,
    ToolType,
    Transport,
    WorkflowEdge,
    WorkflowNode,
    WorkflowSpec,
)

NAMES = ["a", "b", "c", "", "a b", "items", "idempotency_key", "target_tool", "x" * 101, "\u202e"]
name = st.sampled_from(NAMES)
"""Few, so that references meet; some of them are no names at all."""
said = (
    st.sampled_from(["", "cancelar", "Cancelar  pedido", "pedido", "sim", "SÍM", "?!", "não", "\u202ecancelar"]) | text
)
phrases = st.lists(said, max_size=4).map(tuple)
number = st.sampled_from([None, 0, -1, 1, 59, 2**40])
reference = st.sampled_from(["$.", "$.input.a", "$.nodes.a.ok", "$.nodes.b", "$.x.y", "$.input.", "plain"])
json = st.recursive(reference | value, lambda inner: st.lists(inner, max_size=2), max_leaves=3)


def by_name(spec: type, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(name, st.fixed_dictionaries(fields), max_size=4).map(
        lambda found: {
            key: spec(**{("tool" if spec in (PolicySpec, MappingSpec) else "name"): key}, **values)
            for key, values in found.items()
        }
    )


words = st.builds(Text, said, st.dictionaries(st.sampled_from(["pt-BR", "en"]), said, max_size=1))
arguments = st.lists(
    st.builds(
        ArgumentSpec,
        name=name,
        type=st.sampled_from(ArgumentType),
        label=words,
        enum=st.lists(json, max_size=3).map(tuple),
        format=st.sampled_from(["", "date", "x" * 50]),
        items=st.sampled_from([{}, {"type": "object"}, {"type": ["string"]}, {"type": "object", "properties": {}}]),
    ),
    max_size=3,
).map(tuple)
tools = by_name(
    ToolSpec,
    description=words,
    mcp_server=name,
    enabled=st.booleans(),
    tool_type=st.sampled_from(ToolType),
    arguments=arguments,
    selection_keywords=phrases,
)
policies = by_name(
    PolicySpec,
    operation_type=st.sampled_from(OperationType),
    require_confirmation=st.booleans(),
    requires=st.lists(name, max_size=3).map(tuple),
    pre_validation=st.builds(PreValidationSpec, st.booleans(), name, st.booleans()),
    execution=st.builds(ExecutionSpec, st.sampled_from(ExecutionMode), name, st.sampled_from([None, 0, 1])),
    reconcile_tool=name,
    idempotency=st.sampled_from(Idempotency),
    on_intent_shift=st.sampled_from(OnIntentShift),
    expires_after=number,
    timeout_seconds=number,
    max_items=number,
    requires_identity=st.booleans(),
)
extracts = st.builds(
    ExtractSpec,
    field=name,
    source=name,
    strategy=st.sampled_from(Strategy),
    pattern=st.sampled_from(["", "(", "(a)", "(?<=a+)b", "a{1,99999999999}", "\\"]),
    group=st.integers(-1, 2),
)
mappings = by_name(
    MappingSpec,
    map=st.dictionaries(name, name, max_size=2),
    defaults=st.dictionaries(name, value, max_size=2),
    extract=st.lists(extracts, max_size=2).map(tuple),
)
servers = by_name(
    ServerSpec,
    transport=st.sampled_from(Transport),
    endpoint=st.sampled_from(["", "http://[::1", "http://x:99999", "ftp://x", "https://u:p@x/?token=1"]) | text,
    command=name,
    enabled=st.booleans(),
    headers=st.dictionaries(name, said, max_size=2),
)
intents = by_name(
    IntentSpec,
    description=words,
    mcp_tools=st.lists(name, max_size=3).map(tuple),
    keywords=phrases,
    examples=phrases,
    priority=st.integers(-1, 1),
    enabled=st.booleans(),
)
routers = st.builds(
    RouterSpec,
    st.floats(allow_nan=True),
    st.dictionaries(
        st.sampled_from(["pt-BR", "PT", "pt_pt", "en", "", "-"]), st.builds(Phrases, phrases, phrases), max_size=3
    ),
)
profiles = by_name(
    ProfileSpec,
    base_url=said,
    api_key_env=said,
    temperature=st.none() | st.floats(),
    max_tokens=number,
    timeout_seconds=number,
)
whens = st.dictionaries(st.sampled_from(["path", "equals", "exists", "in", "x"]), json, max_size=3)
workflows = st.dictionaries(
    st.tuples(name, st.integers(0, 2)),
    st.tuples(
        name,
        st.lists(
            st.builds(
                WorkflowNode,
                name,
                name,
                st.dictionaries(name, json, max_size=2),
                st.dictionaries(name, value, max_size=1),
            ),
            max_size=4,
        ).map(tuple),
        st.lists(st.builds(WorkflowEdge, name, name, whens, st.integers(-1, 1)), max_size=5).map(tuple),
    ),
    max_size=3,
).map(lambda found: {key: WorkflowSpec(key[0], key[1], *parts) for key, parts in found.items()})
anything = st.builds(Definitions, servers, tools, policies, mappings, intents, routers, profiles, workflows)

tool_schemas = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(name, json, max_size=3) | json,
        "required": st.lists(json, max_size=2) | json,
    },
)


@st.composite
def listings(draw: st.DrawFn, definitions: Definitions) -> Mapping[str, Any]:
    """What the servers of ``definitions`` may have listed."""
    return {
        key: {
            "server": address_of(server),
            "tools": draw(st.dictionaries(name, tool_schemas, max_size=3)),
            "is_whole": draw(st.booleans()),
        }
        for key, server in definitions.servers.items()
    }


def all_of(definitions: Definitions, listed: Mapping[str, Any]) -> tuple[Finding, ...]:
    return (*check(definitions, stdio_commands=["python"]), *doubts(definitions, listed))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_checking_anything_raises_nothing_and_finds_the_same_again(data: st.DataObject):
    definitions = data.draw(anything)
    listed = data.draw(listings(definitions))

    found = all_of(definitions, listed)

    assert found == all_of(definitions, listed)
    for one in found:
        assert one.code in HINTS
        assert one.message.strip()
        assert str(one)
        assert all(isinstance(step, str) for step in one.path)
        assert section_of(one.path) in MODELS
        assert len(one.path) > 1 or one.path == ("router",)
        assert not (one.needs_tick and one.severity is not Severity.WARNING)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_doubts_are_never_errors_and_do_not_depend_on_the_order_of_names(data: st.DataObject):
    one = data.draw(anything)
    turned = replace(
        one,
        tools=dict(reversed(one.tools.items())),
        policies=dict(reversed(one.policies.items())),
        servers=dict(reversed(one.servers.items())),
    )

    found, other = doubts(one), doubts(turned)

    assert not any(each.is_error for each in found)
    assert sorted(found, key=lambda each: each.key) == sorted(other, key=lambda each: each.key)


@settings(max_examples=40, deadline=None)
@given(definitions())
def test_sets_that_may_be_published_still_may(one: Definitions):
    assert not any(found.is_error for found in all_of(one, {}))
