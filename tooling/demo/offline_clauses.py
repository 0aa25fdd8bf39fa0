"""The grammar of an answer: its clauses, what introduces a value, and the span of words that is the value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tooling.demo import offline_words as vocabulary
from tooling.demo.offline_text import Said, Thing, has_digit, phrase_at, starts_as_question, things_in

Test = Callable[[str], bool]
_OF = frozenset({"de", "da", "do", "das", "dos"})
"""After an article they stand for a kind that is left out: "a de cardiologia"."""
_OPENERS = vocabulary.FILLERS | {"depois", "me", "eu"}


@dataclass(frozen=True, slots=True)
class Clause:
    """Words ``start`` to ``end`` of a text; ``is_question``: something is asked in it."""

    start: int
    end: int
    is_question: bool = False


def clauses_of(said: Said) -> list[Clause]:
    """The sentences, cut where a further wish or a question begins."""
    found: list[Clause] = []
    for start, end in said.sentences():
        cuts = [start, *(i for i in range(start + 1, end) if _begins_anew(said, i, end)), end]
        for first, last in pairwise(cuts):
            after = said.words[last].start if last < len(said.words) else len(said.text)
            is_asked = last == end and "?" in said.text[said.words[last - 1].end : after]
            found.append(Clause(first, last, is_asked or starts_as_question(said.folded[first:last])))
    return found


def _begins_anew(said: Said, index: int, end: int) -> bool:
    word = said.folded[index]
    joins = word in {"e", "and", "mas", "but", "depois", "then"} and said.words[index].text not in vocabulary.COPULAS
    if not joins and "," not in said.gap(index):
        return False
    if word in {"mas", "but"}:
        return True
    after = _past(said, index, end, vocabulary.FILLERS | {"depois", "then", "me", "eu", "i"})
    if after >= end:
        return False
    follows = said.folded[after]
    return follows in vocabulary.WANT | vocabulary.SHOWING | vocabulary.INTERROGATIVES


def _past(said: Said, index: int, end: int, skipped: frozenset[str]) -> int:
    while index < end and said.folded[index] in skipped:
        index += 1
    return index


# What introduces a value ------------------------------------------


@dataclass(frozen=True, slots=True)
class Lead:
    """Where the value begins. ``is_request``: a wish or an order was read on the way; ``named``: a kind of thing."""

    end: int
    is_request: bool = False
    named: bool = False
    is_new: bool = False
    """The wish is for something that the operation does not do."""
    is_open: bool = False
    """The thing is introduced as any, or as one's own: "um pedido", "my orders"."""


def lead_of(said: Said, clause: Clause, *, is_operation: Test, is_kind: Test) -> Lead:
    """Read over what stands before a value: fillers, the wish with its verb, copulas, articles, the kind of thing.

    ``is_operation`` knows the words of the operation, ``is_kind`` the words for what is asked for.
    """
    index, is_request, named, is_new, is_open = clause.start, False, False, False, False
    while index < clause.end:
        word = said.folded[index]
        after = said.folded[index + 1] if index + 1 < clause.end else ""
        if length := phrase_at(said.folded, vocabulary.CORRECTIONS, index):
            index += length
        elif word in vocabulary.WANT:
            index, verb = _verb(said, index + 1, clause.end)
            is_request = True
            is_new = is_new or (bool(verb) and not (is_operation(verb) or is_kind(verb) or verb in vocabulary.HANDLING))
        elif word in vocabulary.SHOWING:
            index, is_request, is_new = index + 1, True, not is_operation(word)
        elif (_is_copula(said, index) and after not in vocabulary.DEGREES) or word in _OPENERS:
            index += 1
        elif word in vocabulary.DEFINITE and after in _OF:
            index, named, is_open = index + 2, True, False
        elif word in vocabulary.ARTICLES | vocabulary.POSSESSIVE:
            is_open = word in vocabulary.INDEFINITE | vocabulary.POSSESSIVE
            index += 1
        elif word in vocabulary.HANDLING and not is_request:
            index, is_request = index + 1, True
        elif word in vocabulary.CODE_HINTS:
            index, named = _past(said, index + 1, clause.end, vocabulary.LINKS), True
        elif is_kind(word) and after not in vocabulary.LINKS:
            index, named = index + 1, True
        elif is_operation(word) and not (named or is_kind(word)):
            index, is_request = index + 1, True
        else:
            break
    return Lead(index, is_request, named, is_new, is_open)


def _verb(said: Said, index: int, end: int) -> tuple[int, str]:
    """Past the verb after a word of wanting, and that verb; "" where a thing is wanted directly."""
    index = _past(said, index, end, vocabulary.TO | vocabulary.FILLERS | vocabulary.WANT)
    if index >= end:
        return index, ""
    word, before = said.folded[index], said.folded[index - 1]
    is_infinitive = len(word) > 2 and word.endswith(("ar", "er", "ir", "or")) and not said.words[index].is_capital
    if before == "to" or is_infinitive or word in vocabulary.SHOWING | vocabulary.HANDLING:
        return index + 1, word
    return index, ""


def is_new_request(said: Said, clause: Clause, *, is_operation: Test) -> bool:
    """Whether the clause wishes for something else than the operation: "quero ver …", "show me …"."""
    index = _past(
        said, clause.start, clause.end, vocabulary.FILLERS | {"depois", "then", "me", "eu", "i", "can", "you"}
    )
    if index > clause.start and said.folded[index - 1] in vocabulary.WANT:
        index -= 1
    if index >= clause.end:
        return False
    if said.folded[index] in vocabulary.SHOWING:
        return not is_operation(said.folded[index])
    if said.folded[index] not in vocabulary.WANT:
        return False
    _, verb = _verb(said, index + 1, clause.end)
    return bool(verb) and verb not in vocabulary.HANDLING and not is_operation(verb)


def orders_something(said: Said, clause: Clause, *, is_operation: Test, is_kind: Test) -> bool:
    """Whether the clause opens with a verb, unknown to the operation, that is to happen to a thing: "renova o B"."""
    opening = vocabulary.FILLERS | {"depois", "me", "eu", "i", "pra", "to"}
    verb = _past(said, clause.start, clause.end, opening)
    if verb + 1 >= clause.end or not _may_be_verb(said, verb) or is_operation(said.folded[verb]):
        return False
    if is_kind(said.folded[verb]):
        return False
    index = verb + 1
    while index < clause.end and _introduces(said.folded[index], lambda word: is_kind(word) or is_operation(word)):
        index += 1
    things = {t.start: t for t in things_in(said, is_grammar=lambda word: is_operation(word) or is_kind(word))}
    if index >= clause.end or index not in things or things[index].kind == "digits":
        return False
    is_told = index > verb + 1 or said.folded[verb].endswith(("ar", "er", "ir"))
    return is_told or (things[index].kind == "code" and not said.folded[verb].endswith("s"))


def _introduces(word: str, is_kind: Test) -> bool:
    small = vocabulary.ARTICLES | vocabulary.POSSESSIVE | vocabulary.CODE_HINTS | {"ai", "la"}
    return word in small or (is_kind(word) and not has_digit(word))


def _may_be_verb(said: Said, index: int) -> bool:
    """An order by its form: no small word, and neither "I do" nor "I did"."""
    word, text = said.folded[index], said.words[index].text
    known = vocabulary.STOP | vocabulary.WANT | vocabulary.DOING | vocabulary.SHOWING | vocabulary.INTERROGATIVES
    nouns = vocabulary.CODE_HINTS | vocabulary.CODED_THINGS | vocabulary.ORDINALS.keys() | vocabulary.LAST
    if not text.isalpha() or len(word) < 3 or word in known | nouns | vocabulary.BEFORE_QUESTIONS | vocabulary.YES:
        return False
    return not word.endswith(("o", "ei", "i", "ou", "eu", "iu", "ed"))


def trimmed(said: Said, start: int, end: int) -> tuple[int, int]:
    """The range without courtesies at its end and separators at both ends."""
    while end > start and (said.folded[end - 1] in vocabulary.TAIL or _is_separator(said, end - 1)):
        end -= 1
    while start < end and (_is_separator(said, start) or said.folded[start] in {"so", "just", "only"}):
        start += 1
    return start, end


def _is_separator(said: Said, index: int) -> bool:
    word = said.words[index]
    return word.text.islower() and word.folded in vocabulary.AND_OR and not _is_copula(said, index)


def _is_copula(said: Said, index: int) -> bool:
    """As written: "é", not the conjunction that it folds to."""
    return said.words[index].text.casefold() in vocabulary.COPULAS


# Groups of things ------------------------------------------


@dataclass(frozen=True, slots=True)
class Group:
    """Things that are listed together: words ``start`` to ``end``."""

    start: int
    end: int
    things: tuple[Thing, ...]

    @property
    def is_coded(self) -> bool:
        return any(thing.kind in ("code", "digits") for thing in self.things)


def groups_in(said: Said, clause: Clause, *, is_operation: Test, is_kind: Test) -> list[Group]:
    """The things of a clause, grouped where nothing but separators, articles and kinds stands between them."""
    groups: list[list[Thing]] = []
    for thing in things_in(said, is_grammar=lambda word: is_operation(word) or is_kind(word)):
        if not (clause.start <= thing.start and thing.end <= clause.end):
            continue
        if _is_negated(said, clause, thing) or (thing.kind == "digits" and not _names(said, clause, thing, is_kind)):
            continue
        if groups and _is_listed(said, groups[-1][-1].end, thing.start, is_kind):
            groups[-1].append(thing)
        else:
            groups.append([thing])
    return [_widened(said, clause, group, is_operation, is_kind) for group in groups]


def _is_negated(said: Said, clause: Clause, thing: Thing) -> bool:
    index = thing.start - 1
    while index >= clause.start and (said.folded[index] in vocabulary.ARTICLES or _is_copula(said, index)):
        index -= 1
    return index >= clause.start and said.folded[index] in vocabulary.NEGATIONS - {"no"} and thing.start > clause.start


def _names(said: Said, clause: Clause, thing: Thing, is_kind: Test) -> bool:
    """Whether digits stand for a thing: after its kind or another number, or as the whole answer."""
    before = thing.start - 1
    if before >= clause.start and (
        is_kind(said.folded[before]) or said.folded[before] in vocabulary.CODE_HINTS | {"n"}
    ):
        return True
    quiet = vocabulary.STOP | vocabulary.FILLERS
    others = [i for i in range(clause.start, clause.end) if not said.words[i].is_digits]
    return all(said.folded[i] in quiet or said.words[i].is_code or is_kind(said.folded[i]) for i in others)


def _is_listed(said: Said, start: int, end: int, is_kind: Test) -> bool:
    between = said.text[said.words[start - 1].end : said.words[end].start]
    if any(mark in between for mark in ".:!?()$"):
        return False
    quiet = vocabulary.SEPARATORS | vocabulary.ARTICLES | {"de", "da", "do", "of", "com", "with"}
    return all(
        (said.folded[i] in quiet and not _is_copula(said, i)) or is_kind(said.folded[i]) for i in range(start, end)
    )


def _widened(said: Said, clause: Clause, things: list[Thing], is_operation: Test, is_kind: Test) -> Group:
    """The group with listed words at its ends that are not capitalised: "música mais e Craque 10"."""
    start, end = things[0].start, things[-1].end
    if not any(thing.kind in ("code", "digits") for thing in things):
        start = _to_the_left(said, clause, start, is_operation, is_kind)
        end = _to_the_right(said, clause, end, is_operation)
    return Group(start, end, tuple(things))


def _to_the_left(said: Said, clause: Clause, start: int, is_operation: Test, is_kind: Test) -> int:
    index = start - 1
    while index >= clause.start and said.folded[index] in vocabulary.ARTICLES:
        index -= 1
    joined = index >= clause.start and ("," in said.gap(start) or _is_separator(said, index))
    if not joined:
        return start
    lead = lead_of(said, clause, is_operation=is_operation, is_kind=is_kind)
    first = lead.end
    inside = range(first, index + 1)
    if first >= index or any(said.folded[i] in vocabulary.NEGATIONS | vocabulary.WANT for i in inside):
        return start
    return first if _is_list_like(said, first, index) else start


def _is_list_like(said: Said, first: int, last: int) -> bool:
    """Whether the words are short pieces between separators, as a list has them."""
    length = 0
    for index in range(first, last + 1):
        length = 0 if _is_separator(said, index) or (index > first and "," in said.gap(index)) else length + 1
        if length > 4:
            return False
    return True


def _to_the_right(said: Said, clause: Clause, end: int, is_operation: Test) -> int:
    """Past "e tela kids" after the last thing; a comma alone opens a remark, no further element."""
    if end + 1 >= clause.end or not _is_separator(said, end):
        return end
    index = _past(said, end + 1, clause.end, vocabulary.ARTICLES)
    first, blockers = index, (vocabulary.STOP | vocabulary.TAIL) - {"mais"}
    while index < clause.end and said.folded[index] not in blockers and index - first < 3:
        if (index > first and said.gap(index).strip()) or is_operation(said.folded[index]):
            break
        index += 1
    return index if index > first else end


# The pieces of a list ------------------------------------------


def pieces(said: Said, start: int, end: int, things: Sequence[Thing], *, is_kind: Test) -> list[str]:
    """The elements between ``start`` and ``end``, without their articles and kinds; what is quoted stays whole."""
    whole = {i for thing in things for i in range(thing.start + 1, thing.end)}
    found: list[str] = []
    first = start
    for index in range(start, end + 1):
        separates = index < end and index not in whole and _is_separator(said, index)
        parted = index > first and index < end and index not in whole and any(c in said.gap(index) for c in ",;/&+\n")
        if index == end or separates or parted:
            found.append(_piece(said, first, index, is_kind))
            first = index + 1 if separates else index
    return list({piece.casefold(): piece for piece in reversed(found) if piece}.values())[::-1]


def _piece(said: Said, start: int, end: int, is_kind: Test) -> str:
    last = end - 1
    while start < last and said.words[start].text.islower():
        word = said.folded[start]
        if word not in vocabulary.ARTICLES and not is_kind(word):
            break
        start += 1
    return said.between(start, end)


def because_in(said: Said, clause: Clause) -> int | None:
    """Where the words after "porque" or "because" begin, or None."""
    for index in range(clause.start, clause.end - 1):
        if length := phrase_at(said.folded, vocabulary.BECAUSE, index):
            return index + length if index + length < clause.end else None
    return None
