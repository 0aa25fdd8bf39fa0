"""Signing in: one text for every failure, a limit on guessing, and sessions that end."""

import pytest
from django.core.cache import cache

from tests.builders import PASSWORD, a_user, an_operator

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_counted():
    cache.clear()


def sign_in(client, username="ana", password=PASSWORD, **more):
    return client.post("/login/", {"username": username, "password": password}, **more)


def test_an_operator_signs_in_and_lands_on_the_transactions(client):
    an_operator()

    response = sign_in(client)

    assert response.status_code == 302
    assert response["Location"] == "/console/transactions/"


def test_the_page_that_was_asked_for_comes_after_the_login(client):
    an_operator()

    response = client.post("/login/", {"username": "ana", "password": PASSWORD, "next": "/console/transactions/?q=x"})

    assert response["Location"] == "/console/transactions/?q=x"


def test_a_login_never_leads_to_a_foreign_site(client):
    an_operator()

    response = client.post("/login/", {"username": "ana", "password": PASSWORD, "next": "https://evil.example/"})

    assert response["Location"] == "/console/transactions/"


def test_a_wrong_password_and_an_unknown_user_read_the_same(client):
    an_operator()

    wrong, unknown = sign_in(client, password="wrong"), sign_in(client, username="nobody", password="wrong")

    assert wrong.status_code == unknown.status_code == 200
    assert error_of(wrong) == error_of(unknown) != ""


def test_after_ten_failures_even_the_right_password_has_to_wait(client):
    an_operator()
    for _ in range(10):
        assert sign_in(client, password="wrong").status_code == 200

    held_back = sign_in(client)

    assert held_back.status_code == 429
    assert "dez minutos" in error_of(held_back)
    assert "_auth_user_id" not in client.session


def test_names_that_do_not_exist_are_held_back_alike(client):
    an_operator()
    for _ in range(10):
        sign_in(client, password="wrong")
        sign_in(client, username="nobody", password="wrong")

    known, unknown = sign_in(client), sign_in(client, username="nobody")

    assert known.status_code == unknown.status_code == 429
    assert error_of(known) == error_of(unknown)


def test_the_limit_holds_one_name_from_one_address_only(client):
    an_operator()
    a_user("rui")
    for _ in range(10):
        sign_in(client, password="wrong")

    assert sign_in(client, username="rui").status_code == 302
    assert sign_in(client, REMOTE_ADDR="10.0.0.9").status_code == 302


def test_spelling_the_name_differently_gives_no_more_tries(client):
    an_operator()
    for spelling in ("ana", "ANA", "Ana", "ａｎａ", "aNa") * 2:
        sign_in(client, username=spelling, password="wrong")

    assert sign_in(client).status_code == 429


def test_a_login_that_works_forgets_the_failures_before_it(client):
    an_operator()
    for _ in range(9):
        sign_in(client, password="wrong")
    sign_in(client)

    client.logout()
    for _ in range(9):
        assert sign_in(client, password="wrong").status_code == 200


def test_the_administration_uses_the_same_login_page(client):
    response = client.get("/admin/", follow=True)

    assert response.redirect_chain[-1][0] == "/login/?next=%2Fadmin%2F"


def test_a_session_gets_a_new_id_at_login_and_dies_at_logout(client):
    an_operator()
    client.get("/login/")
    client.session.save()
    before = client.session.session_key

    sign_in(client)
    during = client.cookies["sessionid"].value
    client.post("/logout/")
    client.cookies["sessionid"] = during

    assert during != before
    assert client.get("/console/transactions/").status_code == 302


def test_the_session_cookie_is_out_of_reach_of_scripts_and_of_other_sites(client):
    an_operator()

    cookie = sign_in(client).cookies["sessionid"]

    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def error_of(response) -> str:
    page = response.content.decode()
    start = page.find('id="login-error">')
    return page[start:].split(">", 1)[1].split("<", 1)[0] if start >= 0 else ""
