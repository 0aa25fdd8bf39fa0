"""Answers ``transaction_parameter_extraction`` and ``mcp_parameter_extraction`` by rule (contracts.md §4).

Nothing is known here but grammar: the names, types, labels and descriptions of the request, the question that was
asked, and the forms of words. In doubt null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import pairwise
from typing import Any

from tooling.demo import offline_words as vocabulary
from tooling.demo.offline_clauses import (
    Clause,
    Group,
    Lead,
    because_in,
    clauses_of,
    groups_in,
    is_new_request,
    lead_of,
    orders_something,
    pieces,
    trimmed,
)
from tooling.demo.offline_question import Question
from tooling.demo.offline_text import (
    Said,
    has_digit,
    is_greeting,
    is_hypothetical,
    is_question,
    phrase_at,
    shape_of,
    things_in,
)
from tooling.demo.offline_values import typed_value

_POINTERS = vocabulary.STOP | vocabulary.ORDINALS.keys() | vocabulary.COUNTS.keys() | vocabulary.LASTS | vocabulary.LAST
"""Words that alone name nothing: "os dois", "the last ones"."""


_SHORT = 3
"""The words of an answer that a remark may follow."""


def extraction(payload: Mapping[str, Any], today: date | None = None) -> dict[str, Any]:
    """``{kind, values}`` with a value or null for each pending name."""
    answer = Answer(payload, today or date.today())
    return _answer(answer, {} if answer.is_something_else else answer.values())


def auxiliary(payload: Mapping[str, Any], today: date | None = None) -> dict[str, Any]:
    """The same for optional details: only what is said outright, so never a free text."""
    answer = Answer(payload, today or date.today())
    return _answer(answer, answer.typed_values())


def _answer(answer: Answer, values: Mapping[str, Any]) -> dict[str, Any]:
    kind = "answers_pending" if values else "something_else"
    return {"kind": kind, "values": {name: values.get(name) for name in answer.pending}}


@dataclass(frozen=True)
class Answer(Question):
    """A message read as the answer to a question about pending values."""

    # Whether it is an answer at all ------------------------------------------

    @cached_property
    def clauses(self) -> list[Clause]:
        return clauses_of(self.said)

    @cached_property
    def is_something_else(self) -> bool:
        words = self.said.folded
        opening = next((i for i, word in enumerate(words) if word not in vocabulary.FILLERS - {"nao"}), len(words))
        if not words or phrase_at(words, vocabulary.ABANDON, opening) or is_greeting(self.said):
            return True
        unsure = phrase_at(words, vocabulary.UNSURE, opening)
        if unsure and len(words) - opening <= unsure + 2:
            return True
        if self._corrects_known or self._orders_anew:
            return True
        return self._is_mere_question and not (self._names_only or self._asks_about_thing)

    @cached_property
    def _is_mere_question(self) -> bool:
        if not all(clause.is_question for clause in self.clauses if self._says_something(clause)):
            return False
        return self.is_asked and is_question(self.said)

    def _says_something(self, clause: Clause) -> bool:
        return any(word not in vocabulary.STOP for word in self.said.folded[clause.start : clause.end])

    @cached_property
    def _names_only(self) -> bool:
        """ "o PED-1001?" names a thing and asks nothing."""
        things = things_in(self.said, is_grammar=self.is_kind)
        inside = {i for thing in things for i in range(thing.start, thing.end)}
        others = [word for i, word in enumerate(self.said.folded) if i not in inside]
        quiet = vocabulary.STOP - vocabulary.INTERROGATIVES
        return bool(things) and all(word in quiet or self.is_kind(word) for word in others)

    @cached_property
    def _asks_about_thing(self) -> bool:
        """Whether an operation that only tells something is asked for by a question: "cadê o PED-1001?"."""
        is_open = self.is_query and not is_hypothetical(self.said)
        return is_open and any(group.is_coded for clause in self.clauses for group in self._groups(clause))

    @cached_property
    def _orders_anew(self) -> bool:
        """Whether another operation is ordered for a thing, where no sentence of the user's own was asked for."""
        if not self.is_asked or not self.clauses or self._is_free(self.asked):
            return False
        first = self.clauses[0]
        lead = self.said.folded[first.start : self._after_fillers(first) + 1]
        if self.is_query and set(lead) & vocabulary.REMOVING and self._groups(first):
            return True
        return orders_something(self.said, first, is_operation=self.is_operation, is_kind=self.is_kind)

    def _is_free(self, name: str) -> bool:
        """Whether the description takes a text in the user's own words, and neither a code, a name nor a list."""
        hinted = set(Said(self.described(name)).folded) & vocabulary.NAME_HINTS
        return name in self.open_names and not (self.is_list(name) or self.is_coded(name) or hinted)

    @cached_property
    def _corrects_known(self) -> bool:
        """Whether it names another thing of the shape of a known value, which nothing pending could be."""
        if any(self.is_coded(name) for name in self.open_names) or not self.is_asked:
            return False
        known = self.payload.get("known")
        values = [str(value) for value in known.values()] if isinstance(known, dict) else []
        shapes = {shape_of(value) for value in values if has_digit(value)}
        coded = [word.text for word in self.said.words if word.is_code or has_digit(word.text)]
        return any(shape_of(text) in shapes and text not in values for text in coded)

    # Its values ------------------------------------------

    def typed_values(self) -> dict[str, Any]:
        """Values of a declared form: members of a list, numbers, dates, yes and no."""
        found = {
            name: typed_value(
                self.declared(name),
                self.said,
                locale=self.locale,
                today=self.today,
                is_asked=self.is_asked and name == self.asked,
            )
            for name in self.pending
        }
        return {name: value for name, value in found.items() if value is not None}

    def values(self) -> dict[str, Any]:
        """Every value that the message gives."""
        found = self.typed_values()
        if not self.open_names:
            return found
        clauses = self._answering
        groups = [] if self._is_told_freely(clauses) else [g for clause in clauses for g in self._groups(clause)]
        texts = self._of_groups(groups)
        if texts:
            texts |= self._of_remark(groups, texts)
        elif not groups:
            texts = self._of_text(clauses, beside=found)
        return found | texts

    def _of_text(self, clauses: list[Clause], *, beside: Mapping[str, Any]) -> dict[str, Any]:
        """A text in which nothing stands out; ``beside`` a number or a date only the part that holds neither."""
        if not beside:
            return self._accepted() or self._of_bare(clauses) or self._of_reason(clauses)
        parts = [part for clause in clauses for part in self._parts(clause)]
        return self._of_bare([part for part in parts if not self._holds_form(part)][:1])

    def _parts(self, clause: Clause) -> list[Clause]:
        """The clause, cut at its commas."""
        cuts = [i for i in range(clause.start + 1, clause.end) if "," in self.said.gap(i)]
        return [Clause(first, last) for first, last in pairwise([clause.start, *cuts, clause.end])]

    def _holds_form(self, part: Clause) -> bool:
        forms = vocabulary.DAYS.keys() | vocabulary.MONTHS.keys()
        return any(has_digit(word) or word in forms for word in self.said.folded[part.start : part.end])

    @cached_property
    def _answering(self) -> list[Clause]:
        """The clauses that may answer: no questions and, where something was asked, no other wishes."""
        statements = [clause for clause in self.clauses if not clause.is_question]
        if not self.is_asked:
            return statements or self.clauses
        answers = [clause for clause in statements if not self._wishes_anew(clause)]
        return answers or ([] if statements else [clause for clause in self.clauses if not self._wishes_anew(clause)])

    def _wishes_anew(self, clause: Clause) -> bool:
        return is_new_request(self.said, clause, is_operation=self._is_known)

    def _is_known(self, word: str) -> bool:
        return bool(self.is_operation(word) or self.is_kind(word))

    def _groups(self, clause: Clause) -> list[Group]:
        end = because_in(self.said, clause)
        until = clause if end is None else Clause(clause.start, end)
        return groups_in(self.said, until, is_operation=self.is_operation, is_kind=self.is_kind)

    def _is_told_freely(self, clauses: list[Clause]) -> bool:
        """Whether a free text was asked for and whole sentences answer, in which a name is only a part."""
        name = self.asked if self.is_asked else ""
        if not clauses or not self._is_free(name):
            return False
        lead = self._lead(clauses[0], knows_operation=False)
        groups = self._groups(clauses[0])
        inside = {i for group in groups for i in range(group.start, group.end)}
        outside = [i for i in range(lead.end, clauses[0].end) if i not in inside]
        telling = [i for i in outside if self.said.folded[i] not in vocabulary.STOP | vocabulary.TAIL]
        return not lead.is_request and len(telling) > 1 and not any(group.is_coded for group in groups)

    def _of_groups(self, groups: list[Group]) -> dict[str, Any]:
        """Codes go where digits are expected, names elsewhere; of several groups of names only the first is sure."""
        found: dict[str, Any] = {}
        for group in groups:
            has_number = has_digit(self.said.between(group.start, group.end))
            wanted = group.is_coded or (has_number and self.is_coded(self.asked))
            free = [name for name in self.open_names if name not in found]
            fitting = [name for name in free if self.is_coded(name) is wanted]
            if not fitting and not found:
                fitting = [name for name in free if wanted or not self.is_coded(name)]
            if not fitting or (found and not wanted and len(groups) > len(self.open_names)):
                continue
            found[fitting[0]] = self._taken(fitting[0], group.start, group.end, group)
        return found

    def _taken(self, name: str, start: int, end: int, group: Group | None = None) -> Any:
        """The words as a value of ``name``: a list of pieces, or the text as it was said."""
        if not self.is_list(name):
            return self._without_quotes(start, end)
        things = group.things if group else ()
        found = pieces(self.said, start, end, things, is_kind=self.is_kind)
        inner = self.declared(name).get("items")
        if isinstance(inner, dict) and inner.get("type") == "integer":
            return [int(piece) for piece in found if piece.isdigit()] or None
        return found

    def _without_quotes(self, start: int, end: int) -> str:
        return self.said.between(start, end).strip("\"'“”«»")

    def _of_remark(self, groups: list[Group], taken: Mapping[str, Any]) -> dict[str, Any]:
        """What is said beside the things, as the next free text: "PED-1004, ficou apertado"."""
        free = [
            name for name in self.open_names if name not in taken and not self.is_coded(name) and not self.is_list(name)
        ]
        if not free:
            return {}
        for clause in self._answering:
            after = because_in(self.said, clause)
            inside = [group for group in groups if clause.start <= group.start < clause.end]
            start = after if after is not None else max((group.end for group in inside), default=clause.start)
            parted = after is not None or not inside or any(c in self._gap_after(start) for c in ",;-–—(:")
            first, last = trimmed(self.said, start, clause.end)
            if parted and self._is_remark(first, last, with_lead=not inside and after is None):
                return {free[0]: self._without_quotes(first, last)}
        return {}

    def _gap_after(self, index: int) -> str:
        return self.said.gap(index) if index < len(self.said.words) else ""

    def _is_remark(self, start: int, end: int, *, with_lead: bool) -> bool:
        words = self.said.folded[start:end]
        if not any(word not in vocabulary.STOP | vocabulary.FILLERS for word in words):
            return False
        if not with_lead:
            return words[0] not in vocabulary.WANT
        return not self._lead(Clause(start, end)).is_request

    def _lead(self, clause: Clause, *, knows_operation: bool = True) -> Lead:
        is_operation = self.is_operation if knows_operation else (lambda word: False)
        return lead_of(self.said, clause, is_operation=is_operation, is_kind=self.is_kind)

    # Answers without anything that stands out ------------------------------------------

    def _accepted(self) -> dict[str, Any]:
        """ "sim, esse" after a question that named exactly one thing."""
        words = set(self.said.folded)
        if (
            not self.is_asked
            or not words & (vocabulary.YES | vocabulary.POINTING)
            or not words <= vocabulary.STOP | vocabulary.YES
        ):
            return {}
        offered = Said(self.last)
        things = [
            thing for thing in things_in(offered, is_grammar=self.is_kind) if thing.kind in ("code", "quoted", "name")
        ]
        if len(things) != 1:
            return {}
        text = offered.between(things[0].start, things[0].end).strip("\"'“”")
        name = self.asked if self.asked in self.open_names else self.open_names[0]
        return {name: [text] if self.is_list(name) else text}

    def _of_bare(self, clauses: list[Clause]) -> dict[str, Any]:
        """A text without names or codes: the whole of it where it was asked for, else what follows its kind."""
        is_free = self._is_told_freely(clauses)
        for position, clause in enumerate(clauses):
            lead = self._lead(clause, knows_operation=not is_free)
            is_introduced = lead.is_request and lead.named and not lead.is_open
            is_bare = self.is_asked and not lead.is_request
            if lead.is_new or not (is_introduced or is_bare):
                continue
            last = clause.end if is_introduced else self._end_of_text(clauses[position:])
            found = self._bare_value(clause, lead.end, last, is_introduced=is_introduced)
            if found:
                return found
        return {}

    def _bare_value(self, clause: Clause, start: int, end: int, *, is_introduced: bool) -> dict[str, Any]:
        first, last = trimmed(self.said, start, end)
        words = self.said.folded[first:last]
        is_known = self._is_known if is_introduced else self.is_kind
        telling = [word for word in words if word not in _POINTERS and not is_known(word)]
        name = self.asked if self.asked in self.open_names else ""
        if is_introduced:
            name = next((each for each in self.open_names if not self.is_coded(each)), "")
            if words and words[0] in vocabulary.STOP:
                return {}
        if not telling or not name or (self.is_coded(name) and not any(map(has_digit, words))):
            return {}
        remark = {} if is_introduced else self._remark_behind(name, first, last)
        if remark:
            return remark
        if not is_introduced and not self.is_list(name) and last - first > 3:
            first = trimmed(self.said, self._after_fillers(clause), last)[0]
        return {name: self._taken(name, first, last)}

    def _remark_behind(self, name: str, first: int, last: int) -> dict[str, Any]:
        """A short answer and a remark for the next free text: "losartana, acabou ontem"."""
        free = [each for each in self.open_names if each != name and not self.is_coded(each) and not self.is_list(each)]
        because = because_in(self.said, Clause(first, last))
        cut = next((i for i in range(first + 1, last) if "," in self.said.gap(i)), because)
        if not free or self.is_list(name) or cut is None or cut - first > _SHORT + 1:
            return {}
        end = next((i for i in range(first, cut) if phrase_at(self.said.folded, vocabulary.BECAUSE, i)), cut)
        start = because if because is not None else cut
        if end == first or not self._is_remark(start, last, with_lead=False):
            return {}
        return {name: self._taken(name, first, end), free[0]: self._without_quotes(*trimmed(self.said, start, last))}

    def _after_fillers(self, clause: Clause) -> int:
        """A longer answer keeps its words from the first that is no filler, its article included."""
        because = because_in(self.said, clause)
        if because is not None and because - clause.start <= 3:
            return because
        index = clause.start
        while index < clause.end - 1:
            word, text = self.said.folded[index], self.said.words[index].text.casefold()
            if word not in vocabulary.FILLERS and text not in vocabulary.COPULAS:
                break
            index += 1
        return index

    def _end_of_text(self, clauses: list[Clause]) -> int:
        """The end of the last of the clauses that follow each other without a break."""
        end = clauses[0].end
        for clause in clauses[1:]:
            if clause.start != end:
                break
            end = clause.end
        return end

    def _of_reason(self, clauses: list[Clause]) -> dict[str, Any]:
        """What stands behind "because", where a free text was asked for: "quero devolver porque …"."""
        name = self.asked if self.is_asked and self.asked in self.open_names else ""
        if not name or self.is_coded(name) or self.is_list(name):
            return {}
        for clause in clauses:
            start = because_in(self.said, clause)
            if start is not None:
                first, last = trimmed(self.said, start, clause.end)
                return {name: self._without_quotes(first, last)} if last > first else {}
        return {}
