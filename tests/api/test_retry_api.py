"""The endpoint that tries failed items again: what would run, what runs, and when it may not (contracts.md §3)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.api.test_transactions_api import UNKNOWN, is_problem
from tests.builders import a_user, an_api_key, an_operator
from tests.runtime.retries import IDS, a_world, confirmed_and_done, finished
from transactions.models import Transaction

pytestmark = pytest.mark.django_db


@pytest.fixture
def program(client):
    client.defaults["HTTP_AUTHORIZATION"] = an_api_key("k")["Authorization"]
    return client


def retry(client: Client, transaction: Any, body: Any = None, **more: Any) -> Any:
    key = getattr(transaction, "pk", transaction)
    return client.post(f"/api/v1/transactions/{key}/retry/", body or {}, content_type="application/json", **more)


def test_a_dry_run_tells_what_would_run_and_what_would_not_and_why_and_changes_nothing(program):
    world = a_world()
    parent = finished(world)

    response = retry(program, parent, {"dry_run": True})

    told = response.json()
    assert response.status_code == 200
    assert [item["label"] for item in told["items"]] == ["PED-1006", "PED-1007"]
    assert [(item["label"], item["status"], item["why"]) for item in told["left_out"]] == [
        ("PED-1003", "SUCCEEDED", "succeeded")
    ]
    assert told["arguments"][0] | {"turn_id": None} == {
        "name": "order_ids",
        "value": ["PED-1006", "PED-1007"],
        "source": "extraction",
        "turn_id": None,
    }
    assert (told["release"], told["transaction_release"], told["definition_changed"]) == (1, 1, False)
    assert (told["transaction_id"], told["tool"], told["asks_for"]) == (str(parent.pk), parent.tool, [])
    assert world.transactions == [parent]


def test_without_it_a_child_is_opened_whose_record_names_its_parent(program):
    world = a_world()
    parent = finished(world)

    response = retry(program, parent)

    assert response.status_code == 201
    record = program.get(response["Location"]).json()
    assert response.json() == {"id": record["id"]}
    assert record["parent_id"] == str(parent.pk)
    assert record["status"] == "AWAITING_CONFIRMATION"
    assert [item["label"] for item in record["items"]] == IDS[1:]
    (asked,) = [event for event in record["events"] if event["kind"] == "transaction.retried"]
    assert asked["data"]["by"] == "key:operator k"


def test_dur_085_pressed_twice_there_is_one_child_and_the_answer_names_it(program):
    parent = finished(a_world())

    first, second = retry(program, parent), retry(program, parent)

    assert is_problem(second, 409)
    assert (second.json()["code"], second.json()["about"]) == ("not_newest", first.json()["id"])
    assert Transaction.objects.filter(parent=parent).count() == 1


@pytest.mark.parametrize("body", [{}, {"dry_run": True}], ids=["for good", "dry run"])
def test_dur_085_what_succeeded_is_refused_with_the_reason(program, body):
    succeeded = finished(a_world(), failing=())

    response = retry(program, succeeded, body)

    assert is_problem(response, 409)
    assert response.json()["code"] == "nothing_failed"
    assert Transaction.objects.filter(parent=succeeded).count() == 0


def test_an_occupied_conversation_is_a_conflict_that_names_what_occupies_it(program):
    world = a_world()
    parent = finished(world)
    retry(program, parent)
    world.answers("reject")
    retry(program, parent)

    response = retry(program, parent)

    assert is_problem(response, 409)
    assert response.json()["about"] == str(world.transaction.pk)


def test_after_the_child_succeeded_neither_can_be_tried_again(program):
    world = a_world()
    parent = finished(world)
    retry(program, parent)
    child = confirmed_and_done(world)

    codes = [retry(program, each).json()["code"] for each in (parent, child)]

    assert codes == ["not_newest", "nothing_failed"]


def test_a_conflict_is_told_in_the_reader_s_language(program):
    succeeded = finished(a_world(), failing=())

    response = retry(program, succeeded, headers={"accept-language": "pt-BR"})

    assert response.json()["detail"] == "Nenhum item dela foi tentado e falhou; não há o que tentar de novo."


@pytest.mark.parametrize("body", [{"dry_run": "perhaps"}, ["dry_run"], {"dry_run": None}])
def test_a_body_that_says_nothing_clear_opens_nothing(program, body):
    parent = finished(a_world())

    response = program.post(f"/api/v1/transactions/{parent.pk}/retry/", body, content_type="application/json")

    assert is_problem(response, 400)
    assert Transaction.objects.filter(parent=parent).count() == 0


def test_what_is_not_there_is_not_found(program):
    assert is_problem(retry(program, UNKNOWN), 404)


def test_nobody_retries_without_a_key_or_the_permission(client):
    parent = finished(a_world())

    assert is_problem(retry(client, parent), 401)
    client.force_login(a_user("rui"))
    assert is_problem(retry(client, parent), 403)
    assert Transaction.objects.filter(parent=parent).count() == 0


def test_a_signed_in_operator_needs_the_token_against_forgery():
    parent = finished(a_world())
    client = Client(enforce_csrf_checks=True)
    client.force_login(an_operator())

    assert is_problem(retry(client, parent), 403)
    assert Transaction.objects.filter(parent=parent).count() == 0


@pytest.mark.parametrize(
    ("body", "status"),
    [('{"a":' * 5000 + "1" + "}" * 5000, 400), ("[" * 100_000, 400), ('{"a": "' + "x" * (3 * 1024 * 1024) + '"}', 413)],
    ids=["objects in objects", "lists in lists", "3 MiB"],
)
def test_a_body_without_end_is_the_clients_error(program, body, status):
    parent = finished(a_world())

    response = retry(program, parent, body)

    assert is_problem(response, status)
