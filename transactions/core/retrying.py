"""Which items may be tried again, and the arguments that name them and no other item (runtime.md §9.5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tooling.specs import JSON, ToolSpec
from transactions.core.confirmation import without_left_out
from transactions.core.explicit import of_language
from transactions.core.folding import fold, words
from transactions.core.matching import identifying_fields, same_identity
from transactions.core.parameters import only_array_argument
from transactions.core.phrases import RETRIES
from transactions.core.statuses import ItemStatus, Status
from transactions.core.texts import say

RETRYABLE = frozenset({ItemStatus.FAILED, ItemStatus.NOT_EXECUTED})
"""INELIGIBLE is not: the validator refused it, and nothing was tried. EXCLUDED is not: the user left it out."""

WITHOUT_EFFECT = frozenset({Status.REFUSED, Status.CANCELLED, Status.ABANDONED, Status.EXPIRED})
"""How a child ends that executed nothing: its parent is the newest of the chain again."""


class Refusal(StrEnum):
    """Why a transaction may not be retried, now or ever."""

    NOT_FINISHED = "not_finished"
    OUTCOME_UNKNOWN = "outcome_unknown"
    NOTHING_FAILED = "nothing_failed"
    NOT_NEWEST = "not_newest"
    OCCUPIED = "occupied"
    TOOL_UNAVAILABLE = "tool_unavailable"
    DEFINITION_CHANGED = "definition_changed"
    INSEPARABLE = "inseparable"


class Why(StrEnum):
    """Why an item of the transaction is not tried again."""

    SUCCEEDED = "succeeded"
    DONE_SINCE = "done_since"
    UNKNOWN = "outcome_unknown"
    INELIGIBLE = "not_eligible"
    EXCLUDED = "left_out"


_WHY: Mapping[ItemStatus, Why] = {
    ItemStatus.SUCCEEDED: Why.SUCCEEDED,
    ItemStatus.INELIGIBLE: Why.INELIGIBLE,
    ItemStatus.EXCLUDED: Why.EXCLUDED,
}


@dataclass(frozen=True, slots=True)
class Named:
    """An item by what it is called and the fields that identify it."""

    label: str
    fields: Mapping[str, JSON]


def refusal_of(status: Status) -> Refusal | None:
    """Why a transaction of this status is not retried; None for the two that failed in whole or in part."""
    match status:
        case Status.FAILED | Status.PARTIAL_SUCCESS:
            return None
        case Status.VERIFYING:
            return Refusal.OUTCOME_UNKNOWN
        case Status.SUCCESS:
            return Refusal.NOTHING_FAILED
        case _ if status in WITHOUT_EFFECT:
            return Refusal.NOTHING_FAILED
        case _:
            return Refusal.NOT_FINISHED


def why_not(status: ItemStatus, *, is_done_since: bool) -> Why | None:
    """Why an item is not tried again; None: it is. ``is_done_since``: a later transaction did it."""
    if status in RETRYABLE:
        return Why.DONE_SINCE if is_done_since else None
    return _WHY.get(status, Why.UNKNOWN)


def is_retry_phrase(text: str, locale: str) -> bool:
    """Whether the whole ``text`` is a phrase of the closed list that asks for what failed to be tried again."""
    said = words(text)
    return bool(said) and any(said == words(phrase) for phrase in of_language(RETRIES, locale))


def nothing_to_retry(locale: str) -> str:
    """What the user reads who asks for it where nothing failed, or nothing of it may be tried again."""
    return say("nothing_to_retry", locale)


# Which item is which ------------------------------------------


def is_same(a: Named, b: Named) -> bool:
    """Whether two items are one thing: by what identifies them, else, where one has nothing that does, by label."""
    if identifying_fields(a.fields) and identifying_fields(b.fields):
        return same_identity(a.fields, b.fields)
    return _key(a.label) == _key(b.label)


def is_one_of(item: Named, others: Collection[Named]) -> bool:
    return any(is_same(item, other) for other in others)


def _key(label: str) -> str:
    return fold(label).strip()


# The arguments without what must not run again ------------------------------------------


def narrowed(
    tool: ToolSpec,
    requires: Sequence[str],
    arguments: Mapping[str, JSON],
    *,
    kept: Sequence[Named],
    left: Sequence[Named],
    resolved: Collection[str] = (),
) -> dict[str, JSON] | None:
    """``arguments`` that name ``kept`` and nothing of ``left``; None where that cannot be done for sure.

    The only array argument is filtered by element; where the user's elements are not recognised, it becomes the
    labels of ``kept``. A text is filtered where it is labels joined with commas; the only text that names items
    becomes such a list. ``resolved``: texts that the validator wrote for ``kept``, taken unless they name ``left``.
    """
    found = dict(arguments)
    if not left:
        return found
    array = only_array_argument(tool)
    is_told = array is not None and isinstance(found.get(array), list)
    if array is not None and is_told:
        elements = _elements(found[array], kept, left)
        if elements is None:
            return None
        found[array] = elements
    texts = [name for name in requires if name != array]
    return _with_texts(found, texts, kept=kept, left=left, resolved=resolved, is_told=is_told)


def _with_texts(
    found: dict[str, JSON],
    texts: Sequence[str],
    *,
    kept: Sequence[Named],
    left: Sequence[Named],
    resolved: Collection[str],
    is_told: bool,
) -> dict[str, JSON] | None:
    """``found`` with the required texts filtered; ``is_told``: another argument says which items they are."""
    stays, goes = [item.label for item in kept], [item.label for item in left]
    naming = [name for name in texts if _names_any(found.get(name), [*stays, *goes])]
    if naming and {_key(label) for label in stays} & {_key(label) for label in goes}:
        return None
    filtered = {name: without_left_out(found[name], goes, stays) for name in naming}
    carriers = {name for name, value in filtered.items() if _is_list_of(value, stays)}
    carriers |= {name for name in texts if name in resolved and filtered.get(name, found.get(name)) == found.get(name)}
    if is_told or carriers:
        return None if None in filtered.values() else {**found, **filtered}
    if len(naming) == 1 and isinstance(found[naming[0]], str):
        return {**found, naming[0]: ", ".join(stays)}
    return None


def without_done(
    tool: ToolSpec, requires: Sequence[str], arguments: Mapping[str, JSON], done: Sequence[Named]
) -> dict[str, JSON] | None:
    """``arguments`` that the user named anew, without what is done already; None where that cannot be done for sure."""
    found, array = dict(arguments), only_array_argument(tool)
    labels = [item.label for item in done]
    for name in dict.fromkeys([*requires, *([array] if array else [])]) if done else ():
        value = found.get(name)
        if name == array and isinstance(value, list):
            value = [each for each in value if not is_one_of(_named(each), done)] or None
        elif _names_any(value, labels):
            value = _without(value, labels)
        if value is None and found.get(name) is not None:
            return None
        found[name] = value
    return found


def _without(value: JSON, labels: Sequence[str]) -> JSON:
    """A list written as a text without these labels; the rest of the list is the user's own words."""
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else []
    stays = ", ".join(part for part in parts if not _names_any(part, labels))
    is_clean = all(_key(part) in {_key(label) for label in labels} for part in parts if _names_any(part, labels))
    return stays or None if is_clean else None


def _elements(elements: Sequence[JSON], kept: Sequence[Named], left: Sequence[Named]) -> list[JSON] | None:
    """Of the user's elements those that name ``kept``; else the labels, where elements are texts."""
    named = [_named(element) for element in elements]
    mine = [is_one_of(item, kept) and not is_one_of(item, left) for item in named]
    if all(any(is_same(item, one) for item, is_mine in zip(named, mine, strict=True) if is_mine) for one in kept):
        return [element for element, is_mine in zip(elements, mine, strict=True) if is_mine] or None
    if all(isinstance(element, str) for element in elements):
        return [item.label for item in kept]
    return None


def _named(element: JSON) -> Named:
    fields = element if isinstance(element, dict) else {"label": element}
    return Named(element if isinstance(element, str) else str(fields.get("label", "")), fields)


def _names_any(value: JSON, labels: Sequence[str]) -> bool:
    return bool(without_left_out(value, labels, []) != value)


def _is_list_of(value: JSON, labels: Sequence[str]) -> bool:
    """Whether a text is these labels joined with commas, as a list is written into a text (runtime.md §5.5)."""
    if not isinstance(value, str):
        return False
    known = {_key(label) for label in labels}
    return all(_key(part) in known for part in value.split(","))
