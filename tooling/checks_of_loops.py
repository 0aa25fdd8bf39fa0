"""Whether validators validate each other in a circle."""

from __future__ import annotations

from collections.abc import Mapping

from tooling.findings import Finding, Findings
from tooling.specs import Definitions


def lengths_into_loops(definitions: Definitions) -> dict[str, int]:
    """Tool → how many tools come, itself the first, before one comes again; only tools that lead into a loop.

    A tool is followed by its validator. Each is looked at once, however long the ways are.
    """
    lengths: dict[str, int] = {}
    for start in definitions.policies:
        way: dict[str, int] = {}
        current: str | None = start
        while current is not None and current not in way and current not in lengths:
            way[current] = len(way)
            current = _validator_of(definitions, current)
        names = list(way)
        loop = names[way[current] :] if current is not None and current in way else []
        lengths.update(dict.fromkeys(loop, len(loop)))
        length = lengths.get(current, 0) if current is not None else 0
        for name in reversed(names[: len(names) - len(loop)]):
            length = length + 1 if length else 0
            lengths[name] = length
    return {name: length for name, length in lengths.items() if length}


def check_loops(definitions: Definitions, lengths: Mapping[str, int]) -> Findings:
    """One finding per loop, told from the tool that leads into it by the longest way."""
    leading = [name for name in definitions.policies if name in lengths]
    reported: set[str] = set()
    for start in sorted(leading, key=lambda name: lengths[name], reverse=True):
        if start in reported:
            continue
        chain = _chain(definitions, start, reported)
        if chain[-1] not in reported:
            reported.update(chain)
            path = ("tool_policies", chain[-2], "pre_validation", "tool")
            yield Finding("policy.validator_loop", "validator loop: " + " -> ".join(chain), path)
        reported.update(chain)


def _chain(definitions: Definitions, start: str, told: set[str]) -> list[str]:
    """``start``, its validator, that one's validator, …; ends with the first that comes again or is ``told`` of."""
    chain, seen = [start], {start}
    while (following := _validator_of(definitions, chain[-1])) is not None:
        chain.append(following)
        if following in seen or following in told:
            break
        seen.add(following)
    return chain


def _validator_of(definitions: Definitions, name: str) -> str | None:
    validation = definitions.policy(name).pre_validation
    return validation.tool if validation.enabled and validation.tool in definitions.tools else None
