"""What a policy allows and is still worth a second look: it may be meant, and some of it costs a contract if not."""

from __future__ import annotations

from tooling.findings import Findings, note, warning
from tooling.specs import Definitions, MappingSpec, OnIntentShift, OperationType, PolicySpec, ToolType

REQUEST_KEY = "idempotency_key"
"""The only context key of a mapping that says nothing about the customer."""
SHORTEST_ANSWER = 60
"""Seconds; in less nobody reads a question and answers it."""


def doubts_of_policies(definitions: Definitions) -> Findings:
    """What is allowed and still worth a second look before it is published; files are read without it."""
    for name, policy in definitions.policies.items():
        path = ("tool_policies", name)
        changes = policy.operation_type is OperationType.TRANSACTIONAL
        if _asks_nothing(policy, definitions):
            message = (
                "the confirmation cannot name what will be done; list in requires what the customer must say "
                f"before {name} runs"
            )
            yield warning("policy.requires_nothing", message, (*path, "requires"))
        if policy.pre_validation.enabled and policy.pre_validation.fail_open:
            message = "fail_open is on: items that were not validated will pass when the validator is down"
            yield warning("policy.fail_open", message, (*path, "pre_validation", "fail_open"), needs_tick=changes)
        yield from _check_type(policy, definitions, path)
        yield from _check_identity(policy, definitions, path)
        yield from _check_waiting(policy, path)


def _asks_nothing(policy: PolicySpec, definitions: Definitions) -> bool:
    """Whether an action collects nothing although it has arguments that no mapping fills."""
    tool = definitions.tools.get(policy.tool)
    if tool is None or policy.requires or policy.operation_type is not OperationType.TRANSACTIONAL:
        return False
    mapping = definitions.mapping(policy.tool)
    filled = {*mapping.map.values(), *mapping.defaults, *(extract.field for extract in mapping.extract)}
    return not filled.issuperset(tool.argument_names)


def _check_type(policy: PolicySpec, definitions: Definitions, path: tuple[str, ...]) -> Findings:
    tool = definitions.tools.get(policy.tool)
    if tool is None or tool.tool_type is not ToolType.ACTION:
        return
    if policy.operation_type in (OperationType.READ_ONLY, OperationType.INTERNAL):
        message = (
            f"{tool.name} is of type action, and its policy makes it {policy.operation_type}: "
            "a call without an answer is repeated, and what it does may be done twice"
        )
        yield warning("policy.action_repeated", message, (*path, "operation_type"), needs_tick=True)


def _from_identity(mapping: MappingSpec) -> set[str]:
    return {argument for key, argument in mapping.map.items() if key != REQUEST_KEY}


def _check_identity(policy: PolicySpec, definitions: Definitions, path: tuple[str, ...]) -> Findings:
    tool = definitions.tools.get(policy.tool)
    if tool is None or policy.operation_type is OperationType.INTERNAL:
        return
    mapped = _from_identity(definitions.mapping(policy.tool)).intersection(tool.argument_names)
    for number, name in enumerate(policy.requires):
        if name in mapped:
            message = (
                f'"{name}" is asked of the customer, although the signed identity has it: '
                "customers could name somebody else's"
            )
            yield warning("policy.identity_asked", message, (*path, "requires", str(number)), needs_tick=True)
    is_changed = policy.operation_type is OperationType.TRANSACTIONAL
    unasked = sorted(mapped.difference(policy.requires))
    if is_changed and unasked and not policy.requires_identity:
        message = f'without a signed identity {policy.tool} runs, and without "{unasked[0]}"'
        yield warning("policy.identity_optional", message, (*path, "requires_identity"))
    helper = policy.pre_validation.tool if policy.pre_validation.enabled else ""
    if policy.requires_identity and not mapped and not _from_identity(definitions.mapping(helper)):
        message = f"{policy.tool} needs a signed identity, and nothing of it is sent to its server"
        yield note("policy.identity_unused", message, (*path, "requires_identity"))


def _check_waiting(policy: PolicySpec, path: tuple[str, ...]) -> Findings:
    waits = policy.require_confirmation or bool(policy.requires)
    if waits and policy.expires_after is not None and 0 < policy.expires_after < SHORTEST_ANSWER:
        message = f"after {policy.expires_after} seconds the request expires; customers need longer to answer"
        yield warning("policy.expires_early", message, (*path, "expires_after"))
    asks = policy.require_confirmation or policy.pre_validation.enabled
    if policy.on_intent_shift is OnIntentShift.PARK and not asks:
        message = f"park has no effect: {policy.tool} never waits for a confirmation"
        yield note("policy.park_unused", message, (*path, "on_intent_shift"))
