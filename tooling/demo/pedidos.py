"""The demo MCP server pedidos: the orders of a shop. Run with ``python -m tooling.demo.pedidos``."""

from __future__ import annotations

from functools import partial
from typing import Any

from mcp.server.mcpserver import Context, MCPServer

from tooling.demo import orders
from tooling.demo.declaring import SANDBOX, TESTER, examples
from tooling.demo.desk import Answer, Desk, Row, Visit, Work
from tooling.demo.serving import main
from tooling.demo.words import folded

PORT = 8102
CANCELLED = "cancelled"
RETURNED = "returned"
SITUATIONS = {
    "preparing": "em preparação",
    "shipped": "enviado",
    "delivered": "entregue",
    CANCELLED: "cancelado",
    RETURNED: "devolvido",
}
"""What customers read of an order."""

OPEN = ["PED-1001", "PED-1002", "PED-1003"]
GONE = ["PED-1004", "PED-1005"]
EXAMPLES = examples("order_ids", succeed=OPEN, fail=GONE, customer_key=TESTER)
RETURNS = examples(
    "order_id", succeed=["PED-1004", "PED-1008"], fail=["PED-1001"], reason="chegou com defeito", customer_key=TESTER
)


def build(desk: Desk) -> MCPServer:
    """The server with its five tools on ``desk``."""
    server = MCPServer("pedidos", log_level="WARNING", instructions="Pedidos da loja.")
    _add_queries(server, desk)
    _add_actions(server, desk)
    return server


def _add_queries(server: MCPServer, desk: Desk) -> None:
    @server.tool(meta=examples("order_ids", succeed=OPEN, fail=["PED-9998", "PED-9999"], customer_key=TESTER))
    async def consultar_pedidos(
        ctx: Context, order_ids: list[str], desde: str | None = None, customer_key: str | None = None
    ) -> dict[str, Any]:
        """Mostra a situação, os produtos e a previsão de entrega de um ou mais pedidos."""
        visit = desk.visit(ctx, "consultar_pedidos", customer_key, order_ids=order_ids, desde=desde)
        ids = orders.ids(order_ids)
        with desk.ledger.exclusive():
            rows = [_shown(desk, visit, order_id, desde or "") for order_id in ids]
        answer: Answer = {"ok": bool(rows) and all(row["ok"] for row in rows), "results": rows}
        return await desk.answer(visit, ids, answer, names="order_id")

    @server.tool(meta=EXAMPLES)
    async def validar_cancelamento_pedidos(
        ctx: Context,
        order_ids: list[str],
        keep_items: list[str] | None = None,
        target_tool: str | None = None,
        customer_key: str | None = None,
    ) -> dict[str, Any]:
        """Diz, pedido a pedido, se ainda pode ser cancelado e por quê."""
        arguments = {"order_ids": order_ids, "keep_items": keep_items, "target_tool": target_tool}
        visit = desk.visit(ctx, "validar_cancelamento_pedidos", customer_key, **arguments)
        ids = orders.ids(order_ids)
        if keep_items is not None:
            wanted = orders.ids(keep_items)
            ids = [order_id for order_id in ids if order_id in wanted]
        return await desk.answer(visit, ids, _judgement(desk, visit, ids, target_tool or "cancelar_pedidos"))

    @server.tool()
    async def reconciliar_pedidos(ctx: Context, idempotency_key: str, items: list[Any]) -> dict[str, Any]:
        """Informa o que de fato aconteceu com cada item de uma chamada anterior, pela chave de idempotência."""
        visit = desk.visit(ctx, "reconciliar_pedidos", None, idempotency_key=idempotency_key, items=items)
        with desk.ledger.exclusive():
            rows = _verdicts(desk, idempotency_key, items)
        return await desk.answer(visit, [row["order_id"] for row in rows], {"results": rows}, names="order_id")


def _add_actions(server: MCPServer, desk: Desk) -> None:
    @server.tool(meta=SANDBOX | EXAMPLES)
    async def cancelar_pedidos(ctx: Context, order_ids: list[str], customer_key: str | None = None) -> dict[str, Any]:
        """Cancela um ou mais pedidos que ainda não saíram para entrega; uma linha de resultado por pedido."""
        visit = desk.visit(ctx, "cancelar_pedidos", customer_key, order_ids=order_ids)
        ids = orders.ids(order_ids)
        rows = desk.act(visit, ids, Work("order_id", CANCELLED, "CAN", partial(_refusal_when_cancelling, desk)))
        answer: Answer = {"results": rows} if rows else {"ok": False, "error": "nenhum_pedido_citado"}
        return await desk.answer(visit, ids, answer, names="order_id")

    @server.tool(meta=SANDBOX | RETURNS)
    async def solicitar_devolucao(
        ctx: Context,
        order_id: str,
        reason: str,
        periodo_coleta: str | None = None,
        customer_key: str | None = None,
    ) -> dict[str, Any]:
        """Abre a devolução de um pedido entregue e agenda a coleta."""
        arguments = {"order_id": order_id, "reason": reason, "periodo_coleta": periodo_coleta}
        visit = desk.visit(ctx, "solicitar_devolucao", customer_key, **arguments)
        ids = orders.ids([order_id])[:1]
        rows = desk.act(visit, ids, Work("order_id", RETURNED, "DEV", partial(_refusal_of_return, desk)))
        answer: Answer = rows[0] | {"pickup": periodo_coleta or "tarde"} if rows else {"success": False}
        return await desk.answer(visit, ids, answer | {"ok": answer["success"]})


def _shown(desk: Desk, visit: Visit, order_id: str, since: str) -> Row:
    order = orders.ORDERS.get(order_id)
    reason = desk.failure(visit, order_id) or ("" if order else "nao_encontrado")
    if order is not None and since > order.placed:
        reason = reason or "anterior_a_data"
    if reason or order is None:
        return {"order_id": order_id, "ok": False, "reason": reason}
    return {
        "order_id": order_id,
        "ok": True,
        "situação": SITUATIONS[desk.outcome(visit.customer, order_id) or order.situation],
        "produto": order.product,
        "data_do_pedido": order.placed,
        "previsão_de_entrega": order.expected,
    }


def _refusal(desk: Desk, visit: Visit, order_id: str) -> str:
    """Why the order cannot be cancelled for this customer; empty where it can."""
    order = orders.ORDERS.get(order_id)
    if order is None:
        return "nao_encontrado"
    done = desk.outcome(visit.customer, order_id)
    if done:
        return "ja_cancelado" if done == CANCELLED else "ja_devolvido"
    return {"delivered": "ja_entregue", "shipped": "ja_enviado"}.get(order.situation, "")


def _refusal_when_cancelling(desk: Desk, visit: Visit, order_id: str) -> str:
    """The same, and an order that is just being packed refuses the customer's first call."""
    reason = _refusal(desk, visit, order_id)
    if reason or not orders.ORDERS[order_id].is_being_packed:
        return reason
    earlier = desk.ledger.notes("refused", customer=visit.customer, item=order_id)
    key = visit.idempotency_key
    if earlier and not (key and earlier[0]["idempotency_key"] == key):
        return ""
    if not earlier and not visit.is_dry_run:
        desk.ledger.note("refused", customer=visit.customer, item=order_id, idempotency_key=key)
    return "em_separacao"


def _refusal_of_return(desk: Desk, visit: Visit, order_id: str) -> str:
    order = orders.ORDERS.get(order_id)
    if order is None:
        return "nao_encontrado"
    done = desk.outcome(visit.customer, order_id)
    if done:
        return "ja_cancelado" if done == CANCELLED else "ja_devolvido"
    return "" if order.situation == "delivered" else "nao_entregue"


def _judgement(desk: Desk, visit: Visit, ids: list[str], target: str) -> Answer:
    """What a validator says (runtime.md §7)."""
    items: list[Row] = []
    with desk.ledger.exclusive():
        for order_id in ids:
            reason = desk.failure(visit, order_id) or _refusal(desk, visit, order_id)
            items.append({"order_id": order_id, "eligible": not reason} | ({"reason": reason} if reason else {}))
    eligible = [item["order_id"] for item in items if item["eligible"]]
    return {
        "eligible": bool(eligible),
        "status": "ELIGIBLE" if eligible else "NOT_ELIGIBLE",
        "transaction_decision": {"resolved_arguments": {"order_ids": eligible, "items": items}, "target_tool": target},
    }


def _verdicts(desk: Desk, key: str, items: list[Any]) -> list[Row]:
    """A row for each of ``items`` whose fate under ``key`` is known; none for the others."""
    fates: list[Row] = [
        {"order_id": effect["item"], "item_key": effect["item_key"], "success": True, "protocol": effect["protocol"]}
        for effect in desk.ledger.effects
        if effect["idempotency_key"] == key
    ]
    answers = desk.ledger.notes("answer", idempotency_key=key)
    fates += [row for answer in answers for row in answer["rows"] if row["success"] is False]
    if len(items) == 1 and len(fates) == 1:
        return [_for_item(items[0], fates[0])]
    return [_for_item(item, fate) for item in items for fate in fates if _said(item) & _said(fate)]


def _for_item(item: Any, fate: Row) -> Row:
    """``fate`` as the row of ``item``, under the key by which the caller knows it."""
    key = item.get("key") if isinstance(item, dict) else None
    return fate | {"item_key": key} if isinstance(key, str) else fate


def _said(thing: Any) -> set[str]:
    """The texts that may identify an item."""
    values = thing.values() if isinstance(thing, dict) else [thing]
    return {folded(value) for value in values if isinstance(value, str) and value}


if __name__ == "__main__":
    main("pedidos", PORT, build)
