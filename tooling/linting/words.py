"""What the contract linter found, in words for people: what customers would live through, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from tooling.linting.faults import Aspect, Fault, Grade, Level
from tooling.linting.probes import Role, Try
from tooling.linting.reports import Checked
from tooling.linting.sentences import HINTS, MESSAGES, WHYS

GRADES: Mapping[Grade, object] = {
    Grade.GOOD: _("good"),
    Grade.USABLE: _("usable"),
    Grade.UNSAFE: _("unsafe"),
    Grade.NOT_CHECKED: _("not checked"),
}
MEANINGS: Mapping[Grade, object] = {
    Grade.GOOD: _("Everything that was tried is told to customers as it is."),
    Grade.USABLE: _("Nobody is told anything wrong, but some customers would wait until an operator looks."),
    Grade.UNSAFE: _("Customers could be told something wrong, or something could happen twice."),
    Grade.NOT_CHECKED: _("Nothing is known about how this tool answers."),
}
LEVELS: Mapping[Level, object] = {
    Level.UNSAFE: _("unsafe"),
    Level.WAITS: _("customers wait"),
    Level.HINT: _("hint"),
}
ASPECTS: Mapping[Aspect, object] = {
    Aspect.RESULTS: _("a result for every item"),
    Aspect.IDEMPOTENCY: _("at most once"),
    Aspect.SANDBOX: _("dry run"),
    Aspect.VALIDATOR: _("verdict before the confirmation"),
    Aspect.TIME: _("answers in time"),
}
ROLES: Mapping[Role, object] = {
    Role.ACTION: _("changes something: only ever called as a dry run here"),
    Role.QUERY: _("only reads"),
    Role.VALIDATOR: _("validator: only reads"),
    Role.RECONCILER: _("reconcile tool: only reads"),
}
CALLS: Mapping[Try, object] = {
    Try.PLAIN: _("one call"),
    Try.ONE: _("one item"),
    Try.AGAIN: _("the same item as a new request"),
    Try.REPEATED: _("the same request once more"),
    Try.OTHER_ARGUMENTS: _("the key of the first request with another item"),
    Try.RECONCILED: _("the reconcile tool is asked about the dry run"),
    Try.ONE_FAILS: _("one item that is refused"),
    Try.ALL_SUCCEED: _("items that all succeed"),
    Try.ALL_FAIL: _("items that are all refused"),
    Try.MIXED: _("some succeed, some are refused"),
    Try.REORDERED: _("the same items in another order"),
    Try.STRANGER: _("an item that nobody knows"),
    Try.KEPT: _("the customer keeps one of the items"),
    Try.UNUSED_KEY: _("a request that never was"),
    Try.SLOW: _("items that take long"),
}


def message_of(fault: Fault) -> str:
    """What was seen, and what it means for customers."""
    return str(MESSAGES[fault.code]) % _facts(fault)


def hint_of(fault: Fault) -> str:
    """What to do about it."""
    return str(HINTS[fault.code]) % _facts(fault)


def _facts(fault: Fault) -> dict[str, object]:
    items = ", ".join(fault.items) or "—"
    return {"items": items, "detail": fault.detail or "—", "call": CALLS[fault.kind] if fault.kind else "—"}


def why_of(found: Checked) -> str:
    """Why a tool was not called, and what would let it be; empty where it was."""
    return str(WHYS[found.why]) % {"names": ", ".join(found.names)} if found.why else ""
