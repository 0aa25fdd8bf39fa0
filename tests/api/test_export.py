"""A list of transactions as a file: all of the filter, in order, streamed, safe to open, and on record."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import (
    a_conversation,
    a_transaction,
    a_user,
    an_api_key,
    an_item,
    an_operator,
    an_operator_of,
)
from transactions.api import export_rows
from transactions.core.statuses import ItemStatus, Status
from transactions.models import ExportRun, Transaction

pytestmark = pytest.mark.django_db

URL = "/api/v1/transactions/export"


def exported(client, query: str = "", **more: Any) -> str:
    answer = client.get(f"{URL}{query}", **more)
    assert answer.status_code == 200, answer.content
    return b"".join(answer.streaming_content).decode()


def rows_of(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


def some(number: int) -> list[Transaction]:
    """Newest first; two of them at the very same moment."""
    now = timezone.now()
    made = [
        a_transaction(
            Status.PARTIAL_SUCCESS,
            items=[(f"Item {n}a", ItemStatus.SUCCEEDED), (f"Item {n}b", ItemStatus.FAILED)],
            created_at=now - timedelta(minutes=n // 2),
        )
        for n in range(number)
    ]
    return sorted(made, key=lambda one: (one.created_at, one.pk), reverse=True)


def test_every_transaction_of_the_filter_is_in_it_once_and_newest_first(client, monkeypatch):
    monkeypatch.setattr(export_rows, "CHUNK", 3)
    made = some(11)
    a_transaction(Status.FAILED)
    client.force_login(an_operator())

    rows = rows_of(exported(client, "?status=PARTIAL_SUCCESS"))

    assert [row["transaction_id"] for row in rows] == [str(one.pk) for one in made]
    assert {(row["items"], row["succeeded"], row["failed"]) for row in rows} == {("2", "1", "1")}


def test_per_item_there_is_a_line_for_each_item_with_its_outcome(client, monkeypatch):
    monkeypatch.setattr(export_rows, "CHUNK", 2)
    some(3)
    client.force_login(an_operator())

    rows = rows_of(exported(client, "?per=item"))

    assert len(rows) == 6
    assert {(row["item"][-1], row["status"]) for row in rows} == {("a", "SUCCEEDED"), ("b", "FAILED")}
    assert [row["position"] for row in rows][:2] == ["1", "2"]


def test_json_lines_hold_the_same_with_their_types(client):
    (made,) = some(1)
    client.force_login(an_operator())

    (line,) = exported(client, "?format=jsonl").splitlines()

    row = json.loads(line)
    assert (row["transaction_id"], row["items"], row["has_unknown"]) == (str(made.pk), 2, False)
    assert row["created_at"].endswith("Z")


def test_no_cell_begins_a_formula(client):
    transaction = a_transaction(Status.FAILED, tool="=cmd")
    an_item(transaction, 1, "=HYPERLINK(0)", ItemStatus.FAILED, reason="@SUM(1)", protocol="-1+1")
    client.force_login(an_operator())

    (row,) = rows_of(exported(client, "?per=item"))

    assert (row["tool"], row["item"], row["reason"], row["protocol"]) == (
        "'=cmd",
        "'=HYPERLINK(0)",
        "'@SUM(1)",
        "'-1+1",
    )


def test_spreadsheets_of_other_countries_get_their_delimiter_and_mark(client):
    some(1)
    client.force_login(an_operator())

    text = exported(client, "?delimiter=semicolon&bom=true")

    assert text.startswith("\ufefftransaction_id;")
    assert len(rows_of(text.removeprefix("\ufeff"), ";")) == 1


def test_who_the_customer_is_stays_hidden_unless_asked_by_who_may_see_it(client):
    transaction = a_transaction(Status.FAILED, conversation=a_conversation(identity={"customer_key": "C-000123"}))
    an_item(transaction, 1, "Linha de C-000123", ItemStatus.FAILED, reason="C-000123 blocked")
    seeing = a_user("eva", "transactions.operate", "transactions.see_every_channel", "transactions.see_customer_data")

    client.force_login(an_operator())
    asked_in_vain = exported(client, "?per=item&masked=false")
    client.force_login(seeing)
    by_default, asked = exported(client, "?per=item"), exported(client, "?per=item&masked=false")

    assert "C-000123" not in asked_in_vain
    assert "C-000123" not in by_default
    assert asked.count("C-000123") == 3
    assert [run.customer_data for run in ExportRun.objects.order_by("created_at")] == [False, False, True]


def test_an_operator_of_one_channel_exports_that_channel_alone(client):
    own = a_transaction(Status.FAILED, conversation=a_conversation("loja"))
    a_transaction(Status.FAILED, conversation=a_conversation("site"))
    client.force_login(an_operator_of("loja"))

    assert [row["transaction_id"] for row in rows_of(exported(client))] == [str(own.pk)]


def test_an_export_is_on_record_with_its_filter_and_how_far_it_came(client):
    some(3)

    exported(client, "?status=PARTIAL_SUCCESS&per=item", headers=an_api_key())

    run = ExportRun.objects.get()
    assert (run.by, run.per, run.total, run.done) == ("key:operator a-key", "item", 3, 3)
    assert "status=PARTIAL_SUCCESS" in run.asked
    assert run.finished_at is not None


def test_an_export_that_is_broken_off_is_seen_as_such(client, monkeypatch):
    monkeypatch.setattr(export_rows, "CHUNK", 1)
    some(3)
    client.force_login(an_operator())

    stream = iter(client.get(URL).streaming_content)
    next(stream), next(stream), next(stream)

    run = ExportRun.objects.get()
    assert (run.total, run.finished_at) == (3, None)
    assert 0 < run.done < 3


def test_what_begins_meanwhile_is_not_in_it(client, monkeypatch):
    monkeypatch.setattr(export_rows, "CHUNK", 1)
    some(2)
    client.force_login(an_operator())

    stream = iter(client.get(URL).streaming_content)
    head = next(stream)
    a_transaction(Status.FAILED, created_at=timezone.now() + timedelta(minutes=5))

    assert len(rows_of((head + b"".join(stream)).decode())) == 2


@pytest.mark.parametrize("query", ["?format=xls", "?per=line", "?delimiter=|", "?status=DONE", "?bom=perhaps"])
def test_a_shape_or_filter_that_cannot_be_read_is_an_error_and_no_export(client, query):
    client.force_login(an_operator())

    answer = client.get(f"{URL}{query}")

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert not ExportRun.objects.exists()


def test_the_number_of_queries_follows_the_chunks_and_not_the_rows(client):
    client.force_login(an_operator())
    some(2)
    with CaptureQueriesContext(connection) as few:
        exported(client)
    some(8)

    with CaptureQueriesContext(connection) as many:
        exported(client)

    assert len(many) == len(few)


def test_nothing_to_export_is_a_file_with_its_head_alone(client):
    client.force_login(an_operator())

    assert exported(client) == ",".join(export_rows.TRANSACTION) + "\r\n"
    assert exported(client, "?format=jsonl") == ""
