"""Answers ``intent_routing`` by rule: the words that a message shares with the intents on offer (contracts.md §4)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from tooling.demo import offline_words as vocabulary
from tooling.demo.offline_corrections import corrected_values
from tooling.demo.offline_text import (
    Said,
    akin_in,
    asks_to_see,
    find_phrase,
    fold,
    has_digit,
    is_akin,
    is_greeting,
    is_question,
    phrase_at,
    shape_of,
    things_in,
)

SURE, CLEAR, LIKELY, UNSURE = 0.95, 0.9, 0.8, 0.3
_QUIET = vocabulary.STOP - vocabulary.INTERROGATIVES - vocabulary.POSSESSIVE
_WEAK = vocabulary.INTERROGATIVES | vocabulary.POSSESSIVE | vocabulary.SHOWING | vocabulary.HANDLING
"""Words that support a choice between intents but never make one."""
_NEARLY = 0.85
"""An intent that is this near to the best may be the active one's, gone on with."""
_WEAK_SHARE = 0.35
_LETTERS = re.compile(r"[^\W\d_]+")


def routing(payload: Mapping[str, Any]) -> dict[str, Any]:
    """``{decision, intent, confidence, values, reason}``."""
    message = Said(_text(payload.get("message")))
    active = payload.get("active_transaction")
    active = active if isinstance(active, dict) else None
    choice = choice_of(message, tuple(_intents(payload)))
    if active is None:
        return _idle(message, choice)
    return _beside(active, message, choice, _text(payload.get("locale")))


def _idle(message: Said, choice: Choice) -> dict[str, Any]:
    if is_greeting(message):
        return _answer("none", None, CLEAR, "a greeting")
    if choice.best and choice.is_fitting:
        return _answer("shift", choice.best, choice.confidence, "words of the intent")
    return _nowhere(message, choice, "none")


def _nowhere(message: Said, choice: Choice, decision: str) -> dict[str, Any]:
    """Nothing on offer is wanted; what is not wanted by its own words is no question either."""
    if choice.is_refusing:
        return _answer("question" if is_question(message) else "none", None, UNSURE, "a wish that is denied")
    if is_question(message):
        return _answer("question", None, LIKELY, "a question of no intent")
    return _answer(decision, None, UNSURE, "nothing else is clearly wanted")


def _beside(active: Mapping[str, Any], message: Said, choice: Choice, locale: str) -> dict[str, Any]:
    """While a transaction is active: go on unless something else is clearly wanted."""
    opening = next((i for i, word in enumerate(message.folded) if word not in vocabulary.FILLERS - {"nao"}), 0)
    given_up = phrase_at(message.folded, vocabulary.ABANDON, opening)
    if given_up:
        rest = message.between(opening + given_up, len(message.words))
        instead = choice_of(Said(rest), choice.intents)
        return _answer("abandon", instead.best if instead.is_fitting else None, SURE, "given up")
    corrections = corrected_values(active, message, locale=locale)
    if corrections:
        return _answer("continue", None, SURE, "a correction", corrections)
    if is_greeting(message):
        return _answer("none", None, CLEAR, "a greeting")
    if choice.best and choice.is_fitting:
        own = _own_intent(active, choice)
        is_near = own is not None and choice.scores[own] >= _NEARLY * choice.scores[choice.best]
        wanted = own if is_near and not asks_to_see(message) else choice.best
        if wanted == own and not (active.get("known") and _names_anew(active, message)):
            return _answer("continue", None, LIKELY, "the intent that is active")
        if wanted == own or choice.is_clear:
            return _answer("shift", wanted, max(choice.confidence, LIKELY), "another request")
    return _nowhere(message, choice, "continue" if choice.best else "none")


def _told(active: Mapping[str, Any]) -> Said:
    return Said(f"{_text(active.get('tool_description'))} {_text(active.get('tool')).replace('_', ' ')}")


def _own_intent(active: Mapping[str, Any], choice: Choice) -> str | None:
    """The intent on offer that the active transaction belongs to, judged by its description."""
    return Choice(_told(active), choice.intents).best


def _names_anew(active: Mapping[str, Any], message: Said) -> bool:
    """Whether the message names a thing that is not among the known values."""
    known = {word for value in _texts(active.get("known")) for word in Said(value).folded}
    things = things_in(message, is_grammar=akin_in(_told(active).folded))
    return any(message.folded[i] not in known for thing in things for i in range(thing.start, thing.end))


def _answer(
    decision: str, intent: str | None, confidence: float, reason: str, values: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "decision": decision,
        "intent": intent,
        "confidence": round(confidence, 2),
        "values": dict(values) if values else None,
        "reason": reason,
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(values: Any) -> list[str]:
    return [str(value) for value in values.values()] if isinstance(values, dict) else []


# Scoring ------------------------------------------


@dataclass(frozen=True)
class Intent:
    """An intent on offer, with the words it is described by."""

    name: str
    description: str
    examples: tuple[str, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        texts = (self.name.replace("_", " "), self.description, *self.examples)
        return frozenset(word for text in texts for word in Said(text).folded if word not in _QUIET)

    @cached_property
    def _codes(self) -> list[str]:
        return [word.text for example in self.examples for word in Said(example).words if word.is_code]

    @cached_property
    def shapes(self) -> frozenset[str]:
        """The forms of the codes in its examples."""
        return frozenset(map(shape_of, self._codes))

    @cached_property
    def code_stems(self) -> Mapping[str, str]:
        """The letters that its codes begin with, and the form of the code: "ped" and "A-9"."""
        stems = {fold(letters.group()): shape_of(code) for code in self._codes if (letters := _LETTERS.match(code))}
        return {stem: shape for stem, shape in stems.items() if len(stem) > 1}

    @cached_property
    def has_names(self) -> bool:
        """Whether its examples name things by capitals."""
        return any(_has_name(Said(example)) for example in self.examples)

    @cached_property
    def is_asked_as_question(self) -> bool:
        return any(asks_to_see(Said(example)) for example in self.examples)


def _has_name(said: Said) -> bool:
    return any(thing.kind == "name" for thing in things_in(said, is_grammar=lambda word: False))


def _intents(payload: Mapping[str, Any]) -> list[Intent]:
    offered = payload.get("intents")
    found = []
    for each in offered if isinstance(offered, list) else []:
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            examples = each.get("examples")
            texts = [text for text in examples if isinstance(text, str)] if isinstance(examples, list) else []
            found.append(Intent(each["name"], _text(each.get("description")), tuple(texts)))
    return found


@dataclass(frozen=True)
class Choice:
    """How well each intent fits a message: the share of the message's telling words that it is described by."""

    message: Said
    intents: tuple[Intent, ...]
    is_refusing: bool = False
    """Whether a part of what was said, that is not in ``message``, denies an operation."""

    @cached_property
    def scores(self) -> dict[str, float]:
        return {intent.name: self._score(intent) for intent in self.intents}

    @cached_property
    def ranked(self) -> list[tuple[float, str]]:
        return sorted(((score, name) for name, score in self.scores.items()), key=lambda each: (-each[0], each[1]))

    @property
    def best(self) -> str | None:
        return self.ranked[0][1] if self.ranked and self.ranked[0][0] > 0 else None

    @cached_property
    def _lead(self) -> float:
        """How far the best is ahead of the second: 0 a draw, 1 alone."""
        first = self.ranked[0][0]
        return (first - self.ranked[1][0]) / first if len(self.ranked) > 1 and first else 1.0

    @property
    def confidence(self) -> float:
        """High where much is shared, or little but with one intent alone; never above SURE."""
        if self.best is None:
            return UNSURE
        share = min(1.0, self.ranked[0][0] / max(self._weight_of_all, 0.01))
        return min(SURE, 0.25 + 0.35 * min(1.0, share / 0.45) + 0.35 * min(1.0, self._lead / 0.35))

    @property
    def is_clear(self) -> bool:
        return self.confidence >= 0.65

    @property
    def is_fitting(self) -> bool:
        """A question fits only an intent that is asked as one: "what happens if I cancel?" cancels nothing."""
        intent = next((each for each in self.intents if each.name == self.best), None)
        if intent is None or self.confidence < 0.5:
            return False
        if find_phrase(self.message.folded[:4], vocabulary.HYPOTHETICAL) and "?" in self.message.text:
            return False
        return intent.is_asked_as_question or not asks_to_see(self.message)

    @cached_property
    def _telling(self) -> dict[str, float]:
        """The message's words with their weight: rare among the intents is heavy, names and unknown codes are light."""
        things = things_in(self.message, is_grammar=self._is_described)
        named = {i for thing in things for i in range(thing.start, thing.end)}
        found: dict[str, float] = {}
        for index, word in enumerate(self.message.folded):
            if word in _QUIET or has_digit(word) or (word in found and index in named):
                continue
            described = sum(1 for intent in self.intents if akin_in(intent.words)(word))
            if described == 0 and (index in named or word in _WEAK):
                continue
            weight = math.log((len(self.intents) + 1) / (described + 0.5)) if described else 0.7
            found[word] = max(weight, 0.05) * (_WEAK_SHARE if word in _WEAK else 1.0)
        return found

    @cached_property
    def _is_described(self) -> Callable[[str], bool]:
        return akin_in(word for intent in self.intents for word in intent.words)

    @cached_property
    def _weight_of_all(self) -> float:
        return sum(self._telling.values())

    def _score(self, intent: Intent) -> float:
        shared = [word for word in self._telling if akin_in(intent.words)(word)]
        if not shared:
            return 0.0
        codes = self._codes
        by_shape = 0.4 if codes & intent.shapes else 0.0
        if not by_shape and all(word in _WEAK for word in shared) and not self._is_in_example(intent):
            return 0.0
        asked = 0.15 if asks_to_see(self.message) and intent.is_asked_as_question else 0.0
        by_name = 0.3 if not codes and intent.has_names and _has_name(self.message) else 0.0
        return sum(self._telling[word] for word in shared) + by_shape + by_name + asked

    @cached_property
    def _codes(self) -> set[str]:
        """The forms of the codes that are named; "ped 1001" is one where an intent's examples have "PED-1"."""
        words = self.message.words
        found = {shape_of(word.text) for word in words if word.is_code}
        stems = {stem: shape for intent in self.intents for stem, shape in intent.code_stems.items()}
        pairs = pairwise(self.message.folded)
        return found | {stems[word] for word, after in pairs if word in stems and after.isdigit()}

    def _is_in_example(self, intent: Intent) -> bool:
        """Whether the message is nearly one of the examples, though made of weak words."""
        said = [word for word in self.message.folded if word not in vocabulary.ARTICLES]
        return len(said) > 2 and any(_covers(Said(example).folded, said) for example in intent.examples)


def choice_of(message: Said, intents: tuple[Intent, ...]) -> Choice:
    """The choice for what is wanted: without the parts of the message that deny an operation of the intents."""
    described = akin_in(word for intent in intents for word in intent.words)
    parts = _parts(message)
    kept = [(start, end) for start, end in parts if not _denies(message, start, end, described)]
    if len(kept) == len(parts):
        return Choice(message, intents)
    return Choice(Said(", ".join(message.between(start, end) for start, end in kept)), intents, is_refusing=True)


def _parts(said: Said) -> list[tuple[int, int]]:
    """The word ranges between sentence ends, commas and words of contrast."""
    parts: list[tuple[int, int]] = []
    for start, end in said.sentences():
        inner = range(start + 1, end)
        cuts = [i for i in inner if any(c in said.gap(i) for c in ",;") or said.folded[i] in vocabulary.CONTRAST]
        parts += pairwise([start, *cuts, end])
    return parts


def _denies(said: Said, start: int, end: int, described: Callable[[str], bool]) -> bool:
    """Whether the words open with a no and the order or the wish for an operation: "não cancele …", "don't …"."""
    index = start
    while index < end and said.folded[index] in vocabulary.BEFORE_NO:
        index += 1
    if index >= end or said.folded[index] not in vocabulary.NEGATIONS - {"no", "nor"}:
        return False
    is_portuguese = said.folded[index] in vocabulary.PORTUGUESE_NO
    index += 1
    while index < end and said.folded[index] in vocabulary.AFTER_NO:
        index += 1
    if index >= end:
        return False
    verb = said.folded[index]
    # The past tells what did not happen, and is no wish: "não recebi …".
    is_verb = not is_portuguese or verb.endswith(("ar", "er", "ir", "or", "a", "e", "am", "em"))
    return is_verb and verb not in vocabulary.STOP and described(verb)


def _covers(words: Sequence[str], said: Sequence[str]) -> bool:
    return all(any(is_akin(word, other) for other in words) for word in said)
