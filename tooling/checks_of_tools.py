"""Whether tools, their arguments and the mappings of auxiliary arguments fit together (contracts.md §5)."""

from __future__ import annotations

import re
from collections.abc import Callable

from tooling.findings import Finding, Findings, did_you_mean, warning
from tooling.specs import (
    JSON,
    ArgumentSpec,
    ArgumentType,
    Definitions,
    ExtractSpec,
    MappingSpec,
    OperationType,
    Strategy,
    ToolSpec,
)

LONGEST_FORMAT = 40


def _is_number(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


FITS: dict[ArgumentType, Callable[[JSON], bool]] = {
    ArgumentType.STRING: lambda value: isinstance(value, str),
    ArgumentType.INTEGER: lambda value: isinstance(value, int) and not isinstance(value, bool),
    ArgumentType.NUMBER: _is_number,
    ArgumentType.BOOLEAN: lambda value: isinstance(value, bool),
    ArgumentType.ARRAY: lambda value: isinstance(value, list),
    ArgumentType.OBJECT: lambda value: isinstance(value, dict),
}


def check_tools(definitions: Definitions) -> Findings:
    for tool in definitions.tools.values():
        yield from _check_tool(tool, definitions)
        for argument in tool.arguments:
            yield from _check_argument(argument, ("tools", tool.name, "args_schema", argument.name))


def _check_tool(tool: ToolSpec, definitions: Definitions) -> Findings:
    path = ("tools", tool.name)
    operation = definitions.policy(tool.name).operation_type
    if not tool.mcp_server:
        message = f'tool "{tool.name}" names no mcp_server'
        yield Finding("tool.server_missing", message, path)
    elif tool.mcp_server not in definitions.servers:
        near = did_you_mean(tool.mcp_server, definitions.servers)
        message = f'mcp_server "{tool.mcp_server}" is not in mcp_servers.yaml{near}'
        yield Finding("tool.server_unknown", message, (*path, "mcp_server"))
    if not tool.description and operation is not OperationType.INTERNAL:
        message = f'tool "{tool.name}" has no description; the language model chooses by it'
        yield warning("tool.no_description", message, (*path, "description"))
    if tool.cache.enabled and operation is not OperationType.READ_ONLY:
        message = f"cache has no effect: {tool.name} is {operation}, and only read_only answers are cached"
        yield warning("tool.cache_unused", message, (*path, "cache"))
    for number, keyword in enumerate(tool.selection_keywords):
        if not keyword.strip():
            message = f'tool "{tool.name}" has an empty selection keyword'
            yield Finding("tool.keyword_empty", message, (*path, "selection_keywords", str(number)))


def _check_argument(argument: ArgumentSpec, path: tuple[str, ...]) -> Findings:
    if len(argument.format) > LONGEST_FORMAT:
        yield Finding("argument.format", f"format: longer than {LONGEST_FORMAT} characters", (*path, "format"))
    if argument.items and argument.type is not ArgumentType.ARRAY:
        message = f'items has no effect: "{argument.name}" is {argument.type}, not array'
        yield warning("argument.items_unused", message, (*path, "items"))
    if argument.type in (ArgumentType.ARRAY, ArgumentType.OBJECT):
        return
    for number, value in enumerate(argument.enum):
        if not FITS[argument.type](value):
            message = f"enum: {value!r} is not of type {argument.type}"
            yield Finding("argument.enum_type", message, (*path, "enum", str(number)))


def check_mappings(definitions: Definitions) -> Findings:
    for mapping in definitions.mappings.values():
        tool = definitions.tools.get(mapping.tool)
        if tool is None:
            near = did_you_mean(mapping.tool, definitions.tools)
            message = f'mapping for "{mapping.tool}", which is not in tools.yaml{near}'
            yield Finding("mapping.tool_unknown", message, ("mcp_parameter_mapping", mapping.tool))
        else:
            yield from _check_mapping(mapping, tool, definitions.policy(tool.name).requires)


def _check_mapping(mapping: MappingSpec, tool: ToolSpec, requires: tuple[str, ...]) -> Findings:
    path = ("mcp_parameter_mapping", tool.name)
    for key, name in mapping.map.items():
        yield from _check_target(tool, name, (*path, "map", key), requires, "map")
    for name, value in mapping.defaults.items():
        yield from _check_target(tool, name, (*path, "defaults", name), requires, "defaults")
        yield from _check_default(tool, name, value, (*path, "defaults", name))
    for extract in mapping.extract:
        where = (*path, "extract", extract.field)
        yield from _check_target(tool, extract.field, where, requires, "extract")
        yield from check_extract(extract, where)


def _check_target(tool: ToolSpec, name: str, path: tuple[str, ...], requires: tuple[str, ...], what: str) -> Findings:
    if tool.argument(name) is None:
        near = did_you_mean(name, tool.argument_names)
        message = f'{what}: "{name}" is not in the args_schema of {tool.name}{near}'
        yield Finding("mapping.argument_unknown", message, path)
    elif name in requires:
        verb = "runs" if what == "extract" else "applies"
        message = f'{what} for "{name}" never {verb}: it is in requires'
        yield warning("mapping.required", message, path)


def _check_default(tool: ToolSpec, name: str, value: JSON, path: tuple[str, ...]) -> Findings:
    argument = tool.argument(name)
    if argument is None or value is None:
        return
    if not FITS[argument.type](value):
        message = f'default of "{name}" is not of its type {argument.type}'
        yield Finding("mapping.default_type", message, path)
    elif argument.enum and argument.type is not ArgumentType.ARRAY and value not in argument.enum:
        allowed = ", ".join(str(one) for one in argument.enum)
        yield Finding("mapping.default_enum", f'default of "{name}" is none of {allowed}', path)


def check_extract(extract: ExtractSpec, path: tuple[str, ...]) -> Findings:
    if extract.source != "message":
        message = f'from: "{extract.source}" is not known; read from the message'
        yield warning("mapping.source_unknown", message, (*path, "from"))
    if extract.strategy is Strategy.LLM:
        return
    if not extract.pattern:
        yield Finding("mapping.pattern_missing", f"strategy {extract.strategy} needs a pattern", path)
        return
    try:
        groups = re.compile(extract.pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        message = f"pattern is not a regular expression: {error}"
        yield Finding("mapping.pattern_malformed", message, (*path, "pattern"))
        return
    if not 0 <= extract.group <= groups:
        message = f"group {extract.group} does not exist; the pattern has {groups}"
        yield Finding("mapping.group_unknown", message, (*path, "group"))
