"""Text as it is compared: folded, cut into tokens, words and clauses, searched for numbers (runtime.md §5, §6.4)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

from tooling.folding import fold, tokens

__all__ = ["Clause", "clauses", "fold", "language_of", "numbers_in", "read_number", "tokens", "words"]

_NUMBER = re.compile(
    r"(?:(?<![^\s($])([-\u2212]))?"  # a sign counts only where nothing stands before it: "PED-1001" is no minus
    r"(?<![^\W_])(?<![0-9][.,])[^\W\d_]*([0-9]+(?:[.,][0-9]+)*)[^\W\d_]*(?![^\W_])"
)
_SCIENTIFIC = re.compile(r"[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]{1,4}")
_CLAUSE_END = re.compile(r"\s*[.,;:!?\u00bf\u061f\u203d\u2026()\[\]\u2013\u2014\n]+[\s.,;:!?\u2026]*")
_COMMA_LANGUAGES = frozenset({"pt", "es", "fr", "de", "it", "nl"})
_APOSTROPHES = "'\u2019\u2018\u02bc"
_QUESTION_MARKS = "?\u00bf\u061f\u203d"
_MAX_DIGITS = 400


def language_of(locale: str) -> str:
    """The language of a locale: "pt" of "pt-BR"."""
    return re.split(r"[-_]", locale, maxsplit=1)[0].lower()


def words(text: str) -> tuple[str, ...]:
    """The words of ``text`` with case, accents and punctuation folded away, but not its question marks.

    A question mark is a word of its own ("sim?" is not "sim"), and so is what is no punctuation: "sim \U0001f44d".
    """
    return tuple("".join(_unpunctuated(char) for char in fold(text)).split())


def _unpunctuated(char: str) -> str:
    if char in _APOSTROPHES:
        return ""
    if char in _QUESTION_MARKS:
        return " ? "
    return " " if unicodedata.category(char).startswith("P") else char


@dataclass(frozen=True, slots=True)
class Clause:
    """The words between two marks of punctuation."""

    words: tuple[str, ...]
    is_question: bool


def clauses(text: str) -> tuple[Clause, ...]:
    """``text`` cut at its punctuation; a clause without words is none, but its question mark counts before it."""
    found: list[Clause] = []
    start, folded = 0, fold(text)
    ends = [*((match.start(), match.end()) for match in _CLAUSE_END.finditer(folded)), (len(folded), len(folded))]
    for end, following in ends:
        said = words(folded[start:end])
        asks = any(mark in folded[end:following] for mark in _QUESTION_MARKS)
        if said:
            found.append(Clause(said, asks))
        elif asks and found:
            found[-1] = Clause(found[-1].words, True)
        start = following
    return tuple(found)


def read_number(text: str, locale: str) -> Decimal | None:
    """The number that ``text`` is, written with or without separators; None if it is anything else.

    The locale decides where it can: "1.234" is 1234 in pt-BR and 1.234 in en. What can only be read one way is
    read so in every locale ("14.99", "1,234.56").
    """
    if len(text) > _MAX_DIGITS:
        return None
    if _SCIENTIFIC.fullmatch(text):
        return Decimal(text)
    group, point = (r"\.", ",") if language_of(locale) in _COMMA_LANGUAGES else (",", r"\.")
    grouped = "[1-9][0-9]{{0,2}}(?:{0}[0-9]{{3}})"
    readings = (
        (group, point, rf"{grouped.format(group)}+(?:{point}[0-9]+)?"),
        (group, point, rf"[0-9]+(?:{point}[0-9]+)?"),
        (point, group, rf"[0-9]+{group}[0-9]+"),
        (point, group, rf"{grouped.format(point)}+{group}[0-9]+"),
        (point, group, rf"{grouped.format(point)}{{2,}}"),
    )
    for thousands, decimals, shape in readings:
        if re.fullmatch(shape, text):
            plain = text.replace(thousands[-1], "").replace(decimals[-1], ".")
            return Decimal(plain)
    return None


def numbers_in(text: str, locale: str) -> frozenset[Decimal]:
    """The values of all numbers that are written in ``text``.

    Digits joined to letters on one side count ("10kg", "PED1001"), digits on both sides of letters do not: what
    looks like a misspelt code is no number.
    """
    found = set[Decimal]()
    for sign, digits in _NUMBER.findall(unicodedata.normalize("NFKC", text)):
        value = read_number(digits, locale)
        parts = re.findall("[0-9]+", digits) if value is None else []
        values = [Decimal(part) for part in parts if len(part) <= _MAX_DIGITS] if value is None else [value]
        found.update(-value if sign else value for value in values)
    return frozenset(found)
