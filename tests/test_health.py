"""The probes: what they answer, to whom, and how long they may take (contracts.md §3)."""

import re
import threading

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from agentplatform import health
from tests.builders import a_transaction
from transactions.core.statuses import ReviewState, Status
from transactions.models import WorkerHeartbeat
from transactions.services.reviewing import ask_for_review, queue, review


@pytest.fixture
def probe():
    return Client()


@pytest.fixture(autouse=True)
def nothing_is_remembered():
    health._migrated.clear()


def test_healthz_answers_without_touching_the_database(probe):
    # No database fixture: a query would fail this test.
    answer = probe.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.django_db(transaction=True)
def test_readyz_names_every_check(probe):
    answer = probe.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["status"] == "ready"
    assert answer.json()["checks"].keys() >= {"database", "migrations", "worker"}


@pytest.mark.django_db(transaction=True)
def test_a_missing_worker_is_reported_and_does_not_make_the_process_unready(probe):
    WorkerHeartbeat.objects.all().delete()

    answer = probe.get("/readyz")

    worker = answer.json()["checks"]["worker"]
    assert answer.status_code == 200
    assert (worker["ok"], worker["required"]) == (False, False)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_beat_lately_is_seen(probe):
    WorkerHeartbeat.objects.update_or_create(name="sweeper", defaults={"beat_at": timezone.now()})

    answer = probe.get("/readyz")

    assert answer.json()["checks"]["worker"]["ok"] is True


@pytest.mark.django_db(transaction=True)
def test_nothing_to_review_is_nothing_to_tell(probe):
    a_transaction(Status.FAILED, review_state="resolved")

    assert probe.get("/readyz").json()["checks"]["review"]["ok"] is True


@pytest.mark.django_db(transaction=True)
def test_what_waits_for_an_operator_is_counted_with_its_age_and_does_not_make_the_process_unready(probe):
    old, taken = a_transaction(Status.VERIFYING), a_transaction(Status.VERIFYING)
    for transaction in (old, taken):
        ask_for_review(transaction.conversation, transaction, "nobody knows")
    review(taken.pk, state=ReviewState.ACKNOWLEDGED, note="", actor="ana")
    review(taken.pk, state=ReviewState.NEEDED, note="I go home", actor="ana")

    answer = probe.get("/readyz")

    found = answer.json()["checks"]["review"]
    assert answer.status_code == 200
    assert (found["ok"], found["required"]) == (False, False)
    assert re.fullmatch(r"transactions that wait for an operator: 2; the oldest for \d+ s", found["detail"])
    assert queue().since == old.events.get().at


@pytest.mark.django_db(transaction=True)
@override_settings(REDIS_URL="redis://127.0.0.1:1/0")
def test_a_broker_that_is_down_makes_the_process_unready_and_leaks_no_address(probe):
    answer = probe.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["checks"]["broker"]["detail"] == "ConnectionError"
    assert b"127.0.0.1" not in answer.content


@pytest.mark.django_db(transaction=True)
@pytest.mark.redis
def test_a_broker_that_answers_makes_the_process_ready(probe, redis_url):
    with override_settings(REDIS_URL=redis_url):
        answer = probe.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["checks"]["broker"]["ok"] and answer.json()["checks"]["channel_layer"]["ok"]


@pytest.mark.django_db(transaction=True)
def test_a_check_that_hangs_is_given_up(probe, monkeypatch):
    released = threading.Event()
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.2)
    monkeypatch.setattr(health, "check_database", lambda: str(released.wait(30)))

    answer = probe.get("/readyz")
    released.set()

    assert answer.status_code == 503
    assert "no answer" in answer.json()["checks"]["database"]["detail"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.django_db(transaction=True)
@override_settings(ALLOWED_HOSTS=["chat.example.org"], SECURE_SSL_REDIRECT=True)
def test_probes_come_by_address_and_over_plain_http(probe, path):
    answer = probe.get(path, headers={"host": "10.1.2.3:8000"})

    assert answer.status_code == 200
