"""``Definitions`` → the files of an export; what ``tooling.yaml_io`` reads back is equal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import yaml

from tooling.content import to_plain
from tooling.specs import (
    JSON,
    ArgumentSpec,
    Definitions,
    ExecutionSpec,
    ExtractSpec,
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
from tooling.yaml_scalars import plain_value

Keys = dict[str, JSON]
ODD_BREAKS = re.compile("[\x85\u2028\u2029]")
"""Line breaks that survive only as escapes."""
UNITS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


class _Dumper(yaml.SafeDumper):
    """Quotes whatever our reader would not read as the same text, and never uses anchors."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.Node:
        is_text = isinstance(plain_value(text), str) and not ODD_BREAKS.search(text)
        style = None if is_text else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _Dumper.represent_text)


def dump(value: JSON) -> str:
    """``value`` as YAML, keys in their order."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000_000))


def write(definitions: Definitions, *, schemas: str = "") -> Mapping[str, str]:
    """File name → YAML. Every kind but an absent workflow has its file, so that importing replaces them all.

    ``schemas``: where the schemas of the files are served; each file then names its own in the first line.
    """
    contents: dict[str, Keys] = {
        Kind.SERVERS: {"mcp_servers": _each(definitions.servers, _server)},
        Kind.TOOLS: {"tools": _each(definitions.tools, _tool)},
        Kind.POLICIES: {"tool_policies": _each(definitions.policies, _policy)},
        Kind.MAPPINGS: {"mcp_parameter_mapping": {"tools": _each(definitions.mappings, _mapping)}},
        Kind.ROUTING: {
            "router": _router(definitions.router),
            "intents": [_intent(intent) for intent in definitions.intents.values()],
        },
        Kind.PROFILES: {"profiles": _each(definitions.profiles, _said)},
    }
    texts = {f"{kind}.yaml": dump({"version": 1, **keys}) for kind, keys in contents.items()}
    for workflow in definitions.workflows.values():
        texts[_workflow_file(workflow, texts)] = dump(workflow_keys(workflow))
    return {name: first_line(name, schemas) + text for name, text in texts.items()} if schemas else texts


def first_line(name: str, schemas: str) -> str:
    """The comment by which editors find the schema of the file ``name``."""
    kind = Kind.WORKFLOWS if name.startswith(f"{Kind.WORKFLOWS}/") else name.removesuffix(".yaml")
    return f"# yaml-language-server: $schema={schemas.rstrip('/')}/{kind}.json\n"


def _workflow_file(workflow: WorkflowSpec, taken: Mapping[str, str]) -> str:
    """A file name without what a path would take amiss, and not ``taken`` by another workflow."""
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in workflow.name)
    name = f"{Kind.WORKFLOWS}/{safe}.v{workflow.version}.yaml"
    number = 2
    while name in taken:
        name = f"{Kind.WORKFLOWS}/{safe}.{number}.v{workflow.version}.yaml"
        number += 1
    return name


def _each(specs: Mapping[str, Any], keys: Any) -> Keys:
    return {name: keys(spec) for name, spec in specs.items()}


def _said(spec: Any, *always: str) -> Keys:
    """The fields of ``spec`` that differ from their defaults, or are named; what names it is left out."""
    said = {}
    for one in fields(spec):
        value = getattr(spec, one.name)
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if one.name in always or (value != default and one.name not in ("name", "tool", "field")):
            said[one.name] = _short(to_plain(value))
    return said


def _short(value: JSON) -> JSON:
    """A whole number without the fraction that only the canonical form needs."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def _server(spec: Any) -> Keys:
    return _said(spec, "transport", "enabled")


def _tool(tool: ToolSpec) -> Keys:
    keys = _said(tool, "description", "mcp_server", "enabled", "tool_type")
    if "arguments" in keys:
        keys["args_schema"] = {argument.name: _argument(argument) for argument in tool.arguments}
        del keys["arguments"]
    return keys


def _argument(argument: ArgumentSpec) -> JSON:
    keys = _said(argument, "type")
    return keys["type"] if len(keys) == 1 else keys


def _policy(policy: PolicySpec) -> Keys:
    keys = _said(policy, "operation_type", "require_confirmation")
    if policy.pre_validation != PreValidationSpec():
        keys["pre_validation"] = _said(policy.pre_validation, "enabled", "fail_open")
        if policy.pre_validation.tool:
            keys["pre_validation"]["tool"] = policy.pre_validation.tool
    if policy.execution != ExecutionSpec():
        keys["execution"] = _said(policy.execution, "mode")
    if policy.reconcile_tool:
        keys["reconcile"] = {"tool": keys.pop("reconcile_tool")}
    if policy.expires_after is not None:
        keys["expires_after"] = duration(policy.expires_after)
    return keys


def entry(spec: Any) -> Keys:
    """One object alone, as the file of its kind would hold it."""
    match spec:
        case ServerSpec():
            return {"mcp_servers": {spec.name: _server(spec)}}
        case ToolSpec():
            return {"tools": {spec.name: _tool(spec)}}
        case PolicySpec():
            return {"tool_policies": {spec.tool: _policy(spec)}}
        case MappingSpec():
            part = {"tools": {spec.tool: _mapping(spec)}} if spec.tool else {"defaults": _mapping(spec)}
            return {"mcp_parameter_mapping": part}
        case IntentSpec():
            return {"intents": [_intent(spec)]}
        case RouterSpec():
            return {"router": _router(spec)}
        case ProfileSpec():
            return {"profiles": {spec.name: _said(spec)}}
    raise TypeError(f"{type(spec).__name__} has no entry in a file")


def duration(seconds: int) -> str:
    """Seconds in the largest unit that needs no fraction."""
    size, unit = next(one for one in UNITS if seconds % one[0] == 0)
    return f"{seconds // size}{unit}"


def _mapping(mapping: MappingSpec) -> Keys:
    keys = _said(mapping)
    if mapping.extract:
        keys["extract"] = extract_keys(mapping.extract)
    return keys


def extract_keys(extracts: tuple[ExtractSpec, ...]) -> Keys:
    """The ``extract`` part of one tool's mapping."""
    keys = {}
    for extract in extracts:
        inner = _said(extract, "type", "strategy")
        inner.pop("source", None)
        keys[extract.field] = {"from": extract.source, **inner}
    return keys


def _router(router: RouterSpec) -> Keys:
    return _said(router, "confidence_threshold")


def _intent(intent: IntentSpec) -> Keys:
    return {"name": intent.name, **_said(intent, "description", "mcp_tools", "priority", "enabled")}


def workflow_keys(workflow: WorkflowSpec) -> Keys:
    """One workflow as its file holds it."""
    edges = []
    for edge in workflow.edges:
        when = {"when": to_plain(edge.when)} if edge.when else {}
        edges.append({"from": edge.source, "to": edge.target, **when, "priority": edge.priority})
    nodes = [_said(node, "id", "action") for node in workflow.nodes]
    named = {"name": workflow.name, "version": workflow.version, "start": workflow.start}
    return named | {"nodes": nodes, "edges": edges}
