"""What the page tells of a simulation is what would be: no step speaks of what will not happen."""

from __future__ import annotations

import pytest

from tests.rehearsal.test_simulating import ACTION, SAID, a_gateway, a_model, definitions
from tests.runtime import shop
from tooling.specs import Definitions
from transactions.rehearsal.outcome import outcome
from transactions.rehearsal.scenes import Scene, Text
from transactions.rehearsal.simulating import Outside, simulate
from transactions.trying.story import Story, story

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]


def told(found: Definitions, *lines: Text) -> Story:
    simulated = simulate(Scene(found, lines), Outside(a_model(), a_gateway()))
    return story(outcome(simulated), found, "pt-BR")


def test_an_open_confirmation_is_what_the_customer_would_read() -> None:
    reads = told(definitions(), SAID).steps[4]

    assert "Música Mais" in "".join(reads.quotes)


def test_after_a_yes_the_question_is_not_told_as_if_it_were_asked_again() -> None:
    reads = told(definitions(), SAID, Text("sim")).steps[4]

    assert not [quote for quote in reads.quotes if "Música Mais" in quote]


def test_a_request_that_was_refused_at_once_asks_for_nothing() -> None:
    found = shop.with_policy(definitions(), ACTION, requires_identity=True)

    missing = told(found, SAID).steps[2]

    assert not missing.facts
