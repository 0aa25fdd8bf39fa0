"""Asking what became of a call whose outcome is unknown: reconcile, resend, else the operators' queue (§9.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import Q
from django.db.transaction import atomic

from tooling import catalog
from tooling.cleaning import clean_json
from tooling.gateway import Answered, Call, NoAnswer, NotSent, Outcome
from tooling.specs import ToolSpec
from transactions import outbox
from transactions.core.ledger import ConfirmedItem, ItemOutcome, Ledger
from transactions.core.outcomes import envelope_of, rows_of
from transactions.core.reconciling import TRIES, Means, handed_over, means_of, seconds_until, settled_by
from transactions.core.statuses import AttemptStatus, ItemStatus, Status
from transactions.models import Conversation, Item, Transaction
from transactions.services.accounting import write_items
from transactions.services.attempts import new_attempt
from transactions.services.calls import Rules, auxiliary_arguments, request_key, rules_of
from transactions.services.finishing import finish
from transactions.services.reviewing import GIVEN_UP, ask_for_review, raise_incident
from transactions.services.rows import database_now, hold, record
from transactions.services.telling import say


@dataclass(frozen=True, slots=True)
class Check:
    """One claimed question to a reconcile tool. ``call`` None: it cannot be asked, for ``failure``."""

    transaction_id: UUID
    conversation_id: UUID
    lease: UUID
    number: int
    tool: str
    call: Call | None
    failure: str = ""
    keys: frozenset[str] = frozenset()
    """The keys of the items that were asked about."""


def claim(transaction_id: UUID) -> Check | None:
    """Take the due step of a transaction in VERIFYING; None where there is none, or where it needs no call.

    Every claim counts as a try, so a question that kills its worker is not asked for ever. A resend is only prepared
    here: it is an attempt like any other. After the last try, or the end of the time, operators are asked.
    """
    conversation_id = Transaction.objects.values_list("conversation_id", flat=True).get(pk=transaction_id)
    with atomic():
        conversation, now = hold(conversation_id), database_now()
        free = Q(leased_until=None) | Q(leased_until__lte=now)
        due = Transaction.objects.filter(free, pk=transaction_id, status=Status.VERIFYING, verify_due_at__lte=now)
        transaction = due.first()
        if transaction is None:
            return None
        if transaction.verify_tries >= TRIES or transaction.verify_until is None or now >= transaction.verify_until:
            _give_up(conversation, transaction)
            return None
        return _try(conversation, transaction, now)


def _try(conversation: Conversation, transaction: Transaction, now: datetime) -> Check | None:
    number = transaction.verify_tries + 1
    rules = rules_of(transaction)
    means = means_of(rules.policy)
    lease = uuid4() if means is Means.RECONCILE else None
    window = settings.RECONCILE_SECONDS
    begun = (transaction.verify_until or now) - timedelta(seconds=window)
    Transaction.objects.filter(pk=transaction.pk).update(
        verify_tries=number,
        verify_due_at=max(now, begun + timedelta(seconds=seconds_until(number, window))),
        lease=lease,
        leased_until=lease and now + timedelta(seconds=settings.LEASE_SECONDS),
    )
    if lease is None:
        _resend(transaction)
        return None
    return _check(conversation, transaction, rules, lease=lease, number=number)


def _resend(transaction: Transaction) -> None:
    """The same request once more under the same key, unless one is on its way already."""
    attempts = list(transaction.attempts.order_by("number"))
    if any(attempt.status in (AttemptStatus.READY, AttemptStatus.SENT) for attempt in attempts):
        return
    last = attempts[-1]
    attempt = new_attempt(transaction, number=last.number + 1, digest=last.digest, is_resend=True)
    outbox.wake("execute", attempt.pk)


def _check(conversation: Conversation, transaction: Transaction, rules: Rules, *, lease: UUID, number: int) -> Check:
    name, unknown = rules.policy.reconcile_tool, _unknown(transaction)
    tool = rules.definitions.tools[name]
    failure = "" if catalog.is_available(name) else "the reconcile tool is disabled"
    known = {
        **auxiliary_arguments(rules, name, conversation.identity),
        "idempotency_key": request_key(transaction),
        "items": [_asked(item, tool) for item in unknown],
    }
    call = Call(
        server=rules.definitions.servers[tool.mcp_server],
        tool=name,
        arguments={name: value for name, value in known.items() if tool.argument(name) is not None},
        meta={
            "agentplatform/idempotency_key": f"{request_key(transaction)}-c{number}",
            "agentplatform/transaction_id": str(transaction.pk),
        },
        timeout=rules.definitions.policy(name).timeout_seconds or settings.TOOL_TIMEOUT_SECONDS,
    )
    return Check(
        transaction.pk,
        conversation.pk,
        lease,
        number,
        name,
        call=None if failure else call,
        failure=failure,
        keys=frozenset(item.key for item in unknown),
    )


def _asked(item: Item, tool: ToolSpec) -> Any:
    """An item as the reconcile tool takes it: an object with our key and label, or a text where it declares texts."""
    items = tool.argument("items")
    if items is not None and items.items.get("type") == "string":
        return item.label
    return {**item.fields, "key": item.key, "label": item.label}


def _unknown(transaction: Transaction) -> Sequence[Item]:
    return list(transaction.items.filter(status=ItemStatus.UNKNOWN, unconfirmed=False).order_by("position"))


def renew(check: Check) -> None:
    """Keep the lease while the reconcile tool is called."""
    until = database_now() + timedelta(seconds=settings.LEASE_SECONDS)
    Transaction.objects.filter(pk=check.transaction_id, lease=check.lease).update(leased_until=until)


@atomic
def record_check(check: Check, outcome: Outcome) -> None:
    """Keep what the reconcile tool said and settle what it knows; what it does not know stays UNKNOWN.

    An answer that comes after the outcome was settled otherwise is kept as evidence and changes nothing; where it
    contradicts that outcome, it is an incident, too (runtime.md §2).
    """
    conversation = hold(check.conversation_id)
    transaction = Transaction.objects.get(pk=check.transaction_id)
    answer, error, rows = _read(check, outcome)
    is_current = transaction.status == Status.VERIFYING and transaction.lease == check.lease
    asked = list(transaction.items.filter(key__in=check.keys, unconfirmed=False).order_by("position"))
    is_read = is_current or transaction.is_final
    outcomes = settled_by([_as_confirmed(item) for item in asked], rows) if is_read else ()
    record(
        conversation,
        "reconcile.finished",
        {
            "tool": check.tool,
            "try": check.number,
            "request": dict(check.call.arguments) if check.call else {},
            "answer": answer,
            "error": error,
            "settled": _settled(outcomes, asked) if is_current else {},
            "late": not is_current,
        },
        transaction=transaction,
        is_public=False,
    )
    if outcomes:
        _apply(conversation, transaction, outcomes)
    if not is_current:
        return
    Transaction.objects.filter(pk=transaction.pk).update(lease=None, leased_until=None)
    if transaction.status == Status.VERIFYING and check.number >= TRIES:
        _give_up(conversation, transaction)


def _read(check: Check, outcome: Outcome) -> tuple[Any, str | None, Sequence[Any] | None]:
    """The answer and the error for the record, and the rows that count; an answer with an error has none."""
    match outcome:
        case Answered(is_error=True):
            return outcome.raw, "is_error", None
        case Answered():
            envelope: Mapping[str, Any] = clean_json(
                envelope_of(check.tool, structured=outcome.structured, texts=outcome.texts, is_error=False)
            )
            return envelope["result"], outcome.schema_error or None, rows_of(check.tool, envelope)
        case NotSent(reason=reason) | NoAnswer(reason=reason):
            return None, reason, None


def _as_confirmed(item: Item) -> ConfirmedItem:
    return ConfirmedItem(key=item.key, fields=item.fields, label=item.label)


def _settled(outcomes: Sequence[ItemOutcome], asked: Sequence[Item]) -> dict[str, str]:
    """The outcomes of items that nobody settled while the tool was asked."""
    final = {item.key for item in asked if item.status != ItemStatus.UNKNOWN}
    if len(final) == len(asked):
        return {}
    return {outcome.key: str(outcome.status) for outcome in outcomes if outcome.key not in final}


def _apply(conversation: Conversation, transaction: Transaction, outcomes: Sequence[ItemOutcome]) -> None:
    """Settle what is still unknown; what contradicts an outcome that stands already is an incident."""
    written = write_items(transaction, Ledger(tuple(outcomes), (), (), Status.VERIFYING))
    if written.contradicts:
        raise_incident(conversation, transaction, written.contradicts)
    if written.moved:
        finish(conversation, transaction, has_news=True)


def _give_up(conversation: Conversation, transaction: Transaction) -> None:
    """Nobody asks any more: operators look at it, with an alarm (runtime.md §9.4)."""
    Transaction.objects.filter(pk=transaction.pk).update(verify_due_at=None, lease=None, leased_until=None)
    ask_for_review(conversation, transaction, GIVEN_UP)
    say(conversation, handed_over(conversation.locale), transaction=transaction)
