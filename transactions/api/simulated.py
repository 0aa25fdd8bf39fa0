"""What the endpoint that simulates answers, described for OpenAPI: the shapes of ``transactions.rehearsal.outcome``."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from transactions.core.statuses import ReasonCode, Rule, Status
from transactions.rehearsal.setting_up import DRAFT
from transactions.rehearsal.simulating import Source


class RuleOut(serializers.Serializer[Any]):
    rule = serializers.ChoiceField(choices=[str(rule) for rule in Rule])
    section = serializers.CharField(help_text="Where the runtime's contract has the rule: 6.8.")


class IntentOut(serializers.Serializer[Any]):
    """The intent that a message was taken for; `keyword` stood in it, the rest is the model's."""

    name = serializers.CharField(allow_blank=True)
    by = serializers.ChoiceField(choices=["keyword", "model"])
    keyword = serializers.CharField(allow_blank=True)
    decision = serializers.CharField(allow_blank=True)
    confidence = serializers.FloatField(allow_null=True)
    threshold = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class ReadingOut(serializers.Serializer[Any]):
    component = serializers.CharField()
    kind = serializers.CharField()
    values = serializers.DictField(child=serializers.JSONField())
    dropped = serializers.DictField(child=serializers.CharField(), help_text="Name → why its value does not count.")


class LineOut(serializers.Serializer[Any]):
    message = serializers.CharField(allow_null=True, help_text="null: the start that the state describes.")
    button = serializers.CharField(allow_blank=True)
    intent = IntentOut(allow_null=True)
    rules = RuleOut(many=True)
    readings = ReadingOut(many=True)
    model_calls = serializers.ListField(child=serializers.DictField(child=serializers.JSONField()))
    answers = serializers.ListField(child=serializers.CharField(), help_text="What the customer reads.")


class PlayedItemOut(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]  # DRF takes declared fields off the class
    eligible = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True)


class ValidationOut(serializers.Serializer[Any]):
    tool = serializers.CharField()
    source = serializers.ChoiceField(choices=[*(str(one) for one in Source), ""], help_text="Empty: it was not asked.")  # type: ignore[assignment]  # DRF takes declared fields off the class
    request = serializers.DictField(child=serializers.JSONField())
    answer = serializers.JSONField(allow_null=True)
    error = serializers.CharField(allow_blank=True)
    eligible = serializers.BooleanField()
    fail_open_used = serializers.BooleanField()
    items = PlayedItemOut(many=True)
    reason_code = serializers.CharField(allow_blank=True)


class MissingOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    question = serializers.CharField()


class PlayedConfirmationOut(serializers.Serializer[Any]):
    text = serializers.CharField()
    items = PlayedItemOut(many=True)


class ArgumentSeenOut(serializers.Serializer[Any]):
    value = serializers.JSONField()
    source = serializers.CharField()  # type: ignore[assignment]  # DRF takes declared fields off the class


class PlayedRequestOut(serializers.Serializer[Any]):
    """A transaction as it would stand."""

    tool = serializers.CharField()
    intent = serializers.CharField(allow_blank=True)
    operation_type = serializers.CharField()
    status = serializers.ChoiceField(choices=[str(status) for status in Status])
    reason_code = serializers.ChoiceField(choices=["", *(str(code) for code in ReasonCode)])
    reason = serializers.CharField(allow_blank=True)
    arguments = serializers.DictField(child=ArgumentSeenOut())
    missing = MissingOut(many=True)
    validations = ValidationOut(many=True)
    confirmation = PlayedConfirmationOut(allow_null=True)


class NodeOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    action = serializers.CharField()
    input = serializers.DictField(child=serializers.JSONField())


class CallOut(serializers.Serializer[Any]):
    """What a yes would call; of the server only the name."""

    server = serializers.CharField()
    tool = serializers.CharField()
    arguments = serializers.DictField(child=serializers.JSONField())
    meta = serializers.DictField(child=serializers.JSONField(), help_text="`_meta` of the call.")
    workflow = serializers.CharField(allow_blank=True)
    nodes = NodeOut(many=True)


@extend_schema_field({"oneOf": [{"type": "string", "enum": [DRAFT]}, {"type": "integer"}]})
class WhichOut(serializers.Field[Any, Any, Any, Any]):
    pass


class SimulatedOut(serializers.Serializer[Any]):
    definitions = WhichOut()
    lines = LineOut(many=True)
    requests = PlayedRequestOut(many=True)
    next_call = CallOut(allow_null=True)
    whole = serializers.BooleanField(help_text="false: there was no time to play it to its end.")
    executed = serializers.BooleanField(help_text="Always false.")
