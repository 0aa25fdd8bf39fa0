"""Text as it is compared with what customers write: without case and accents, cut into tokens (runtime.md §6.8).

Checks and router fold alike because both use this.
"""

from __future__ import annotations

import re
import unicodedata

_TOKEN = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    """``text`` without case, accents and invisible characters, in NFKD; folding twice changes nothing."""
    return _strip(unicodedata.normalize("NFKD", _strip(unicodedata.normalize("NFKD", text)).casefold()))


def _strip(text: str) -> str:
    return "".join(char for char in text if not unicodedata.combining(char) and unicodedata.category(char) != "Cf")


def tokens(text: str) -> tuple[str, ...]:
    """The runs of letters and digits of the folded text, in order."""
    return tuple(_TOKEN.findall(fold(text)))
