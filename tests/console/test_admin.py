"""The administration of runtime rows: to be read, except channels and the revoking of keys."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse

from tests.builders import PASSWORD, a_channel, a_user, a_whole_story, an_api_key
from transactions.models import ApiKey, Channel, Conversation

pytestmark = pytest.mark.django_db
RUNTIME = [model for model in admin.site._registry if model._meta.app_label == "transactions"]
READ_ONLY = [model for model in RUNTIME if model is not Channel]
by_model = pytest.mark.parametrize("model", READ_ONLY, ids=lambda model: model.__name__)


@pytest.fixture
def root(client):
    client.force_login(User.objects.create_superuser("root", password=PASSWORD))
    return client


def address(model, view, *args) -> str:
    return reverse(f"admin:transactions_{model._meta.model_name}_{view}", args=args)


@by_model
def test_rows_are_listed_and_shown(root, model):
    a_whole_story()
    an_api_key()

    listed = root.get(address(model, "changelist"))
    shown = [root.get(address(model, "change", row.pk)) for row in model.objects.all()[:1]]

    assert listed.status_code == 200
    assert all(page.status_code == 200 for page in shown)
    assert all('name="_save"' not in page.content.decode() for page in shown)


@by_model
def test_nobody_adds_changes_or_deletes_runtime_rows(root, model):
    a_whole_story()
    an_api_key()
    row = model.objects.first()

    assert root.get(address(model, "add")).status_code == 403
    if row is not None:
        assert root.post(address(model, "change", row.pk), {}).status_code == 403
        assert root.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403


def test_every_runtime_model_can_be_looked_at():
    from django.apps import apps

    assert set(RUNTIME) == set(apps.get_app_config("transactions").get_models())


def test_a_channel_is_edited_with_one_origin_per_line(root):
    channel = a_channel("site")
    form = {"key": "site", "locale": "pt-BR", "origins": " https://a.example \n\nhttp://localhost:3000\n"}

    response = root.post(address(Channel, "change", channel.pk), form)

    channel.refresh_from_db()
    assert response.status_code == 302
    assert channel.origins == ["https://a.example", "http://localhost:3000"]
    assert (
        "https://a.example\nhttp://localhost:3000" in root.get(address(Channel, "change", channel.pk)).content.decode()
    )


@pytest.mark.parametrize(
    "origin",
    [
        "example.com",
        "https://a.example/",
        "https://a.example/page",
        "javascript:alert(1)",
        "https://",
        "https://[",
        "*",
    ],
)
def test_what_is_no_origin_is_refused_by_name(root, origin):
    channel = a_channel("site")

    response = root.post(address(Channel, "change", channel.pk), {"key": "site", "locale": "en", "origins": origin})

    channel.refresh_from_db()
    assert response.status_code == 200
    assert channel.origins == []


def test_a_channel_with_conversations_cannot_be_deleted(root):
    a_whole_story()

    root.post(address(Channel, "delete", Channel.objects.get().pk), {"post": "yes"})

    assert Conversation.objects.get().channel == Channel.objects.get()


def test_a_key_is_revoked_and_its_hash_never_shown(root):
    an_api_key("the-key")
    key = ApiKey.objects.get()

    page = root.get(address(ApiKey, "change", key.pk)).content.decode()
    root.post(address(ApiKey, "changelist"), {"action": "revoke", "_selected_action": [key.pk]})

    key.refresh_from_db()
    assert key.revoked_at is not None
    assert key.hash not in page


def test_revoking_needs_its_own_permission(client):
    an_api_key("the-key")
    client.force_login(a_user("eva", "transactions.view_apikey", is_staff=True))

    client.post(address(ApiKey, "changelist"), {"action": "revoke", "_selected_action": [ApiKey.objects.get().pk]})

    assert ApiKey.objects.get().revoked_at is None


@pytest.mark.parametrize("model", RUNTIME, ids=lambda model: model.__name__)
def test_columns_and_values_are_in_portuguese(root, model):
    story = a_whole_story()
    an_api_key()
    root.cookies["django_language"] = "pt-br"

    pages = [root.get(address(model, "changelist")).content.decode()]
    pages += [root.get(address(model, "change", row.pk)).content.decode() for row in model.objects.all()[:1]]

    assert story.pk
    for page in pages:
        words = {word.strip().lower() for word in re.findall(r">([^<>]+)<", page)}
        assert words & ENGLISH == set()


ENGLISH = {
    "name", "role", "created at", "label", "verdict source", "last seq", "at", "kind", "actor", "rule",
    "by role", "open", "replaced", "confirmed", "system", "user", "worker", "number", "sent at", "row",
    "answered by", "operation type", "review state", "reason code", "tool", "release", "beat at", "operator",
    "digest", "idempotency key", "raw answer", "expires at", "failure", "tries", "handled at", "true", "false",
}  # fmt: skip
