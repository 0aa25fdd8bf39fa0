"""The list of transactions: what a row says, filters in the URL, pages, and how many queries it costs."""

import re
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import a_conversation, a_transaction, a_whole_story, an_item, an_operator
from transactions.core.statuses import ItemStatus, Status

pytestmark = pytest.mark.django_db
URL = "/console/transactions/"
ENGLISH = {"accept-language": "en"}


@pytest.fixture
def operator(client):
    client.force_login(an_operator())
    return client


def rows_of(response) -> list[str]:
    """The ids of the rows, in the order of the page."""
    return re.findall(r'href="/console/transactions/([0-9a-f-]{36})/"', response.content.decode())


def found(client, query: str = "") -> set[str]:
    response = client.get(URL + query)
    assert response.status_code == 200
    return set(rows_of(response))


def ids(*transactions) -> set[str]:
    return {str(transaction.pk) for transaction in transactions}


# What a row says ----------------------------------------------------------------------------------


def test_a_row_says_the_outcome_of_the_items_in_numbers_and_words(operator):
    a_whole_story()

    page = operator.get(URL, headers=ENGLISH).content.decode()

    assert ">2/3<" in page
    assert "2 of 3 items completed, 1 failed" in page
    assert "Some items failed." in page
    assert "Partial" in page


def test_the_page_speaks_portuguese_to_who_prefers_it(operator):
    a_whole_story()

    page = operator.get(URL, headers={"accept-language": "pt-BR"}).content.decode()

    assert '<html lang="pt-br">' in page
    assert "2 de 3 itens concluídos, 1 falhou" in page
    assert "Em curso" in page
    assert "2,1 s" in page


def test_times_carry_their_zone_for_people_and_for_machines(operator):
    a_transaction(created_at=datetime(2026, 11, 30, 13, 41, 2, tzinfo=UTC))

    page = operator.get(URL, headers={"accept-language": "pt-BR"}).content.decode()

    assert 'datetime="2026-11-30T10:41:02-03:00"' in page
    assert "30/11/2026" in page
    assert "10:41:02 UTC−3" in page


def test_customers_are_masked_and_anonymous_ones_said_to_be(operator):
    a_transaction(conversation=a_conversation(identity={"customer_key": "C-0098765"}))
    a_transaction(conversation=a_conversation(identity={}))

    page = operator.get(URL, headers=ENGLISH).content.decode()

    assert "•••765" in page
    assert "0098765" not in page
    assert "anonymous" in page


def test_rows_that_nobody_confirmed_are_flagged_and_not_counted(operator):
    transaction = a_transaction(items=[("A", ItemStatus.SUCCEEDED)], has_unconfirmed=True)
    an_item(transaction, 2, "B", ItemStatus.SUCCEEDED, unconfirmed=True)

    page = operator.get(URL, headers=ENGLISH).content.decode()

    assert "1 of 1 item completed" in page
    assert "has rows that nobody confirmed" in page


def test_a_reported_result_that_is_not_our_verdict_is_flagged(operator):
    a_transaction(Status.VERIFYING, multi_item_status="PARTIAL_SUCCESS")

    page = operator.get(URL, headers=ENGLISH).content.decode()

    assert "the tool reported another result" in page


def test_what_the_user_left_out_is_told_apart(operator):
    a_transaction(items=[("A", ItemStatus.SUCCEEDED), ("B", ItemStatus.EXCLUDED)])

    page = operator.get(URL, headers=ENGLISH).content.decode()

    assert "1 of 1 item completed, 1 left out" in page


def test_what_was_never_tried_is_not_called_a_failure(operator):
    a_transaction(Status.CANCELLED, items=[("A", ItemStatus.NOT_EXECUTED), ("B", ItemStatus.INELIGIBLE)])

    page = operator.get(URL, headers=ENGLISH).content.decode()

    assert "0 of 2 items completed, 1 not eligible, 1 not executed" in page


def test_names_from_outside_are_text_and_never_markup(operator):
    evil = "<script>alert(1)</script>"
    a_transaction(tool=evil, conversation=a_conversation(identity={"customer_key": '"><img src=x>'}))

    page = operator.get(URL + "?q=%22%3E%3Cscript%3Ealert(2)%3C/script%3E").content.decode()
    whole = operator.get(URL).content.decode()

    assert "<script>alert" not in page + whole
    assert "<img src=x>" not in whole
    assert "&lt;script&gt;alert(1)" in whole


# Filters ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", list(Status))
def test_each_status_can_be_asked_for(operator, status):
    wanted = a_transaction(status)
    a_transaction(Status.SUCCESS if status is not Status.SUCCESS else Status.FAILED)

    assert found(operator, f"?status={status}") == ids(wanted)


def test_in_progress_is_whatever_is_not_final(operator):
    going = [
        a_transaction(status)
        for status in (Status.COLLECTING_PARAMETERS, Status.EXECUTING, Status.PARKED, Status.VERIFYING)
    ]
    a_transaction(Status.SUCCESS)

    assert found(operator, "?status=open") == ids(*going)


def test_filters_narrow_the_list_and_can_be_combined(operator):
    app = a_conversation("app")
    one = a_transaction(
        Status.VERIFYING,
        items=[("A", ItemStatus.UNKNOWN)],
        tool="trocar_plano",
        conversation=app,
        multi_item_status="FAILED",
        review_state="needed",
    )
    other = a_transaction(has_unconfirmed=True)

    assert found(operator, "?tool=trocar_plano") == ids(one)
    assert found(operator, "?channel=app") == ids(one)
    assert found(operator, "?multi_item_status=FAILED") == ids(one)
    assert found(operator, "?review_state=needed") == ids(one)
    assert found(operator, "?has_unknown=true") == ids(one)
    assert found(operator, "?has_unconfirmed=true") == ids(other)
    assert found(operator, f"?conversation={app.pk}") == ids(one)
    assert found(operator, "?channel=app&has_unconfirmed=true") == set()


@pytest.mark.parametrize(
    ("period", "inside", "outside"),
    [("24h", 23, 25), ("7d", 7 * 24 - 1, 7 * 24 + 1), ("30d", 30 * 24 - 1, 30 * 24 + 1)],
)
def test_a_period_ends_now(operator, period, inside, outside):
    now = timezone.now()
    young = a_transaction(created_at=now - timedelta(hours=inside))
    a_transaction(created_at=now - timedelta(hours=outside))

    assert found(operator, f"?period={period}") == ids(young)


def test_today_begins_at_midnight_of_the_installation(operator):
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    today = a_transaction(created_at=midnight)
    a_transaction(created_at=midnight - timedelta(seconds=1))

    assert found(operator, "?period=today") == ids(today)


def test_the_search_finds_items_protocols_and_ids(operator):
    story = a_whole_story()
    a_transaction(items=[("Another", ItemStatus.PENDING)])

    assert found(operator, "?q=falados") == ids(story)
    assert found(operator, "?q=prt-881") == ids(story)
    assert found(operator, f"?q={str(story.pk)[:13]}") == ids(story)
    assert found(operator, f"?q={str(story.pk).upper()}") == ids(story)
    assert found(operator, "?q=PRT-9") == set()


@pytest.mark.parametrize(
    "query",
    [
        "?status=NONSENSE",
        "?status__regex=(a%2B)%2B$",
        "?channel=nowhere",
        "?period=yesterday",
        "?has_unknown=perhaps",
        "?conversation=not-a-uuid",
        "?q=%00",
        "?cursor=garbage",
        "?cursor=b3wyMDI2",
        "?q=" + "x" * 5000,
        "?created_after=soon",
    ],
)
def test_a_filter_that_cannot_be_read_is_left_out_and_never_breaks_the_page(operator, query):
    transaction = a_transaction()

    assert found(operator, query) == ids(transaction)


def test_the_page_says_which_filters_it_left_out(operator):
    page = operator.get(URL + "?period=yesterday&status=NONSENSE", headers=ENGLISH).content.decode()

    assert "left out: Period, Status" in page


def test_the_chips_count_under_the_other_filters_and_keep_them(operator):
    a_transaction(Status.SUCCESS, tool="a")
    a_transaction(Status.SUCCESS, tool="b")
    a_transaction(Status.COLLECTING_PARAMETERS, tool="a")

    chips = operator.get(URL + "?tool=a&status=SUCCESS").context["chips"]

    numbers = {chip["query"]: chip["number"] for chip in chips}
    assert numbers["?tool=a"] == 2
    assert numbers["?tool=a&status=open"] == 1
    assert numbers["?tool=a&status=SUCCESS"] == 1
    assert [chip["query"] for chip in chips if chip["is_current"]] == ["?tool=a&status=SUCCESS"]


def test_an_empty_list_tells_a_new_installation_from_filters_that_match_nothing(operator):
    new = operator.get(URL, headers=ENGLISH).content.decode()
    narrowed = operator.get(URL + "?q=x", headers=ENGLISH).content.decode()

    assert "No transaction yet" in new
    assert "Nothing matches these filters" in narrowed


# Pages --------------------------------------------------------------------------------------------


def test_pages_stay_put_while_new_transactions_arrive(operator):
    now = timezone.now()
    # Equal times, so that only the id decides their order.
    for number in range(120):
        a_transaction(created_at=now - timedelta(seconds=number // 40))
    everything = rows_of(operator.get(URL))
    first = operator.get(URL)

    a_transaction(created_at=now + timedelta(minutes=1))
    second = operator.get(URL + first.context["older"])
    third = operator.get(URL + second.context["older"])
    back = operator.get(URL + second.context["newer"])

    walked = rows_of(first) + rows_of(second) + rows_of(third)
    assert [len(rows_of(page)) for page in (first, second, third)] == [50, 50, 20]
    assert len(set(walked)) == 120
    assert rows_of(back) == everything
    assert third.context["older"] is None


def test_a_page_keeps_the_filters(operator):
    for _ in range(51):
        a_transaction(tool="a b")

    older = operator.get(URL + "?tool=a+b").context["older"]

    assert older.startswith("?tool=a+b&cursor=")


def test_the_number_of_queries_does_not_depend_on_the_rows(operator):
    a_whole_story()
    operator.get(URL)
    with CaptureQueriesContext(connection) as few:
        operator.get(URL)

    for _ in range(30):
        a_whole_story()
    with CaptureQueriesContext(connection) as many:
        operator.get(URL)

    assert len(many) == len(few)


def test_the_page_obeys_a_strict_content_security_policy(operator):
    a_whole_story()

    response = operator.get(URL)

    page = response.content.decode()
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert "unsafe" not in response["Content-Security-Policy"]
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*src=)", page)


def test_a_row_of_an_unknown_id_is_nobody(operator):
    assert operator.get(f"{URL}{uuid4()}/").status_code == 404
