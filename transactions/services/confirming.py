"""The one question for the effective set, and its single answer (runtime.md §8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db.transaction import on_commit

from transactions import failpoints
from transactions.core import reply
from transactions.core.confirmation import names_each, without_left_out
from transactions.core.errors import ConfirmationClosed
from transactions.core.outcomes import confirmed_item, label_of, same_identity
from transactions.core.prevalidation import JudgedItem, confirmed_items_of
from transactions.core.statuses import ConfirmationStatus, ItemStatus, ReasonCode, Rule, Status, VerdictSource
from transactions.models import Confirmation, Conversation, Item, Transaction, Turn
from transactions.services import ending, executing, lineage
from transactions.services.calls import IMPLICIT, Rules, asked_for, digest_of, items_at_stake
from transactions.services.rows import change, database_now, move, record, sealed
from transactions.services.telling import argument_texts, as_reply_item


def propose(
    conversation: Conversation,
    transaction: Transaction,
    rules: Rules,
    *,
    judged: Sequence[JudgedItem] | None = None,
    message: str | None = None,
    must_confirm: bool = False,
    unvalidated: bool = False,
    turn: Turn | None = None,
    rule: Rule | str = "",
) -> None:
    """Everything is known: refuse what must not run, else ask the one question, else start.

    A retry is asked about whatever the policy says: it is an effect of its own (runtime.md §9.5).
    """
    only = lineage.only_what_failed(transaction, rules, judged)
    if only is None:
        lay_out_items(transaction, rules, lineage.allowed(transaction, judged) or [])
    else:
        message = message if only.judged == judged else None  # it may name what was taken out
        if only.arguments != transaction.arguments:
            change(transaction, arguments=only.arguments)
        lay_out_items(transaction, rules, only.judged)
    _name_what_was_left(transaction)
    refusal = ReasonCode.NO_ACTIONABLE_ITEM if only is None else _refusal(conversation, transaction, rules)
    if refusal is ReasonCode.ITEM_UNSETTLED and only is not None:
        lay_out_items(transaction, rules, unjudged(only.judged))
    if refusal is not None:
        _refuse(conversation, transaction, refusal, turn=turn, rule=rule)
    elif rules.policy.require_confirmation or must_confirm or transaction.parent_id is not None:
        _open(conversation, transaction, rules, message=message, unvalidated=unvalidated, turn=turn, rule=rule)
    else:
        digest = digest_of(conversation, transaction, rules)
        move(conversation, transaction, Status.EXECUTING, rule=rule, turn=turn)
        executing.authorise(conversation, transaction, digest, turn=turn)


def _refusal(conversation: Conversation, transaction: Transaction, rules: Rules) -> ReasonCode | None:
    limit = rules.policy.max_items
    items = items_at_stake(transaction)
    if limit is not None and sum(item.eligible for item in items) > limit:
        return ReasonCode.TOO_MANY_ITEMS
    wanted = [item.fields for item in items] or [asked_for(transaction, rules)]
    return ReasonCode.ITEM_UNSETTLED if holds_unsettled_item(conversation, transaction, wanted) else None


def _refuse(
    conversation: Conversation, transaction: Transaction, refusal: ReasonCode, *, turn: Turn | None, rule: Rule | str
) -> None:
    if transaction.status == Status.AWAITING_CONFIRMATION:
        # From here no move leads to REFUSED; validating is the state that the refusal belongs to.
        move(conversation, transaction, Status.PRE_VALIDATING, rule=rule, turn=turn)
    ending.end(conversation, transaction, Status.REFUSED, reason_code=refusal, turn=turn, rule=rule)


def unjudged(judged: Sequence[JudgedItem] | None) -> Sequence[JudgedItem] | None:
    """The items without what the validator says of them.

    Of an item whose earlier outcome is unknown it may be telling that very outcome, which is still being verified.
    """
    return None if judged is None else [replace(item, eligible=True, reason=None) for item in judged]


def lay_out_items(transaction: Transaction, rules: Rules, judged: Sequence[JudgedItem] | None) -> None:
    """Write the effective set as item rows; an item that stood there before under the same label keeps its place."""
    values = confirmed_items_of(rules.tool, transaction.known, judged)
    before = list(transaction.items.order_by("position"))
    held = {item.label: (item.position, item.key) for item in before if item.status != ItemStatus.EXCLUDED}
    transaction.items.exclude(status=ItemStatus.EXCLUDED).delete()
    last = max((item.position for item in before), default=0)
    for index, value in enumerate(values or ()):
        verdict = judged[index] if judged else None
        label = verdict.label if verdict else label_of(value)
        if label not in held:
            last += 1
        position, key = held.pop(label, (last, f"{transaction.pk.hex[:12]}-{last}"))
        is_eligible = verdict is None or verdict.eligible
        Item.objects.create(
            transaction=transaction,
            position=position,
            key=key,
            label=label,
            fields=dict(confirmed_item(key, value).fields),
            status=ItemStatus.PENDING if is_eligible else ItemStatus.INELIGIBLE,
            reason=verdict.reason if verdict else None,
            verdict_source="" if is_eligible else VerdictSource.PRE_VALIDATION,
        )


def _name_what_was_left(transaction: Transaction) -> None:
    """Items of the set before a change that are in no new one stay in the ledger as left out (runtime.md §10)."""
    if transaction.before_change is None:
        return
    now = list(transaction.items.all())
    last = max((item.position for item in now), default=0)
    for row in transaction.before_change["items"]:
        is_named = any(item.label == row["label"] or same_identity(item.fields, row["fields"]) for item in now)
        if is_named or row["status"] not in (ItemStatus.PENDING, ItemStatus.EXCLUDED):
            continue
        last += 1
        left = {**row, "position": last, "key": f"{transaction.pk.hex[:12]}-{last}"}
        Item.objects.create(
            transaction=transaction, **{**left, "status": ItemStatus.EXCLUDED, "verdict_source": VerdictSource.USER}
        )
    change(transaction, before_change=None)


def holds_unsettled_item(
    conversation: Conversation, transaction: Transaction, wanted: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether an item, by its fields, is one whose earlier outcome is still unknown (runtime.md §6.7)."""
    unsettled = Item.objects.filter(
        status=ItemStatus.UNKNOWN, transaction__tool=transaction.tool, transaction__status=Status.VERIFYING
    )
    if conversation.customer:
        unsettled = unsettled.filter(transaction__conversation__customer=conversation.customer)
    else:
        unsettled = unsettled.filter(transaction__conversation=conversation)
    return any(
        old.fields == fields if old.key == IMPLICIT else same_identity(old.fields, fields)
        for old in unsettled
        for fields in wanted
    )


def _open(
    conversation: Conversation,
    transaction: Transaction,
    rules: Rules,
    *,
    message: str | None,
    unvalidated: bool,
    turn: Turn | None,
    rule: Rule | str,
) -> None:
    text = _question(conversation, transaction, rules, message=message, unvalidated=unvalidated)
    expires_at = database_now() + timedelta(seconds=_seconds_to_answer(rules))
    transaction.confirmations.filter(status=ConfirmationStatus.OPEN).update(status=ConfirmationStatus.REPLACED)
    if transaction.status == Status.AWAITING_CONFIRMATION:
        change(transaction, expires_at=expires_at, warned_at=None)
    else:
        move(
            conversation,
            transaction,
            Status.AWAITING_CONFIRMATION,
            rule=rule,
            turn=turn,
            expires_at=expires_at,
            warned_at=None,
        )
    confirmation = Confirmation.objects.create(
        transaction=transaction,
        text=text,
        items=[
            {
                "key": item.key,
                "label": item.label,
                "eligible": item.eligible,
                "reason": reply.shown_reason(item.reason, conversation.locale),
            }
            for item in items_at_stake(transaction)
        ],
        digest=digest_of(conversation, transaction, rules),
        requested_seq=conversation.last_seq + 1,
        expires_at=expires_at,
    )
    opened = {"confirmation_id": str(confirmation.pk), "digest": confirmation.digest, **sealed(transaction)}
    record(conversation, "confirmation.opened", opened, transaction=transaction, turn=turn, is_public=False)
    ask(conversation, confirmation, turn=turn, rule=rule)


def _seconds_to_answer(rules: Rules) -> int:
    limit: int = settings.CONFIRMATION_SECONDS
    return min(limit, rules.policy.expires_after or limit)


def _question(
    conversation: Conversation,
    transaction: Transaction,
    rules: Rules,
    *,
    message: str | None,
    unvalidated: bool,
) -> str:
    items = list(transaction.items.filter(unconfirmed=False).order_by("position"))
    return reply.render_confirmation(
        message=message,
        operation=rules.tool.description.in_locale(conversation.locale),
        items=[as_reply_item(item) for item in items if item.status == ItemStatus.PENDING],
        left_out=[as_reply_item(item) for item in items if item.status != ItemStatus.PENDING],
        arguments=argument_texts(rules, transaction.known, conversation.locale),
        locale=conversation.locale,
        unvalidated=unvalidated,
    )


def ask(
    conversation: Conversation, confirmation: Confirmation, *, turn: Turn | None = None, rule: Rule | str = ""
) -> None:
    """Show the open confirmation, for the first time or again: the same id, text, items and time."""
    data: dict[str, Any] = {
        "confirmation_id": str(confirmation.pk),
        "text": confirmation.text,
        "items": confirmation.items,
        "expires_at": confirmation.expires_at.isoformat().replace("+00:00", "Z"),
    }
    record(
        conversation,
        "confirmation.requested",
        data,
        transaction=confirmation.transaction,
        turn=turn,
        rule=rule,
    )


def confirm(
    conversation: Conversation, confirmation: Confirmation, *, rule: Rule, by: str, turn: Turn | None = None
) -> None:
    """Answer with yes: exactly one call is authorised, for what the confirmation's digest names."""
    transaction = confirmation.transaction
    _answer(conversation, confirmation, ConfirmationStatus.CONFIRMED, rule=rule, by=by, turn=turn)
    move(conversation, transaction, Status.EXECUTING, rule=rule, turn=turn, actor="user")
    on_commit(partial(failpoints.hit, "confirmation_stored"))
    executing.authorise(conversation, transaction, confirmation.digest, turn=turn)


def reject(
    conversation: Conversation, confirmation: Confirmation, *, rule: Rule, by: str, turn: Turn | None = None
) -> None:
    """Answer with no: the transaction ends CANCELLED and nothing is executed."""
    _answer(conversation, confirmation, ConfirmationStatus.REJECTED, rule=rule, by=by, turn=turn)
    ending.end(
        conversation,
        confirmation.transaction,
        Status.CANCELLED,
        reason_code=ReasonCode.USER_REJECTED,
        rule=rule,
        turn=turn,
        actor="user",
    )


def _answer(
    conversation: Conversation,
    confirmation: Confirmation,
    status: ConfirmationStatus,
    *,
    rule: Rule,
    by: str,
    turn: Turn | None,
) -> None:
    """Use the confirmation up, once; raises ConfirmationClosed where somebody else was first."""
    now = database_now()
    still_open = Confirmation.objects.filter(pk=confirmation.pk, status=ConfirmationStatus.OPEN, expires_at__gt=now)
    if not still_open.update(status=status, answered_by=by, answered_at=now):
        raise ConfirmationClosed("this confirmation is no longer open; answer the newest one")
    decision = "confirm" if status is ConfirmationStatus.CONFIRMED else "reject"
    record(
        conversation,
        "confirmation.answered",
        {"confirmation_id": str(confirmation.pk), "decision": decision, "by": by},
        transaction=confirmation.transaction,
        turn=turn,
        rule=rule,
        actor="user",
    )


def without_excluded(
    transaction: Transaction, rules: Rules, judged: Sequence[JudgedItem] | None, resolved: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """``resolved`` and what must change with it, so that nothing the user took out is sent (runtime.md §6.5).

    None where the validator's answer still holds such an item, where a required value names one and the validator did
    not say which items are left, and where nothing that is sent tells the tool which items are left: the validator
    resolved no value anew, and the values name not all of them ("everything").
    """
    excluded = list(transaction.items.filter(status=ItemStatus.EXCLUDED))
    if any(same_identity(old.fields, new.fields) for old in excluded for new in judged or ()):
        return None
    known = {**transaction.known, **resolved}
    left_out, kept = [item.label for item in excluded], [item.label for item in judged or ()]
    filtered = dict(resolved)
    for name in rules.policy.requires if excluded else ():
        value = without_left_out(known.get(name), left_out, kept)
        if value != known.get(name):
            filtered[name] = value
    is_certain = filtered == resolved or judged
    if not is_certain or None in filtered.values():
        return None
    return filtered if not excluded or _tells_the_set(transaction, rules, judged, filtered) else None


def _tells_the_set(
    transaction: Transaction, rules: Rules, judged: Sequence[JudgedItem] | None, resolved: Mapping[str, Any]
) -> bool:
    if any(transaction.known.get(name) != value for name, value in resolved.items()):
        return True
    if judged and rules.tool.argument("items") is not None:
        return True
    left = [item.fields for item in judged] if judged else [item.fields for item in items_at_stake(transaction)]
    return names_each((transaction.known.get(name) for name in rules.policy.requires), left)
