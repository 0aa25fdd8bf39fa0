"""Hiding who the customer is: the values of the signed identity, wherever they stand in a text or in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tooling.specs import JSON

SHORTEST_INSIDE = 4
"""A value shorter than this is hidden where it stands alone, and not inside longer texts: "7" is everywhere."""


def hidden(value: str) -> str:
    """So much of ``value`` as tells two customers apart: its last three characters; empty stays empty."""
    if not value:
        return ""
    return "•••" + (value[-3:] if len(value) > 5 else value[-1:])


def customer_in(identity: Mapping[str, JSON]) -> str:
    """The one value by which people call the customer of a signed identity; empty: anonymous."""
    return str(identity.get("customer_key") or next(iter(identity.values()), ""))


@dataclass(frozen=True, slots=True)
class Mask:
    """Hides the values of one customer's identity; without any, everything stays as it is."""

    whole: Mapping[str, str]
    inside: re.Pattern[str] | None

    def text(self, text: str) -> str:
        """``text`` with every value hidden, in any case of letters, where it stands as a word of its own."""
        alone = self.whole.get(text.casefold())
        if alone is not None:
            return alone
        return self.inside.sub(lambda found: hidden(found[0]), text) if self.inside else text

    def json(self, value: JSON) -> JSON:
        """A copy of ``value`` in which no text, number or key tells who the customer is."""
        match value:
            case str():
                return self.text(value)
            case bool() | None:
                return value
            case int() | float():
                return self.whole.get(str(value), value)
            case list():
                return [self.json(one) for one in value]
            case dict():
                return {self.text(key): self.json(one) for key, one in value.items()}
            case _:
                return value


def mask_of(identity: Mapping[str, JSON]) -> Mask:
    """The mask for the customer with this signed identity."""
    values = sorted({value for value in _leaves(identity) if value}, key=len, reverse=True)
    long = [re.escape(value) for value in values if len(value) >= SHORTEST_INSIDE]
    inside = re.compile(rf"(?<!\w)(?:{'|'.join(long)})(?!\w)", re.IGNORECASE) if long else None
    return Mask({value.casefold(): hidden(value) for value in values}, inside)


NOTHING_HIDDEN = Mask({}, None)


def _leaves(value: JSON) -> Iterator[str]:
    match value:
        case bool() | None:
            return
        case str():
            yield value.strip()
        case int() | float():
            yield str(value)
        case list():
            for one in value:
                yield from _leaves(one)
        case dict():
            for one in value.values():
                yield from _leaves(one)
