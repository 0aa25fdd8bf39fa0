"""How the offline model looks at a text: words with their places, clauses, stems, shapes and things that stand out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tooling.demo import offline_words as vocabulary

_WORD = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # an address
    r"|\d{1,4}(?:/\d{1,4})+"  # a date
    r"|\d{1,2}:\d{2}"  # a time
    r"|\d+(?:[.,]\d{1,3}(?!\d))+"  # a number with separators
    r"|[^\W_]+(?:[-'’.][^\W_]+)*"
)
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|«([^»]+)»|(?<!\w)\'([^\']{2,})\'(?!\w)')
_NOT_A_CODE = re.compile(
    r"\d{1,2}h(?:\d{2})?|\d{1,2}(?:o|a|os|as|st|nd|rd|th)|\d+(?:x|kg|g|mg|mcg|km|cm|mm|m|l|ml|gb|mb|am|pm)"
)


def fold(text: str) -> str:
    """``text`` in small letters without accents."""
    bare = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    return bare.casefold()


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    end: int

    @property
    def folded(self) -> str:
        return fold(self.text).replace("’", "").replace("'", "")

    @property
    def is_digits(self) -> bool:
        return self.text.isdigit()

    @property
    def is_code(self) -> bool:
        """Letters and digits in one, as identifiers have it; or digits parted by hyphens."""
        if not any(char.isdigit() for char in self.text) or "/" in self.text or ":" in self.text:
            return False
        if not any(char.isalpha() for char in self.text):
            return "-" in self.text
        return "@" not in self.text and not _NOT_A_CODE.fullmatch(self.folded)

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper()


@dataclass(frozen=True)
class Said:
    """A text with its words; ``gap`` is what stands between two of them."""

    text: str

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return tuple(Word(found.group(), found.start(), found.end()) for found in _WORD.finditer(self.text))

    @cached_property
    def folded(self) -> tuple[str, ...]:
        return tuple(word.folded for word in self.words)

    @cached_property
    def has_telling_capitals(self) -> bool:
        """Whether capitals mean something: not where everything is shouted."""
        letters = [word for word in self.words if word.text.isalpha() and len(word.text) > 1]
        return not letters or any(word.text.islower() for word in letters) or not all(w.text.isupper() for w in letters)

    def gap(self, before: int) -> str:
        """The characters between word ``before - 1`` and word ``before``."""
        return self.text[self.words[before - 1].end : self.words[before].start] if before else ""

    def between(self, start: int, end: int) -> str:
        """The text from word ``start`` up to, not including, word ``end``."""
        return self.text[self.words[start].start : self.words[end - 1].end] if end > start else ""

    def opens_sentence(self, index: int) -> bool:
        return index == 0 or (bool(re.search(r"[.!?\n]", self.gap(index))) and not self._is_title(index - 1))

    def joins(self, index: int) -> bool:
        """Whether word ``index`` directly follows the one before, as the words of a name do."""
        return self.gap(index) in (" ", "-") or (self.gap(index) == ". " and self._is_title(index - 1))

    def _is_title(self, index: int) -> bool:
        return self.words[index].folded in vocabulary.TITLES

    def sentences(self) -> list[tuple[int, int]]:
        """Word ranges of the sentences."""
        stops = (match for match in _SENTENCE_END.finditer(self.text) if not self._ends_title(match.start()))
        ends = [*(match.end() for match in stops), len(self.text)]
        ranges, first = [], 0
        for end in ends:
            last = next((i for i in range(first, len(self.words)) if self.words[i].start >= end), len(self.words))
            if last > first:
                ranges.append((first, last))
            first = last
        return ranges

    def _ends_title(self, place: int) -> bool:
        return any(word.end == place and word.folded in vocabulary.TITLES for word in self.words)


# Phrases and stems ------------------------------------------


def phrase_at(words: Sequence[str], phrases: Iterable[tuple[str, ...]], start: int = 0) -> int:
    """How many words the first of ``phrases`` takes that stands at ``start``; 0 if none does."""
    found = (len(phrase) for phrase in phrases if tuple(words[start : start + len(phrase)]) == phrase)
    return next(found, 0)


def find_phrase(words: Sequence[str], phrases: Iterable[tuple[str, ...]]) -> tuple[int, int] | None:
    """Where one of ``phrases`` stands first: start and end."""
    held = tuple(phrases)
    for start in range(len(words)):
        if length := phrase_at(words, held, start):
            return start, start + length
    return None


def is_akin(one: str, other: str) -> bool:
    """Whether two folded words share a stem: "pedido" and "pedidos", "cancela" and "cancelamento"."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    if longer.rstrip("s") == shorter.rstrip("s"):
        return True
    shared = next((i for i, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))
    return shared >= 5 and shared >= len(shorter) - 3 and len(longer) - shared <= 6


def content_words(text: str) -> list[str]:
    """The folded words of ``text`` that say what it is about."""
    return [word for word in Said(text).folded if word not in vocabulary.STOP and len(word) > 1]


def akin_in(words: Iterable[str]) -> Callable[[str], bool]:
    """A test whether a folded word shares a stem with one of ``words``."""
    known = tuple(dict.fromkeys(words))
    return lambda word: any(is_akin(word, other) for other in known)


def shape_of(text: str) -> str:
    """The form of a text: "PED-1001" and "ABC-7" are "A-9"."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "A", text.strip()))


def has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def starts_as_question(words: Sequence[str]) -> bool:
    """Whether a clause begins as a question, perhaps after an adverb: "antes disso, quais …", "first, which …"."""
    for word in words[:4]:
        if word in vocabulary.QUESTION_STARTS:
            return True
        if word not in vocabulary.BEFORE_QUESTIONS:
            return False
    return False


def is_question(said: Said) -> bool:
    """Whether something is asked, rather than politely requested."""
    words = [word for word in said.folded if word not in {"por", "favor", "please"}]
    if phrase_at(words, vocabulary.POLITE):
        return bool(find_phrase(words, vocabulary.HYPOTHETICAL)) and "?" in said.text
    return "?" in said.text or starts_as_question(words)


def asks_to_see(said: Said) -> bool:
    """Whether it asks to be told or shown something: a question, or "mostra …", "I want to see …"."""
    introducing = vocabulary.FILLERS | vocabulary.WANT | vocabulary.TO | {"me", "eu"}
    first = next((word for word in said.folded if word not in introducing), "")
    return is_question(said) or first in vocabulary.SHOWING


def is_greeting(said: Said) -> bool:
    """Whether nothing is said but a greeting, a thank you or a goodbye."""
    words = set(said.folded)
    return bool(words & vocabulary.GREETINGS) and words <= vocabulary.GREETINGS | vocabulary.COURTESIES


def is_hypothetical(said: Said) -> bool:
    """ "what happens if I …?", "e se eu …?"."""
    return "?" in said.text and bool(find_phrase(said.folded[:4], vocabulary.HYPOTHETICAL))


# Things that stand out ------------------------------------------


@dataclass(frozen=True, slots=True)
class Thing:
    """Words ``start`` to ``end`` that name something by their form: ``kind`` is quoted, code, digits or name."""

    start: int
    end: int
    kind: str


def things_in(said: Said, *, is_grammar: Callable[[str], bool]) -> list[Thing]:
    """Quoted texts, codes, capitalised names and words followed by digits, from left to right.

    ``is_grammar``: folded words that open a request and are no part of a name although they open the sentence.
    """
    found: list[Thing] = _quoted(said)
    taken = {index for thing in found for index in range(thing.start, thing.end)}
    index = 0
    while index < len(said.words):
        thing = None if index in taken else _thing_at(said, index, is_grammar)
        if thing is not None:
            found.append(thing)
        index = thing.end if thing else index + 1
    return sorted(found, key=lambda thing: thing.start)


def _quoted(said: Said) -> list[Thing]:
    things = []
    for match in _QUOTED.finditer(said.text):
        inside = [i for i, word in enumerate(said.words) if match.start() <= word.start and word.end <= match.end()]
        if inside:
            things.append(Thing(inside[0], inside[-1] + 1, "quoted"))
    return things


def _thing_at(said: Said, index: int, is_grammar: Callable[[str], bool]) -> Thing | None:
    word = said.words[index]
    if word.is_code:
        return Thing(index, index + 1, "code")
    if word.is_digits:
        return Thing(index, index + 1, "digits")
    if said.has_telling_capitals and _opens_name(said, index, is_grammar):
        return Thing(index, _name_end(said, index), "name")
    follows = index + 1 < len(said.words) and said.words[index + 1].is_digits and said.gap(index + 1) == " "
    is_plain = word.folded not in vocabulary.STOP and word.folded not in vocabulary.CURRENCY
    if follows and is_plain and not is_grammar(word.folded) and word.text.isalpha() and len(word.text) > 2:
        return Thing(index, index + 2, "name")
    return None


def _opens_name(said: Said, index: int, is_grammar: Callable[[str], bool]) -> bool:
    word = said.words[index]
    if not word.is_capital or not word.text[0].isalpha() or said.text[word.end : word.end + 1] == "$":
        return False
    grammar = word.folded in vocabulary.STOP | vocabulary.FILLERS | vocabulary.HANDLING | vocabulary.SHOWING
    if not said.opens_sentence(index):
        return not grammar or _is_title_article(said, index)
    if grammar or is_grammar(word.folded) or index + 1 >= len(said.words) or not said.joins(index + 1):
        return False
    after = said.words[index + 1]
    if after.folded in vocabulary.NAME_LINKS and after.text.islower():
        return _goes_on(said, index + 2)
    is_little = after.folded in vocabulary.ARTICLES or after.text == "I"
    return after.is_digits or (after.is_capital and not after.is_code and not is_little)


def _is_title_article(said: Said, index: int) -> bool:
    """ "O" of "O pequeno príncipe" inside a sentence."""
    is_article = said.words[index].text in {"O", "A", "Os", "As", "The"}
    return is_article and index + 1 < len(said.words) and said.gap(index + 1) == " "


def _name_end(said: Said, start: int) -> int:
    """One past the last word of the name: capitals, their links, digits, and the small words of a title."""
    end, capitals = start + 1, 1
    while end < len(said.words) and said.joins(end):
        word = said.words[end]
        if word.is_capital or word.is_digits:
            capitals += 1
        elif word.folded in vocabulary.NAME_LINKS:
            if not _goes_on(said, end + 1):
                break
        elif capitals > 1 or word.folded in vocabulary.STOP | vocabulary.TAIL or word.folded.endswith(("mente", "ly")):
            break
        end += 1
    return end


def _goes_on(said: Said, index: int) -> bool:
    """Whether a capital follows a link, perhaps after an article."""
    if index < len(said.words) and said.words[index].folded in vocabulary.ARTICLES:
        index += 1
    return index < len(said.words) and said.words[index].is_capital and said.gap(index) == " "
