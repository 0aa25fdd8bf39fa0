"""From the rows of an answer to the ledger of items and the verdict on the transaction (runtime.md §4a)."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tooling.identifying import KEY_FIELD, PROTOCOL_FIELDS, identity
from tooling.specs import JSON, Atomicity
from transactions.core.envelope import (
    envelope_of,
    multi_item_status_of,
    normalize,
    rows_of,
    verdict_of,
)
from transactions.core.ledger import ConfirmedItem, Counts, ItemOutcome, Ledger, confirmed_item, count, roll_up
from transactions.core.matching import (
    Ambiguous,
    Anonymous,
    Claimed,
    Index,
    Unconfirmed,
    first_text,
    identifying_fields,
    identity_values,
    label_of,
    same_identity,
)
from transactions.core.statuses import ItemStatus, VerdictSource

__all__ = [
    "ConfirmedItem",
    "Counts",
    "ItemOutcome",
    "Ledger",
    "account",
    "confirmed_item",
    "count",
    "envelope_of",
    "identity_values",
    "label_of",
    "multi_item_status_of",
    "normalize",
    "roll_up",
    "rows_of",
    "same_identity",
    "verdict_of",
]

WHOLE_CALL = "*"
"""The key of the one implicit item of a call that names none."""

_NAMED_IN_INCIDENTS = 5
_LONGEST_KEY = 60


def account(
    confirmed_items: Sequence[ConfirmedItem] | None,
    rows: Sequence[JSON] | None,
    *,
    verdict: bool | None = None,
    atomicity: Atomicity = Atomicity.BEST_EFFORT,
    evidence: JSON = None,
    error: str | None = None,
) -> Ledger:
    """Compare what was answered with what was confirmed (runtime.md §4a). Total; the order of rows is nothing.

    ``confirmed_items``: None where the tool expands by itself. ``verdict``, ``evidence`` and ``error``: what the
    answer says as a whole, read only where there are no rows; a ``verdict`` of None says nothing.
    """
    if rows and confirmed_items is None:
        return _ledger(_discovered(rows))
    items = confirmed_items or (ConfirmedItem(WHOLE_CALL, {}, ""),)
    if not rows:
        return _ledger(_told_as_a_whole(items, _Said(verdict, evidence, error), atomicity))
    heard = _Heard(items, rows)
    outcomes = [_outcome(item, heard) for item in items]
    return _ledger(outcomes, heard.unconfirmed, _incidents(items, heard, atomicity))


def _ledger(outcomes: Iterable[ItemOutcome], unconfirmed: Iterable[JSON] = (), incidents: Iterable[str] = ()) -> Ledger:
    settled = tuple(outcomes)
    status = roll_up(outcome.status for outcome in settled)
    return Ledger(settled, tuple(unconfirmed), tuple(incidents), status)


class _Heard:
    """The rows of an answer, sorted by what they say about the items of a confirmed set."""

    def __init__(self, items: Sequence[ConfirmedItem], rows: Sequence[JSON]) -> None:
        self.claims: dict[str, list[JSON]] = defaultdict(list)
        self.ambiguous: Counter[str] = Counter()
        self.unconfirmed: list[JSON] = []
        self.anonymous: list[JSON] = []
        self._sort(items, rows)
        sent = sum(1 for item in items if item.eligible and not item.excluded)
        self.unanimous = _unanimous(self.anonymous) if len(self.anonymous) == len(rows) == sent else None
        self.is_malformed = len(self.anonymous) == len(rows) and any(verdict_of(row) is None for row in rows)
        self.common = _common(self.anonymous) if self.unanimous is not None else {}

    def _sort(self, items: Sequence[ConfirmedItem], rows: Sequence[JSON]) -> None:
        index = Index([(item.key, item.fields) for item in items])
        excluded = {item.key for item in items if item.excluded}
        for row in rows:
            match index.match(row):
                case Claimed(key=key) if key not in excluded:
                    self.claims[key].append(row)
                case Claimed() | Unconfirmed():
                    self.unconfirmed.append(row)
                case Ambiguous(candidates=candidates):
                    self.ambiguous.update(candidates)
                case Anonymous():
                    self.anonymous.append(row)


def _outcome(item: ConfirmedItem, heard: _Heard) -> ItemOutcome:
    """What became of one confirmed item, from its own rows, else from what all rows say (§4a.1 to §4a.4)."""
    rows = heard.claims.get(item.key, [])
    if item.excluded or not item.eligible:
        return _held_back(item, rows)
    if rows:
        return _from_rows(item, rows, "§4a.1")
    if heard.ambiguous[item.key]:
        said = {"ambiguous_rows": heard.ambiguous[item.key]}
        return _settle(item, None, VerdictSource.CONFLICTING, "§4a.1", said)
    if heard.unanimous is not None:
        return _settle(item, heard.unanimous, VerdictSource.UNANIMOUS, "§4a.2", heard.common)
    if heard.is_malformed:
        return _settle(item, None, VerdictSource.MALFORMED, "§4a.2")
    return _settle(item, None, VerdictSource.UNREPORTED, "§4a.3")


def _from_rows(item: ConfirmedItem, rows: Sequence[JSON], rule: str) -> ItemOutcome:
    """What one or several rows about the same item say of it (runtime.md §4a.3)."""
    said, verdicts = _all_said(rows), {verdict_of(row) for row in rows}
    if None in verdicts:
        return _settle(item, None, VerdictSource.MALFORMED, "§4a.3", said)
    if len(verdicts) > 1:
        return _settle(item, None, VerdictSource.CONFLICTING, "§4a.3", said)
    return _settle(item, verdicts.pop(), VerdictSource.ROW, rule, said)


def _held_back(item: ConfirmedItem, rows: Sequence[JSON]) -> ItemOutcome:
    """An item that was not to be done: no row changes that, whatever it says (§4a.3, §4a.4, §7)."""
    status, source, rule = ItemStatus.INELIGIBLE, VerdictSource.PRE_VALIDATION, "§4a.3"
    if item.excluded:
        status, source, rule = ItemStatus.EXCLUDED, VerdictSource.USER, "§4a.4"
    said = _all_said(rows)
    return ItemOutcome(
        item.key,
        item.label,
        status,
        source,
        reason=item.reason or _reason(said, done=False),
        protocol=first_text(said, PROTOCOL_FIELDS),
        evidence=said,
        rule=f"runtime.md {rule}",
        fields=dict(item.fields),
    )


def _settle(
    item: ConfirmedItem,
    verdict: bool | None,
    source: VerdictSource,
    rule: str,
    said: Mapping[str, JSON] | None = None,
    error: str | None = None,
) -> ItemOutcome:
    """The outcome of an item that was sent: done, not done, or not known."""
    evidence = dict(said or {})
    status = {True: ItemStatus.SUCCEEDED, False: ItemStatus.FAILED, None: ItemStatus.UNKNOWN}[verdict]
    return ItemOutcome(
        item.key,
        item.label,
        status,
        source,
        reason=_reason(evidence, done=verdict is True) or (None if verdict else error),
        protocol=first_text(evidence, PROTOCOL_FIELDS),
        evidence=evidence,
        rule=f"runtime.md {rule}",
        fields=dict(item.fields),
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """What an answer without rows says as a whole."""

    verdict: bool | None
    evidence: JSON
    error: str | None


def _told_as_a_whole(items: Sequence[ConfirmedItem], said: _Said, atomicity: Atomicity) -> list[ItemOutcome]:
    """One verdict for the call: the item's if it is the only one, else everybody's only if atomic (§4a.7)."""
    asked = sum(1 for item in items if not item.excluded)
    counts = asked <= 1 or atomicity is Atomicity.ALL_OR_NOTHING
    verdict = said.verdict if counts else None
    evidence: dict[str, JSON] = {}
    if verdict is not None:
        whole = _as_object(said.evidence, "answer")
        # The whole answer beside each of many items would be stored as often as there are items.
        evidence = whole if asked <= 1 else {name: value for name, value in whole.items() if _is_scalar(value)}
    source = VerdictSource.UNREPORTED if verdict is None else VerdictSource.GLOBAL
    error = said.error or (said.evidence if isinstance(said.evidence, str) else None)
    return [
        _held_back(item, ())
        if item.excluded or not item.eligible
        else _settle(item, verdict, source, "§4a.7", evidence, error if verdict is False else None)
        for item in items
    ]


def _discovered(rows: Sequence[JSON]) -> list[ItemOutcome]:
    """The items that the rows themselves define, in the order in which they first appear (§4a.5)."""
    groups: dict[tuple[tuple[str, str], ...], list[JSON]] = defaultdict(list)
    nameless: list[JSON] = []
    for row in rows:
        name = _name_in(row)
        if name:
            groups[name].append(row)
        else:
            nameless.append(row)
    keys: dict[tuple[tuple[str, str], ...], str] = {}
    taken: set[str] = set()
    for name in sorted(groups):
        keys[name] = _free(name[0][1], taken)
        taken.add(keys[name])
    named = [(keys[name], group) for name, group in groups.items()]
    unnamed = [(_free(f"row-{number}", taken), [row]) for number, row in enumerate(sorted(nameless, key=_order), 1)]
    return [_from_rows(_item_in(key, group), group, "§4a.5") for key, group in [*named, *unnamed]]


def _name_in(row: JSON) -> tuple[tuple[str, str], ...]:
    """By what a row names its item: a key, else what it is called, else all that identifies it."""
    if not isinstance(row, Mapping):
        text = identity(row)
        return (("", text),) if text else ()
    fields = identifying_fields(row)
    for name in (KEY_FIELD, "id", "key", "label", "name"):
        if name in fields:
            return ((name, fields[name]),)
    return tuple(sorted(fields.items()))


def _free(name: str, taken: set[str]) -> str:
    """A key for what is called ``name``: short, fit for an address, and not one of ``taken``."""
    key = "-".join(name.replace("/", " ").split())
    if len(key) > _LONGEST_KEY:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        key = f"{key[: _LONGEST_KEY - 13]}-{digest}"
    number, free = 1, key
    while free in taken:
        number += 1
        free = f"{key}-{number}"
    return free


def _item_in(key: str, rows: Sequence[JSON]) -> ConfirmedItem:
    said = _all_said(rows)
    fields = {name: said[name] for name in identifying_fields(said)} or {"label": label_of(rows[0])}
    return ConfirmedItem(key, fields, label_of(min(rows, key=_order)))


def _incidents(items: Sequence[ConfirmedItem], heard: _Heard, atomicity: Atomicity) -> Iterable[str]:
    """What operators must hear of (runtime.md §4a.4, §4a.7, §7)."""
    if heard.unconfirmed:
        yield f"reported although nobody confirmed it: {_named(label_of(row) for row in heard.unconfirmed)}"
    done = {key: True in {verdict_of(row) for row in rows} for key, rows in heard.claims.items()}
    refused = [item.label for item in items if not item.eligible and not item.excluded and done.get(item.key)]
    if refused:
        yield f"reported as done although the validator had refused it: {_named(refused)}"
    verdicts = {verdict_of(row) for rows in heard.claims.values() for row in rows}
    verdicts |= {verdict_of(row) for row in heard.anonymous}
    if atomicity is Atomicity.ALL_OR_NOTHING and {True, False} <= verdicts:
        yield "some items were done and some were not, although the policy says all or nothing"


def _named(labels: Iterable[str]) -> str:
    every = [label or "an item without a name" for label in labels]
    more = len(every) - _NAMED_IN_INCIDENTS
    return ", ".join(every[:_NAMED_IN_INCIDENTS]) + (f" and {more} more" if more > 0 else "")


def _unanimous(rows: Sequence[JSON]) -> bool | None:
    verdicts = {verdict_of(row) for row in rows}
    return verdicts.pop() if len(verdicts) == 1 else None


def _all_said(rows: Sequence[JSON]) -> dict[str, JSON]:
    """Everything that the rows about one item said; several rows are also kept one by one."""
    ordered = sorted(rows, key=_order)
    said: dict[str, JSON] = {}
    for row in ordered:
        said = {**_as_object(row), **said}
    return said | {"rows": ordered} if len(ordered) > 1 else said


def _common(rows: Sequence[JSON]) -> dict[str, JSON]:
    """What all rows say alike: of one row everything, of several the scalars that are equal."""
    first = _as_object(rows[0])
    if len(rows) == 1:
        return first
    return {
        name: value
        for name, value in first.items()
        if _is_scalar(value) and all(name in row and _order(row[name]) == _order(value) for row in rows)
    }


def _as_object(value: JSON, name: str = "row") -> dict[str, JSON]:
    if isinstance(value, Mapping):
        return dict(value)
    return {} if value is None else {name: value}


def _is_scalar(value: JSON) -> bool:
    return not isinstance(value, Mapping | list)


def _order(value: JSON) -> tuple[str, ...]:
    """A sort key for any JSON value, one level deep, so that it cannot fail on a deep one."""
    if isinstance(value, Mapping):
        return tuple(part for name in sorted(value) for part in (name, *_order_of_part(value[name])))
    return _order_of_part(value)


def _order_of_part(value: JSON) -> tuple[str, str]:
    return type(value).__name__, str(len(value)) if not _is_scalar(value) else _text(value)


def _text(value: JSON) -> str:
    return hex(value) if isinstance(value, int) else str(value)


def _reason(said: Mapping[str, JSON], *, done: bool) -> str | None:
    """The row's ``reason``, else its ``error`` as text; a row that was done has no error to tell (§4a.8)."""
    reason = first_text(said, ("reason",))
    if reason or done:
        return reason
    error = said.get("error")
    return first_text(error, ("message", "detail", "reason", "code")) or first_text(said, ("error",))
