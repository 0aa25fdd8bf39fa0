"""JSON Schemas of the definition files, made from the specs, for editors: structure and closed lists, not references.

A key that no reader knows is a warning there, and so it is allowed here. Null counts as absent everywhere.
"""

from __future__ import annotations

import re
import types
from collections.abc import Collection, Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Any, Union, get_args, get_origin, get_type_hints

from tooling.checks_of_sets import LONGEST_NAME, NAME
from tooling.specs import (
    JSON,
    ArgumentSpec,
    ArgumentType,
    CacheSpec,
    ExecutionSpec,
    ExtractSpec,
    IntentSpec,
    Kind,
    MappingSpec,
    OperationType,
    Phrases,
    PolicySpec,
    PreValidationSpec,
    ProfileSpec,
    RouterSpec,
    ServerSpec,
    Text,
    ToolSpec,
    WorkflowEdge,
    WorkflowNode,
    WorkflowSpec,
)
from tooling.yaml_fields import MAX_INTEGER
from tooling.yaml_tools import ALIASES, DURATION

DIALECT = "http://json-schema.org/draft-07/schema#"
"""The newest one that the common editors know."""

Schema = dict[str, JSON]
TEXTS: Schema = {"type": ["object", "null"], "additionalProperties": {"type": "string"}}
ANYTHING: Schema = {"type": ["object", "null"]}
NAMES: Schema = {"type": "string", "pattern": f"^{NAME.pattern}$", "maxLength": LONGEST_NAME}
NOT_BLANK: Schema = {"type": ["array", "null"], "items": {"type": "string", "pattern": r"\S"}}


def schema_of(kind: Kind) -> Schema:
    """The schema of one file of ``kind``."""
    title = "workflows/NAME.vN.yaml" if kind is Kind.WORKFLOWS else f"{kind}.yaml"
    return {"$schema": DIALECT, "title": title, **_CONTENTS[kind]}


# The specs as schemas -----------------------------------------------------------------------------------------


def _type(kind: Any) -> Schema:
    """The schema of a field's type; null counts as absent."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _type(next(one for one in get_args(kind) if one is not type(None)))
    if kind is Text:
        return {"type": ["string", "object", "null"], "additionalProperties": {"type": "string"}}
    if origin is tuple:
        inner = get_args(kind)[0]
        return {"type": ["array", "null"]} | ({} if inner is Any else {"items": _element(inner)})
    if origin is Mapping:
        return TEXTS if get_args(kind)[1] is str else ANYTHING
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return {"enum": [*(member.value for member in kind), "", None]}
    if kind is int:
        return {"type": ["integer", "null"], "minimum": -MAX_INTEGER, "maximum": MAX_INTEGER}
    names = {str: "string", bool: "boolean", float: "number"}
    return {"type": [names[kind], "null"]}


def _element(kind: Any) -> Schema:
    return {"type": "string"} if kind is str else _type(kind)


def _object(spec: type, *, without: Collection[str] = (), required: Collection[str] = (), **own: Schema) -> Schema:
    """An object with the fields of ``spec``, and with ``own`` where the file says it otherwise."""
    hints = get_type_hints(spec)
    names = [one.name for one in fields(spec) if one.name not in without and one.name not in own]
    properties: Schema = {name: _type(hints[name]) for name in names} | own
    return {"type": ["object", "null"], "properties": properties} | ({"required": [*required]} if required else {})


def _by_name(of: Schema) -> Schema:
    return {"type": ["object", "null"], "propertyNames": NAMES, "additionalProperties": of}


def _file(**sections: Schema) -> Schema:
    return {"type": "object", "properties": {"version": {"const": 1}, **sections}}


def _strict(schema: Schema) -> Schema:
    """``schema`` for an element of a list, where null is no way to say nothing."""
    return {**schema, "type": "object"}


# Where a file says it otherwise than the spec ---------------------------------------------------------------------

UNNAMED = re.compile(r"\(\?P<\w+>")
"""The names of groups in our patterns, which those of other languages spell otherwise."""
TYPES: Schema = {"enum": [*(kind.value for kind in ArgumentType), *ALIASES, "date", "", None]}
ARGUMENT = _object(ArgumentSpec, without=("name",), type=TYPES, items={**ANYTHING, "properties": {"type": TYPES}})
ARGUMENT_OR_TYPE: Schema = {"if": {"type": "object"}, "then": ARGUMENT, "else": TYPES}
TOOL = _object(
    ToolSpec,
    without=("name", "arguments"),
    args_schema=_by_name(ARGUMENT_OR_TYPE),
    cache=_object(CacheSpec, ttl_seconds={"type": ["integer", "null"], "minimum": 0, "maximum": MAX_INTEGER}),
    requires=_type(tuple[str, ...]),
    confirmation_required=_type(bool),
)
VERSION: Schema = {
    "if": {"type": "string"},
    "then": {"const": "active"},
    "else": {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_INTEGER},
}
EXECUTION = _object(ExecutionSpec, version=VERSION)
NAMES_ITS_TOOL: Schema = {
    "if": {"properties": {"enabled": {"const": True}}, "required": ["enabled"]},
    "then": {"properties": {"tool": {"type": "string", "minLength": 1}}, "required": ["tool"]},
}
POLICY = _object(
    PolicySpec,
    without=("tool", "reconcile_tool"),
    pre_validation=_object(PreValidationSpec) | {"if": {"type": "object"}, "then": NAMES_ITS_TOOL},
    execution=EXECUTION,
    reconcile={"type": ["object", "null"], "properties": {"tool": {"type": ["string", "null"]}}},
    expires_after={"type": ["string", "null"], "pattern": f"^{UNNAMED.sub('(', DURATION.pattern)}$"},
)
DEFAULTS: Schema = {
    "type": ["object", "null"],
    "properties": {"operation_type": _type(OperationType), "require_confirmation": _type(bool)},
}
EXTRACT = _object(ExtractSpec, without=("field", "source"), type=TYPES)
EXTRACT["properties"]["from"] = _type(str)
MAPPING = _object(MappingSpec, without=("tool",), extract={"type": ["object", "null"], "additionalProperties": EXTRACT})
INTENT = _strict(_object(IntentSpec, required=("name",), name=NAMES, keywords=NOT_BLANK, examples=NOT_BLANK))
PHRASES = _object(Phrases, confirm=NOT_BLANK, reject=NOT_BLANK)
ROUTER = _object(
    RouterSpec,
    confidence_threshold={"type": ["number", "null"], "minimum": 0, "maximum": 1},
    confirmation_phrases={"type": ["object", "null"], "additionalProperties": PHRASES},
)
NODE = _strict(_object(WorkflowNode, required=("id", "action"), action={"type": "string", "minLength": 1}))
EDGE = _strict(_object(WorkflowEdge, without=("source", "target")))
EDGE["properties"] |= {"from": _type(str), "to": _type(str)}
WORKFLOW = _object(
    WorkflowSpec,
    required=("name", "version"),
    name=NAMES,
    version={"type": "integer", "minimum": 1, "maximum": MAX_INTEGER},
    nodes={"type": ["array", "null"], "items": NODE},
    edges={"type": ["array", "null"], "items": EDGE},
)

_CONTENTS: Mapping[Kind, Schema] = {
    Kind.SERVERS: _file(mcp_servers=_by_name(_object(ServerSpec, without=("name",))), mcpServers=ANYTHING),
    Kind.TOOLS: _file(tools=_by_name(TOOL)),
    Kind.POLICIES: _file(defaults=DEFAULTS, tool_policies=_by_name(POLICY)),
    Kind.MAPPINGS: _file(
        mcp_parameter_mapping={
            "type": ["object", "null"],
            "properties": {"defaults": MAPPING, "tools": _by_name(MAPPING)},
        }
    ),
    Kind.ROUTING: _file(router=ROUTER, intents={"type": ["array", "null"], "items": INTENT}),
    Kind.PROFILES: _file(profiles=_by_name(_object(ProfileSpec, without=("name",)))),
    Kind.WORKFLOWS: {**WORKFLOW, "type": "object"},
}
