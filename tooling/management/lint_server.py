"""``manage.py definitions lint-server``: checks how the tools of a server keep the contract, and says so in English."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.core.management.base import CommandError, OutputWrapper
from django.utils.translation import override

from tooling import contract_linting
from tooling.contract_linting import Look
from tooling.linting.faults import Grade, Level
from tooling.linting.reports import Checked, plain
from tooling.linting.words import GRADES, LEVELS, hint_of, message_of, why_of
from tooling.specs import JSON

AUTHOR = "manage.py"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks for; ``values`` are ``NAME=VALUE`` texts, ``tools`` none: all of the server."""

    server: str
    tools: Sequence[str] = ()
    values: Sequence[str] = ()
    as_json: bool = False


@override("en")
def lint_server(wanted: Wanted, out: OutputWrapper) -> None:
    """Check, store and print; CommandError, and so exit status 1, where a tool is unsafe."""
    seen = contract_linting.look(wanted.server)
    tools = _tools(seen, wanted.tools)
    values = _values(seen, tools, wanted.values)
    found = []
    for each in contract_linting.lint(seen, tools, values, by=AUTHOR):
        found.append(each)
        if not wanted.as_json:
            for line in _lines(each):
                out.write(line)
    if wanted.as_json:
        out.write(json.dumps([_told(each) for each in found], indent=2, ensure_ascii=False))
    if unsafe := [each.tool for each in found if each.grade is Grade.UNSAFE]:
        raise CommandError(f"unsafe: {', '.join(unsafe)}")


def _tools(seen: Look, names: Sequence[str]) -> list[str]:
    known = contract_linting.tools_of(seen.definitions, seen.server)
    if unknown := [name for name in names if name not in known]:
        others = ", ".join(known) or "none"
        raise CommandError(f"{seen.server} has no enabled tool {', '.join(unknown)} in the draft; there is {others}")
    return list(dict.fromkeys(names)) or known


def _values(seen: Look, tools: Collection[str], given: Sequence[str]) -> dict[str, dict[str, JSON]]:
    """Each value for every tool that has such an argument."""
    texts: dict[str, str] = {}
    for each in given:
        name, sign, text = each.partition("=")
        if not sign:
            raise CommandError(f"--value {each}: write NAME=VALUE")
        texts[name.strip()] = text
    specs = [seen.definitions.tools[name] for name in tools]
    if strange := [name for name in texts if not any(spec.argument(name) for spec in specs)]:
        raise CommandError(f"no tool to be checked has the argument {', '.join(strange)}")
    own = {spec.name: {name: text for name, text in texts.items() if spec.argument(name)} for spec in specs}
    return {spec.name: contract_linting.values_for(spec, own[spec.name]) for spec in specs}


def _lines(found: Checked) -> Iterator[str]:
    yield f"{found.tool}: {GRADES[found.grade]}"
    if found.why is not None:
        yield f"{found.tool}: {why_of(found)}"
    for fault in found.faults:
        yield f"{found.tool}: {LEVELS[fault.level]}: {fault.code}: {message_of(fault)}"
        if fault.level is not Level.HINT:
            yield f"{found.tool}: what to do: {hint_of(fault)}"


def _told(found: Checked) -> Mapping[str, JSON]:
    """The stored report with its sentences."""
    said = plain(found)
    for each, fault in zip(said["faults"], found.faults, strict=True):
        each |= {"message": message_of(fault), "hint": hint_of(fault)}
    return said | {"because": why_of(found)}
