"""The definition set that the runtime cases are played on: a shop with one tool for every operation they name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tooling.specs import (
    ArgumentSpec,
    ArgumentType,
    Definitions,
    IntentSpec,
    OperationType,
    Phrases,
    PolicySpec,
    PreValidationSpec,
    RouterSpec,
    ServerSpec,
    Text,
    ToolSpec,
    ToolType,
)

INTENTS = {
    "cancelar_vas_avulso": "cancelar_servico",
    "solicitar_devolucao": "devolucao",
    "cancelar_pedidos": "cancelar_pedido",
    "consultar_faturas": "fatura",
    "consultar_pedidos": "consultar_pedidos",
    "trocar_plano": "trocar_plano",
    "info_servicos": "info_servicos",
    "contestar_cobranca": "contestar",
}
ARGUMENTS: dict[str, dict[str, str]] = {
    "cancelar_vas_avulso": {"subject": "string"},
    "solicitar_devolucao": {"order_id": "string", "reason": "string"},
    "contestar_cobranca": {"subject": "string", "amount": "number"},
    "cancelar_pedidos": {"order_ids": "array"},
    "consultar_pedidos": {"desde": "string"},
    "consultar_faturas": {},
    "trocar_plano": {},
    "info_servicos": {},
    "ferramenta_b": {"subject": "string", "amount": "number"},
    "ferramenta_desligada": {"subject": "string"},
}
DESCRIPTIONS = {
    "cancelar_vas_avulso": "Cancela um ou mais serviços",
    "solicitar_devolucao": "Abre a devolução de um pedido",
    "contestar_cobranca": "Contesta uma cobrança",
}
TRANSACTIONAL = {
    "cancelar_vas_avulso",
    "solicitar_devolucao",
    "contestar_cobranca",
    "cancelar_pedidos",
    "ferramenta_b",
}


def argument(name: str, declared: Any) -> ArgumentSpec:
    """An argument from ``"array"`` or ``{"type": …, "label": …, "enum": …}``."""
    form = {"type": declared} if isinstance(declared, str) else dict(declared)
    kind = form.get("type", "string")
    is_date = kind in ("date", "date-time")
    return ArgumentSpec(
        name=name,
        type=ArgumentType.STRING if is_date or kind == "enum" else ArgumentType(kind),
        format=kind if is_date else form.get("format", ""),
        label=text(form.get("label", "")),
        description=text(form.get("description", "")),
        user_prompt=text(form.get("user_prompt", "")),
        enum=tuple(form.get("enum", ())),
    )


def text(value: str | Mapping[str, str]) -> Text:
    return Text(default=value) if isinstance(value, str) else Text(by_locale=value)


def tool(name: str, arguments: Mapping[str, Any], **more: Any) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=Text(DESCRIPTIONS.get(name, f"Operação {name.replace('_', ' ')}")),
        mcp_server="loja",
        arguments=tuple(argument(key, value) for key, value in arguments.items()),
        **more,
    )


def shop() -> Definitions:
    """Every tool without validator; transactional ones ask for a confirmation and require their arguments."""
    tools = {name: tool(name, arguments) for name, arguments in ARGUMENTS.items()}
    tools["ferramenta_desligada"] = replace(tools["ferramenta_desligada"], enabled=False)
    policies = {
        name: PolicySpec(
            tool=name,
            operation_type=OperationType.TRANSACTIONAL if name in TRANSACTIONAL else OperationType.READ_ONLY,
            require_confirmation=name in TRANSACTIONAL,
            requires=tuple(ARGUMENTS[name]) if name in TRANSACTIONAL else (),
        )
        for name in tools
    }
    return Definitions(
        servers={"loja": ServerSpec(name="loja", endpoint="http://127.0.0.1:9/mcp")},
        tools=tools,
        policies=policies,
        intents={
            intent: IntentSpec(name=intent, description=Text(f"Assunto {intent}"), mcp_tools=(name,))
            for name, intent in INTENTS.items()
        },
        router=RouterSpec(confidence_threshold=0.7),
    )


def with_tool(definitions: Definitions, spec: ToolSpec, policy: PolicySpec | None = None) -> Definitions:
    policies = {**definitions.policies, spec.name: policy or definitions.policy(spec.name)}
    return replace(definitions, tools={**definitions.tools, spec.name: spec}, policies=policies)


def with_policy(definitions: Definitions, name: str, **fields: Any) -> Definitions:
    policy = replace(definitions.policy(name), **fields)
    return replace(definitions, policies={**definitions.policies, name: policy})


def with_validator(
    definitions: Definitions, name: str, validator: str, *, fail_open: bool = False, accepts: Iterable[str] = ()
) -> Definitions:
    """``name`` validated before by ``validator``, which receives its arguments, target_tool and keep_items."""
    declared = {spec.name: spec for spec in definitions.tools[name].arguments}
    extra = {"target_tool": "string", "keep_items": "array", **dict.fromkeys(accepts, "string")}
    spec = ToolSpec(
        name=validator,
        description=Text("Valida"),
        mcp_server="loja",
        tool_type=ToolType.INTERNAL,
        arguments=(*declared.values(), *(argument(key, value) for key, value in extra.items() if key not in declared)),
    )
    internal = PolicySpec(tool=validator, operation_type=OperationType.INTERNAL)
    check = PreValidationSpec(enabled=True, tool=validator, fail_open=fail_open)
    return with_policy(with_tool(definitions, spec, internal), name, pre_validation=check)


def with_keywords(definitions: Definitions, keywords: Mapping[str, Iterable[str]]) -> Definitions:
    intents = dict(definitions.intents)
    for name, words in keywords.items():
        known = intents.get(name) or IntentSpec(name=name, mcp_tools=("consultar_faturas",))
        intents[name] = replace(known, keywords=tuple(words))
    return replace(definitions, intents=intents)


def with_router(definitions: Definitions, *, threshold: float | None = None, phrases: Any = None) -> Definitions:
    lists = {
        locale: Phrases(tuple(v.get("confirm", ())), tuple(v.get("reject", ())))
        for locale, v in (phrases or {}).items()
    }
    router = RouterSpec(
        confidence_threshold=definitions.router.confidence_threshold if threshold is None else threshold,
        confirmation_phrases=lists,
    )
    return replace(definitions, router=router)
