"""A model's value as its declared type, or nothing (runtime.md §5.5). Total: no JSON value makes it raise."""

from __future__ import annotations

import ast
import json
import math
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from tooling.specs import JSON, ArgumentSpec, ArgumentType
from transactions.core.folding import fold, language_of, read_number

_EMPTY_WORDS = frozenset({"", "null", "n/a"})
_BOOLEANS: Mapping[str, bool] = {
    "true": True,
    "1": True,
    "sim": True,
    "yes": True,
    "false": False,
    "0": False,
    "nao": False,
    "no": False,
}
_LONGEST_TEXT = 20_000
"""Characters; five times the longest message, so that nothing longer could come from one."""
_LARGEST_INTEGER = 10**400
_LARGEST_PLAIN_FLOAT = 1e15
_DEEPEST = 16
_SIGNS = {"-": -1, "\u2212": -1, "+": 1}


def is_date(argument: ArgumentSpec) -> bool:
    return argument.type is ArgumentType.STRING and argument.format in ("date", "date-time")


def is_blank(value: JSON) -> bool:
    """Whether ``value`` says nothing: null, blanks, "null", "N/A", an empty list or object; 0 and false do not."""
    if isinstance(value, str):
        return value.strip().casefold() in _EMPTY_WORDS
    return value is None or value in ([], {})


def coerce(argument: ArgumentSpec, value: JSON, locale: str) -> JSON | None:
    """``value`` as ``argument`` declares it, or None where it is not clearly one of those (runtime.md §5.5).

    ``locale`` decides what separators of numbers and dates mean. Lists come back non-empty, texts trimmed.
    """
    match argument.type:
        case ArgumentType.ARRAY:
            return _array(argument, value, locale)
        case ArgumentType.OBJECT:
            return _object(value)
    if argument.enum:
        return _enum(argument, value)
    if is_blank(value):
        return None
    if is_date(argument):
        return _date(value, locale, has_time=argument.format == "date-time")
    match argument.type:
        case ArgumentType.INTEGER:
            return _integer(value, locale)
        case ArgumentType.NUMBER:
            return _number(value, locale)
        case ArgumentType.BOOLEAN:
            return _boolean(value)
        case _:
            return _text(value)


def element_of(argument: ArgumentSpec) -> ArgumentSpec | None:
    """What each element of an array is, as an argument of its own; None where the schema does not say."""
    declared = argument.items.get("type")
    if declared not in [str(known) for known in ArgumentType]:
        return ArgumentSpec(argument.name, enum=argument.enum) if argument.enum else None
    allowed = argument.items.get("enum")
    inner, form = argument.items.get("items"), argument.items.get("format")
    return ArgumentSpec(
        argument.name,
        type=ArgumentType(declared),
        enum=tuple(allowed) if isinstance(allowed, list | tuple) else argument.enum,
        format=form if isinstance(form, str) else "",
        items=inner if isinstance(inner, Mapping) else {},
    )


# Scalars ------------------------------------------


def _text(value: JSON) -> str | None:
    """A text: trimmed; a number is its digits, a list its elements joined with ", "."""
    match value:
        case str():
            listed = _as_list(value)
            return _joined(listed) if listed is not None else _trimmed(value)
        case list():
            return _joined(value)
        case _:
            return _digits(value)


def _trimmed(value: str) -> str | None:
    text = value.strip()
    return None if is_blank(text) or len(text) > _LONGEST_TEXT else text


def _joined(values: list[JSON]) -> str | None:
    texts = [_trimmed(value) if isinstance(value, str) else _digits(value) for value in values]
    return _trimmed(", ".join(text for text in texts if text))


def _digits(value: JSON) -> str | None:
    """A number as people write it: 1001.0 is "1001"."""
    if not _is_number(value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_PLAIN_FLOAT:
        return str(int(value))
    return str(value)


def _is_number(value: JSON) -> bool:
    """Whether ``value`` is a finite number of a size that can be written down; a boolean is none."""
    match value:
        case bool():
            return False
        case int():
            return abs(value) < _LARGEST_INTEGER
        case float():
            return math.isfinite(value)
        case _:
            return False


def _integer(value: JSON, locale: str) -> int | None:
    if isinstance(value, str):
        read = _read(value, locale)
        return int(read) if read is not None and read == read.to_integral_value() else None
    if not _is_number(value) or (isinstance(value, float) and not value.is_integer()):
        return None
    return int(value)


def _number(value: JSON, locale: str) -> int | float | None:
    if isinstance(value, str):
        read = _read(value, locale)
        return None if read is None or not math.isfinite(float(read)) else float(read)
    return value if _is_number(value) else None


def _read(text: str, locale: str) -> Decimal | None:
    """The number of a text that holds nothing else but a sign and one currency mark: "R$ 1.234,56", "-5", "10 €"."""
    compact = unicodedata.normalize("NFKC", text[:_LONGEST_TEXT]).strip()
    places = [index for index, char in enumerate(compact) if char in "0123456789"]
    if not places:
        return None
    mark, after = "".join(compact[: places[0]].split()), compact[places[-1] + 1 :].strip()
    sign = next((_SIGNS[char] for char in (mark[:1], mark[-1:]) if char in _SIGNS), None)
    mark = mark if sign is None else mark.strip("".join(_SIGNS))
    if (mark and after) or not all(_is_currency(text) for text in (mark, after) if text):
        return None
    read = read_number(compact[places[0] : places[-1] + 1], locale)
    return None if read is None or read >= _LARGEST_INTEGER else read * (sign or 1)


def _is_currency(text: str) -> bool:
    """A currency sign, with up to two letters before it: "€", "R$", "US$"."""
    letters, sign = text[:-1], text[-1:]
    return unicodedata.category(sign) == "Sc" and len(letters) <= 2 and all(char.isalpha() for char in letters)


def _boolean(value: JSON) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _BOOLEANS.get(str(int(value))) if value in (0, 1) else None
    return _BOOLEANS.get(fold(value.strip())) if isinstance(value, str) and len(value) < 20 else None


def _enum(argument: ArgumentSpec, value: JSON) -> JSON | None:
    """The declared value that ``value`` is, compared without case and accents."""
    said = _enum_text(value)
    if said is None:
        return None
    exact = [allowed for allowed in argument.enum if allowed == value and type(allowed) is type(value)]
    alike = [allowed for allowed in argument.enum if _enum_text(allowed) == said]
    return (exact or alike or [None])[0]


def _enum_text(value: JSON) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    text = value.strip() if isinstance(value, str) else _text(value)
    return None if text is None or len(text) > _LONGEST_TEXT else fold(text)


def _date(value: JSON, locale: str, *, has_time: bool) -> str | None:
    """An ISO date or date-time; day first with slashes in Portuguese. A day without a time is no date-time."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    day, _, time = value.strip().upper().replace("T", " ", 1).partition(" ")
    iso = _iso_day(day, locale)
    if iso is None or (has_time and not time):
        return None
    if not time:
        return iso
    stamp = f"{iso}T{time.strip()}"
    try:
        datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return stamp if has_time else iso


def _iso_day(text: str, locale: str) -> str | None:
    parts = text.split("-")
    if len(parts) == 1 and language_of(locale) == "pt":
        parts = text.split("/")[::-1]
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    year, month, day = parts
    if len(year) != 4 or len(month) > 2 or len(day) > 2:
        return None
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


# Lists and objects ------------------------------------------


def _array(argument: ArgumentSpec, value: JSON, locale: str) -> list[JSON] | None:
    if isinstance(value, str):
        listed = _as_list(value)
        value = [value] if listed is None else listed
    if not isinstance(value, list):
        value = [value]
    element = element_of(argument)
    read = [_element(element, each, locale) for each in value]
    return [each for each in read if each is not None] or None


def _element(element: ArgumentSpec | None, value: JSON, locale: str) -> JSON | None:
    if isinstance(value, list) and (element is None or element.type is not ArgumentType.ARRAY):
        return None
    if element is not None:
        return coerce(element, value, locale)
    match value:
        case str():
            return _trimmed(value)
        case dict():
            return _object(value)
        case bool():
            return value
        case _:
            return value if _is_number(value) else None


def _as_list(text: str) -> list[JSON] | None:
    """The list that a text spells out in JSON, or as Python writes it; None for any other text."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")) or len(text) > _LONGEST_TEXT:
        return None
    read = _decoded(text)
    if read is None:
        try:
            read = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    return read if isinstance(read, list) and is_plain(read) else None


def _object(value: JSON) -> dict[str, JSON] | None:
    if isinstance(value, str):
        value = _decoded(value) if len(value) <= _LONGEST_TEXT else None
    return value if isinstance(value, dict) and value and is_plain(value) else None


def _decoded(text: str) -> JSON | None:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_plain(value: JSON) -> bool:
    """Whether ``value`` is JSON that every store and reader takes: finite numbers, text keys, not too deep."""
    level = [value]
    for _ in range(_DEEPEST):
        following: list[JSON] = []
        for each in level:
            match each:
                case dict():
                    if not all(isinstance(key, str) for key in each):
                        return False
                    following.extend(each.values())
                case list():
                    following.extend(each)
                case int() | float() if not isinstance(each, bool):
                    if not _is_number(each):
                        return False
                case None | bool() | str():
                    pass
                case _:
                    return False
        if not following:
            return True
        level = following
    return False
