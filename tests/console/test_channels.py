"""Operators of one channel: for them nothing of another channel exists, whatever page or endpoint they ask."""

from __future__ import annotations

import io
import json
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command
from django.db import connection

from tests.builders import a_conversation, a_transaction, a_user, an_api_key, an_operator, an_operator_of
from tests.console.routes import Route, all_routes
from transactions.core.statuses import ItemStatus, Status
from transactions.models import ApiKey, Event, Transaction

pytestmark = pytest.mark.django_db

OF_ONE = [route for route in all_routes() if "transactions/<uuid:pk>" in route.pattern]
"""Every route that names one transaction: found in the URL map, so that a new one is tested, too."""
METHODS = ("get", "post", "put", "patch", "delete")


def two_channels() -> tuple[Transaction, Transaction]:
    """One partly failed transaction in each of two channels."""
    items = [("Música Mais", ItemStatus.SUCCEEDED), ("Livros", ItemStatus.FAILED)]
    own, foreign = (
        a_transaction(Status.PARTIAL_SUCCESS, items=items, conversation=a_conversation(key)) for key in ("loja", "site")
    )
    return own, foreign


def address(route: Route, transaction: Transaction) -> str:
    """The route's address for ``transaction``, and for its first item where it names one."""
    item = transaction.items.first()
    assert item is not None
    return route.address(pk=transaction.pk, key=item.key)


def test_there_are_such_routes() -> None:
    names = {route.name for route in OF_ONE}

    assert names >= {"transaction", "retry", "review", "resolve"}
    assert names >= {"transactions-detail", "transactions-retry", "transactions-review", "items-resolve"}


@pytest.mark.parametrize("route", OF_ONE, ids=lambda route: route.path)
@pytest.mark.parametrize("method", METHODS)
def test_what_happened_in_another_channel_does_not_exist(client, route: Route, method: str) -> None:
    own, foreign = two_channels()
    client.force_login(an_operator_of("loja"))
    before = (Event.objects.count(), Transaction.objects.count())

    there = getattr(client, method)(address(route, foreign), {}, content_type="application/json")
    nowhere = getattr(client, method)(address(route, foreign).replace(str(foreign.pk), str(own.conversation_id)))

    assert there.status_code in (404, 405)
    assert there.status_code == nowhere.status_code
    assert (Event.objects.count(), Transaction.objects.count()) == before


@pytest.mark.parametrize("route", OF_ONE, ids=lambda route: route.path)
def test_what_happened_in_the_own_channel_does(client, route: Route) -> None:
    own, _foreign = two_channels()
    client.force_login(an_operator_of("loja"))

    answers = [client.get(address(route, own)), client.post(address(route, own), {}, content_type="application/json")]

    assert {answer.status_code for answer in answers} - {404, 405}


@pytest.mark.parametrize("route", [route for route in OF_ONE if not route.namespaces], ids=lambda route: route.path)
@pytest.mark.parametrize("method", METHODS)
def test_a_key_of_one_channel_sees_nothing_of_another(client, route: Route, method: str) -> None:
    own, foreign = two_channels()
    headers = an_api_key(every_channel=False)
    ApiKey.objects.get().channels.add(own.conversation.channel)

    answer = getattr(client, method)(address(route, foreign), {}, content_type="application/json", headers=headers)

    assert answer.status_code in (404, 405)


def test_lists_leave_it_out_and_filters_do_not_offer_it(client) -> None:
    own, foreign = two_channels()
    Transaction.objects.filter(pk=foreign.pk).update(tool="outra_ferramenta")
    client.force_login(an_operator_of("loja"))

    page = client.get("/console/transactions/").content.decode()
    listed = client.get("/api/v1/transactions/").json()["results"]
    by_conversation = client.get(f"/api/v1/transactions/?conversation={foreign.conversation_id}").json()["results"]

    assert str(own.pk) in page
    assert str(foreign.pk) not in page
    assert "outra_ferramenta" not in page
    assert 'value="site"' not in page
    assert [row["id"] for row in listed] == [str(own.pk)]
    assert by_conversation == []


def test_the_numbers_of_the_chips_count_only_what_may_be_seen(client) -> None:
    two_channels()
    client.force_login(an_operator_of("loja"))

    chips = client.get("/console/transactions/").context["chips"]

    assert chips[0]["number"] == 1


@pytest.mark.parametrize("kind", ["transaction", "conversation", "item", "event", "turn", "attempt", "confirmation"])
def test_the_administration_leaves_it_out_too(client, kind: str) -> None:
    two_channels()
    user = an_operator_of("loja", is_staff=True)
    user.groups.add(Group.objects.get(name="channel operator"))
    client.force_login(user)

    rows = client.get(f"/admin/transactions/{kind}/").context["cl"].queryset

    way = "channel" if kind == "conversation" else "conversation__channel"
    way = way if kind in ("transaction", "conversation", "event", "turn") else f"transaction__{way}"
    assert not rows.exclude(**{f"{way}__key": "loja"}).exists()
    assert rows.exists() or kind in ("event", "turn", "attempt", "confirmation")


def test_who_is_bound_to_no_channel_sees_nothing(client) -> None:
    two_channels()
    client.force_login(an_operator_of())

    assert client.get("/api/v1/transactions/").json()["results"] == []


def test_who_may_see_every_channel_sees_all(client) -> None:
    two_channels()
    client.force_login(an_operator())

    assert len(client.get("/api/v1/transactions/").json()["results"]) == 2


def test_a_key_can_be_made_for_one_channel(client) -> None:
    own, _foreign = two_channels()
    out = io.StringIO()

    call_command("apikey", "create", "crm", "--role", "operator", "--channel", "loja", stdout=out)

    headers = {"Authorization": f"Bearer {out.getvalue().strip()}"}
    listed = client.get("/api/v1/transactions/", headers=headers).json()["results"]
    assert [row["id"] for row in listed] == [str(own.pk)]


def test_a_key_for_a_channel_that_is_not_there_is_refused_and_none_is_made() -> None:
    with pytest.raises(CommandError, match="there is no channel lojja"):
        call_command("apikey", "create", "crm", "--role", "operator", "--channel", "lojja")

    assert not ApiKey.objects.exists()


def test_the_operators_of_a_channel_are_chosen_in_the_administration(client, admin_client: Any) -> None:
    own, _foreign = two_channels()
    user = a_user("caio", "transactions.operate")
    channel = own.conversation.channel
    url = f"/admin/transactions/channel/{channel.pk}/change/"

    sent = {"key": channel.key, "locale": "pt-BR", "origins": "", "jwt_secret_env": "", "operators": [user.pk]}
    assert admin_client.post(url, sent).status_code == 302
    client.force_login(user)

    listed = json.loads(client.get("/api/v1/transactions/").content)["results"]
    assert [row["id"] for row in listed] == [str(own.pk)]


def test_whoever_could_operate_before_there_were_permissions_for_channels_still_sees_every_one():
    bia, group = a_user("bia", "transactions.operate"), Group.objects.create(name="old")
    group.permissions.add(*bia.user_permissions.all())
    caio = a_user("caio")
    migration = import_module("transactions.migrations.0010_who_operates_sees_every_channel")

    migration.keep_seeing(apps, SimpleNamespace(connection=connection))

    assert bia.user_permissions.filter(codename="see_every_channel").exists()
    assert group.permissions.filter(codename="see_every_channel").exists()
    assert not caio.user_permissions.exists()
