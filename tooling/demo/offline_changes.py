"""What a reply to a confirmation adds to a known value or puts in its place: "e também o B", "troca o A pelo B"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tooling.demo import offline_words as vocabulary
from tooling.demo.offline_clauses import (
    Clause,
    Group,
    Test,
    clauses_of,
    groups_in,
    is_new_request,
    lead_of,
    orders_something,
    pieces,
    trimmed,
)
from tooling.demo.offline_text import Said, find_phrase, has_digit, is_question, phrase_at, shape_of

_LONGEST = 4
"""The words of a thing that is named without capitals or digits."""
_COURTEOUS = vocabulary.FILLERS | vocabulary.ARTICLES


@dataclass(frozen=True)
class Change:
    """A message read against the known ``parameters``; ``labels`` are the items that they stand for.

    ``is_known`` knows the words of the operation. What a change gives is always the whole new value.
    """

    said: Said
    parameters: Mapping[str, Any]
    labels: tuple[str, ...]
    is_known: Test

    def values(self) -> dict[str, Any]:
        """The new value of the parameter that the message changes, by name; empty if it changes none."""
        return self._replaced() or self._added()

    # Something in the place of something ------------------------------------------

    def _replaced(self) -> dict[str, Any]:
        for old, new in self._exchanges:
            for name, value in self.parameters.items():
                changed = _with(value, old, new)
                if changed is not None and changed != value:
                    return {name: changed}
        return {}

    @cached_property
    def _exchanges(self) -> list[tuple[list[str], list[str]]]:
        """What is to go and what is to come, in each way in which the message can be read."""
        words, end = self.said.folded, len(self.said.words)
        found: list[tuple[list[str], list[str]]] = []
        verb = next((i for i, word in enumerate(words) if word in vocabulary.SWAPPING), None)
        if verb is not None:
            links = [i for i in range(verb + 2, end) if words[i] in vocabulary.SWAP_LINKS]
            for link in links:
                new = self._named(link + 1, end)
                found += [(self._literally(verb + 1, link), new), (self._named(verb + 1, link), new)]
        if place := find_phrase(words, vocabulary.INSTEAD_OF):
            start, after = place
            cut = next((i for i in range(after + 1, end) if "," in self.said.gap(i)), end)
            found.append((self._named(after, cut), self._named(0, start) or self._named(cut, end)))
        found += self._denied
        return [(old, new) for old, new in found if old and new]

    @property
    def _denied(self) -> list[tuple[list[str], list[str]]]:
        """ "não é o A, é o B", "not A but B"."""
        words, end = self.said.folded, len(self.said.words)
        start = next((i for i, word in enumerate(words) if word in vocabulary.NEGATIONS - {"no"}), None)
        if start is None or any(
            word not in _COURTEOUS and not self._is_copula(i) for i, word in enumerate(words[:start])
        ):
            return []
        turns = [i for i in range(start + 2, end) if words[i] in {"mas", "but"} or self._is_copula(i)]
        return [(self._named(start + 1, turn), self._named(turn + 1, end)) for turn in turns]

    def _is_copula(self, index: int) -> bool:
        return self.said.words[index].text.casefold() in vocabulary.COPULAS

    def _named(self, start: int, end: int) -> list[str]:
        """The things that the words from ``start`` to ``end`` list, without what stands around them."""
        while start < end and self._is_quiet(start):
            start += 1
        first, last = trimmed(self.said, start, end)
        if first >= last:
            return []
        inside = self._groups(Clause(first, last))
        if inside:
            return [piece for group in inside for piece in self._pieces(group)]
        return pieces(self.said, first, last, (), is_kind=self.is_known) if last - first <= _LONGEST else []

    def _literally(self, start: int, end: int) -> list[str]:
        while start < end and self._is_quiet(start):
            start += 1
        return [self.said.between(start, end)] if start < end else []

    def _is_quiet(self, index: int) -> bool:
        """A word that introduces a thing; a capital article is the first word of a title."""
        is_quiet = self.said.folded[index] in _COURTEOUS | {"sim", "que"} and self.said.words[index].text.islower()
        return is_quiet or self._is_copula(index)

    def _groups(self, clause: Clause) -> list[Group]:
        return groups_in(self.said, clause, is_operation=self.is_known, is_kind=lambda word: False)

    def _pieces(self, group: Group) -> list[str]:
        return pieces(self.said, group.start, group.end, group.things, is_kind=lambda word: False)

    @property
    def is_exchange(self) -> bool:
        """Whether one thing is told to stand in the place of another."""
        return bool(self._exchanges)

    # Something besides ------------------------------------------

    def _added(self) -> dict[str, Any]:
        """The whole value where something is wanted besides: "põe também o B", "and B as well"."""
        if not self.is_adding:
            return {}
        known = {w for text in (*map(str, self.parameters.values()), *self.labels) for w in Said(text).folded}
        new = [piece for piece in self._wanted if not set(Said(piece).folded) <= known]
        name = self._taking(new)
        if not name:
            return {}
        value = self.parameters[name]
        return {name: [*self._staying(value), *new] if isinstance(value, list) else ", ".join([value, *new])}

    @property
    def is_adding(self) -> bool:
        """Whether the words want something besides."""
        words = self.said.folded
        if is_question(self.said) or self.is_for_another:
            return False
        opens = next((word for word in words if word not in vocabulary.FILLERS - {"e", "and"}), "")
        return bool(set(words) & vocabulary.ADDING or find_phrase(words, vocabulary.ADDING_PHRASES) or opens in _ALSO)

    @property
    def is_for_another(self) -> bool:
        """Whether another operation is wished for, so that what is named belongs to that one."""
        return any(
            is_new_request(self.said, clause, is_operation=self.is_known)
            or orders_something(self.said, clause, is_operation=self._is_own, is_kind=lambda word: False)
            for clause in clauses_of(self.said)
        )

    def _is_own(self, word: str) -> bool:
        return self.is_known(word) or word in vocabulary.SWAPPING | vocabulary.ADDING_VERBS | vocabulary.REMOVING

    @cached_property
    def _wanted(self) -> list[str]:
        """The things that are named and not told to stay out."""
        whole = Clause(0, len(self.said.words))
        groups = self._groups(whole)
        if groups:
            return [piece for group in groups if not self._is_left_out(group.start) for piece in self._pieces(group)]
        lead = lead_of(self.said, whole, is_operation=self.is_known, is_kind=lambda word: False)
        start, end = trimmed(self.said, lead.end, whole.end)
        words = self.said.folded[start:end]
        is_named = 0 < len(words) <= _LONGEST and not set(words) & (vocabulary.STOP - {"mais", "do", "da", "de"})
        orders = set(self.said.folded[:start]) & vocabulary.ADDING_VERBS
        return [self.said.between(start, end)] if is_named and orders and not lead.is_open else []

    def _is_left_out(self, index: int) -> bool:
        """Whether the last thing said before word ``index`` that bears on it is an exclusion or a no."""
        before = self.said.folded[:index]
        out = max((i for i in range(index) if phrase_at(before, (*vocabulary.EXCLUDING, *_NO), i)), default=-1)
        back = max((i for i, word in enumerate(before) if word in vocabulary.ADDING_VERBS | {"mas", "but"}), default=-1)
        is_denied_verb = out >= 0 and out + 1 == back
        return out > back or is_denied_verb

    def _staying(self, value: list[Any]) -> list[Any]:
        """The known elements, without those that the same message tells to leave out."""
        places = [group for group in self._groups(Clause(0, len(self.said.words))) if self._is_left_out(group.start)]
        gone = {piece.casefold() for group in places for piece in self._pieces(group)}
        return [each for each in value if str(each).casefold() not in gone]

    def _taking(self, new: Sequence[str]) -> str:
        """The parameter that can hold ``new`` besides what it holds; a text that is one code can hold no other."""
        if not new:
            return ""
        lists = [name for name, value in self.parameters.items() if isinstance(value, list)]
        fitting = [
            name for name in lists if {shape_of(str(v)) for v in self.parameters[name]} & set(map(shape_of, new))
        ]
        if fitting or lists:
            return (fitting or lists)[0] if fitting or len(lists) == 1 else ""
        texts = [name for name, value in self.parameters.items() if isinstance(value, str) and not _is_one_code(value)]
        return texts[0] if len(self.parameters) == len(texts) == 1 else ""


_ALSO = frozenset({"e", "and", "mais", "plus"})
_NO = (("nao",), ("not",), ("dont",), ("never",), ("nunca",))


def _is_one_code(value: str) -> bool:
    words = Said(value).words
    return len(words) == 1 and has_digit(value)


def _with(value: Any, old: Sequence[str], new: Sequence[str]) -> Any:
    """``value`` with ``new`` where ``old`` stood, or None if it does not hold every one of ``old``."""
    if isinstance(value, str):
        return _with_text(value, old, new)
    if not isinstance(value, list):
        return None
    places = [_place(value, each) for each in old]
    if any(place is None for place in places):
        return None
    kept: list[Any] = []
    for index, each in enumerate(value):
        kept += list(new) if index == places[0] else [each] if index not in places else []
    return list({str(each).casefold(): each for each in kept}.values())


def _place(value: Sequence[Any], text: str) -> int | None:
    """Where the list holds ``text``: as a whole element, else as a part of exactly one."""
    wanted = Said(text).folded
    whole = [i for i, each in enumerate(value) if Said(str(each)).folded == wanted]
    parts = [i for i, each in enumerate(value) if find_phrase(Said(str(each)).folded, [wanted])]
    found = whole or parts
    return found[0] if len(found) == 1 and wanted else None


def _with_text(value: str, old: Sequence[str], new: Sequence[str]) -> str | None:
    held = Said(value)
    if len(old) != 1 or not Said(old[0]).folded:
        return None
    place = find_phrase(held.folded, [Said(old[0]).folded])
    if place is None:
        return None
    start, end = held.words[place[0]].start, held.words[place[1] - 1].end
    return value[:start] + ", ".join(new) + value[end:]
