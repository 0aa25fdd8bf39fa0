"""Who may open what: checked for every route that the URL map has, so that none can be forgotten."""

import pytest

from tests.builders import a_transaction, a_user, an_api_key, an_operator
from tests.console.routes import Route, all_routes

PUBLIC = {"favicon", "home", "demo", "login", "logout", "set_language", "schema", "chat-sessions", "definition-schema"}
"""Routes that anybody may call, by name: each has its own reason and its own tests."""
STAFF = {
    "import-files", "replay", "replay-run", "replay-state", "simulate", "simulate-cases", "simulate-case",
}  # fmt: skip
"""Pages beside the administration's own that it guards, too; each has its own tests."""

CONSOLE = [route for route in all_routes() if route.namespaces == "console"]
API = [route for route in all_routes() if route.path.startswith("/api/v1/") and route.name not in PUBLIC]
ADMIN = [route for route in all_routes() if route.namespaces == "admin" or route.name in STAFF]
METHODS = ("get", "post", "put", "patch", "delete")
by_path = pytest.mark.parametrize("route", CONSOLE, ids=lambda route: route.path)
by_api_path = pytest.mark.parametrize("route", API, ids=lambda route: route.path)


def test_every_route_is_public_by_name_or_guarded_here():
    guarded = {*CONSOLE, *API, *ADMIN}

    unguarded = {route.path for route in all_routes() if route not in guarded and route.name not in PUBLIC}

    # The administration's login is answered by ours.
    assert unguarded == {"/admin/login/"}
    assert {route.name for route in CONSOLE} >= {"transactions", "transaction"}
    assert {route.name for route in API} >= {"transactions-list", "transactions-detail"}


@by_path
@pytest.mark.django_db
def test_the_console_sends_strangers_to_the_login_page(client, route: Route):
    response = client.get(route.path, follow=True)

    assert response.redirect_chain[-1][0].startswith("/login/?next=/console/transactions/")
    assert response.status_code == 200


@by_path
@pytest.mark.django_db
def test_the_console_refuses_users_without_the_permission_in_words(client, route: Route):
    client.force_login(a_user("rui", is_staff=True))

    response = client.get(route.path, follow=True, headers={"accept-language": "en"})

    assert response.status_code == 403
    assert "You may not open this page" in response.content.decode()


@by_api_path
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.django_db
def test_the_api_answers_nobody_without_credentials(client, route: Route, method: str):
    response = getattr(client, method)(route.path)

    assert response.status_code in (401, 403)
    assert response["Content-Type"] == "application/problem+json"


@by_api_path
@pytest.mark.django_db
def test_the_api_refuses_signed_in_users_without_the_permission(client, route: Route):
    client.force_login(a_user())

    response = client.get(route.path)

    assert response.status_code == 403
    assert response["Content-Type"] == "application/problem+json"


@by_api_path
@pytest.mark.django_db
def test_the_api_refuses_wrong_and_revoked_keys_alike(client, route: Route):
    from django.utils import timezone

    revoked = an_api_key("once-good", revoked_at=timezone.now())

    answers = [client.get(route.path, headers=headers) for headers in (revoked, {"Authorization": "Bearer nonsense"})]

    assert [answer.status_code for answer in answers] == [401, 401]
    assert answers[0].json() == answers[1].json()


@pytest.mark.django_db
def test_operators_open_the_console_and_see_only_their_menu(client):
    client.force_login(an_operator())

    page = client.get("/console/", follow=True).content.decode()

    assert 'href="/console/transactions/"' in page
    assert 'href="/admin/"' not in page


@pytest.mark.parametrize("group", ["operator", "business admin"])
@pytest.mark.django_db
def test_both_shipped_groups_may_operate(client, group):
    from django.contrib.auth.models import Group

    user = a_user()
    user.groups.add(Group.objects.get(name=group))
    client.force_login(user)

    assert client.get("/console/transactions/").status_code == 200


@pytest.mark.django_db
def test_a_transaction_that_does_not_exist_is_a_page_that_says_so(client):
    client.force_login(an_operator())
    there = a_transaction()

    missing = client.get(f"/console/transactions/{str(there.pk)[:-4]}0000/", headers={"accept-language": "en"})

    assert missing.status_code == 404
    assert "There is nothing here" in missing.content.decode()
