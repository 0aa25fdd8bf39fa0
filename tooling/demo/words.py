"""How the demo servers compare words: without case, accents and punctuation, and forgiving a slip of the finger."""

from __future__ import annotations

import difflib
import re
import unicodedata

SIMILAR = 0.8


def folded(text: str) -> str:
    """``text`` in small letters without accents, its words separated by one space."""
    bare = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    return " ".join(re.findall(r"\w+", bare.casefold()))


def is_among(word: str, words: tuple[str, ...]) -> bool:
    """Whether ``word`` is one of ``words``, or nearly so where it is long enough to tell."""
    if word in words or len(word) < 4:
        return word in words
    return bool(difflib.get_close_matches(word, words, n=1, cutoff=SIMILAR))
