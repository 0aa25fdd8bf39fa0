"""Answers ``confirmation_reply`` by rule: what a text says to an open confirmation (contracts.md §4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tooling.demo import offline_words as vocabulary
from tooling.demo.offline_changes import Change
from tooling.demo.offline_clauses import Clause, clauses_of, is_new_request
from tooling.demo.offline_corrections import corrected_values
from tooling.demo.offline_text import Said, akin_in, content_words, find_phrase, is_hypothetical, is_question, phrase_at

_JOINING = frozenset({"e", "and", "mas", "but", "tambem", "also"})


def reply(payload: Mapping[str, Any]) -> dict[str, Any]:
    """``{kind, keep_item_keys, values, question}``; in doubt "other"."""
    return Reply(payload).answer()


@dataclass(frozen=True)
class Item:
    key: str
    label: str

    @property
    def words(self) -> tuple[str, ...]:
        return Said(self.label).folded

    @property
    def names(self) -> set[str]:
        """The words that may name it: those of its label, and the long numbers inside them."""
        numbers = {number for word in self.words for number in re.findall(r"\d{3,}", word)}
        return {word for word in self.words if word not in vocabulary.STOP} | numbers


@dataclass(frozen=True)
class Reply:
    """A message read against the confirmation that it answers."""

    payload: Mapping[str, Any]

    @cached_property
    def said(self) -> Said:
        text = self.payload.get("message")
        return Said(text if isinstance(text, str) else "")

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        found = self.payload.get("parameters")
        return found if isinstance(found, dict) else {}

    @cached_property
    def items(self) -> list[Item]:
        found = self.payload.get("items")
        rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
        return [Item(str(row.get("key", "")), str(row.get("label", ""))) for row in rows]

    def answer(self) -> dict[str, Any]:
        """The first reading that fits, from the most particular to the least."""
        if not self.said.words:
            return self._result("confirm" if self.said.text.strip().startswith(vocabulary.THUMBS_UP) else "other")
        changed = {} if self._asks_besides else self._change.values() or self._corrected()
        if changed:
            return self._result("change_parameters", values=changed)
        keep = self._kept()
        if keep is not None:
            return self._result("change_items", keep=keep)
        return self._plain()

    @property
    def _change(self) -> Change:
        labels = tuple(item.label for item in self.items)
        return Change(self.said, self.parameters, labels, self._is_known)

    @property
    def _asks_besides(self) -> bool:
        """ "e o B?" asks about another thing and does not want it yet."""
        return "?" in self.said.text and self.said.folded[0] in {"e", "and"}

    def _corrected(self) -> dict[str, Any]:
        """A value put right; who leaves something out, or wants it besides, corrects nothing."""
        words = self.said.folded
        change = self._change
        opening = next((i for i, word in enumerate(words) if word not in vocabulary.FILLERS), 0)
        is_denied = words[opening] in vocabulary.NEGATIONS and not self._is_bare_no(opening)
        if is_denied or find_phrase(words, vocabulary.EXCLUDING):
            return {}
        if change.is_adding or change.is_exchange or change.is_for_another:
            return {}
        told = {"known": self.parameters, "schema": self.payload.get("schema")}
        return corrected_values(told, self.said, locale=str(self.payload.get("locale", "")))

    def _result(
        self,
        kind: str,
        *,
        keep: Sequence[str] | None = None,
        values: Mapping[str, Any] | None = None,
        question: str | None = None,
    ) -> dict[str, Any]:
        given = values or {}
        return {
            "kind": kind,
            "keep_item_keys": list(keep) if keep is not None else None,
            "values": {name: given.get(name) for name in self.parameters},
            "question": question,
        }

    # Yes, no and questions ------------------------------------------

    def _plain(self) -> dict[str, Any]:
        words = self.said.folded
        if self._wants_none:
            return self._result("reject")
        yes, no = phrase_at(words, vocabulary.AGREEMENTS), phrase_at(words, vocabulary.REFUSALS)
        if no and self._is_refusal(no):
            return self._result("reject")
        if phrase_at(words, vocabulary.ABANDON):
            length = phrase_at(words, vocabulary.ABANDON)
            return self._result("reject" if not self._says_more(length) else "other")
        if yes and not no:
            return self._agreed(yes)
        if is_question(self.said) and self._is_about_this:
            return self._result("question", question=self.said.text.strip())
        return self._result("other")

    @property
    def _wants_none(self) -> bool:
        """ "nenhum dos dois", "none of them": nothing is said besides."""
        words = self.said.folded
        telling = [
            word for word in words if word not in vocabulary.STOP | vocabulary.FILLERS | vocabulary.COUNTS.keys()
        ]
        pronouns = {"them", "those", "deles", "delas"}
        is_none = bool(telling) and telling[0] in vocabulary.NONE_OF_THEM
        return is_none and set(telling[1:]) <= pronouns and not is_question(self.said)

    @cached_property
    def clauses(self) -> list[Clause]:
        return clauses_of(self.said)

    def _is_refusal(self, length: int) -> bool:
        """A no that is not followed by a wish, a wait or a doubt."""
        rest = self.said.folded[length:]
        doubts = {"sei", "entendi", "know", "understand", "sure", "lembro", "ainda"}
        if any(word in vocabulary.HEDGES - {"so"} | doubts for word in rest[:4]):
            return False
        later = [clause for clause in self.clauses if clause.start >= length] or [Clause(length, len(self.said.words))]
        return not any(clause.is_question or self._is_wish(clause) for clause in later)

    def _is_wish(self, clause: Clause) -> bool:
        return is_new_request(self.said, clause, is_operation=lambda word: False) or (
            "deixa" in self.said.folded[clause.start : clause.end]
        )

    def _says_more(self, length: int) -> bool:
        return any(word not in vocabulary.STOP | vocabulary.FILLERS for word in self.said.folded[length:])

    def _agreed(self, length: int) -> dict[str, Any]:
        """A yes, and what is asked or wanted besides; "other" where something takes the yes back."""
        said, end = self.said, len(self.said.words)
        if self._is_hedged(length):
            return self._result("other")
        while length < end and said.folded[length] in vocabulary.FILLERS - _JOINING and length + 1 < end:
            length += 1
        joined = length < end and (said.folded[length] in _JOINING or any(c in said.gap(length) for c in ",.;!-"))
        if "?" in said.text:
            return self._result("confirm", question=self._rest(length)) if joined else self._result("other")
        wants_more = joined and said.folded[length] in _JOINING and len(self._more(length)) > 1
        return self._result("confirm", question=self._rest(length) if wants_more else None)

    def _is_hedged(self, length: int) -> bool:
        """Whether the words after the yes take it back, narrow it or doubt it."""
        rest = self.said.folded[length:]
        if rest[:1] == ("ser",) or not set(rest[:2]).isdisjoint(vocabulary.HEDGES):
            return True
        spoken = rest if "?" not in self.said.text else ()
        return any(word in vocabulary.HEDGES or word in vocabulary.NEGATIONS - {"no"} for word in spoken)

    def _more(self, length: int) -> list[str]:
        """The telling words after the yes that are neither another yes nor of the question that was asked."""
        agreeing = {word for phrase in vocabulary.AGREEMENTS for word in phrase}
        quiet = vocabulary.STOP | vocabulary.FILLERS | agreeing
        return [word for word in self.said.folded[length:] if word not in quiet and not self._is_known(word)]

    def _rest(self, length: int) -> str:
        index = length
        while index < len(self.said.words) - 1 and self.said.folded[index] in _JOINING | {"alias"}:
            index += 1
        return self.said.text[self.said.words[index].start :].strip()

    @cached_property
    def _is_known(self) -> Any:
        text = self.payload.get("confirmation_text")
        return akin_in(content_words(text if isinstance(text, str) else ""))

    @property
    def _is_about_this(self) -> bool:
        """Whether a question is about what is to be confirmed, and not about things of the customer's own."""
        owned = any(word in vocabulary.POSSESSIVE for word in self.said.folded)
        telling = [word for word in content_words(self.said.text) if word not in vocabulary.INTERROGATIVES]
        return not owned or any(map(self._is_known, telling))

    # A change of the set ------------------------------------------

    def _kept(self) -> list[str] | None:
        """The keys that stay, or None where the message does not choose among the items."""
        if not self.items or is_hypothetical(self.said):
            return None
        left_out = self._excluded()
        if left_out is not None:
            return [item.key for item in self.items if item not in left_out]
        words = self.said.folded
        limiting = find_phrase(words, vocabulary.LIMITING)
        start, after = limiting or (0, 0)
        if limiting or self._is_bare_choice:
            named = self._named(after) or self._named(0, start)
            return [item.key for item in self.items if item in named] if named else None
        return None

    def _excluded(self) -> list[Item] | None:
        """The items that are to stay out, or None where none is named."""
        words = self.said.folded
        if excluding := find_phrase(words, vocabulary.EXCLUDING):
            start, after = excluding
            until = self._until(after)
            return self._all_of(start, after, until) or self._named(after, until) or self._named(0, start) or None
        return self._denied() or None

    def _until(self, start: int) -> int:
        """Where what is left out ends, as something else is wanted from there on: "sem o A, só o B"."""
        words = self.said.folded
        turns = (vocabulary.LIMITING, vocabulary.KEEPING)
        ends = (i for i in range(start + 1, len(words)) if any(phrase_at(words, turn, i) for turn in turns))
        return next(ends, len(words))

    def _all_of(self, start: int, after: int, end: int) -> list[Item]:
        """Every item for "tira tudo" and for "tira os dois" of two; not for "all but B", nor after a yes."""
        words = self.said.folded
        if set(words[start:after]) & vocabulary.ALL_OF_THEM or phrase_at(words, vocabulary.AGREEMENTS):
            return []
        rest = [word for word in words[after:end] if word not in vocabulary.ARTICLES | vocabulary.TAIL | {"of", "them"}]
        is_all = bool(rest) and set(rest) <= vocabulary.ALL_OF_THEM | {"deles", "delas"}
        is_count = len(rest) == 1 and vocabulary.COUNTS.get(rest[0]) == len(self.items)
        return list(self.items) if is_all or is_count else []

    def _denied(self) -> list[Item]:
        """The items behind a no that is about them ("not B", "não inclui o B") or before one ("o B não")."""
        words, end = self.said.folded, len(self.said.words)
        no = next((i for i, word in enumerate(words) if word in vocabulary.NEGATIONS - {"no"}), None)
        if no is None or self._is_bare_no(no):
            return []
        if no == end - 1:
            first = next((i for i in range(no, 0, -1) if "," in self.said.gap(i)), 0)
            return [] if "," in self.said.gap(no) else self._labelled(words[first:no])
        index = no + 1
        while index < end and self._leads_to_item(index):
            index += 1
        return self._labelled(words[index : self._until(index)]) if self._labelled(words[index : index + 1]) else []

    def _is_bare_no(self, index: int) -> bool:
        return index + 1 < len(self.said.words) and any(c in self.said.gap(index + 1) for c in ",.;!")

    def _leads_to_item(self, index: int) -> bool:
        word = self.said.folded[index]
        quiet = vocabulary.ARTICLES | vocabulary.HANDLING | vocabulary.WANT | vocabulary.TO | {"is", "e"}
        return word in quiet or (self._is_known(word) and not self._labelled([word]))

    def _labelled(self, words: Sequence[str]) -> list[Item]:
        return [item for item in self.items if self._is_named(item, words)]

    @property
    def _is_bare_choice(self) -> bool:
        """ "o primeiro e o terceiro", "sim, o B": nothing but items that are named, perhaps after a yes."""
        quiet = vocabulary.STOP | vocabulary.FILLERS | vocabulary.ORDINALS.keys() | vocabulary.LAST
        quiet = quiet | vocabulary.COUNTS.keys() | vocabulary.FIRSTS | vocabulary.LASTS | {"quero", "want"}
        labels = {word for item in self.items for word in item.words}
        words = self.said.folded[phrase_at(self.said.folded, vocabulary.AGREEMENTS) :]
        return not is_question(self.said) and all(word in quiet or word in labels or word.isdigit() for word in words)

    def _named(self, start: int, end: int | None = None) -> list[Item]:
        """The items that the words from ``start`` on name, by label or by their place."""
        words = self.said.folded[start:end]
        return self._labelled(words) or self._by_place(words)

    def _is_named(self, item: Item, words: Sequence[str]) -> bool:
        """By the whole label, or by words that no other item has."""
        if find_phrase(words, [item.words]):
            return True
        own = item.names.difference(*(other.names for other in self.items if other.key != item.key))
        return any(word in own and (len(word) > 2 or word.isdigit()) for word in words)

    def _by_place(self, words: Sequence[str]) -> list[Item]:
        count = len(self.items)
        places: set[int] = set()
        for index, word in enumerate(words):
            after = words[index + 1] if index + 1 < len(words) else ""
            pair = {word, after}
            many = next((vocabulary.COUNTS[each] for each in pair if each in vocabulary.COUNTS), 0)
            if many and pair & vocabulary.FIRSTS:
                return self.items[:many]
            if many and pair & vocabulary.LASTS:
                return self.items[-many:]
            if word in vocabulary.LAST:
                places.add(count - 1)
            elif word in vocabulary.ORDINALS:
                places.add(vocabulary.ORDINALS[word])
            elif word.isdigit():
                places.add(int(word) - 1)
        return [self.items[place] for place in sorted(places) if 0 <= place < count]
