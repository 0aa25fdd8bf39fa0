"""What can go wrong with definitions and must stop the caller; the messages say what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from tooling.findings import Finding


class ToolingError(Exception):
    """The root of this application's errors."""


class NothingPublished(ToolingError):
    """A release was asked for that is not there."""


class InvalidDraft(ToolingError):
    """The draft holds errors; ``findings`` are all of them and the warnings."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        errors = [str(one) for one in self.findings if one.is_error]
        super().__init__("the draft cannot be published; correct first:\n" + "\n".join(errors))


class NothingChanged(ToolingError):
    """The content is that of the newest release, ``number``."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"nothing changed since release {number}; there is nothing to publish")
