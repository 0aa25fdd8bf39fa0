"""At most one call per confirmed attempt: authorise, claim, gate, and record what came of it (runtime.md §9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import F, Q
from django.db.transaction import atomic

from tooling import catalog
from tooling.gateway import Answered, Call, NoAnswer, NotSent
from tooling.specs import OperationType
from transactions import outbox
from transactions.core import evidence
from transactions.core.errors import LeaseLost
from transactions.core.statuses import (
    AttemptStatus,
    ItemStatus,
    ReasonCode,
    Status,
    VerdictSource,
)
from transactions.models import Attempt, Conversation, Item, Transaction, Turn
from transactions.services import ending
from transactions.services.attempts import move_attempt, new_attempt
from transactions.services.calls import (
    IMPLICIT,
    Rules,
    action_arguments,
    asked_for,
    digest_of,
    items_at_stake,
    own_label,
    rules_of,
)
from transactions.services.finishing import verify
from transactions.services.rows import database_now, hold, move, record

CLAIM_LIMIT = 3
SEND_LIMIT = 4
"""The first try and three more, where it is certain that nothing was sent (runtime.md §9.4)."""
RESEND_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker's right to work on an attempt until its lease runs out."""

    attempt_id: int
    conversation_id: UUID
    lease: UUID


def authorise(conversation: Conversation, transaction: Transaction, digest: str, *, turn: Turn | None = None) -> None:
    """The first attempt of the one logical call that ``digest`` names; a worker is woken after the commit."""
    attempt = new_attempt(transaction, number=1, digest=digest)
    record(conversation, "execution.started", {"attempt": 1}, transaction=transaction, turn=turn)
    outbox.wake("execute", attempt.pk)


# Claim and gate ------------------------------------------


def claim(attempt_id: int) -> Claim | None:
    """Take the attempt for ``LEASE_SECONDS``; None where it is not due, taken, sent, or was claimed too often."""
    now, lease = database_now(), uuid4()
    due = Attempt.objects.filter(pk=attempt_id, status=AttemptStatus.READY, due_at__lte=now, claims__lt=CLAIM_LIMIT)
    free = due.filter(Q(leased_until=None) | Q(leased_until__lte=now))
    until = now + timedelta(seconds=settings.LEASE_SECONDS)
    if not free.update(lease=lease, leased_until=until, claims=F("claims") + 1):
        return None
    conversation_id = Attempt.objects.values_list("transaction__conversation_id", flat=True).get(pk=attempt_id)
    return Claim(attempt_id, conversation_id, lease)


def renew(claim: Claim) -> None:
    """Keep the lease while the call runs, or a workflow's nodes before it do."""
    until = database_now() + timedelta(seconds=settings.LEASE_SECONDS)
    at_work = [AttemptStatus.READY, AttemptStatus.SENT]
    Attempt.objects.filter(pk=claim.attempt_id, lease=claim.lease, status__in=at_work).update(leased_until=until)


def give_back(claim: Claim) -> None:
    """Nothing was sent, and not for a fault of the attempt: free again at once, and not counted as a claim."""
    unsent = Attempt.objects.filter(pk=claim.attempt_id, lease=claim.lease, status=AttemptStatus.READY)
    unsent.update(lease=None, leased_until=None, claims=F("claims") - 1)


@atomic
def gate(claim: Claim, arguments: Mapping[str, Any] | None = None) -> Call | None:
    """READY → SENT, committed before a byte leaves; None where the call must not be made (runtime.md §9.2).

    ``arguments``: what a workflow made of the confirmed ones; None: those themselves. Raises LeaseLost where another
    worker took over.
    """
    conversation, attempt = held(claim)
    if attempt.status != AttemptStatus.READY:
        raise LeaseLost(f"{attempt} is {attempt.status} already")
    transaction = attempt.transaction
    rules = rules_of(transaction)
    if refusal := _refusal(conversation, attempt, rules):
        fail_unsent(conversation, attempt, refusal)
        return None
    call = _same_call(transaction, rules) if attempt.is_resend else _call(conversation, transaction, rules, attempt)
    if arguments is not None:
        call = replace(call, arguments=dict(arguments))
    request = {"tool": call.tool, "server": call.server.name, "arguments": call.arguments, "_meta": call.meta}
    now = database_now()
    Attempt.objects.filter(pk=attempt.pk).update(
        status=AttemptStatus.SENT,
        sent_at=now,
        leased_until=now + timedelta(seconds=settings.LEASE_SECONDS),
        request=request,
    )
    transaction.items.filter(status=ItemStatus.PENDING).update(status=ItemStatus.IN_FLIGHT)
    data = {"attempt": attempt.number, evidence.REQUEST: evidence.fingerprint(request)}
    record(conversation, "attempt.sent", data, transaction=transaction, is_public=False)
    return call


def _refusal(conversation: Conversation, attempt: Attempt, rules: Rules) -> ReasonCode | None:
    """Why the call must not be made now; None where it may."""
    transaction = attempt.transaction
    if not catalog.is_available(transaction.tool):
        return ReasonCode.TOOL_DISABLED
    if attempt.is_resend:
        # The stored request is sent again as it was; settled meanwhile, there is nothing left to ask.
        return None if transaction.status == Status.VERIFYING else ReasonCode.NOT_SENT
    if digest_of(conversation, transaction, rules) != attempt.digest:
        return ReasonCode.DIGEST_MISMATCH
    return None


def held(claim: Claim) -> tuple[Conversation, Attempt]:
    conversation = hold(claim.conversation_id)
    attempt = Attempt.objects.select_related("transaction").filter(pk=claim.attempt_id, lease=claim.lease).first()
    if attempt is None:
        raise LeaseLost(f"attempt {claim.attempt_id} was taken over by another worker")
    return conversation, attempt


def _call(conversation: Conversation, transaction: Transaction, rules: Rules, attempt: Attempt) -> Call:
    keys = [{"key": item.key, "label": item.label} for item in items_at_stake(transaction) if item.eligible]
    return Call(
        server=rules.definitions.servers[rules.tool.mcp_server],
        tool=rules.tool.name,
        arguments=action_arguments(conversation, transaction, rules),
        meta={
            "agentplatform/idempotency_key": attempt.idempotency_key,
            "agentplatform/transaction_id": str(transaction.pk),
            "agentplatform/item_keys": keys,
            "agentplatform/request_digest": attempt.digest,
        },
        timeout=rules.policy.timeout_seconds or settings.TOOL_TIMEOUT_SECONDS,
    )


def _same_call(transaction: Transaction, rules: Rules) -> Call:
    """The call whose outcome is unknown, word for word: the same key never goes with other arguments (§9.3)."""
    request = _first_request(transaction)
    return Call(
        server=rules.definitions.servers[request["server"]],
        tool=request["tool"],
        arguments=request["arguments"],
        meta=request["_meta"],
        timeout=rules.policy.timeout_seconds or settings.TOOL_TIMEOUT_SECONDS,
    )


def _first_request(transaction: Transaction) -> dict[str, Any]:
    sent = transaction.attempts.exclude(sent_at=None).filter(is_resend=False).exclude(status=AttemptStatus.NOT_SENT)
    request: dict[str, Any] = sent.order_by("number").values_list("request", flat=True)[0]
    return request


# What came of it ------------------------------------------


@atomic
def record_answer(claim: Claim, answer: Answered) -> None:
    """Commit the raw answer before anything reads it; a late one beats UNKNOWN (runtime.md §9.2, §2).

    Its fingerprint goes into the chain of evidence in the same commit.
    """
    raw = {
        "answer": answer.raw,
        "structured": answer.structured,
        "texts": list(answer.texts),
        "is_error": answer.is_error,
        "schema_error": answer.schema_error,
    }
    seen = _raw_answer_seen(raw)
    conversation = hold(claim.conversation_id)
    unanswered = Attempt.objects.filter(
        pk=claim.attempt_id,
        status__in=[AttemptStatus.SENT, AttemptStatus.UNKNOWN],
        accounted_at=None,
        raw_answer__isnull=True,
    )
    if not unanswered.update(status=AttemptStatus.ANSWERED, raw_answer=raw, answered_at=database_now()):
        return
    attempt = Attempt.objects.select_related("transaction").defer("raw_answer").get(pk=claim.attempt_id)
    data = {"attempt": attempt.number, **seen}
    record(conversation, "attempt.answered", data, transaction=attempt.transaction, is_public=False)


def _raw_answer_seen(raw: Any) -> dict[str, str]:
    """What an event says about a raw answer that is kept beside it."""
    return {} if raw is None else {evidence.RAW_ANSWER: evidence.fingerprint(raw)}


@atomic
def record_not_sent(claim: Claim, outcome: NotSent) -> None:
    """It is certain that the tool did not run: try again with the same key, or end as not executed.

    Written twice, or after the attempt was given up, it changes nothing.
    """
    conversation, attempt = held(claim)
    if attempt.status != AttemptStatus.SENT:
        return
    transaction = attempt.transaction
    now = database_now()
    fields: dict[str, Any] = {"failure": outcome.reason, "accounted_at": now}
    if outcome.raw is None:
        move_attempt(attempt, AttemptStatus.NOT_SENT, **fields)
    else:  # it did arrive, and the answer says that nothing ran
        move_attempt(attempt, AttemptStatus.ANSWERED, raw_answer=outcome.raw, answered_at=now, **fields)
    data = {"attempt": attempt.number, "reason": outcome.reason, **_raw_answer_seen(outcome.raw)}
    record(conversation, "attempt.not_sent", data, transaction=transaction, is_public=False)
    if attempt.is_resend:
        # It says nothing about the first call; what became of that is asked again when it is due.
        return
    if outcome.again and attempt.number < SEND_LIMIT:
        transaction.items.filter(status=ItemStatus.IN_FLIGHT).update(status=ItemStatus.PENDING)
        delay = RESEND_SECONDS * attempt.number
        # Nobody is woken: the sweeper finds it when the delay is over.
        new_attempt(transaction, number=attempt.number + 1, digest=attempt.digest, delay=delay)
    else:
        _end_unexecuted(conversation, transaction, ReasonCode.NOT_SENT, reason=outcome.reason)


@atomic
def record_no_answer(claim: Claim, outcome: NoAnswer) -> None:
    """Sent and no answer: every item in flight is UNKNOWN and nothing is sent again (runtime.md §9.4)."""
    conversation, attempt = held(claim)
    if attempt.status != AttemptStatus.SENT:
        return
    transaction = attempt.transaction
    move_attempt(attempt, AttemptStatus.UNKNOWN, failure=outcome.reason, raw_answer=outcome.raw)
    data = {"attempt": attempt.number, "reason": outcome.reason, **_raw_answer_seen(outcome.raw)}
    record(conversation, "attempt.unknown", data, transaction=transaction, is_public=False)
    if attempt.is_resend:
        return
    if transaction.operation_type in (OperationType.READ_ONLY, OperationType.INTERNAL):
        # It changed nothing, so there is nothing to verify.
        _move_attempt_done(attempt)
        _end_unexecuted(conversation, transaction, ReasonCode.TOOL_FAILED)
        return
    if not transaction.items.exclude(status=ItemStatus.EXCLUDED).exists():
        name_implicit_item(transaction)
    transaction.items.filter(status=ItemStatus.IN_FLIGHT).update(
        status=ItemStatus.UNKNOWN, verdict_source=VerdictSource.UNREPORTED, rule="runtime.md §9.4"
    )
    verify(conversation, transaction)


def name_implicit_item(transaction: Transaction) -> None:
    """Give a transaction whose set nobody named the one item that is unknown now, so that none goes unmentioned."""
    rules = rules_of(transaction)
    Item.objects.create(
        transaction=transaction,
        position=1,
        key=IMPLICIT,
        label=own_label(transaction, rules),
        fields=asked_for(transaction, rules),
        status=ItemStatus.IN_FLIGHT,
    )


def _move_attempt_done(attempt: Attempt) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(accounted_at=database_now())


def fail_unsent(
    conversation: Conversation,
    attempt: Attempt,
    reason_code: ReasonCode,
    *,
    reason: str = "",
    **evidence: Any,
) -> None:
    """READY → NOT_SENT for good: the items were not executed and the transaction FAILED with ``reason_code``.

    ``reason``: in a tool's words. ``evidence``: columns of the attempt that say more. A resend that is not sent
    leaves the items as unknown as they were.
    """
    evidence = {"failure": str(reason_code), **evidence}
    move_attempt(attempt, AttemptStatus.NOT_SENT, accounted_at=database_now(), **evidence)
    if not attempt.is_resend:
        _end_unexecuted(conversation, attempt.transaction, reason_code, reason=reason)


def _end_unexecuted(
    conversation: Conversation, transaction: Transaction, reason_code: ReasonCode, *, reason: str = ""
) -> None:
    open_items = transaction.items.filter(status__in=[ItemStatus.PENDING, ItemStatus.IN_FLIGHT])
    open_items.update(status=ItemStatus.NOT_EXECUTED)
    move(conversation, transaction, Status.FAILED, reason_code=reason_code, reason=reason)
    ending.tell_finished(conversation, transaction)


# What the sweeper finds ------------------------------------------


@atomic
def give_up_unsent(attempt_id: int) -> bool:
    """READY, claimed as often as allowed and its lease over: it will not be sent (runtime.md §9.4)."""
    attempt = Attempt.objects.select_related("transaction").get(pk=attempt_id)
    conversation = hold(attempt.transaction.conversation_id)
    attempt.refresh_from_db()
    is_over = attempt.leased_until is not None and attempt.leased_until <= database_now()
    if attempt.status != AttemptStatus.READY or attempt.claims < CLAIM_LIMIT or not is_over:
        return False
    fail_unsent(conversation, attempt, ReasonCode.NOT_SENT)
    return True


def give_up_answer(attempt_id: int) -> bool:
    """SENT and its worker is gone: the outcome is unknown."""
    attempt = Attempt.objects.select_related("transaction").get(pk=attempt_id)
    is_over = attempt.leased_until is not None and attempt.leased_until <= database_now()
    if attempt.status != AttemptStatus.SENT or attempt.lease is None or not is_over:
        return False
    claim = Claim(attempt.pk, attempt.transaction.conversation_id, attempt.lease)
    record_no_answer(claim, NoAnswer("the worker ended before the answer came"))
    return True
