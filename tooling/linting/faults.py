"""What the contract linter can find, how bad each is for customers, and the grade that follows. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tooling.gateway import Answered, NoAnswer, NotSent, Outcome
from tooling.linting.probes import Probe, Try

MOST_NAMED = 5
LONGEST_DETAIL = 300


class Grade(StrEnum):
    """What a tool may be trusted with, the best first."""

    GOOD = "good"
    USABLE = "usable"
    UNSAFE = "unsafe"
    NOT_CHECKED = "not_checked"


class Level(StrEnum):
    """What a fault costs: a customer is told something wrong, or waits, or nothing."""

    UNSAFE = "unsafe"
    WAITS = "waits"
    HINT = "hint"


class Aspect(StrEnum):
    """What a fault is about; each is graded by itself, too."""

    RESULTS = "results"
    IDEMPOTENCY = "idempotency"
    SANDBOX = "sandbox"
    VALIDATOR = "validator"
    TIME = "time"


class Code(StrEnum):
    """The name of a fault, in the output of the command and in the stored report."""

    # results
    CALL_REFUSED = "call_refused"
    NOT_STRUCTURED = "not_structured"
    BREAKS_SCHEMA = "breaks_schema"
    NO_ROWS = "no_rows"
    MISSING_ROW = "missing_row"
    EXTRA_ROW = "extra_row"
    EXTRA_DONE = "extra_done"
    FLAG_NOT_BOOLEAN = "flag_not_boolean"
    FLAG_MISSING = "flag_missing"
    FLAGS_DISAGREE = "flags_disagree"
    ROWS_DISAGREE = "rows_disagree"
    ROWS_REPEATED = "rows_repeated"
    ROWS_ANONYMOUS = "rows_anonymous"
    ROW_AMBIGUOUS = "row_ambiguous"
    REFUSAL_TOLD_AS_DONE = "refusal_told_as_done"
    EXAMPLE_FAILED = "example_failed"
    ORDER_MATTERS = "order_matters"
    WHOLE_CONTRADICTS = "whole_contradicts"
    NO_REASON = "no_reason"
    NO_PROTOCOL = "no_protocol"
    KEY_NOT_ECHOED = "key_not_echoed"
    UNTRIED = "untried"
    EXAMPLES_MALFORMED = "examples_malformed"
    # idempotency
    KEY_IGNORED = "key_ignored"
    KEY_NOT_SHOWN = "key_not_shown"
    KEY_TAKES_OTHERS = "key_takes_others"
    KEY_COULD_BE_USED = "key_could_be_used"
    RECONCILE_NO_LIST = "reconcile_no_list"
    RECONCILE_INVENTS = "reconcile_invents"
    # sandbox
    DRY_RUN_HAD_EFFECT = "dry_run_had_effect"
    DRY_RUN_RECONCILED = "dry_run_reconciled"
    DRY_RUN_ALWAYS = "dry_run_always"
    # validator
    NO_VERDICT = "no_verdict"
    REFUSAL_PASSES = "refusal_passes"
    ELIGIBLE_REFUSED = "eligible_refused"
    ITEM_FLAG = "item_flag"
    ITEM_NAMELESS = "item_nameless"
    ITEM_DROPPED = "item_dropped"
    ITEM_ADDED = "item_added"
    NO_ITEMS = "no_items"
    ITEM_NO_REASON = "item_no_reason"
    BAD_PARAMETER = "bad_parameter"
    BAD_TARGET = "bad_target"
    KEPT_IGNORED = "kept_ignored"
    # time
    NOT_REACHED = "not_reached"
    TOO_SLOW = "too_slow"
    NEARLY_TOO_SLOW = "nearly_too_slow"
    TOO_LARGE = "too_large"
    NO_ANSWER = "no_answer"
    SLOW_UNTRIED = "slow_untried"


_BY_ASPECT = {
    Aspect.IDEMPOTENCY: (
        Code.KEY_IGNORED, Code.KEY_NOT_SHOWN, Code.KEY_TAKES_OTHERS, Code.KEY_COULD_BE_USED, Code.RECONCILE_NO_LIST,
        Code.RECONCILE_INVENTS,
    ),
    Aspect.SANDBOX: (Code.DRY_RUN_HAD_EFFECT, Code.DRY_RUN_RECONCILED, Code.DRY_RUN_ALWAYS),
    Aspect.VALIDATOR: (
        Code.NO_VERDICT, Code.REFUSAL_PASSES, Code.ELIGIBLE_REFUSED, Code.ITEM_FLAG, Code.ITEM_NAMELESS,
        Code.ITEM_DROPPED, Code.ITEM_ADDED, Code.NO_ITEMS, Code.ITEM_NO_REASON, Code.BAD_PARAMETER, Code.BAD_TARGET,
        Code.KEPT_IGNORED,
    ),
    Aspect.TIME: (
        Code.NOT_REACHED, Code.TOO_SLOW, Code.NEARLY_TOO_SLOW, Code.TOO_LARGE, Code.NO_ANSWER, Code.SLOW_UNTRIED,
    ),
}  # fmt: skip
ASPECTS = {code: aspect for aspect, codes in _BY_ASPECT.items() for code in codes}
"""Every other code is about the results."""

UNSAFE = frozenset(
    {
        Code.EXTRA_DONE, Code.REFUSAL_TOLD_AS_DONE, Code.ORDER_MATTERS, Code.KEY_IGNORED, Code.RECONCILE_INVENTS,
        Code.DRY_RUN_HAD_EFFECT, Code.DRY_RUN_RECONCILED, Code.DRY_RUN_ALWAYS, Code.REFUSAL_PASSES,
    }
)  # fmt: skip
HINTS = frozenset(
    {
        Code.NOT_STRUCTURED, Code.BREAKS_SCHEMA, Code.ROWS_REPEATED, Code.WHOLE_CONTRADICTS, Code.NO_REASON,
        Code.NO_PROTOCOL, Code.KEY_NOT_ECHOED, Code.KEY_COULD_BE_USED, Code.ITEM_ADDED, Code.NO_ITEMS,
        Code.ITEM_NO_REASON, Code.NEARLY_TOO_SLOW, Code.SLOW_UNTRIED,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """One call of a check and what it came to."""

    probe: Probe
    outcome: Outcome
    seconds: float = 0.0
    sent: str = ""

    @property
    def answered(self) -> Answered | None:
        return self.outcome if isinstance(self.outcome, Answered) else None

    @property
    def failure(self) -> str:
        return self.outcome.reason if isinstance(self.outcome, NotSent | NoAnswer) else ""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing found. ``items``: labels that it is about; ``detail``: what the server said, or a name or number."""

    code: Code
    kind: Try | None = None
    items: tuple[str, ...] = ()
    detail: str = ""
    level: Level = Level.WAITS

    @property
    def aspect(self) -> Aspect:
        return ASPECTS.get(self.code, Aspect.RESULTS)


def fault(
    code: Code, seen: Seen | None = None, items: Iterable[str] = (), *, detail: str = "", level: Level | None = None
) -> Fault:
    """A fault at its usual level, or at ``level``."""
    usual = Level.UNSAFE if code in UNSAFE else Level.HINT if code in HINTS else Level.WAITS
    kind = seen.probe.kind if seen else None
    return Fault(code, kind, tuple(dict.fromkeys(items)), detail[:LONGEST_DETAIL], level or usual)


def grade_of(faults: Iterable[Fault]) -> Grade:
    """The grade of what was tried, by its worst fault."""
    levels = {each.level for each in faults}
    if Level.UNSAFE in levels:
        return Grade.UNSAFE
    return Grade.USABLE if Level.WAITS in levels else Grade.GOOD
