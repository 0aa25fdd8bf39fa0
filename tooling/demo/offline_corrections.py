"""Corrections of values that are known already: "na verdade é o PED-1008", "actually it's Tuesday"."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from tooling.demo import offline_words as vocabulary
from tooling.demo.offline_clauses import Clause, groups_in, lead_of, pieces, trimmed
from tooling.demo.offline_text import Said, akin_in, content_words, find_phrase, has_digit, phrase_at, shape_of
from tooling.demo.offline_values import is_plain_text, typed_value


def corrected_values(active: Mapping[str, Any], message: Said, *, locale: str) -> dict[str, Any]:
    """New values of ``active["known"]``, by name; empty if nothing is corrected.

    A code of the same shape as a known one is a correction unless another operation is wished for; names, numbers
    and texts are one only after words that say so ("na verdade", "actually") or after the parameter's own label.
    """
    known, schema = _object(active.get("known")), _object(active.get("schema"))
    said, is_marked = _after_marker(message)
    if not said.words:
        return {}
    coded = {name: new for name, value in known.items() if (new := _recoded(value, said, is_marked=is_marked))}
    if coded:
        return coded
    found = {
        name: _changed(value, _object(schema.get(name)), said, locale=locale, is_marked=is_marked)
        for name, value in known.items()
    }
    changed = {name: new for name, new in found.items() if new is not None and new != known[name]}
    # A name or text that could be the new value of several parameters is none's.
    return changed if len(changed) == 1 else {}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _after_marker(message: Said) -> tuple[Said, bool]:
    """The message without the words that announce a correction, and whether there are any."""
    opening = next((i for i, word in enumerate(message.folded) if word not in vocabulary.FILLERS - _MARKERS), 0)
    length = phrase_at(message.folded, vocabulary.CORRECTIONS, opening)
    if length:
        return Said(message.text[message.words[opening + length - 1].end :].lstrip(" ,:;-")), True
    is_marked = bool(find_phrase(message.folded, vocabulary.CORRECTIONS))
    return message, is_marked


_MARKERS = frozenset(phrase[0] for phrase in vocabulary.CORRECTIONS)


def _recoded(value: Any, said: Said, *, is_marked: bool) -> Any:
    """The code or codes that replace ``value``, or None."""
    coded = _codes_like(_members(value), said)
    if not coded or (not is_marked and _wishes(said)):
        return None
    return coded if isinstance(value, list) else coded[0]


def _members(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def _changed(value: Any, declared: Mapping[str, Any], said: Said, *, locale: str, is_marked: bool) -> Any:
    """The value of another form, name or text that replaces ``value``, or None."""
    if declared and not is_plain_text(declared) and declared.get("type") != "array":
        return typed_value(declared, said, locale=locale, today=date.today(), is_asked=False) if is_marked else None
    if any(has_digit(each) and len(each.split()) == 1 for each in _members(value)):
        return None
    return _renamed(value, declared, said, is_marked=is_marked)


def _codes_like(old: list[str], said: Said) -> list[str]:
    """Codes of the message in the shape of the old values, that are not among them and not negated."""
    shapes = {shape_of(each) for each in old if has_digit(each)}
    groups = groups_in(said, Clause(0, len(said.words)), is_operation=lambda word: False, is_kind=lambda word: False)
    things = [thing for group in groups for thing in group.things]
    texts = [said.between(thing.start, thing.end) for thing in things]
    found = [text for text in texts if shape_of(text) in shapes]
    folded = {each.casefold() for each in old}
    return found if any(text.casefold() not in folded for text in found) else []


def _wishes(said: Said) -> bool:
    """Whether the words wish for an operation, so that the code belongs to that one."""
    lead = [word for word in said.folded[:4] if word not in vocabulary.FILLERS]
    return bool(lead) and lead[0] in vocabulary.WANT | vocabulary.SHOWING | vocabulary.HANDLING


def _renamed(value: Any, declared: Mapping[str, Any], said: Said, *, is_marked: bool) -> Any:
    """A new name or text: after a marker, or after the parameter's own label and a copula ("o motivo é …")."""
    label = akin_in(content_words(str(declared.get("label", ""))))
    whole = Clause(0, len(said.words))
    copula = next((i for i, word in enumerate(said.words) if word.text.casefold() in vocabulary.COPULAS), None)
    is_labelled = copula is not None and any(map(label, said.folded[:copula]))
    if not (is_marked or is_labelled):
        return None
    groups = groups_in(said, whole, is_operation=lambda word: False, is_kind=lambda word: False)
    named = [group for group in groups if not group.is_coded]
    if named:
        start, end = named[0].start, named[0].end
        things = named[0].things
    else:
        lead = lead_of(said, whole, is_operation=lambda word: False, is_kind=label)
        if lead.is_request or "?" in said.text:
            return None
        first = copula + 1 if is_labelled and copula is not None else lead.end
        start, end = trimmed(said, first + (said.folded[first : first + 1] in (("que",), ("that",))), whole.end)
        things = ()
    if end <= start:
        return None
    if isinstance(value, list):
        return pieces(said, start, end, things, is_kind=label)
    return said.between(start, end).strip("\"'“”")
