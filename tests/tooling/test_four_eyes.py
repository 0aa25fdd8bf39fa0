"""Four eyes: who changed a draft cannot publish it, whatever that person may do or is called (FOUR_EYES)."""

import threading
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.db.transaction import atomic
from django.test import Client

from tests.builders import an_api_key
from tests.tooling.admin_pages import change_url, save
from tests.tooling.conftest import read
from tests.tooling.definitions_api import Caller, is_problem
from tests.tooling.test_admin_conflicts import an_admin
from tests.tooling.test_admin_releases import PUBLISH, policy_url, ticked
from tooling import approvals, catalog, publishing
from tooling.errors import (
    AlreadyDecided,
    MakerIsNotChecker,
    NeverApproved,
    OnlyPeopleApprove,
    RequestOvertaken,
    RequestWaits,
    SecondPersonNeeded,
)
from tooling.models import PublishRequest, Release
from tooling.specs import Definitions

pytestmark = pytest.mark.django_db
ACTION = "cancelar_vas_avulso"


@pytest.fixture(autouse=True)
def _four_eyes(settings: Any, request: pytest.FixtureRequest) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]
    if "both" in request.fixturenames:
        request.getfixturevalue("both")
    settings.FOUR_EYES = True


def a_user(name: str, **more: Any) -> User:
    return User.objects.create_user(name, password=None, is_staff=True, **more)


def edited(by: User, **changes: Any) -> None:
    """The draft, changed by somebody."""
    draft = publishing.draft()
    policy = replace(draft.policy(ACTION), **(changes or {"max_items": 7}))
    wanted = replace(draft, policies=dict(draft.policies) | {ACTION: policy})
    publishing.change_draft(wanted, kinds=publishing.ALL_KINDS, author=by)


def asked_by(author: User) -> PublishRequest:
    return approvals.request_publication(comment="seven at most", author=author)


@pytest.fixture
def ana_user(both: Definitions) -> User:
    return a_user("ana")


@pytest.fixture
def request_of_ana(ana_user: User) -> PublishRequest:
    edited(ana_user)
    return asked_by(ana_user)


# The rule ---------------------------------------------------------------------------------------------------


def test_nobody_publishes_alone(both: Definitions):
    edited(a_user("ana"))

    with pytest.raises(SecondPersonNeeded, match="FOUR_EYES"):
        publishing.publish(comment="alone", author=a_user("root", is_superuser=True))

    assert Release.objects.count() == 1


def test_another_person_approves_and_both_are_recorded(request_of_ana: PublishRequest):
    rui = a_user("rui")

    release = approvals.approve(request_of_ana.pk, approver=rui)

    assert (release.number, release.author, release.approver, release.comment) == (2, "ana", "rui", "seven at most")
    assert (release.author_identity, release.approver_identity) == (request_of_ana.author_identity, f"user:{rui.pk}")
    assert catalog.current().definitions.policy(ACTION).max_items == 7
    decided = PublishRequest.objects.get()
    assert (decided.status, decided.decider, decided.release) == ("approved", "rui", 2)


def test_what_is_edited_after_the_request_is_not_part_of_it(request_of_ana: PublishRequest):
    rui = a_user("rui")
    edited(rui, max_items=99)

    approvals.approve(request_of_ana.pk, approver=rui)

    assert catalog.current().definitions.policy(ACTION).max_items == 7
    assert publishing.draft().policy(ACTION).max_items == 99


@pytest.mark.parametrize("becomes", [{}, {"is_superuser": True}, {"username": "maria", "first_name": "Maria"}])
def test_the_author_never_approves_not_as_superuser_nor_under_another_name(
    request_of_ana: PublishRequest, ana_user: User, becomes: dict[str, Any]
):
    User.objects.filter(pk=ana_user.pk).update(**becomes)

    for decide in (
        lambda: approvals.approve(request_of_ana.pk, approver=User.objects.get(pk=ana_user.pk)),
        lambda: approvals.reject(request_of_ana.pk, by=User.objects.get(pk=ana_user.pk), reason="x"),
    ):
        with pytest.raises(MakerIsNotChecker):
            decide()

    assert Release.objects.count() == 1


def test_who_made_one_of_the_changes_does_not_approve_either(ana_user: User):
    bia = a_user("bia")
    edited(bia, expires_after=77)
    edited(ana_user)
    asked = asked_by(ana_user)

    with pytest.raises(MakerIsNotChecker):
        approvals.approve(asked.pk, approver=bia)

    assert set(approvals.makers(asked).values()) == {"ana", "bia"}


def test_a_change_that_is_published_already_makes_nobody_a_maker(ana_user: User):
    bia, rui = a_user("bia"), a_user("rui")
    edited(bia)
    approvals.approve(asked_by(bia).pk, approver=rui)
    edited(ana_user, max_items=9)

    assert approvals.approve(asked_by(ana_user).pk, approver=bia).number == 3


def test_a_key_may_ask_and_never_decide(ana_user: User):
    class Key:
        identity, name = "apikey:7", "deploy"

        def __str__(self) -> str:
            return "key:deploy"

    edited(ana_user)
    asked = approvals.request_publication(comment="by a key", author=Key())

    with pytest.raises(OnlyPeopleApprove):
        approvals.approve(asked.pk, approver=Key())
    with pytest.raises(OnlyPeopleApprove):
        approvals.reject(asked.pk, by=Key(), reason="x")
    assert approvals.withdraw(asked.pk, by=Key()).status == "withdrawn"


# The database -----------------------------------------------------------------------------------------------


def approved(decider: str) -> dict[str, Any]:
    return {"status": "approved", "decider": "x", "decider_identity": decider, "release": 2}


def test_the_database_refuses_the_author_and_every_maker(ana_user: User):
    bia = a_user("bia")
    edited(bia, expires_after=77)
    edited(ana_user)
    asked_by(ana_user)

    for decider in (f"user:{ana_user.pk}", f"user:{bia.pk}", "apikey:1", ""):
        with pytest.raises(DatabaseError), atomic():
            PublishRequest.objects.update(**approved(decider))

    assert PublishRequest.objects.update(**approved(f"user:{a_user('rui').pk}")) == 1


def test_the_database_refuses_to_change_a_request_or_its_decision(request_of_ana: PublishRequest):
    for change in ({"content": "{}"}, {"comment": "x"}, {"author_identity": "user:0"}, {"last_edit": 0}):
        with pytest.raises(DatabaseError), atomic():
            PublishRequest.objects.update(**change)
    approvals.reject(request_of_ana.pk, by=a_user("rui"), reason="no")

    with pytest.raises(DatabaseError, match="decided once"), atomic():
        PublishRequest.objects.update(status="pending")


def test_the_database_refuses_a_request_that_is_born_decided(request_of_ana: PublishRequest):
    born = {name: getattr(request_of_ana, name) for name in ("content", "hash", "base", "first_edit", "last_edit")}

    with pytest.raises(DatabaseError, match="begins as one that waits"), atomic():
        PublishRequest.objects.create(**born, comment="x", author="x", author_identity="user:1", **approved("user:2"))


def test_the_database_refuses_a_second_request_and_a_release_approved_by_its_author(request_of_ana: PublishRequest):
    with pytest.raises(DatabaseError), atomic():
        Release.objects.create(number=9, content="{}", hash="x", author_identity="user:1", approver_identity="user:1")
    with pytest.raises(RequestWaits):
        asked_by(a_user("rui"))


# Decisions --------------------------------------------------------------------------------------------------


def test_a_request_is_decided_once(request_of_ana: PublishRequest):
    approvals.reject(request_of_ana.pk, by=a_user("rui"), reason="not like this")

    with pytest.raises(AlreadyDecided):
        approvals.approve(request_of_ana.pk, approver=a_user("eva"))
    assert PublishRequest.objects.get().reason == "not like this"
    assert Release.objects.count() == 1


def test_a_request_is_not_approved_past_a_newer_release(request_of_ana: PublishRequest):
    publishing.install(replace(publishing.draft(), intents={}), comment="moved", author="setup")

    with pytest.raises(RequestOvertaken, match="release 2"):
        approvals.approve(request_of_ana.pk, approver=a_user("rui"))


def test_a_request_whose_content_became_wrong_is_not_approved(request_of_ana: PublishRequest, settings: Any):
    settings.MCP_STDIO_COMMANDS = []

    with pytest.raises(publishing.InvalidDraft):
        approvals.approve(request_of_ana.pk, approver=a_user("rui"))


def test_a_roll_back_to_what_was_approved_needs_one_person_and_is_recorded(ana_user: User):
    rui = a_user("rui")
    for limit in (1, 2):
        edited(ana_user, max_items=limit)
        approvals.approve(asked_by(ana_user).pk, approver=rui)

    release = publishing.roll_back(2, "back", ana_user)

    assert (release.author, release.approver, release.rolled_back_to) == ("ana", "", 2)


def test_what_nobody_else_ever_approved_does_not_come_back_alone(ana_user: User):
    edited(ana_user)
    approvals.approve(asked_by(ana_user).pk, approver=a_user("rui"))
    before = publishing.draft()

    with pytest.raises(NeverApproved, match="release 1"):
        publishing.roll_back(1, "back", ana_user)

    assert publishing.draft() == before


@pytest.mark.django_db(transaction=True)
def test_two_who_approve_at_the_same_moment_make_one_release(settings: Any):
    settings.FOUR_EYES, settings.MCP_STDIO_COMMANDS = False, ["python"]
    publishing.replace_draft(read("contas", "pedidos"))
    publishing.publish(comment="first")
    settings.FOUR_EYES = True
    ana, others = a_user("ana"), [a_user("bia"), a_user("rui")]
    edited(ana)
    asked = asked_by(ana)
    together, answers = threading.Barrier(2), []

    def approve(who: User) -> None:
        try:
            together.wait(10)
            answers.append(approvals.approve(asked.pk, approver=who).number)
        except AlreadyDecided:
            answers.append(0)
        finally:
            connection.close()

    threads = [threading.Thread(target=approve, args=[who]) for who in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(answers) == [0, 2]


# The command and the pages ----------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("publish", "-m", "x"), ("import", "{}", "--publish", "-m", "x")])
def test_the_command_refuses_and_says_what_to_do(both: Definitions, arguments: Any):
    from tests.loading import DEFINITIONS

    words = [word.format(DEFINITIONS / "legacy") for word in arguments]

    with pytest.raises(CommandError, match="request it in the administration or over the API"):
        call_command("definitions", *words, stdout=StringIO(), stderr=StringIO())

    assert publishing.draft() == both


def test_the_whole_story_in_the_administration(both: Definitions):
    ana, rui = an_admin("ana"), an_admin("rui")
    User.objects.filter(username="ana").update(is_superuser=True)
    save(ana, policy_url(), max_items="7")

    asked = ana.post(PUBLISH, ticked(ana, comment="seven"), follow=True).content.decode()
    request = PublishRequest.objects.get()
    url = change_url(request)
    own = ana.post(url, {"decision": "approve", "looked": "on"})
    unseen = rui.post(url, {"decision": "approve"})
    page = rui.get(url).content.decode()
    approved_page = rui.post(url, {"decision": "approve", "looked": "on"}, follow=True).content.decode()

    assert "waits for another person" in asked
    assert own.status_code == 409 and "another person has to" in own.content.decode()
    assert "Tick that you have looked" in unseen.content.decode()
    assert "Approve and publish as release 2" in page and "most items at once" in page
    assert "Release 2 is published." in approved_page
    assert Release.objects.first().approver == "rui"


def test_the_page_of_an_overtaken_request_shows_both_changes(request_of_ana: PublishRequest):
    publishing.install(replace(publishing.draft(), intents={}), comment="moved", author="setup")
    rui = an_admin("rui")

    late = rui.post(change_url(request_of_ana), {"decision": "approve", "looked": "on"})

    page = " ".join(late.content.decode().split())
    assert late.status_code == 409 and Release.objects.count() == 2
    assert "setup published release 2" in page and "Intent" in page
    assert "What the request wanted to change" in page and "most items at once" in page


def test_a_rejection_needs_a_reason_and_is_shown_escaped(request_of_ana: PublishRequest):
    rui, url = an_admin("rui"), change_url(request_of_ana)

    bare = rui.post(url, {"decision": "reject", "reason": " "})
    told = rui.post(url, {"decision": "reject", "reason": "<b>no</b>"}, follow=True)

    assert "needs a reason" in bare.content.decode()
    assert "&lt;b&gt;no&lt;/b&gt;" in told.content.decode()


def test_who_may_not_publish_may_not_decide(request_of_ana: PublishRequest, client: Client):
    client.force_login(a_user("olga"))

    assert client.get(change_url(request_of_ana)).status_code == 403
    assert client.post(change_url(request_of_ana), {"decision": "withdraw"}).status_code == 403


# Over HTTP --------------------------------------------------------------------------------------------------


def signed_in(user: User) -> Caller:
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="tooling"))
    client = Client()
    client.force_login(user)
    return Caller(client=client)


def test_a_key_asks_over_http_and_a_person_approves(ana_user: User):
    key, rui = Caller(an_api_key("deploy", role="publisher")), signed_in(a_user("rui"))
    edited(ana_user)

    asked = key.publish("by a program")
    number = asked.json()["number"]
    second = key.publish("once more")
    own = key.send("post", f"requests/{number}/approve/", {})
    approved_ = rui.send("post", f"requests/{number}/approve/", {})
    late = rui.send("post", f"requests/{number}/reject/", {"reason": "too late"})

    assert (asked.status_code, asked.json()["status"]) == (202, "pending")
    assert is_problem(second, 409, "request_waits") and is_problem(own, 403, "only_people_approve")
    assert approved_.status_code == 201
    assert (approved_.json()["author"], approved_.json()["approver"]) == ("key:publisher deploy", "rui")
    assert is_problem(late, 409, "already_decided")


def test_the_author_is_refused_over_http_too(request_of_ana: PublishRequest, ana_user: User):
    ana, url = signed_in(ana_user), f"requests/{request_of_ana.pk}/"

    shown = ana.get(url).json()

    assert shown["makers"] == ["ana"] and shown["changes"][0]["path"] == ["policies", ACTION, "max_items"]
    assert is_problem(ana.send("post", url + "approve/", {}), 403, "maker_is_not_checker")
    assert is_problem(ana.send("post", url + "reject/", {}), 400)
    assert ana.send("post", url + "withdraw/", {}).json()["status"] == "withdrawn"
    assert [row["status"] for row in ana.get("requests/").json()["results"]] == ["withdrawn"]
    assert is_problem(ana.get("requests/999/"), 404)


def test_an_overtaken_request_is_a_conflict_over_http(request_of_ana: PublishRequest):
    publishing.install(replace(publishing.draft(), intents={}), comment="moved", author="setup")

    late = signed_in(a_user("rui")).send("post", f"requests/{request_of_ana.pk}/approve/", {})

    assert is_problem(late, 409, "request_overtaken")
