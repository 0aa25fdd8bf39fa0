"""The demo MCP server contas: the paid services on a customer's line. Run with ``python -m tooling.demo.contas``."""

from __future__ import annotations

from functools import partial
from typing import Any

from mcp.server.mcpserver import Context, MCPServer

from tooling.demo import line
from tooling.demo.declaring import SANDBOX, TESTER, examples
from tooling.demo.desk import Answer, Desk, Row, Visit, Work
from tooling.demo.serving import main
from tooling.demo.words import folded

PORT = 8101
CANCELLED = "cancelled"
EXAMPLES = examples(
    "subject",
    succeed=["Música Mais Mensal", "Livros Falados Premium", "Craque 10"],
    fail=["Tela Kids", "Horóscopo do Dia"],
    separator=", ",
    contract_key=TESTER,
)


def build(desk: Desk) -> MCPServer:
    """The server with its three tools on ``desk``."""
    server = MCPServer("contas", log_level="WARNING", instructions="Serviços adicionais da linha do cliente.")

    @server.tool(meta=examples(contract_key=TESTER))
    async def listar_servicos(
        ctx: Context,
        categoria: str | None = None,
        incluir_cancelados: bool | None = False,
        contract_key: str | None = None,
    ) -> dict[str, Any]:
        """Lista os serviços adicionais da linha, com preço mensal, situação e data de contratação."""
        arguments = {"categoria": categoria, "incluir_cancelados": incluir_cancelados}
        visit = desk.visit(ctx, "listar_servicos", contract_key, **arguments)
        rows = [_listed(desk, visit, service) for service in line.LINE if _is_wanted(service, categoria)]
        shown = [row for row in rows if incluir_cancelados or row["situação"] == "ativo"]
        return await desk.answer(visit, [row["name"] for row in shown], {"ok": True, "results": shown}, names="name")

    @server.tool(meta=EXAMPLES)
    async def validar_vas_subject(
        ctx: Context,
        subject: str,
        keep_items: list[str] | None = None,
        target_tool: str | None = None,
        contract_key: str | None = None,
    ) -> dict[str, Any]:
        """Resolve o que o cliente citou em serviços da linha e diz, um a um, se podem ser cancelados."""
        arguments = {"subject": subject, "keep_items": keep_items, "target_tool": target_tool}
        visit = desk.visit(ctx, "validar_vas_subject", contract_key, **arguments)
        names = _kept(line.meant_by(subject), keep_items)
        judgement = _judgement(desk, visit, names, target_tool or "cancelar_vas_avulso")
        return await desk.answer(visit, names, judgement)

    @server.tool(meta=SANDBOX | EXAMPLES)
    async def cancelar_vas_avulso(
        ctx: Context, subject: str, canal: str | None = None, contract_key: str | None = None
    ) -> dict[str, Any]:
        """Cancela um ou mais serviços da linha; uma linha de resultado por serviço."""
        visit = desk.visit(ctx, "cancelar_vas_avulso", contract_key, subject=subject, canal=canal)
        names = line.meant_by(subject)
        work = Work("name", CANCELLED, "VAS", partial(_refusal, desk))
        rows = desk.act(visit, names, work)
        answer: Answer = {"results": rows} if rows else {"ok": False, "error": "nenhum_servico_citado"}
        return await desk.answer(visit, names, answer, names="name")

    return server


def _is_wanted(service: line.Service, category: str | None) -> bool:
    return not category or folded(category) == folded(service.category)


def _listed(desk: Desk, visit: Visit, service: line.Service) -> Row:
    is_cancelled = desk.outcome(visit.customer, service.name) == CANCELLED
    reason = desk.failure(visit, service.name)
    row: Row = {
        "name": service.name,
        "label": f"{service.name} ({service.price})",
        "ok": not reason,
        "categoria": service.category,
        "preço_mensal": service.price,
        "desde": service.since,
        "situação": "cancelado" if is_cancelled else "ativo",
    }
    return row | {"reason": reason} if reason else row


def _kept(names: list[str], keep_items: list[str] | None) -> list[str]:
    if keep_items is None:
        return names
    wanted = set(map(folded, keep_items))
    return [name for name in names if folded(name) in wanted]


def _refusal(desk: Desk, visit: Visit, name: str) -> str:
    """Why ``name`` cannot be cancelled for this customer; empty where it can."""
    service = line.by_name(name)
    if service is None:
        return "nao_contratado"
    if desk.outcome(visit.customer, service.name) == CANCELLED:
        return "ja_cancelado"
    return service.locked


def _judgement(desk: Desk, visit: Visit, names: list[str], target: str) -> Answer:
    """What a validator says (runtime.md §7); without any service named, the one value is asked for again."""
    if not names:
        return {"eligible": False, "status": "NEEDS_PARAMETER", "parameter": "subject", "clear_fields": ["subject"]}
    items: list[Row] = []
    with desk.ledger.exclusive():
        for name in names:
            reason = desk.failure(visit, name) or _refusal(desk, visit, name)
            items.append({"name": name, "eligible": not reason} | ({"reason": reason} if reason else {}))
    subject = ", ".join(item["name"] for item in items if item["eligible"])
    return {
        "eligible": bool(subject),
        "status": "ELIGIBLE" if subject else "NOT_ELIGIBLE",
        "transaction_decision": {"resolved_arguments": {"subject": subject, "items": items}, "target_tool": target},
    }


if __name__ == "__main__":
    main("contas", PORT, build)
