"""Whether each tool's policy can be carried out: values, validator, reconcile tool and workflow exist and fit."""

from __future__ import annotations

from collections.abc import Mapping

from tooling.checks_of_loops import check_loops, lengths_into_loops
from tooling.findings import Finding, Findings, did_you_mean, warning
from tooling.specs import Definitions, ExecutionMode, OperationType, PolicySpec, ToolSpec, WorkflowSpec

MAX_INTEGER = 2_147_483_647


def check_policies(definitions: Definitions) -> Findings:
    versions = _versions(definitions)
    into_loops = lengths_into_loops(definitions)
    for name, policy in definitions.policies.items():
        path = ("tool_policies", name)
        tool = definitions.tools.get(name)
        if tool is None:
            near = did_you_mean(name, definitions.tools)
            message = f'policy for "{name}", which is not in tools.yaml{near}'
            yield Finding("policy.tool_unknown", message, path)
            continue
        yield from _check_requires(policy, tool)
        yield from _check_limits(policy, path)
        yield from _check_validator(policy, definitions, leads_to_loop=name in into_loops)
        yield from _check_reconcile(policy, definitions)
        yield from _check_workflow(policy, versions)
        if policy.operation_type is OperationType.TRANSACTIONAL and not policy.require_confirmation:
            message = f"{name} is transactional and runs without a confirmation"
            yield warning("policy.no_confirmation", message, (*path, "require_confirmation"), needs_tick=True)
    yield from check_loops(definitions, into_loops)


def _check_requires(policy: PolicySpec, tool: ToolSpec) -> Findings:
    path = ("tool_policies", policy.tool, "requires")
    for number, name in enumerate(policy.requires):
        if tool.argument(name) is None:
            near = did_you_mean(name, tool.argument_names)
            message = f'{tool.name} requires "{name}", which is not in its args_schema{near}'
            yield Finding("policy.requires_unknown", message, (*path, str(number)))
        elif name in policy.requires[:number]:
            yield warning("policy.requires_twice", f'"{name}" is named twice', (*path, str(number)))


def _check_limits(policy: PolicySpec, path: tuple[str, ...]) -> Findings:
    for key in ("expires_after", "timeout_seconds", "max_items"):
        value = getattr(policy, key)
        if value is not None and not 0 < value <= MAX_INTEGER:
            message = f"{key} {value:g} is not between 1 and {MAX_INTEGER}"
            if key == "timeout_seconds":
                message = f"{key} {value:g} must be above 0"
            yield Finding(f"policy.{key}_range", message, (*path, key))


def _check_validator(policy: PolicySpec, definitions: Definitions, *, leads_to_loop: bool) -> Findings:
    path = ("tool_policies", policy.tool, "pre_validation")
    validation = policy.pre_validation
    if not validation.enabled:
        return
    if not validation.tool:
        message = "pre_validation is enabled and names no tool"
        yield Finding("policy.pre_validation_tool_missing", message, path)
        return
    validator = definitions.tools.get(validation.tool)
    if validator is None:
        near = did_you_mean(validation.tool, definitions.tools)
        message = f'validator "{validation.tool}" is not in tools.yaml{near}'
        yield Finding("policy.validator_unknown", message, (*path, "tool"))
        return
    its_policy = definitions.policy(validator.name)
    if its_policy.operation_type is not OperationType.INTERNAL and validator.name != policy.tool:
        message = f'validator "{validator.name}" is {its_policy.operation_type}; a validator must be internal'
        yield Finding("policy.validator_not_internal", message, (*path, "tool"))
    if not validator.enabled:
        consequence = "goes on unchecked" if validation.fail_open else "is refused"
        message = f'validator "{validator.name}" is disabled: every request for {policy.tool} {consequence}'
        yield warning("policy.validator_disabled", message, (*path, "tool"))
    if its_policy.pre_validation.enabled and not leads_to_loop:
        message = f'validator "{validator.name}" must not have a pre_validation of its own'
        yield Finding("policy.validator_validated", message, ("tool_policies", validator.name, "pre_validation"))


def _check_reconcile(policy: PolicySpec, definitions: Definitions) -> Findings:
    name = policy.reconcile_tool
    path = ("tool_policies", policy.tool, "reconcile", "tool")
    if not name:
        return
    if name not in definitions.tools:
        near = did_you_mean(name, definitions.tools)
        yield Finding("policy.reconcile_unknown", f'reconcile tool "{name}" is not in tools.yaml{near}', path)
        return
    operation = definitions.policy(name).operation_type
    if operation not in (OperationType.INTERNAL, OperationType.READ_ONLY):
        message = f'reconcile tool "{name}" is {operation}; it must be internal or read_only'
        yield Finding("policy.reconcile_not_internal", message, path)


Versions = Mapping[str, Mapping[int, WorkflowSpec]]


def _versions(definitions: Definitions) -> Versions:
    """Every workflow's versions, by its name."""
    found: dict[str, dict[int, WorkflowSpec]] = {}
    for (name, number), spec in definitions.workflows.items():
        found.setdefault(name, {})[number] = spec
    return found


def _check_workflow(policy: PolicySpec, workflows: Versions) -> Findings:
    path = ("tool_policies", policy.tool, "execution")
    execution = policy.execution
    if execution.mode is not ExecutionMode.WORKFLOW:
        if execution.workflow:
            message = "workflow has no effect with mode direct_tool"
            yield warning("policy.workflow_unused", message, (*path, "workflow"))
        return
    if not execution.workflow:
        yield Finding("policy.workflow_missing", "mode workflow names no workflow", path)
        return
    versions = workflows.get(execution.workflow)
    if not versions:
        near = did_you_mean(execution.workflow, workflows)
        message = f'workflow "{execution.workflow}" is not among the workflows{near}'
        yield Finding("policy.workflow_unknown", message, (*path, "workflow"))
    elif execution.version is not None and execution.version not in versions:
        known = ", ".join(str(number) for number in sorted(versions))
        message = f'workflow "{execution.workflow}" has no version {execution.version}, only {known}'
        yield Finding("policy.workflow_version_unknown", message, (*path, "version"))
    else:
        yield from _check_own_node(policy, versions[execution.version or max(versions)])


def _check_own_node(policy: PolicySpec, workflow: WorkflowSpec) -> Findings:
    actions = {node.action for node in workflow.nodes}
    if "" not in actions and policy.tool not in actions:
        message = f'workflow "{workflow.name}" v{workflow.version} never calls {policy.tool}; it could only fail'
        path = ("tool_policies", policy.tool, "execution", "workflow")
        yield Finding("policy.workflow_without_tool", message, path)
