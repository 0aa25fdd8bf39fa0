"""``manage.py definitions lint-server``: what it prints, its exit status, and that English is said everywhere."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.tooling.contract_servers import Till, a_till, listing
from tooling.models import ToolGrade

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]


def lint(*arguments):
    out = StringIO()
    call_command("definitions", "lint-server", *arguments, stdout=out)
    return out.getvalue()


def test_every_tool_is_checked_and_its_grade_is_printed_and_kept():
    with a_till():
        told = lint("caixa")

    assert "cancelar: good\n" in told
    assert "cancelar: hint: slow_untried: The server declares no example that takes long" in told
    assert "validar: good\n" in told
    assert dict(ToolGrade.objects.values_list("tool", "checked_by")) == dict.fromkeys(
        ["cancelar", "validar"], "manage.py"
    )


def test_an_unsafe_tool_makes_the_exit_status_1_and_what_to_do_is_said():
    with a_till(Till(honours_keys=False)), pytest.raises(CommandError, match=r"^unsafe: cancelar$"):
        lint("caixa")
    with a_till(Till(honours_keys=False)):
        out = StringIO()
        with pytest.raises(CommandError):
            call_command("definitions", "lint-server", "caixa", "--tool", "cancelar", stdout=out)

    assert "cancelar: unsafe: key_ignored: The same request under the same key ran a second time.\n" in out.getvalue()
    assert "cancelar: what to do: Keep the answer by agentplatform/idempotency_key" in out.getvalue()
    assert "validar" not in out.getvalue()


def test_a_tool_that_may_not_be_called_is_said_and_is_no_failure():
    with a_till(listed=listing({})) as server:
        told = lint("caixa", "--tool", "cancelar")

        assert server.posts == []
    assert "cancelar: not checked\n" in told
    assert "cancelar: This tool changes something, and its server declares no sandbox for it." in told


def test_the_report_is_printed_as_json_with_its_sentences():
    with a_till(Till(lambda till, rows: {"results": rows[:1]})):
        said = json.loads(lint("caixa", "--json"))

    (cancel,) = [each for each in said if each["tool"] == "cancelar"]
    assert cancel["grade"] == "usable"
    missing = next(each for each in cancel["faults"] if each["code"] == "missing_row")
    assert missing["message"].startswith("No row for BOL-2, BOL-3")
    assert missing["hint"].startswith("Answer one row for each item")
    assert {each["call"] for each in cancel["calls"]} >= {"one", "mixed", "reordered"}


def test_values_are_taken_where_the_server_declares_no_examples():
    bare = [{**each, "_meta": {}} for each in listing()]
    with a_till(listed=bare) as server:
        lint("caixa", "--tool", "validar", "--value", "boletos=BOL-1, BOL-9")

        assert server.posts[-1]["params"]["arguments"]["boletos"][0] == "BOL-1"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["loja"], 'the draft has no server "loja"; there is caixa'),
        (["caixa", "--tool", "pagar"], "caixa has no enabled tool pagar in the draft; there is cancelar, validar"),
        (["caixa", "--value", "boletos"], "--value boletos: write NAME=VALUE"),
        (["caixa", "--value", "cpf=1"], "no tool to be checked has the argument cpf"),
        (["caixa", "--value", 'boletos=["'], "boletos is of type array"),
    ],
)
def test_a_wrong_command_line_is_told_and_nothing_is_called(arguments, told):
    with a_till() as server, pytest.raises(CommandError) as error:
        lint(*arguments)

    assert told in str(error.value)
    assert server.posts == []
