"""Whether customers reach what is defined, and workflows what they call: nothing off, nobody left without a way in."""

from __future__ import annotations

from tooling.checks_of_helpers import disabled_server
from tooling.checks_of_workflows import users_of_workflows, workflow_path
from tooling.findings import Findings, note, warning
from tooling.specs import Definitions, IntentSpec, OperationType, WorkflowNode, WorkflowSpec


def doubts_of_reach(definitions: Definitions) -> Findings:
    intents = [intent for intent in definitions.intents.values() if intent.enabled]
    for intent in intents:
        yield from _check_intent(intent, definitions)
    yield from _check_offers(intents, definitions)
    yield from _check_workflows(definitions)


def _check_intent(intent: IntentSpec, definitions: Definitions) -> Findings:
    path = ("intents", intent.name)
    if not intent.keywords and not intent.examples:
        if intent.description:
            message = f'intent "{intent.name}" has neither keywords nor examples; the model knows its description only'
            yield note("intent.no_words", message, path)
        else:
            message = f'intent "{intent.name}" has no description, keyword or example; only its name leads to it'
            yield warning("intent.no_words", message, path)
    for number, name in enumerate(intent.mcp_tools):
        tool, where = definitions.tools.get(name), (*path, "mcp_tools", str(number))
        if tool is None or definitions.policy(name).operation_type is OperationType.INTERNAL:
            continue
        if not tool.enabled:
            message = f'tool "{name}" is disabled; customers are told that it is not available'
            yield note("intent.tool_disabled", message, where)
        elif server := disabled_server(tool, definitions):
            message = (
                f'tool "{name}" stands on the disabled server "{server}"; customers are told that it is not available'
            )
            yield note("intent.tool_disabled", message, where)


def _check_offers(intents: list[IntentSpec], definitions: Definitions) -> Findings:
    if not intents:
        if definitions.tools:
            yield note("router.no_intents", "no intent is enabled; customers cannot ask for anything", ("router",))
        return
    offered = {name for intent in intents for name in intent.mcp_tools}
    helping = {policy.reconcile_tool for policy in definitions.policies.values()}
    helping.update(policy.pre_validation.tool for policy in definitions.policies.values())
    helping.update(node.action for workflow in definitions.workflows.values() for node in workflow.nodes)
    for name, tool in definitions.tools.items():
        is_internal = definitions.policy(name).operation_type is OperationType.INTERNAL
        if tool.enabled and not is_internal and name not in offered | helping:
            message = f'no intent offers the tool "{name}"; customers cannot ask for it'
            yield note("tool.not_offered", message, ("tools", name))


# Workflows ----------------------------------------------------------------------------------------


def _check_workflows(definitions: Definitions) -> Findings:
    users = users_of_workflows(definitions)
    newest: dict[str, WorkflowSpec] = {}
    for workflow in definitions.workflows.values():
        if workflow.name in users:
            for number, node in enumerate(workflow.nodes):
                path = (*workflow_path(workflow), "nodes", str(number))
                yield from _check_node(node, definitions, path)
        elif workflow.name not in newest or newest[workflow.name].version < workflow.version:
            newest[workflow.name] = workflow
    for workflow in newest.values():
        message = f'no policy runs the workflow "{workflow.name}"'
        yield note("workflow.unused", message, workflow_path(workflow))


def _check_node(node: WorkflowNode, definitions: Definitions, path: tuple[str, ...]) -> Findings:
    tool = definitions.tools.get(node.action)
    if tool is None:
        return
    if not tool.enabled:
        message = f'node "{node.id}" calls "{tool.name}", which is disabled; a run ends there'
        yield warning("workflow.action_disabled", message, (*path, "action"))
    elif server := disabled_server(tool, definitions):
        message = f'node "{node.id}" calls "{tool.name}" on the disabled server "{server}"; a run ends there'
        yield warning("workflow.action_disabled", message, (*path, "action"))
    for name in definitions.policy(tool.name).requires:
        if name not in node.input and tool.argument(name) is not None:
            message = f'node "{node.id}" does not give {tool.name} "{name}", which it requires'
            yield warning("workflow.argument_missing", message, (*path, "input"))
