"""A bundle: the evidence of one transaction as one document that can be checked without the database. Pure.

It holds the transaction as the API shows it, and the chain of its conversation: its own events and the messages that
led to them in full, all others as the fingerprint of their content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from transactions.core.evidence import RAW_ANSWER, REQUEST, START, Entry, canonical, fingerprint, link
from transactions.core.records import Told, contradictions

FORMAT = "agentplatform.evidence/1"


def chain_rows(entries: Iterable[Entry], transaction: str, turns: set[str]) -> Iterator[dict[str, Any]]:
    """The events of a conversation for the bundle of ``transaction``, to which the messages ``turns`` led."""
    for entry in entries:
        is_own = entry.transaction == transaction or (entry.transaction is None and entry.turn in turns)
        shown = {"event": entry.plain()} if is_own else {"content": entry.content()}
        yield {"number": entry.number, "hash": entry.hash, **shown}


def signed_bytes(bundle: Mapping[str, Any]) -> bytes:
    """What the signature covers: everything but itself."""
    content = {name: value for name, value in bundle.items() if name != "signature"}
    return FORMAT.encode() + b"\n" + canonical(content)


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of a bundle that does not hold, and why."""

    part: str
    detail: str


def problems_of(bundle: Mapping[str, Any]) -> list[Problem]:
    """Which parts do not fit the chain, the signature aside; total for any JSON object."""
    try:
        if bundle["format"] != FORMAT:
            return [Problem("format", f"it is no {FORMAT}")]
        return [*_chain(bundle["chain"]), *_beside(bundle["transaction"], bundle["chain"]["events"])]
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        return [Problem("format", f"a part is missing or malformed: {error!r}")]


def _chain(chain: Mapping[str, Any]) -> Iterator[Problem]:
    previous = START
    rows = chain["events"]
    if len(rows) != chain["length"]:
        yield Problem("chain", f"it holds {len(rows)} events of {chain['length']}")
    for expected, row in enumerate(rows, 1):
        event = row.get("event")
        content = row["content"] if event is None else fingerprint(event)
        is_placed = row["number"] == expected and (event is None or event["number"] == expected)
        is_ours = event is None or event["conversation"] == chain["conversation_id"]
        if not is_placed or not is_ours or row["hash"] != link(previous, content):
            yield Problem("chain", f"event {expected} does not follow from the one before it")
        previous = row["hash"]
    if previous != chain["head"]:
        yield Problem("chain", "its last event is not the newest one")


def _beside(transaction: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
    own = [row["event"] for row in rows if "event" in row and row["event"]["transaction"] == transaction["id"]]
    if not any(event["kind"] == "transaction.started" for event in own):
        # It began before there was a chain: the signature alone vouches for what is older.
        return
    shown = [(event["kind"], event["data"], event["model_calls"]) for event in transaction["events"]]
    chained = [(event["kind"], event["data"], event["model_calls"]) for event in own]
    if canonical(shown) != canonical(chained):
        yield Problem("events", "the transaction's events are not those of the chain")
    yield from _rows(transaction, own)
    yield from _attempts(transaction["attempts"], own)
    yield from _confirmations(transaction["confirmations"], own)


def _rows(transaction: Mapping[str, Any], own: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
    """The rows that show outcomes, against the newest event that speaks of each."""
    told = Told()
    for event in own:
        told.take(event["number"], event["kind"], event["data"])
    arguments = {held["name"]: {key: held[key] for key in held if key != "name"} for held in transaction["arguments"]}
    for found in contradictions(told, {**transaction, "arguments": arguments}):
        yield Problem(found.part, str(found))


def _attempts(attempts: Iterable[Mapping[str, Any]], own: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
    told = {
        (event["data"]["attempt"], key): event["data"][key]
        for event in own
        for key in (REQUEST, RAW_ANSWER)
        if key in event["data"]
    }
    kept = {
        (attempt["number"], key): fingerprint(attempt[name])
        for attempt in attempts
        for key, name in ((REQUEST, "request"), (RAW_ANSWER, "raw_answer"))
        if attempt[name]
    }
    for number, key in sorted(told.keys() | kept.keys()):
        if told.get((number, key)) != kept.get((number, key)):
            name = "request" if key == REQUEST else "raw answer"
            yield Problem("attempts", f"the {name} of attempt {number} is not what was recorded")


def _confirmations(confirmations: Iterable[Mapping[str, Any]], own: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
    told: dict[str, dict[str, Any]] = {}
    for event in own:
        if event["kind"] in ("confirmation.opened", "confirmation.requested"):
            data = event["data"]
            held = {name: data[name] for name in ("text", "digest") if name in data}
            told.setdefault(data["confirmation_id"], {}).update(held)
    kept = {row["id"]: {"text": row["text"], "digest": row["digest"]} for row in confirmations}
    for pk in sorted(told.keys() | kept.keys()):
        if told.get(pk) != kept.get(pk):
            yield Problem("confirmations", f"confirmation {pk} is not what was recorded")
