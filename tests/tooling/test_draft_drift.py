"""A draft is compared with what its live servers listed last: before it is published, and without asking anybody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Processes
from tests.tooling.conftest import read
from tests.tooling.mcp_servers import Demo
from tooling import publishing, server_checks
from tooling.checks_of_listings import doubts_of_listings
from tooling.drift import LARGEST_LISTING, kept
from tooling.findings import Finding
from tooling.gateway import RemoteTool
from tooling.mcp_client import McpGateway
from tooling.models import ServerState, Tool
from tooling.server_states import listings
from tooling.specs import (
    ArgumentSpec,
    ArgumentType,
    Definitions,
    ExecutionMode,
    ExecutionSpec,
    ExtractSpec,
    MappingSpec,
    OperationType,
    PolicySpec,
    PreValidationSpec,
    ServerSpec,
    Text,
    ToolSpec,
)

SHOP = ServerSpec("shop", endpoint="http://127.0.0.1:9/mcp")
PAY = ToolSpec(
    "pay",
    Text("Pays"),
    "shop",
    arguments=(ArgumentSpec("id"), ArgumentSpec("amount", ArgumentType.INTEGER), ArgumentSpec("by", enum=("a", "b"))),
)
POLICY = PolicySpec("pay", OperationType.TRANSACTIONAL, require_confirmation=True, requires=("id",))
DRAFT = Definitions(servers={"shop": SHOP}, tools={"pay": PAY}, policies={"pay": POLICY})
PROPERTIES = {"id": {"type": "string"}, "amount": {"type": "integer"}, "by": {"enum": ["a", "b"]}}


def schema(*required: str, **changes: Any) -> dict[str, Any]:
    properties = {name: each for name, each in {**PROPERTIES, **changes}.items() if each is not None}
    return {"type": "object", "properties": properties, "required": list(required)}


def found(definitions: Definitions, *offered: tuple[str, Any], server: ServerSpec = SHOP) -> list[Finding]:
    listed = [RemoteTool(name, "", each) for name, each in offered]
    return list(doubts_of_listings(definitions, {"shop": kept(server, listed)}))


def codes(*offered: tuple[str, Any], definitions: Definitions = DRAFT) -> list[str]:
    return [one.code for one in found(definitions, *offered)]


@pytest.mark.parametrize(
    ("offered", "code", "path", "message"),
    [
        (schema(amount=None), "drift.argument_gone", ("amount",), 'does not know the argument "amount" of pay'),
        (schema("channel"), "drift.argument_required", (), 'wants the argument "channel" of pay, which is not in'),
        (schema(amount={"type": "string"}), "drift.argument_type", ("amount", "type"), "in another type: string"),
        (schema(by={"enum": ["a"]}), "drift.argument_enum", ("by", "enum"), 'these values of "by" of pay: b'),
        (schema("id", "amount"), "drift.argument_unfilled", ("amount",), "neither requires nor the mapping gives it"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("drift.") else "",
)
def test_what_the_server_would_not_take_is_named(offered: Any, code: str, path: tuple[str, ...], message: str) -> None:
    (one,) = found(DRAFT, ("pay", offered))

    assert (one.code, one.is_warning) == (code, True)
    assert one.path == ("tools", "pay", "args_schema", *path)
    assert message in one.message


def test_a_server_that_takes_everything_raises_nothing() -> None:
    assert codes(("pay", schema("id"))) == []


def test_a_tool_that_was_not_listed_is_named() -> None:
    (one,) = found(DRAFT, ("another", {}))

    assert (one.code, one.path) == ("drift.tool_gone", ("tools", "pay"))


@pytest.mark.parametrize("schemas", [{}, {"properties": 7, "required": 7}, {"required": [None, 3]}, {"$ref": "#/x"}])
def test_a_schema_that_says_nothing_plainly_raises_nothing(schemas: Any) -> None:
    assert codes(("pay", schemas)) == []


@pytest.mark.parametrize(
    "given",
    [
        replace(DRAFT, policies={"pay": replace(POLICY, requires=("id", "amount"))}),
        replace(DRAFT, mappings={"pay": MappingSpec("pay", defaults={"amount": 1})}),
        replace(DRAFT, mappings={"pay": MappingSpec("pay", {"customer_key": "amount"})}),
        replace(DRAFT, mappings={"pay": MappingSpec("pay", extract=(ExtractSpec("amount"),))}),
        replace(DRAFT, policies={"pay": replace(POLICY, execution=ExecutionSpec(ExecutionMode.WORKFLOW, "w"))}),
        replace(DRAFT, policies={"pay": replace(POLICY, operation_type=OperationType.INTERNAL)}),
    ],
    ids=["required", "default", "identity", "extracted", "workflow", "internal"],
)
def test_an_argument_that_something_gives_is_not_missed(given: Definitions) -> None:
    assert codes(("pay", schema("id", "amount")), definitions=given) == []


def test_the_items_of_a_validator_are_not_missed() -> None:
    tool = replace(PAY, arguments=(*PAY.arguments, ArgumentSpec("items", ArgumentType.ARRAY)))
    policy = replace(POLICY, pre_validation=PreValidationSpec(True, "validate"))
    validated = replace(DRAFT, tools={"pay": tool}, policies={"pay": policy})
    offered = ("pay", schema("id", "items", items={"type": "array"}))

    assert codes(offered, definitions=validated) == []
    assert codes(offered, definitions=replace(DRAFT, tools={"pay": tool})) == ["drift.argument_unfilled"]


@pytest.mark.parametrize(
    "changed",
    [
        replace(DRAFT, servers={"shop": replace(SHOP, endpoint="http://127.0.0.1:10/mcp")}),
        replace(DRAFT, servers={"shop": replace(SHOP, headers={"X-Shop": "2"})}),
        replace(DRAFT, servers={"shop": replace(SHOP, enabled=False)}),
        replace(DRAFT, tools={"pay": replace(PAY, enabled=False)}),
        replace(DRAFT, servers={}),
    ],
    ids=["address", "headers", "server off", "tool off", "no server"],
)
def test_of_a_server_that_is_another_one_now_and_of_what_is_off_nothing_is_said(changed: Definitions) -> None:
    assert codes(definitions=changed) == []


def test_what_was_listed_while_the_server_was_off_in_the_draft_still_speaks_about_it() -> None:
    off = replace(SHOP, enabled=False)

    assert [one.code for one in found(DRAFT, server=off)] == ["drift.tool_gone"]


def test_of_a_listing_that_was_too_large_to_keep_no_tool_is_said_to_be_gone() -> None:
    large = ("large", {"description": "x" * LARGEST_LISTING})

    assert codes(("another", {}), large, ("pay", {})) == []
    assert codes(("another", {})) == ["drift.tool_gone"]


def test_of_a_tool_that_is_listed_twice_the_first_counts() -> None:
    assert codes(("pay", schema("id")), ("pay", schema("channel"))) == []


# From a real server to the checks of the draft ----------------------------------------------------


@pytest.fixture
def contas(processes: Processes, tmp_path: Path, settings: Any, db: None) -> Iterator[Demo]:
    """The demo server contas and its set, published with its address."""
    settings.MCP_STDIO_COMMANDS = ["python"]
    demo = Demo(processes, "contas", tmp_path / "ledger.json")
    demo.start()
    definitions = read("contas")
    publishing.replace_draft(replace(definitions, servers={"contas": demo.spec}))
    publishing.publish(comment="first")
    yield demo


def drifting() -> list[tuple[str, tuple[str, ...]]]:
    return [(one.code, one.path) for one in publishing.check_draft() if one.code.startswith("drift.")]


def test_a_draft_that_does_not_fit_the_server_any_more_is_told_before_it_is_published(contas: Demo) -> None:
    before = drifting()
    gateway = McpGateway()
    try:
        (checked,) = server_checks.check_servers(gateway=gateway)
    finally:
        gateway.close()
    after_the_look = drifting()
    tool = Tool.objects.get(name="cancelar_vas_avulso")
    tool.arguments.filter(name="canal").update(name="channel")
    Tool.objects.filter(name="listar_servicos").update(name="listar_tudo")

    assert (before, checked.differences, after_the_look) == ([], [], [])
    assert drifting() == [
        ("drift.argument_gone", ("tools", "cancelar_vas_avulso", "args_schema", "channel")),
        ("drift.tool_gone", ("tools", "listar_tudo")),
    ]


def test_only_servers_that_listed_something_once_are_compared_with(db: None) -> None:
    publishing.replace_draft(DRAFT)
    ServerState.objects.create(server="shop", listing=kept(SHOP, []))
    ServerState.objects.create(server="never looked at")

    assert list(listings()) == ["shop"]
    assert drifting() == [("drift.tool_gone", ("tools", "pay"))]
