"""Every closed list of the runtime and the tables of allowed moves (runtime.md §2, §11)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from transactions.core.errors import ForbiddenMove


class Status(StrEnum):
    """Where a transaction stands."""

    COLLECTING_PARAMETERS = "COLLECTING_PARAMETERS"
    PRE_VALIDATING = "PRE_VALIDATING"
    AWAITING_CONFIRMATION = "AWAITING_CONFIRMATION"
    EXECUTING = "EXECUTING"
    PARKED = "PARKED"
    VERIFYING = "VERIFYING"
    SUCCESS = "SUCCESS"
    PARTIAL_SUCCESS = "PARTIAL_SUCCESS"
    FAILED = "FAILED"
    REFUSED = "REFUSED"
    CANCELLED = "CANCELLED"
    ABANDONED = "ABANDONED"
    EXPIRED = "EXPIRED"


class ItemStatus(StrEnum):
    PENDING = "PENDING"
    IN_FLIGHT = "IN_FLIGHT"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"
    INELIGIBLE = "INELIGIBLE"
    EXCLUDED = "EXCLUDED"
    NOT_EXECUTED = "NOT_EXECUTED"


class AttemptStatus(StrEnum):
    READY = "READY"
    SENT = "SENT"
    ANSWERED = "ANSWERED"
    UNKNOWN = "UNKNOWN"
    NOT_SENT = "NOT_SENT"


class ConfirmationStatus(StrEnum):
    OPEN = "open"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    REPLACED = "replaced"
    EXPIRED = "expired"


class ReviewState(StrEnum):
    NONE = "none"
    NEEDED = "needed"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


class VerdictSource(StrEnum):
    """What gave an item its outcome."""

    ROW = "row"
    UNANIMOUS = "unanimous"
    GLOBAL = "global"
    UNREPORTED = "unreported"
    MALFORMED = "malformed"
    CONFLICTING = "conflicting"
    PRE_VALIDATION = "pre_validation"
    USER = "user"
    RECONCILE = "reconcile"
    OPERATOR = "operator"


class Rule(StrEnum):
    """The rule of runtime.md §6 that decided a turn."""

    COLLECTING_VALUE_FOUND = "collecting.value_found"
    COLLECTING_NO_VALUE = "collecting.no_value"
    CONFIRMATION_BUTTON = "confirmation.button"
    CONFIRMATION_EXPLICIT = "confirmation.explicit"
    CONFIRMATION_AMBIGUOUS = "confirmation.ambiguous"
    CONFIRMATION_COMPOUND = "confirmation.compound"
    CONFIRMATION_CHANGE_ITEMS = "confirmation.change_items"
    CONFIRMATION_CHANGE_PARAMETERS = "confirmation.change_parameters"
    CONFIRMATION_READ_REJECT = "confirmation.read_reject"
    CONFIRMATION_QUESTION = "confirmation.question"
    CONFIRMATION_OTHER = "confirmation.other"
    BUSY_QUEUED = "busy.queued"
    BUSY_REJECTED = "busy.rejected"
    IDLE_KEYWORD = "idle.keyword"
    IDLE_MODEL = "idle.model"
    IDLE_FALLBACK = "idle.fallback"
    SHIFT_ABANDONED = "shift.abandoned"
    SHIFT_PARKED = "shift.parked"
    SHIFT_CANCELLED = "shift.cancelled"
    MODEL_UNAVAILABLE = "model.unavailable"
    STALE_CONFIRMATION = "stale.confirmation"


class ReasonCode(StrEnum):
    """Why a transaction ended, or stands, as it does."""

    USER_REJECTED = "user_rejected"
    USER_ABANDONED = "user_abandoned"
    INTENT_SHIFT = "intent_shift"
    EXPIRED = "expired"
    NOT_ELIGIBLE = "not_eligible"
    NO_ACTIONABLE_ITEM = "no_actionable_item"
    INVALID_TARGET = "invalid_target"
    ITEM_UNSETTLED = "item_unsettled"
    IDENTITY_REQUIRED = "identity_required"
    TOO_MANY_ITEMS = "too_many_items"
    PRE_VALIDATION_UNAVAILABLE = "pre_validation_unavailable"
    VALIDATION_LOOP = "validation_loop"
    TOOL_DISABLED = "tool_disabled"
    DIGEST_MISMATCH = "digest_mismatch"
    NOT_SENT = "not_sent"
    TOOL_FAILED = "tool_failed"
    PARTLY_FAILED = "partly_failed"
    OUTCOME_UNKNOWN = "outcome_unknown"
    EMPTY_SET = "empty_set"


S, T, A, R = Status, ItemStatus, AttemptStatus, ReviewState

MOVES: Mapping[Status, frozenset[Status]] = {
    S.COLLECTING_PARAMETERS: frozenset(
        {
            S.PRE_VALIDATING,
            S.AWAITING_CONFIRMATION,
            S.EXECUTING,
            S.REFUSED,
            S.CANCELLED,
            S.ABANDONED,
            S.EXPIRED,
        }
    ),
    S.PRE_VALIDATING: frozenset(
        {S.COLLECTING_PARAMETERS, S.AWAITING_CONFIRMATION, S.EXECUTING, S.REFUSED, S.CANCELLED, S.EXPIRED}
    ),
    S.AWAITING_CONFIRMATION: frozenset(
        {
            S.EXECUTING,
            S.COLLECTING_PARAMETERS,
            S.PRE_VALIDATING,
            S.CANCELLED,
            S.ABANDONED,
            S.PARKED,
            S.EXPIRED,
        }
    ),
    S.EXECUTING: frozenset({S.SUCCESS, S.PARTIAL_SUCCESS, S.FAILED, S.VERIFYING}),
    S.PARKED: frozenset({S.COLLECTING_PARAMETERS, S.PRE_VALIDATING, S.ABANDONED, S.EXPIRED}),
    S.VERIFYING: frozenset({S.SUCCESS, S.PARTIAL_SUCCESS, S.FAILED}),
    S.SUCCESS: frozenset(),
    S.PARTIAL_SUCCESS: frozenset(),
    S.FAILED: frozenset(),
    S.REFUSED: frozenset(),
    S.CANCELLED: frozenset(),
    S.ABANDONED: frozenset(),
    S.EXPIRED: frozenset(),
}

ITEM_MOVES: Mapping[ItemStatus, frozenset[ItemStatus]] = {
    T.PENDING: frozenset({T.IN_FLIGHT, T.INELIGIBLE, T.EXCLUDED, T.NOT_EXECUTED}),
    T.IN_FLIGHT: frozenset({T.SUCCEEDED, T.FAILED, T.UNKNOWN, T.PENDING, T.NOT_EXECUTED}),
    T.UNKNOWN: frozenset({T.SUCCEEDED, T.FAILED, T.NOT_EXECUTED}),
    T.SUCCEEDED: frozenset(),
    T.FAILED: frozenset(),
    T.INELIGIBLE: frozenset(),
    T.EXCLUDED: frozenset(),
    T.NOT_EXECUTED: frozenset(),
}

ATTEMPT_MOVES: Mapping[AttemptStatus, frozenset[AttemptStatus]] = {
    A.READY: frozenset({A.SENT, A.NOT_SENT}),
    A.SENT: frozenset({A.ANSWERED, A.UNKNOWN, A.NOT_SENT}),
    A.UNKNOWN: frozenset({A.ANSWERED}),
    A.ANSWERED: frozenset(),
    A.NOT_SENT: frozenset(),
}

REVIEW_MOVES: Mapping[ReviewState, frozenset[ReviewState]] = {
    R.NONE: frozenset({R.NEEDED, R.RESOLVED}),
    R.NEEDED: frozenset({R.ACKNOWLEDGED, R.RESOLVED}),
    R.ACKNOWLEDGED: frozenset({R.NEEDED, R.RESOLVED}),
    R.RESOLVED: frozenset({R.NEEDED}),
}
"""Whatever was looked at is needed again when something new arises; what nobody asked about may be settled at once."""

OCCUPYING = frozenset({S.COLLECTING_PARAMETERS, S.PRE_VALIDATING, S.AWAITING_CONFIRMATION, S.EXECUTING})
"""The statuses of which a conversation holds at most one transaction (runtime.md §2)."""

FINAL = frozenset(status for status, successors in MOVES.items() if not successors)
BUSY = frozenset({S.PRE_VALIDATING, S.EXECUTING})
"""The statuses in which a turn waits (runtime.md §6.7)."""

_TABLES: Mapping[type[StrEnum], Mapping[Any, frozenset[Any]]] = {
    Status: MOVES,
    ItemStatus: ITEM_MOVES,
    AttemptStatus: ATTEMPT_MOVES,
    ReviewState: REVIEW_MOVES,
}


def is_final(status: Status) -> bool:
    return status in FINAL


def check_move(old: StrEnum, new: StrEnum) -> None:
    """Raise ForbiddenMove unless the tables of runtime.md §2 allow ``old`` → ``new``."""
    if new not in _TABLES[type(old)][old]:
        raise ForbiddenMove(f"{type(old).__name__} {old} does not go to {new}")
