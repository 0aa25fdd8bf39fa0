"""What a policy means, in sentences for people who read no YAML; one rule of runtime.md behind each of them."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tooling.specs import Atomicity, ExecutionMode, Idempotency, OnIntentShift, OperationType, PolicySpec

NO_BREAK = "\N{NO-BREAK SPACE}"
UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


def summary(policy: PolicySpec) -> str:
    """Everything that an effective policy says, in the active language, as one paragraph."""
    return " ".join(sentences(policy))


def sentences(policy: PolicySpec) -> Iterator[str]:
    """The same sentence by sentence; what is at its default and changes nothing is not mentioned."""
    yield _operation(policy.operation_type)
    yield from _confirmation(policy)
    if policy.requires:
        yield _("Needs: %(names)s.") % {"names": ", ".join(policy.requires)}
    if policy.requires_identity:
        yield _("Only for customers who are signed in.")
    yield from _validation(policy)
    yield from _execution(policy)
    yield from _limits(policy)
    yield from _unknown_outcome(policy)
    if policy.on_intent_shift is OnIntentShift.PARK:
        yield _("If the customer asks for something else: set aside and offered again.")
    if policy.expires_after is not None:
        yield _("Ends after %(time)s without an answer.") % {"time": time_words(policy.expires_after)}


def _operation(operation: OperationType) -> str:
    match operation:
        case OperationType.TRANSACTIONAL:
            return _("Transactional: changes something for the customer.")
        case OperationType.READ_ONLY:
            return _("Read only: looks something up.")
        case OperationType.CONVERSATIONAL:
            return _("Conversational: answers and changes nothing.")
        case OperationType.INTERNAL:
            return _("Internal: called by the platform only.")


def _confirmation(policy: PolicySpec) -> Iterator[str]:
    if policy.require_confirmation:
        yield _("Asks for confirmation.")
    elif policy.operation_type is OperationType.TRANSACTIONAL:
        yield _("Runs without asking for confirmation.")


def _validation(policy: PolicySpec) -> Iterator[str]:
    validation = policy.pre_validation
    if not validation.enabled:
        return
    tool = {"tool": validation.tool or "?"}
    if validation.fail_open:
        yield _("Validated by %(tool)s; if the validator is down: goes on unchecked.") % tool
    else:
        yield _("Validated by %(tool)s; if the validator is down: blocks.") % tool


def _execution(policy: PolicySpec) -> Iterator[str]:
    execution = policy.execution
    if execution.mode is not ExecutionMode.WORKFLOW:
        return
    names = {"workflow": execution.workflow or "?", "version": execution.version}
    if execution.version is None:
        yield _("Runs the newest version of the workflow %(workflow)s.") % names
    else:
        yield _("Runs version %(version)d of the workflow %(workflow)s.") % names


def _limits(policy: PolicySpec) -> Iterator[str]:
    if policy.max_items is not None:
        most = ngettext("At most %(n)d item at once.", "At most %(n)d items at once.", policy.max_items)
        yield most % {"n": policy.max_items}
    if policy.atomicity is Atomicity.ALL_OR_NOTHING:
        yield _("All or nothing: a set that is only partly eligible is refused as a whole.")
    if policy.timeout_seconds is not None:
        yield _("Waits at most %(time)s for the answer.") % {"time": time_words(policy.timeout_seconds)}


def _unknown_outcome(policy: PolicySpec) -> Iterator[str]:
    """What becomes of a call that was sent and not answered (runtime.md §9.4)."""
    tool, again = {"tool": policy.reconcile_tool}, policy.idempotency is Idempotency.KEY
    if policy.reconcile_tool and again:
        yield _("If no answer comes: asks %(tool)s what happened, or else sends it again under the same key.") % tool
    elif policy.reconcile_tool:
        yield _("If no answer comes: asks %(tool)s what happened, or else an operator decides.") % tool
    elif again:
        yield _("If no answer comes: sends it again under the same key.")
    elif policy.operation_type is OperationType.TRANSACTIONAL:
        yield _("If no answer comes: an operator decides.")


def time_words(seconds: float) -> str:
    """90 → "90 s", 1800 → "30 min", 0.5 → "0,5 s" in Portuguese: the largest unit that needs no fraction."""
    for size, unit in UNITS:
        if seconds and seconds % size == 0:
            return f"{int(seconds // size)}{NO_BREAK}{unit}"
    whole = int(seconds) if float(seconds).is_integer() else seconds
    return f"{number_format(whole)}{NO_BREAK}s"
