"""The probes: what they answer, to whom, and how long they may take (contracts.md §3)."""

import threading

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from agentplatform import health
from transactions.models import WorkerHeartbeat


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
