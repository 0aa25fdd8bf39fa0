"""Who the customer is stays hidden on every page and endpoint, unless somebody who may see it asks, on record."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from tests.builders import (
    a_confirmation,
    a_conversation,
    a_transaction,
    a_turn,
    a_user,
    an_api_key,
    an_attempt,
    an_event,
    an_item,
    an_operator,
)
from transactions.console import customer
from transactions.core.statuses import ItemStatus, Status
from transactions.models import Disclosure, Transaction

pytestmark = pytest.mark.django_db

WHO = "C-000123"
MAY_SEE = ("transactions.operate", "transactions.see_every_channel", "transactions.see_customer_data")


def a_telling_transaction() -> Transaction:
    """Its customer's key stands wherever a tool, a validator or the customer may have put it."""
    conversation = a_conversation(identity={"customer_key": WHO})
    turn = a_turn(conversation, f"sou o cliente {WHO}")
    transaction = a_transaction(
        Status.FAILED,
        conversation=conversation,
        reason=f"{WHO} is blocked",
        arguments={"cliente": {"value": WHO, "source": "mapping", "turn_id": None}},
        pre_validation={"tool": "validar", "request": {"customer": WHO}, "answer": {"of": WHO}, "error": f"no {WHO}"},
    )
    an_item(transaction, 1, f"Linha de {WHO}", ItemStatus.FAILED, reason=f"not of {WHO}", evidence={"c": WHO})
    a_confirmation(transaction, f"Confirma, {WHO}?")
    an_attempt(transaction, request={"arguments": {"c": WHO}}, raw_answer={"c": [WHO]}, normalised={"c": WHO})
    an_event(conversation, "user.message", {"text": f"sou o cliente {WHO}"}, turn=turn)
    an_event(conversation, "turn.handled", {"values": {"c": WHO}}, transaction=transaction, turn=turn)
    return transaction


def page(client, transaction: Transaction) -> str:
    return str(client.get(f"/console/transactions/{transaction.pk}/").content.decode())


def show(client, transaction: Transaction):
    return client.post(f"/console/transactions/{transaction.pk}/customer/")


def test_the_record_hides_it_even_from_who_may_see_it_until_they_ask(client):
    transaction = a_telling_transaction()
    client.force_login(a_user("eva", *MAY_SEE))

    before = page(client, transaction)
    show(client, transaction)
    after = page(client, transaction)

    assert WHO not in before
    assert "•••123" in before
    assert WHO in after


def test_asking_is_on_record_before_anything_is_shown(client):
    transaction = a_telling_transaction()
    client.force_login(a_user("eva", *MAY_SEE))

    answer = show(client, transaction)

    kept = Disclosure.objects.get()
    assert (kept.by, kept.transaction, kept.what) == ("eva", transaction, "record")
    assert WHO not in answer.content.decode()


def test_it_is_shown_for_this_transaction_alone(client):
    transaction, other = a_telling_transaction(), a_telling_transaction()
    client.force_login(a_user("eva", *MAY_SEE))

    show(client, transaction)

    assert WHO not in page(client, other)


def test_it_is_hidden_again_after_a_while(client, monkeypatch):
    transaction = a_telling_transaction()
    client.force_login(a_user("eva", *MAY_SEE))
    show(client, transaction)

    later = timezone.now() + datetime.timedelta(seconds=customer.SHOWN_SECONDS + 1)
    monkeypatch.setattr(customer, "database_now", lambda: later)

    assert WHO not in page(client, transaction)


def test_who_may_not_see_it_is_offered_no_button_and_refused(client):
    transaction = a_telling_transaction()
    client.force_login(an_operator())

    shown = page(client, transaction)
    answer = show(client, transaction)

    assert "/customer/" not in shown
    assert answer.status_code == 403
    assert WHO not in page(client, transaction)
    assert not Disclosure.objects.exists()


def test_a_permission_that_is_taken_away_hides_it_at_once(client):
    transaction = a_telling_transaction()
    eva = a_user("eva", *MAY_SEE)
    client.force_login(eva)
    show(client, transaction)

    eva.user_permissions.remove(eva.user_permissions.get(codename="see_customer_data"))

    assert WHO not in page(client, transaction)


def test_asking_needs_a_post_with_a_token_of_the_form(client):
    from django.test import Client

    transaction = a_telling_transaction()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(a_user("eva", *MAY_SEE))

    assert show(strict, transaction).status_code == 403
    assert client.get(f"/console/transactions/{transaction.pk}/customer/").status_code == 302
    assert not Disclosure.objects.exists()


def test_the_list_hides_it(client):
    a_telling_transaction()
    client.force_login(a_user("eva", *MAY_SEE))

    assert WHO not in client.get("/console/transactions/").content.decode()


def test_the_api_hides_it_from_users_who_may_not_see_it(client):
    transaction = a_telling_transaction()
    client.force_login(an_operator())

    record = client.get(f"/api/v1/transactions/{transaction.pk}/").content.decode()

    assert WHO not in record
    assert "•••123" in record


def test_a_key_sees_it_unless_it_was_made_without(client):
    transaction = a_telling_transaction()
    url = f"/api/v1/transactions/{transaction.pk}/"

    open_key = client.get(url, headers=an_api_key("open")).content.decode()
    masked_key = client.get(url, headers=an_api_key("masked", sees_customer_data=False)).content.decode()

    assert WHO in open_key
    assert WHO not in masked_key


def test_ids_keys_and_digests_are_never_touched(client):
    conversation = a_conversation(identity={"customer_key": "SUCCEEDED", "n": "sha256"})
    transaction = a_transaction(Status.SUCCESS, conversation=conversation)
    an_item(transaction, 1, "Um", ItemStatus.SUCCEEDED)
    a_confirmation(transaction, "Confirma?", digest="sha256:ab")
    client.force_login(an_operator())

    record = client.get(f"/api/v1/transactions/{transaction.pk}/").json()

    assert record["items"][0]["status"] == "SUCCEEDED"
    assert record["confirmations"][0]["digest"] == "sha256:ab"


def test_the_signed_evidence_is_for_who_may_see_it_and_each_copy_is_on_record(client):
    transaction = a_transaction(Status.SUCCESS, conversation=a_conversation(identity={"customer_key": WHO}))
    url = f"/api/v1/transactions/{transaction.pk}/evidence/"

    refused = client.get(url, headers=an_api_key("masked", sees_customer_data=False))
    given = client.get(url, headers=an_api_key("open"))

    assert refused.status_code == 403
    assert given.status_code in (200, 409)
    assert [(kept.by, kept.what) for kept in Disclosure.objects.all()] == [("key:operator open", "evidence")]


def test_the_administration_leaves_such_columns_to_the_console(client):
    transaction = a_telling_transaction()
    user = an_operator(is_staff=True)
    for kind in ("transaction", "conversation", "event", "turn", "item", "disclosure"):
        user.user_permissions.add(permission(f"view_{kind}"))
    client.force_login(user)

    pages = [
        client.get(f"/admin/transactions/transaction/{transaction.pk}/change/"),
        client.get(f"/admin/transactions/conversation/{transaction.conversation_id}/change/"),
        client.get(f"/admin/transactions/turn/{transaction.conversation.turns.get().pk}/change/"),
        *(client.get(f"/admin/transactions/event/{event.pk}/change/") for event in transaction.events.all()),
    ]

    assert {answer.status_code for answer in pages} == {200}
    assert not [answer for answer in pages if WHO in answer.content.decode()]


def permission(codename: str):
    from django.contrib.auth.models import Permission

    return Permission.objects.get(content_type__app_label="transactions", codename=codename)
