"""What the judge reads, as plain values: the server's ledger, the product's rows, and what clients saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that really happened, as the MCP server wrote it down."""

    customer: str
    item: str
    transaction: str
    digest: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call that arrived at the MCP server; ``at`` in seconds since the epoch."""

    tool: str
    transaction: str
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Confirmation:
    status: str
    digest: str
    eligible: frozenset[str]
    """Labels of the items that the question offered."""


@dataclass(frozen=True, slots=True)
class Told:
    """One outcome that the user was shown: item label → status."""

    kind: str
    status: str
    items: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Transaction:
    id: str
    conversation: str
    tool: str
    status: str
    review_state: str = "none"
    reason_code: str = ""
    items: Mapping[str, str] = field(default_factory=dict)
    """label → status; rows that nobody confirmed are not among them."""
    confirmations: Sequence[Confirmation] = ()
    told: Sequence[Told] = ()
    resends: int = 0
    """How often the call was repeated with its key because its outcome was unknown and the policy allows it."""

    @property
    def is_confirmed(self) -> bool:
        return any(confirmation.status == "confirmed" for confirmation in self.confirmations)

    @property
    def awaits_operators(self) -> bool:
        return self.status == "VERIFYING" and self.review_state != "none"


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    last_seq: int
    events: Sequence[tuple[int, str]] = ()
    """(seq, kind) of the public events, by seq."""
    messages: frozenset[str] = frozenset()
    """Client message ids of the stored turns."""
    unhandled: int = 0
    """Turns that are stored, not handled, and wait for nothing."""


@dataclass(frozen=True, slots=True)
class View:
    """What one client saw of a conversation."""

    conversation: str
    seen: Sequence[tuple[int, str]] = ()
    acknowledged: frozenset[str] = frozenset()
    troubles: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    effects: Sequence[Effect] = ()
    calls: Sequence[Call] = ()
    transactions: Sequence[Transaction] = ()
    conversations: Sequence[Conversation] = ()
    views: Sequence[View] = ()
    broken_chains: Sequence[str] = ()
    """What ``verify_evidence`` found wrong, a line each."""
