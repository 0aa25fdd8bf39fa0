"""What operators do on a record: settle unknown items, move the review, and hear what became of it."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.builders import a_transaction, a_user, an_operator
from tests.runtime.durability import LABELS, confirmed
from tests.runtime.test_reviewing import undecided
from tests.runtime.world import World
from transactions.core.statuses import ItemStatus, ReviewState, Status
from transactions.models import Transaction
from transactions.services.resolving import resolve
from transactions.services.reviewing import review

pytestmark = pytest.mark.django_db
ENGLISH = {"accept-language": "en"}
REASON = "seen in the billing system"


@pytest.fixture
def operator(client):
    client.force_login(an_operator())
    return client


def page_of(world_or_row: World | Transaction) -> str:
    row = world_or_row.transaction if isinstance(world_or_row, World) else world_or_row
    return f"/console/transactions/{row.pk}/"


def form_of(world: World, label: str = LABELS[0]) -> str:
    """Where the form about ``label`` is sent."""
    key = world.transaction.items.get(label=label).key
    return f"{page_of(world)}items/{quote(key)}/resolve/"


def send(client, path: str, body: dict[str, str], language: str = "en") -> str:
    """Send a form and read the page that follows."""
    response = client.post(path, body, follow=True, headers={"accept-language": language})
    assert response.status_code == 200
    return response.content.decode()


def read(client, world: World | Transaction, language: str = "en") -> str:
    return client.get(page_of(world), headers={"accept-language": language}).content.decode()


# Settling an item ---------------------------------------------------------------------------------


def test_each_unknown_item_has_a_form_that_says_what_it_does(operator):
    world = undecided()

    page = read(operator, world)

    for label in LABELS:
        assert f"What became of “{label}”?" in page
    assert page.count('value="NOT_EXECUTED" required') == 3
    assert "The customer is told at once in the chat and reads your reason." in page


def test_an_item_that_is_known_has_no_form(operator):
    world = confirmed()
    world.work()

    assert "What became of" not in read(operator, world)
    assert 'id="resolve"' not in read(operator, world)


def test_a_row_that_nobody_confirmed_has_no_form(operator):
    row = a_transaction(Status.SUCCESS, items=[("A", ItemStatus.UNKNOWN)])
    row.items.update(unconfirmed=True)

    assert "What became of" not in read(operator, row)


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "“Música Mais” is “Failed” now, and the customer was told."),
        ("pt-BR", "“Música Mais” está “Falhou” agora, e o cliente foi avisado."),
    ],
)
def test_an_item_is_settled_and_the_page_says_so(operator, language, told):
    world = undecided()

    page = send(operator, form_of(world), {"status": "FAILED", "reason": REASON, "protocol": "PRT-9"}, language)

    assert told in page
    item = world.transaction.items.get(label=LABELS[0])
    assert (item.status, item.protocol, item.evidence["resolution"]["by"]) == ("FAILED", "PRT-9", "ana")
    assert f"What became of “{LABELS[0]}”?" not in page


def test_with_the_last_item_the_page_says_where_the_transaction_stands(operator):
    world = undecided(LABELS[:1])

    page = send(operator, form_of(world), {"status": "SUCCEEDED", "reason": REASON})

    assert "Nothing of this transaction is unknown any more: it is “Completed”." in page
    assert (world.transaction.status, world.transaction.review_state) == ("SUCCESS", "resolved")


def test_the_timeline_says_who_settled_it_and_why(operator):
    world = undecided(LABELS[:1])

    page = send(operator, form_of(world), {"status": "NOT_EXECUTED", "reason": REASON})

    assert f"{LABELS[0]}: Not executed. {REASON}" in page
    assert '<span class="muted">ana</span>' in page
    assert "The outcome is unknown, and no tool can be asked about it." in page


@pytest.mark.parametrize(
    "body",
    [
        {"status": "FAILED", "reason": ""},
        {"status": "FAILED", "reason": " \r\n "},
        {"status": "FAILED", "reason": "x" * 1001},
        {"status": "UNKNOWN", "reason": REASON},
        {"reason": REASON},
    ],
)
def test_without_a_reason_or_an_outcome_nothing_is_changed(operator, body):
    world = undecided()

    page = send(operator, form_of(world), body)

    assert "Nothing was changed: say what became of the item, and the reason." in page
    assert world.transaction.items.filter(status="UNKNOWN").count() == 3


def test_a_reason_of_several_lines_is_one_line_to_the_customer(operator):
    world = undecided()

    send(operator, form_of(world), {"status": "FAILED", "reason": "\r\n".join(["x"] * 100)})

    assert world.transaction.items.get(label=LABELS[0]).reason == " ".join(["x"] * 100)
    assert "x x x" in world.last("transaction.verifying").data["text"]


def test_who_comes_second_reads_who_was_first_and_what_they_said(operator):
    world = undecided()
    item = world.transaction.items.get(label=LABELS[0])
    resolve(world.transaction.pk, item.key, status=ItemStatus.FAILED, reason="the shop said no", actor="rui")

    page = send(operator, form_of(world), {"status": "SUCCEEDED", "reason": REASON})

    assert "Nothing was changed: “Música Mais” is “Failed” already. rui said so on" in page
    assert "“the shop said no”." in page
    assert 'role="alert"' in page
    item.refresh_from_db()
    assert item.status == "FAILED"


def test_an_answer_that_came_first_is_told_as_what_decided_it(operator):
    world = confirmed()
    form = form_of(world)
    world.work()

    page = send(operator, form, {"status": "FAILED", "reason": REASON})

    assert "is “Succeeded” already. Decided by: a row of the answer named this item." in page


def test_the_one_item_of_an_unnamed_set_is_settled_by_its_form(operator):
    world = undecided(LABELS[:1])
    world.transaction.items.update(key="*")

    assert f'action="{page_of(world)}items/*/resolve/"' in read(operator, world)
    send(operator, form_of(world), {"status": "SUCCEEDED", "reason": REASON})

    assert world.transaction.status == "SUCCESS"


def test_a_hostile_reason_runs_nothing(operator):
    world = undecided(LABELS[:1])

    page = send(operator, form_of(world), {"status": "FAILED", "reason": "<script>alert(1)</script>"})

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


# Reviews ------------------------------------------------------------------------------------------


def test_only_the_moves_that_are_allowed_are_offered(operator):
    offered = {}
    for state in ReviewState:
        page = read(operator, a_transaction(Status.FAILED, review_state=state))
        offered[state] = {each.value for each in ReviewState if f'name="state" value="{each}"' in page}

    assert offered == {
        "none": {"needed", "resolved"},
        "needed": {"acknowledged", "resolved"},
        "acknowledged": {"needed", "resolved"},
        "resolved": {"needed"},
    }


@pytest.mark.parametrize(
    ("language", "told"), [("en", "The review is “acknowledged” now."), ("pt-BR", "A revisão está “vista” agora.")]
)
def test_a_review_is_moved_with_a_note_that_the_timeline_keeps(operator, language, told):
    world = undecided()

    page = send(operator, f"{page_of(world)}review/", {"state": "acknowledged", "note": "I ask the shop"}, language)

    assert told in page
    assert world.transaction.review_state == "acknowledged"
    assert "· I ask the shop" in page
    assert all("I ask the shop" not in str(event.data) for event in world.events)


def test_a_review_that_somebody_else_moved_is_told_with_their_note(operator):
    world = undecided()
    review(world.transaction.pk, state=ReviewState.ACKNOWLEDGED, note="mine", actor="rui")

    page = send(operator, f"{page_of(world)}review/", {"state": "acknowledged", "note": "mine, too"})

    assert "Nothing was changed: the review is “acknowledged” already. rui moved it: “mine”." in page


def test_a_state_that_there_is_not_changes_nothing(operator):
    world = undecided()

    page = send(operator, f"{page_of(world)}review/", {"state": "done"})

    assert "Nothing was changed: the note is too long, or there is no such state." in page
    assert world.transaction.review_state == "needed"


# Who may ------------------------------------------------------------------------------------------


def test_forms_need_the_permission_and_the_token_against_forgery(client):
    from django.test import Client

    world = undecided()
    client.force_login(a_user())
    forger = Client(enforce_csrf_checks=True)
    forger.force_login(an_operator())
    body = {"status": "FAILED", "reason": REASON, "state": "acknowledged"}

    answers = [
        who.post(path, body) for who in (client, forger) for path in (form_of(world), f"{page_of(world)}review/")
    ]

    assert [answer.status_code for answer in answers] == [403] * 4
    assert world.transaction.review_state == "needed"
    assert world.transaction.items.filter(status="UNKNOWN").count() == 3


def test_who_had_to_sign_in_first_comes_to_the_record(operator):
    world = undecided()

    for path in (form_of(world), f"{page_of(world)}review/"):
        assert operator.get(path).headers["Location"] == page_of(world)


@pytest.mark.parametrize("end", ["items/nope/resolve/", "review/"])
def test_what_is_not_there_is_a_page_that_says_so(operator, end):
    unknown = "00000000-0000-4000-8000-000000000001"
    body = {"status": "FAILED", "reason": REASON, "state": "needed"}

    response = operator.post(f"/console/transactions/{unknown}/{end}", body, headers=ENGLISH)

    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()


# The list -----------------------------------------------------------------------------------------


def test_one_click_shows_what_waits_for_an_operator_under_the_other_filters(operator):
    for tool, state in [("a", "needed"), ("a", "needed"), ("a", "acknowledged"), ("b", "needed"), ("b", "none")]:
        a_transaction(Status.FAILED, tool=tool, review_state=state)

    chip = operator.get("/console/transactions/?tool=a&status=FAILED").context["review_chip"]
    page = operator.get("/console/transactions/" + chip["query"])

    assert (chip["number"], chip["is_current"]) == (2, False)
    assert len(page.context["rows"]) == 2
    assert page.context["review_chip"] == {"number": 2, "query": "?tool=a&status=FAILED", "is_current": True}
