"""A replay in a real browser: begun with the keyboard, read, and followed to a transaction; also without scripts."""

import re

import pytest
from django.contrib.auth.models import Group
from django.db.transaction import atomic
from playwright.sync_api import expect

from tests.browser.pages import is_wider_than_its_window, press_until, violations
from tests.builders import a_user
from tests.rehearsal.histories import ACTION, LABELS, ORDERS, confirmed, validated
from tests.runtime import shop
from tooling import publishing
from transactions.models import ReplayRun, Transaction
from transactions.rehearsal.replay_runs import begin, work_off

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGE = "/admin/tooling/replay/"
UNKNOWN = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
def bia():
    user = a_user("bia", is_staff=True)
    user.groups.add(Group.objects.get(name="business admin"))
    return user


@pytest.fixture
def draft():
    """What would skip a confirmation here, refuse there, and leave one as it was; and a retry, which is not played."""
    # In one commit: whoever is woken afterwards finds nothing left to do.
    with atomic():
        confirmed()
        parent = confirmed(tool=ORDERS, order_ids=["PED-1001", "PED-1002"]).transaction
        confirmed(validated(), subject=LABELS[0])
        child = confirmed(tool=ORDERS, order_ids=["PED-1003"]).transaction
        Transaction.objects.filter(pk=child.pk).update(parent=parent)
    found = shop.with_policy(validated(), ACTION, require_confirmation=False)
    found = shop.with_policy(found, ORDERS, max_items=1)
    publishing.replace_draft(found)
    return publishing.draft()


@pytest.mark.timeout(240)
def test_a_business_admin_sees_what_the_draft_would_do_and_where(open_page, bia, draft):
    page = open_page(PAGE, user=bia)
    press_until(page, page.get_by_role("button", name="Iniciar a reprise"))
    page.keyboard.press("Enter")

    told = "0 de 3 faria mais uma pergunta, 1 seria recusada e 2 pulariam uma confirmação."
    expect(page.get_by_text(told)).to_be_visible(timeout=120_000)
    expect(page.get_by_text("1 não pôde ser comparada.")).to_be_visible()

    page.get_by_role("link", name=re.compile("seria recusada")).click()
    page.get_by_role("link", name=re.compile(ORDERS)).click()
    expect(page).to_have_url(re.compile("/console/transactions/"))


def test_without_scripts_the_page_is_looked_at_again(open_page, bia, draft):
    run = begin(draft, last=200, tool="", release=0, author="bia")
    page = open_page(f"{PAGE}{run.pk}/", user=bia, java_script_enabled=False)

    again = page.get_by_role("link", name="Atualizar")
    while again.count():
        again.click()

    expect(page.get_by_text("pulariam uma confirmação")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("locale", "width"), [("pt-BR", 1280), ("en", 320)])
def test_no_page_has_an_accessibility_violation_or_is_wider_than_its_window(
    open_page, bia, draft, locale, width, scheme
):
    half = ReplayRun.objects.create(
        author="bia", last=2, hash="", content="{}", chosen=[UNKNOWN, UNKNOWN], leased_until="2100-01-01T00:00Z"
    )
    done = begin(draft, last=200, tool="", release=0, author="bia").pk
    while not ReplayRun.objects.get(pk=done).is_finished:
        work_off(done)

    for path in ("", f"{done}/", f"{done}/?show=apart", f"{done}/?show=same", f"{half.pk}/"):
        page = open_page(f"{PAGE}{path}", user=bia, width=width, locale=locale, color_scheme=scheme)
        assert violations(page) == []
        assert not is_wider_than_its_window(page)
