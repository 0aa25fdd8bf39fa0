"""Any valid set of definitions, for the tests that must hold for all of them."""

from dataclasses import replace

from hypothesis import strategies as st

from tooling.specs import (
    ArgumentSpec,
    ArgumentType,
    Atomicity,
    CacheSpec,
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

WORDS = [
    "no",
    "012",
    "0o17",
    "~",
    "null",
    "1_000",
    "2026-01-02",
    "a: b",
    "- x",
    "#",
    " padded ",
    "'",
    '"',
    "\n",
    "a\x85b",
    "\u2028",
    "é😀",
    "=",
]
letters = st.characters(codec="utf-8", exclude_characters="\0")
text = st.one_of(st.sampled_from(WORDS), st.text(letters, max_size=12))
said = text.filter(lambda value: bool(value.strip()))
name = st.one_of(
    st.sampled_from(["no", "null", "Y", "_", "e1", "true", "_012", "a.b-c", "x" * 100]),
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True),
)
value = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(-1e9, 1e9), text),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)),
    max_leaves=5,
)
locale = st.sampled_from(["pt-BR", "en", "no", "es-419"])
localized = st.builds(Text, text, st.dictionaries(locale, text, max_size=2))
texts = st.lists(said, max_size=3).map(tuple)
count = st.integers(1, 2_147_483_647)
fraction = st.floats(0.001, 1e6)


def named(spec: type, **fields: st.SearchStrategy) -> st.SearchStrategy:
    """A mapping of ``spec`` by name; the fields are the rest."""
    return st.dictionaries(name, st.fixed_dictionaries(fields), max_size=2).map(
        lambda found: {key: spec(name=key, **values) for key, values in found.items()}
    )


servers = st.fixed_dictionaries(
    {
        "s": st.builds(
            ServerSpec,
            name=st.just("s"),
            endpoint=st.just("https://x.example/mcp"),
            enabled=st.booleans(),
            headers=st.dictionaries(st.sampled_from(["X-A", "X-B"]), st.text("ab \t:#'", max_size=9), max_size=2),
        ),
        "p": st.builds(
            ServerSpec,
            name=st.just("p"),
            transport=st.just(Transport.STDIO),
            command=st.just("python"),
            args=st.lists(text, max_size=3).map(tuple),
            env=st.dictionaries(st.sampled_from(["A", "B"]), st.just("${TOKEN}"), max_size=2),
        ),
    }
)
plain_argument = st.builds(
    ArgumentSpec,
    name=name,
    type=st.sampled_from(ArgumentType),
    label=localized,
    description=localized,
    user_prompt=localized,
    format=st.sampled_from(["", "date", "x: y"]),
)
choice_argument = st.builds(ArgumentSpec, name=name, enum=st.lists(text, max_size=3).map(tuple))
list_argument = st.builds(
    ArgumentSpec,
    name=name,
    type=st.just(ArgumentType.ARRAY),
    items=st.dictionaries(said.filter(lambda key: key != "type"), value, max_size=2),
)
arguments = st.lists(
    st.one_of(plain_argument, choice_argument, list_argument), max_size=4, unique_by=lambda one: one.name
).map(tuple)
tools = named(
    ToolSpec,
    description=localized,
    mcp_server=st.sampled_from(["s", "p"]),
    enabled=st.booleans(),
    tool_type=st.sampled_from(ToolType),
    arguments=arguments,
    selection_keywords=texts,
    cache=st.builds(CacheSpec, st.booleans(), st.integers(0, 10**6)),
    response=st.dictionaries(text, value, max_size=2),
    safe_to_simulate=st.booleans(),
)
profiles = named(
    ProfileSpec,
    provider=text,
    model=text,
    base_url=st.sampled_from(["", "http://127.0.0.1:9/v1"]),
    api_key_env=st.sampled_from(["", "KEY"]),
    temperature=st.none() | st.floats(0, 2),
    max_tokens=st.none() | count,
    timeout_seconds=st.none() | fraction,
)
routers = st.builds(
    RouterSpec,
    st.floats(0, 1),
    st.dictionaries(
        locale,
        st.builds(
            Phrases,
            st.lists(st.sampled_from(["sim", "ok", "no"]), max_size=3).map(tuple),
            st.lists(st.sampled_from(["não", "nope", "012"]), max_size=3).map(tuple),
        ),
        max_size=2,
    ),
)


@st.composite
def policies(draw: st.DrawFn, tool: ToolSpec, others: list[str], workflow: bool) -> PolicySpec:
    names = list(tool.argument_names)
    execution = (
        ExecutionSpec(ExecutionMode.WORKFLOW, "w.1", draw(st.sampled_from([None, 7]))) if workflow else ExecutionSpec()
    )
    validation = PreValidationSpec(False, draw(st.sampled_from(["", *others])), draw(st.booleans()))
    return PolicySpec(
        tool=tool.name,
        operation_type=draw(st.sampled_from(OperationType)),
        require_confirmation=draw(st.booleans()),
        requires=tuple(draw(st.lists(st.sampled_from(names), unique=True))) if names else (),
        pre_validation=validation,
        execution=execution,
        idempotency=draw(st.sampled_from(Idempotency)),
        on_intent_shift=draw(st.sampled_from(OnIntentShift)),
        expires_after=draw(st.none() | st.integers(1, 10**8)),
        timeout_seconds=draw(st.none() | fraction),
        max_items=draw(st.none() | count),
        atomicity=draw(st.sampled_from(Atomicity)),
        requires_identity=draw(st.booleans()),
    )


@st.composite
def with_helpers(draw: st.DrawFn, own: dict[str, PolicySpec]) -> dict[str, PolicySpec]:
    """Some policies get a validator that may be one, and some a reconcile tool that may be one."""
    validators = [name for name, policy in own.items() if policy.operation_type is OperationType.INTERNAL]
    quiet = [name for name, policy in own.items() if policy.operation_type in QUIET]
    for name in own:
        if validators and name not in validators and draw(st.booleans()):
            validation = PreValidationSpec(True, draw(st.sampled_from(validators)), draw(st.booleans()))
            own[name] = replace(own[name], pre_validation=validation)
        if quiet and draw(st.booleans()):
            own[name] = replace(own[name], reconcile_tool=draw(st.sampled_from(quiet)))
    return own


@st.composite
def mappings(draw: st.DrawFn, tool: ToolSpec) -> MappingSpec:
    names = st.sampled_from(tool.argument_names)
    texts_only = [one.name for one in tool.arguments if one.type is ArgumentType.STRING and not one.enum]
    defaults = draw(st.dictionaries(st.sampled_from(texts_only), text, max_size=2)) if texts_only else {}
    extract = st.builds(
        ExtractSpec,
        field=names,
        type=st.sampled_from(ArgumentType),
        strategy=st.sampled_from(Strategy),
        description=localized,
        pattern=st.sampled_from([r"(\d+)", "(?i)('é')"]),
        group=st.integers(0, 1),
    )
    extracts = draw(st.lists(extract, max_size=2, unique_by=lambda one: one.field))
    return MappingSpec(tool.name, draw(st.dictionaries(said, names, min_size=1, max_size=2)), defaults, tuple(extracts))


QUIET = (OperationType.READ_ONLY, OperationType.INTERNAL)


def _workflows(draw: st.DrawFn, runner: str, own: dict[str, PolicySpec]) -> dict[tuple[str, int], WorkflowSpec]:
    """The workflow that ``runner`` runs, and others beside it whose names are hard on files."""
    names = [("w.1", 7), ("w.1", 8), ("w:1", 7), ("w_1", 7), ("no", 2)]
    chosen = {("w.1", 7), *draw(st.lists(st.sampled_from(names), max_size=3))}
    return {key: replace(_workflow(draw, runner, own), name=key[0], version=key[1]) for key in sorted(chosen)}


def _workflow(draw: st.DrawFn, runner: str, own: dict[str, PolicySpec]) -> WorkflowSpec:
    """A workflow of ``runner``, with a second node where some other tool changes nothing."""
    quiet = [key for key, one in own.items() if key != runner and one.operation_type in QUIET]
    nodes, edges = [WorkflowNode("first: 1", runner)], []
    if quiet:
        nodes.append(WorkflowNode("2", draw(st.sampled_from(quiet)), retry={"max_attempts": 2}))
        when = draw(st.sampled_from([{}, {"path": "$.nodes.first: 1.ok", "equals": None}]))
        edges.append(WorkflowEdge("first: 1", "2", when, draw(st.integers(-5, 5))))
    return WorkflowSpec("w.1", 7, "first: 1", tuple(nodes), tuple(edges))


@st.composite
def definitions(draw: st.DrawFn) -> Definitions:
    """A set that ``check`` finds no error in."""
    all_tools = draw(tools)
    runner = draw(st.sampled_from([None, *all_tools]))
    own = {key: draw(policies(tool, list(all_tools), workflow=key == runner)) for key, tool in all_tools.items()}
    own = draw(with_helpers(own))
    return Definitions(
        servers=draw(servers),
        tools=all_tools,
        policies=own,
        mappings={
            key: draw(mappings(tool)) for key, tool in all_tools.items() if tool.arguments and draw(st.booleans())
        },
        intents=draw(
            named(
                IntentSpec,
                description=localized,
                mcp_tools=st.lists(st.sampled_from(list(all_tools)), unique=True).map(tuple)
                if all_tools
                else st.just(()),
                keywords=texts,
                examples=texts,
                priority=st.integers(-100, 100),
                enabled=st.booleans(),
                domain=text,
                agent=text,
            )
        ),
        router=draw(routers),
        profiles=draw(profiles),
        workflows=_workflows(draw, runner, own) if runner is not None else {},
    )
