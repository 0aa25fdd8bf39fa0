"""Whether a value was said: what a model returns must rest on the user's words (runtime.md §5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from tooling.specs import JSON, ArgumentSpec, ArgumentType
from transactions.core.coercion import element_of, is_date
from transactions.core.explicit import of_language, starts_with_explicit_yes
from transactions.core.folding import fold, numbers_in, read_number, tokens
from transactions.core.phrases import HEDGES, REFERENCES


@dataclass(frozen=True, slots=True)
class Ground:
    """The words and numbers that values may rest on."""

    tokens: frozenset[str]
    numbers: frozenset[Decimal]
    text: str
    """The same, folded, for values that hold no letter and no digit."""
    locale: str


def accepts(message: str, last_assistant_message: str | None, locale: str) -> bool:
    """Whether ``message`` accepts what the assistant said last, so that its words count as the user's.

    It does if it begins with an explicit yes ("sim, esse"), or if it only points: it holds a word that chooses
    ("esse", "o segundo", "both") or a number that the assistant named, and beside it nothing but closed-class words
    and words of the assistant ("o de 14,99"). A negation, a question mark or a code that the assistant did not name
    (a value of its own) accepts nothing.
    """
    said, offered = tokens(message), frozenset(tokens(last_assistant_message or ""))
    if not offered or "?" in message or set(said) & of_language(HEDGES, locale).negations:
        return False
    numbers = {token for token in said if any(char.isdigit() for char in token)}
    if not numbers <= offered:
        return False
    if starts_with_explicit_yes(message, locale, {}):
        return True
    words = of_language(REFERENCES, locale)
    is_pointing = bool(numbers or words.pointing & set(said))
    return is_pointing and set(said) <= words.pointing | words.around | offered


def ground_of(message: str, last_assistant_message: str | None, locale: str, *, known: JSON = None) -> Ground:
    """The ground of a turn; ``known`` is a value that the user gave before and may only be adding to."""
    texts = [message, *(_text_of(leaf) for leaf in _leaves(known))]
    if last_assistant_message and accepts(message, last_assistant_message, locale):
        texts.append(last_assistant_message)
    return Ground(
        tokens=frozenset(token for text in texts for token in tokens(text)),
        numbers=frozenset(number for text in texts for number in numbers_in(text, locale)) | _numbers(known),
        text="\n".join(fold(text) for text in texts),
        locale=locale,
    )


def grounded(value: JSON, argument: ArgumentSpec | None, ground: Ground) -> JSON | None:
    """``value``, or what of a list or an object rests on ``ground``; None if nothing does.

    Values of an enum, booleans and dates are exempt: the model translates the user's words into them.
    ``argument`` None is an undeclared part of a list or an object.
    """
    if argument is not None and argument.type is not ArgumentType.ARRAY and (argument.enum or is_date(argument)):
        return value
    match value:
        case bool():
            return value
        case str():
            return value if _is_said(value, ground) else None
        case int() | float():
            return value if Decimal(str(value)) in ground.numbers else None
        case list():
            element = element_of(argument) if argument is not None else None
            kept = [grounded(each, element, ground) for each in value]
            return [each for each in kept if each is not None] or None
        case dict():
            parts = {name: grounded(each, None, ground) for name, each in value.items()}
            return {name: each for name, each in parts.items() if each is not None} or None
        case _:
            return None


def _is_said(value: str, ground: Ground) -> bool:
    said = tokens(value)
    if not said:
        return fold(value).strip() in ground.text
    # A number kept as text may be written otherwise in the message: "1234.56" for "1.234,56".
    return ground.tokens.issuperset(said) or read_number(value, ground.locale) in ground.numbers


def _leaves(value: JSON) -> Iterator[JSON]:
    match value:
        case dict():
            for each in value.values():
                yield from _leaves(each)
        case list():
            for each in value:
                yield from _leaves(each)
        case _:
            yield value


def _text_of(leaf: JSON) -> str:
    return leaf if isinstance(leaf, str) else ""


def _numbers(known: JSON) -> frozenset[Decimal]:
    return frozenset(
        Decimal(str(leaf)) for leaf in _leaves(known) if isinstance(leaf, int | float) and not isinstance(leaf, bool)
    )
