"""What an extraction request asks for: the message, the pending names, and the words that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from tooling.demo import offline_words as vocabulary
from tooling.demo.offline_text import Said, akin_in, content_words, has_digit
from tooling.demo.offline_values import is_plain_text


def text_in(payload: Mapping[str, Any], key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class Question:
    """A request of ``transaction_parameter_extraction``, read without trusting its shape."""

    payload: Mapping[str, Any]
    today: date

    @cached_property
    def said(self) -> Said:
        return Said(text_in(self.payload, "message"))

    @cached_property
    def last(self) -> str:
        return text_in(self.payload, "last_assistant_message")

    @cached_property
    def locale(self) -> str:
        return text_in(self.payload, "locale") or "en"

    @cached_property
    def pending(self) -> list[str]:
        names = self.payload.get("pending")
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []

    def declared(self, name: str) -> Mapping[str, Any]:
        schema = self.payload.get("schema")
        found = schema.get(name) if isinstance(schema, dict) else None
        return found if isinstance(found, dict) else {}

    def described(self, name: str) -> str:
        return f"{self.declared(name).get('label', '')}. {self.declared(name).get('description', '')}"

    @cached_property
    def is_asked(self) -> bool:
        """Whether the user was just asked something: only then a bare text is an answer."""
        return "?" in self.last

    @cached_property
    def asked(self) -> str:
        """The pending name that the question was about: the one it shares most words with, else the first."""
        heard = akin_in(content_words(self.last))
        shared = {name: sum(map(heard, content_words(self.described(name)))) for name in self.pending}
        return max(self.pending, key=lambda name: (shared[name], -self.pending.index(name)), default="")

    @cached_property
    def open_names(self) -> list[str]:
        """Pending names that take texts or lists of them: the one that was asked for first."""
        takes = [
            name
            for name in self.pending
            if is_plain_text(self.declared(name)) or self.declared(name).get("type") == "array"
        ]
        return sorted(takes, key=lambda name: name != self.asked)

    def is_list(self, name: str) -> bool:
        return self.declared(name).get("type") == "array"

    def is_coded(self, name: str) -> bool:
        """Whether the description expects something with digits: it says "number" or shows an example with some."""
        words = set(Said(self.described(name)).folded)
        if words & vocabulary.NAME_HINTS:
            return False
        return bool(words & vocabulary.CODE_HINTS) or any(has_digit(word) for word in words)

    @cached_property
    def is_query(self) -> bool:
        """Whether the operation only tells something, as its description says with its first word."""
        first = Said(text_in(self.payload, "tool_description")).folded[:1]
        return any(map(akin_in(vocabulary.TELLING), first))

    @cached_property
    def is_operation(self) -> Callable[[str], bool]:
        """Knows the words of the operation, and of the question that was asked about it."""
        texts = [text_in(self.payload, "tool_description"), self.last if self.is_asked else ""]
        own = vocabulary.SHOWING if self.is_query else ()
        return akin_in([*own, *(word for text in texts for word in content_words(text) if not has_digit(word))])

    @cached_property
    def is_kind(self) -> Callable[[str], bool]:
        """Knows the words for the kinds of things that are pending."""
        described = (self.described(name) for name in self.open_names)
        return akin_in(word for text in described for word in content_words(text) if not has_digit(word))
