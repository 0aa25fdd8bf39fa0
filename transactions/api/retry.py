"""Trying failed items again from outside: what would run, or the child transaction that runs it (contracts.md §3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from tooling.api_basics import MEDIA_TYPE, ProblemOut, problem, problems
from transactions.api.permissions import OperatorEndpoint
from transactions.api.serializers import ArgumentOut
from transactions.core.parameters import missing
from transactions.core.retrying import Refusal, Why
from transactions.core.statuses import ItemStatus
from transactions.models import Transaction
from transactions.services.retrying import RetryPlan, RetryRefused, plan, retry

REFUSALS: Mapping[Refusal, str | Promise] = {
    Refusal.NOT_FINISHED: _("It is not finished yet; wait for its result."),
    Refusal.OUTCOME_UNKNOWN: _("The outcome of an item is not known: check first, nothing is sent again meanwhile."),
    Refusal.NOTHING_FAILED: _("No item of it was tried and failed, so there is nothing to try again."),
    Refusal.NOT_NEWEST: _("It was tried again already; only the newest of the chain can be tried again."),
    Refusal.OCCUPIED: _("Another request is open in this conversation; try again when it has ended."),
    Refusal.TOOL_UNAVAILABLE: _("The tool is gone or disabled in the newest release."),
    Refusal.DEFINITION_CHANGED: _("In the newest release the tool takes other values; the customer has to ask anew."),
    Refusal.INSEPARABLE: _("What failed cannot be told apart from the rest in the arguments; the customer asks anew."),
}
"""Why a retry may not run now, for operators."""

WHYS: Mapping[Why, str | Promise] = {
    Why.SUCCEEDED: _("It was done; what was done is never sent again."),
    Why.DONE_SINCE: _("A later request did it."),
    Why.UNKNOWN: _("Its outcome is not known; check first."),
    Why.INELIGIBLE: _("The validator refused it, so it was not tried."),
    Why.EXCLUDED: _("The customer left it out."),
}
"""Why an item is not tried again, for operators."""


class RetryRequest(serializers.Serializer[Any]):
    dry_run = serializers.BooleanField(required=False, default=False, help_text="Tell what would run; change nothing.")


class AgainOut(serializers.Serializer[Any]):
    """An item that would be tried again, and why it failed."""

    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # DRF takes declared fields off the class
    reason = serializers.CharField(allow_null=True)


class LeftOutOut(serializers.Serializer[Any]):
    """An item that would not be tried again, and why not."""

    key = serializers.CharField(source="item.key")
    label = serializers.CharField(source="item.label")  # type: ignore[assignment]  # as above
    status = serializers.ChoiceField(source="item.status", choices=[status.value for status in ItemStatus])
    why = serializers.ChoiceField(choices=[why.value for why in Why])


class RetryPlanOut(serializers.Serializer[RetryPlan]):
    """What would run: one call for ``items``, with ``arguments``, after a confirmation of its own."""

    transaction_id = serializers.UUIDField(source="transaction.pk")
    tool = serializers.CharField(source="transaction.tool")
    release = serializers.IntegerField(help_text="The newest one, which the child would use.")
    transaction_release = serializers.IntegerField(source="transaction.release")
    definition_changed = serializers.BooleanField(source="is_changed")
    items = AgainOut(many=True, source="again")
    left_out = LeftOutOut(many=True)
    arguments = serializers.SerializerMethodField()
    asks_for = serializers.SerializerMethodField(help_text="Values that the customer would be asked for first.")

    def get_arguments(self, planned: RetryPlan) -> list[dict[str, Any]]:
        return [ArgumentOut({"name": name, **held}).data for name, held in planned.arguments.items()]

    def get_asks_for(self, planned: RetryPlan) -> list[str]:
        known = {name: held["value"] for name, held in planned.arguments.items()}
        return list(missing(planned.rules.policy.requires, known))


class RetryProblem(ProblemOut):
    """``about``: the transaction to look at instead, where there is one."""

    code = serializers.ChoiceField(choices=[refusal.value for refusal in Refusal])  # type: ignore[assignment]  # narrower
    about = serializers.UUIDField(allow_null=True)


class RetryView(OperatorEndpoint):
    """``POST`` opens a child transaction with the failed items alone."""

    @extend_schema(
        operation_id="transactions_retry",
        request=RetryRequest,
        responses={
            200: RetryPlanOut,
            201: inline_serializer("RetryChild", {"id": serializers.UUIDField()}),
            **problems(400, 401, 403, 404, 429),
            (409, MEDIA_TYPE): RetryProblem,
        },
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """Try the failed items of a transaction again, after a confirmation of the customer's own.

        With ``dry_run``: what would run, and what would not and why. 409: it may not run now, and why.
        """
        transaction = self.found(pk)
        asked = RetryRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        is_dry = asked.validated_data["dry_run"]
        outcome = plan(transaction) if is_dry else retry(pk, by=request.user.get_username())
        match outcome:
            case RetryRefused():
                return _refused(outcome)
            case RetryPlan():
                return Response(RetryPlanOut(outcome).data)
            case Transaction():
                place = reverse("transactions-detail", args=[outcome.pk])
                return Response({"id": str(outcome.pk)}, status=status.HTTP_201_CREATED, headers={"Location": place})


def _refused(outcome: RetryRefused) -> Response:
    about = str(outcome.about) if outcome.about else None
    data = problem(409, outcome.refusal.value, str(REFUSALS[outcome.refusal]), about=about)
    return Response(data, status=status.HTTP_409_CONFLICT, content_type=MEDIA_TYPE)
