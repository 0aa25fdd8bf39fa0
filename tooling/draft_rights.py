"""Who may change the draft as a whole: it comes and goes at once, and so takes the permissions on every kind of row."""

from __future__ import annotations

from typing import Any

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

DRAFT = tuple(
    str(kind._meta.model_name)
    for kind in (
        McpServer,
        Tool,
        ToolArgument,
        Policy,
        ParameterMapping,
        Intent,
        RouterSettings,
        LlmProfile,
        Workflow,
    )
)


def may_read_draft(user: Any) -> bool:
    """Who may change a row may read it, as in the admin."""
    return all(_may(user, "view", model) or _may(user, "change", model) for model in DRAFT)


def may_change_draft(user: Any) -> bool:
    return all(_may(user, verb, model) for model in DRAFT for verb in ("add", "change", "delete"))


def _may(user: Any, verb: str, model: str) -> bool:
    return bool(user.is_authenticated and user.has_perm(f"tooling.{verb}_{model}"))
