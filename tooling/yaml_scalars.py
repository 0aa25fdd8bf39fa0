"""What an unquoted word means: the YAML 1.2 core schema, except that leading zeros and dates stay text.

So ``no``, ``on``, ``012``, ``2026-01-02`` and ``1_000`` are texts (contracts.md §5, "Rules").
"""

from __future__ import annotations

import re

from tooling.specs import JSON

CONSTANTS: dict[str, JSON] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
OCTAL = re.compile(r"0o[0-7]+")
HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
LONGEST_NUMBER = 300
"""Digits; what is longer stays text, because no number of a definition is."""


def plain_value(text: str) -> JSON:
    """The value of the unquoted word ``text``; infinite and not-a-number come back as such floats."""
    if text in CONSTANTS:
        return CONSTANTS[text]
    if len(text) > LONGEST_NUMBER:
        return text
    if INTEGER.fullmatch(text):
        return int(text)
    if OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if HEXADECIMAL.fullmatch(text):
        return int(text[2:], 16)
    if FLOAT.fullmatch(text):
        return float(text)
    if SPECIAL.fullmatch(text):
        return float(text.lower().replace(".", ""))
    return text
