"""Brings a world into the state that a case gives, the way a customer would get there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.runtime import shop
from tests.runtime.fakes import answered
from tests.runtime.world import World, rows
from tooling.gateway import Answered, Call
from tooling.specs import Definitions, OnIntentShift

EXTRACTION = "transaction_parameter_extraction"
ROUTING = "intent_routing"
REPLY = "confirmation_reply"
NOTHING = {"kind": "other", "keep_item_keys": None, "values": {}, "question": None}


def shift_to(intent: str) -> dict[str, Any]:
    return {"decision": "shift", "intent": intent, "confidence": 0.99, "values": None, "reason": "test"}


def opens(world: World, tool: str, arguments: Mapping[str, Any]) -> None:
    """The customer asks for ``tool`` and names ``arguments`` in the same breath."""

    def extract(payload: Mapping[str, Any]) -> dict[str, Any]:
        values = {name: arguments.get(name) for name in payload["pending"]}
        return {
            "kind": "answers_pending" if any(v is not None for v in values.values()) else "something_else",
            "values": values,
        }

    world.model.script({ROUTING: shift_to(shop.INTENTS[tool]), EXTRACTION: extract})
    words = "; ".join(_said(value) for value in arguments.values())
    world.says(f"gostaria disso: {words}")
    world.model.script({})


def _said(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".replace(".", ",")
    return ", ".join(map(_said, value)) if isinstance(value, list) else str(value)


def validator_of(labels: list[str], *, follow_keep: bool = True) -> Any:
    """A validator that resolves to ``labels``, or to what the user kept of them."""

    def validate(call: Call) -> Answered:
        keep = call.arguments.get("keep_items") if follow_keep else None
        chosen = [label for label in labels if keep is None or label in keep]
        resolved: dict[str, Any] = {"items": [{"name": label} for label in chosen]}
        if "subject" in call.arguments:
            resolved["subject"] = ", ".join(chosen)
        return answered({"eligible": True, "transaction_decision": {"resolved_arguments": resolved}})

    return validate


def all_done(call: Call) -> Answered:
    """The action succeeds for every item it was sent."""
    keys = call.meta["agentplatform/item_keys"]
    if not keys:
        return answered({"ok": True, "protocol": "P-0"})
    return rows(
        *({"item_key": k["key"], "name": k["label"], "success": True, "protocol": f"P-{n}"} for n, k in enumerate(keys))
    )


def definitions_for(given: Mapping[str, Any], *, needs_validator: bool) -> Definitions:
    """The shop as ``given`` wants it: the tool's requires, keywords, threshold, phrases, shift policy."""
    state = given.get("state") or {}
    state = state.get("parked") or state
    definitions = shop.shop()
    name = state.get("tool")
    if name:
        required = (*state.get("arguments", {}), *state.get("pending", ()))
        if required:
            declared = {arg.name: arg for arg in definitions.tools[name].arguments}
            if set(required) != set(declared):
                spec = shop.tool(name, {key: shop.ARGUMENTS[name].get(key, "string") for key in required})
                definitions = shop.with_tool(definitions, spec)
            definitions = shop.with_policy(definitions, name, requires=tuple(required))
        shift = (given.get("policy") or {}).get("on_intent_shift")
        if shift:
            definitions = shop.with_policy(definitions, name, on_intent_shift=OnIntentShift(shift))
        if needs_validator:
            definitions = shop.with_validator(definitions, name, f"validar_{name}")
    definitions = shop.with_keywords(definitions, given.get("intents_with_keyword", {}))
    return shop.with_router(
        definitions, threshold=given.get("confidence_threshold"), phrases=given.get("phrases_of_the_release")
    )


def stage(given: Mapping[str, Any]) -> World:
    """A world in the state ``given["state"]``; labels of its items are what the validator resolves to."""
    state = given.get("state") or {}
    if parked := state.get("parked"):
        return _park(stage({**given, "state": parked}))
    status = state.get("status")
    labels = _labels(state)
    needs_validator = bool(labels) or status == "PRE_VALIDATING"
    world = World(definitions_for(given, needs_validator=needs_validator), locale=given.get("locale", "pt-BR"))
    for name in shop.ARGUMENTS:
        world.gateway.answers(name, all_done)
    tool = state.get("tool")
    if not status or not tool:
        return world
    labels = labels or ["Música Mais"]
    world.gateway.answers(f"validar_{tool}", validator_of(labels))
    known = state.get("arguments") or {}
    arguments = known or ({} if status == "COLLECTING_PARAMETERS" else _all_arguments(tool, labels))
    opens(world, tool, arguments)
    if status == "COLLECTING_PARAMETERS":
        return world
    if status == "PRE_VALIDATING":
        return world
    world.validate()
    if status in ("EXECUTING", "VERIFYING"):
        world.answers("confirm")
    if status == "VERIFYING":
        _leave_unknown(world, tool, state["items"])
    return world


def _park(world: World) -> World:
    """The customer asks for something else instead of answering, and gets it."""
    world.model.script({REPLY: NOTHING, ROUTING: shift_to(shop.INTENTS["consultar_faturas"])})
    world.gateway.answers("consultar_faturas", rows({"name": "março", "ok": True}))
    world.says("antes quero ver a fatura")
    world.work()
    world.model.script({})
    return world


def _labels(state: Mapping[str, Any]) -> list[str]:
    items = state.get("items") or []
    return list(items) if isinstance(items, dict) else [item["label"] for item in items]


def _all_arguments(tool: str, labels: list[str]) -> dict[str, Any]:
    return {name: ", ".join(labels) if kind == "string" else labels for name, kind in shop.ARGUMENTS[tool].items()}


def _leave_unknown(world: World, tool: str, items: Any) -> None:
    """The answer reports only the items that the case does not call UNKNOWN."""
    wanted = items if isinstance(items, dict) else {item["label"]: "UNKNOWN" for item in items}
    reported = [{"name": label, "success": True} for label, status in wanted.items() if status == "SUCCEEDED"]
    world.gateway.answers(tool, rows(*reported) if reported else rows({"name": "?", "success": None}))
    world.execute()
    world.gateway.answers(tool, all_done)
