"""What a contract check never does: act outside a declared sandbox, go on after harm, run twice at a time."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tests.tooling.contract_servers import DECLARED, OPEN, SCHEMA, Till, a_till, check, codes, listing
from tooling import contract_linting, publishing
from tooling.errors import ToolingError
from tooling.linting.faults import Grade
from tooling.linting.probes import Why
from tooling.mcp_client import gateway
from tooling.models import ContractCheck, ToolGrade
from tooling.specs import ArgumentSpec, ArgumentType, OperationType, PolicySpec, Text, ToolSpec, ToolType

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]
EXAMPLES = {"agentplatform/fixtures": DECLARED["agentplatform/fixtures"]}


def sandbox(said):
    return {"agentplatform/sandbox": said, **EXAMPLES}


# Only in the sandbox ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meta", "why"),
    [
        (EXAMPLES, Why.NO_SANDBOX),
        (sandbox(True), Why.SANDBOX_MALFORMED),
        (sandbox({}), Why.SANDBOX_MALFORMED),
        (sandbox({"argument": "dry_run", "meta": "x"}), Why.SANDBOX_MALFORMED),
        (sandbox({"argument": ""}), Why.SANDBOX_MALFORMED),
        (sandbox({"argument": ["dry_run"]}), Why.SANDBOX_MALFORMED),
        (sandbox({"argument": "dry_run", "value": None}), Why.SANDBOX_MALFORMED),
        (sandbox({"meta": "agentplatform/idempotency_key"}), Why.SANDBOX_MALFORMED),
        (sandbox({"argument": "simulate"}), Why.SANDBOX_ARGUMENT_UNKNOWN),
    ],
)
def test_what_changes_something_is_never_called_without_a_sandbox_that_is_understood(meta, why):
    with a_till(listed=listing(meta)) as server:
        found = check(boletos=OPEN)

        assert (found.why, found.grade, found.calls) == (why, Grade.NOT_CHECKED, ())
        assert server.posts == []
    assert ToolGrade.objects.get().grade == "not_checked"


def test_a_tool_that_says_it_changes_something_is_not_believed_to_read_because_we_say_so():
    with a_till(listed=listing(EXAMPLES, annotations={"destructiveHint": True}),
                operation_type=OperationType.READ_ONLY) as server:  # fmt: skip
        found = check()

        assert found.why is Why.SAYS_IT_CHANGES
        assert server.posts == []


@pytest.mark.parametrize("mark", [{"argument": "dry_run"}, {"meta": "x/rehearse", "value": "yes"}])
def test_every_call_is_marked_whatever_values_and_mapping_say(mark):
    till = Till()
    arguments = (ArgumentSpec("boletos", ArgumentType.ARRAY), ArgumentSpec("dry_run", ArgumentType.BOOLEAN))
    with a_till(till, listing(sandbox(mark)), mapping={"dry_run": False}) as server:
        held = publishing.draft()
        spec = replace(held.tools["cancelar"], arguments=arguments)
        publishing.replace_draft(replace(held, tools={**held.tools, "cancelar": spec}))
        check(dry_run=mark != {"argument": "dry_run"})
        sent = [post["params"] for post in server.posts]

    assert len(sent) >= 8
    for each in sent:
        assert each["_meta"]["agentplatform/dry_run"] is True
        where = each["arguments"] if "argument" in mark else each["_meta"]
        assert where[mark.get("argument") or mark["meta"]] == mark.get("value", True)


def test_a_mapping_that_fills_the_mark_would_make_dry_runs_of_real_calls_and_is_told():
    arguments = (ArgumentSpec("boletos", ArgumentType.ARRAY), ArgumentSpec("dry_run", ArgumentType.BOOLEAN))
    with a_till(mapping={"dry_run": True}):
        held = publishing.draft()
        spec = replace(held.tools["cancelar"], arguments=arguments)
        publishing.replace_draft(replace(held, tools={**held.tools, "cancelar": spec}))
        found = check()

    assert (codes(found), found.grade) == ({"dry_run_always"}, Grade.UNSAFE)


# The first harm is the last -----------------------------------------------------------------------------------


def test_a_dry_run_that_was_real_is_seen_by_its_second_call_and_nothing_follows():
    gone = []

    def really(till, rows):
        for row in rows:
            if row["success"] and row["boleto"] in gone:
                row |= {"success": False, "reason": "ja cancelado"}
            gone.append(row["boleto"])
        return {"results": rows}

    with a_till(Till(really)) as server:
        found = check()

        assert len(server.posts) == 2
    assert (codes(found), found.grade) == ({"dry_run_had_effect"}, Grade.UNSAFE)
    assert gone == ["BOL-1", "BOL-1"]


def test_a_reconcile_tool_that_knows_of_the_dry_run_ends_the_check():
    till = Till()

    def behave(exchange):
        if exchange.message["params"]["name"] == "conciliar":
            asked = exchange.message["params"]["arguments"]["items"]
            rows = [{"item_key": each["key"], "success": True} for each in asked]
            exchange.result({"resultType": "complete", "content": [], "structuredContent": {"results": rows}})
        else:
            till.behave(exchange)

    with a_till(till, reconcile_tool="conciliar") as server:
        server.behave = behave
        held = publishing.draft()
        fields = (ArgumentSpec("idempotency_key"), ArgumentSpec("items", ArgumentType.ARRAY))
        spec = ToolSpec("conciliar", Text("Concilia."), "caixa", tool_type=ToolType.INTERNAL, arguments=fields)
        policy = PolicySpec("conciliar", OperationType.INTERNAL)
        tools, policies = {**held.tools, "conciliar": spec}, {**held.policies, "conciliar": policy}
        publishing.replace_draft(replace(held, tools=tools, policies=policies))
        found = check()

        assert [post["params"]["name"] for post in server.posts][-1] == "conciliar"
    assert (codes(found), found.grade) == ({"dry_run_reconciled"}, Grade.UNSAFE)


def answering(number, do):
    """Answers well, and from the call ``number`` on as ``do`` does."""
    till, calls = Till(), []

    def behave(exchange):
        calls.append(exchange)
        (do if len(calls) > number else till.behave)(exchange)

    return till, behave


@pytest.mark.parametrize(
    ("do", "code"),
    [
        (lambda exchange: exchange.hang(), "too_slow"),
        (lambda exchange: exchange.raw(b'{"jsonrpc": "2.0", "id": 1, "result": "' + b"x" * 11_000_000), "too_large"),
        (lambda exchange: exchange.reset(), "no_answer"),
        (lambda exchange: exchange.json({}, status=503), "no_answer"),
        (lambda exchange: exchange.json({}, status=429), "not_reached"),
    ],
)
def test_a_server_that_stops_answering_is_not_asked_again(do, code):
    till, behave = answering(4, do)
    with a_till(till, timeout_seconds=1.0) as server:
        server.behave = behave
        found = check()

        assert len(server.posts) == 5
    assert code in codes(found)
    assert found.grade is Grade.USABLE


def test_a_call_that_the_server_refuses_as_such_is_told():
    with a_till() as server:
        server.behave = lambda exchange: exchange.error(-32602)
        found = check()

    assert codes(found) == {"call_refused"}
    assert found.grade is Grade.NOT_CHECKED


# What is stored and told --------------------------------------------------------------------------------------


def test_hostile_texts_are_cut_and_shown_as_they_are():
    evil = "\u202e<script>alert(1)</script>\x1b[31m\x00" + "x" * 5000
    with a_till(Till(lambda till, rows: {"results": [*rows, {"boleto": evil, "success": False, "reason": evil}]})):
        found = check()

    kept = str(ToolGrade.objects.get().report)
    assert "extra_row" in codes(found)
    assert not {"\u202e", "\x1b", "\x00"} & set(kept)
    assert max(len(call.came) for call in found.calls) < 2000
    assert all(len(item) <= 120 for fault in found.faults for item in fault.items)


def test_the_grade_is_kept_with_who_asked_and_becomes_an_old_one_when_the_definition_changes():
    with a_till() as server:
        check()
        grade = ToolGrade.objects.get()
        held = publishing.draft()

        assert (grade.tool, grade.server, grade.grade, grade.checked_by) == ("cancelar", "caixa", "good", "bia")
        assert grade.definition == contract_linting.definition_of(held, "cancelar")
        for other in (
            replace(held, policies={**held.policies, "cancelar": PolicySpec("cancelar")}),
            replace(held, tools={**held.tools, "cancelar": replace(held.tools["cancelar"], arguments=())}),
            replace(held, servers={"caixa": replace(server.spec, name="caixa", endpoint="http://127.0.0.1:1/")}),
        ):
            assert grade.definition != contract_linting.definition_of(other, "cancelar")


def test_no_call_is_made_inside_a_transaction_of_the_database():
    class Watching:
        def call(self, call):
            assert not connection.in_atomic_block
            return gateway().call(call)

        def list_tools(self, server, timeout=10.0):
            assert not connection.in_atomic_block
            return gateway().list_tools(server, timeout)

    with a_till():
        assert check(gateway=Watching()).grade is Grade.GOOD


def test_one_check_of_a_server_runs_at_a_time_and_a_dead_one_is_forgotten():
    with a_till() as server:
        running = contract_linting.lint(contract_linting.look("caixa"), ["cancelar", "validar"])
        next(running)
        with pytest.raises(contract_linting.BusyServer, match="somebody else is checking caixa"):
            check()
        made = len(server.posts)
        running.close()
        check()

        assert len(server.posts) == 2 * made
        ContractCheck.objects.update(until=timezone.now() - timedelta(seconds=1))
        assert check().grade is Grade.GOOD
    assert ContractCheck.objects.get().until is None


def test_a_check_that_breaks_lets_the_next_one_in():
    class Broken:
        def call(self, call):
            raise RuntimeError("broken")

    with a_till():
        seen = contract_linting.look("caixa")
        with pytest.raises(RuntimeError, match="broken"):
            list(contract_linting.lint(seen, ["cancelar"], gateway=Broken()))

        assert check().grade is Grade.GOOD


# Values -------------------------------------------------------------------------------------------------------


def test_without_examples_a_validator_is_called_with_given_values_only():
    bare = [{**each, "_meta": {}} for each in listing()]
    with a_till(listed=bare) as server:
        without = check("validar")
        made = len(server.posts)
        found = check("validar", boletos=["BOL-1", "BOL-9"])

    assert (without.why, without.names, made) == (Why.VALUES_MISSING, ("boletos",), 0)
    assert found.calls
    # Nobody knows what should become of them, so a set of which some are refused was not tried.
    assert (codes(found), found.grade) == ({"untried"}, Grade.USABLE)


def test_an_argument_that_only_the_server_requires_is_told():
    schema = {**SCHEMA, "required": ["boletos", "agencia"]}
    with a_till(listed=listing(schema=schema)) as server:
        found = check()

        assert server.posts == []
    assert (found.why, found.names) == (Why.NOT_DECLARED, ("agencia",))


def test_typed_values_fit_their_arguments_or_are_refused():
    kinds = ["string", "integer", "number", "boolean", "array", "object"]
    tool = ToolSpec("t", Text("T"), "s", arguments=tuple(ArgumentSpec(kind, ArgumentType(kind)) for kind in kinds))
    texts = {"string": " 012 ", "integer": "7", "number": "1.5", "boolean": "true", "array": "a, b", "object": "{}"}

    assert contract_linting.values_for(tool, texts | {"other": " "}) == {
        "string": "012", "integer": 7, "number": 1.5, "boolean": True, "array": ["a", "b"], "object": {},
    }  # fmt: skip
    wrong = {"integer": "x", "number": "true", "boolean": "1", "array": '["a"', "object": "[" * 9999, "other": "x"}
    for name, text in wrong.items():
        with pytest.raises(contract_linting.BadValue):
            contract_linting.values_for(tool, {name: text})


def test_a_server_that_is_not_there_is_said_before_anything_is_called():
    with a_till() as server:
        server.stop()
        with pytest.raises(ToolingError, match="caixa gave no list of tools"):
            contract_linting.look("caixa")
    with pytest.raises(ToolingError, match='the draft has no server "other"; there is caixa'):
        contract_linting.look("other")
