"""Makes any JSON from outside fit to be stored: readable at any depth, and holding nothing a database refuses."""

from __future__ import annotations

import json
import math
import re

from tooling.specs import JSON

DEEPEST = 100
"""Levels that are kept; what lies deeper becomes ``CUT``."""

CUT = "…"

_REFUSED = re.compile("[\x00\ud800-\udfff]")
"""NUL and lone surrogates: PostgreSQL stores neither in text nor in jsonb."""

_BRACKETS_AND_STRINGS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)


def clean_text(text: str) -> str:
    """``text`` with every character that PostgreSQL refuses as U+FFFD."""
    return _REFUSED.sub("�", text)


def clean_json(value: JSON, *, deepest: int = DEEPEST) -> JSON:
    """A copy of ``value`` that PostgreSQL can store; equal to it where nothing had to change.

    NaN and the infinities become null, what lies deeper than ``deepest`` levels becomes ``CUT``. Keys are text.
    """
    match value:
        case str():
            return clean_text(value)
        case float() if not math.isfinite(value):
            return None
        case dict() if deepest:
            return {clean_text(str(key)): clean_json(held, deepest=deepest - 1) for key, held in value.items()}
        case list() | tuple() if deepest:
            return [clean_json(held, deepest=deepest - 1) for held in value]
        case dict() | list() | tuple():
            return CUT
    return value


def read_json(data: bytes | str) -> JSON:
    """The JSON value of ``data``, however deeply nested; what the parser cannot hold is cut. Raises ValueError."""
    text = data if isinstance(data, str) else data.decode("utf-8-sig")
    try:
        return json.loads(text)
    except RecursionError:
        return json.loads(_shallow(text))


def _shallow(text: str) -> str:
    """``text`` with every array and object below ``DEEPEST`` levels replaced; brackets in strings do not count."""
    kept: list[str] = []
    start = depth = 0
    for found in _BRACKETS_AND_STRINGS.finditer(text):
        token = found.group()
        if token in "[{":
            depth += 1
            if depth == DEEPEST + 1:
                kept.append(text[start : found.start()] + json.dumps(CUT))
        elif token in "]}":
            if depth == DEEPEST + 1:
                start = found.end()
            depth -= 1
    if depth > DEEPEST:
        raise ValueError("the text ends inside a nested value")
    return "".join([*kept, text[start:]])
