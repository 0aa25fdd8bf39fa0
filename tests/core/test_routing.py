"""Keywords, the tool of an intent, and the router's request and answer (runtime.md §3, §6.8)."""

import json

import pytest

from tests.loading import cases
from tooling.specs import ArgumentSpec, ArgumentType, IntentSpec, Text, ToolSpec
from transactions.core.parameters import Unreadable
from transactions.core.routing import (
    ActiveTransaction,
    AskWhich,
    Chosen,
    NoTool,
    Routing,
    keyword_match,
    read_routing,
    routing_request,
    routing_schema,
    select_tool,
)
from transactions.core.statuses import Status

CASES = cases("intents")
BY_KEYWORD = [case for case in CASES if case["given"].get("keywords")]
BY_MODEL = [
    case
    for case in CASES
    if "intent_routing" in case["when"].get("model", {})
    and ("confidence_threshold" in case["given"] or case["given"].get("keywords") == {})
]
BY_TOOL = [case for case in CASES if "intent_tools" in case["given"]]
# INT-044 is open: a comma between the words leaves them adjacent here; a missed comma is commoner than a meant one.


def intents_of(given):
    priorities = given.get("priority", {})
    return [
        IntentSpec(name=name, keywords=tuple(keywords), priority=priorities.get(name, 100))
        for name, keywords in given["keywords"].items()
    ]


def tool(name, *keywords, enabled=True, arguments=()):
    return ToolSpec(
        name=name,
        description=Text(f"what {name} does"),
        mcp_server="s",
        enabled=enabled,
        arguments=arguments,
        selection_keywords=keywords,
    )


# Keywords -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", BY_KEYWORD, ids=lambda case: case["id"])
def test_a_keyword_names_the_intent(case):
    wanted = case["then"]["keyword_match"] if "keyword_match" in case["then"] else case["then"]["intent"]

    match = keyword_match(case["when"]["message"], intents_of(case["given"]))

    assert (match.name if match else None) == wanted


def test_case_and_accents_do_not_matter_on_either_side():
    intent = IntentSpec(name="a", keywords=("Situação do Pedido",))

    assert keyword_match("qual a SITUACAO do pedido 7?", [intent]) is intent


def test_words_that_are_not_adjacent_are_no_keyword():
    intent = IntentSpec(name="a", keywords=("segunda via",))

    assert keyword_match("segunda eu pego a via", [intent]) is None


def test_a_disabled_intent_and_an_empty_keyword_match_nothing():
    disabled = IntentSpec(name="a", keywords=("fatura",), enabled=False)
    empty = IntentSpec(name="b", keywords=("", "?!"))

    assert keyword_match("fatura", [disabled, empty]) is None


def test_after_length_and_priority_the_name_decides_whatever_the_order():
    later, earlier = IntentSpec(name="b", keywords=("via",)), IntentSpec(name="a", keywords=("via",))

    assert keyword_match("via", [later, earlier]) is earlier
    assert keyword_match("via", [earlier, later]) is earlier


def test_of_several_keywords_of_one_intent_the_longest_counts():
    both = IntentSpec(name="b", keywords=("via", "segunda via"), priority=9)
    one = IntentSpec(name="a", keywords=("segunda",), priority=1)

    assert keyword_match("segunda via", [one, both]) is both


# The tool of an intent ----------------------------------------------------------------------------


@pytest.mark.parametrize("case", BY_TOOL, ids=lambda case: case["id"])
def test_the_message_selects_the_tool(case):
    tools = {name: tool(name, *keywords) for name, keywords in case["given"]["intent_tools"].items()}
    intent = IntentSpec(name="i", mcp_tools=tuple(tools))

    choice = select_tool(intent, tools, case["when"]["message"])

    if "asks_which" in case["then"]:
        assert choice == AskWhich(tuple(case["then"]["asks_which"]))
    else:
        assert choice == Chosen(case["then"]["tool"])


def test_the_only_tool_is_chosen_whatever_its_keywords():
    intent = IntentSpec(name="i", mcp_tools=("t",))

    assert select_tool(intent, {"t": tool("t", "devolver")}, "quero isso") == Chosen("t")


def test_the_longest_selection_keyword_wins_and_a_draw_is_asked():
    tools = {"t1": tool("t1", "trocar"), "t2": tool("t2", "trocar de plano"), "t3": tool("t3", "planos")}
    intent = IntentSpec(name="i", mcp_tools=("t1", "t2", "t3"))

    assert select_tool(intent, tools, "quero trocar de plano") == Chosen("t2")
    assert select_tool(intent, tools, "trocar planos") == AskWhich(("t1", "t3"))


def test_a_disabled_tool_is_chosen_only_by_name_and_never_offered():
    tools = {"on": tool("on"), "off": tool("off", "antigo", enabled=False), "more": tool("more", "x")}

    assert select_tool(IntentSpec(name="i", mcp_tools=("on", "off")), tools, "o antigo") == Chosen("off")
    assert select_tool(IntentSpec(name="i", mcp_tools=("on", "off")), tools, "outro") == Chosen("on")
    assert select_tool(IntentSpec(name="i", mcp_tools=("off",)), tools, "outro") == Chosen("off")


def test_an_intent_without_a_tool_that_exists_has_none():
    assert select_tool(IntentSpec(name="i"), {}, "oi") == NoTool()
    assert select_tool(IntentSpec(name="i", mcp_tools=("gone",)), {"t": tool("t")}, "oi") == NoTool()


# The request --------------------------------------------------------------------------------------


def test_the_request_offers_enabled_intents_and_tells_of_the_active_transaction():
    arguments = (
        ArgumentSpec("code", label=Text("the code")),
        ArgumentSpec("days", type=ArgumentType.INTEGER),
        ArgumentSpec("secret"),
    )
    active = ActiveTransaction(
        tool=tool("t", arguments=arguments),
        status=Status.COLLECTING_PARAMETERS,
        known={"code": "A1"},
        pending=("days",),
    )
    intents = [
        IntentSpec(name="on", description=Text("x", {"en": "y"}), examples=("z",)),
        IntentSpec("off", enabled=False),
    ]

    request = routing_request("hi", active=active, intents=intents, last_assistant_message="How long?", locale="en")

    assert list(request) == ["message", "active_transaction", "intents", "last_assistant_message", "locale"]
    assert request["intents"] == [{"name": "on", "description": "y", "examples": ["z"]}]
    told = request["active_transaction"]
    assert list(told) == ["tool", "tool_description", "status", "known", "pending", "schema"]
    assert (told["status"], told["known"], told["pending"]) == ("COLLECTING_PARAMETERS", {"code": "A1"}, ["days"])
    assert list(told["schema"]) == ["code", "days"]
    assert json.loads(json.dumps(request)) == request


def test_without_a_transaction_the_request_says_null():
    request = routing_request("hi", active=None, intents=[], last_assistant_message=None, locale="en")

    assert request["active_transaction"] is None


def test_the_schema_is_strict_and_asks_for_the_decision_first():
    argument = ArgumentSpec("days", type=ArgumentType.INTEGER)
    schema = routing_schema(
        [IntentSpec("a"), IntentSpec("off", enabled=False)], tool("t", arguments=(argument,)), ("days",)
    )

    assert list(schema["properties"]) == ["decision", "intent", "confidence", "values", "reason"]
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    assert schema["properties"]["intent"]["enum"] == ["a", None]
    corrections = schema["properties"]["values"]["anyOf"][0]
    assert list(corrections["properties"]) == corrections["required"] == ["days"]


def test_without_known_parameters_nothing_can_be_corrected():
    assert routing_schema([], None, ())["properties"]["values"] == {"type": "null"}


# The answer ---------------------------------------------------------------------------------------


def answer(**changed):
    return {"decision": "shift", "intent": "a", "confidence": 0.9, "values": None, "reason": "r", **changed}


@pytest.mark.parametrize("case", BY_MODEL, ids=lambda case: case["id"])
def test_a_shift_counts_from_the_threshold_on_and_only_to_an_intent_that_exists(case):
    wanted, given = case["then"].get("intent"), case["when"]["model"]["intent_routing"]
    intents = [IntentSpec("trocar_plano"), IntentSpec("outra")]

    read = read_routing(given, intents=intents)

    assert isinstance(read, Routing)
    reaches = read.confidence >= case["given"].get("confidence_threshold", 0.65)
    is_shift = read.decision == "shift" and read.intent is not None and reaches
    assert is_shift is (wanted not in (None, "fallback"))
    assert not is_shift or read.intent == wanted


@pytest.mark.parametrize("confidence", [1.5, -0.1, float("nan"), float("inf"), "0.9", True, None, [1], 10**400])
def test_a_confidence_that_is_no_number_from_0_to_1_is_none(confidence):
    assert read_routing(answer(confidence=confidence), intents=[IntentSpec("a")]).confidence == 0.0


@pytest.mark.parametrize("intent", ["b", "off", "", "A", 1, None, ["a"], {}])
def test_an_intent_that_is_not_on_offer_is_none(intent):
    intents = [IntentSpec("a"), IntentSpec("off", enabled=False)]

    assert read_routing(answer(intent=intent), intents=intents).intent is None


@pytest.mark.parametrize(
    "value", [None, [], "shift", 1, {}, answer(decision="leap"), answer(decision=None), answer(decision=[])]
)
def test_without_a_decision_of_the_contract_the_answer_is_unreadable(value):
    assert isinstance(read_routing(value, intents=[IntentSpec("a")]), Unreadable)


def test_corrections_are_the_values_that_are_not_null():
    read = read_routing(answer(decision="continue", values={"x": None, "y": 0, "z": "v"}), intents=[])

    assert read.values == {"y": 0, "z": "v"}


@pytest.mark.parametrize("values", [None, [], "x", 1])
def test_corrections_that_are_no_object_are_none(values):
    read = read_routing(answer(values=values, reason=None), intents=[])

    assert (read.values, read.reason) == ({}, "")


@pytest.mark.parametrize(
    ("message", "matches"),
    [
        ("quero ver a fatura", True),
        ("não quero ver a fatura", False),
        ("I don't want the fatura", False),
        ("não, quero é ver a minha fatura de março", True),
        ("a fatura não chegou", True),
    ],
)
def test_a_negated_keyword_is_left_to_the_model(message: str, matches: bool) -> None:
    intent = IntentSpec(name="x", keywords=("fatura",))

    assert (keyword_match(message, [intent]) is not None) is matches
