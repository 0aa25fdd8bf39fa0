"""What a transaction would send: its rules of its own release, its arguments, its items and their digest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from tooling import catalog
from tooling.specs import Definitions, ExecutionMode, PolicySpec, ToolSpec, WorkflowSpec
from transactions.core.confirmation import digest
from transactions.core.outcomes import ConfirmedItem
from transactions.core.prevalidation import JudgedItem, sendable_arguments
from transactions.core.statuses import ItemStatus
from transactions.core.workflows import workflow_of
from transactions.models import Conversation, Item, Transaction


@dataclass(frozen=True, slots=True)
class Rules:
    """The release that a transaction started with, and what it says of the transaction's tool (runtime.md §9.6)."""

    definitions: Definitions
    tool: ToolSpec
    policy: PolicySpec


def rules_of(transaction: Transaction) -> Rules:
    definitions = catalog.release(transaction.release).definitions
    return rules_for(definitions, transaction.tool)


def rules_for(definitions: Definitions, tool: str) -> Rules:
    return Rules(definitions, definitions.tools[tool], definitions.policy(tool))


def seconds_to_live(rules: Rules) -> int:
    """How long a request of this policy stays open."""
    return rules.policy.expires_after or settings.TRANSACTION_SECONDS


def auxiliary_arguments(rules: Rules, tool: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Mapping defaults, then what ``context`` says for certain; never a field in ``requires`` (runtime.md §3)."""
    mapping = rules.definitions.mapping(tool)
    required = rules.definitions.policy(tool).requires
    filled = dict(mapping.defaults)
    for key, argument in mapping.map.items():
        if key in context:
            filled[argument] = context[key]
    return {name: value for name, value in filled.items() if name not in required}


def action_arguments(conversation: Conversation, transaction: Transaction, rules: Rules) -> dict[str, Any]:
    """The arguments of the one logical call: what the tool's schema declares of all that is known.

    What the identity says wins over what a model read; what the validator resolved and the user gave stays.
    The request key goes into the argument that it is mapped to (runtime.md §9.3).
    """
    context = {**conversation.identity, "idempotency_key": request_key(transaction)}
    certain = auxiliary_arguments(rules, rules.tool.name, context)
    mapping = rules.definitions.mapping(rules.tool.name)
    fixed = {name for key, name in mapping.map.items() if key in context}
    known = {
        name: value for name, value in transaction.known.items() if name not in fixed or name in rules.policy.requires
    }
    return sendable_arguments(rules.tool, {**certain, **known}, judged_items_of(transaction))


def items_at_stake(transaction: Transaction) -> list[Item]:
    """The effective set with what the validator marked ineligible, in order; not what the user took out."""
    return list(transaction.items.filter(unconfirmed=False).exclude(status=ItemStatus.EXCLUDED).order_by("position"))


def judged_items_of(transaction: Transaction) -> Sequence[JudgedItem] | None:
    """The validator's items as they stand now, or None where it named none."""
    if not (transaction.pre_validation or {}).get("has_items"):
        return None
    return [
        JudgedItem(fields=item.fields, label=item.label, eligible=item.eligible, reason=item.reason)
        for item in items_at_stake(transaction)
    ]


def digest_of(conversation: Conversation, transaction: Transaction, rules: Rules) -> str:
    """The digest of what would be sent now (runtime.md §8)."""
    items = [
        {"key": item.key, "fields": item.fields, "eligible": item.eligible} for item in items_at_stake(transaction)
    ]
    return digest(
        tool=rules.tool.name,
        server=rules.tool.mcp_server,
        arguments=action_arguments(conversation, transaction, rules),
        items=items,
        release=transaction.release,
        workflow=f"{workflow.name} v{workflow.version}" if (workflow := workflow_for(rules)) else "",
    )


def workflow_for(rules: Rules) -> WorkflowSpec | None:
    """The workflow that runs the tool; None where it is called directly.

    A workflow that is not in the release is one without a node: it never reaches the tool.
    """
    execution = rules.policy.execution
    if execution.mode is not ExecutionMode.WORKFLOW:
        return None
    found = workflow_of(execution, rules.definitions.workflows)
    return found or WorkflowSpec(execution.workflow, execution.version or 0, start="")


IMPLICIT = "*"
"""The key of the one item of a transaction whose set nobody named (runtime.md §4a.7)."""


def own_label(transaction: Transaction, rules: Rules) -> str:
    """What to call the one implicit item: the first text that the user gave, in the order of ``requires``."""
    # Not in the order of the stored object: a database may keep its keys in another one.
    values = (transaction.known.get(name) for name in rules.policy.requires)
    texts = (value for value in values if isinstance(value, str))
    return next(texts, "") or rules.tool.description.in_locale(transaction.conversation.locale)


def asked_for(transaction: Transaction, rules: Rules) -> dict[str, Any]:
    """The fields of the implicit item: what the user had to say."""
    known = transaction.known
    return {"arguments": {name: known[name] for name in rules.policy.requires if name in known}}


def confirmed_items(transaction: Transaction) -> list[ConfirmedItem] | None:
    """The confirmed set for the accounting; None where the tool expands by itself (runtime.md §4a.5)."""
    items = list(transaction.items.filter(unconfirmed=False).order_by("position"))
    if not items or items[0].key == IMPLICIT:
        return None
    return [
        ConfirmedItem(
            key=item.key,
            fields=item.fields,
            label=item.label,
            eligible=item.eligible,
            reason=item.reason,
            excluded=item.status == ItemStatus.EXCLUDED,
        )
        for item in items
    ]


def request_key(transaction: Transaction) -> str:
    """The idempotency key: of the transaction, the same for all its attempts (runtime.md §9.3)."""
    return f"tx-{transaction.pk}"
