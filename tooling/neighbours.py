"""What the application above knows about definitions and this one asks for: it registers at start (one direction).

Without anybody above, nothing runs on any release and there is nothing to rehearse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tooling.findings import Finding
from tooling.specs import Definitions, Phrases


def _nothing_runs() -> Mapping[int, int]:
    return {}


def _nothing_to_rehearse(definitions: Definitions) -> Iterable[Finding]:
    return ()


def _nothing_was_replayed(content_hash: str) -> str | None:
    return None


def _no_phrases() -> Mapping[str, Phrases]:
    return {}


@dataclass(slots=True)
class Neighbours:
    """``running``: release number → transactions that are not ended; ``rehearse``: what saved cases find wrong.

    ``replayed``: what the newest replay of the definitions with this hash found, in a line in the reader's language;
    None where there was none. Its page is the url ``replay``. ``phrases``: language → the shipped answers to a
    confirmation, to which a release adds its own.
    """

    running: Callable[[], Mapping[int, int]] = field(default=_nothing_runs)
    rehearse: Callable[[Definitions], Iterable[Finding]] = field(default=_nothing_to_rehearse)
    replayed: Callable[[str], str | None] = field(default=_nothing_was_replayed)
    phrases: Callable[[], Mapping[str, Phrases]] = field(default=_no_phrases)


neighbours = Neighbours()
"""The one of this process; ``transactions.apps`` fills it in."""
