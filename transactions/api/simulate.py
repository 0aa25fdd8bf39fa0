"""Simulating a message over HTTP: the decision path with the draft or a release; nothing is executed (contracts.md §3).

Taken: ``{"message", "state"?: {"messages", "tool", "known", "identity", "locale", "answers"}, "definitions"?}``.
Answered: ``{"definitions", "lines", "requests", "next_call", "whole", "executed": false}``, the dataclasses of
``transactions.rehearsal.outcome`` as JSON.
"""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from tooling import catalog
from tooling.api.access import DefinitionsEndpoint, MayChangeDraft
from tooling.api.draft import invalid
from tooling.api.shapes import InvalidProblem
from tooling.api_basics import MEDIA_TYPE, CallerThrottle, problems
from tooling.cleaning import clean_json
from tooling.specs import JSON, Definitions
from transactions.api.simulated import SimulatedOut
from transactions.rehearsal.outcome import as_json, outcome
from transactions.rehearsal.scenes import Scene, Start
from transactions.rehearsal.setting_up import (
    DRAFT,
    LONGEST_MESSAGE,
    MOST_ENTRIES,
    MOST_LINES,
    NotSound,
    definitions_of,
    lines_of,
    note_calls,
    start_of,
    with_everybody,
)
from transactions.rehearsal.simulating import Outside, simulate

LOCALES = ("pt-BR", "en")


class SimulationThrottle(CallerThrottle):
    """Every simulation may ask a language model several times."""

    scope = "simulations"
    rate = "60/min"


@extend_schema_field({"oneOf": [{"type": "string", "enum": [DRAFT]}, {"type": "integer", "minimum": 1}]})
class WhichField(serializers.Field[Any, Any, Any, Any]):
    """``draft``, or the number of a release."""

    def to_internal_value(self, data: Any) -> str | int:
        if data == DRAFT or (isinstance(data, int) and not isinstance(data, bool) and 0 < data < 10**9):
            return data  # type: ignore[no-any-return]  # narrowed by the condition
        raise ValidationError(_("The number of a release is expected, or draft."))


class ObjectField(serializers.JSONField):
    """A JSON object with few keys."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            raise ValidationError(_("An object is expected."))
        if len(data) > MOST_ENTRIES:
            raise ValidationError(_("At most %(most)d entries are expected.") % {"most": MOST_ENTRIES})
        return clean_json(data)


class MessageField(serializers.CharField):
    """A message as a customer may send it: not blank, and otherwise as it is."""

    def __init__(self, **more: Any) -> None:
        super().__init__(max_length=LONGEST_MESSAGE, trim_whitespace=False, **more)

    def run_validation(self, data: Any = empty) -> Any:
        if isinstance(data, str) and not data.strip():
            self.fail("blank")
        return super().run_validation(data)


class StateIn(serializers.Serializer[Any]):
    """Where the conversation stands when the message is said."""

    messages = serializers.ListField(
        child=MessageField(), max_length=MOST_LINES - 1, required=False, help_text="What was said before, in order."
    )
    tool = serializers.CharField(required=False, max_length=200, help_text="A request for it is open already.")
    known = ObjectField(required=False, help_text="What is known of that request: argument → value.")
    identity = ObjectField(required=False, help_text="What a signed user token would say.")
    locale = serializers.ChoiceField(choices=LOCALES, default="pt-BR")
    answers = ObjectField(required=False, help_text="Tool → the object that it is to answer instead of being called.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("known") and not attrs.get("tool"):
            raise ValidationError({"known": _("Known values need the tool that they belong to.")})
        wrong = [tool for tool, answer in attrs.get("answers", {}).items() if not isinstance(answer, dict)]
        if wrong:
            raise ValidationError({"answers": {tool: _("An object is expected.") for tool in wrong}})
        return attrs


class SimulateIn(serializers.Serializer[Any]):
    message = MessageField()
    state = StateIn(required=False)
    definitions = WhichField(default=DRAFT)


class SimulateView(DefinitionsEndpoint):
    """Trying a message."""

    permission_classes = [MayChangeDraft]

    def get_throttles(self) -> list[BaseThrottle]:
        return [SimulationThrottle()] if super().get_throttles() else []

    @extend_schema(
        operation_id="definitions_simulate",
        request=SimulateIn,
        responses={
            200: SimulatedOut,
            **problems(400, 401, 403, 411, 413, 429),
            (422, MEDIA_TYPE): InvalidProblem,
        },
    )
    def post(self, request: Request) -> Response:
        """What would be decided about a message, and why, down to the call that a yes would make; nothing is executed.

        Validators are really called only where they are internal and marked as safe to simulate; else their answer
        is `answers`, or made up (`{"eligible": true}`). 422: the draft has errors.
        """
        asked = SimulateIn(data=request.data)
        asked.is_valid(raise_exception=True)
        which, state = asked.validated_data["definitions"], asked.validated_data.get("state", {})
        try:
            definitions = definitions_of(which)
        except NotSound as refused:
            return invalid("invalid_draft", refused.findings)
        except catalog.NothingPublished as error:
            raise ValidationError({"definitions": _("There is no such release.")}) from error
        locale = state.get("locale", LOCALES[0])
        scene = Scene(
            definitions,
            lines_of([*state.get("messages", ()), asked.validated_data["message"]]),
            locale=locale,
            identity=state.get("identity", {}),
            start=_start(definitions, state, locale),
        )
        simulated = simulate(scene, with_everybody(Outside(given=_given(definitions, state))))
        note_calls(simulated, request.user)
        return Response({"definitions": which, **as_json(outcome(simulated))})


def _start(definitions: Definitions, state: dict[str, Any], locale: str) -> Start | None:
    tool = state.get("tool", "")
    if not tool:
        return None
    start, wrong = start_of(definitions, tool, state.get("known", {}), locale)
    if start is None:
        raise ValidationError({"state": {"tool": _("There is no such tool.")}})
    if wrong:
        told = _("The tool has no such argument, or the value does not fit it.")
        raise ValidationError({"state": {"known": dict.fromkeys(wrong, told)}})
    return start


def _given(definitions: Definitions, state: dict[str, Any]) -> dict[str, JSON]:
    answers: dict[str, JSON] = state.get("answers", {})
    unknown = [tool for tool in answers if tool not in definitions.tools]
    if unknown:
        raise ValidationError({"state": {"answers": dict.fromkeys(unknown, _("There is no such tool."))}})
    return answers
