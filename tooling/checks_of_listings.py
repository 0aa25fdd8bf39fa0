"""Whether what is defined of tools fits what their live servers listed when they were last asked; asks nobody."""

from __future__ import annotations

from collections.abc import Mapping

from tooling.drift import Difference, Kind, address_of, differing_arguments, required_names
from tooling.findings import Finding, Findings, warning
from tooling.specs import JSON, Definitions, ExecutionMode, OperationType, ToolSpec

Listings = Mapping[str, JSON]
"""Server → what is kept of its listing (``tooling.drift.kept``)."""


def doubts_of_listings(definitions: Definitions, listings: Listings) -> Findings:
    """Of servers that are reached otherwise than they were, and of tools that are off, nothing is said."""
    known = {
        name: listing
        for name, listing in listings.items()
        if name in definitions.servers and listing.get("server") == address_of(definitions.servers[name])
    }
    for tool in definitions.tools.values():
        listing = known.get(tool.mcp_server)
        if listing is None or not definitions.is_available(tool.name):
            continue
        schema = listing["tools"].get(tool.name)
        if schema is not None:
            yield from _check_schema(tool, schema, definitions)
        elif listing["is_whole"]:
            message = f'server "{tool.mcp_server}" did not list {tool.name} when it was asked last'
            yield warning("drift.tool_gone", message, ("tools", tool.name))


def _check_schema(tool: ToolSpec, schema: Mapping[str, JSON], definitions: Definitions) -> Findings:
    for difference in differing_arguments(tool, schema):
        yield _told(difference, tool)
    given = _given(tool, definitions)
    for name in required_names(schema):
        if given is not None and tool.argument(name) is not None and name not in given:
            message = (
                f'server "{tool.mcp_server}" wants the argument "{name}" of {tool.name}, '
                "and neither requires nor the mapping gives it"
            )
            yield warning("drift.argument_unfilled", message, ("tools", tool.name, "args_schema", name))


def _given(tool: ToolSpec, definitions: Definitions) -> set[str] | None:
    """The arguments that a call has for certain or may have; None where other tools give them."""
    policy, mapping = definitions.policy(tool.name), definitions.mapping(tool.name)
    if policy.operation_type is OperationType.INTERNAL or policy.execution.mode is ExecutionMode.WORKFLOW:
        return None
    given = {*policy.requires, *mapping.map.values(), *mapping.defaults, *(one.field for one in mapping.extract)}
    return given | {"items"} if policy.pre_validation.enabled else given


def _told(difference: Difference, tool: ToolSpec) -> Finding:
    server, name, detail = tool.mcp_server, difference.argument, difference.detail
    code, path = f"drift.{difference.kind}", ("tools", tool.name, "args_schema", name)
    match difference.kind:
        case Kind.ARGUMENT_REQUIRED:
            message = f'server "{server}" wants the argument "{name}" of {tool.name}, which is not in its args_schema'
            return warning(code, message, path[:3])
        case Kind.ARGUMENT_TYPE:
            message = f'server "{server}" takes the argument "{name}" of {tool.name} in another type: {detail}'
            return warning(code, message, (*path, "type"))
        case Kind.ARGUMENT_ENUM:
            message = f'server "{server}" does not take these values of "{name}" of {tool.name}: {detail}'
            return warning(code, message, (*path, "enum"))
        case _:
            message = f'server "{server}" does not know the argument "{name}" of {tool.name}'
            return warning(code, message, path)
