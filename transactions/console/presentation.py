"""Rows turned into what an operator reads: times with their zone, masked customers, item summaries, JSON."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from transactions.api.counts import counts_of
from transactions.console import labels
from transactions.console.labels import Badge, Text
from transactions.core.masking import customer_in, hidden
from transactions.core.statuses import ItemStatus, ReviewState
from transactions.models import Transaction

JSON_LIMIT = 20_000
"""Characters of one JSON value on a page; the API gives the whole."""
MARKS = 10


@dataclass(frozen=True, slots=True)
class Moment:
    """``iso`` for machines; ``date``, ``time`` and ``zone`` for people."""

    iso: str
    date: str
    time: str
    zone: str


def moment(at: datetime.datetime | None, *, milliseconds: bool = False) -> Moment | None:
    """``at`` in the installation's zone and the reader's order of day and month."""
    if at is None:
        return None
    local = timezone.localtime(at)
    # Translators: how a date is written; letters as in Django's date filter.
    day = formats.date_format(local, pgettext("date format", "j M Y"))
    clock = local.strftime("%H:%M:%S")
    if milliseconds:
        clock += f".{local.microsecond // 1000:03d}"
    return Moment(iso=local.isoformat(), date=day, time=clock, zone=zone_of(local))


def zone_of(local: datetime.datetime) -> str:
    """UTC−3, UTC+5:30, UTC."""
    offset = local.utcoffset() or datetime.timedelta()
    minutes = round(offset.total_seconds() / 60)
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'−' if minutes < 0 else '+'}{hours}" + (f":{rest:02d}" if rest else "")


def duration(start: datetime.datetime, end: datetime.datetime | None) -> str:
    """2,1 s · 3 min 02 s · 1 h 05 min; empty while it lasts."""
    if end is None:
        return ""
    seconds = max(0.0, (end - start).total_seconds())
    if seconds < 60:
        return f"{formats.number_format(round(seconds, 1), decimal_pos=1)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def masked(identity: Mapping[str, Any]) -> str:
    """So much of the customer as tells two apart: the last three characters; empty: anonymous."""
    return hidden(customer_in(identity))


@dataclass(frozen=True, slots=True)
class Json:
    """``text``: indented; ``is_cut``: there is more than a page can hold."""

    text: str
    is_cut: bool


def json_view(value: Any, limit: int = JSON_LIMIT) -> Json | None:
    """``value`` as indented JSON, read only as far as it is shown; None where there is nothing to show."""
    if value is None or value in ({}, []):
        return None
    parts: list[str] = []
    length, is_cut = 0, False
    try:
        for part in json.JSONEncoder(indent=2, ensure_ascii=False, default=str).iterencode(value):
            parts.append(part[: limit - length])
            length += len(part)
            if length > limit:
                is_cut = True
                break
    except RecursionError:
        is_cut = True
    return Json(text="".join(parts), is_cut=is_cut)


def plain(value: Any) -> str:
    """A value of an argument or a field, as a person would write it."""
    match value:
        case str():
            return value
        case bool():
            return _("yes") if value else _("no")
        case int() | float():
            return str(value)
        case list() if all(isinstance(part, str | int | float) for part in value):
            return ", ".join(plain(part) for part in value)
        case _:
            view = json_view(value, limit=2_000)
            return view.text if view else "—"


@dataclass(frozen=True, slots=True)
class Items:
    """``short`` 2/3; ``sentence`` "2 of 3 items completed, 1 failed"; ``rest`` what of it did not complete.

    ``marks`` has a badge per item, as far as they fit; ``has_more``: not all did.
    """

    short: str
    sentence: str
    rest: str
    marks: list[Badge]
    has_more: bool


MARK_ORDER = (
    ItemStatus.SUCCEEDED,
    ItemStatus.FAILED,
    ItemStatus.INELIGIBLE,
    ItemStatus.NOT_EXECUTED,
    ItemStatus.UNKNOWN,
    ItemStatus.IN_FLIGHT,
    ItemStatus.PENDING,
)

REST_ORDER = (
    ItemStatus.FAILED,
    ItemStatus.INELIGIBLE,
    ItemStatus.NOT_EXECUTED,
    ItemStatus.UNKNOWN,
    ItemStatus.EXCLUDED,
)


def items_of(tally: Mapping[str, int]) -> Items:
    """Sum up item status → number; what the user left out is told apart from the rest."""
    counts = counts_of(tally)
    asked = counts.total - counts.excluded
    each = [labels.ITEMS[status] for status in MARK_ORDER for _n in range(min(tally.get(status, 0), MARKS))]
    rest = _rest(tally)
    return Items(
        short=f"{counts.succeeded}/{asked}" if asked else "",
        sentence=", ".join([_completed(counts.succeeded, asked), *rest]) if counts.total else _("no items yet"),
        rest=", ".join(rest),
        marks=each[:MARKS],
        has_more=asked > MARKS,
    )


def _completed(done: int, asked: int) -> str:
    text = ngettext("%(done)d of %(total)d item completed", "%(done)d of %(total)d items completed", asked)
    return text % {"done": done, "total": asked}


def _rest(tally: Mapping[str, int]) -> list[str]:
    """What did not complete, finer than the counts of the API: only a real failure is called one."""
    failed, ineligible, not_executed, unknown, excluded = (tally.get(status, 0) for status in REST_ORDER)
    parts = [
        (failed, ngettext("%(n)d failed", "%(n)d failed", failed)),
        (ineligible, ngettext("%(n)d not eligible", "%(n)d not eligible", ineligible)),
        (not_executed, ngettext("%(n)d not executed", "%(n)d not executed", not_executed)),
        (unknown, ngettext("%(n)d with unknown outcome", "%(n)d with unknown outcome", unknown)),
        (excluded, ngettext("%(n)d left out", "%(n)d left out", excluded)),
    ]
    return [text % {"n": number} for number, text in parts if number]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list."""

    id: str
    short_id: str
    tool: str
    status: Badge
    reason: Text
    items: Items
    customer: str
    channel: str
    started: Moment | None
    duration: str
    release: int
    review: Text
    flags: list[str]


def row_of(transaction: Transaction, tally: Mapping[str, int]) -> Row:
    """``transaction`` with its conversation and channel loaded; ``tally``: item status → number."""
    code, review = transaction.reason_code, transaction.review_state
    return Row(
        id=str(transaction.pk),
        short_id=transaction.pk.hex[:8],
        tool=transaction.tool,
        status=labels.badge(labels.STATUSES, transaction.status),
        reason=labels.words(labels.REASONS, code),
        items=items_of(tally),
        customer=masked(transaction.conversation.identity),
        channel=transaction.conversation.channel.key,
        started=moment(transaction.created_at),
        duration=duration(transaction.created_at, transaction.finished_at),
        release=transaction.release,
        review="" if review == ReviewState.NONE else labels.words(labels.REVIEW, review),
        flags=flags_of(transaction),
    )


def flags_of(transaction: Transaction) -> list[str]:
    """What an operator should see at once, in words."""
    flags = []
    if differs(transaction):
        flags.append(_("the tool reported another result"))
    if transaction.has_unknown:
        flags.append(_("has items of unknown outcome"))
    if transaction.has_unconfirmed:
        flags.append(_("has rows that nobody confirmed"))
    return flags


def differs(transaction: Transaction) -> bool:
    """Whether what the tool reported is not our verdict (runtime.md §2)."""
    return bool(transaction.multi_item_status) and transaction.multi_item_status != transaction.status
