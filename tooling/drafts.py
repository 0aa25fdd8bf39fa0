"""The rows of the editable draft ↔ ``Definitions``.

Most rows carry the fields of their spec under the same names, as plain JSON; the rest is told apart here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import Model
from django.db.transaction import atomic

from tooling.content import from_plain, to_plain
from tooling.effective import effective_mapping, policy_by_type, says_something
from tooling.models import (
    Intent,
    LlmProfile,
    McpServer,
    ParameterMapping,
    Policy,
    RouterSettings,
    Tool,
    ToolArgument,
    Workflow,
)
from tooling.specs import (
    JSON,
    ArgumentSpec,
    Definitions,
    ExecutionMode,
    ExecutionSpec,
    IntentSpec,
    Kind,
    MappingSpec,
    PolicySpec,
    PreValidationSpec,
    ProfileSpec,
    RouterSpec,
    ServerSpec,
    ToolSpec,
    WorkflowSpec,
)

Values = dict[str, JSON]
ALL_KINDS = frozenset(Kind)


def draft() -> Definitions:
    """The whole draft, every policy and mapping made effective as in a file (contracts.md §5)."""
    tools = {tool.name: tool_of(tool) for tool in Tool.objects.select_related("server").prefetch_related("arguments")}
    rows = {row.tool.name: policy_of(row) for row in Policy.objects.select_related("tool")}
    policies = {name: rows.get(name) or policy_by_type(tool) for name, tool in tools.items()}
    return Definitions(
        servers={row.name: server_of(row) for row in McpServer.objects.all()},
        tools=tools,
        policies=policies,
        mappings=_mappings(tools, policies),
        intents={row.name: from_plain(IntentSpec, _values(row)) for row in Intent.objects.all()},
        router=router_of(RouterSettings.objects.first()),
        profiles={row.name: from_plain(ProfileSpec, _values(row)) for row in LlmProfile.objects.all()},
        workflows={(row.name, row.version): workflow_of(row) for row in Workflow.objects.all()},
    )


def _mappings(tools: Mapping[str, ToolSpec], policies: Mapping[str, PolicySpec]) -> dict[str, MappingSpec]:
    rows = list(ParameterMapping.objects.select_related("tool"))
    own = {row.tool.name: mapping_of(row) for row in rows if row.tool}
    shared = next((mapping_of(row) for row in rows if row.tool is None), MappingSpec(""))
    effective = {
        name: effective_mapping(tool, policies[name], own.get(name, MappingSpec(name)), shared)
        for name, tool in tools.items()
    }
    return {name: mapping for name, mapping in effective.items() if says_something(mapping)}


def _values(row: Model, *without: str) -> Values:
    """The fields of ``row`` by name, without its key, its relations and those named."""
    return {
        one.name: getattr(row, one.name)
        for one in row._meta.concrete_fields
        if not one.primary_key and not one.is_relation and one.name not in without
    }


def server_of(row: McpServer) -> ServerSpec:
    return from_plain(ServerSpec, _values(row))


def argument_of(row: ToolArgument) -> ArgumentSpec:
    return from_plain(ArgumentSpec, _values(row, "position"))


def tool_of(row: Tool) -> ToolSpec:
    values = _values(row, "cache_enabled", "cache_ttl_seconds")
    values["mcp_server"] = row.server.name
    values["cache"] = {"enabled": row.cache_enabled, "ttl_seconds": row.cache_ttl_seconds}
    values["arguments"] = [to_plain(argument_of(argument)) for argument in row.arguments.all()]
    return from_plain(ToolSpec, values)


def spec_of(row: Model) -> Any:
    """What one row of the draft says, as its spec."""
    match row:
        case McpServer():
            return server_of(row)
        case Tool():
            return tool_of(row)
        case Policy():
            return policy_of(row)
        case ParameterMapping():
            return mapping_of(row)
        case Intent():
            return from_plain(IntentSpec, _values(row))
        case RouterSettings():
            return router_of(row)
        case LlmProfile():
            return from_plain(ProfileSpec, _values(row))
        case Workflow():
            return workflow_of(row)
    raise TypeError(f"{type(row).__name__} is no part of the draft")


NESTED = ("pre_validation_enabled", "pre_validation_tool", "fail_open")
EXECUTION = ("execution_mode", "workflow", "workflow_version")


def policy_of(row: Policy) -> PolicySpec:
    values = _values(row, *NESTED, *EXECUTION)
    values["tool"] = row.tool.name
    values["pre_validation"] = {
        "enabled": row.pre_validation_enabled,
        "tool": row.pre_validation_tool,
        "fail_open": row.fail_open,
    }
    values["execution"] = {"mode": row.execution_mode, "workflow": row.workflow, "version": row.workflow_version}
    return from_plain(PolicySpec, values)


def mapping_of(row: ParameterMapping) -> MappingSpec:
    return from_plain(MappingSpec, {"tool": row.tool.name if row.tool else "", **_values(row)})


def router_of(row: RouterSettings | None) -> RouterSpec:
    return from_plain(RouterSpec, _values(row)) if row else RouterSpec()


def workflow_of(row: Workflow) -> WorkflowSpec:
    return from_plain(WorkflowSpec, {"name": row.name, "version": row.version, **row.content})


@atomic
def replace_draft(definitions: Definitions, *, kinds: Collection[Kind] = ALL_KINDS) -> None:
    """Make the draft's ``kinds`` equal to ``definitions``; other kinds stay as they were (contracts.md §7).

    A tool that goes takes its policy and its mapping with it; one that comes gets its effective policy. Nothing is
    recorded here: whoever changes the draft for somebody does it inside of ``tooling.recording.changing``.
    """
    if Kind.SERVERS in kinds:
        _write(McpServer, {name: _plain(server) for name, server in definitions.servers.items()})
    if Kind.TOOLS in kinds:
        _write_tools(definitions.tools)
    if Kind.SERVERS in kinds:
        McpServer.objects.exclude(name__in=definitions.servers).delete()
    if Kind.POLICIES in kinds or Kind.TOOLS in kinds:
        _write_policies(definitions.policies)
    if Kind.MAPPINGS in kinds:
        _write_mappings(definitions.mappings)
    if Kind.ROUTING in kinds:
        _write(Intent, {name: _plain(intent) for name, intent in definitions.intents.items()})
        Intent.objects.exclude(name__in=definitions.intents).delete()
        RouterSettings.objects.update_or_create(pk=1, defaults=to_plain(definitions.router))
    if Kind.PROFILES in kinds:
        _write(LlmProfile, {name: _plain(profile) for name, profile in definitions.profiles.items()})
        LlmProfile.objects.exclude(name__in=definitions.profiles).delete()
    if Kind.WORKFLOWS in kinds:
        _write_workflows(definitions.workflows)


def _plain(spec: Any) -> Values:
    values: Values = to_plain(spec)
    return {key: value for key, value in values.items() if key not in ("name", "tool")}


def _write(model: type[Any], rows: Mapping[str, Values]) -> None:
    for name, values in rows.items():
        model.objects.update_or_create(name=name, defaults=values)


@atomic
def add_tools(tools: Mapping[str, ToolSpec], policies: Mapping[str, PolicySpec]) -> list[str]:
    """Add ``tools`` with their ``policies`` and say which were new; what the draft has of them by now stays."""
    known = set(Tool.objects.filter(name__in=tools).values_list("name", flat=True))
    new = {name: tool for name, tool in tools.items() if name not in known}
    _write_rows(new)
    _write_policies({name: policies[name] for name in new})
    return list(new)


def _write_tools(tools: Mapping[str, ToolSpec]) -> None:
    _write_rows(tools)
    Tool.objects.exclude(name__in=tools).delete()


def _write_rows(tools: Mapping[str, ToolSpec]) -> None:
    servers = {server.name: server for server in McpServer.objects.all()}
    for name, tool in tools.items():
        row, _ = Tool.objects.update_or_create(name=name, defaults=_tool_values(tool, servers))
        _write_arguments(row, tool)


def _tool_values(tool: ToolSpec, servers: Mapping[str, McpServer]) -> Values:
    values = _plain(tool)
    cache, _arguments = values.pop("cache"), values.pop("arguments")
    values |= {"cache_enabled": cache["enabled"], "cache_ttl_seconds": cache["ttl_seconds"]}
    values["server"] = servers[values.pop("mcp_server")]
    return values


def _write_arguments(row: Tool, tool: ToolSpec) -> None:
    row.arguments.all().delete()
    ToolArgument.objects.bulk_create(
        ToolArgument(tool=row, position=position, **to_plain(argument))
        for position, argument in enumerate(tool.arguments)
    )


def _write_policies(policies: Mapping[str, PolicySpec]) -> None:
    for tool in Tool.objects.filter(name__in=policies):
        Policy.objects.update_or_create(tool=tool, defaults=_policy_values(policies[tool.name]))


def _policy_values(policy: PolicySpec) -> Values:
    values = _plain(policy)
    del values["pre_validation"], values["execution"]
    return values | _nested(policy.pre_validation, policy.execution)


def _nested(validation: PreValidationSpec, execution: ExecutionSpec) -> Values:
    return {
        "pre_validation_enabled": validation.enabled,
        "pre_validation_tool": validation.tool,
        "fail_open": validation.fail_open,
        "execution_mode": ExecutionMode(execution.mode).value,
        "workflow": execution.workflow,
        "workflow_version": execution.version,
    }


def _write_mappings(mappings: Mapping[str, MappingSpec]) -> None:
    """What went for all tools is part of each one's effective mapping, so that only rows of tools remain."""
    ParameterMapping.objects.all().delete()
    for tool in Tool.objects.filter(name__in=mappings):
        ParameterMapping.objects.create(tool=tool, **_plain(mappings[tool.name]))


def _write_workflows(workflows: Mapping[tuple[str, int], WorkflowSpec]) -> None:
    Workflow.objects.all().delete()
    for workflow in workflows.values():
        Workflow.objects.create(**_workflow_values(workflow))


def _workflow_values(workflow: WorkflowSpec) -> Values:
    values: Values = to_plain(workflow)
    return {"name": values.pop("name"), "version": values.pop("version"), "content": values}


@atomic
def write_row(row: Model, spec: Any) -> None:
    """Make one row, with its arguments, say what ``spec`` says; the tool of a policy or mapping stays what it is."""
    match spec:
        case ToolSpec():
            values = _tool_values(spec, {server.name: server for server in McpServer.objects.all()})
        case PolicySpec():
            values = _policy_values(spec)
        case WorkflowSpec():
            values = _workflow_values(spec)
        case _:
            values = _plain(spec)
    if name := getattr(spec, "name", ""):
        values["name"] = name
    for column, value in values.items():
        setattr(row, column, value)
    row.save()
    if isinstance(row, Tool):
        _write_arguments(row, spec)
