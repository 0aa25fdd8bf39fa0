"""A language model over HTTP that reads the message of the simulations' tests, and definitions that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tests.rehearsal.test_simulating import ACTION, definitions
from tests.runtime import shop
from tests.scripted_model import ScriptedModel
from tooling.specs import Definitions, ProfileSpec

INTENT = shop.INTENTS[ACTION]
MESSAGE = "quero cancelar Música Mais e Craque 10"
ANSWERS: dict[str, Any] = {
    "intent_routing": {
        "decision": "shift",
        "intent": INTENT,
        "confidence": 0.9,
        "values": None,
        "reason": "asks to cancel",
    },
    "transaction_parameter_extraction": {
        "kind": "answers_pending",
        "values": {"subject": "Música Mais, Craque 10"},
    },
}


@contextmanager
def a_reading_model() -> Iterator[ScriptedModel]:
    with ScriptedModel(lambda component, payload: ANSWERS[component]) as endpoint:
        yield endpoint


def asking(model: ScriptedModel, *, safe: bool = False) -> Definitions:
    """The definitions of these tests, whose profile names the endpoint of the test."""
    profile = ProfileSpec("default", model="m", base_url=model.base_url)
    return replace(definitions(safe=safe), profiles={"default": profile})
