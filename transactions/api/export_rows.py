"""A list of transactions as a file, cut into chunks that are read one after the other: any number fits into memory."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from asgiref.sync import sync_to_async
from django.db.models import QuerySet

from transactions.api.counts import counts_of
from transactions.api.pages import Cursor, page_of
from transactions.core.masking import NOTHING_HIDDEN, Mask, customer_in, hidden, mask_of
from transactions.core.spreadsheets import BOM, csv_text
from transactions.models import ExportRun, Item, Transaction
from transactions.services.exporting import finish_export, note_progress

CHUNK = 500
"""Transactions that are read at once."""
TRANSACTION = (
    "transaction_id", "parent_id", "created_at", "finished_at", "channel", "customer", "tool", "release",
    "operation_type", "status", "multi_item_status", "reason_code", "review_state", "has_unknown", "has_unconfirmed",
    "items", "succeeded", "failed", "unknown", "excluded",
)  # fmt: skip
ITEM = (
    "transaction_id", "created_at", "finished_at", "channel", "customer", "tool", "release", "transaction_status",
    "position", "item_key", "item", "status", "reason", "protocol", "verdict_source", "rule", "unconfirmed",
)  # fmt: skip

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """How the file looks. ``delimiter`` and ``bom`` count for CSV alone; ``shows_customers``: nothing is hidden."""

    format: Literal["csv", "jsonl"] = "csv"
    per: Literal["item", "transaction"] = "transaction"
    delimiter: str = ","
    bom: bool = False
    shows_customers: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return TRANSACTION if self.per == "transaction" else ITEM

    @property
    def content_type(self) -> str:
        return "text/csv; charset=utf-8" if self.format == "csv" else "application/x-ndjson"


def chunks(rows: QuerySet[Transaction], shape: Shape, run: ExportRun) -> Iterator[bytes]:
    """The file, newest transaction first. What begins after the export is not in it; no row is twice or missing."""
    if shape.format == "csv":
        yield _encoded((BOM if shape.bom else "") + csv_text([shape.columns], delimiter=shape.delimiter))
    done = 0
    for found in _in_order(rows.filter(created_at__lte=run.created_at)):
        held = _rows_of(found, shape)
        if held:
            yield _encoded(_written(held, shape))
        done += len(found)
        note_progress(run.pk, done)
    finish_export(run.pk, done)


async def chunks_in_turn(rows: QuerySet[Transaction], shape: Shape, run: ExportRun) -> AsyncIterator[bytes]:
    """The same for a server that is not to be blocked: each chunk is made in a thread while others are served."""
    made = chunks(rows, shape, run)
    following = sync_to_async(lambda: next(made, None))
    while (chunk := await following()) is not None:
        yield chunk


def _encoded(text: str) -> bytes:
    """Half a surrogate pair, which JSON can hold, becomes "?"."""
    return text.encode("utf-8", "replace")


def _in_order(rows: QuerySet[Transaction]) -> Iterator[list[Transaction]]:
    """All of ``rows``, a chunk at a time, each found from where the one before it ended."""
    rows, cursor = rows.select_related("conversation__channel"), None
    while (page := page_of(rows, cursor, CHUNK)).rows:
        yield page.rows
        if page.older is None:
            return
        cursor = Cursor.decode(page.older)


def _rows_of(found: Sequence[Transaction], shape: Shape) -> list[Row]:
    if shape.per == "item":
        return _item_rows(found, shape)
    tallies = Item.objects.tallies(transaction.pk for transaction in found)
    return [_transaction_row(transaction, tallies.get(transaction.pk, {}), shape) for transaction in found]


def _written(rows: Sequence[Row], shape: Shape) -> str:
    if shape.format == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    return csv_text(([row[name] for name in shape.columns] for row in rows), delimiter=shape.delimiter)


def _common(transaction: Transaction, shape: Shape) -> Row:
    who = customer_in(transaction.conversation.identity)
    return {
        "transaction_id": str(transaction.pk),
        "created_at": _moment(transaction.created_at),
        "finished_at": _moment(transaction.finished_at),
        "channel": transaction.conversation.channel.key,
        "customer": who if shape.shows_customers else hidden(who),
        "tool": transaction.tool,
        "release": transaction.release,
    }


def _transaction_row(transaction: Transaction, tally: dict[str, int], shape: Shape) -> Row:
    counts = counts_of(tally)
    return _common(transaction, shape) | {
        "parent_id": str(transaction.parent_id) if transaction.parent_id else None,
        "operation_type": transaction.operation_type,
        "status": transaction.status,
        "multi_item_status": transaction.multi_item_status or None,
        "reason_code": transaction.reason_code or None,
        "review_state": transaction.review_state,
        "has_unknown": transaction.has_unknown,
        "has_unconfirmed": transaction.has_unconfirmed,
        "items": counts.total,
        "succeeded": counts.succeeded,
        "failed": counts.failed,
        "unknown": counts.unknown,
        "excluded": counts.excluded,
    }


def _item_rows(found: Sequence[Transaction], shape: Shape) -> list[Row]:
    own: dict[Any, list[Item]] = {}
    for item in Item.objects.filter(transaction__in=found).order_by("transaction_id", "position").iterator(2_000):
        own.setdefault(item.transaction_id, []).append(item)
    rows = []
    for transaction in found:
        common = _common(transaction, shape) | {"transaction_status": transaction.status}
        mask = NOTHING_HIDDEN if shape.shows_customers else mask_of(transaction.conversation.identity)
        rows += [common | _item_row(item, mask) for item in own.get(transaction.pk, ())]
    return rows


def _item_row(item: Item, mask: Mask) -> Row:
    return {
        "position": item.position,
        "item_key": item.key,
        "item": mask.text(item.label),
        "status": item.status,
        "reason": mask.json(item.reason),
        "protocol": item.protocol,
        "verdict_source": item.verdict_source or None,
        "rule": item.rule or None,
        "unconfirmed": item.unconfirmed,
    }


def _moment(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None
