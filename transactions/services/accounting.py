"""From a recorded raw answer to the ledger of items and the verdict of the transaction (runtime.md §4, §4a, §9.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db.models import F
from django.db.transaction import atomic, on_commit

from tooling.cleaning import clean_json
from transactions import failpoints
from transactions.core.outcomes import (
    ItemOutcome,
    Ledger,
    account,
    envelope_of,
    label_of,
    multi_item_status_of,
    normalize,
    rows_of,
)
from transactions.core.statuses import (
    AttemptStatus,
    ItemStatus,
    Status,
    VerdictSource,
)
from transactions.models import Attempt, Conversation, Item, Transaction
from transactions.services.calls import IMPLICIT, Rules, confirmed_items, own_label, rules_of
from transactions.services.executing import name_implicit_item
from transactions.services.finishing import finish, verify
from transactions.services.reviewing import ask_for_review, raise_incident
from transactions.services.rows import database_now, hold
from transactions.services.stepping import report_of

OPEN = (ItemStatus.IN_FLIGHT, ItemStatus.UNKNOWN)
"""The statuses that an answer may still move."""


SETTLE_LIMIT = 10
"""How often an attempt is taken up, the claims before its call included, until its answer counts as unreadable."""
UNREADABLE = "the answer is kept, and reading it failed every time"


@dataclass(slots=True)
class _Written:
    """What an answer did to the items: ``moved`` of them have an outcome now; what it ``contradicts`` stays."""

    moved: int = 0
    contradicts: list[str] = field(default_factory=list)


@atomic
def settle(attempt_id: int) -> bool:
    """Account for a recorded answer, once: items, verdict, events. False where there is nothing to account."""
    attempt = Attempt.objects.select_related("transaction").get(pk=attempt_id)
    conversation = hold(attempt.transaction.conversation_id)
    attempt = Attempt.objects.select_related("transaction").get(pk=attempt_id)
    if attempt.status != AttemptStatus.ANSWERED or attempt.accounted_at is not None:
        return False
    on_commit(partial(failpoints.hit, "accounted"))
    transaction = attempt.transaction
    rules = rules_of(transaction)
    ledger, normalised = _read(attempt, rules)
    written = write_items(transaction, ledger)
    _write_unconfirmed(transaction, ledger.unconfirmed)
    Attempt.objects.filter(pk=attempt.pk).update(
        accounted_at=database_now(),
        normalised=normalised,
        secondary_error=_secondary_error(normalised),
    )
    incidents = [*ledger.incidents, *written.contradicts, *_schema_note(attempt)]
    _finish(conversation, transaction, normalised, incidents, has_news=written.moved > 0)
    return True


def settle_again(attempt_id: int) -> bool:
    """``settle`` for whoever finds the answer unaccounted; one that always fails ends with operators, not in a loop.

    The count is committed before the answer is read, so that also an answer that kills its reader is counted.
    """
    waiting = Attempt.objects.filter(pk=attempt_id, status=AttemptStatus.ANSWERED, accounted_at=None)
    if not waiting.update(claims=F("claims") + 1):
        return False
    if waiting.filter(claims__gt=SETTLE_LIMIT).exists():
        return _give_up_reading(attempt_id)
    return settle(attempt_id)


@atomic
def _give_up_reading(attempt_id: int) -> bool:
    """The answer is kept and nobody can read it: what it says of the items is unknown."""
    attempt = Attempt.objects.select_related("transaction").get(pk=attempt_id)
    conversation = hold(attempt.transaction.conversation_id)
    transaction = Transaction.objects.get(pk=attempt.transaction_id)
    Attempt.objects.filter(pk=attempt_id).update(accounted_at=database_now(), failure=UNREADABLE)
    if not transaction.items.exclude(status=ItemStatus.EXCLUDED).exists():
        name_implicit_item(transaction)
    transaction.items.filter(status=ItemStatus.IN_FLIGHT).update(
        status=ItemStatus.UNKNOWN, verdict_source=VerdictSource.MALFORMED, rule="runtime.md §9.2"
    )
    if transaction.status == Status.EXECUTING:
        verify(conversation, transaction)
    ask_for_review(conversation, transaction, UNREADABLE)
    return True


def _read(attempt: Attempt, rules: Rules) -> tuple[Ledger, dict[str, Any]]:
    raw = attempt.raw_answer or {}
    name = rules.tool.name
    # A text block is parsed only here, so what no database stores may come to light only here.
    envelope = clean_json(
        envelope_of(
            name, structured=raw.get("structured"), texts=raw.get("texts", []), is_error=bool(raw.get("is_error"))
        )
    )
    if (told := report_of(attempt, rules, envelope)) is not None:
        envelope["workflow"] = told
    normalised = normalize(name, envelope)
    ledger = account(
        confirmed_items(attempt.transaction),
        rows_of(name, envelope),
        verdict=envelope["ok"],
        atomicity=rules.policy.atomicity,
        evidence=envelope["result"],
        error=envelope["error"],
    )
    return ledger, normalised


def write_items(transaction: Transaction, ledger: Ledger) -> _Written:
    """Move every item that is still open; say where the answer contradicts an outcome that is final."""
    held = {item.key: item for item in transaction.items.filter(unconfirmed=False)}
    written = _Written()
    whole = held.get(IMPLICIT)
    if whole is not None and all(outcome.key != IMPLICIT for outcome in ledger.outcomes):
        if whole.status not in OPEN:
            # Somebody settled the one item meanwhile: the rows are compared with it and change nothing.
            written.contradicts += [text for outcome in ledger.outcomes if (text := _contradiction(whole, outcome))]
            return written
        # A late answer has rows, and they define the items.
        held.pop(IMPLICIT).delete()
    for position, outcome in enumerate(ledger.outcomes, start=1):
        item = held.get(outcome.key) or _discovered(transaction, outcome, position)
        if item.status in OPEN:
            written.moved += outcome.status != ItemStatus.UNKNOWN
            write_outcome(item, outcome)
        elif item.status in (ItemStatus.INELIGIBLE, ItemStatus.EXCLUDED):
            _keep_evidence(item, outcome)
        elif text := _contradiction(item, outcome):
            written.contradicts.append(text)
    return written


def _contradiction(item: Item, outcome: ItemOutcome) -> str:
    """What a later answer says against an outcome that is final; empty where it agrees or knows nothing."""
    if outcome.status not in (ItemStatus.SUCCEEDED, ItemStatus.FAILED):
        return ""
    if (outcome.status == ItemStatus.SUCCEEDED) == (item.status == ItemStatus.SUCCEEDED):
        return ""
    return f"a later answer says {outcome.status} of {item.label}, which is {item.status}"


def _discovered(transaction: Transaction, outcome: ItemOutcome, position: int) -> Item:
    """An item that the rows define, because nothing named the set before (runtime.md §4a.5)."""
    return Item.objects.create(
        transaction=transaction,
        position=position,
        key=outcome.key,
        label=outcome.label or own_label(transaction, rules_of(transaction)),
        fields=dict(outcome.fields),
        status=ItemStatus.IN_FLIGHT,
    )


def write_outcome(item: Item, outcome: ItemOutcome) -> None:
    """Give an open item its outcome, with the evidence for it."""
    item.status = outcome.status
    item.reason = outcome.reason
    item.protocol = outcome.protocol
    item.verdict_source = outcome.verdict_source
    item.rule = outcome.rule
    item.evidence = dict(outcome.evidence)
    item.save()


def _keep_evidence(item: Item, outcome: ItemOutcome) -> None:
    item.evidence = dict(outcome.evidence)
    item.reason = item.reason or outcome.reason
    item.rule = item.rule or outcome.rule
    if item.status == ItemStatus.EXCLUDED:
        item.verdict_source = VerdictSource.USER
    item.save()


def _write_unconfirmed(transaction: Transaction, rows: Sequence[Any]) -> None:
    """Rows that nobody confirmed: recorded and shown, never counted (runtime.md §4a.4)."""
    items = list(transaction.items.all())
    position = max((item.position for item in items), default=0)
    known = [item.evidence for item in items if item.unconfirmed]
    for row in rows:
        evidence = row if isinstance(row, dict) else {"row": row}
        if evidence in known:
            # The same row of a second answer to the same request.
            continue
        position += 1
        verdict = account(None, [row]).outcomes[0]
        Item.objects.create(
            transaction=transaction,
            position=position,
            key=f"unconfirmed-{position}",
            label=label_of(row) or "?",
            fields={},
            status=verdict.status,
            reason=verdict.reason,
            protocol=verdict.protocol,
            evidence=evidence,
            unconfirmed=True,
        )


def _secondary_error(normalised: Any) -> str | None:
    error = normalised.get("secondary_error") if isinstance(normalised, dict) else None
    return None if error is None else str(error)


def _schema_note(attempt: Attempt) -> list[str]:
    error = (attempt.raw_answer or {}).get("schema_error")
    return [f"the answer breaks the tool's output schema: {error}"] if error else []


def _finish(
    conversation: Conversation,
    transaction: Transaction,
    normalised: dict[str, Any],
    incidents: list[str],
    *,
    has_news: bool,
) -> None:
    fields: dict[str, Any] = {"has_unconfirmed": transaction.items.filter(unconfirmed=True).exists()}
    if incidents:
        raise_incident(conversation, transaction, incidents)
    if not transaction.is_final:
        fields["multi_item_status"] = multi_item_status_of(normalised)
    finish(conversation, transaction, has_news=has_news, **fields)
