"""Whether a text that models and customers read holds what nobody may read: a credential."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tooling.findings import Findings, warning
from tooling.specs import Definitions, Text

CREDENTIAL = re.compile(
    r"\b(?:bearer|basic)\s+[\w.+/=-]{12,}|\b(?:sk|pk|ghp|gho|xox[abp])[-_]\w{8,}|\beyJ[\w-]+\.[\w-]+\.", re.IGNORECASE
)
"""Forms that keys and tokens have and sentences have not."""

Place = tuple[str, ...]


def check_texts(definitions: Definitions) -> Findings:
    """Texts that look as if they held a credential: they go to language models, and into exported files."""
    for path, text in _texts(definitions):
        if any(CREDENTIAL.search(one) for one in (text.default, *text.by_locale.values())):
            yield warning("text.secret", "this text seems to hold a credential; models and files show it", path)


def _texts(definitions: Definitions) -> Iterator[tuple[Place, Text]]:
    for tool in definitions.tools.values():
        yield ("tools", tool.name, "description"), tool.description
        for argument in tool.arguments:
            where = ("tools", tool.name, "args_schema", argument.name)
            yield (*where, "label"), argument.label
            yield (*where, "description"), argument.description
            yield (*where, "user_prompt"), argument.user_prompt
    for intent in definitions.intents.values():
        yield ("intents", intent.name, "description"), intent.description
