"""Which intent a message asks for and which tool of it: keywords, or the router's model (runtime.md §3, §6.8)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from tooling.specs import JSON, IntentSpec, ToolSpec
from transactions.core.folding import tokens
from transactions.core.parameters import Unreadable, argument_schemas, strict_object, values_schema
from transactions.core.phrases import HEDGES
from transactions.core.statuses import Status

RoutingDecision = Literal["shift", "continue", "question", "abandon", "none"]
DECISIONS: tuple[RoutingDecision, ...] = ("shift", "continue", "question", "abandon", "none")

NEGATION_REACH = 4
"""How many words before a keyword a negation may stand."""
_NEGATIONS = frozenset[str]().union(*(hedges.negations for hedges in HEDGES.values()))

# By keyword ------------------------------------------


def keyword_match(message: str, intents: Sequence[IntentSpec]) -> IntentSpec | None:
    """The enabled intent whose keyword stands in ``message`` as whole adjacent words, case and accents folded.

    The longest keyword wins, then the lower priority number, then the name (runtime.md §6.8). Punctuation between
    words does not part them. A keyword right after a negation ("I do not want to …") says nothing: the model reads it.
    """
    said = tokens(message)
    best: tuple[int, int, str] | None = None
    found: IntentSpec | None = None
    for intent in intents:
        length = _longest(intent.keywords, said) if intent.enabled else 0
        rank = (-length, intent.priority, intent.name)
        if length and (best is None or rank < best):
            best, found = rank, intent
    return found


def keyword_in(message: str, intent: IntentSpec) -> str:
    """The keyword by which ``keyword_match`` finds ``intent`` in ``message``; "" where it does not."""
    said = tokens(message)
    if not _longest(intent.keywords, said):
        return ""
    return max(intent.keywords, key=lambda keyword: _longest((keyword,), said))


def _longest(keywords: Sequence[str], said: tuple[str, ...]) -> int:
    """How many characters the longest keyword among ``said`` has, folded; 0 if none is there."""
    folded = (tokens(keyword) for keyword in keywords)
    return max((len(" ".join(words)) for words in folded if _stands_in(words, said)), default=0)


def _stands_in(words: tuple[str, ...], said: tuple[str, ...]) -> bool:
    starts = range(len(said) - len(words) + 1)
    found = (start for start in starts if said[start : start + len(words)] == words)
    return bool(words) and any(not _is_negated(said[:start]) for start in found)


def _is_negated(before: tuple[str, ...]) -> bool:
    """Whether the last words before a keyword negate it; "don't" comes as two tokens."""
    near = before[-NEGATION_REACH:]
    return bool(_NEGATIONS & set(near)) or ("don", "t") in pairwise(near)


# The tool of an intent ------------------------------------------


@dataclass(frozen=True, slots=True)
class Chosen:
    """The tool to run. It may be disabled: then it is not available at the moment (runtime.md §3)."""

    tool: str


@dataclass(frozen=True, slots=True)
class AskWhich:
    """Several tools fit: the user is asked."""

    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoTool:
    """The intent names no tool that exists."""


def select_tool(intent: IntentSpec, tools: Mapping[str, ToolSpec], message: str) -> Chosen | AskWhich | NoTool:
    """The tool of ``intent`` for ``message`` (runtime.md §3).

    The one with the longest selection keyword in the message, else the only one without keywords, else the only one
    at all. A tool that is off is chosen where the message names it or nothing else is left, and never offered.
    """
    known = [tools[name] for name in intent.mcp_tools if name in tools]
    if not known:
        return NoTool()
    named = _named_in(message, known)
    candidates = named or [tool for tool in known if tool.enabled] or known[:1]
    if len(candidates) == 1:
        return Chosen(candidates[0].name)
    silent = [tool for tool in candidates if not tool.selection_keywords]
    if len(silent) == 1:
        return Chosen(silent[0].name)
    return AskWhich(tuple(tool.name for tool in candidates))


def _named_in(message: str, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools whose keyword in ``message`` is the longest; several if they are equally long, none if none is."""
    said = tokens(message)
    lengths = [_longest(tool.selection_keywords, said) for tool in tools]
    longest = max(lengths)
    return [tool for tool, length in zip(tools, lengths, strict=True) if length and length == longest]


# By the model ------------------------------------------


@dataclass(frozen=True, slots=True)
class ActiveTransaction:
    """What the router is told about the transaction that occupies the conversation."""

    tool: ToolSpec
    status: Status
    known: Mapping[str, JSON]
    pending: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Routing:
    """What the router's model read. ``intent`` is one on offer or None; ``values`` correct known parameters, raw."""

    decision: RoutingDecision
    intent: str | None
    confidence: float
    values: Mapping[str, JSON]
    reason: str


def routing_request(
    message: str,
    *,
    active: ActiveTransaction | None,
    intents: Sequence[IntentSpec],
    last_assistant_message: str | None,
    locale: str,
) -> dict[str, JSON]:
    """The user JSON of ``intent_routing`` (contracts.md §4); only enabled intents are on offer."""
    return {
        "message": message,
        "active_transaction": _described(active, locale) if active else None,
        "intents": [
            {
                "name": intent.name,
                "description": intent.description.in_locale(locale),
                "examples": list(intent.examples),
            }
            for intent in intents
            if intent.enabled
        ],
        "last_assistant_message": last_assistant_message,
        "locale": locale,
    }


def _described(active: ActiveTransaction, locale: str) -> dict[str, JSON]:
    return {
        "tool": active.tool.name,
        "tool_description": active.tool.description.in_locale(locale),
        "status": str(active.status),
        "known": dict(active.known),
        "pending": list(active.pending),
        "schema": argument_schemas(active.tool, (*active.known, *active.pending), locale),
    }


def routing_schema(intents: Sequence[IntentSpec], tool: ToolSpec | None, known: Sequence[str]) -> dict[str, JSON]:
    """The strict JSON schema of the router's answer; the decision comes first.

    ``known``: the arguments of ``tool``, the active transaction's, that the answer may correct.
    """
    names = [intent.name for intent in intents if intent.enabled]
    corrections = {"anyOf": [values_schema(tool, known), {"type": "null"}]} if tool and known else {"type": "null"}
    return strict_object(
        {
            "decision": {"type": "string", "enum": list(DECISIONS)},
            "intent": {"type": ["string", "null"], "enum": [*names, None]},
            "confidence": {"type": "number"},
            "values": corrections,
            "reason": {"type": "string"},
        }
    )


def read_routing(answer: JSON, *, intents: Sequence[IntentSpec]) -> Routing | Unreadable:
    """The model's answer as a Routing; Unreadable without a decision of the contract.

    An intent that is not on offer is none. A confidence that is no number from 0 to 1 is no confidence: 0.
    """
    if not isinstance(answer, dict):
        return Unreadable("the routing is not an object")
    decision = next((known for known in DECISIONS if known == answer.get("decision")), None)
    if decision is None:
        return Unreadable("the routing has no decision")
    on_offer = [intent.name for intent in intents if intent.enabled]
    named, values, reason = answer.get("intent"), answer.get("values"), answer.get("reason")
    return Routing(
        decision=decision,
        intent=named if isinstance(named, str) and named in on_offer else None,
        confidence=_confidence(answer.get("confidence")),
        values={name: value for name, value in values.items() if value is not None} if isinstance(values, dict) else {},
        reason=reason if isinstance(reason, str) else "",
    )


def _confidence(value: JSON) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 <= value <= 1 and math.isfinite(value) else 0.0
