"""The page that says what a retry would send again, and the button on it (runtime.md §9.5)."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.builders import a_user, an_operator
from tests.runtime import shop
from tests.runtime.retries import ORDERS, SERVICES, a_world, finished
from tests.runtime.staging import opens
from transactions.models import Transaction

pytestmark = pytest.mark.django_db
ENGLISH = {"accept-language": "en"}


@pytest.fixture
def operator(client):
    client.force_login(an_operator())
    return client


def address(transaction: Transaction, page: str = "retry/") -> str:
    return f"/console/transactions/{transaction.pk}/{page}"


def shown(client: Client, transaction: Transaction, page: str = "retry/", **headers: str) -> str:
    response = client.get(address(transaction, page), headers=headers or ENGLISH)
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_names_what_is_sent_again_what_is_not_and_why_and_the_release(operator):
    world = a_world()
    parent = finished(world)
    world.publish(shop.with_policy(shop.shop(), ORDERS, max_items=9))

    page = shown(operator, parent)

    again, left_out = page.split("Not sent again")
    assert "PED-1006" in again and "PED-1007" in again and "PED-1003" not in again
    assert "PED-1003" in left_out and "It was done; what was done is never sent again." in left_out
    assert "with release 2, the newest one" in page and "this one ran with release 1" in page
    assert "The tool or its policy has changed since this transaction ran." in page
    assert list(Transaction.objects.all()) == [parent]


def test_the_button_opens_the_child_whose_record_names_the_parent_and_the_parents_the_child(operator):
    parent = finished(a_world())

    response = operator.post(address(parent), follow=True, headers=ENGLISH)

    child = Transaction.objects.get(parent=parent)
    assert response.redirect_chain == [(address(child, ""), 302)]
    page = response.content.decode()
    assert "The retry was started" in page and "Repeats items of" in page and address(parent, "") in page
    of_parent = shown(operator, parent, "")
    assert "Repeated by" in of_parent and address(child, "") in of_parent
    assert child.events.get(kind="transaction.retried").data["by"] == "ana"


def test_pressed_twice_there_is_one_child_and_the_page_leads_to_it(operator):
    parent = finished(a_world())
    operator.post(address(parent))

    response = operator.post(address(parent), follow=True, headers=ENGLISH)

    child = Transaction.objects.get(parent=parent)
    page = response.content.decode()
    assert "Nothing was started: It was tried again already" in page
    assert address(child, "") in page
    assert "Ask the customer to confirm the retry" not in page


def test_while_another_request_is_open_the_page_says_so_and_offers_no_button(operator):
    world = a_world()
    parent = finished(world)
    opens(world, SERVICES, {})

    page = shown(operator, parent)

    assert "Another request is open in this conversation" in page
    assert address(world.transaction, "") in page
    assert "Ask the customer to confirm the retry" not in page


def test_the_page_speaks_portuguese(operator):
    page = shown(operator, finished(a_world()), **{"accept-language": "pt-BR"})

    assert "Tentar de novo o que falhou" in page
    assert "Foi feito; o que foi feito nunca é enviado de novo." in page


def test_the_record_leads_to_the_page_only_where_something_failed(operator):
    failed, succeeded = finished(a_world()), finished(a_world(), failing=())

    assert address(failed) in shown(operator, failed, "")
    assert address(succeeded) not in shown(operator, succeeded, "")


def test_only_operators_may_and_not_without_the_token_against_forgery(client):
    parent = finished(a_world())
    client.force_login(a_user("rui"))
    forged = Client(enforce_csrf_checks=True)
    forged.force_login(an_operator())

    assert client.get(address(parent)).status_code == client.post(address(parent)).status_code == 403
    assert forged.post(address(parent)).status_code == 403
    assert Client().post(address(parent))["Location"].startswith("/login/")
    assert Transaction.objects.filter(parent=parent).count() == 0


def test_a_transaction_that_does_not_exist_is_not_found(operator):
    unknown = "/console/transactions/00000000-0000-4000-8000-000000000001/retry/"

    assert operator.get(unknown).status_code == operator.post(unknown).status_code == 404
