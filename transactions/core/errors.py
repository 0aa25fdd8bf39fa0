"""Expected trouble of the runtime that callers act on; each message says what to do next."""


class TransactionError(Exception):
    """Root of the runtime's errors."""


class ForbiddenMove(TransactionError):
    """A move that the tables of runtime.md §2 do not have: a bug of the caller."""


class StaleTransaction(TransactionError):
    """Somebody else moved the row first; reload and decide again."""


class ConfirmationClosed(TransactionError):
    """The confirmation is answered, replaced, expired or not of this conversation (contracts.md §2)."""


class InvalidItems(TransactionError):
    """``item_keys`` is empty or names an item that is unknown or ineligible (contracts.md §2)."""


class LeaseLost(TransactionError):
    """The work was taken over by another worker; stop without writing."""


class ModelNeeded(TransactionError):
    """A turn cannot go on without a language model, and this thread may not wait for one; go on in another."""
