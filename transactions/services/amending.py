"""Changing what an open confirmation is about: a new set, a new validation, a new confirmation (runtime.md §6.5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from transactions.core import reply
from transactions.core.outcomes import same_identity
from transactions.core.parameters import only_array_argument
from transactions.core.prevalidation import Refused
from transactions.core.statuses import ConfirmationStatus, ItemStatus, ReasonCode, Rule, Status, VerdictSource
from transactions.models import Confirmation, Conversation, Item, Transaction, Turn
from transactions.services import confirming, ending
from transactions.services.advancing import ask, start_validation
from transactions.services.calls import Rules, items_at_stake, judged_items_of, rules_of
from transactions.services.rows import change, move
from transactions.services.telling import say


def keep_only(
    conversation: Conversation,
    confirmation: Confirmation,
    keep: Collection[str],
    *,
    rule: Rule,
    turn: Turn,
) -> None:
    """Take every eligible item that is not in ``keep`` out of the set; the old confirmation is dead."""
    transaction = confirmation.transaction
    rules = rules_of(transaction)
    before = _snapshot(transaction)
    left_out = [item for item in items_at_stake(transaction) if item.eligible and item.key not in keep]
    _exclude(left_out)
    _replace(confirmation)
    kept = [item.label for item in items_at_stake(transaction) if item.eligible]
    if not kept:
        empty = ReasonCode.EMPTY_SET
        ending.end(conversation, transaction, Status.CANCELLED, reason_code=empty, rule=rule, turn=turn, actor="user")
        return
    array = only_array_argument(rules.tool)
    arguments = _without(transaction.arguments, array, left_out, turn)
    change(transaction, keep_items=kept, before_change=before, arguments=arguments)
    _validate_or_propose(conversation, transaction, rules, can_filter=array is not None, rule=rule, turn=turn)


def name_anew(conversation: Conversation, confirmation: Confirmation) -> None:
    """Some of a set that nobody took apart is meant: its value is asked for again (runtime.md §6.5)."""
    _replace(confirmation)
    ask_for_the_value_again(conversation, confirmation.transaction, rules_of(confirmation.transaction))


def change_values(
    conversation: Conversation,
    confirmation: Confirmation,
    values: Mapping[str, Any],
    *,
    rule: Rule,
    turn: Turn,
) -> None:
    """Replace known parameters at the confirmation; the old confirmation is dead."""
    transaction = confirmation.transaction
    rules = rules_of(transaction)
    before = _snapshot(transaction)
    _replace(confirmation)
    # The value is named anew, so what was left out before may come back.
    transaction.items.filter(status=ItemStatus.EXCLUDED).delete()
    changed = {name: {"value": v, "source": "user_change", "turn_id": str(turn.pk)} for name, v in values.items()}
    change(transaction, before_change=before, keep_items=None, arguments={**transaction.arguments, **changed})
    if rules.policy.pre_validation.enabled:
        start_validation(conversation, transaction, turn=turn, rule=rule)
    else:
        confirming.propose(conversation, transaction, rules, turn=turn, rule=rule)


def _validate_or_propose(
    conversation: Conversation,
    transaction: Transaction,
    rules: Rules,
    *,
    can_filter: bool,
    rule: Rule,
    turn: Turn,
) -> None:
    if rules.policy.pre_validation.enabled:
        start_validation(conversation, transaction, turn=turn, rule=rule)
    elif can_filter:
        judged = judged_items_of(transaction)
        confirming.propose(conversation, transaction, rules, judged=judged, turn=turn, rule=rule)
    else:
        ask_for_the_value_again(conversation, transaction, rules)


def ask_for_the_value_again(conversation: Conversation, transaction: Transaction, rules: Rules) -> None:
    """The set cannot be filtered for sure, so the user names it anew and no excluded item is executed."""
    kept = {name: held for name, held in transaction.arguments.items() if name not in rules.policy.requires}
    move(
        conversation,
        transaction,
        Status.COLLECTING_PARAMETERS,
        arguments=kept,
        keep_items=None,
        asked="",
        question="",
    )
    transaction.items.all().delete()
    ask(conversation, transaction, rules, turn=None)


def restore(conversation: Conversation, transaction: Transaction, rules: Rules, refusal: Refused) -> bool:
    """A change was refused: say why and confirm the previous set anew. False where nothing had been changed."""
    before = transaction.before_change
    if before is None:
        return False
    _restore_items(transaction, before["items"])
    change(
        transaction,
        arguments=before["arguments"],
        keep_items=before["keep_items"],
        pre_validation=before["pre_validation"],
        before_change=None,
    )
    say(conversation, reply.change_refused(refusal.reason, conversation.locale))
    confirming.propose(
        conversation,
        transaction,
        rules,
        judged=judged_items_of(transaction),
        message=before["message"],
        must_confirm=True,
    )
    return True


def _snapshot(transaction: Transaction) -> dict[str, Any]:
    rows = transaction.items.order_by("position").values(
        "position", "key", "label", "fields", "status", "reason", "verdict_source"
    )
    return {
        "arguments": transaction.arguments,
        "keep_items": transaction.keep_items,
        "pre_validation": transaction.pre_validation,
        "message": (transaction.pre_validation or {}).get("message"),
        "items": list(rows),
    }


def _restore_items(transaction: Transaction, rows: Sequence[Mapping[str, Any]]) -> None:
    transaction.items.all().delete()
    Item.objects.bulk_create(Item(transaction=transaction, **row) for row in rows)


def _exclude(items: Sequence[Item]) -> None:
    for item in items:
        item.status = ItemStatus.EXCLUDED
        item.verdict_source = VerdictSource.USER
        item.save(update_fields=["status", "verdict_source"])


def _replace(confirmation: Confirmation) -> None:
    Confirmation.objects.filter(pk=confirmation.pk).update(status=ConfirmationStatus.REPLACED)


def _without(arguments: Mapping[str, Any], array: str | None, left_out: Sequence[Item], turn: Turn) -> dict[str, Any]:
    """The arguments with the excluded elements taken out of the only array."""
    held = arguments.get(array) if array else None
    if array is None or held is None or not isinstance(held["value"], list):
        return dict(arguments)
    value = [
        element
        for element in held["value"]
        if not any(same_identity(_fields(element), item.fields) for item in left_out)
    ]
    return {**arguments, array: {"value": value, "source": "user_change", "turn_id": str(turn.pk)}}


def _fields(element: Any) -> Any:
    return element if isinstance(element, dict) else {"label": element}
