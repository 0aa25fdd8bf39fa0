"""What each part of the definitions is called on pages, from the path of a change or of a finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Field, Model
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

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

MODELS: dict[str, type[Model]] = {
    "servers": McpServer,
    "tools": Tool,
    "policies": Policy,
    "mappings": ParameterMapping,
    "intents": Intent,
    "router": RouterSettings,
    "profiles": LlmProfile,
    "workflows": Workflow,
}
"""Section of a release's content → the model of its rows."""

SECTIONS = {"mcp_servers": "servers", "tool_policies": "policies", "mcp_parameter_mapping": "mappings"}
"""What the files, and so the paths of findings, call the sections otherwise."""

SIMULATIONS = "simulations"
"""What paths of findings call saved simulations, which are no part of the definitions."""

COLUMNS = {
    ("pre_validation", "enabled"): "pre_validation_enabled",
    ("pre_validation", "tool"): "pre_validation_tool",
    ("pre_validation", "fail_open"): "fail_open",
    ("pre_validation",): "pre_validation_tool",
    ("execution", "mode"): "execution_mode",
    ("execution", "workflow"): "workflow",
    ("execution", "version"): "workflow_version",
    ("execution",): "execution_mode",
    ("cache", "enabled"): "cache_enabled",
    ("cache", "ttl_seconds"): "cache_ttl_seconds",
    ("cache",): "cache_enabled",
    ("reconcile", "tool"): "reconcile_tool",
    ("mcp_server",): "server",
}
"""Steps of a path → the column that holds it, where they differ."""

WORDS = {
    "args_schema": gettext_lazy("arguments"),
    "arguments": gettext_lazy("arguments"),
    "order": gettext_lazy("order"),
    "default": gettext_lazy("all languages"),
    "pt-BR": gettext_lazy("Portuguese"),
    "en": gettext_lazy("English"),
    "confirm": gettext_lazy("confirming phrases"),
    "reject": gettext_lazy("rejecting phrases"),
    "start": gettext_lazy("first step"),
    "nodes": gettext_lazy("step"),
    "edges": gettext_lazy("transitions"),
    "action": gettext_lazy("tool"),
    "input": gettext_lazy("input"),
    "retry": gettext_lazy("retries"),
    "source": gettext_lazy("read from"),
    "from": gettext_lazy("read from"),
    "strategy": gettext_lazy("strategy"),
    "pattern": gettext_lazy("pattern"),
    "group": gettext_lazy("group"),
    "type": gettext_lazy("type"),
    "description": gettext_lazy("description"),
}


def section_of(path: Sequence[str]) -> str:
    return SECTIONS.get(path[0], path[0])


def title_of(path: Sequence[str]) -> str:
    """The object that ``path`` leads to: 'Policy cancel_orders'."""
    section = section_of(path)
    if section == SIMULATIONS:
        return _("Saved simulation %(name)s") % {"name": path[1]}
    noun = capfirst(str(MODELS[section]._meta.verbose_name))
    return noun if section == "router" else f"{noun} {path[1]}"


def field_of(path: Sequence[str]) -> tuple[str, Field[Any, Any] | None]:
    """What the rest of ``path`` is called, and the column that holds its value; ("", None) for the object itself."""
    section = section_of(path)
    if section == SIMULATIONS:
        return "", None
    model, steps = MODELS[section], list(path[1 if section == "router" else 2 :])
    if section == "workflows" and steps[:1] and steps[0].isdigit():
        steps = steps[1:]  # A finding names the version as a step of its own.
    # Only a change can be one of the order of all; in a finding it is the name of an argument.
    if steps[:1] in (["arguments"], ["args_schema"]) and len(steps) > 1 and steps[:2] != ["arguments", "order"]:
        label, column = _walk(ToolArgument, steps[2:])
        argument = _("argument %(name)s") % {"name": steps[1]}
        return (f"{argument} · {label}" if label else argument), column
    return _walk(model, steps)


def _walk(model: type[Model], steps: Sequence[str]) -> tuple[str, Field[Any, Any] | None]:
    columns = {one.name: one for one in model._meta.concrete_fields}
    for length in (2, 1):
        name = COLUMNS.get(tuple(steps[:length]), steps[0] if length == 1 and steps else "")
        if name in columns and len(steps) >= length:
            rest = steps[length:]
            label = " · ".join([str(columns[name].verbose_name), *map(word, rest)])
            return label, None if rest else columns[name]
    return " · ".join(map(word, steps)), None


def word(step: str) -> str:
    """One step in words; positions count from 1, names of things stay as they are."""
    if step.isdigit():
        return str(int(step) + 1)
    return str(WORDS.get(step, step))
