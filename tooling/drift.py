"""What a live server offers, compared with what was published: what an administrator should know (contracts.md §6).

Pure. Running transactions keep their release and prompts keep its texts, whatever a server says: a difference is
reported and changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from tooling.gateway import RemoteTool
from tooling.specs import JSON, ArgumentSpec, ArgumentType, ServerSpec, ToolSpec

LARGEST_LISTING = 1024 * 1024
"""Characters of the names and schemas of one server that are kept."""


class Kind(StrEnum):
    """What differs."""

    TOOL_GONE = "tool_gone"
    ARGUMENT_REQUIRED = "argument_required"
    ARGUMENT_GONE = "argument_gone"
    ARGUMENT_TYPE = "argument_type"
    ARGUMENT_ENUM = "argument_enum"
    DESCRIPTION_CHANGED = "description_changed"
    SCHEMA_CHANGED = "schema_changed"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of ``tool``; ``detail``: the server's types, or the values that it does not take."""

    kind: Kind
    tool: str
    argument: str = ""
    detail: str = ""

    def plain(self) -> dict[str, str]:
        return {**asdict(self), "kind": str(self.kind)}

    @classmethod
    def of(cls, plain: Mapping[str, str]) -> Difference:
        return cls(Kind(plain["kind"]), plain["tool"], plain.get("argument", ""), plain.get("detail", ""))


def fingerprint(value: JSON) -> str:
    """SHA-256 of a JSON value, in hex; the order of keys makes no difference."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def approved(server: ServerSpec, tool: ToolSpec) -> str:
    """The fingerprint of what is published of a tool and its server: while it stays, so does what was approved."""
    return fingerprint(json.loads(json.dumps([asdict(server), asdict(tool)], default=dict)))


def baseline_of(
    server: ServerSpec, tools: Iterable[ToolSpec], listing: Mapping[str, JSON], before: Mapping[str, JSON]
) -> dict[str, JSON]:
    """What to compare later listings with: of each tool what the server said when its definition was first seen.

    ``before``: the baseline so far. A tool that was published anew is approved as the server offers it now.
    """
    kept: dict[str, JSON] = {}
    for tool in tools:
        current = approved(server, tool)
        known = before.get(tool.name)
        if known is not None and known["approved"] == current:
            kept[tool.name] = known
        elif tool.name in listing:
            kept[tool.name] = {**listing[tool.name], "approved": current}
    return kept


def listing_of(tools: Iterable[ToolSpec], offered: Iterable[RemoteTool]) -> dict[str, JSON]:
    """What the server says now of the published ``tools``: name → {description, input_schema}."""
    names = {tool.name for tool in tools}
    return {
        remote.name: {"description": remote.description, "input_schema": dict(remote.input_schema)}
        for remote in offered
        if remote.name in names
    }


def kept(server: ServerSpec, offered: Iterable[RemoteTool]) -> dict[str, JSON]:
    """All that ``server`` listed, to compare drafts with: {server, tools: name → input schema, is_whole}.

    Of more than LARGEST_LISTING the rest is left out, and then nothing is said of tools that are not in it.
    """
    tools: dict[str, JSON] = {}
    room, is_whole = LARGEST_LISTING, True
    for remote in offered:
        room -= len(remote.name) + len(json.dumps(dict(remote.input_schema)))
        if room < 0:
            is_whole = False
            break
        tools.setdefault(remote.name, dict(remote.input_schema))
    return {"server": address_of(server), "tools": tools, "is_whole": is_whole}


def address_of(server: ServerSpec) -> str:
    """The fingerprint of how ``server`` is reached: a listing speaks about a server that is reached like that only."""
    return fingerprint(json.loads(json.dumps(asdict(replace(server, enabled=True)), default=dict)))


def compare(tools: Sequence[ToolSpec], listing: Mapping[str, JSON], baseline: Mapping[str, JSON]) -> list[Difference]:
    """What of ``listing`` does not fit the published ``tools``, or is another text than in ``baseline``."""
    found: list[Difference] = []
    for tool in sorted(tools, key=lambda tool: tool.name):
        said = listing.get(tool.name)
        if said is None:
            found.append(Difference(Kind.TOOL_GONE, tool.name))
            continue
        differing = list(differing_arguments(tool, said["input_schema"]))
        found += differing
        before = baseline.get(tool.name)
        if before is not None and before["description"] != said["description"]:
            found.append(Difference(Kind.DESCRIPTION_CHANGED, tool.name))
        if before is not None and not differing and before["input_schema"] != said["input_schema"]:
            found.append(Difference(Kind.SCHEMA_CHANGED, tool.name))
    return found


def required_names(schema: Mapping[str, JSON]) -> Iterator[str]:
    """The arguments that a server's schema requires, as far as it names them plainly."""
    required = schema.get("required")
    return (name for name in (required if isinstance(required, list) else ()) if isinstance(name, str))


def differing_arguments(tool: ToolSpec, schema: Mapping[str, JSON]) -> Iterator[Difference]:
    """Where the arguments of ``tool`` do not fit the server's ``schema`` of it."""
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    for name in required_names(schema):
        if tool.argument(name) is None:
            yield Difference(Kind.ARGUMENT_REQUIRED, tool.name, name)
    for argument in tool.arguments:
        if argument.name in properties:
            yield from _argument(tool.name, argument, properties[argument.name])
        elif not _takes_others(schema):
            yield Difference(Kind.ARGUMENT_GONE, tool.name, argument.name)


def _takes_others(schema: Mapping[str, JSON]) -> bool:
    """Whether the schema welcomes names beside its properties, names none, or speaks in a way that is not read here."""
    composed = ("$ref", "allOf", "anyOf", "oneOf", "patternProperties", "unevaluatedProperties")
    return (
        not isinstance(schema.get("properties"), dict)
        or schema.get("additionalProperties", False) is not False
        or any(name in schema for name in composed)
    )


def _argument(tool: str, argument: ArgumentSpec, schema: JSON) -> Iterator[Difference]:
    types = types_of(schema)
    if types is not None and not types & _ACCEPTED[argument.type]:
        yield Difference(Kind.ARGUMENT_TYPE, tool, argument.name, ", ".join(sorted(types)))
    values = schema.get("enum") if isinstance(schema, dict) else None
    refused = [value for value in argument.enum if value not in values] if isinstance(values, list) else []
    if refused:
        yield Difference(Kind.ARGUMENT_ENUM, tool, argument.name, ", ".join(map(str, refused)))


_ACCEPTED: Mapping[ArgumentType, frozenset[str]] = {
    **{kind: frozenset({kind.value}) for kind in ArgumentType},
    ArgumentType.INTEGER: frozenset({"integer", "number"}),
}
"""Declared type → types of a server's schema that take every value of it."""


def types_of(schema: JSON) -> frozenset[str] | None:
    """The JSON types that ``schema`` takes, as far as it says so plainly; None where anything may be taken."""
    if not isinstance(schema, dict):
        return None
    said = schema.get("type")
    if isinstance(said, str):
        return frozenset({said})
    if isinstance(said, list):
        return frozenset(each for each in said if isinstance(each, str))
    for name in ("anyOf", "oneOf"):
        if isinstance(schema.get(name), list):
            each = [types_of(choice) for choice in schema[name]]
            known = [types for types in each if types is not None]
            return frozenset[str]().union(*known) if len(known) == len(each) else None
    return None
