"""Values that a text holds by their form alone: members of a list, numbers, dates, yes and no."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from tooling.demo import offline_words as vocabulary
from tooling.demo.offline_text import Said, find_phrase, fold, is_akin, things_in

_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?\b")
_CLOCK = re.compile(r"\b(\d{1,2})(?:[:h](\d{2})|h)\b")
_NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:[.,]\d+)*(?![\w])")


def member_of(options: Sequence[Any], said: Said) -> Any:
    """The one of ``options`` that is said, in any case and number; None if none is, or several are."""
    words = said.folded
    found = []
    for option in options:
        wanted = Said(str(option)).folded
        span = len(wanted)
        if span and any(
            all(is_akin(a, b) for a, b in zip(wanted, words[i : i + span], strict=True))
            for i in range(len(words) - span + 1)
        ):
            found.append(option)
    return found[0] if len(found) == 1 else None


def number_in(said: Said, *, locale: str, whole: bool) -> int | float | None:
    """The only number that is neither part of a code, a date or a name."""
    named = [thing for thing in things_in(said, is_grammar=lambda word: False) if thing.kind != "digits"]
    taken = [said.between(thing.start, thing.end) for thing in named if not said.words[thing.start].text.islower()]
    text = said.text
    for each in [*taken, *(match.group() for match in _SLASHED.finditer(text))]:
        text = text.replace(each, " ")
    values = {value for match in _NUMBER.finditer(text) if (value := _parsed(match.group(), locale)) is not None}
    if len(values) != 1:
        return None
    value = values.pop()
    if not whole:
        return value
    return int(value) if float(value).is_integer() else None


def _parsed(text: str, locale: str) -> int | float | None:
    """ "1.234,56" or "1,234.56", by what is unmistakable, else by the locale."""
    decimal = "," if locale.lower().startswith("pt") else "."
    marks = re.findall(r"[.,]", text)
    if len(set(marks)) == 2:
        decimal = marks[-1]
    elif marks and not re.fullmatch(r"-?\d{1,3}(?:[.,]\d{3})+", text):
        decimal = marks[0]
    group = "." if decimal == "," else ","
    plain = text.replace(group, "").replace(decimal, ".")
    try:
        return float(plain) if "." in plain else int(plain)
    except ValueError:
        return None


def date_in(said: Said, *, locale: str, today: date, with_time: bool) -> str | None:
    """The day that is said, ISO; with its time if ``with_time`` and one is said, else None."""
    day = _day(said, locale, today)
    if day is None or not with_time:
        return day.isoformat() if day else None
    clock = _CLOCK.search(fold(said.text))
    if clock is None or int(clock[1]) > 23:
        return None
    return f"{day.isoformat()}T{int(clock[1]):02}:{clock[2] or '00'}:00"


def _day(said: Said, locale: str, today: date) -> date | None:
    if match := _ISO.search(said.text):
        return _date(int(match[1]), int(match[2]), int(match[3]))
    if match := _SLASHED.search(said.text):
        first, second = int(match[1]), int(match[2])
        day, month = (second, first) if locale.lower() == "en-us" else (first, second)
        return _with_year(day, month, match[3], today)
    for index, word in enumerate(said.folded):
        if word in vocabulary.DAYS:
            return today + timedelta(days=vocabulary.DAYS[word])
        if word in vocabulary.MONTHS and (number := _number_beside(said.folded, index)):
            return _with_year(number, vocabulary.MONTHS[word], _year_after(said.folded, index), today)
    return None


def _number_beside(words: Sequence[str], index: int) -> int | None:
    """The day number before a month ("15 de março") or after it ("March 15th")."""
    for place in (index - 1, index - 2, index + 1):
        if 0 <= place < len(words) and (digits := re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|o)?", words[place])):
            return int(digits[1])
    return None


def _year_after(words: Sequence[str], index: int) -> str | None:
    return next((word for word in words[index + 1 : index + 4] if re.fullmatch(r"20\d\d", word)), None)


def _with_year(day: int, month: int, year: str | None, today: date) -> date | None:
    """The date; without a year the next one that is not over."""
    if year:
        return _date(int(year) if len(year) == 4 else 2000 + int(year), month, day)
    this = _date(today.year, month, day)
    return this if this is None or this >= today else _date(today.year + 1, month, day)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def yes_or_no(said: Said) -> bool | None:
    """The answer to a yes-no question: only where it is the first word."""
    first = said.folded[0] if said.folded else ""
    if first in vocabulary.NO:
        return False
    return True if first in vocabulary.YES else None


def typed_value(declared: Mapping[str, Any], said: Said, *, locale: str, today: date, is_asked: bool) -> Any:
    """The value of an argument that is no plain text or list, or None; ``is_asked``: it is what was asked for."""
    if options := declared.get("enum"):
        return member_of(options, said) if isinstance(options, list) else None
    kind, form = declared.get("type"), declared.get("format")
    if kind in ("date", "date-time") or form in ("date", "date-time"):
        return date_in(said, locale=locale, today=today, with_time="date-time" in (kind, form))
    match kind:
        case "integer" | "number":
            return number_in(said, locale=locale, whole=kind == "integer")
        case "boolean":
            return yes_or_no(said) if is_asked else _flag(declared, said)
        case _:
            return None


def is_plain_text(declared: Mapping[str, Any]) -> bool:
    """Whether the argument takes whatever words are said."""
    forms = ("date", "date-time")
    kind = declared.get("type", "string")
    return kind == "string" and not declared.get("enum") and declared.get("format") not in forms


def _flag(declared: Mapping[str, Any], said: Said) -> bool | None:
    """True where the label of a flag is said nearly as it stands, False where that is negated."""
    wanted = [word for word in Said(str(declared.get("label", ""))).folded if word not in vocabulary.STOP]
    places = [i for i, word in enumerate(said.folded) if any(is_akin(word, other) for other in wanted)]
    if len(places) < 2 or len(places) < len(wanted) - 1:
        return None
    return find_phrase(said.folded[: places[0]], [("nao",), ("sem",), ("not",), ("without",), ("dont",)]) is None
