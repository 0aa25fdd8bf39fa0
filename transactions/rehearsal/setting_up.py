"""What a simulation begins with: which definitions, from which state, and who may be asked; and its limits."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from django.conf import settings

from tooling import catalog, publishing
from tooling.checks_of_sets import check
from tooling.cleaning import clean_json, clean_text
from tooling.findings import Finding
from tooling.specs import JSON, Definitions
from transactions.core.coercion import coerce
from transactions.llm import language_model
from transactions.rehearsal.scenes import Line, Start, Text
from transactions.rehearsal.simulating import Outside, Simulated, Source

logger = logging.getLogger("simulations")

DRAFT = "draft"
LONGEST_MESSAGE = 4000
MOST_LINES = 20
"""Messages of one conversation, the newest included."""
MOST_ENTRIES = 50
"""Known values, keys of an identity, or answers."""


class NotSound(Exception):
    """The draft holds errors, so that what it would do is not defined; ``findings`` are all of it."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__("the draft has errors; correct them first")
        self.findings = findings


def definitions_of(which: str | int) -> Definitions:
    """The draft, or a release by its number; raises NotSound, or NothingPublished where there is no such release."""
    if which != DRAFT:
        return catalog.release(int(which)).definitions
    definitions = publishing.draft()
    findings = tuple(check(definitions, stdio_commands=settings.MCP_STDIO_COMMANDS))
    if any(one.is_error for one in findings):
        raise NotSound(findings)
    return definitions


def start_of(
    definitions: Definitions, tool: str, known: Mapping[str, JSON], locale: str
) -> tuple[Start | None, list[str]]:
    """The start at ``tool``, and the names among ``known`` that it has no argument of or no such value for."""
    if tool not in definitions.tools:
        return None, []
    spec = definitions.tools[tool]
    read = {name: coerce(one, clean_json(known[name]), locale) for name in known if (one := spec.argument(name))}
    wrong = [name for name in known if read.get(name) is None]
    return Start(tool, {name: value for name, value in read.items() if value is not None}), wrong


def lines_of(messages: list[str]) -> tuple[Line, ...]:
    return tuple(Text(clean_text(message)) for message in messages)


def with_everybody(chosen: Outside) -> Outside:
    """``chosen``, with the installation's own model and gateway."""
    from tooling.mcp_client import gateway  # the MCP SDK takes long to import, and not every process calls tools

    return replace(chosen, model=language_model(), gateway=gateway())


def validators_of(definitions: Definitions) -> list[str]:
    """The tools that a simulation may ask, by name."""
    checks = (definitions.policy(tool).pre_validation for tool in definitions.tools)
    return sorted({one.tool for one in checks if one.enabled and one.tool in definitions.tools})


def note_calls(simulated: Simulated, who: object) -> None:
    """Say in the log who really called validators in a simulation, and with which identity."""
    called = sorted({key.tool for key, source in simulated.sources.items() if source is Source.CALLED})
    if called:
        identity = dict(simulated.scene.identity)
        logger.warning("%s simulated; really called: %s; identity: %s", who, ", ".join(called), identity)
