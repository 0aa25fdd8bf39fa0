"""Transactions as JSON: exactly the shape of contracts.md §8."""

from __future__ import annotations

import datetime
from collections import Counter
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from transactions.api.counts import counts_of
from transactions.core.ledger import Counts
from transactions.core.records import shown_pre_validation
from transactions.core.statuses import AttemptStatus, ConfirmationStatus, ItemStatus, ReviewState, Status
from transactions.models import Transaction


def moment(**more: Any) -> serializers.DateTimeField:
    """A moment in UTC, written with Z."""
    return serializers.DateTimeField(default_timezone=datetime.UTC, **more)


class TextOrNull(serializers.CharField):
    """A column that is blank where the contract says null."""

    def __init__(self, **more: Any) -> None:
        super().__init__(allow_null=True, **more)

    def to_representation(self, value: str) -> Any:
        return value or None


class CountsOut(serializers.Serializer[Counts]):
    total = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    unknown = serializers.IntegerField()
    excluded = serializers.IntegerField()


class ArgumentOut(serializers.Serializer[dict[str, Any]]):
    """One argument and where its value came from."""

    name = serializers.CharField()
    value = serializers.JSONField()
    source = serializers.CharField()  # type: ignore[assignment]  # DRF takes declared fields off the class
    turn_id = serializers.UUIDField(allow_null=True)


class PreValidationOut(serializers.Serializer[dict[str, Any]]):
    tool = serializers.CharField(allow_null=True)
    eligible = serializers.BooleanField(allow_null=True)
    fail_open_used = serializers.BooleanField()
    request = serializers.JSONField(allow_null=True)
    answer = serializers.JSONField(allow_null=True)
    error = serializers.JSONField(allow_null=True)


class ConfirmationOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    text = serializers.CharField()
    digest = serializers.CharField()
    status = serializers.ChoiceField(choices=[(status.value, status.name) for status in ConfirmationStatus])
    answered_by = TextOrNull()
    answered_at = moment(allow_null=True)


class ItemOut(serializers.Serializer[Any]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # DRF takes declared fields off the class
    status = serializers.ChoiceField(choices=[status.value for status in ItemStatus])
    reason = serializers.CharField(allow_null=True)
    protocol = serializers.CharField(allow_null=True)
    verdict_source = TextOrNull()
    evidence = serializers.JSONField()
    unconfirmed = serializers.BooleanField()


class AttemptOut(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    status = serializers.ChoiceField(choices=[status.value for status in AttemptStatus])
    idempotency_key = serializers.CharField()
    sent_at = moment(allow_null=True)
    answered_at = moment(allow_null=True)
    request = serializers.JSONField()
    raw_answer = serializers.JSONField(allow_null=True)
    normalised = serializers.JSONField(allow_null=True)
    secondary_error = serializers.CharField(allow_null=True)
    steps = serializers.ListField(child=serializers.DictField())


class EventOut(serializers.Serializer[Any]):
    at = moment()
    kind = serializers.CharField()
    rule = TextOrNull()
    data = serializers.JSONField()  # type: ignore[assignment]  # DRF takes declared fields off the class
    model_calls = serializers.ListField(child=serializers.DictField())


class TransactionRow(serializers.Serializer[Transaction]):
    """One row of the list: everything of the detail that is not a list itself."""

    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField()
    channel = serializers.CharField(source="conversation.channel.key")
    parent_id = serializers.UUIDField(allow_null=True)
    release = serializers.IntegerField()
    revision = serializers.IntegerField()
    tool = serializers.CharField()
    operation_type = serializers.CharField()
    status = serializers.ChoiceField(choices=[status.value for status in Status])
    multi_item_status = serializers.ChoiceField(choices=["", "SUCCESS", "PARTIAL_SUCCESS", "FAILED"])
    reason_code = TextOrNull()
    review_state = serializers.ChoiceField(choices=[state.value for state in ReviewState])
    has_unknown = serializers.BooleanField()
    has_unconfirmed = serializers.BooleanField()
    created_at = moment()
    finished_at = moment(allow_null=True)
    counts = serializers.SerializerMethodField()

    @extend_schema_field(CountsOut)
    def get_counts(self, transaction: Transaction) -> dict[str, int]:
        tally = self.context["tallies"].get(transaction.pk, {})
        return CountsOut(counts_of(tally)).data


class TransactionDetail(TransactionRow):
    """The whole record of one transaction."""

    arguments = serializers.SerializerMethodField()
    pre_validation = serializers.SerializerMethodField()
    confirmations = ConfirmationOut(many=True)
    items = ItemOut(many=True)
    attempts = AttemptOut(many=True)
    events = EventOut(many=True)

    @extend_schema_field(ArgumentOut(many=True))
    def get_arguments(self, transaction: Transaction) -> Any:
        rows = [
            {
                "name": name,
                "value": held.get("value"),
                "source": held.get("source", ""),
                "turn_id": held.get("turn_id"),
            }
            for name, held in transaction.arguments.items()
        ]
        return [ArgumentOut(row).data for row in rows]

    @extend_schema_field(PreValidationOut(allow_null=True))
    def get_pre_validation(self, transaction: Transaction) -> dict[str, Any] | None:
        shown: dict[str, Any] | None = shown_pre_validation(transaction.pre_validation)
        return shown

    def get_counts(self, transaction: Transaction) -> dict[str, int]:
        confirmed = (item.status for item in transaction.items.all() if not item.unconfirmed)
        return CountsOut(counts_of(Counter(confirmed))).data
