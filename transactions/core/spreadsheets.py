"""Rows as CSV that spreadsheets open as what they are: no cell begins a formula, whatever customers and tools wrote."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from tooling.specs import JSON

BEGINS_A_FORMULA = frozenset("=+-@\t\r\n|%＝＋－＠")
"""With these a spreadsheet begins to calculate; the wide forms are folded by some."""
BOM = "\ufeff"
"""By this some spreadsheets know that a file is UTF-8."""


def cell(value: JSON) -> str:
    """The text of one cell: None is empty, yes and no are ``true`` and ``false``, a text never begins a formula."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            text = value.replace("\0", "")
            is_formula = text.lstrip(" \u00a0\u200b\ufeff")[:1] in BEGINS_A_FORMULA and text.strip() != ""
            return f"'{text}" if is_formula else text
        case _:
            return str(value)


def csv_text(rows: Iterable[Sequence[JSON]], *, delimiter: str = ",") -> str:
    """``rows`` as lines that end in CRLF, as RFC 4180 has it; cells are quoted where they must be."""
    held = io.StringIO()
    writer = csv.writer(held, delimiter=delimiter, lineterminator="\r\n")
    writer.writerows([cell(value) for value in row] for row in rows)
    return held.getvalue()
