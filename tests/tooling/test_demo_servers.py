"""The demo servers: their options, token, ledger, switches and what survives a restart."""

import json
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tests.acceptance.client import get, post
from tests.processes import ROOT
from tests.tooling.mcp_servers import Demo
from tooling.gateway import Answered, Call, NoAnswer, NotSent
from tooling.mcp_client import McpGateway

pytestmark = pytest.mark.timeout(120)
KEY = "agentplatform/idempotency_key"
META = {KEY: "key-1", "agentplatform/transaction_id": "tx-1", "agentplatform/request_digest": "sha256:1"}


@pytest.fixture(scope="module", params=["auto", "legacy"])
def gateway(request):
    """Clients of both protocols."""
    gateway = McpGateway(request.param)
    yield gateway
    gateway.close()


@pytest.fixture(scope="module")
def pedidos(module_processes, tmp_path_factory):
    demo = Demo(module_processes, "pedidos", tmp_path_factory.mktemp("pedidos") / "ledger")
    demo.start()
    return demo


@pytest.fixture(autouse=True)
def fresh(pedidos):
    """Every test starts from the data of the dialogues."""
    post(pedidos.admin("reset"), {})


def cancel(gateway, demo, *orders, meta=None, seconds=20.0, customer="C-1"):
    arguments = {"order_ids": list(orders), "customer_key": customer}
    return gateway.call(Call(demo.spec, "cancelar_pedidos", arguments, meta or {}, timeout=seconds))


def rows(outcome):
    assert isinstance(outcome, Answered), outcome
    return outcome.structured["results"]


# Effects ------------------------------------------------------------------------------------------------------


def test_an_effect_is_in_the_ledger_with_the_keys_of_its_call(gateway, pedidos):
    meta = META | {"agentplatform/item_keys": [{"key": "i1", "label": "PED-1001"}]}

    row = rows(cancel(gateway, pedidos, "PED-1001", meta=meta))[0]

    assert row == {"order_id": "PED-1001", "item_key": "i1", "success": True, "protocol": row["protocol"]}
    effect = pedidos.effects[0]
    assert effect.pop("at").endswith("Z")
    assert effect == {
        "tool": "cancelar_pedidos",
        "item": "PED-1001",
        "outcome": "cancelled",
        "protocol": row["protocol"],
        "customer": "C-1",
        "idempotency_key": "key-1",
        "item_key": "i1",
        "transaction_id": "tx-1",
        "request_digest": "sha256:1",
    }


def test_the_same_key_with_the_same_arguments_gets_the_stored_answer(gateway, pedidos):
    first = cancel(gateway, pedidos, "PED-1001", "PED-1006", meta=META)
    second = cancel(gateway, pedidos, "PED-1001", "PED-1006", meta=META)

    assert rows(second) == rows(first)
    assert len(pedidos.effects) == 1


def test_the_same_key_with_other_arguments_is_an_error_and_does_nothing(gateway, pedidos):
    cancel(gateway, pedidos, "PED-1001", meta=META)
    other = cancel(gateway, pedidos, "PED-1002", meta=META)

    assert isinstance(other, Answered)
    assert other.is_error
    assert len(pedidos.effects) == 1


def test_every_customer_has_orders_of_their_own(gateway, pedidos):
    cancel(gateway, pedidos, "PED-1001", customer="A")

    again = rows(cancel(gateway, pedidos, "PED-1001", customer="A"))[0]
    other = rows(cancel(gateway, pedidos, "PED-1001", customer="B"))[0]

    assert again["reason"] == "ja_cancelado"
    assert other["success"] is True


def test_a_restart_keeps_what_was_done_and_answered(gateway, processes, tmp_path):
    demo = Demo(processes, "pedidos", tmp_path / "ledger")
    child = demo.start()
    first = rows(cancel(gateway, demo, "PED-1001", "PED-1006", meta=META))
    child.kill()
    demo.start()

    second = cancel(gateway, demo, "PED-1001", "PED-1006", meta=META)
    if isinstance(second, NotSent):  # a session of the 2025 protocol ends with its server
        second = cancel(gateway, demo, "PED-1001", "PED-1006", meta=META)

    assert rows(second) == first
    assert len(demo.effects) == 1


def test_a_line_that_a_crash_cut_off_spoils_no_other(gateway, processes, tmp_path):
    demo = Demo(processes, "pedidos", tmp_path / "ledger")
    demo.ledger.write_text('{"item": "PED-10')
    demo.start()

    cancel(gateway, demo, "PED-1001")

    assert [effect["item"] for effect in demo.effects] == ["PED-1001"]


# Faults -------------------------------------------------------------------------------------------------------


def test_a_failing_item_has_no_effect_and_says_why(gateway, pedidos):
    pedidos.fault(tool="cancelar_pedidos", item="PED-1002", behaviour="fail", reason="sem_estoque", times=1)

    answer = rows(cancel(gateway, pedidos, "PED-1001", "PED-1002"))
    later = rows(cancel(gateway, pedidos, "PED-1002"))

    assert [row["success"] for row in answer] == [True, False]
    assert answer[1]["reason"] == "sem_estoque"
    assert later[0]["success"] is True


def test_a_dropped_answer_leaves_the_effect_and_no_answer(gateway, pedidos):
    pedidos.fault(tool="cancelar_pedidos", behaviour="drop_answer", times=1)

    lost = cancel(gateway, pedidos, "PED-1001", meta=META)
    again = cancel(gateway, pedidos, "PED-1001", meta=META)

    assert isinstance(lost, NoAnswer)
    assert rows(again)[0]["protocol"] == pedidos.effects[0]["protocol"]
    assert len(pedidos.effects) == 1


def test_a_delayed_answer_comes_after_the_effect(gateway, pedidos):
    pedidos.fault(tool="cancelar_pedidos", behaviour="delay", seconds=30, times=1)

    late = cancel(gateway, pedidos, "PED-1001", seconds=1)

    assert isinstance(late, NoAnswer)
    assert [effect["item"] for effect in pedidos.effects] == ["PED-1001"]


def test_an_omitted_row_is_missing_though_the_effect_is_there(gateway, pedidos):
    pedidos.fault(tool="cancelar_pedidos", item="PED-1002", behaviour="omit_row")

    answer = rows(cancel(gateway, pedidos, "PED-1001", "PED-1002"))

    assert [row["order_id"] for row in answer] == ["PED-1001"]
    assert len(pedidos.effects) == 2


def test_cleared_faults_strike_no_more(gateway, pedidos):
    pedidos.fault(tool="cancelar_pedidos", behaviour="fail")
    request = urllib.request.Request(pedidos.admin("faults"), method="DELETE")
    urllib.request.urlopen(request).close()

    assert rows(cancel(gateway, pedidos, "PED-1001"))[0]["success"] is True


@pytest.mark.parametrize("body", [{}, {"tool": "x"}, {"tool": "x", "behaviour": "explode"}, [1]])
def test_what_is_no_fault_is_refused(pedidos, body):
    status, _ = post(pedidos.admin("faults"), body)

    assert status == 400


def test_the_ledger_shows_every_call_with_its_arguments(gateway, pedidos):
    cancel(gateway, pedidos, "PED-1001", meta=META)

    call = get(pedidos.admin("ledger"))["calls"][-1]

    assert (call["tool"], call["idempotency_key"], call["customer"]) == ("cancelar_pedidos", "key-1", "C-1")
    assert call["arguments"] == {"order_ids": ["PED-1001"]}
    assert call["meta"] == META


# Starting -----------------------------------------------------------------------------------------------------


def test_a_wrong_token_is_refused_and_the_switches_need_their_option(processes, tmp_path):
    demo = Demo(processes, "contas", tmp_path / "ledger", options=("--token-env", "TOKEN"), env={"TOKEN": "right"})
    demo.start()
    request = urllib.request.Request(demo.spec.endpoint, b"{}", {"authorization": "Bearer wrong"})

    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request)
    with pytest.raises(urllib.error.HTTPError) as switch:
        get(demo.admin("ledger"))

    assert refusal.value.code == 401
    assert switch.value.code == 404


def test_an_unset_token_is_said_at_the_start():
    arguments = [sys.executable, "-m", "tooling.demo.contas", "--token-env", "NOT_SET_ANYWHERE"]
    ended = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    assert ended.returncode != 0
    assert "NOT_SET_ANYWHERE is not set" in ended.stderr


def test_a_server_that_watches_its_input_ends_with_its_parent(processes, tmp_path):
    demo = Demo(processes, "contas", tmp_path / "ledger", options=("--watch-stdin",))
    child = demo.start()

    child.process.stdin.close()

    assert child.process.wait(20) == 0


def test_the_ledger_is_a_file_of_json_lines(gateway, processes, tmp_path):
    demo = Demo(processes, "pedidos", tmp_path / "deep" / "er" / "ledger")
    demo.start()

    cancel(gateway, demo, "PED-1001", "PED-1002")

    lines = [json.loads(line) for line in demo.ledger.read_text("utf-8").splitlines()]
    assert lines == demo.effects
