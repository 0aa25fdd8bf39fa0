"""Carries out the decision about a turn: one commit of rows and events (runtime.md §6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.transaction import atomic

from tooling import catalog
from tooling.specs import OnIntentShift
from transactions.core import precedence, reply
from transactions.core.confirmation import effective_set, known_keys
from transactions.core.errors import StaleTransaction
from transactions.core.parameters import missing
from transactions.core.precedence import Decision, Failed
from transactions.core.reminders import came_before, came_meanwhile
from transactions.core.retrying import is_retry_phrase, nothing_to_retry
from transactions.core.routing import AskWhich, Chosen
from transactions.core.statuses import ReasonCode, Rule, Status
from transactions.models import Conversation, Transaction
from transactions.readings import Reader, Situation
from transactions.services import advancing, amending, confirming, ending, parking, resuming, retrying, turning
from transactions.services.advancing import Opening
from transactions.services.calls import Rules, rules_for
from transactions.services.retrying import RetryRefused
from transactions.services.rows import check_unmoved
from transactions.services.telling import say, still_unknown
from transactions.services.turning import Handling


def apply(decision: Decision, *, handling: Handling, situation: Situation, reader: Reader) -> None:
    """Carry ``decision`` out. Further readings that it needs come first, so no model is asked inside the commit.

    Raises StaleTransaction or ConfirmationClosed where the transaction moved since the situation was read.
    """
    decision, prepared = _prepare(decision, situation, reader)
    with atomic():
        conversation = turning.hold_for(handling, situation.turn)
        if isinstance(decision, precedence.Queue):
            if situation.transaction is not None:
                _check_unmoved(situation)
                turning.queue(conversation, situation.turn, situation.transaction)
            return
        opened = _carry_out(decision, conversation, situation, prepared)
        # A shift is evidence of both: of what was left, and of what was started.
        left = situation.transaction
        for transaction in dict.fromkeys((left or opened, opened or left)):
            turning.finish_turn(
                conversation,
                situation.turn,
                decision.rule,
                transaction=transaction,
                evidence=reader.evidence,
                model_calls=reader.calls,
            )


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What was read for carrying a decision out: the transaction to open, or auxiliary values, or a text to say."""

    opening: Opening | None = None
    rules: Rules | None = None
    auxiliary: Mapping[str, Any] | None = None
    text: str = ""
    resumes: bool = False
    """What was set aside is taken up instead of opening anything."""


def _prepare(decision: Decision, situation: Situation, reader: Reader) -> tuple[Decision, _Prepared]:
    match decision:
        case precedence.Open(rule=rule, intent=intent) | precedence.Shift(rule=rule, intent=intent):
            return _prepare_opening(decision, rule, intent, situation, reader)
        case precedence.TakeValues(values=values):
            return _prepare_values(decision, values, situation, reader)
        case precedence.ChangeParameters(rule=rule, values=values):
            grounded = reader.grounded_changes(values)
            if not grounded:
                return precedence.Stay(rule), _Prepared()
            return precedence.ChangeParameters(rule, grounded), _Prepared()
        case _:
            return decision, _Prepared()


def _prepare_opening(
    decision: Decision, rule: Rule, intent: str, situation: Situation, reader: Reader
) -> tuple[Decision, _Prepared]:
    """Choose the tool and read its values; a model failure leaves everything as it is (runtime.md §5.7)."""
    published, locale = situation.published, situation.conversation.locale
    if published is None:
        return decision, _Prepared(text=reply.not_available(locale))
    match situation.router.tool_for(intent, situation.turn.text):
        case Chosen(tool=tool) if catalog.is_available(tool):
            rules = rules_for(published.definitions, tool)
        case AskWhich(tools=tools):
            options = [published.definitions.tools[name].description.in_locale(locale) for name in tools]
            return decision, _Prepared(text=reply.ask_which_operation(options, locale))
        case _:
            return decision, _Prepared(text=reply.not_available(locale))
    values: Mapping[str, Any] = {}
    if rules.policy.requires:
        found = reader.extraction_for(rules, {})
        if isinstance(found, Failed):
            return precedence.SayAgain(found.component), _Prepared()
        values = found.values
    if not values and situation.parked is not None and situation.parked.tool == tool:
        # Asked for again, and nothing new was named: what was set aside is meant (runtime.md §6.6).
        return decision, _Prepared(resumes=True)
    auxiliary = _auxiliary(rules, values, reader)
    if isinstance(auxiliary, Failed):
        return precedence.SayAgain(auxiliary.component), _Prepared()
    opening = Opening(intent, tool, published.number, rule, values, auxiliary)
    return decision, _Prepared(opening=opening, rules=rules)


def _auxiliary(rules: Rules, values: Mapping[str, Any], reader: Reader) -> Mapping[str, Any] | Failed:
    """Auxiliary arguments, once, when nothing else is missing (runtime.md §6)."""
    return {} if missing(rules.policy.requires, values) else reader.auxiliary_for(rules, values)


def _prepare_values(
    decision: Decision, values: Mapping[str, Any], situation: Situation, reader: Reader
) -> tuple[Decision, _Prepared]:
    if situation.transaction is None or situation.rules is None:
        return decision, _Prepared()
    auxiliary = _auxiliary(situation.rules, {**situation.transaction.known, **values}, reader)
    if isinstance(auxiliary, Failed):
        return precedence.SayAgain(auxiliary.component), _Prepared()
    return decision, _Prepared(auxiliary=auxiliary)


# Inside the commit ------------------------------------------


def _carry_out(
    decision: Decision, conversation: Conversation, situation: Situation, prepared: _Prepared
) -> Transaction | None:
    """The transaction that was opened, if one was."""
    locale, turn = conversation.locale, situation.turn
    match decision:
        case precedence.Open() | precedence.Shift():
            return _open(decision, conversation, situation, prepared)
        case precedence.Resume(rule=rule):
            return _resume(conversation, situation, rule)
        case precedence.LetGo(rule=rule) if situation.parked is not None:
            resuming.let_go(conversation, situation.parked, rule=rule, turn=turn)
            return situation.parked
        case precedence.Retry(rule=rule):
            return _retry(conversation, situation, rule)
        case precedence.Answer(question=question, is_bare_answer=is_bare, is_clear=is_clear, rule=rule):
            text = _answer_text(situation, question, is_bare=is_bare, is_clear=is_clear)
            say(conversation, text, rule=rule, turn=turn)
            if situation.state.offered_seq is not None or is_bare:
                # What was said meanwhile does not take the offer back.
                parking.offer(conversation)
        case precedence.SayAgain(rule=rule):
            say(conversation, reply.say_again(locale), rule=rule, turn=turn)
        case precedence.AskMeaning(rule=rule):
            _check_unmoved(situation)
            say(conversation, reply.ask_which_meaning(_at_stake(situation), locale), rule=rule, turn=turn)
        case precedence.Stay(question=question, rule=rule):
            _stay(conversation, situation, rule, question)
        case precedence.Queue():
            pass
        case _:
            _move(decision, conversation, situation, prepared)
    return None


def _move(decision: Decision, conversation: Conversation, situation: Situation, prepared: _Prepared) -> None:
    """The decisions that move the active transaction."""
    transaction, rules, confirmation, turn = (
        situation.transaction,
        situation.rules,
        situation.confirmation,
        situation.turn,
    )
    if transaction is None or rules is None:
        return
    match decision:
        case precedence.TakeValues(rule=rule, values=values, source=source):
            advancing.take_values(
                conversation,
                transaction,
                rules,
                values,
                source=source,
                rule=rule,
                turn=turn,
                auxiliary=prepared.auxiliary,
            )
        case precedence.Leave():
            abandoned = ReasonCode.USER_ABANDONED
            _end(conversation, situation, Status.CANCELLED, abandoned, rule=Rule.SHIFT_CANCELLED)
        case precedence.Reject(rule=rule) if confirmation is None:
            _end(conversation, situation, Status.CANCELLED, ReasonCode.USER_REJECTED, rule=rule)
        case precedence.Reject(rule=rule) if confirmation is not None:
            confirming.reject(conversation, confirmation, rule=rule, by="text", turn=turn)
        case precedence.Confirm(rule=rule, question=question) if confirmation is not None:
            confirming.confirm(conversation, confirmation, rule=rule, by="text", turn=turn)
            if question:
                say(conversation, _answer_text(situation, question), rule=rule, turn=turn)
        case precedence.ChangeItems(rule=rule, keep=keep) if confirmation is not None:
            _change_items(conversation, situation, keep, rule=rule)
        case precedence.ChangeParameters(rule=rule, values=values) if confirmation is not None:
            amending.change_values(conversation, confirmation, values, rule=rule, turn=turn)


def _change_items(conversation: Conversation, situation: Situation, keep: tuple[str, ...], *, rule: Rule) -> None:
    confirmation = situation.confirmation
    if confirmation is None:
        return
    if keep and not confirmation.items:
        amending.name_anew(conversation, confirmation)
        return
    known = known_keys(keep, confirmation.items)
    names_nothing_known = bool(keep) and not known
    if names_nothing_known or set(known) == set(effective_set(confirmation.items)):
        _stay(conversation, situation, rule, None)
        return
    amending.keep_only(conversation, confirmation, known, rule=rule, turn=situation.turn)


def _end(
    conversation: Conversation, situation: Situation, status: Status, reason_code: ReasonCode, *, rule: Rule
) -> None:
    if situation.transaction is not None:
        ending.end(
            conversation,
            situation.transaction,
            status,
            reason_code=reason_code,
            rule=rule,
            turn=situation.turn,
            actor="user",
        )


def _open(
    decision: precedence.Open | precedence.Shift,
    conversation: Conversation,
    situation: Situation,
    prepared: _Prepared,
) -> Transaction | None:
    """End what is left and start the new transaction; where none can start, nothing is left either."""
    if prepared.resumes:
        _leave(decision, conversation, situation)
        return _resume(conversation, situation, decision.rule)
    if prepared.opening is None or prepared.rules is None:
        say(conversation, prepared.text, rule=decision.rule, turn=situation.turn)
        if situation.transaction is not None:
            _ask_pending(conversation, situation, decision.rule)
        return None
    _leave(decision, conversation, situation)
    return advancing.open_transaction(conversation, prepared.opening, prepared.rules, turn=situation.turn)


def _retry(conversation: Conversation, situation: Situation, rule: Rule) -> Transaction:
    """The child that the words ask for; where there may be none any more, the turn is looked at again."""
    if situation.to_retry is None:
        raise StaleTransaction("nothing was found to try again; look and decide again")
    child = retrying.open_child(conversation, situation.to_retry, actor="user", turn=situation.turn, rule=rule)
    if isinstance(child, RetryRefused):
        raise StaleTransaction(f"{situation.to_retry} may not be tried again now; look and decide again")
    return child


def _leave(decision: precedence.Open | precedence.Shift, conversation: Conversation, situation: Situation) -> None:
    """Set what occupied the conversation aside, or end it, as its policy says (runtime.md §6.6)."""
    transaction, rules = situation.transaction, situation.rules
    if not isinstance(decision, precedence.Shift) or transaction is None or rules is None:
        return
    # Only what waits for its confirmation is complete enough to be taken up later.
    can_wait = transaction.status == Status.AWAITING_CONFIRMATION
    if can_wait and rules.policy.on_intent_shift is OnIntentShift.PARK:
        parking.park(conversation, transaction, rules, turn=situation.turn)
        return
    _end(conversation, situation, Status.ABANDONED, ReasonCode.INTENT_SHIFT, rule=Rule.SHIFT_ABANDONED)


def _resume(conversation: Conversation, situation: Situation, rule: Rule) -> Transaction | None:
    """Take up what was set aside, unless its tool was disabled meanwhile."""
    if situation.parked is None:
        return None
    if not catalog.is_available(situation.parked.tool):
        say(conversation, reply.not_available(conversation.locale), rule=rule, turn=situation.turn)
        return None
    resuming.resume(conversation, situation.parked, rule=rule, turn=situation.turn)
    return situation.parked


def _stay(conversation: Conversation, situation: Situation, rule: Rule, question: str | None) -> None:
    """Answer what was asked, then ask the pending question again (runtime.md §6.8)."""
    if question:
        say(conversation, _answer_text(situation, question), rule=rule, turn=situation.turn)
    elif rule is Rule.STALE_CONFIRMATION:
        say(conversation, came_before(situation.turn.text, conversation.locale), rule=rule, turn=situation.turn)
    elif situation.confirmation is not None:
        say(conversation, reply.ask_yes_or_no(conversation.locale), rule=rule, turn=situation.turn)
    _ask_pending(conversation, situation, rule)


def _ask_pending(conversation: Conversation, situation: Situation, rule: Rule) -> None:
    transaction, rules = situation.transaction, situation.rules
    if transaction is None or rules is None:
        return
    if situation.confirmation is not None:
        _check_unmoved(situation)
        confirming.ask(conversation, situation.confirmation, turn=situation.turn, rule=rule)
    elif transaction.status == Status.COLLECTING_PARAMETERS:
        advancing.ask(conversation, transaction, rules, turn=situation.turn, rule=rule)


def _at_stake(situation: Situation) -> list[str]:
    """What the open confirmation would do something to."""
    items = situation.confirmation.items if situation.confirmation else []
    return [item["label"] for item in items if item["eligible"]]


def _check_unmoved(situation: Situation) -> None:
    """Raise StaleTransaction if the transaction moved since the situation was read."""
    if situation.transaction is not None:
        check_unmoved(situation.transaction)


def _answer_text(situation: Situation, question: str | None, *, is_bare: bool = False, is_clear: bool = False) -> str:
    locale = situation.conversation.locale
    if situation.published is None:
        return reply.not_available(locale)
    if is_bare:
        return reply.nothing_to_confirm(locale)
    if situation.turn.queued and not question and not is_clear:
        return f"{came_meanwhile(locale)}\n\n{reply.fallback(situation.router.offers(locale), locale)}"
    known = still_unknown(situation.conversation)
    if is_retry_phrase(situation.turn.text, locale):
        return known or nothing_to_retry(locale)
    offers = situation.router.offers(locale)
    if not question and is_clear:
        return reply.greeting(offers, locale)
    text = reply.cannot_answer(question, offers, locale) if question else reply.fallback(offers, locale)
    # Whoever asks while an outcome is unknown most likely asks about that.
    return f"{known}\n\n{text}" if known else text
