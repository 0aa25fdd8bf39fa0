"""What operators do about a transaction: settle an unknown item, move the review (contracts.md §3)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from tooling.api_basics import MEDIA_TYPE, ProblemOut, problem, problems
from transactions.api.permissions import OperatorEndpoint
from transactions.api.serializers import TransactionDetail
from transactions.core.statuses import ItemStatus, ReviewState
from transactions.services.resolving import LONGEST_REASON, RESOLUTIONS, NoReason, Resolved, Settled, resolve
from transactions.services.reviewing import NotThere, Reviewed, ReviewMoved, StillUnknown, review

LONGEST_NOTE = 1000
"""Characters of a note, which operators read."""
MOVES = (ReviewState.NEEDED, ReviewState.ACKNOWLEDGED, ReviewState.RESOLVED)


class ResolveRequest(serializers.Serializer[Any]):
    status = serializers.ChoiceField(choices=[status.value for status in RESOLUTIONS])
    reason = serializers.CharField(max_length=LONGEST_REASON, help_text="Kept as evidence; the customer reads it, too.")
    protocol = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class ReviewRequest(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=[state.value for state in MOVES])
    note = serializers.CharField(
        max_length=LONGEST_NOTE, required=False, allow_blank=True, default="", help_text="For operators alone."
    )


class SettledItem(serializers.Serializer[Settled]):
    """An item that is not unknown, and what made it so; ``by`` and ``at`` are null where no operator did."""

    key = serializers.CharField()
    status = serializers.ChoiceField(choices=[status.value for status in ItemStatus])
    verdict_source = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    by = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField(allow_null=True)


class SettledProblem(ProblemOut):
    item = SettledItem()


class ReviewStanding(serializers.Serializer[ReviewMoved]):
    """Where the review stands; ``by`` is null where nobody moved it by hand."""

    review_state = serializers.ChoiceField(choices=[state.value for state in ReviewState])
    by = serializers.CharField(allow_null=True)
    note = serializers.CharField(allow_null=True)


class ReviewProblem(ProblemOut):
    review = ReviewStanding()


class ItemResolveView(OperatorEndpoint):
    """``POST`` settles an item of unknown outcome; the customer is told."""

    @extend_schema(
        operation_id="transactions_items_resolve",
        request=ResolveRequest,
        responses={
            200: TransactionDetail,
            **problems(400, 401, 403, 404, 429),
            (409, MEDIA_TYPE): SettledProblem,
        },
    )
    def post(self, request: Request, pk: UUID, key: str) -> Response:
        """Say what became of an item whose outcome is unknown. 409: it is not unknown; the answer says who settled it.

        The customer is told at once, with the reason. The first who settles an item wins.
        """
        self.found(pk)
        asked = ResolveRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        outcome = resolve(
            pk,
            key,
            status=ItemStatus(said["status"]),
            reason=said["reason"],
            protocol=said["protocol"],
            actor=request.user.get_username(),
        )
        match outcome:
            case Resolved():
                return Response(TransactionDetail(self.record(pk)).data)
            case NoReason():
                raise ValidationError({"reason": _("A reason is needed.")})
            case Settled():
                return _settled(key, outcome)
            case NotThere():
                raise NotFound


class ReviewView(OperatorEndpoint):
    """``POST`` moves the review of a transaction."""

    @extend_schema(
        operation_id="transactions_review",
        request=ReviewRequest,
        responses={
            200: TransactionDetail,
            **problems(400, 401, 403, 404, 429),
            (409, MEDIA_TYPE): ReviewProblem,
        },
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """Ask for a review, take it, or close it. 409: the review stands where it cannot go there from."""
        self.found(pk)
        asked = ReviewRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        actor = request.user.get_username()
        outcome = review(pk, state=ReviewState(said["state"]), note=said["note"], actor=actor)
        match outcome:
            case Reviewed():
                return Response(TransactionDetail(self.record(pk)).data)
            case ReviewMoved(state=state, by=by, note=note):
                standing = {"review_state": state, "by": by or None, "note": note or None}
                return _conflict(
                    "review_moved", _("The review does not go there from where it stands."), review=standing
                )
            case StillUnknown():
                standing = {"review_state": ReviewState.NEEDED, "by": None, "note": None}
                return _conflict("items_unknown", _("Settle the unknown items first."), review=standing)
            case NotThere():
                raise NotFound


def _settled(key: str, found: Settled) -> Response:
    """What the item is already, and who made it that."""
    detail = _("The outcome of this item is not unknown: %(label)s is %(status)s.") % {
        "label": found.label,
        "status": found.status,
    }
    return _conflict(
        "item_settled",
        detail,
        item={
            "key": key,
            "status": found.status,
            "verdict_source": found.verdict_source or None,
            "reason": found.reason or None,
            "by": found.by or None,
            "at": found.at or None,
        },
    )


def _conflict(code: str, detail: str, **more: Any) -> Response:
    return Response(problem(409, code, detail, **more), status=409, content_type=MEDIA_TYPE)
