"""An MCP server over HTTP whose one action keeps its contract, or breaks it in the way that a test asks for."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tests.tooling.mcp_servers import Exchange, Hostile, hostile
from tooling import contract_linting, publishing
from tooling.gateway import ToolGateway
from tooling.linting.reports import Checked
from tooling.specs import (
    ArgumentSpec,
    ArgumentType,
    Definitions,
    Idempotency,
    MappingSpec,
    OperationType,
    PolicySpec,
    PreValidationSpec,
    Text,
    ToolSpec,
    ToolType,
)

OPEN = ["BOL-1", "BOL-2", "BOL-3"]
SHUT = ["BOL-8", "BOL-9"]
ITEMS = {"type": "object", "properties": {"boletos": {"type": "array"}, "dry_run": {"type": "boolean"}}}
DECLARED = {
    "agentplatform/sandbox": {"argument": "dry_run"},
    "agentplatform/fixtures": {"succeed": OPEN, "fail": SHUT},
}
SCHEMA = {**ITEMS, "required": ["boletos"]}

Row = dict[str, Any]


@dataclass
class Till:
    """Cancels bills, as a dry run only; ``spoil`` may change the rows or the whole answer before it leaves."""

    spoil: Callable[["Till", list[Row]], Any] = lambda till, rows: {"results": rows}
    judge: Callable[[dict[str, Any]], Any] = lambda arguments: verdict(arguments)
    honours_keys: bool = True
    answers: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    keys: list[dict[str, str]] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def behave(self, exchange: Exchange) -> None:
        params = exchange.message["params"]
        if params["name"] == "validar":
            exchange.result(content_of(self.judge(params["arguments"])))
            return
        arguments, meta = params["arguments"], params["_meta"]
        key = meta["agentplatform/idempotency_key"]
        self.keys = meta["agentplatform/item_keys"]
        if arguments["dry_run"] is not True:
            self.done += arguments["boletos"]
        if self.honours_keys and key in self.answers and self.answers[key][0] != arguments:
            exchange.result({"resultType": "complete", "content": [], "isError": True})
            return
        if not (self.honours_keys and key in self.answers):
            self.answers[key] = arguments, self.spoil(self, [self.row(item) for item in arguments["boletos"]])
        said = self.answers[key][1]
        said(exchange) if callable(said) else exchange.result(content_of(said))

    def row(self, item: str) -> Row:
        row = {"boleto": item, "item_key": self.key_of(item)}
        if item in OPEN:
            return row | {"success": True, "protocol": f"P-{secrets.token_hex(4)}"}
        return row | {"success": False, "reason": "pago"}

    def key_of(self, item: str) -> str:
        return next(each["key"] for each in self.keys if each["label"] == item)


def verdict(arguments: dict[str, Any]) -> Any:
    """What a good validator answers."""
    passes = any(item in OPEN for item in arguments["boletos"])
    return {"eligible": passes, "transaction_decision": {"resolved_arguments": {"items": judged(arguments)}}}


def judged(arguments: dict[str, Any]) -> list[Row]:
    kept = arguments.get("keep_items", arguments["boletos"])
    items = [{"boleto": item, "eligible": item in OPEN} for item in arguments["boletos"] if item in kept]
    return [item | ({} if item["eligible"] else {"reason": "pago"}) for item in items]


def content_of(result: Any) -> dict[str, Any]:
    """``result`` as an answer of MCP: structured, or a text."""
    if isinstance(result, str):
        return {"resultType": "complete", "content": [{"type": "text", "text": result}]}
    return {"resultType": "complete", "content": [], "structuredContent": result}


def listing(meta: Any = None, schema: Any = None, **more: Any) -> list[dict[str, Any]]:
    declared = DECLARED if meta is None else meta
    cancel = {"name": "cancelar", "inputSchema": schema or SCHEMA, "_meta": declared, **more}
    examples = {"agentplatform/fixtures": DECLARED["agentplatform/fixtures"]}
    keep = {"type": "array"}
    validates = {"type": "object", "properties": {"boletos": keep, "keep_items": keep}, "required": ["boletos"]}
    return [cancel, {"name": "validar", "inputSchema": validates, "_meta": examples}]


def definitions(server: Hostile, **policy: Any) -> Definitions:
    """The server ``caixa`` with its action and the action's validator."""
    bills = ArgumentSpec("boletos", ArgumentType.ARRAY, items={"type": "string"})
    kept = ArgumentSpec("keep_items", ArgumentType.ARRAY, items={"type": "string"})
    tools = {
        "cancelar": ToolSpec("cancelar", Text("Cancela."), "caixa", tool_type=ToolType.ACTION, arguments=(bills,)),
        "validar": ToolSpec("validar", Text("Valida."), "caixa", tool_type=ToolType.INTERNAL, arguments=(bills, kept)),
    }
    said = {
        "operation_type": OperationType.TRANSACTIONAL,
        "require_confirmation": True,
        "requires": ("boletos",),
        "pre_validation": PreValidationSpec(True, "validar"),
        "idempotency": Idempotency.KEY,
        "timeout_seconds": 5.0,
    }
    policies = {
        "cancelar": PolicySpec("cancelar", **{**said, **policy}),
        "validar": PolicySpec("validar", OperationType.INTERNAL, requires=("boletos",), timeout_seconds=5.0),
    }
    return Definitions({"caixa": replace(server.spec, name="caixa")}, tools, policies)


@contextmanager
def a_till(
    till: Till | None = None, listed: Any = None, *, mapping: dict[str, Any] | None = None, **policy: Any
) -> Iterator[Hostile]:
    """A running server that the draft knows as ``caixa``."""
    with hostile((till or Till()).behave, listing=listed or listing()) as server:
        held = definitions(server, **policy)
        mappings = {"cancelar": MappingSpec("cancelar", defaults=mapping)} if mapping else {}
        publishing.replace_draft(replace(held, mappings=mappings))
        yield server


def check(tool: str = "cancelar", gateway: ToolGateway | None = None, **values: Any) -> Checked:
    """One check of one tool of the draft's server."""
    seen = contract_linting.look("caixa", gateway)
    (found,) = contract_linting.lint(seen, [tool], {tool: values}, gateway=gateway, by="bia")
    return found


def codes(found: Checked) -> set[str]:
    """What was found beside what every such server leaves untried."""
    return {str(each.code) for each in found.faults} - {"slow_untried"}
