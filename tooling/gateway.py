"""The port through which the runtime calls tools, and what a call can come to (runtime.md §9.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tooling.specs import JSON, ServerSpec


@dataclass(frozen=True, slots=True)
class Call:
    """One logical call of one tool. ``meta`` goes into ``_meta`` (contracts.md §6); ``timeout`` is in seconds."""

    server: ServerSpec
    tool: str
    arguments: Mapping[str, JSON]
    meta: Mapping[str, JSON] = field(default_factory=dict)
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class Answered:
    """The tool answered. ``raw`` is the whole answer as JSON, kept as evidence before anything reads it.

    ``structured`` is the structured content (None: none), ``texts`` the text blocks in order. ``schema_error`` says
    how the answer breaks the tool's output schema; it is read all the same.
    """

    raw: JSON
    structured: JSON = None
    texts: tuple[str, ...] = ()
    is_error: bool = False
    schema_error: str = ""


@dataclass(frozen=True, slots=True)
class NotSent:
    """Proof that the tool did not run. ``again`` is false where the next try would end the same (-32601, -32602).

    ``raw`` is the JSON-RPC error with which a server that did get the call says so; None: none came.
    """

    reason: str
    again: bool = True
    raw: JSON = None


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The call may have had its effect; nobody knows. ``raw`` is what was received of an answer, if anything."""

    reason: str
    raw: JSON = None


Outcome = Answered | NotSent | NoAnswer


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool as a live server lists it."""

    name: str
    description: str
    input_schema: Mapping[str, JSON]
    output_schema: Mapping[str, JSON] | None = None
    annotations: Mapping[str, JSON] = field(default_factory=dict)
    meta: Mapping[str, JSON] = field(default_factory=dict)
    """Its ``_meta``, where a server declares sandbox and examples (contracts.md §6)."""


class ToolGateway(Protocol):
    def call(self, call: Call) -> Outcome:
        """Make one call and wait for it; never raises for anything the network or the server does."""
        ...

    def list_tools(self, server: ServerSpec, timeout: float = 10.0) -> Sequence[RemoteTool] | NotSent | NoAnswer:
        """The tools that ``server`` offers now."""
        ...
