"""Simulating over HTTP: a publisher sees the decision path; nothing is executed and nothing stays (contracts.md §3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from tests.builders import a_user, an_api_key
from tests.rehearsal.reading import INTENT, MESSAGE, a_reading_model, asking
from tests.rehearsal.test_simulating import ACTION, LABELS, VALIDATOR, definitions, rows
from tests.runtime import shop
from tests.scripted_model import ScriptedModel
from tests.tooling.definitions_api import Caller, is_problem
from tooling import publishing

pytestmark = pytest.mark.django_db


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with a_reading_model() as endpoint:
        yield endpoint


@pytest.fixture
def draft(model: ScriptedModel) -> None:
    publishing.replace_draft(asking(model))


@pytest.fixture
def publisher(db: None) -> Caller:
    return Caller(an_api_key("p", role="publisher"))


def simulate(caller: Caller, **body: Any) -> Any:
    return caller.send("post", "simulate/", {"message": MESSAGE, **body})


@pytest.mark.usefixtures("draft")
def test_the_decision_path_is_told_down_to_the_call_and_nothing_stays(publisher: Caller) -> None:
    before = rows()

    answer = simulate(publisher)

    assert answer.status_code == 200, answer.json()
    body = answer.json()
    assert (body["definitions"], body["whole"], body["executed"]) == ("draft", True, False)
    (line,) = body["lines"]
    assert (line["intent"]["name"], line["intent"]["by"], line["intent"]["reason"]) == (
        INTENT,
        "model",
        "asks to cancel",
    )
    assert [one["section"] for one in line["rules"]] == ["6.8"]
    (request,) = body["requests"]
    assert (request["status"], request["arguments"]["subject"]["value"]) == (
        "AWAITING_CONFIRMATION",
        "Música Mais, Craque 10",
    )
    assert request["validations"][0]["source"] == "made_up"
    assert body["next_call"]["tool"] == ACTION
    assert rows() == before


@pytest.mark.usefixtures("draft")
def test_a_given_answer_stands_for_the_validator(publisher: Caller) -> None:
    items = [{"name": LABELS[0]}, {"name": LABELS[1], "eligible": False, "reason": "fidelidade"}]
    given = {"eligible": True, "transaction_decision": {"resolved_arguments": {"items": items}}}

    body = simulate(publisher, state={"answers": {VALIDATOR: given}}).json()

    (check,) = body["requests"][0]["validations"]
    assert (check["source"], check["answer"]) == ("given", given)
    told = [(item["label"], item["eligible"], item["reason"]) for item in body["requests"][0]["confirmation"]["items"]]
    assert told == [(LABELS[0], True, ""), (LABELS[1], False, "fidelidade")]


@pytest.mark.usefixtures("draft")
def test_a_state_is_started_from(publisher: Caller) -> None:
    state = {"tool": ACTION, "known": {"subject": "Craque 10"}, "messages": ["não entendi"], "locale": "en"}

    body = simulate(publisher, message="yes", state=state).json()

    assert [line["message"] for line in body["lines"]] == [None, "não entendi", "yes"]
    assert body["requests"][0]["status"] == "EXECUTING"
    assert body["next_call"]["arguments"]["subject"] == "Craque 10"


def test_a_release_is_played_as_it_was_published(publisher: Caller, model: ScriptedModel) -> None:
    publishing.replace_draft(asking(model))
    publishing.publish(comment="first")
    publishing.replace_draft(shop.with_policy(asking(model), ACTION, require_confirmation=False))

    states = [simulate(publisher, definitions=which).json()["requests"][0]["status"] for which in (1, "draft")]

    assert states == ["AWAITING_CONFIRMATION", "EXECUTING"]


def test_a_draft_with_errors_is_refused_with_all_of_them(publisher: Caller) -> None:
    publishing.replace_draft(shop.with_policy(definitions(), ACTION, requires=("nada",)))

    answer = simulate(publisher)

    assert is_problem(answer, 422, "invalid_draft")
    assert any("nada" in one["message"] for one in answer.json()["problems"])


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"message": ""}, "message"),
        ({"message": "   "}, "message"),
        ({"message": "x" * 4001}, "message"),
        ({"message": None}, "message"),
        ({"definitions": "newest"}, "definitions"),
        ({"definitions": True}, "definitions"),
        ({"definitions": 77}, "definitions"),
        ({"state": []}, "state.non_field_errors"),
        ({"state": {"messages": ["x"] * 20}}, "state.messages"),
        ({"state": {"tool": "nenhuma"}}, "state.tool"),
        ({"state": {"known": {"subject": "x"}}}, "state.known"),
        ({"state": {"tool": ACTION, "known": {"nada": "x"}}}, "state.known.nada"),
        ({"state": {"tool": ACTION, "known": {"subject": {}}}}, "state.known.subject"),
        ({"state": {"identity": ["C-1"]}}, "state.identity"),
        ({"state": {"identity": {str(n): n for n in range(51)}}}, "state.identity"),
        ({"state": {"locale": "xx"}}, "state.locale"),
        ({"state": {"answers": {VALIDATOR: "yes"}}}, f"state.answers.{VALIDATOR}"),
        ({"state": {"answers": {"nenhuma": {}}}}, "state.answers.nenhuma"),
    ],
)
@pytest.mark.usefixtures("draft")
def test_what_cannot_be_simulated_is_a_problem_that_names_the_place(
    publisher: Caller, body: dict[str, Any], name: str
) -> None:
    answer = simulate(publisher, **body)

    assert is_problem(answer, 400, "invalid"), answer.json()
    assert name in {one["name"] for one in answer.json()["errors"]}


@pytest.mark.usefixtures("draft")
def test_hostile_characters_are_cleaned_and_no_accident(publisher: Caller) -> None:
    state = {"identity": {"customer_key": "a\x00b\ud800"}, "messages": ["\u202etrocado\x00"]}

    answer = simulate(publisher, message=MESSAGE + "\x00", state=state)

    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert "\x00" not in str(answer.json())


@pytest.mark.parametrize("role", ["operator", "nobody", "viewer"])
@pytest.mark.usefixtures("draft")
def test_only_who_may_change_the_draft_may_simulate(role: str) -> None:
    client = Client()
    if role == "viewer":
        client.force_login(a_user("vera", "tooling.view_policy", "tooling.publish_release"))
    caller = Caller(an_api_key("o") if role == "operator" else {}, client)

    assert simulate(caller).status_code in (401, 403)


def test_who_really_called_a_validator_is_in_the_log(
    publisher: Caller, model: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    publishing.replace_draft(asking(model, safe=True))

    body = simulate(publisher, state={"identity": {"customer_key": "C-7"}}).json()

    # Nothing listens at the address of these definitions: it was called all the same.
    assert body["requests"][0]["validations"][0]["source"] == "called"
    assert body["requests"][0]["reason_code"] == "pre_validation_unavailable"
    (line,) = [one for one in caplog.records if one.name == "simulations"]
    assert "key:publisher p" in line.getMessage()
    assert VALIDATOR in line.getMessage() and "C-7" in line.getMessage()


@pytest.mark.usefixtures("draft")
def test_simulating_is_limited(publisher: Caller, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from transactions.api.simulate import SimulationThrottle

    settings.RATE_LIMITS = True
    monkeypatch.setattr(SimulationThrottle, "rate", "1/min")

    answers = [simulate(publisher).status_code for _ in range(2)]

    assert answers == [200, 429]
