"""Claiming a validator run and applying its judgement (runtime.md §7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import F, Q
from django.db.transaction import atomic

from tooling import catalog
from tooling.gateway import Call
from tooling.specs import OperationType
from transactions.core.parameters import missing
from transactions.core.prevalidation import (
    JudgedItem,
    Judgement,
    NeedsParameter,
    Passed,
    Redirect,
    Refused,
    refusal_of,
    validator_arguments,
)
from transactions.core.reply import shown_reason
from transactions.core.statuses import ReasonCode, Status
from transactions.models import Conversation, Transaction
from transactions.services import amending, confirming, lineage
from transactions.services.advancing import ask, retarget, start_validation
from transactions.services.calls import Rules, auxiliary_arguments, rules_of
from transactions.services.ending import end
from transactions.services.rows import change, database_now, hold, move, record, sealed

CLAIM_LIMIT = 3


@dataclass(frozen=True, slots=True)
class Validation:
    """One claimed validator run. ``call`` None: it cannot be called, for ``failure``."""

    transaction_id: UUID
    conversation_id: UUID
    revision: int
    lease: UUID
    rules: Rules
    arguments: Mapping[str, Any]
    call: Call | None
    failure: str = ""


def claim_validation(transaction_id: UUID) -> Validation | None:
    """Take the due validator run for ``LEASE_SECONDS``; None where there is none or another worker has it."""
    now, lease = database_now(), uuid4()
    due = Transaction.objects.filter(pk=transaction_id, status=Status.PRE_VALIDATING)
    free = due.filter(Q(leased_until=None) | Q(leased_until__lte=now))
    until = now + timedelta(seconds=settings.LEASE_SECONDS)
    if not free.update(lease=lease, leased_until=until, claims=F("claims") + 1):
        return None
    transaction = Transaction.objects.select_related("conversation").get(pk=transaction_id)
    rules = rules_of(transaction)
    failure = ""
    if transaction.claims > CLAIM_LIMIT:
        failure = "every worker that called the validator ended before its answer was kept"
    elif not catalog.is_available(rules.policy.pre_validation.tool):
        failure = "the validator is disabled"
    return Validation(
        transaction_id=transaction.pk,
        conversation_id=transaction.conversation_id,
        revision=transaction.revision,
        lease=lease,
        rules=rules,
        arguments=transaction.known,
        call=None if failure else _call(transaction, rules),
        failure=failure,
    )


def _call(transaction: Transaction, rules: Rules) -> Call:
    name = rules.policy.pre_validation.tool
    validator = rules.definitions.tools[name]
    policy = rules.definitions.policy(name)
    known = {**auxiliary_arguments(rules, name, transaction.conversation.identity), **transaction.known}
    return Call(
        server=rules.definitions.servers[validator.mcp_server],
        tool=name,
        arguments=validator_arguments(validator, known, transaction.tool, transaction.keep_items),
        meta={
            "agentplatform/idempotency_key": f"tx-{transaction.pk}-v{transaction.validator_runs + 1}",
            "agentplatform/transaction_id": str(transaction.pk),
        },
        timeout=policy.timeout_seconds or settings.TOOL_TIMEOUT_SECONDS,
    )


def renew(validation: Validation) -> None:
    """Keep the lease while the validator is called."""
    until = database_now() + timedelta(seconds=settings.LEASE_SECONDS)
    Transaction.objects.filter(pk=validation.transaction_id, lease=validation.lease).update(leased_until=until)


@atomic
def record_verdict(validation: Validation, judgement: Judgement, *, answer: Any, error: str | None) -> bool:
    """Keep the validator's answer and apply it; one that comes too late changes nothing but the evidence."""
    conversation = hold(validation.conversation_id)
    transaction = Transaction.objects.get(pk=validation.transaction_id)
    evidence = _evidence(validation, judgement, answer=answer, error=error)
    is_current = transaction.status == Status.PRE_VALIDATING and transaction.revision == validation.revision
    if not is_current:
        record(conversation, "pre_validation.late", evidence, transaction=transaction, is_public=False)
        return False
    kept = {name: evidence[name] for name in ("tool", "answer", "error")}
    runs, validations = transaction.validator_runs + 1, [*transaction.validations, kept]
    change(transaction, pre_validation=evidence, validator_runs=runs, validations=validations)
    record(
        conversation,
        "pre_validation.finished",
        _told(judgement, conversation.locale),
        transaction=transaction,
    )
    _apply(conversation, transaction, validation.rules, judgement)
    return True


def _evidence(validation: Validation, judgement: Judgement, *, answer: Any, error: str | None) -> dict[str, Any]:
    items = getattr(judgement, "items", None)
    return {
        "tool": validation.rules.policy.pre_validation.tool,
        "eligible": answer.get("eligible") if isinstance(answer, dict) else None,
        "fail_open_used": isinstance(judgement, Passed) and judgement.unvalidated,
        "request": dict(validation.call.arguments) if validation.call else {},
        "answer": answer,
        "error": error,
        "has_items": items is not None,
        "message": getattr(judgement, "confirmation_message", None),
        "extra": dict(judgement.extra) if isinstance(judgement, Passed) else {},
    }


def _told(judgement: Judgement, locale: str) -> dict[str, Any]:
    items: Sequence[JudgedItem] = getattr(judgement, "items", None) or ()
    return {
        "eligible": isinstance(judgement, Passed | Redirect),
        "items": [
            {"label": item.label, "eligible": item.eligible, "reason": shown_reason(item.reason, locale)}
            for item in items
        ],
        "reason_code": str(judgement.reason_code) if isinstance(judgement, Refused) else None,
    }


def _apply(conversation: Conversation, transaction: Transaction, rules: Rules, judgement: Judgement) -> None:
    match judgement:
        case NeedsParameter():
            _ask_anew(conversation, transaction, rules, judgement)
        case Refused():
            _refuse(conversation, transaction, rules, judgement)
        case Redirect():
            _redirect(conversation, transaction, rules, judgement)
        case Passed():
            _go_on(conversation, transaction, rules, judgement)


def _ask_anew(conversation: Conversation, transaction: Transaction, rules: Rules, judgement: NeedsParameter) -> None:
    cleared = {judgement.parameter, *judgement.clear}
    kept = {name: held for name, held in transaction.arguments.items() if name not in cleared}
    move(
        conversation,
        transaction,
        Status.COLLECTING_PARAMETERS,
        arguments=kept,
        asked=judgement.parameter,
        question=judgement.message or "",
    )
    ask(conversation, transaction, rules, turn=None)


def _refuse(conversation: Conversation, transaction: Transaction, rules: Rules, judgement: Refused) -> None:
    if amending.restore(conversation, transaction, rules, judgement):
        return
    reason_code, reason = judgement.reason_code, judgement.reason or ""
    if judgement.items:
        items = lineage.allowed(transaction, judgement.items)
        if confirming.holds_unsettled_item(conversation, transaction, [item.fields for item in judgement.items]):
            reason_code, reason, items = ReasonCode.ITEM_UNSETTLED, "", confirming.unjudged(items)
        confirming.lay_out_items(transaction, rules, items)
    end(conversation, transaction, Status.REFUSED, reason_code=reason_code, reason=reason)


def _redirect(conversation: Conversation, transaction: Transaction, rules: Rules, judgement: Redirect) -> None:
    target = rules.definitions.tools.get(judgement.target_tool)
    refusal: ReasonCode | None = None
    if transaction.redirected:
        refusal = ReasonCode.VALIDATION_LOOP
    elif (
        target is None
        or not catalog.is_available(target.name)
        or rules.definitions.policy(target.name).operation_type is OperationType.INTERNAL
    ):
        refusal = ReasonCode.INVALID_TARGET
    if refusal or target is None:
        end(conversation, transaction, Status.REFUSED, reason_code=refusal or ReasonCode.INVALID_TARGET)
        return
    _resolve(transaction, judgement.arguments)
    new_rules = retarget(transaction, rules, target.name)
    told = {"tool": target.name, **sealed(transaction)}
    record(conversation, "transaction.redirected", told, transaction=transaction, is_public=False)
    unmet = refusal_of(judgement.items, new_rules.policy)
    if missing(new_rules.policy.requires, transaction.known):
        move(conversation, transaction, Status.COLLECTING_PARAMETERS)
        ask(conversation, transaction, new_rules, turn=None)
    elif new_rules.policy.pre_validation.enabled:
        start_validation(conversation, transaction, turn=None)
    elif unmet is not None:
        _refuse(conversation, transaction, new_rules, unmet)
    else:
        _go_on(conversation, transaction, new_rules, replace(judgement, arguments={}))


def _go_on(conversation: Conversation, transaction: Transaction, rules: Rules, judgement: Passed | Redirect) -> None:
    resolved = confirming.without_excluded(transaction, rules, judgement.items, judgement.arguments)
    if resolved is None:
        amending.ask_for_the_value_again(conversation, transaction, rules)
        return
    _resolve(transaction, resolved)
    confirming.propose(
        conversation,
        transaction,
        rules,
        judged=judgement.items,
        message=judgement.confirmation_message,
        must_confirm=judgement.requires_reconfirmation,
        unvalidated=isinstance(judgement, Passed) and judgement.unvalidated,
    )


def _resolve(transaction: Transaction, resolved: Mapping[str, Any]) -> None:
    """Arguments as the validator resolved them; what it left alone keeps its provenance."""
    arguments = dict(transaction.arguments)
    for name, value in resolved.items():
        if name not in arguments or arguments[name]["value"] != value:
            arguments[name] = {"value": value, "source": "validator", "turn_id": None}
    change(transaction, arguments=arguments)
