"""Publishing with four eyes: who changed the draft asks, another person looks at it and approves or rejects.

Who is who goes by identity, so that neither a role nor a name decides; triggers of the database hold the same rules.
"""

from __future__ import annotations

import json

from django.db.transaction import atomic
from django.utils import timezone

from tooling.authors import Author, author_of
from tooling.content import canonical, digest, from_content, to_content
from tooling.draft_edits import DraftEdit
from tooling.drafts import draft
from tooling.errors import (
    AlreadyDecided,
    MakerIsNotChecker,
    NothingChanged,
    NothingPublished,
    OnlyPeopleApprove,
    RequestOvertaken,
    RequestWaits,
    ToolingError,
)
from tooling.models import PublishRequest, Release
from tooling.publish_requests import RequestStatus
from tooling.publishing import (
    Seen,
    make_release,
    newest_number,
    published_edit,
    require,
    require_unchanged,
    sound,
)
from tooling.recording import newest_edit, take_turn
from tooling.specs import Definitions


def request_publication(*, comment: str, author: object, seen: Seen = None) -> PublishRequest:
    """Ask that the draft as it is becomes the next release; later edits are not part of it.

    InvalidDraft, NothingChanged and DraftMoved as for publishing; RequestWaits while another one does; ToolingError
    where the author cannot be told from others, or without a comment.
    """
    who = author_of(author)
    if not who.identity:
        raise ToolingError("a request needs somebody who can be told from others; ask as a user or with an API key")
    if not comment.strip():
        raise ToolingError("a request needs a comment that says what changes for users")
    require(seen)
    definitions = sound(draft())
    with atomic():
        take_turn()
        require(seen)
        require_unchanged(definitions)
        if (waiting := pending()) is not None:
            raise RequestWaits(waiting.author)
        content = canonical(to_content(definitions))
        number = newest_number()
        if Release.objects.filter(number=number, hash=digest(content)).exists():
            raise NothingChanged(number)
        return PublishRequest.objects.create(
            content=content,
            hash=digest(content),
            base=number,
            first_edit=published_edit(),
            last_edit=newest_edit(),
            comment=comment.strip(),
            author=who.name,
            author_identity=who.identity,
        )


def pending() -> PublishRequest | None:
    """The request that waits; there is one at most."""
    return PublishRequest.objects.filter(status=RequestStatus.PENDING).first()


def definitions_of(request: PublishRequest) -> Definitions:
    return from_content(json.loads(request.content))


def makers(request: PublishRequest) -> dict[str, str]:
    """Identity → name of the author and of everybody whose edits the request holds."""
    edits = DraftEdit.objects.filter(pk__gt=request.first_edit, pk__lte=request.last_edit).order_by("pk")
    known = {identity: name for identity, name in edits.values_list("identity", "by") if identity}
    return {request.author_identity: request.author, **known}


def approve(number: int, *, approver: object) -> Release:
    """Make the request's content the next release.

    It is checked again (InvalidDraft). RequestOvertaken if something else was published since; MakerIsNotChecker and
    OnlyPeopleApprove for who may not; AlreadyDecided.
    """
    who = author_of(approver)
    sound(definitions_of(_request(number)))
    with atomic():
        request = _held(number)
        if request.base != newest_number():
            raise RequestOvertaken(newest_number())
        if not who.is_person:
            raise OnlyPeopleApprove
        if who.identity in makers(request):
            raise MakerIsNotChecker
        release = make_release(
            request.content,
            request.comment,
            author=Author(request.author, request.author_identity),
            approver=who.name,
            approver_identity=who.identity,
            last_edit=request.last_edit,
        )
        _decide(request, RequestStatus.APPROVED, who, release=release.number)
        return release


def reject(number: int, *, by: object, reason: str) -> PublishRequest:
    """Decide against it; the draft stays as it is. Errors as for ``approve``; ToolingError without a reason."""
    who = author_of(by)
    if not reason.strip():
        raise ToolingError("a rejection needs a reason")
    if not who.is_person:
        raise OnlyPeopleApprove
    with atomic():
        request = _held(number)
        if who.identity == request.author_identity:
            raise MakerIsNotChecker
        return _decide(request, RequestStatus.REJECTED, who, reason=reason.strip())


def withdraw(number: int, *, by: object) -> PublishRequest:
    """Take back the own request; MakerIsNotChecker for everybody else, who may reject it."""
    who = author_of(by)
    with atomic():
        request = _held(number)
        if who.identity != request.author_identity:
            raise MakerIsNotChecker
        return _decide(request, RequestStatus.WITHDRAWN, who)


def _request(number: int) -> PublishRequest:
    found = PublishRequest.objects.filter(pk=number).first()
    if found is None:
        raise NothingPublished(f"there is no request {number}")
    return found


def _held(number: int) -> PublishRequest:
    """The request as it is now, in our turn; AlreadyDecided if it waits no more."""
    take_turn()
    request = _request(number)
    if not request.is_pending:
        raise AlreadyDecided(request.status, request.decider)
    return request


def _decide(
    request: PublishRequest, status: RequestStatus, who: Author, *, reason: str = "", release: int | None = None
) -> PublishRequest:
    request.status, request.decider, request.decider_identity = status, who.name, who.identity
    request.decided_at, request.reason, request.release = timezone.now(), reason, release
    request.save()
    return request
