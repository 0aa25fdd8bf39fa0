"""The demo server pedidos: what its tools answer for the orders of the dialogues."""

import pytest

from tests.tooling.mcp_servers import Demo
from tooling.gateway import Answered, Call
from tooling.mcp_client import McpGateway

KEY = "agentplatform/idempotency_key"


@pytest.fixture(scope="module")
def demo(module_processes, tmp_path_factory):
    demo = Demo(module_processes, "pedidos", tmp_path_factory.mktemp("pedidos") / "ledger")
    demo.start()
    return demo


@pytest.fixture(scope="module")
def pedidos(demo):
    """A function that calls a tool of a running server; every customer starts from the same orders."""
    gateway = McpGateway()

    def call(tool, customer, *, key="", **arguments):
        owner = {"customer_key": customer} if customer else {}
        outcome = gateway.call(Call(demo.spec, tool, arguments | owner, {KEY: key} if key else {}))
        assert isinstance(outcome, Answered)
        assert not outcome.is_error, outcome.texts
        return outcome.structured

    yield call
    gateway.close()


def test_orders_are_shown_one_by_one_and_an_unknown_one_is_said(pedidos):
    answer = pedidos("consultar_pedidos", "q1", order_ids=["PED-1001", "1004", "PED-9999"])

    assert [(row["order_id"], row["ok"]) for row in answer["results"]] == [
        ("PED-1001", True),
        ("PED-1004", True),
        ("PED-9999", False),
    ]
    assert answer["results"][1]["situação"] == "entregue"
    assert answer["ok"] is False


def test_the_validator_says_order_by_order_and_why(pedidos):
    orders = ["PED-1001", "PED-1004", "PED-1005", "PED-1006", "PED-9999"]

    answer = pedidos("validar_cancelamento_pedidos", "v1", order_ids=orders)

    resolved = answer["transaction_decision"]["resolved_arguments"]
    assert answer["eligible"] is True
    assert resolved["order_ids"] == ["PED-1001", "PED-1006"]
    assert {item["order_id"]: item.get("reason") for item in resolved["items"]} == {
        "PED-1001": None,
        "PED-1004": "ja_entregue",
        "PED-1005": "ja_enviado",
        "PED-1006": None,
        "PED-9999": "nao_encontrado",
    }


def test_none_eligible_is_refused_with_the_reasons(pedidos):
    answer = pedidos("validar_cancelamento_pedidos", "v2", order_ids=["PED-1004", "PED-1005"])

    assert answer["eligible"] is False
    items = answer["transaction_decision"]["resolved_arguments"]["items"]
    assert [item["reason"] for item in items] == ["ja_entregue", "ja_enviado"]


def test_the_validator_keeps_only_the_orders_that_stay(pedidos):
    answer = pedidos(
        "validar_cancelamento_pedidos", "v3", order_ids=["PED-1001", "PED-1002", "PED-1003"], keep_items=["PED-1002"]
    )

    assert answer["transaction_decision"]["resolved_arguments"]["order_ids"] == ["PED-1002"]


def test_an_order_that_is_being_packed_refuses_once_and_then_goes(pedidos):
    first = pedidos("cancelar_pedidos", "c1", order_ids=["PED-1001", "PED-1006"], key="c1-a")
    resent = pedidos("cancelar_pedidos", "c1", order_ids=["PED-1001", "PED-1006"], key="c1-a")
    later = pedidos("cancelar_pedidos", "c1", order_ids=["PED-1006"], key="c1-b")

    assert [row["success"] for row in first["results"]] == [True, False]
    assert first["results"][1]["reason"] == "em_separacao"
    assert resent == first
    assert later["results"][0]["success"] is True


def test_a_delivered_order_is_returned_once_with_a_protocol(pedidos):
    first = pedidos("solicitar_devolucao", "r1", order_id="PED-1008", reason="ficou apertado", periodo_coleta="noite")
    again = pedidos("solicitar_devolucao", "r1", order_id="PED-1008", reason="ficou apertado")

    assert (first["ok"], first["success"], first["pickup"]) == (True, True, "noite")
    assert first["protocol"].startswith("DEV-")
    assert (again["ok"], again["reason"]) == (False, "ja_devolvido")
    assert "protocol" not in again


def test_an_order_that_was_not_delivered_cannot_be_returned(pedidos):
    assert pedidos("solicitar_devolucao", "r2", order_id="PED-1001", reason="x")["reason"] == "nao_entregue"


def test_reconciling_tells_what_was_done_and_what_was_refused_and_nothing_of_the_rest(pedidos):
    pedidos("cancelar_pedidos", "k1", order_ids=["PED-1001", "PED-1006"], key="k1")
    items = [{"key": f"i{order[-1]}", "label": order} for order in ("PED-1001", "PED-1006", "PED-1003")]

    rows = pedidos("reconciliar_pedidos", "", idempotency_key="k1", items=items)["results"]

    assert [(row["item_key"], row["order_id"], row["success"]) for row in rows] == [
        ("i1", "PED-1001", True),
        ("i6", "PED-1006", False),
    ]
    assert rows[0]["protocol"].startswith("CAN-")


def test_reconciling_a_call_that_never_came_tells_nothing(pedidos):
    rows = pedidos("reconciliar_pedidos", "", idempotency_key="never", items=[{"key": "i", "label": "PED-1001"}])

    assert rows == {"results": []}


def test_reconciling_a_single_effect_needs_no_name(pedidos):
    pedidos("solicitar_devolucao", "k2", order_id="PED-1004", reason="apertado", key="k2")

    rows = pedidos("reconciliar_pedidos", "", idempotency_key="k2", items=[{"key": "only", "label": "a devolução"}])

    assert [(row["item_key"], row["success"]) for row in rows["results"]] == [("only", True)]
