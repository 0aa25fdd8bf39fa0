"""The pages and endpoints of replays: who may open them, what they say, and what they never show."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from tests.builders import a_user, an_api_key
from tests.rehearsal.histories import ACTION, asked, confirmed, validated
from tests.runtime import shop
from tests.runtime.world import World
from tooling.neighbours import neighbours
from tooling.publishing import replace_draft
from tooling.specs import Definitions
from transactions import sweeper
from transactions.models import Channel, ReplayRun, Transaction

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

PAGE = "/admin/tooling/replay/"
API = "/api/v1/definitions/replay/"
ASKED = {"last": "200", "tool": "", "definitions": "draft"}
WITHOUT = shop.with_policy(validated(), ACTION, require_confirmation=False)


@pytest.fixture(autouse=True)
def fast_passwords(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def admin(client: Client) -> User:
    user = a_user("bia", is_staff=True)
    user.groups.add(Group.objects.get(name="business admin"))
    client.force_login(user)
    return user


def drafted(draft: Definitions = WITHOUT) -> World:
    """A transaction that was confirmed, and a draft."""
    world = confirmed()
    replace_draft(draft)
    return world


def page(client: Client, path: str, language: str = "pt-BR") -> str:
    return client.get(path, headers={"accept-language": language}).content.decode()


def a_finished_run(client: Client, **asked_for: str) -> str:
    """The address of a replay that was asked for on the page and worked off."""
    response = client.post(PAGE, {**ASKED, **asked_for})
    assert response.status_code == 302, response.content.decode()
    sweeper.run_once()
    place: str = response["Location"]
    return place


def test_the_page_says_in_one_sentence_what_the_draft_would_do(client: Client, admin: User) -> None:
    drafted()

    place = a_finished_run(client)

    told = "Com este rascunho, 0 de 1 faria mais uma pergunta, 0 seria recusada e 1 pularia uma confirmação."
    assert told in page(client, place)
    assert "With this draft, 0 of 1 would ask one more question, 0 would be refused, 1 would skip" in page(
        client, place, "en"
    )


def test_that_no_confirmation_is_skipped_is_said_too(client: Client, admin: User) -> None:
    drafted(validated())

    told = page(client, a_finished_run(client), "en")

    assert "0 would skip a confirmation." in told
    assert "would run without the confirmation that was asked for then" in told
    assert "1 would go exactly as it did." in told


def test_a_line_has_a_link_for_who_may_open_the_record_and_none_for_others(client: Client, admin: User) -> None:
    world = drafted()
    place = a_finished_run(client)
    link = f'href="/console/transactions/{world.transaction.pk}/"'
    assert link in page(client, place)

    admin.groups.clear()
    admin.user_permissions.set(_of_the_draft())

    told = page(client, place)
    assert "cancelar_vas_avulso" in told and link not in told


def test_a_transaction_of_a_channel_that_the_reader_may_not_see_has_no_link(client: Client, admin: User) -> None:
    world = drafted()
    place = a_finished_run(client)
    admin.groups.clear()
    admin.user_permissions.set([*_of_the_draft(), _permission("operate")])

    assert str(world.transaction.pk) not in page(client, place)

    Channel.objects.get(key="test").operators.add(admin)
    assert str(world.transaction.pk) in page(client, place)


def _of_the_draft() -> list[Permission]:
    return list(Permission.objects.filter(content_type__app_label="tooling"))


def _permission(name: str) -> Permission:
    return Permission.objects.get(codename=name)


def test_no_word_of_a_customer_is_shown(client: Client, admin: User) -> None:
    drafted()

    told = page(client, a_finished_run(client))

    assert "gostaria" not in told and "Craque" not in told and "C-1" not in told


def test_kinds_lead_to_their_transactions(client: Client, admin: User) -> None:
    world = drafted()
    place = a_finished_run(client)
    pk = str(world.transaction.pk)

    assert pk in page(client, f"{place}?show=skips_confirmation")
    assert pk not in page(client, f"{place}?show=refused")
    assert pk not in page(client, f"{place}?show=same")
    assert pk in page(client, f"{place}?show=nonsense&page=99999")


def test_a_replay_of_an_older_draft_says_so(client: Client, admin: User) -> None:
    drafted()
    place = a_finished_run(client)
    assert "finding-warning" not in page(client, place)

    replace_draft(validated())

    assert "O rascunho mudou depois disso" in page(client, place)


def test_a_release_can_be_played_too(client: Client, admin: User) -> None:
    world = drafted()
    world.publish(WITHOUT)

    told = page(client, a_finished_run(client, definitions="2"))

    assert "Com a versão 2, 0 de 1 faria mais uma pergunta, 0 seria recusada e 1 pularia uma confirmação." in told


def test_a_draft_with_errors_is_not_played(client: Client, admin: User) -> None:
    found = validated()
    check = found.policy(ACTION).pre_validation
    drafted(shop.with_policy(found, ACTION, requires=("nada",), pre_validation=check))

    response = client.post(PAGE, ASKED, headers={"accept-language": "pt-BR"})

    assert response.status_code == 400
    assert "O rascunho tem erros" in response.content.decode()
    assert not ReplayRun.objects.exists()


@pytest.mark.parametrize("last", ["0", "1001", "x", "", "-1"])
def test_how_many_must_be_a_number_from_1_to_1000(client: Client, admin: User, last: str) -> None:
    drafted()

    response = client.post(PAGE, {**ASKED, "last": last})

    assert response.status_code == 400
    assert not ReplayRun.objects.exists()


def test_pressing_twice_begins_one(client: Client, admin: User) -> None:
    drafted()

    places = {client.post(PAGE, ASKED)["Location"] for _ in range(2)}

    assert len(places) == 1
    assert ReplayRun.objects.count() == 1


def test_while_it_is_played_the_page_says_how_far_it_is(client: Client, admin: User) -> None:
    drafted()
    place = client.post(PAGE, ASKED)["Location"]

    assert '<progress id="progress" max="1" value="0">' in page(client, place)
    assert client.get(f"{place}state/").json() == {"done": 0, "total": 1, "finished": False}


def test_nothing_that_ended_is_nothing_to_play(client: Client, admin: User) -> None:
    asked()
    replace_draft(validated())

    assert "Nenhuma transação terminou ainda" in page(client, a_finished_run(client))


def test_only_who_may_change_the_draft_may_replay(client: Client) -> None:
    run = ReplayRun.objects.create(author="x", last=1, hash="", content="{}")
    paths = (PAGE, f"{PAGE}{run.pk}/", f"{PAGE}{run.pk}/state/")
    assert {client.get(path).status_code for path in paths} == {302}
    client.force_login(a_user("rui", "transactions.operate", is_staff=True))

    assert {client.get(path).status_code for path in paths} == {403}
    assert client.post(PAGE, ASKED).status_code == 403
    assert ReplayRun.objects.count() == 1


def test_a_form_from_elsewhere_begins_nothing(admin: User) -> None:
    drafted()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(admin)

    assert strict.post(PAGE, ASKED).status_code == 403
    assert not ReplayRun.objects.exists()


def test_hostile_names_of_tools_are_shown_as_text(client: Client, admin: User) -> None:
    world = drafted()
    Transaction.objects.filter(pk=world.transaction.pk).update(tool="<script>alert(1)</script>", release=99)

    told = page(client, f"{a_finished_run(client)}?show=apart")

    assert "<script>alert" not in told and "&lt;script&gt;alert" in told


def test_the_publish_page_can_be_told_of_the_newest_replay(client: Client, admin: User) -> None:
    drafted()
    a_finished_run(client)
    run = ReplayRun.objects.get()

    assert "1 pularia uma confirmação." in (neighbours.replayed(run.hash) or "")
    assert neighbours.replayed("0" * 64) is None


# Over HTTP ------------------------------------------


def test_the_endpoint_begins_a_replay_and_tells_what_it_found(client: Client) -> None:
    world, key = drafted(), an_api_key(role="publisher")

    begun = client.post(API, {"last": 5}, content_type="application/json", headers=key)
    sweeper.run_once()
    found = client.get(begun["Location"], headers=key).json()

    assert (begun.status_code, begun.json()["finished"], begun.json()["definitions"]) == (202, False, "draft")
    assert (found["finished"], found["total"], found["compared"], found["same"]) == (True, 1, 1, 0)
    assert found["differences"]["skips_confirmation"] == 1 and found["differences"]["asks_more"] == 0
    (line,) = found["transactions"]
    assert (line["id"], line["differences"]) == (str(world.transaction.pk), ["skips_confirmation"])
    assert line["before"]["status"] == line["after"]["status"] == "SUCCESS"


def test_the_endpoint_names_no_transaction_that_the_key_may_not_see(client: Client) -> None:
    drafted()
    key = an_api_key(role="publisher", every_channel=False)

    begun = client.post(API, {}, content_type="application/json", headers=key)
    sweeper.run_once()

    assert client.get(begun["Location"], headers=key).json()["transactions"][0]["id"] is None


def test_the_endpoint_is_for_publishers(client: Client) -> None:
    assert client.post(API, {}, content_type="application/json", headers=an_api_key()).status_code == 403


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"last": 0}, 400),
        ({"last": 1001}, 400),
        ({"definitions": 77}, 404),
        ({"definitions": "x"}, 400),
        ({"tool": 3 * "x" * 100}, 400),
        ([], 400),
    ],
)
def test_the_endpoint_refuses_what_it_cannot_play(client: Client, body: Any, status: int) -> None:
    drafted()

    response = client.post(API, body, content_type="application/json", headers=an_api_key(role="publisher"))

    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    assert not ReplayRun.objects.exists()


def test_a_draft_with_errors_is_a_problem_that_names_them(client: Client) -> None:
    drafted(shop.with_policy(validated(), ACTION, requires=("nada",)))

    response = client.post(API, {}, content_type="application/json", headers=an_api_key(role="publisher"))

    assert response.status_code == 422
    assert response.json()["code"] == "invalid_draft"
