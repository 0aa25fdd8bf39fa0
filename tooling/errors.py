"""What can go wrong with definitions and must stop the caller; the messages say what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tooling.findings import Finding


class ToolingError(Exception):
    """The root of this application's errors."""


class NothingPublished(ToolingError):
    """A release was asked for that is not there."""


@dataclass(frozen=True, slots=True)
class LastEdit:
    """Who changed the draft or published last, as far as anything recorded it, and when."""

    by: str
    at: datetime


class DraftMoved(ToolingError):
    """The draft, or the newest release, is not what the caller saw; ``last`` is the newest change that is known."""

    def __init__(self, last: LastEdit | None) -> None:
        self.last = last
        who = f"; {last.by} changed it last, at {last.at:%Y-%m-%d %H:%M:%S %Z}" if last else ""
        super().__init__(f"the draft is not as it was read{who}; read it again and decide again")


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


class SecondPersonNeeded(ToolingError):
    """The installation publishes with four eyes only."""

    def __init__(self) -> None:
        super().__init__(
            "this installation publishes with four eyes (FOUR_EYES): request it in the administration or over the API, "
            "and another person approves it there"
        )


class NeverApproved(ToolingError):
    """Release ``number`` is to come back, and no second person ever approved what it holds."""

    def __init__(self, number: int) -> None:
        super().__init__(
            f"nobody but its author ever approved what release {number} holds: import its files into the draft and "
            "request the publication"
        )


class ApprovalRefused(ToolingError):
    """A request to publish cannot be decided like this."""


class MakerIsNotChecker(ApprovalRefused):
    def __init__(self) -> None:
        super().__init__("whoever made or requested a change cannot decide about it; another person has to")


class OnlyPeopleApprove(ApprovalRefused):
    def __init__(self) -> None:
        super().__init__("only a person can decide about a request, not an API key")


class AlreadyDecided(ApprovalRefused):
    """``status``: what became of the request; ``by``: through whom."""

    def __init__(self, status: str, by: str) -> None:
        self.status, self.by = status, by
        super().__init__(f"the request was {status} by {by} already")


class RequestOvertaken(ApprovalRefused):
    """``number``: the release that was published since the request."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"release {number} was published since the request; withdraw or reject it, and ask again")


class RequestWaits(ApprovalRefused):
    """``author``: who asked for what waits."""

    def __init__(self, author: str) -> None:
        self.author = author
        super().__init__(f"a request of {author} waits; it has to be decided or withdrawn first")
