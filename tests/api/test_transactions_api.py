"""The transactions API: who may read, filters, pages, the exact shape of a record, and errors as problems."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import (
    a_conversation,
    a_transaction,
    a_whole_story,
    an_api_key,
    an_attempt,
    an_item,
    an_operator,
)
from transactions.core.statuses import ItemStatus, Status

pytestmark = pytest.mark.django_db
UNKNOWN = "00000000-0000-4000-8000-000000000001"
URL = "/api/v1/transactions/"


@pytest.fixture
def program(client):
    client.defaults["HTTP_AUTHORIZATION"] = an_api_key()["Authorization"]
    return client


def found(client, query: str = "") -> list[str]:
    response = client.get(URL + query)
    assert response.status_code == 200, response.json()
    return [row["id"] for row in response.json()["results"]]


def ids(*transactions) -> list[str]:
    return [str(transaction.pk) for transaction in transactions]


def is_problem(response, status: int) -> bool:
    body = response.json()
    return (
        response.status_code == status
        and response["Content-Type"] == "application/problem+json"
        and body["status"] == status
        and {"type", "title", "detail", "code"} <= body.keys()
    )


# Who may read -------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["operator", "publisher"])
def test_a_key_of_either_role_reads(client, role):
    headers = an_api_key(role=role)

    assert client.get(URL, headers=headers).status_code == 200


def test_a_signed_in_operator_reads_without_a_key(client):
    client.force_login(an_operator())

    assert client.get(URL).status_code == 200


def test_the_scheme_is_read_in_any_case(client):
    an_api_key("k")

    assert client.get(URL, headers={"Authorization": "bEARER k"}).status_code == 200


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer a b", "Bearer \xe9\xff", "Bearer " + "x" * 5000])
def test_a_malformed_bearer_header_is_refused_and_says_how_to_authenticate(client, header):
    response = client.get(URL, headers={"Authorization": header})

    assert is_problem(response, 401)
    assert response["WWW-Authenticate"] == 'Bearer realm="api"'


def test_a_wrong_key_is_refused_even_with_a_good_session(client):
    client.force_login(an_operator())

    assert is_problem(client.get(URL, headers={"Authorization": "Bearer wrong"}), 401)


def test_only_the_hash_of_a_key_is_kept():
    from transactions.models import ApiKey

    an_api_key("the-key-itself")

    assert "the-key-itself" not in str(ApiKey.objects.values("hash", "role").get())


# The list -----------------------------------------------------------------------------------------


def test_a_row_has_the_keys_of_the_record_that_are_no_lists(program):
    story = a_whole_story()

    (row,) = program.get(URL).json()["results"]

    assert row == {
        "id": str(story.pk),
        "conversation_id": str(story.conversation_id),
        "channel": "site",
        "parent_id": None,
        "release": 3,
        "revision": 7,
        "tool": "encerrar_assinaturas",
        "operation_type": "transactional",
        "status": "PARTIAL_SUCCESS",
        "multi_item_status": "PARTIAL_SUCCESS",
        "reason_code": "partly_failed",
        "review_state": "none",
        "has_unknown": False,
        "has_unconfirmed": False,
        "created_at": utc(story.created_at),
        "finished_at": utc(story.finished_at),
        "counts": {"total": 3, "succeeded": 2, "failed": 1, "unknown": 0, "excluded": 0},
    }


def utc(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def test_each_filter_narrows_the_list(program):
    app = a_conversation("app")
    now = timezone.now()
    one = a_transaction(
        Status.VERIFYING,
        items=[("A", ItemStatus.UNKNOWN)],
        tool="trocar_plano",
        conversation=app,
        multi_item_status="FAILED",
        review_state="needed",
        created_at=now - timedelta(days=2),
    )
    other = a_transaction(has_unconfirmed=True)
    third = a_transaction(Status.FAILED)

    assert found(program, "?status=VERIFYING") == ids(one)
    assert found(program, "?status=VERIFYING&status=FAILED") == ids(third, one)
    assert found(program, "?multi_item_status=FAILED") == ids(one)
    assert found(program, "?tool=trocar_plano") == ids(one)
    assert found(program, "?channel=app") == ids(one)
    assert found(program, f"?conversation={app.pk}") == ids(one)
    assert found(program, "?has_unknown=true") == ids(one)
    assert found(program, "?has_unknown=false") == ids(third, other)
    assert found(program, "?has_unconfirmed=true") == ids(other)
    assert found(program, "?review_state=needed") == ids(one)
    assert found(program, "?channel=app&status=FAILED") == []


def test_created_after_and_before_take_moments_with_zones(program):
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    early = a_transaction(created_at=noon - timedelta(hours=1))
    late = a_transaction(created_at=noon + timedelta(hours=1))

    assert found(program, "?created_after=2026-03-01T12:00:00Z") == ids(late)
    assert found(program, "?created_before=2026-03-01T09:00:00-03:00") == ids(early)
    assert found(program, "?created_after=2026-03-01T11:00:00Z&created_before=2026-03-01T13:00:00Z") == ids(early)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("status=NONSENSE", "status"),
        ("status=SUCCESS&status=success", "status"),
        ("multi_item_status=VERIFYING", "multi_item_status"),
        ("conversation=not-a-uuid", "conversation"),
        ("created_after=yesterday", "created_after"),
        ("created_before=2026-13-45", "created_before"),
        ("has_unknown=perhaps", "has_unknown"),
        ("has_unconfirmed=2", "has_unconfirmed"),
        ("review_state=done", "review_state"),
        ("tool=%00", "tool"),
        ("cursor=garbage", "cursor"),
        ("cursor=b3wyMDI2LTAxLTAxfGFi", "cursor"),
        ("cursor=%F0%9F%99%82", "cursor"),
        ("page_size=0", "page_size"),
        ("page_size=1000000000", "page_size"),
        ("page_size=-1", "page_size"),
        ("page_size=ten", "page_size"),
        ("page_size=%D9%A3", "page_size"),
    ],
)
def test_a_value_that_cannot_be_read_is_a_problem_that_names_it(program, query, name):
    # BAD-206
    response = program.get(f"{URL}?{query}")

    assert is_problem(response, 400)
    assert [error["name"] for error in response.json()["errors"]] == [name]


def test_lookups_that_are_no_filters_reach_no_database(program):
    # BAD-205
    transaction = a_transaction()

    assert found(program, "?status__regex=(a%2B)%2B$&conversation__channel__key=x&user__password__startswith=a") == ids(
        transaction
    )


def test_pages_are_walked_with_cursors_and_keep_filters(program):
    now = timezone.now()
    wanted = [a_transaction(tool="a", created_at=now - timedelta(seconds=n // 3)) for n in range(7)]
    a_transaction(tool="b")

    pages, url = [], f"{URL}?tool=a&page_size=3"
    while url:
        body = program.get(url).json()
        pages.append(body)
        a_transaction(tool="a", created_at=now + timedelta(hours=1))
        url = body["next"]
    back = program.get(pages[1]["previous"]).json()

    walked = [row["id"] for page in pages for row in page["results"]]
    assert [len(page["results"]) for page in pages] == [3, 3, 1]
    assert sorted(walked) == sorted(ids(*wanted))
    assert pages[0]["previous"] is None
    assert back["results"] == pages[0]["results"]


def test_the_list_costs_the_same_queries_for_any_number_of_rows(program):
    a_whole_story()
    program.get(URL)
    with CaptureQueriesContext(connection) as few:
        program.get(URL)
    for _ in range(20):
        a_whole_story()
    with CaptureQueriesContext(connection) as many:
        program.get(URL)

    assert len(many) == len(few) <= 4


# The record ---------------------------------------------------------------------------------------

SHAPE = {
    "": "arguments attempts channel confirmations conversation_id counts created_at events finished_at has_unconfirmed "
    "has_unknown id items multi_item_status operation_type parent_id pre_validation reason_code release review_state "
    "revision status tool",
    "arguments": "name source turn_id value",
    "confirmations": "answered_at answered_by digest id status text",
    "items": "evidence key label protocol reason status unconfirmed verdict_source",
    "attempts": "answered_at idempotency_key normalised number raw_answer request secondary_error sent_at status steps",
    "events": "at data kind model_calls rule",
}


def test_a_record_has_exactly_the_keys_of_the_contract(program):
    story = a_whole_story()

    record = program.get(f"{URL}{story.pk}/").json()

    assert sorted(record) == SHAPE[""].split()
    assert sorted(record["pre_validation"]) == ["answer", "eligible", "error", "fail_open_used", "request", "tool"]
    assert sorted(record["counts"]) == ["excluded", "failed", "succeeded", "total", "unknown"]
    for name in ("arguments", "confirmations", "items", "attempts", "events"):
        assert record[name]
        assert all(sorted(row) == SHAPE[name].split() for row in record[name]), name


def test_a_record_says_what_is_known(program):
    story = a_whole_story()
    turn = story.conversation.turns.get(number=1)

    record = program.get(f"{URL}{story.pk}/").json()

    held = "Música Mais, Livros Falados e Craque 10"
    assert record["arguments"] == [{"name": "subject", "value": held, "source": "extraction", "turn_id": str(turn.pk)}]
    assert record["pre_validation"]["request"] == {"subject": held}
    assert [item["label"] for item in record["items"]] == ["Música Mais Mensal", "Livros Falados Premium", "Craque 10"]
    assert record["items"][0]["protocol"] == "PRT-881"
    assert record["items"][1]["reason"] == "not_found"
    assert record["confirmations"][0]["status"] == "confirmed"
    assert record["confirmations"][0]["answered_by"] == "text"
    assert record["attempts"][0]["secondary_error"] == "notificação: tempo esgotado"
    assert record["attempts"][0]["sent_at"].endswith("Z")
    kinds = [event["kind"] for event in record["events"]]
    assert kinds[0] == "transaction.started"
    # Operators see what the chat does not.
    assert "transaction.moved" in kinds
    assert record["events"][0]["model_calls"] == [
        {"component": "transaction_parameter_extraction", "profile": "default", "ms": 412, "ok": True}
    ]


def test_what_is_not_there_is_null_or_empty(program):
    transaction = a_transaction(Status.COLLECTING_PARAMETERS, items=[("A", ItemStatus.PENDING)])
    transaction.items.update(verdict_source="", evidence={})

    record = program.get(f"{URL}{transaction.pk}/").json()

    assert record["reason_code"] is None
    assert record["finished_at"] is None
    assert record["pre_validation"] is None
    assert record["multi_item_status"] == ""
    assert record["arguments"] == record["attempts"] == record["events"] == record["confirmations"] == []
    assert record["items"][0] == {
        "key": "i1",
        "label": "A",
        "status": "PENDING",
        "reason": None,
        "protocol": None,
        "verdict_source": None,
        "evidence": {},
        "unconfirmed": False,
    }


def test_the_total_includes_excluded_items_and_leaves_out_what_nobody_confirmed(program):
    outcomes = [
        ItemStatus.SUCCEEDED,
        ItemStatus.FAILED,
        ItemStatus.INELIGIBLE,
        ItemStatus.NOT_EXECUTED,
        ItemStatus.UNKNOWN,
        ItemStatus.EXCLUDED,
        ItemStatus.PENDING,
    ]
    transaction = a_transaction(items=[(f"item {n}", outcome) for n, outcome in enumerate(outcomes)])
    an_item(transaction, 99, "extra", ItemStatus.SUCCEEDED, unconfirmed=True)
    expected = {"total": 7, "succeeded": 1, "failed": 3, "unknown": 1, "excluded": 1}

    record = program.get(f"{URL}{transaction.pk}/").json()
    (row,) = program.get(URL).json()["results"]

    assert record["counts"] == row["counts"] == expected
    assert record["items"][-1]["unconfirmed"] is True


def test_a_pre_validation_keeps_its_shape_whatever_the_validator_said(program):
    transaction = a_transaction(pre_validation={"tool": "v", "eligible": "maybe", "message": "x"})

    record = program.get(f"{URL}{transaction.pk}/").json()

    assert record["pre_validation"] == {
        "tool": "v",
        "eligible": None,
        "fail_open_used": False,
        "request": None,
        "answer": None,
        "error": None,
    }


def test_a_huge_answer_comes_whole(program):
    transaction = a_transaction()
    an_attempt(transaction, raw_answer={"rows": ["x" * 1000] * 2000})

    record = program.get(f"{URL}{transaction.pk}/").json()

    assert len(record["attempts"][0]["raw_answer"]["rows"]) == 2000


def test_the_record_costs_the_same_queries_for_any_number_of_rows(program):
    small, big = a_transaction(), a_whole_story()
    for number in range(2, 12):
        an_attempt(big, number)
        an_item(big, 10 + number, f"more {number}", ItemStatus.SUCCEEDED)
    program.get(f"{URL}{small.pk}/")

    with CaptureQueriesContext(connection) as few:
        program.get(f"{URL}{small.pk}/")
    with CaptureQueriesContext(connection) as many:
        program.get(f"{URL}{big.pk}/")

    assert len(many) == len(few) <= 6


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [f"{URL}{UNKNOWN}/", f"{URL}not-a-uuid/", "/api/v1/nothing/", "/api/"])
def test_what_does_not_exist_is_a_problem_without_hints(program, path):
    response = program.get(path)

    assert is_problem(response, 404)
    assert not response.json().get("errors")
    assert "ransaction" not in response.content.decode()


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_reading_endpoints_change_nothing(program, method):
    transaction = a_transaction()

    for path in (URL, f"{URL}{transaction.pk}/"):
        assert is_problem(getattr(program, method)(path), 405)


def test_an_answer_that_the_client_cannot_read_is_a_problem(program):
    assert is_problem(program.get(URL, headers={"accept": "text/turtle"}), 406)


def test_our_own_failure_is_a_problem_that_tells_nothing(program):
    def broken(execute, sql, *rest):
        raise RuntimeError("the password is swordfish")

    program.raise_request_exception = False

    with connection.execute_wrapper(broken):
        response = program.get(URL)

    assert is_problem(response, 500)
    assert "swordfish" not in response.content.decode()


def test_too_many_requests_of_one_key_have_to_wait_and_others_do_not(client, settings, monkeypatch):
    from django.core.cache import cache

    from transactions.api.permissions import OperatorThrottle

    cache.clear()
    settings.RATE_LIMITS = True
    monkeypatch.setattr(OperatorThrottle, "rate", "2/min")
    one, other = an_api_key("one"), an_api_key("other")

    answers = [client.get(URL, headers=headers) for headers in (one, one, one, other)]

    assert [answer.status_code for answer in answers] == [200, 200, 429, 200]
    assert is_problem(answers[2], 429)
    assert int(answers[2]["Retry-After"]) > 0


# OpenAPI ------------------------------------------------------------------------------------------


def test_the_openapi_document_is_made_without_a_warning():
    call_command("spectacular", "--fail-on-warn", "--validate", stdout=StringIO())


def test_the_openapi_document_names_every_answer_of_an_endpoint(client):
    paths = client.get("/api/schema/", headers={"accept": "application/json"}).json()["paths"]

    assert set(paths["/api/v1/transactions/"]["get"]["responses"]) >= {"200", "400", "401", "403", "429"}
    assert set(paths["/api/v1/transactions/{id}/"]["get"]["responses"]) >= {"200", "401", "403", "404", "429"}
