"""The endpoints by which operators settle unknown items and move reviews: who may, what changes, and conflicts."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.api.test_transactions_api import UNKNOWN, is_problem
from tests.builders import an_api_key, an_operator
from tests.runtime.durability import LABELS, confirmed
from tests.runtime.test_reviewing import undecided
from tests.runtime.world import World, rows
from transactions.models import Transaction

pytestmark = pytest.mark.django_db
REASON = "seen in the billing system"


@pytest.fixture
def program(client):
    client.defaults["HTTP_AUTHORIZATION"] = an_api_key("k")["Authorization"]
    return client


def with_an_incident() -> World:
    """Done, and the tool reported something that nobody had asked for."""
    world = confirmed()
    named = [{"name": name, "success": True} for name in (*LABELS, "Jogos Dia")]
    world.gateway.answers("cancelar_vas_avulso", rows(*named))
    world.work()
    return world


def address(world: World, key: str | None = None) -> str:
    """Where the first item, or the one with ``key``, is settled."""
    key = key or world.transaction.items.get(label=LABELS[0]).key
    return f"/api/v1/transactions/{world.transaction.pk}/items/{quote(key, safe='')}/resolve/"


def review_of(world: World) -> str:
    return f"/api/v1/transactions/{world.transaction.pk}/review/"


def send(client: Any, path: str, body: Any, **more: Any) -> Any:
    return client.post(path, body, content_type="application/json", **more)


# Settling an item ---------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["operator", "publisher"])
def test_a_key_of_either_role_settles_an_item_and_reads_the_record(client, role):
    world = undecided()

    response = send(client, address(world), {"status": "FAILED", "reason": REASON}, headers=an_api_key(role=role))

    assert response.status_code == 200
    record = response.json()
    assert record == client.get(f"/api/v1/transactions/{world.transaction.pk}/", headers=an_api_key("2")).json()
    (item,) = [item for item in record["items"] if item["label"] == LABELS[0]]
    assert (item["status"], item["reason"], item["verdict_source"]) == ("FAILED", REASON, "operator")
    assert item["evidence"]["resolution"]["by"] == f"key:{role} a-key"


def test_a_signed_in_operator_needs_the_token_against_forgery(client):
    from django.test import Client

    world = undecided()
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(an_operator())
    client.force_login(an_operator("eva"))

    forged = send(browser, address(world), {"status": "FAILED", "reason": REASON})
    honest = send(client, address(world), {"status": "FAILED", "reason": REASON})

    assert (forged.status_code, honest.status_code) == (403, 200)
    assert world.transaction.items.get(label=LABELS[0]).evidence["resolution"]["by"] == "eva"


def test_with_the_last_item_the_transaction_ends_and_its_review_is_closed(program):
    world = undecided(LABELS[:1])

    record = send(program, address(world), {"status": "SUCCEEDED", "reason": REASON, "protocol": "PRT-9"}).json()

    assert (record["status"], record["review_state"], record["has_unknown"]) == ("SUCCESS", "resolved", False)
    assert record["items"][0]["protocol"] == "PRT-9"
    assert [event["kind"] for event in record["events"]][-3:] == [
        "transaction.moved",
        "transaction.finished",
        "review.changed",
    ]


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"status": "FAILED"}, "reason"),
        ({"status": "FAILED", "reason": ""}, "reason"),
        ({"status": "FAILED", "reason": " \n "}, "reason"),
        ({"status": "FAILED", "reason": None}, "reason"),
        ({"status": "FAILED", "reason": ["x"]}, "reason"),
        ({"status": "FAILED", "reason": "x" * 1001}, "reason"),
        ({"reason": REASON}, "status"),
        ({"status": "UNKNOWN", "reason": REASON}, "status"),
        ({"status": "EXCLUDED", "reason": REASON}, "status"),
        ({"status": "failed", "reason": REASON}, "status"),
        ({"status": "FAILED", "reason": REASON, "protocol": "x" * 201}, "protocol"),
    ],
)
def test_a_request_without_a_reason_or_with_another_status_changes_nothing(program, body, name):
    world = undecided()

    response = send(program, address(world), body)

    assert is_problem(response, 400)
    assert [error["name"] for error in response.json()["errors"]] == [name]
    assert world.transaction.items.filter(status="UNKNOWN").count() == 3


@pytest.mark.parametrize("body", ["{", "[]", '"FAILED"', "null"])
def test_a_body_that_is_no_object_is_a_problem(program, body):
    assert is_problem(send(program, address(undecided()), body), 400)


@pytest.mark.parametrize("key", ["nope", "\x00", "ação", "a b", "%"])
def test_an_item_that_is_not_there_is_a_problem(program, key):
    assert is_problem(send(program, address(undecided(), key), {"status": "FAILED", "reason": REASON}), 404)


def test_a_transaction_that_is_not_there_is_a_problem(program):
    path = f"/api/v1/transactions/{UNKNOWN}"

    for body, end in [({"status": "FAILED", "reason": REASON}, "items/i1/resolve/"), ({"state": "needed"}, "review/")]:
        assert is_problem(send(program, f"{path}/{end}", body), 404)


@pytest.mark.parametrize("key", ["*", "número-1", "PED:7", "a%b"])
def test_a_key_is_given_as_it_is_quoted_in_the_address(program, key):
    world = undecided(LABELS[:1])
    world.transaction.items.update(key=key)

    response = send(program, address(world, key), {"status": "NOT_EXECUTED", "reason": REASON})

    assert response.status_code == 200
    assert response.json()["items"][0]["status"] == "NOT_EXECUTED"


def test_who_comes_second_is_told_who_settled_it_when_and_how(program):
    world = undecided()
    send(program, address(world), {"status": "FAILED", "reason": REASON})

    response = send(program, address(world), {"status": "SUCCEEDED", "reason": "no, it worked"})

    assert is_problem(response, 409)
    body = response.json()
    held = world.transaction.items.get(label=LABELS[0])
    assert body["code"] == "item_settled"
    assert LABELS[0] in body["detail"]
    assert body["item"] == {
        "key": held.key,
        "status": "FAILED",
        "verdict_source": "operator",
        "reason": REASON,
        "by": "key:operator k",
        "at": held.evidence["resolution"]["at"],
    }


def test_dur_139_an_item_that_succeeded_is_not_settled_again(program):
    world = confirmed()
    world.work()
    before = Transaction.objects.filter(pk=world.transaction.pk).values().get()

    response = send(program, address(world), {"status": "FAILED", "reason": "x"})

    assert is_problem(response, 409)
    assert response.json()["item"] | {"key": ""} == {
        "key": "",
        "status": "SUCCEEDED",
        "verdict_source": "row",
        "reason": None,
        "by": None,
        "at": None,
    }
    assert Transaction.objects.filter(pk=world.transaction.pk).values().get() == before


# Reviews ------------------------------------------------------------------------------------------


def test_a_review_is_not_closed_while_an_item_is_unknown(program):
    world = undecided()

    response = send(program, review_of(world), {"state": "resolved"})

    assert is_problem(response, 409)
    assert response.json()["code"] == "items_unknown"
    assert world.transaction.review_state == "needed"


def test_a_review_is_taken_and_closed(program):
    world = with_an_incident()

    taken = send(program, review_of(world), {"state": "acknowledged", "note": "asking the shop"})
    closed = send(program, review_of(world), {"state": "resolved"})

    assert [taken.json()["review_state"], closed.json()["review_state"]] == ["acknowledged", "resolved"]
    notes = [event["data"] for event in closed.json()["events"] if event["kind"] == "review.changed"]
    assert [(note["by"], note["note"]) for note in notes] == [
        ("key:operator k", "asking the shop"),
        ("key:operator k", ""),
    ]


def test_a_review_that_stands_elsewhere_is_a_conflict_that_says_where(program):
    world = undecided()
    send(program, review_of(world), {"state": "acknowledged", "note": "mine"})

    response = send(program, review_of(world), {"state": "acknowledged"})

    assert is_problem(response, 409)
    assert response.json()["code"] == "review_moved"
    assert response.json()["review"] == {"review_state": "acknowledged", "by": "key:operator k", "note": "mine"}


@pytest.mark.parametrize("body", [{}, {"state": "none"}, {"state": "done"}, {"state": "needed", "note": "x" * 1001}])
def test_a_review_is_moved_only_to_a_state_that_there_is(program, body):
    world = undecided()

    assert is_problem(send(program, review_of(world), body), 400)
    assert world.transaction.review_state == "needed"


# OpenAPI ------------------------------------------------------------------------------------------


def test_the_openapi_document_names_bodies_and_conflicts(client):
    document = client.get("/api/schema/", headers={"accept": "application/json"}).json()

    for path, schema in [("items/{key}/resolve/", "SettledProblem"), ("review/", "ReviewProblem")]:
        described = document["paths"][f"/api/v1/transactions/{{id}}/{path}"]["post"]
        assert set(described["responses"]) == {"200", "400", "401", "403", "404", "409", "429"}
        conflict = described["responses"]["409"]["content"]["application/problem+json"]["schema"]["$ref"]
        assert conflict.endswith(schema)
    assert set(document["components"]["schemas"]["ResolveRequest"]["required"]) == {"status", "reason"}
