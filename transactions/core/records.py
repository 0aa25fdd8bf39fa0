"""What the events of a transaction say of its rows, and where the rows say something else. Pure.

The rows that show an outcome (the transaction, its items, its confirmations) change while it lives, so they are not
events. Every commit that changes them records an event, and what that says is compared here: with the rows of the
database and with those of a bundle alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tooling.cleaning import clean_json
from transactions.core.evidence import Finding, Wrong, canonical, fingerprint
from transactions.core.reply import shown_reason
from transactions.core.statuses import ConfirmationStatus, ItemStatus, ReviewState, Status

IN_WORDS = ("pt-BR", "en")
"""The languages in which a reason may have been shown: a conversation is told in one of them."""
LONGEST = 80
"""Characters of a value that a finding quotes."""
PRE_VALIDATION_KEYS = ("tool", "eligible", "fail_open_used", "request", "answer", "error")
UNTOLD = {ItemStatus.PENDING, ItemStatus.IN_FLIGHT, ItemStatus.INELIGIBLE, ItemStatus.EXCLUDED}
"""What an item can be before anybody was told an outcome."""
PLANNED = {True: {ItemStatus.PENDING, ItemStatus.IN_FLIGHT}, False: {ItemStatus.INELIGIBLE}}
"""What an item can be that the open question, or the confirmed one, names as eligible or not."""
ASKED = (Status.AWAITING_CONFIRMATION, Status.EXECUTING)
SEALED = ("arguments", "pre_validation", "reason")
SEALING = (
    "transaction.moved",
    "transaction.redirected",
    "transaction.retried",
    "confirmation.opened",
    "turn.handled",
)
"""Events that always carry fingerprints; one without was written by a release that knew none."""


# What is written beside an event ------------------------------------------


def shown_pre_validation(held: Any) -> Any:
    """The validator's run as the record shows it; a column that holds no object, as it is."""
    if not isinstance(held, Mapping):
        return held
    shown = {key: held.get(key) for key in PRE_VALIDATION_KEYS}
    verdict = shown["eligible"] if isinstance(shown["eligible"], bool) else None
    return shown | {"eligible": verdict, "fail_open_used": bool(shown["fail_open_used"])}


def seal(*, arguments: Any, pre_validation: Any, reason: str) -> dict[str, str]:
    """The fingerprints of the columns of a transaction that no event holds in full, for an operator-only event."""
    return {
        "arguments_sha256": fingerprint(arguments),
        "pre_validation_sha256": fingerprint(shown_pre_validation(pre_validation)),
        "reason_sha256": fingerprint(reason),
    }


# Reading the events ------------------------------------------


@dataclass(frozen=True, slots=True)
class Said:
    """What an event says of a column, or that no event says anything of the row (``number`` None)."""

    number: int | None
    kind: str
    value: Any


@dataclass(slots=True)
class Told:
    """What the events of one transaction say of its rows; ``take`` them in the order of their numbers."""

    is_begun: bool = False
    """It began in the chain, so that nothing of it is older."""
    columns: dict[str, Said] = field(default_factory=dict)
    seals: dict[str, Said] = field(default_factory=dict)
    """column → fingerprint."""
    is_sealed: bool = True
    """Nothing of it was written by a release that knew no fingerprints, nor an event of a redirect."""
    outcomes: Said | None = None
    """What was told of every item last."""
    asked: Said | None = None
    """The items of the newest confirmation."""
    is_answered_since: bool = False
    """An answer came after ``outcomes``: of what is unknown, it may have said more without settling it."""
    confirmations: dict[str, dict[str, Said]] = field(default_factory=dict)
    """confirmation → its columns."""
    open: str | None = None
    """The confirmation that waits for its answer."""

    def take(self, number: int | None, kind: str, data: Mapping[str, Any]) -> None:
        """Total for whatever an event holds."""
        match kind:
            case "transaction.started":
                self._start(number, kind, data)
            case "transaction.moved":
                self._keep(number, kind, data, "reason_code", status="to")
                self._close(number, kind, data)
            case "transaction.redirected":
                self._keep(number, kind, data, "tool")
            case "review.needed" | "review.changed":
                self._keep(number, kind, data, review_state="to")
            case "transaction.finished" | "transaction.verifying":
                self._keep(number, kind, data, "multi_item_status")
                self.outcomes = Said(number, kind, _rows(data.get("items")))
                self.is_answered_since = False
            case "attempt.answered" | "reconcile.finished":
                self.is_answered_since = True
            case "confirmation.opened" | "confirmation.requested" | "confirmation.answered":
                self._ask(number, kind, data)
        self._seal(number, kind, data)

    def _seal(self, number: int | None, kind: str, data: Mapping[str, Any]) -> None:
        found = {column: Said(number, kind, data[key]) for column in SEALED if (key := f"{column}_sha256") in data}
        if found:
            self.seals = found
        elif kind in SEALING:
            self.seals, self.is_sealed = {}, False

    def _keep(self, number: int | None, kind: str, data: Mapping[str, Any], *same: str, **named: str) -> None:
        for column, key in {**dict(zip(same, same, strict=True)), **named}.items():
            if key in data:
                self.columns[column] = Said(number, kind, data[key])

    def _start(self, number: int | None, kind: str, data: Mapping[str, Any]) -> None:
        self.is_begun = True
        begun = {"status": Status.COLLECTING_PARAMETERS, "reason_code": "", "review_state": ReviewState.NONE}
        self._keep(number, kind, {"parent_id": None, **begun, **data}, "tool", "release", "parent_id", *begun)

    def _ask(self, number: int | None, kind: str, data: Mapping[str, Any]) -> None:
        pk = str(data.get("confirmation_id"))
        if kind == "confirmation.requested":
            self.asked = Said(number, kind, _rows(data.get("items")))
        elif kind == "confirmation.opened":
            self._answer(self.open, ConfirmationStatus.REPLACED, number, kind)
            self._answer(pk, ConfirmationStatus.OPEN, number, kind)
            self.open = pk
        else:
            is_yes = data.get("decision") == "confirm"
            status = ConfirmationStatus.CONFIRMED if is_yes else ConfirmationStatus.REJECTED
            self._answer(pk, status, number, kind, by=str(data.get("by") or ""))
            self.open = None

    def _close(self, number: int | None, kind: str, data: Mapping[str, Any]) -> None:
        """A question that was not answered before the transaction moved on is dead."""
        if data.get("from") == Status.AWAITING_CONFIRMATION:
            is_over = data.get("to") == Status.EXPIRED
            status = ConfirmationStatus.EXPIRED if is_over else ConfirmationStatus.REPLACED
            self._answer(self.open, status, number, kind)
            self.open = None

    def _answer(
        self, pk: str | None, status: ConfirmationStatus, number: int | None, kind: str, *, by: str = ""
    ) -> None:
        if pk is not None:
            self.confirmations[pk] = {"status": Said(number, kind, status), "answered_by": Said(number, kind, by)}


def _rows(items: Any) -> dict[str, Mapping[str, Any]]:
    """key → what an event says of the item."""
    rows = items if isinstance(items, list) else []
    return {str(row["key"]): row for row in rows if isinstance(row, Mapping) and "key" in row}


# Comparing ------------------------------------------


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One column of one row that is not what the events say."""

    part: str
    """Where a bundle shows it."""
    row: str
    column: str
    wrong: Wrong
    said: Said
    detail: str

    def __str__(self) -> str:
        return f"{self.row}: {self.column} {self.detail}"

    @property
    def finding(self) -> Finding:
        return Finding(self.wrong, self.said.number, self.said.kind, str(self))


def contradictions(told: Told, transaction: Mapping[str, Any]) -> Iterator[Contradiction]:
    """Where ``transaction`` with its ``items`` and ``confirmations`` is not what its events say.

    Shaped like the API's; a column that is not in it is not compared, nor is anything that began before the chain.
    """
    if not told.is_begun:
        return
    yield from _own_columns(told, transaction)
    yield from _items(told, transaction)
    yield from _confirmations(told, transaction)


def _changed(part: str, row: str, column: str, said: Said, stored: Any) -> Contradiction:
    detail = f"is {_quoted(stored)}, event {said.number} ({said.kind}) says {_quoted(said.value)}"
    return Contradiction(part, row, column, Wrong.CHANGED, said, detail)


def _quoted(value: Any) -> str:
    text = "empty" if value in (None, "") else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _is_same(stored: Any, said: Any) -> bool:
    """Blank and null are the same: which of them it is, the API does not show."""
    return canonical(clean_json(stored or None)) == canonical(said or None)


def _own_columns(told: Told, transaction: Mapping[str, Any]) -> Iterator[Contradiction]:
    row = f"transactions_transaction {transaction['id']}"
    for column, said in told.columns.items():
        if column not in transaction or _may_differ(told, column):
            continue
        if not _is_same(transaction[column], said.value):
            yield _changed(column, row, column, said, transaction[column])
    for column, said in told.seals.items():
        if column not in transaction:
            continue
        value = transaction[column]
        shown = shown_pre_validation(value) if column == "pre_validation" else value
        if fingerprint(shown) != said.value:
            detail = f"is not what event {said.number} ({said.kind}) recorded"
            yield Contradiction(column, row, column, Wrong.CHANGED, said, detail)


def _may_differ(told: Told, column: str) -> bool:
    if column == "multi_item_status":
        return told.is_answered_since
    return column == "tool" and not told.is_sealed


def _items(told: Told, transaction: Mapping[str, Any]) -> Iterator[Contradiction]:
    counted = {str(item["key"]): item for item in transaction["items"] if not item["unconfirmed"]}
    name = f"of transaction {transaction['id']}"
    if told.outcomes is None:
        status = told.columns["status"].value
        asked = told.asked if status in ASKED and told.confirmations else None
        for key, item in counted.items():
            yield from _untold(f"transactions_item {key} {name}", item, asked, key)
        return
    said = told.outcomes
    is_open = any(row.get("status") == ItemStatus.UNKNOWN for row in said.value.values())
    for key, row in said.value.items():
        if key in counted:
            yield from _told(f"transactions_item {key} {name}", counted[key], row, told, said)
        elif not (told.is_answered_since and row.get("status") == ItemStatus.UNKNOWN):
            detail = f"is missing, event {said.number} ({said.kind}) tells {_quoted(row.get('status'))} of it"
            yield Contradiction("items", f"transactions_item {key} {name}", "key", Wrong.MISSING, said, detail)
    for key in counted.keys() - said.value.keys():
        if not (told.is_answered_since and is_open):
            detail = f"is in no event, event {said.number} ({said.kind}) tells all items"
            yield Contradiction("items", f"transactions_item {key} {name}", "key", Wrong.INSERTED, said, detail)


def _untold(row: str, item: Mapping[str, Any], asked: Said | None, key: str) -> Iterator[Contradiction]:
    """An item of which nobody was told an outcome: it has none, and it stands in the question as in its row."""
    nothing = Said(None, "", None)
    if item["status"] not in UNTOLD:
        detail = f"is {item['status']}, and no event tells an outcome"
        yield Contradiction("items", row, "status", Wrong.CHANGED, nothing, detail)
    if item["protocol"]:
        detail = f"is {_quoted(item['protocol'])}, and no event tells an outcome"
        yield Contradiction("items", row, "protocol", Wrong.CHANGED, nothing, detail)
    if asked is None or (item["status"] == ItemStatus.EXCLUDED and key not in asked.value):
        return
    shown = asked.value.get(key)
    if shown is None:
        detail = f"is in no question, event {asked.number} ({asked.kind}) names all items"
        yield Contradiction("items", row, "key", Wrong.INSERTED, asked, detail)
        return
    is_eligible = bool(shown.get("eligible"))
    if item["status"] in UNTOLD and item["status"] not in PLANNED[is_eligible]:
        said = Said(asked.number, asked.kind, "eligible" if is_eligible else "not eligible")
        yield _changed("items", row, "status", said, item["status"])
    yield from _words(row, item, shown, asked, may_have_reason=False)


def _told(
    row: str, item: Mapping[str, Any], shown: Mapping[str, Any], told: Told, event: Said
) -> Iterator[Contradiction]:
    if item["status"] != shown.get("status"):
        yield _changed("items", row, "status", Said(event.number, event.kind, shown.get("status")), item["status"])
    is_open = told.is_answered_since and shown.get("status") == ItemStatus.UNKNOWN
    if not is_open and not _is_same(item["protocol"], shown.get("protocol")):
        said = Said(event.number, event.kind, shown.get("protocol"))
        yield _changed("items", row, "protocol", said, item["protocol"])
    # A late answer adds its reason where there was none.
    may_have_reason = is_open or (told.is_answered_since and not shown.get("reason"))
    yield from _words(row, item, shown, event, may_have_reason=may_have_reason)


def _words(
    row: str, item: Mapping[str, Any], shown: Mapping[str, Any], event: Said, *, may_have_reason: bool
) -> Iterator[Contradiction]:
    """Its label, and its reason as it was shown."""
    if not _is_same(item["label"], shown.get("label")):
        yield _changed("items", row, "label", Said(event.number, event.kind, shown.get("label")), item["label"])
    reasons = [shown_reason(item["reason"], language) for language in IN_WORDS]
    if not may_have_reason and not any(_is_same(reason, shown.get("reason")) for reason in reasons):
        yield _changed("items", row, "reason", Said(event.number, event.kind, shown.get("reason")), item["reason"])


def _confirmations(told: Told, transaction: Mapping[str, Any]) -> Iterator[Contradiction]:
    """What was answered, by what; that one is missing or in no event is found with its text."""
    for confirmation in transaction["confirmations"]:
        for column, said in told.confirmations.get(str(confirmation["id"]), {}).items():
            if not _is_same(confirmation[column], said.value):
                row = f"transactions_confirmation {confirmation['id']} of transaction {transaction['id']}"
                yield _changed("confirmations", row, column, said, confirmation[column])


# Rows that nothing can be said of ------------------------------------------


def malformed(transaction: str, *, arguments: Any, pre_validation: Any) -> Sequence[str]:
    """The columns of a transaction that the product cannot have written, each in words."""
    row = f"transactions_transaction {transaction}"
    found: list[str] = []
    if not isinstance(arguments, Mapping):
        found.append(f"{row}: arguments is no object")
    elif names := _unheld(arguments.items()):
        found.append(f"{row}: arguments holds no value and source of {', '.join(names)}")
    if pre_validation is not None and not isinstance(pre_validation, Mapping):
        found.append(f"{row}: pre_validation is no object")
    return found


def _unheld(arguments: Iterable[tuple[str, Any]]) -> list[str]:
    return [name for name, held in arguments if not isinstance(held, Mapping) or not {"value", "source"} <= held.keys()]
