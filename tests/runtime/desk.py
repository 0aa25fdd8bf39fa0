"""A shop whose tools stand on a real MCP server over HTTP: a validator, and an action that answers as a test says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.runtime import shop
from tests.runtime.staging import opens
from tests.runtime.world import World
from tests.tooling.mcp_servers import Behaviour, Exchange, Hostile
from tooling.gateway import ToolGateway
from tooling.specs import Definitions, OperationType, PolicySpec, ServerSpec, ToolType

ACTION = "cancelar_vas_avulso"
VALIDATOR = "validar"
ASK = "conferir_chamada"


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


@dataclass
class Books:
    """A server that does what it is told once per request key, knows what it did, and answers as ``how`` says.

    ``how`` gets the exchange and the rows of success; ``refusal`` is the reason with which it turns down items that
    are done already, empty: it says again that they are done.
    """

    how: Callable[[Exchange, list[dict[str, Any]]], None]
    refusal: str = ""
    effects: list[str] = field(default_factory=list)
    """The key of each item, as often as it was done."""
    done_for: set[str] = field(default_factory=set)

    def __call__(self, exchange: Exchange) -> None:
        match exchange.message["params"]["name"]:
            case name if name == VALIDATOR:
                valid(exchange)
            case name if name == ASK:
                asked_about = exchange.message["params"]["arguments"]["items"]
                known = [item for item in asked_about if item["key"] in self.effects]
                rows = [{"item_key": item["key"], "success": True, "protocol": "P-1"} for item in known]
                exchange.result(result({"results": rows}))
            case _:
                self._act(exchange)

    def _act(self, exchange: Exchange) -> None:
        meta = exchange.message["params"]["_meta"]
        key, items = meta["agentplatform/idempotency_key"], [item["key"] for item in meta["agentplatform/item_keys"]]
        verdict: dict[str, Any] = {"success": True}
        if key in self.done_for and self.refusal:
            verdict = {"success": False, "reason": self.refusal}
        self.effects += [] if key in self.done_for else items
        self.done_for.add(key)
        self.how(exchange, [{"item_key": item, **verdict} for item in items])

    @property
    def effects_per_item(self) -> int:
        return max(map(self.effects.count, self.effects), default=0)


def first_lost(lose: Behaviour) -> Callable[[Exchange, list[dict[str, Any]]], None]:
    """The first answer is lost as ``lose`` does it; the next ones arrive."""
    answers: list[Exchange] = []

    def answer(exchange: Exchange, rows: list[dict[str, Any]]) -> None:
        answers.append(exchange)
        lose(exchange) if len(answers) == 1 else exchange.result(result({"results": rows}))

    return answer


def with_reconcile_tool(definitions: Definitions) -> Definitions:
    """The action's outcome can be asked for with the tool ASK."""
    spec = shop.tool(ASK, {"idempotency_key": "string", "items": "array"}, tool_type=ToolType.INTERNAL)
    policy = PolicySpec(tool=ASK, operation_type=OperationType.INTERNAL)
    return shop.with_policy(shop.with_tool(definitions, spec, policy), ACTION, reconcile_tool=ASK)


def calls_of(server: Hostile, tool: str = ACTION) -> list[Mapping[str, Any]]:
    return [post["params"] for post in server.posts if post["params"]["name"] == tool]


def asked(spec: ServerSpec, gateway: ToolGateway, labels: str = "Música Mais", **policy: Any) -> World:
    """The customer of a shop whose tools are at ``spec`` has named ``labels``; the validator is due."""
    definitions = shop.with_validator(shop.shop(), ACTION, VALIDATOR)
    if policy.get("reconcile_tool"):
        definitions = with_reconcile_tool(definitions)
    definitions = shop.with_policy(definitions, ACTION, **policy)
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
