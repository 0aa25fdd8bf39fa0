"""The verbs that move runtime state: the only writer of the rows of ``transactions.models`` (architecture.md)."""
