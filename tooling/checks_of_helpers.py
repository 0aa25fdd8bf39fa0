"""Whether validators and reconcile tools can do what a policy trusts them with."""

from __future__ import annotations

from tooling.findings import Findings, note, warning
from tooling.specs import Definitions, Idempotency, OperationType, PolicySpec, ToolSpec

GIVEN_TO_VALIDATORS = frozenset({"target_tool", "keep_items"})
GIVEN_TO_RECONCILERS = frozenset({"idempotency_key", "items"})


def doubts_of_helpers(definitions: Definitions) -> Findings:
    for policy in definitions.policies.values():
        tool = definitions.tools.get(policy.tool)
        if tool is not None:
            yield from _check_validator(policy, tool, definitions)
            yield from _check_reconcile(policy, definitions)


def disabled_server(tool: ToolSpec, definitions: Definitions) -> str:
    """The server of ``tool`` where that is off and the tool itself is on; else empty."""
    server = definitions.servers.get(tool.mcp_server)
    return server.name if tool.enabled and server is not None and not server.enabled else ""


def _check_validator(policy: PolicySpec, tool: ToolSpec, definitions: Definitions) -> Findings:
    validation = policy.pre_validation
    validator = definitions.tools.get(validation.tool) if validation.enabled else None
    if validator is None:
        return
    path = ("tool_policies", policy.tool, "pre_validation", "tool")
    if server := disabled_server(validator, definitions):
        consequence = "goes on unchecked" if validation.fail_open else "is refused"
        message = (
            f'validator "{validator.name}" stands on the disabled server "{server}": '
            f"every request for {policy.tool} {consequence}"
        )
        yield warning("policy.validator_server_disabled", message, path)
    known = {*validator.argument_names}
    if policy.requires and known.isdisjoint(policy.requires):
        message = f'validator "{validator.name}" takes nothing of what {policy.tool} collects; it cannot check it'
        yield warning("policy.validator_blind", message, path)
        return
    given = GIVEN_TO_VALIDATORS.union(tool.argument_names)
    for name in definitions.policy(validator.name).requires:
        if name in known and name not in given:
            message = f'validator "{validator.name}" requires "{name}", which is no argument of {policy.tool}'
            yield warning("policy.validator_argument", message, path)


def _check_reconcile(policy: PolicySpec, definitions: Definitions) -> Findings:
    path = ("tool_policies", policy.tool, "reconcile", "tool")
    if not policy.reconcile_tool:
        changes = policy.operation_type is OperationType.TRANSACTIONAL
        if changes and policy.idempotency is Idempotency.NONE and definitions.is_available(policy.tool):
            message = f"when a call of {policy.tool} gets no answer, only an operator can find out what became of it"
            yield note("policy.reconcile_missing", message, path)
        return
    reconcile = definitions.tools.get(policy.reconcile_tool)
    if reconcile is None:
        return
    if not reconcile.enabled:
        message = f'reconcile tool "{reconcile.name}" is disabled: unknown outcomes of {policy.tool} go to operators'
        yield warning("policy.reconcile_disabled", message, path)
    elif server := disabled_server(reconcile, definitions):
        message = (
            f'reconcile tool "{reconcile.name}" stands on the disabled server "{server}": '
            f"unknown outcomes of {policy.tool} go to operators"
        )
        yield warning("policy.reconcile_disabled", message, path)
    if GIVEN_TO_RECONCILERS.isdisjoint(reconcile.argument_names):
        message = (
            f'reconcile tool "{reconcile.name}" takes neither idempotency_key nor items; '
            "it cannot know which call is meant"
        )
        yield warning("policy.reconcile_blind", message, path)
