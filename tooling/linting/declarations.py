"""What a server declares of its tools for the contract linter: a sandbox, and examples of items.

Pure (docs/contract-linter.md). It is read from the ``_meta`` of a listed tool; what a server sends is data to be
judged, bounded and never trusted: a declaration that is not understood is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tooling.gateway import RemoteTool
from tooling.specs import JSON

PREFIX = "agentplatform/"
SANDBOX = PREFIX + "sandbox"
EXAMPLES = PREFIX + "fixtures"
RESERVED = frozenset(PREFIX + name for name in ("idempotency_key", "transaction_id", "item_keys", "request_digest"))
"""What the platform itself sends in ``_meta``."""

MOST_EXAMPLES = 20
LARGEST_EXAMPLES = 64 * 1024
"""Characters of all examples of a tool; they go back to the server in every call."""
LONGEST_NAME = 100


class Trouble(StrEnum):
    """Why a declaration counts as none."""

    SANDBOX_MALFORMED = "sandbox_malformed"
    SANDBOX_ARGUMENT_UNKNOWN = "sandbox_argument_unknown"
    EXAMPLES_MALFORMED = "examples_malformed"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How a call is marked as a dry run: ``value`` in an argument, or under a key of ``_meta``."""

    argument: str = ""
    meta: str = ""
    value: JSON = True

    @property
    def place(self) -> str:
        return self.argument or self.meta

    def marked(
        self, arguments: Mapping[str, JSON], meta: Mapping[str, JSON]
    ) -> tuple[dict[str, JSON], dict[str, JSON]]:
        """The arguments and ``_meta`` of a call as those of a dry run."""
        in_arguments = {self.argument: self.value} if self.argument else {}
        in_meta = {self.meta: self.value} if self.meta else {}
        return {**arguments, **in_arguments}, {**meta, **in_meta}


@dataclass(frozen=True, slots=True)
class Examples:
    """Items that the tool does, refuses or is slow with, and the other arguments that a call needs.

    ``argument``: where the items go; "": the tool takes none. ``separator``: what stands between items in an argument
    that is a text; "": such a call is about one item.
    """

    argument: str = ""
    separator: str = ""
    succeed: tuple[JSON, ...] = ()
    fail: tuple[JSON, ...] = ()
    slow: tuple[JSON, ...] = ()
    arguments: Mapping[str, JSON] = field(default_factory=dict)
    says_outcomes: bool = True
    """False where a person gave the items: what becomes of them is not known beforehand."""


@dataclass(frozen=True, slots=True)
class Declared:
    sandbox: Sandbox | None = None
    examples: Examples | None = None
    troubles: tuple[Trouble, ...] = ()


def declared_by(remote: RemoteTool) -> Declared:
    """What ``remote`` declares; total."""
    sandbox = _sandbox(remote)
    examples = _examples(remote)
    troubles = [found for found in (sandbox, examples) if isinstance(found, Trouble)]
    return Declared(
        sandbox=sandbox if isinstance(sandbox, Sandbox) else None,
        examples=examples if isinstance(examples, Examples) else None,
        troubles=tuple(troubles),
    )


def contradicts_reading(remote: RemoteTool) -> bool:
    """Whether the server says that this tool changes something, whatever we believe of it."""
    said = remote.annotations
    return said.get("readOnlyHint") is False or said.get("destructiveHint") is True


def properties_of(remote: RemoteTool) -> Mapping[str, JSON]:
    properties = remote.input_schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def required_by(remote: RemoteTool) -> tuple[str, ...]:
    required = remote.input_schema.get("required")
    return tuple(name for name in required if isinstance(name, str)) if isinstance(required, list) else ()


def _sandbox(remote: RemoteTool) -> Sandbox | Trouble | None:
    said = remote.meta.get(SANDBOX)
    if said is None:
        return None
    if not isinstance(said, dict) or len(said.keys() & {"argument", "meta"}) != 1:
        return Trouble.SANDBOX_MALFORMED
    value = said.get("value", True)
    argument, meta = said.get("argument", ""), said.get("meta", "")
    if not (_is_name(argument or meta) and _marks(value)) or meta in RESERVED:
        return Trouble.SANDBOX_MALFORMED
    if argument and argument not in properties_of(remote):
        # A server that ignores what it does not know would take the dry run for a real call.
        return Trouble.SANDBOX_ARGUMENT_UNKNOWN
    return Sandbox(argument, meta, value)


def _marks(value: JSON) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and 0 < len(value) <= LONGEST_NAME)


def _is_name(value: JSON) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()


def _examples(remote: RemoteTool) -> Examples | Trouble | None:
    said = remote.meta.get(EXAMPLES)
    if said is None:
        return None
    if not isinstance(said, dict) or len(json.dumps(said)) > LARGEST_EXAMPLES:
        return Trouble.EXAMPLES_MALFORMED
    lists = [said.get(name, []) for name in ("succeed", "fail", "slow")]
    argument, separator, arguments = said.get("argument", ""), said.get("separator", ""), said.get("arguments", {})
    is_read = all(isinstance(each, list) for each in lists) and isinstance(arguments, dict)
    if not is_read or not isinstance(argument, str) or not isinstance(separator, str):
        return Trouble.EXAMPLES_MALFORMED
    items = [_items(each) for each in lists]
    place = argument or (item_argument(remote) if any(items) else "")
    if any(items) and place not in properties_of(remote):
        return Trouble.EXAMPLES_MALFORMED
    succeed, fail, slow = items
    return Examples(place, separator[:LONGEST_NAME], succeed, fail, slow, arguments)


def _items(values: list[JSON]) -> tuple[JSON, ...]:
    """What can be an item: a text, a whole number or an object."""
    kept = [value for value in values if isinstance(value, str | int | dict) and not isinstance(value, bool) and value]
    return tuple(kept[:MOST_EXAMPLES])


def item_argument(remote: RemoteTool) -> str:
    """The argument for the items where the server names none: its only list, else its only required one."""
    properties = properties_of(remote)
    lists = [name for name, schema in properties.items() if isinstance(schema, dict) and schema.get("type") == "array"]
    if len(lists) == 1:
        return lists[0]
    required = required_by(remote)
    return required[0] if len(required) == 1 else ""
