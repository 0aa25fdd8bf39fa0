"""Explicit words: the yes, the no and the word that names both, read without any model (runtime.md §6.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeVar

from tooling.specs import Phrases
from transactions.core.folding import Clause, clauses, language_of, tokens, words
from transactions.core.phrases import ESCAPES, FALLBACK_LANGUAGE, FILLERS, HEDGES, SHIPPED, Hedges

_T = TypeVar("_T")


def of_language(lists: Mapping[str, _T], locale: str) -> _T:
    """The list of the locale's language, else the fallback's."""
    return lists.get(language_of(locale)) or lists[FALLBACK_LANGUAGE]


def explicit_answer(message: str, locale: str, phrases: Mapping[str, Phrases]) -> Literal["confirm", "reject"] | None:
    """What the whole ``message`` says, if it is a phrase of the closed list of the conversation's language.

    ``phrases`` are the additions of the release, by locale; those of the same language count. A phrase that stands
    in both lists rejects: in doubt nothing is executed.
    """
    said = words(message)
    if not said:
        return None
    if said in _folded(phrase for own in _lists(locale, phrases) for phrase in own.reject):
        return "reject"
    if said in _folded(phrase for own in _lists(locale, phrases) for phrase in own.confirm):
        return "confirm"
    return None


def starts_with_explicit_yes(message: str, locale: str, phrases: Mapping[str, Phrases]) -> bool:
    """Whether ``message`` begins with a phrase of the confirm list that nothing after it takes back.

    The yes is void if it is asked ("sim?"), negated ("claro que não"), conditional ("sim, se for grátis"), narrowed
    or delayed ("sim, mas sem o segundo", "sim mas espera"), or followed by a no. A later question leaves it standing.
    """
    hedges = of_language(HEDGES, locale)
    first, *later = _split(clauses(message), hedges) or (Clause((), False),)
    yes = _folded(phrase for own in _lists(locale, phrases) for phrase in own.confirm)
    length = max((len(phrase) for phrase in yes if first.words[: len(phrase)] == phrase), default=0)
    rest = first.words[length:]
    if not length or first.is_question or (rest[:1] and rest[0] in hedges.tentative):
        return False
    if set(rest) & (hedges.negations | hedges.limits | hedges.conditions):
        return False
    no = _folded(phrase for own in _lists(locale, phrases) for phrase in own.reject)
    return not any(_takes_back(clause, hedges, no) for clause in later)


def is_ambiguous(message: str, question_text: str, locale: str) -> bool:
    """Whether the whole message is a word that names both the escape and the operation of the open question.

    The words of all shipped languages count, whatever the ``locale``: the answer is only another question.
    """
    said = [word for word in words(message) if word not in FILLERS]
    if not said:
        return False
    asked = tokens(question_text)
    return any(
        all(word in escape.words for word in said) and any(token.startswith(escape.names) for token in asked)
        for escape in ESCAPES
    )


def _lists(locale: str, phrases: Mapping[str, Phrases]) -> list[Phrases]:
    own = [added for key, added in phrases.items() if language_of(key) == language_of(locale)]
    return [of_language(SHIPPED, locale), *own]


def _folded(phrases: Iterable[str]) -> set[tuple[str, ...]]:
    return {words(phrase) for phrase in phrases} - {()}


def _split(said: Iterable[Clause], hedges: Hedges) -> list[Clause]:
    """The clauses cut once more, before their conjunctions; only the last part of a clause is the question."""
    parts: list[Clause] = []
    for clause in said:
        start = 0
        for index, word in enumerate(clause.words):
            if word in hedges.conjunctions and index > start:
                parts.append(Clause(clause.words[start:index], False))
                start = index
        parts.append(Clause(clause.words[start:], clause.is_question))
    return parts


def _takes_back(clause: Clause, hedges: Hedges, no: set[tuple[str, ...]]) -> bool:
    said = clause.words[1:] if clause.words[0] in hedges.conjunctions else clause.words
    if said in no or set(said) & hedges.limits or set(said[:1]) & hedges.conditions:
        return True
    return not clause.is_question and bool(set(said) & hedges.negations)
