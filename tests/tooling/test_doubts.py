"""What is allowed and worth a second look before it is published: each doubt with the set that raises it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.tooling.conftest import read
from tooling.checks_of_sets import check
from tooling.doubts import doubts
from tooling.findings import Severity
from tooling.specs import (
    ArgumentSpec,
    ArgumentType,
    Definitions,
    ExecutionMode,
    ExecutionSpec,
    Idempotency,
    IntentSpec,
    MappingSpec,
    OnIntentShift,
    OperationType,
    Phrases,
    PolicySpec,
    PreValidationSpec,
    RouterSpec,
    ServerSpec,
    Text,
    ToolSpec,
    ToolType,
    WorkflowNode,
    WorkflowSpec,
)

SAID = Text("o que é")
CANCEL = ToolSpec("cancel", SAID, "s", tool_type=ToolType.ACTION, arguments=(ArgumentSpec("order", label=SAID),))
SHOW = ToolSpec("show", SAID, "s", arguments=(ArgumentSpec("order", label=SAID),))
VALIDATE = ToolSpec("validate", SAID, "s", tool_type=ToolType.INTERNAL, arguments=(ArgumentSpec("order"),))
RECONCILE = ToolSpec("reconcile", SAID, "s", tool_type=ToolType.INTERNAL, arguments=(ArgumentSpec("idempotency_key"),))
CANCELLING = PolicySpec(
    "cancel",
    OperationType.TRANSACTIONAL,
    require_confirmation=True,
    requires=("order",),
    pre_validation=PreValidationSpec(True, "validate"),
    reconcile_tool="reconcile",
)
TO_CANCEL = IntentSpec("to_cancel", SAID, ("cancel",), ("cancelar pedido",), ("cancela o meu pedido",))
TO_SHOW = IntentSpec("to_show", SAID, ("show",), ("ver pedido",), ("cadê o meu pedido",))
GOOD = Definitions(
    servers={
        "s": ServerSpec("s", endpoint="https://x.example/mcp"),
        "t": ServerSpec("t", endpoint="https://y.example"),
    },
    tools={tool.name: tool for tool in (CANCEL, SHOW, VALIDATE, RECONCILE)},
    policies={
        "cancel": CANCELLING,
        "show": PolicySpec("show", requires=("order",)),
        "validate": PolicySpec("validate", OperationType.INTERNAL),
        "reconcile": PolicySpec("reconcile", OperationType.INTERNAL),
    },
    intents={intent.name: intent for intent in (TO_CANCEL, TO_SHOW)},
)
Change = Callable[[Definitions], Definitions]


def tool(name: str, **changes: object) -> Change:
    return lambda one: replace(one, tools={**one.tools, name: replace(one.tools[name], **changes)})


def policy(name: str, **changes: object) -> Change:
    return lambda one: replace(one, policies={**one.policies, name: replace(one.policy(name), **changes)})


def intent(name: str, **changes: object) -> Change:
    return lambda one: replace(one, intents={**one.intents, name: replace(one.intents[name], **changes)})


def identity(**keys: str) -> Change:
    """The mapping of cancel takes ``keys`` from the identity."""
    return lambda one: replace(one, mappings={"cancel": MappingSpec("cancel", keys)})


def also(added: ToolSpec) -> Change:
    return lambda one: replace(one, tools={**one.tools, added.name: added})


def phrases(**lists: tuple[str, ...]) -> Change:
    return lambda one: replace(one, router=RouterSpec(confirmation_phrases={"pt-BR": Phrases(**lists)}))


def off(server: str) -> Change:
    return lambda one: replace(one, servers={**one.servers, server: replace(one.servers[server], enabled=False)})


def workflow(*nodes: WorkflowNode, is_used: bool = True) -> Change:
    """A workflow that runs cancel, or nobody's."""
    spec = WorkflowSpec("w", 1, nodes[0].id, nodes)
    runs = policy("cancel", execution=ExecutionSpec(ExecutionMode.WORKFLOW, "w")) if is_used else together()
    return lambda one: replace(runs(one), workflows={("w", 1): spec})


def together(*changes: Change) -> Change:
    def change(definitions: Definitions) -> Definitions:
        for each in changes:
            definitions = each(definitions)
        return definitions

    return change


def order(**changes: object) -> tuple[ArgumentSpec, ...]:
    return (ArgumentSpec("order", **({"label": SAID} | changes)),)


SECOND = replace(SHOW, name="show_all")
OWN_NODE = WorkflowNode("own", "cancel", {"order": "$.input.order"})

RAISED = {
    # What policies allow
    "policy.fail_open": policy("cancel", pre_validation=PreValidationSpec(True, "validate", fail_open=True)),
    "policy.requires_nothing": policy("cancel", requires=(), pre_validation=PreValidationSpec()),
    "policy.action_repeated": together(
        policy("cancel", operation_type=OperationType.READ_ONLY, reconcile_tool=""),
    ),
    "policy.identity_asked": together(identity(customer_key="order"), policy("cancel", requires_identity=True)),
    "policy.identity_optional": together(
        tool("cancel", arguments=(*CANCEL.arguments, ArgumentSpec("customer"))), identity(customer_key="customer")
    ),
    "policy.identity_unused": policy("cancel", requires_identity=True),
    "policy.expires_early": policy("cancel", expires_after=59),
    "policy.park_unused": policy("show", on_intent_shift=OnIntentShift.PARK),
    # What customers are asked
    "argument.no_question": tool("cancel", arguments=(ArgumentSpec("order"),)),
    "argument.shapeless": tool("cancel", arguments=order(type=ArgumentType.OBJECT)),
    "argument.enum_blank": tool("cancel", arguments=order(enum=("a", " "))),
    "argument.enum_alike": tool("cancel", arguments=order(enum=("Manhã", "manha"))),
    # Who helps
    "policy.validator_blind": tool("validate", arguments=(ArgumentSpec("pedido"),)),
    "policy.validator_argument": together(
        tool("validate", arguments=(*VALIDATE.arguments, ArgumentSpec("channel"))),
        policy("validate", requires=("order", "channel")),
    ),
    "policy.validator_server_disabled": together(tool("validate", mcp_server="t"), off("t")),
    "policy.reconcile_missing": policy("cancel", reconcile_tool=""),
    "policy.reconcile_disabled": tool("reconcile", enabled=False),
    "policy.reconcile_blind": tool("reconcile", arguments=(ArgumentSpec("order"),)),
    # Words
    "intent.keyword_twice": intent("to_show", keywords=("ver pedido", "CANCELAR  pedido!")),
    "intent.keyword_inside": intent("to_show", keywords=("pedido",)),
    "intent.keyword_wordless": intent("to_show", keywords=("ver pedido", "$$$")),
    "intent.example_twice": intent("to_show", examples=("Cancela o meu pedido.",)),
    "intent.tools_alike": together(also(SECOND), intent("to_show", mcp_tools=("show", "show_all"))),
    "tool.keyword_twice": together(
        also(replace(SECOND, selection_keywords=("Último",))),
        tool("show", selection_keywords=("ultimo",)),
        intent("to_show", mcp_tools=("show", "show_all")),
    ),
    "router.phrase_rejects": phrases(confirm=("Tá não",), reject=("ta nao",)),
    "router.phrase_keyword": phrases(confirm=("quero cancelar pedido",)),
    # Ways in
    "intent.no_words": intent("to_show", keywords=(), examples=()),
    "intent.tool_disabled": tool("show", enabled=False),
    "router.no_intents": lambda one: replace(one, intents={}),
    "tool.not_offered": also(SECOND),
    "workflow.unused": workflow(OWN_NODE, is_used=False),
    "workflow.action_disabled": together(
        also(replace(SECOND, enabled=False)),
        workflow(OWN_NODE, WorkflowNode("look", "show_all", {"order": "x"})),
    ),
    "workflow.argument_missing": workflow(replace(OWN_NODE, input={})),
}
"""Code → a change of the good set that raises it, and nothing else."""


def codes(definitions: Definitions) -> list[str]:
    return [one.code for one in doubts(definitions)]


def test_the_good_set_raises_nothing():
    assert check(GOOD) == ()
    assert doubts(GOOD) == ()


@pytest.mark.parametrize("code", RAISED)
def test_each_doubt_is_raised_by_what_it_is_about_and_alone(code: str):
    changed = RAISED[code](GOOD)

    assert codes(changed) == [code]
    assert not any(one.is_error for one in (*doubts(changed), *(one for one in check(changed) if one.code == code)))


NEEDS_A_TICK = {"policy.fail_open", "policy.action_repeated", "policy.identity_asked", "router.phrase_keyword"}


@pytest.mark.parametrize("code", RAISED)
def test_only_what_can_cost_a_customer_something_needs_a_tick(code: str):
    (found,) = doubts(RAISED[code](GOOD))

    assert found.needs_tick is (code in NEEDS_A_TICK)


def test_an_action_without_a_confirmation_is_a_warning_that_needs_a_tick():
    (found,) = check(policy("cancel", require_confirmation=False)(GOOD))

    assert (found.code, found.severity, found.needs_tick) == ("policy.no_confirmation", Severity.WARNING, True)


def test_an_open_validator_of_what_changes_nothing_needs_no_tick():
    is_open = PreValidationSpec(True, "validate", fail_open=True)

    (found,) = doubts(policy("show", pre_validation=is_open)(GOOD))

    assert (found.code, found.needs_tick) == ("policy.fail_open", False)


# Sets of the tests --------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("contas",), ("pedidos",), ("contas", "pedidos")])
def test_the_demo_sets_raise_nothing(names: tuple[str, ...]):
    assert doubts(read(*names)) == ()


def test_what_is_open_in_the_other_sets_is_said():
    assert codes(read("biblioteca")) == ["policy.reconcile_missing"]
    assert [(one.code, one.path[1]) for one in doubts(read("legacy"))] == [
        ("argument.no_question", "consultar_faturas"),
        ("argument.no_question", "cancelar_produtos"),
        ("argument.no_question", "contestar_cobranca"),
        ("argument.no_question", "contestar_cobranca"),
        ("argument.no_question", "contestar_cobranca"),
        ("argument.no_question", "prorrogar_vencimento"),
        ("policy.reconcile_missing", "cancelar_produtos"),
        ("policy.reconcile_missing", "contestar_cobranca"),
    ]


# Rules of the single doubts -----------------------------------------------------------------------


def test_the_keyword_with_the_lower_priority_number_wins_then_the_first_name():
    shared = together(intent("to_show", keywords=("x",)), intent("to_cancel", keywords=("x",)))

    (by_name,) = doubts(shared(GOOD))
    (by_priority,) = doubts(together(shared, intent("to_show", priority=1))(GOOD))

    assert by_name.path == ("intents", "to_show", "keywords", "0")
    assert by_name.message.endswith('"to_cancel", which gets the message: its name comes first')
    assert by_priority.path == ("intents", "to_cancel", "keywords", "0")
    assert by_priority.message.endswith('"to_show", which gets the message: its priority number is lower')


def test_keywords_of_one_intent_may_stand_in_each_other():
    assert codes(intent("to_show", keywords=("ver", "ver o pedido", "o pedido"))(GOOD)) == []


def test_an_intent_that_is_off_takes_no_words():
    shared = intent("to_show", keywords=TO_CANCEL.keywords, examples=TO_CANCEL.examples, enabled=False)

    assert codes(shared(GOOD)) == ["tool.not_offered"]


def test_a_keyword_inside_another_is_only_a_note():
    (found,) = doubts(RAISED["intent.keyword_inside"](GOOD))

    assert found.severity is Severity.NOTE
    assert found.message == 'a message with "cancelar pedido" goes to intent "to_cancel": its keyword is longer'


def test_an_intent_without_any_words_is_a_warning():
    (found,) = doubts(intent("to_show", keywords=(), examples=(), description=Text())(GOOD))

    assert (found.code, found.severity) == ("intent.no_words", Severity.WARNING)


def test_a_key_that_the_server_runs_once_explains_what_became_of_a_call():
    assert codes(policy("cancel", reconcile_tool="", idempotency=Idempotency.KEY)(GOOD)) == []


def test_the_key_of_the_request_is_nothing_of_the_identity():
    keyed = together(
        tool("cancel", arguments=(*CANCEL.arguments, ArgumentSpec("key"))), identity(idempotency_key="key")
    )

    assert codes(keyed(GOOD)) == []
    assert codes(together(keyed, policy("cancel", requires_identity=True))(GOOD)) == ["policy.identity_unused"]


def test_a_validator_may_require_what_the_runtime_gives_it():
    declared = (*VALIDATE.arguments, ArgumentSpec("target_tool"), ArgumentSpec("keep_items"))
    needs = together(
        tool("validate", arguments=declared), policy("validate", requires=("order", "target_tool", "keep_items"))
    )

    assert codes(needs(GOOD)) == []


def test_where_the_server_of_an_open_validator_is_off_requests_go_on_unchecked():
    is_open = policy("cancel", pre_validation=PreValidationSpec(True, "validate", fail_open=True))
    found = doubts(together(RAISED["policy.validator_server_disabled"], is_open)(GOOD))

    assert [one.code for one in found] == ["policy.fail_open", "policy.validator_server_disabled"]
    assert found[1].message.endswith("every request for cancel goes on unchecked")


def test_a_reconcile_tool_on_a_server_that_is_off_is_as_good_as_none():
    (found,) = doubts(together(tool("reconcile", mcp_server="t"), off("t"))(GOOD))

    assert found.code == "policy.reconcile_disabled"


def test_a_list_of_objects_without_parts_cannot_be_said_and_one_with_parts_can():
    vague = order(type=ArgumentType.ARRAY, items={"type": "object"})
    clear = order(type=ArgumentType.ARRAY, items={"type": "object", "properties": {"id": {"type": "string"}}})

    assert codes(tool("cancel", arguments=vague)(GOOD)) == ["argument.shapeless"]
    assert codes(tool("cancel", arguments=clear)(GOOD)) == []


def test_arguments_that_other_tools_give_need_no_question():
    assert codes(policy("validate", requires=("order",))(GOOD)) == []


def test_doubts_come_with_what_needs_a_tick_first_and_notes_last():
    found = doubts(
        together(*(RAISED[code] for code in ("intent.keyword_inside", "argument.no_question", "policy.fail_open")))(
            GOOD
        )
    )

    assert [(one.code, one.severity.value) for one in found] == [
        ("policy.fail_open", "warning"),
        ("argument.no_question", "warning"),
        ("intent.keyword_inside", "note"),
    ]


def test_a_finding_is_named_by_its_code_and_its_place():
    (found,) = doubts(RAISED["policy.fail_open"](GOOD))

    assert found.key == "policy.fail_open@tool_policies.cancel.pre_validation.fail_open"
    assert str(found).startswith("tool_policies.cancel.pre_validation.fail_open: warning: fail_open is on")
