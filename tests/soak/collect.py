"""Reads the evidence: the product's rows from its database, the ledger from the MCP server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tests.soak.evidence import Call, Confirmation, Conversation, Effect, Evidence, Told, Transaction, View
from tests.soak.progress import Moment, Wait, waits_of

Row = dict[str, Any]
TOLD = ("transaction.verifying", "transaction.finished")

TRANSACTIONS = """
    SELECT id, conversation_id, tool, status, review_state, reason_code
    FROM transactions_transaction ORDER BY created_at
"""
ITEMS = "SELECT transaction_id, label, status FROM transactions_item WHERE NOT unconfirmed ORDER BY position"
CONFIRMATIONS = "SELECT transaction_id, status, digest, items FROM transactions_confirmation ORDER BY created_at"
ATTEMPTS = "SELECT transaction_id, is_resend, sent_at, answered_at FROM transactions_attempt ORDER BY number"
EVENTS = "SELECT conversation_id, transaction_id, seq, kind, at, data FROM transactions_event ORDER BY id"
CONVERSATIONS = "SELECT id, last_seq FROM transactions_conversation"
TURNS = """
    SELECT turn.conversation_id, turn.client_message_id, turn.queued, turn.created_at, turn.handled_at,
        EXISTS (SELECT 1 FROM transactions_transaction AS busy WHERE busy.conversation_id = turn.conversation_id
            AND busy.status IN ('PRE_VALIDATING', 'EXECUTING')) AS is_behind
    FROM transactions_turn AS turn
"""


class Rows:
    """Every runtime row at one moment."""

    def __init__(self, url: str) -> None:
        with psycopg.connect(url, row_factory=dict_row, connect_timeout=5) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            read = {name: connection.execute(query).fetchall() for name, query in QUERIES.items()}
        self.transactions, self.conversations = read["transactions"], read["conversations"]
        self.turns: list[Row] = read["turns"]
        self.events = _by(read["events"], "conversation_id")
        self.events_of = _by(read["events"], "transaction_id")
        self.items = _by(read["items"], "transaction_id")
        self.confirmations = _by(read["confirmations"], "transaction_id")
        self.attempts = _by(read["attempts"], "transaction_id")


QUERIES = {
    "transactions": TRANSACTIONS,
    "items": ITEMS,
    "confirmations": CONFIRMATIONS,
    "attempts": ATTEMPTS,
    "events": EVENTS,
    "conversations": CONVERSATIONS,
    "turns": TURNS,
}


def evidence(
    rows: Rows,
    ledger: Mapping[str, Any] | None = None,
    views: Sequence[View] = (),
    broken_chains: Sequence[str] = (),
) -> Evidence:
    """``ledger`` as the MCP server's /admin/ledger gives it."""
    ledger = ledger or {"effects": [], "calls": []}
    return Evidence(
        effects=[
            Effect(line["customer"], line["item"], line["transaction_id"], line["request_digest"])
            for line in ledger["effects"]
        ],
        calls=_calls(ledger["calls"]),
        transactions=[_transaction(row, rows) for row in rows.transactions],
        conversations=_conversations(rows),
        views=views,
        broken_chains=broken_chains,
    )


def waits(rows: Rows, calls: Iterable[Call]) -> list[Wait]:
    """When turns and transactions waited for the system."""
    arrived: dict[str, list[float]] = defaultdict(list)
    for call in calls:
        arrived[call.transaction].append(call.at)
    found = [
        Wait(str(turn["conversation_id"]), "turn", turn["created_at"].timestamp(), _seconds(turn["handled_at"]))
        for turn in rows.turns
        if not turn["queued"]
    ]
    for row in rows.transactions:
        moments = [
            Moment(event["kind"], event["at"].timestamp(), event["data"].get("to", ""))
            for event in rows.events_of[row["id"]]
        ]
        answered = [one["answered_at"].timestamp() for one in rows.attempts[row["id"]] if one["answered_at"]]
        found += waits_of(str(row["id"]), moments, arrived[str(row["id"])], answered)
    return found


def _transaction(row: Row, rows: Rows) -> Transaction:
    key = row["id"]
    return Transaction(
        id=str(key),
        conversation=str(row["conversation_id"]),
        tool=row["tool"],
        status=row["status"],
        review_state=row["review_state"],
        reason_code=row["reason_code"],
        items={item["label"]: item["status"] for item in rows.items[key]},
        confirmations=[
            Confirmation(
                one["status"], one["digest"], frozenset(item["label"] for item in one["items"] if item["eligible"])
            )
            for one in rows.confirmations[key]
        ],
        told=[
            Told(event["kind"], event["data"]["status"], {i["label"]: i["status"] for i in event["data"]["items"]})
            for event in rows.events_of[key]
            if event["kind"] in TOLD
        ],
        resends=sum(attempt["is_resend"] and attempt["sent_at"] is not None for attempt in rows.attempts[key]),
    )


def _conversations(rows: Rows) -> list[Conversation]:
    messages: dict[Any, set[str]] = defaultdict(set)
    unhandled: dict[Any, int] = defaultdict(int)
    for turn in rows.turns:
        messages[turn["conversation_id"]].add(turn["client_message_id"])
        waits_for_another = turn["queued"] and turn["is_behind"]
        unhandled[turn["conversation_id"]] += turn["handled_at"] is None and not waits_for_another
    return [
        Conversation(
            id=str(row["id"]),
            last_seq=row["last_seq"],
            events=[(one["seq"], one["kind"]) for one in rows.events[row["id"]] if one["seq"] is not None],
            messages=frozenset(messages[row["id"]]),
            unhandled=unhandled[row["id"]],
        )
        for row in rows.conversations
    ]


def _calls(lines: Iterable[Mapping[str, Any]]) -> list[Call]:
    """The calls that said which transaction they belong to; the others, of no transaction, as well."""
    return [
        Call(line["tool"], line["meta"].get("agentplatform/transaction_id", ""), _moment(line["at"])) for line in lines
    ]


def _moment(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def _by(rows: Iterable[Row], column: str) -> defaultdict[Any, list[Row]]:
    found: defaultdict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[column]].append(row)
    return found
