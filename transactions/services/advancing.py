"""Opening a transaction, taking values and going on as far as what is known allows (runtime.md §2, §5, §6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from transactions import outbox
from transactions.core import reply
from transactions.core.parameters import missing
from transactions.core.statuses import ReasonCode, Rule, Status
from transactions.models import Conversation, Transaction, Turn
from transactions.services import confirming, ending
from transactions.services.calls import Rules, rules_for, seconds_to_live
from transactions.services.rows import change, database_now, move, record

VALIDATOR_LIMIT = 4


@dataclass(frozen=True, slots=True)
class Opening:
    """What a new transaction starts with; ``values`` were read from the turn that opens it."""

    intent: str
    tool: str
    release: int
    rule: Rule | str
    values: Mapping[str, Any] = field(default_factory=dict)
    auxiliary: Mapping[str, Any] = field(default_factory=dict)
    parent: Transaction | None = None
    """The transaction whose failed items this one tries again (runtime.md §9.5)."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The parent's, with their provenance, as far as they name those items."""
    keep_items: tuple[str, ...] | None = None


def open_transaction(
    conversation: Conversation, opening: Opening, rules: Rules, *, turn: Turn | None, actor: str = "system"
) -> Transaction:
    """A new, clean transaction that goes on in the same commit as far as it can (runtime.md §2, §6.6)."""
    transaction = Transaction.objects.create(
        conversation=conversation,
        parent=opening.parent,
        keep_items=opening.keep_items,
        release=opening.release,
        tool=opening.tool,
        intent=opening.intent,
        operation_type=rules.policy.operation_type,
        expires_at=database_now() + timedelta(seconds=seconds_to_live(rules)),
    )
    _tell_started(conversation, transaction, opening, rules, turn=turn, actor=actor)
    if refusal := _refusal_at_once(conversation, rules):
        ending.end(
            conversation,
            transaction,
            Status.REFUSED,
            reason_code=refusal,
            rule=opening.rule,
            turn=turn,
        )
        return transaction
    read = {**_sourced(opening.auxiliary, "mapping", turn), **_sourced(opening.values, "extraction", turn)}
    if values := {**opening.arguments, **read}:
        change(transaction, arguments=values)
    advance(conversation, transaction, rules, turn=turn, rule=opening.rule)
    return transaction


def _tell_started(
    conversation: Conversation,
    transaction: Transaction,
    opening: Opening,
    rules: Rules,
    *,
    turn: Turn | None,
    actor: str,
) -> None:
    label = rules.tool.description.in_locale(conversation.locale)
    data = {"tool": opening.tool, "label": label, "release": opening.release}
    if opening.parent is not None:
        data["parent_id"] = str(opening.parent.pk)
    record(
        conversation,
        "transaction.started",
        data,
        transaction=transaction,
        turn=turn,
        rule=opening.rule,
        actor=actor,
    )


def _refusal_at_once(conversation: Conversation, rules: Rules) -> ReasonCode | None:
    """What no value could mend, so that nobody is asked for one in vain (runtime.md §7)."""
    if rules.policy.requires_identity and not conversation.identity:
        return ReasonCode.IDENTITY_REQUIRED
    return None


def _sourced(values: Mapping[str, Any], source: str, turn: Turn | None) -> dict[str, Any]:
    turn_id = str(turn.pk) if turn else None
    return {name: {"value": value, "source": source, "turn_id": turn_id} for name, value in values.items()}


def take_values(
    conversation: Conversation,
    transaction: Transaction,
    rules: Rules,
    values: Mapping[str, Any],
    *,
    source: str,
    rule: Rule,
    turn: Turn,
    auxiliary: Mapping[str, Any] | None = None,
) -> None:
    """Keep what was read while collecting, and go on; what is not named stays (runtime.md §5.5, §6.1)."""
    arguments = {
        **transaction.arguments,
        **_sourced(auxiliary or {}, "mapping", turn),
        **_sourced(values, source, turn),
    }
    expires_at = database_now() + timedelta(seconds=seconds_to_live(rules))
    change(transaction, arguments=arguments, question="", expires_at=expires_at, warned_at=None)
    advance(conversation, transaction, rules, turn=turn, rule=rule)


def advance(
    conversation: Conversation,
    transaction: Transaction,
    rules: Rules,
    *,
    turn: Turn | None,
    rule: Rule | str = "",
) -> None:
    """Ask for the first missing value, else validate, else propose."""
    if missing(rules.policy.requires, transaction.known):
        ask(conversation, transaction, rules, turn=turn, rule=rule)
    elif rules.policy.pre_validation.enabled:
        start_validation(conversation, transaction, turn=turn, rule=rule)
    else:
        confirming.propose(conversation, transaction, rules, turn=turn, rule=rule)


def start_validation(
    conversation: Conversation, transaction: Transaction, *, turn: Turn | None, rule: Rule | str = ""
) -> None:
    """Have the validator called, at most four times in one transaction (runtime.md §7)."""
    if transaction.validator_runs >= VALIDATOR_LIMIT:
        if transaction.status == Status.AWAITING_CONFIRMATION:
            # From here no move leads to REFUSED; validating is the state that the refusal belongs to.
            move(conversation, transaction, Status.PRE_VALIDATING, rule=rule, turn=turn)
        loop = ReasonCode.VALIDATION_LOOP
        ending.end(conversation, transaction, Status.REFUSED, reason_code=loop, rule=rule, turn=turn)
        return
    if transaction.status == Status.PRE_VALIDATING:
        change(transaction, lease=None, leased_until=None, claims=0)
    else:
        move(conversation, transaction, Status.PRE_VALIDATING, rule=rule, turn=turn)
    outbox.wake("prevalidate", transaction.pk)


def ask(
    conversation: Conversation,
    transaction: Transaction,
    rules: Rules,
    *,
    turn: Turn | None,
    rule: Rule | str = "",
) -> None:
    """Ask for one missing value: in the validator's words once, then in the declared ones (runtime.md §5.6)."""
    pending = missing(rules.policy.requires, transaction.known)
    if transaction.asked in pending and transaction.question:
        name, text = transaction.asked, transaction.question
    else:
        name = pending[0]
        text = question_for(rules, name, conversation.locale)
    change(transaction, asked=name, question="")
    record(
        conversation,
        "parameters.requested",
        {"parameter": name, "text": text, "pending": list(pending)},
        transaction=transaction,
        turn=turn,
        rule=rule,
    )


def question_for(rules: Rules, name: str, locale: str) -> str:
    argument = rules.tool.argument(name)
    if argument is None:
        return reply.ask_parameter("", "", "", locale)
    texts = (argument.user_prompt, argument.label, argument.description)
    prompt, label, description = (text.in_locale(locale) for text in texts)
    return reply.ask_parameter(prompt, label, description, locale)


def retarget(transaction: Transaction, definitions_rules: Rules, tool: str) -> Rules:
    """The rules of ``tool``; values stay only if its schema declares them (runtime.md §7)."""
    rules = rules_for(definitions_rules.definitions, tool)
    kept = {name: held for name, held in transaction.arguments.items() if rules.tool.argument(name) is not None}
    change(
        transaction,
        tool=tool,
        operation_type=rules.policy.operation_type,
        redirected=True,
        arguments=kept,
    )
    return rules
