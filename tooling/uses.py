"""Who names a tool: the intents, policies, mappings and workflows that a change of it concerns. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tooling.specs import Definitions, ExecutionMode


class Role(StrEnum):
    """What the tool is to who names it."""

    OFFERED = "offered"
    VALIDATOR = "validator"
    RECONCILER = "reconciler"
    FILLED = "filled"
    STEP = "step"
    BY_WORKFLOW = "by_workflow"


@dataclass(frozen=True, slots=True)
class Use:
    """``path`` leads to who names it, as the paths of findings do."""

    role: Role
    path: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.path[1]} v{self.path[2]}" if len(self.path) > 2 else self.path[1]


def uses_of(tool: str, definitions: Definitions) -> Iterator[Use]:
    """Everything in ``definitions`` that names ``tool``, its own policy left out."""
    for intent in definitions.intents.values():
        if tool in intent.mcp_tools:
            yield Use(Role.OFFERED, ("intents", intent.name))
    for policy in definitions.policies.values():
        if policy.pre_validation.tool == tool:
            yield Use(Role.VALIDATOR, ("tool_policies", policy.tool))
        if policy.reconcile_tool == tool:
            yield Use(Role.RECONCILER, ("tool_policies", policy.tool))
    if tool in definitions.mappings:
        yield Use(Role.FILLED, ("mcp_parameter_mapping", tool))
    own = definitions.policy(tool).execution
    for (name, version), workflow in definitions.workflows.items():
        path = ("workflows", name, str(version))
        if any(node.action == tool for node in workflow.nodes):
            yield Use(Role.STEP, path)
        if own.mode is ExecutionMode.WORKFLOW and own.workflow == name and own.version in (None, version):
            yield Use(Role.BY_WORKFLOW, path)
