"""What a query found, as people read it: every item with what the tool said of it (runtime.md §3, §10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from tooling.specs import JSON
from transactions.core.reply import reason_text
from transactions.core.statuses import ItemStatus
from transactions.core.texts import say, say_count

_NOT_TOLD = frozenset({"success", "ok", "item_key", "reason", "error", "label", "name"})
LONGEST = 500
"""Characters of one value that are shown."""
DEEPEST = 3
"""Levels of an answer that are told; below, only an operator looks."""


@dataclass(frozen=True, slots=True)
class Found:
    """One item of a query's result. ``said`` is the row, or the whole answer where it had no rows."""

    label: str
    status: ItemStatus
    said: Mapping[str, JSON]
    reason: str | None = None


def render_found(items: Sequence[Found], *, locale: str) -> str:
    """Every item of a query with what is known of it; what could not be found out says why."""
    found = [item for item in items if item.status is ItemStatus.SUCCEEDED]
    lines = [say_count("found", max(len(found), 1), locale, total=len(items))] if len(items) > 1 else []
    for item in items:
        lines += _lines(item, locale)
    return "\n".join(lines)


def _lines(item: Found, locale: str) -> Iterator[str]:
    if item.status is not ItemStatus.SUCCEEDED:
        why = reason_text(item.reason, locale)
        yield f"• {item.label}: {say('not_found_out', locale)}" + (f" ({why})" if why else "")
        return
    details = [*_details(item.said, item.label, locale)]
    is_short = len(details) <= 1 or sum(map(len, details)) <= LONGEST
    if is_short:
        yield f"• {item.label}" + (f" – {'; '.join(details)}" if details else "")
    else:
        yield f"• {item.label}"
        yield from (f"   {detail}" for detail in details)


def _details(said: Mapping[str, JSON], label: str, locale: str, depth: int = 1) -> Iterator[str]:
    for name, value in said.items():
        if name in _NOT_TOLD or value == label:
            continue
        text = _value(value, locale, depth)
        if text:
            yield f"{name.replace('_', ' ').strip()}: {text}"


def _value(value: JSON, locale: str, depth: int) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return say("yes" if value else "no", locale)
    if isinstance(value, float) and not locale.lower().startswith("en"):
        return f"{value:.2f}".replace(".", ",")
    if isinstance(value, Mapping):
        return "; ".join(_details(value, "", locale, depth + 1)) if depth < DEEPEST else ""
    if isinstance(value, list):
        parts = (_value(element, locale, depth + 1) for element in value) if depth < DEEPEST else ()
        return ", ".join(part for part in parts if part)
    text = " ".join(str(value).split())
    return _date(text, locale) or text[:LONGEST]


def _date(text: str, locale: str) -> str:
    """An ISO date as people of the locale write it; empty for anything else."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return ""
    return day.isoformat() if locale.lower().startswith("en") else f"{day:%d/%m/%Y}"
