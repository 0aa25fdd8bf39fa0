"""Reads one MCP answer and normalises it: the envelope, its rows and what they say together (runtime.md §4)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Literal

from tooling.specs import JSON

Reported = Literal["SUCCESS", "PARTIAL_SUCCESS", "FAILED", ""]

DEEPEST = 200
"""Levels of a JSON text that are read; what lies deeper becomes null, because no store or reader could hold it."""

LONGEST_INTEGER = 400
"""Digits of an integer in a JSON text that stays a number; a longer one stays text."""

_BRACKETS_AND_TEXTS = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[\[\]{}]', re.DOTALL)
_VERDICTS = ("success", "ok")


def envelope_of(tool_name: str, *, structured: JSON, texts: Sequence[str], is_error: bool) -> dict[str, JSON]:
    """The envelope of an MCP answer (runtime.md §4): ``{tool_name, ok, result, error, metadata}``.

    ``texts`` are the answer's text blocks in order. ``error`` is null when ``ok`` is true. Never raises.
    """
    result = _result(structured, texts)
    ok = not is_error and _says_ok(result)
    error = None if ok else _error(result, texts)
    return {"tool_name": tool_name, "ok": ok, "result": result, "error": error, "metadata": {}}


def rows_of(primary_tool: JSON, envelope: JSON) -> list[JSON] | None:
    """The rows of the primary tool, well formed or not; None where there is no list of them (runtime.md §4.1)."""
    if not isinstance(envelope, dict):
        return None
    rows = _place_of_rows(primary_tool, envelope)
    return rows if isinstance(rows, list) else None


def verdict_of(row: JSON) -> bool | None:
    """The one clear verdict of a row; None for a malformed row (runtime.md §4.2)."""
    if not isinstance(row, dict):
        return None
    said = [row[name] for name in _VERDICTS if name in row]
    if said and all(isinstance(verdict, bool) for verdict in said) and said[0] == said[-1]:
        return bool(said[0])
    return None


def normalize(primary_tool: JSON, envelope: JSON) -> JSON:
    """The envelope with what its rows say together, or equal to the input (runtime.md §4.3 to §4.6).

    Total for any JSON value, does not change its input; applied twice it equals applied once.
    """
    verdicts = _verdicts(rows_of(primary_tool, envelope))
    if not verdicts:
        return envelope
    status = _status(verdicts)
    known = envelope["metadata"] if isinstance(envelope.get("metadata"), dict) else {}
    summary = {
        "status": status,
        "items_count": len(verdicts),
        "items_succeeded_count": verdicts.count(True),
        "items_failed_count": verdicts.count(False),
        "primary_tool": primary_tool,
    }
    # A server may have sent our names itself: what it said is replaced, never read.
    out = {name: value for name, value in envelope.items() if name != "partial_success"}
    out |= {"multi_item_status": status, "metadata": {**known, "multi_item": summary}}
    if status == "PARTIAL_SUCCESS":
        out["partial_success"] = True
    if envelope.get("ok") is False and True in verdicts:
        out |= {"ok": True, "original_ok": False, "secondary_error": envelope.get("error")}
    return out


def multi_item_status_of(normalised: JSON) -> Reported:
    """What the rows of a normalised envelope say together; "" where §4.3 recognised nothing.

    It is counted again from the rows of the tool that ``normalize`` recorded, so a status that a server sent
    of its own is never believed.
    """
    metadata = normalised.get("metadata") if isinstance(normalised, dict) else None
    summary = metadata.get("multi_item") if isinstance(metadata, dict) else None
    if not isinstance(summary, dict):
        return ""
    verdicts = _verdicts(rows_of(summary.get("primary_tool"), normalised))
    return _status(verdicts) if verdicts else ""


def _place_of_rows(primary_tool: JSON, envelope: dict[str, JSON]) -> JSON:
    result = envelope.get("result")
    for holder in (envelope, result, envelope.get("workflow")):
        output = holder.get("output") if isinstance(holder, dict) else None
        if isinstance(output, dict) and isinstance(primary_tool, str) and primary_tool in output:
            node = output[primary_tool]
            return node.get("results") if isinstance(node, dict) else None
    if "results" in envelope:
        return envelope["results"]
    return result.get("results") if isinstance(result, dict) else None


def _verdicts(rows: list[JSON] | None) -> list[bool]:
    """The verdicts of a recognised multi-item result, one a row; empty where §4.3 recognises none."""
    verdicts = [verdict_of(row) for row in rows or ()]
    clear = [verdict for verdict in verdicts if verdict is not None]
    return clear if len(clear) == len(verdicts) >= 2 else []


def _status(verdicts: list[bool]) -> Literal["SUCCESS", "PARTIAL_SUCCESS", "FAILED"]:
    if all(verdicts):
        return "SUCCESS"
    return "PARTIAL_SUCCESS" if any(verdicts) else "FAILED"


def _result(structured: JSON, texts: Sequence[str]) -> JSON:
    if structured is not None and structured != {}:
        return structured
    objects = (read_object(text) for text in texts)
    found = next((value for value in objects if value is not None), None)
    return "\n".join(texts) if found is None else found


def _says_ok(result: JSON) -> bool:
    if not isinstance(result, dict):
        return True
    literal = (result[name] for name in ("ok", "success") if isinstance(result.get(name), bool))
    return bool(next(literal, True))


def _error(result: JSON, texts: Sequence[str]) -> JSON:
    if isinstance(result, dict) and result.get("error") is not None:
        return result["error"]
    plain = [text for text in texts if text.strip() and read_object(text) is None]
    return "\n".join(plain) or None


def read_object(text: str) -> dict[str, JSON] | None:
    """The JSON object that ``text`` is, else None; never raises.

    NaN and infinities are read as null, of a repeated name the last value counts, and below ``DEEPEST`` levels
    everything is null.
    """
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = _parse(text)
    except RecursionError:
        value = _parse(_cut(text))
    return value if isinstance(value, dict) else None


def _parse(text: str) -> JSON:
    try:
        return json.loads(text, parse_constant=lambda _: None, parse_float=_float, parse_int=_integer)
    except ValueError:
        return None


def _float(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= LONGEST_INTEGER else digits


def _cut(text: str) -> str:
    """``text`` with null in place of every object and array that lies deeper than ``DEEPEST`` levels."""
    kept: list[str] = []
    depth, start = 0, 0
    for match in _BRACKETS_AND_TEXTS.finditer(text):
        bracket = match.group()
        if bracket in "[{":
            depth += 1
            if depth == DEEPEST + 1:
                kept += text[start : match.start()], "null"
        elif bracket in "]}":
            if depth == DEEPEST + 1:
                start = match.end()
            depth -= 1
    if depth <= DEEPEST:
        kept.append(text[start:])
    return "".join(kept)
