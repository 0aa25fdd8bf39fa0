"""A shop whose tools stand on a real MCP server over HTTP: a validator, and an action that answers as a test says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.runtime import shop
from tests.runtime.staging import opens
from tests.runtime.world import World
from tests.tooling.mcp_servers import Behaviour, Exchange, Hostile
from tooling.gateway import ToolGateway
from tooling.specs import ServerSpec

ACTION = "cancelar_vas_avulso"
VALIDATOR = "validar"


def result(structured: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"resultType": "complete", "content": [], "structuredContent": dict(structured), **more}


def valid(exchange: Exchange) -> None:
    """Resolves to the items that the arguments name."""
    names = exchange.message["params"]["arguments"]["subject"].split(", ")
    resolved = {"items": [{"name": name} for name in names]}
    exchange.result(result({"eligible": True, "transaction_decision": {"resolved_arguments": resolved}}))


def done(exchange: Exchange) -> None:
    """Every item that was sent is done."""
    keys = exchange.message["params"]["_meta"]["agentplatform/item_keys"]
    exchange.result(result({"results": [{"item_key": key["key"], "success": True} for key in keys]}))


def desk(act: Behaviour = done, validate: Behaviour = valid) -> Behaviour:
    """The behaviour of a server with both tools."""
    return lambda exchange: (act if exchange.message["params"]["name"] == ACTION else validate)(exchange)


def calls_of(server: Hostile, tool: str = ACTION) -> list[Mapping[str, Any]]:
    return [post["params"] for post in server.posts if post["params"]["name"] == tool]


def asked(spec: ServerSpec, gateway: ToolGateway, labels: str = "Música Mais", **policy: Any) -> World:
    """The customer of a shop whose tools are at ``spec`` has named ``labels``; the validator is due."""
    definitions = shop.with_policy(shop.with_validator(shop.shop(), ACTION, VALIDATOR), ACTION, **policy)
    world = World(replace(definitions, servers={"loja": replace(spec, name="loja")}))
    world.gateway = gateway
    opens(world, ACTION, {"subject": labels})
    return world


def confirmed(spec: ServerSpec, gateway: ToolGateway, labels: str = "Música Mais", **policy: Any) -> World:
    """``labels`` are validated and confirmed; nobody has called the action yet."""
    world = asked(spec, gateway, labels, **policy)
    world.validate()
    world.says("sim")
    return world


def attempts(world: World) -> list[str]:
    """The status of every attempt, in order."""
    return list(world.transaction.attempts.values_list("status", flat=True))
