"""What the user is told of a transaction: event data and rendered texts (contracts.md §2, runtime.md §10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tooling.specs import OperationType
from transactions.core import reply
from transactions.core.answers import Found, render_found
from transactions.core.outcomes import count
from transactions.core.reply import ReplyItem
from transactions.core.statuses import ItemStatus, ReasonCode, Rule, Status
from transactions.models import Conversation, Item, Transaction, Turn
from transactions.services import lineage
from transactions.services.calls import Rules, rules_of
from transactions.services.rows import record

_QUERIES = (OperationType.READ_ONLY, OperationType.CONVERSATIONAL)
"""What asks and changes nothing: the user wants to read what was found, not that it went well."""


def say(
    conversation: Conversation,
    text: str,
    *,
    rule: Rule | str = "",
    turn: Turn | None = None,
    transaction: Transaction | None = None,
) -> None:
    """An ``assistant.message``."""
    data = {"text": text, "rule": str(rule)}
    record(conversation, "assistant.message", data, transaction=transaction, rule=rule, turn=turn)


def last_assistant_text(conversation: Conversation) -> str | None:
    """The last text that the user was shown, for the model's context."""
    shown = conversation.events.for_the_user().exclude(kind="user.message").order_by("-seq")[:10]
    texts = (event.data.get("text") for event in shown)
    return next((text for text in texts if isinstance(text, str) and text), None)


def outcome_data(conversation: Conversation, transaction: Transaction) -> dict[str, Any]:
    """The ``data`` of transaction.finished and transaction.verifying: every item, the counts and the text.

    ``retry``: true where what failed may be tried again, and absent elsewhere (runtime.md §9.5).
    """
    items = list(transaction.items.order_by("position"))
    counted = [item for item in items if not item.unconfirmed]
    return {
        "status": transaction.status,
        "multi_item_status": transaction.multi_item_status,
        "reason_code": transaction.reason_code,
        "text": _text(conversation, transaction, counted, [item.label for item in items if item.unconfirmed]),
        "items": [
            {
                "key": item.key,
                "label": item.label,
                "status": item.status,
                "reason": reply.shown_reason(item.reason, conversation.locale),
                "protocol": item.protocol,
            }
            for item in counted
        ],
        "counts": asdict(count(ItemStatus(item.status) for item in counted)),
        **({"retry": True} if isinstance(lineage.possible(transaction), lineage.RetryPlan) else {}),
    }


def still_unknown(conversation: Conversation) -> str:
    """What is known of the conversation's newest request, if that is still being verified; else empty."""
    newest = conversation.transactions.order_by("-created_at").first()
    if newest is None or newest.status != Status.VERIFYING:
        return ""
    text: str = outcome_data(conversation, newest)["text"]
    return text


def _text(conversation: Conversation, transaction: Transaction, items: list[Item], unconfirmed: list[str]) -> str:
    rules = rules_of(transaction)
    if transaction.operation_type in _QUERIES and transaction.status in (Status.SUCCESS, Status.PARTIAL_SUCCESS):
        found = [Found(item.label, ItemStatus(item.status), item.evidence, item.reason) for item in items]
        return render_found(found, locale=conversation.locale)
    return reply.render_result(
        Status(transaction.status),
        [as_reply_item(item) for item in items],
        locale=conversation.locale,
        reason_code=ReasonCode(transaction.reason_code) if transaction.reason_code else None,
        reason=transaction.reason or None,
        unconfirmed=unconfirmed,
        limit=rules.policy.max_items,
        title=rules.tool.description.in_locale(conversation.locale),
    )


def as_reply_item(item: Item) -> ReplyItem:
    return ReplyItem(label=item.label, status=ItemStatus(item.status), reason=item.reason, protocol=item.protocol)


def argument_texts(rules: Rules, arguments: Mapping[str, Any], locale: str) -> list[tuple[str, str]]:
    """(label, value) of each required argument, to be confirmed where no items are known."""
    texts = []
    for name in rules.policy.requires:
        argument = rules.tool.argument(name)
        if argument is None or name not in arguments:
            continue
        value = arguments[name]
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        texts.append((argument.label.in_locale(locale) or argument.description.in_locale(locale), shown))
    return texts
