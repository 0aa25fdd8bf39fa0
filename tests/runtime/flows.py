"""A shop whose returns run as a workflow: look at the order, return it, look again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.runtime import shop
from tooling.specs import (
    Definitions,
    ExecutionMode,
    ExecutionSpec,
    MappingSpec,
    WorkflowEdge,
    WorkflowNode,
    WorkflowSpec,
)

ACTION, LOOK, AFTERWARDS = "solicitar_devolucao", "ver_pedido", "ver_depois"


def the_workflow(version: int = 1, **fields: Any) -> WorkflowSpec:
    """Look at the order; if it may be returned, return it; if that gave a protocol, look again."""
    nodes = (
        WorkflowNode("olhar", LOOK, {"order_ids": ["$.input.order_id"], "customer_key": "$.input.customer_key"}),
        WorkflowNode(
            "devolver",
            ACTION,
            {"order_id": "$.nodes.olhar.id", "reason": "$.input.reason", "note": "$.nodes.olhar.note"},
        ),
        WorkflowNode("olhar_de_novo", AFTERWARDS, {"order_ids": ["$.nodes.devolver.protocol"]}),
    )
    edges = (
        WorkflowEdge("olhar", "devolver", {"path": "$.nodes.olhar.ok", "equals": True}),
        WorkflowEdge("devolver", "olhar_de_novo", {"path": "$.nodes.devolver.protocol", "exists": True}),
    )
    return replace(WorkflowSpec("devolucao", version, "olhar", nodes, edges), **fields)


def definitions(workflow: WorkflowSpec | None = None, **policy: Any) -> Definitions:
    """The shop whose returns run as a workflow; the customer's key comes from the signed identity."""
    spec = workflow or the_workflow()
    set_ = shop.shop()
    for name in (LOOK, AFTERWARDS):
        set_ = shop.with_tool(set_, shop.tool(name, {"order_ids": "array", "customer_key": "string"}))
    arguments = {"order_id": "string", "reason": "string", "note": "string", "customer_key": "string"}
    set_ = shop.with_tool(set_, shop.tool(ACTION, arguments))
    execution = ExecutionSpec(ExecutionMode.WORKFLOW, spec.name)
    set_ = shop.with_policy(set_, ACTION, execution=execution, **policy)
    mappings = {name: MappingSpec(name, map={"customer_key": "customer_key"}) for name in (LOOK, ACTION)}
    return replace(set_, workflows={(spec.name, spec.version): spec}, mappings=mappings)
