"""By what a row of an answer says which item it is about, and what only says what happened (contracts.md §6).

Pure: the runtime accounts by it, and the contract linter judges servers by the same.
"""

from __future__ import annotations

import unicodedata

from tooling.specs import JSON

KEY_FIELD = "item_key"
"""Where a server echoes the key of an item that we sent (contracts.md §6)."""

PROTOCOL_FIELDS = (
    "protocol",
    "protocol_number",
    "operation_id",
    "receipt",
    "receipt_number",
    "confirmation_number",
)
"""Where a row says under which number it was done; the first that is a text or a number counts."""

EVIDENCE_FIELDS = frozenset(
    {
        *("success", "ok", "eligible", "executed", "excluded", "status", "outcome", "verdict"),
        *("reason", "reason_code", "error", "errors", "error_code", "error_message", "message", "messages"),
        *("detail", "details", "warning", "warnings", "http_status", "status_code", "retryable", "attempt"),
        *("attempts", "duration", "duration_ms", "elapsed_ms", "timestamp", "created_at", "updated_at"),
        *("finished_at", "executed_at", "request_id", "trace_id", "correlation_id", "idempotency_key"),
        *("metadata", "meta", *PROTOCOL_FIELDS),
    }
)
"""Fields that say what happened, not to whom: they never identify."""

_LONGEST_BITS = 4096


def identity(value: JSON) -> str | None:
    """The text by which a scalar is compared, or None where it identifies nothing (runtime.md §4a.1).

    Texts after Unicode NFC, trimming and case folding; integers as decimal text; blanks, booleans and floats
    identify nothing.
    """
    match value:
        case bool():
            return None
        case int():
            # Python refuses to write integers of thousands of digits; nobody names an item like that.
            return str(value) if value.bit_length() <= _LONGEST_BITS else None
        case str():
            folded = unicodedata.normalize("NFC", value).strip().casefold()
            return unicodedata.normalize("NFC", folded) or None
    return None
