"""What all tools of a demo server do: note the call, act once per key and item, disturb the answer if asked."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from tooling.demo.faults import Behaviour, Faults
from tooling.demo.ledger import Effect, Ledger
from tooling.demo.words import folded

META = "agentplatform/"
DRY_RUN = META + "dry_run"
"""In the ``_meta`` of a call: answer as if, and do nothing."""
MOST_REHEARSALS = 1000
DROP = "demo.drop"
"""The key in the ASGI scope of a request whose answer must not arrive."""

Row = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Visit:
    """One call of one tool, with what its ``_meta`` said."""

    tool: str
    customer: str
    digest: str
    idempotency_key: str = ""
    transaction_id: str = ""
    request_digest: str = ""
    item_keys: dict[str, str] = field(default_factory=dict)
    is_dry_run: bool = False
    scope: Any = None

    def key_of(self, item: str) -> str:
        """The caller's key of ``item``, by its label."""
        return self.item_keys.get(folded(item), "")


@dataclass(frozen=True, slots=True)
class Work:
    """What an acting tool does to one item: ``refusal`` says why not, "" where it may; ``field`` names it in a row."""

    field: str
    outcome: str
    prefix: str
    refusal: Callable[[Visit, str], str]

    def new_protocol(self) -> str:
        return f"{self.prefix}-{secrets.token_hex(4).upper()}"


@dataclass(slots=True)
class Rehearsal:
    """What one dry run was answered."""

    tool: str
    digest: str
    rows: list[Row]


@dataclass(slots=True)
class Desk:
    """The ledger and the faults of one server, and the newest dry runs, which are kept nowhere else."""

    ledger: Ledger
    faults: Faults = field(default_factory=Faults)
    rehearsals: dict[str, Rehearsal] = field(default_factory=dict)

    def visit(self, context: Context, tool: str, customer: str | None, **arguments: Any) -> Visit:
        """Note that ``tool`` was called. Raises ToolError where a fault refuses the whole call."""
        meta = context.request_context.meta or {}
        request = context.request_context.request
        visit = Visit(
            tool=tool,
            customer=customer or "anonymous",
            digest=_digest(arguments),
            idempotency_key=_text(meta.get(META + "idempotency_key")),
            transaction_id=_text(meta.get(META + "transaction_id")),
            request_digest=_text(meta.get(META + "request_digest")),
            item_keys=_keys(meta.get(META + "item_keys")),
            is_dry_run=meta.get(DRY_RUN) is True,
            scope=getattr(request, "scope", None),
        )
        ours = {name: value for name, value in meta.items() if name.startswith(META)}
        with self.ledger.exclusive():
            self.ledger.note(
                "call",
                durable=False,
                tool=tool,
                customer=visit.customer,
                idempotency_key=visit.idempotency_key,
                arguments=arguments,
                meta=ours,
            )
        return visit

    def failure(self, visit: Visit, item: str) -> str:
        """The reason of a fault that refuses ``item`` now; empty where none does."""
        fault = self.faults.take(Behaviour.FAIL, visit.tool, [item])
        return fault.reason if fault else ""

    def act(self, visit: Visit, items: Sequence[str], work: Work) -> list[Row]:
        """One row per item; nothing happens twice under one idempotency key, and in a dry run nothing at all.

        Raises ToolError for a key that came with other arguments before.
        """
        if visit.is_dry_run:
            return self._rehearse(visit, items, work)
        key = visit.idempotency_key
        with self.ledger.exclusive():
            known = self.ledger.notes("answer", idempotency_key=key) if key else []
            if known:
                if (known[0]["tool"], known[0]["digest"]) != (visit.tool, visit.digest):
                    raise ToolError("this idempotency key came with other arguments before")
                return [dict(row) for row in known[0]["rows"]]
            rows = [self._row(visit, item, work) for item in items]
            if key:
                self.ledger.note("answer", idempotency_key=key, tool=visit.tool, digest=visit.digest, rows=rows)
        return rows

    def _rehearse(self, visit: Visit, items: Sequence[str], work: Work) -> list[Row]:
        """The rows that ``act`` would give; they honour the key as those of a real call do."""
        key = visit.idempotency_key
        with self.ledger.exclusive():
            known = self.rehearsals.get(key) if key else None
            if known is None:
                rows = [self._rehearsed(visit, item, work) for item in items]
                known = Rehearsal(visit.tool, visit.digest, rows)
        if (known.tool, known.digest) != (visit.tool, visit.digest):
            raise ToolError("this idempotency key came with other arguments before")
        if key:
            self.rehearsals[key] = known
        if len(self.rehearsals) > MOST_REHEARSALS:
            del self.rehearsals[next(iter(self.rehearsals))]
        return [dict(row) for row in known.rows]

    def _rehearsed(self, visit: Visit, item: str, work: Work) -> Row:
        row = _named(visit, item, work)
        reason = self.failure(visit, item) or work.refusal(visit, item)
        if reason:
            return row | {"success": False, "reason": reason}
        return row | {"success": True, "protocol": work.new_protocol()}

    async def answer(self, visit: Visit, items: Iterable[str], answer: Answer, *, names: str = "") -> Answer:
        """``answer`` as it leaves: later, without a row, or not at all, where a fault says so.

        ``names`` is the field of a row that names its item.
        """
        concerned = list(items)
        if delay := self.faults.take(Behaviour.DELAY, visit.tool, concerned):
            await anyio.sleep(delay.seconds)
        if visit.scope is not None and self.faults.take(Behaviour.DROP_ANSWER, visit.tool, concerned):
            visit.scope[DROP].append(visit.tool)
        if omitted := self.faults.take(Behaviour.OMIT_ROW, visit.tool, concerned):
            gone = folded(omitted.item)
            kept = [row for row in answer.get("results", []) if gone and folded(str(row.get(names))) != gone]
            return answer | {"results": kept}
        return answer

    def _row(self, visit: Visit, item: str, work: Work) -> Row:
        row = _named(visit, item, work)
        done = self._done_before(visit, item)
        if done is not None:
            return row | {"success": True, "protocol": done["protocol"]}
        reason = self.failure(visit, item) or work.refusal(visit, item)
        if reason:
            return row | {"success": False, "reason": reason}
        effect = Effect(
            tool=visit.tool,
            item=item,
            outcome=work.outcome,
            protocol=work.new_protocol(),
            customer=visit.customer,
            idempotency_key=visit.idempotency_key,
            item_key=visit.key_of(item),
            transaction_id=visit.transaction_id,
            request_digest=visit.request_digest,
        )
        self.ledger.record(effect)
        return row | {"success": True, "protocol": effect.protocol}

    def _done_before(self, visit: Visit, item: str) -> dict[str, Any] | None:
        """The effect that an earlier call with this key had on ``item`` before it could answer."""
        if not visit.idempotency_key:
            return None
        ours = (effect for effect in self.ledger.effects if effect["idempotency_key"] == visit.idempotency_key)
        return next((effect for effect in ours if effect["item"] == item), None)

    def outcome(self, customer: str, item: str) -> str:
        """What happened to ``item`` of ``customer`` so far; empty where nothing did."""
        ours = (effect for effect in reversed(self.ledger.effects) if effect["customer"] == customer)
        return next((str(effect["outcome"]) for effect in ours if effect["item"] == item), "")


def _named(visit: Visit, item: str, work: Work) -> Row:
    """The beginning of a row: which item it is about."""
    key = visit.key_of(item)
    return {work.field: item} | ({"item_key": key} if key else {})


def _digest(arguments: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _keys(value: object) -> dict[str, str]:
    """Folded label → key; a label that two items share names neither."""
    pairs = [
        (folded(str(entry["label"])), str(entry["key"]))
        for entry in (value if isinstance(value, list) else [])
        if isinstance(entry, dict) and entry.keys() >= {"key", "label"}
    ]
    labels = [label for label, _ in pairs]
    return {label: key for label, key in pairs if labels.count(label) == 1}
