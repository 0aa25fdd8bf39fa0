"""What operators read for every closed list of the runtime; the chat's own words are in core/reply.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from transactions.core.statuses import (
    AttemptStatus,
    ConfirmationStatus,
    ItemStatus,
    ReasonCode,
    ReviewState,
    Rule,
    Status,
    VerdictSource,
)
from transactions.models import Item
from transactions.services.accounting import UNREADABLE
from transactions.services.reviewing import GIVEN_UP, NOBODY_ASKS

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Badge:
    """A status as colour, icon and text (ux.md §2.0); ``tone`` is a class of console.css."""

    text: Text
    tone: str
    icon: str


def _badge(text: Text, tone: str, icon: str) -> Badge:
    return Badge(text=text, tone=tone, icon=icon)


STATUSES: Mapping[str, Badge] = {
    Status.COLLECTING_PARAMETERS: _badge(_("Collecting data"), "collecting", "pencil"),
    Status.PRE_VALIDATING: _badge(_("Checking"), "running", "bars"),
    Status.AWAITING_CONFIRMATION: _badge(_("Awaiting confirmation"), "awaiting", "question"),
    Status.EXECUTING: _badge(_("Running"), "running", "bars"),
    Status.PARKED: _badge(_("Set aside"), "collecting", "pause"),
    Status.VERIFYING: _badge(_("Being verified"), "unknown", "alert"),
    Status.SUCCESS: _badge(_("Completed"), "success", "check"),
    Status.PARTIAL_SUCCESS: _badge(_("Partial"), "partial", "half"),
    Status.FAILED: _badge(_("Failed"), "failed", "cross"),
    Status.REFUSED: _badge(_("Refused"), "ended", "stop"),
    Status.CANCELLED: _badge(_("Cancelled"), "ended", "dash"),
    Status.ABANDONED: _badge(_("Abandoned"), "ended", "leave"),
    Status.EXPIRED: _badge(_("Expired"), "ended", "clock"),
}

PLURALS: Mapping[str, Text] = {
    Status.VERIFYING: pgettext_lazy("transactions", "Being verified"),
    Status.SUCCESS: pgettext_lazy("transactions", "Completed"),
    Status.PARTIAL_SUCCESS: pgettext_lazy("transactions", "Partial"),
    Status.FAILED: pgettext_lazy("transactions", "Failed"),
    Status.REFUSED: pgettext_lazy("transactions", "Refused"),
    Status.CANCELLED: pgettext_lazy("transactions", "Cancelled"),
    Status.ABANDONED: pgettext_lazy("transactions", "Abandoned"),
    Status.EXPIRED: pgettext_lazy("transactions", "Expired"),
}

ITEMS: Mapping[str, Badge] = {
    ItemStatus.PENDING: _badge(pgettext_lazy("item", "Pending"), "collecting", "pause"),
    ItemStatus.IN_FLIGHT: _badge(pgettext_lazy("item", "Sent"), "running", "bars"),
    ItemStatus.SUCCEEDED: _badge(pgettext_lazy("item", "Succeeded"), "success", "check"),
    ItemStatus.FAILED: _badge(pgettext_lazy("item", "Failed"), "failed", "cross"),
    ItemStatus.UNKNOWN: _badge(pgettext_lazy("item", "Unknown"), "unknown", "alert"),
    ItemStatus.INELIGIBLE: _badge(pgettext_lazy("item", "Not eligible"), "failed", "stop"),
    ItemStatus.EXCLUDED: _badge(pgettext_lazy("item", "Left out"), "ended", "dash"),
    ItemStatus.NOT_EXECUTED: _badge(pgettext_lazy("item", "Not executed"), "failed", "dash"),
}

ATTEMPTS: Mapping[str, Badge] = {
    AttemptStatus.READY: _badge(pgettext_lazy("attempt", "Ready"), "collecting", "pause"),
    AttemptStatus.SENT: _badge(pgettext_lazy("attempt", "Sent, no answer yet"), "running", "bars"),
    AttemptStatus.ANSWERED: _badge(pgettext_lazy("attempt", "Answered"), "success", "check"),
    AttemptStatus.UNKNOWN: _badge(pgettext_lazy("attempt", "Sent, outcome unknown"), "unknown", "alert"),
    AttemptStatus.NOT_SENT: _badge(pgettext_lazy("attempt", "Not sent"), "ended", "dash"),
}

CONFIRMATIONS: Mapping[str, Badge] = {
    ConfirmationStatus.OPEN: _badge(pgettext_lazy("confirmation", "Open"), "awaiting", "question"),
    ConfirmationStatus.CONFIRMED: _badge(pgettext_lazy("confirmation", "Confirmed"), "success", "check"),
    ConfirmationStatus.REJECTED: _badge(pgettext_lazy("confirmation", "Rejected"), "ended", "cross"),
    ConfirmationStatus.REPLACED: _badge(pgettext_lazy("confirmation", "Replaced"), "ended", "dash"),
    ConfirmationStatus.EXPIRED: _badge(pgettext_lazy("confirmation", "Expired"), "ended", "clock"),
}

ANSWERED_BY: Mapping[str, Text] = {"text": _("by text"), "button": _("by button")}

REVIEW: Mapping[str, Text] = {
    ReviewState.NONE: _("none"),
    ReviewState.NEEDED: _("needed"),
    ReviewState.ACKNOWLEDGED: _("acknowledged"),
    ReviewState.RESOLVED: _("resolved"),
}

WHYS: Mapping[str, Text] = {
    NOBODY_ASKS: _("The outcome is unknown, and no tool can be asked about it."),
    GIVEN_UP: _("The outcome is unknown: it was asked about until the time was over, and nobody could say."),
    UNREADABLE: _("The answer of the tool is kept, and reading it failed every time."),
}
"""Why operators were asked to look, where we said so ourselves; incidents are told in their own words."""

OPERATIONS: Mapping[str, Text] = {
    "read_only": _("read only"),
    "conversational": _("conversational"),
    "transactional": _("transactional"),
    "internal": _("internal"),
}

REASONS: Mapping[str, Text] = {
    ReasonCode.USER_REJECTED: _("The user said no to the confirmation."),
    ReasonCode.USER_ABANDONED: _("The user gave it up."),
    ReasonCode.INTENT_SHIFT: _("The user asked for something else."),
    ReasonCode.EXPIRED: _("Its time ran out."),
    ReasonCode.NOT_ELIGIBLE: _("The validator refused."),
    ReasonCode.NO_ACTIONABLE_ITEM: _("No item was eligible."),
    ReasonCode.INVALID_TARGET: _("The validator redirected to a tool that is not available."),
    ReasonCode.ITEM_UNSETTLED: _("An item of it is still being verified elsewhere."),
    ReasonCode.IDENTITY_REQUIRED: _("The user was not signed in."),
    ReasonCode.TOO_MANY_ITEMS: _("More items than the policy allows."),
    ReasonCode.PRE_VALIDATION_UNAVAILABLE: _("The validator gave no verdict, and the policy blocks then."),
    ReasonCode.VALIDATION_LOOP: _("The validator kept asking or redirecting."),
    ReasonCode.TOOL_DISABLED: _("The tool was not available."),
    ReasonCode.DIGEST_MISMATCH: _("What was to run was not what was confirmed."),
    ReasonCode.NOT_SENT: _("The call could not be sent."),
    ReasonCode.TOOL_FAILED: _("The tool reported failure."),
    ReasonCode.PARTLY_FAILED: _("Some items failed."),
    ReasonCode.OUTCOME_UNKNOWN: _("The outcome of some items is not known."),
    ReasonCode.EMPTY_SET: _("The user left no item to be done."),
}

RULES: Mapping[str, Text] = {
    Rule.COLLECTING_VALUE_FOUND: _("the message held a value that was asked for"),
    Rule.COLLECTING_NO_VALUE: _("the message held no value that was asked for"),
    Rule.CONFIRMATION_BUTTON: _("a button answered the confirmation"),
    Rule.CONFIRMATION_EXPLICIT: _("explicit words answered the confirmation"),
    Rule.CONFIRMATION_AMBIGUOUS: _("the words could mean either answer"),
    Rule.CONFIRMATION_COMPOUND: _("a yes together with more text"),
    Rule.CONFIRMATION_CHANGE_ITEMS: _("the reply changed the items"),
    Rule.CONFIRMATION_CHANGE_PARAMETERS: _("the reply changed a value"),
    Rule.CONFIRMATION_READ_REJECT: _("the model read the reply as a no"),
    Rule.CONFIRMATION_QUESTION: _("the reply was a question"),
    Rule.CONFIRMATION_OTHER: _("the reply was about something else"),
    Rule.BUSY_QUEUED: _("the message waited for running work"),
    Rule.BUSY_REJECTED: _("an explicit no while it was being checked"),
    Rule.IDLE_KEYWORD: _("a keyword named the request"),
    Rule.IDLE_MODEL: _("the model named the request"),
    Rule.IDLE_FALLBACK: _("no request was recognised"),
    Rule.SHIFT_ABANDONED: _("a new request; the old one was abandoned"),
    Rule.SHIFT_PARKED: _("a new request; the old one was set aside"),
    Rule.SHIFT_CANCELLED: _("the user gave the request up"),
    Rule.MODEL_UNAVAILABLE: _("the language model could not be reached"),
    Rule.STALE_CONFIRMATION: _("the answer belonged to an older confirmation"),
}

VERDICTS: Mapping[str, Text] = {
    VerdictSource.ROW: _("a row of the answer named this item"),
    VerdictSource.UNANIMOUS: _("every row agreed"),
    VerdictSource.GLOBAL: _("the answer's overall verdict"),
    VerdictSource.UNREPORTED: _("the answer did not mention it"),
    VerdictSource.MALFORMED: _("its row could not be read"),
    VerdictSource.CONFLICTING: _("rows contradicted each other"),
    VerdictSource.PRE_VALIDATION: _("the validator"),
    VerdictSource.USER: _("the user"),
    VerdictSource.RECONCILE: _("asked again afterwards"),
    VerdictSource.OPERATOR: _("an operator"),
}


def verdict_of(item: Item) -> Text:
    """What decided about the item; that no answer came at all is another thing than one that does not mention it."""
    if item.verdict_source == VerdictSource.UNREPORTED and item.rule == "runtime.md §9.4":
        return _("no answer came")
    return words(VERDICTS, item.verdict_source)


SOURCES: Mapping[str, Text] = {
    "extraction": _("from the user's words"),
    "validator": _("from the validator"),
    "mapping": _("from the mapping"),
    "user_change": _("changed by the user"),
}

ACTORS: Mapping[str, Text] = {
    "user": pgettext_lazy("actor", "user"),
    "system": pgettext_lazy("actor", "system"),
    "operator": pgettext_lazy("actor", "operator"),
    "worker": pgettext_lazy("actor", "worker"),
    "model": pgettext_lazy("actor", "model"),
    "assistant": pgettext_lazy("actor", "assistant"),
}

EVENTS: Mapping[str, Text] = {
    "user.message": _("The user wrote"),
    "assistant.message": _("The assistant answered"),
    "transaction.started": _("Transaction opened"),
    "transaction.moved": _("Status changed"),
    "transaction.redirected": _("The validator named another tool"),
    "transaction.retried": _("Failed items are tried again"),
    "parameters.requested": _("Asked for a value"),
    "pre_validation.finished": _("Pre-validation finished"),
    "confirmation.opened": _("Confirmation prepared"),
    "confirmation.requested": _("Asked for confirmation"),
    "confirmation.answered": _("Confirmation answered"),
    "pre_validation.late": _("The validator answered too late"),
    "turn.queued": _("Message waits for running work"),
    "turn.handled": _("Message handled"),
    "execution.started": _("Execution started"),
    "attempt.sent": _("Call sent"),
    "attempt.answered": _("Call answered"),
    "attempt.not_sent": _("Call not sent"),
    "attempt.unknown": _("No answer to the call"),
    "reconcile.finished": _("Asked what became of the call"),
    "workflow.step": _("Node of the workflow asked"),
    "items.progress": _("Progress"),
    "transaction.verifying": _("Being verified"),
    "transaction.finished": _("Finished"),
    "incident": _("Incident"),
    "item.resolved": _("An operator settled an item"),
    "review.needed": _("Operators were asked to look"),
    "review.changed": _("Review moved"),
}


def badge(table: Mapping[str, Badge], value: str) -> Badge:
    """The badge of ``value``; a value that the table does not know is shown as it is."""
    return table.get(value) or Badge(text=value, tone="ended", icon="dash")


def words(table: Mapping[str, Text], value: str) -> Text:
    """The words for ``value``, else the value itself."""
    return table.get(value, value)
