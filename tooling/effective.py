"""What finally goes for one tool: its own policy and mapping united with defaults, type and legacy keys.

The rules are those of contracts.md §5: ``defaults`` applies only where neither the policy nor the tool says
anything, and legacy keys of tools.yaml are united with the policy, the policy's own values winning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tooling.specs import MappingSpec, OperationType, PolicySpec, ToolSpec, ToolType


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """One entry of ``tool_policies``; None where it does not say. ``rest`` holds everything that has no default."""

    rest: PolicySpec
    operation_type: OperationType | None = None
    require_confirmation: bool | None = None


@dataclass(frozen=True, slots=True)
class Legacy:
    """What tools.yaml itself says about the use of a tool; ``tool_type`` is None where it is left out."""

    tool_type: ToolType | None = None
    requires: tuple[str, ...] = ()
    confirmation_required: bool | None = None


@dataclass(frozen=True, slots=True)
class PolicyDefaults:
    operation_type: OperationType | None = None
    require_confirmation: bool | None = None


BY_TYPE = {
    ToolType.ACTION: OperationType.TRANSACTIONAL,
    ToolType.QUERY: OperationType.READ_ONLY,
    ToolType.INTERNAL: OperationType.INTERNAL,
}


def effective_policy(
    tool: str, entry: PolicyEntry | None, said: Legacy, defaults: PolicyDefaults | None = None
) -> PolicySpec:
    """The policy of ``tool`` as the runtime uses it; ``said`` is what the tool itself says."""
    defaults = defaults or PolicyDefaults()
    entry = entry or PolicyEntry(PolicySpec(tool))
    operation = (
        entry.operation_type
        or (BY_TYPE[said.tool_type] if said.tool_type else None)
        or defaults.operation_type
        or OperationType.READ_ONLY
    )
    added = tuple(name for name in said.requires if name not in entry.rest.requires)
    return replace(
        entry.rest,
        tool=tool,
        operation_type=operation,
        require_confirmation=_confirmation(entry, said, defaults, operation),
        requires=entry.rest.requires + added,
    )


def _confirmation(entry: PolicyEntry, said: Legacy, defaults: PolicyDefaults, operation: OperationType) -> bool:
    """The first that says something; an action without a word is asked about, to be on the safe side."""
    is_transactional = operation is OperationType.TRANSACTIONAL
    by_type = True if said.tool_type is ToolType.ACTION and is_transactional else None
    words = (entry.require_confirmation, said.confirmation_required, by_type, defaults.require_confirmation)
    return next((word for word in words if word is not None), is_transactional)


def policy_by_type(tool: ToolSpec) -> PolicySpec:
    """The policy of a tool that has no entry of its own."""
    return effective_policy(tool.name, None, Legacy(tool.tool_type))


def effective_mapping(tool: ToolSpec, policy: PolicySpec, own: MappingSpec, shared: MappingSpec) -> MappingSpec:
    """``own`` completed by what ``shared`` says about auxiliary arguments that ``tool`` declares."""
    fillable = set(tool.argument_names) - set(policy.requires)
    own_fields = {extract.field for extract in own.extract}
    extracts = [one for one in shared.extract if one.field in fillable and one.field not in own_fields]
    return MappingSpec(
        tool.name,
        {key: name for key, name in shared.map.items() if name in fillable} | dict(own.map),
        {name: value for name, value in shared.defaults.items() if name in fillable} | dict(own.defaults),
        (*own.extract, *extracts),
    )


def says_something(mapping: MappingSpec) -> bool:
    return bool(mapping.map or mapping.defaults or mapping.extract)
