"""The button below a result that failed in part: it asks for what failed, once, and says what came of it."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.test_demo_page import conversation, finish, outcome, transaction
from tests.browser.test_demo_page import open_page as open_page
from tests.browser.test_demo_page import shop_of as shop_of
from tests.browser.test_demo_page import site as site
from tests.runtime import shop
from tests.runtime.retries import SERVICES, confirmed_and_done, finished
from tests.runtime.staging import opens
from tests.runtime.world import World
from tests.services import wait_until
from transactions import outbox
from transactions.models import Transaction

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OFFER = "Tentar de novo o que falhou"


@pytest.fixture(autouse=True)
def nobody_else_works(monkeypatch):
    for work in outbox.RUNNERS:
        monkeypatch.setitem(outbox.RUNNERS, work, "tests.chat_channel:leave_for_later")


@pytest.fixture
def failed(open_page):
    """A page that shows a result of which two items failed, and the world behind it."""

    def show(path="/demo/", **options):
        page = open_page(path, **options)
        own = conversation()
        world = World(shop.shop())
        world.conversation.delete()
        world.conversation = own
        parent = finished(world)
        expect(page.locator(".result")).to_be_visible()
        return page, world, parent

    return show


def test_a_press_asks_for_what_failed_and_shows_its_confirmation(failed):
    page, world, parent = failed()
    button = page.get_by_role("button", name=OFFER)

    button.focus()
    page.keyboard.press("Enter")

    question = page.locator(".confirmation").last
    expect(question.locator(".choice")).to_have_text("PED-1006PED-1007")
    expect(button).to_be_disabled()
    expect(page.locator(".retry [role=status]")).to_have_text("Uma nova tentativa foi aberta.")
    assert Transaction.objects.get(parent=parent) == world.transaction


def test_after_the_child_was_turned_down_it_can_be_pressed_again_and_after_it_ran_not(failed):
    page, world, parent = failed()
    button = page.get_by_role("button", name=OFFER)

    button.click()
    page.get_by_role("button", name="Não, voltar").last.click()
    expect(button).to_be_enabled()
    button.click()
    wait_until(lambda: Transaction.objects.filter(parent=parent).count() == 2, what="the second child")
    confirmed_and_done(world)

    expect(page.locator(".result").last).to_have_attribute("data-status", "SUCCESS")
    expect(button).to_be_disabled()
    expect(page.get_by_role("button", name=OFFER)).to_have_count(1)


def test_a_reload_remembers_that_it_was_pressed(failed):
    page, _, _ = failed()
    page.get_by_role("button", name=OFFER).click()
    expect(page.locator(".confirmation")).to_have_count(2)

    page.reload()

    expect(page.get_by_role("button", name=OFFER)).to_be_disabled()


def test_while_another_request_is_open_it_says_what_to_do_first(failed):
    page, world, _ = failed()
    opens(world, SERVICES, {})

    page.get_by_role("button", name=OFFER).click()

    note = page.locator(".retry [role=status]")
    expect(note).to_have_text("Há outra solicitação aberta. Termine-a e tente de novo.")
    expect(note).to_be_focused()
    expect(page.get_by_role("button", name=OFFER)).to_be_enabled()


def test_what_can_no_longer_be_tried_again_is_said_to_be_so(open_page):
    page = open_page("/demo/?locale=en")
    about = transaction()
    finish(about, outcome("A", "FAILED"), status="FAILED", retry=True)

    page.get_by_role("button", name="Try again what failed").click()

    expect(page.locator(".retry [role=status]")).to_contain_text("This can no longer be tried again.")
    expect(page.get_by_role("button", name="Try again what failed")).to_be_disabled()


def test_a_result_that_offers_nothing_has_no_button(open_page):
    page = open_page()

    finish(transaction(), outcome("A", "FAILED"), status="FAILED")

    expect(page.locator(".result")).to_be_visible()
    expect(page.locator(".retry")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("locale", "width"), [("pt-BR", 1280), ("en", 320)])
def test_the_offer_is_accessible_before_and_after_a_press(failed, scheme, locale, width):
    page, _, _ = failed(f"/demo/?locale={locale}", width=width, color_scheme=scheme)
    finish(transaction(), outcome("A", "SUCCEEDED"), outcome("B", "FAILED"), status="PARTIAL_SUCCESS")
    expect(page.locator(".result")).to_have_count(2)
    button = page.locator(".retry button")

    before = Axe().run(page)
    button.click()
    expect(page.locator(".confirmation")).to_have_count(2)
    after = Axe().run(page)

    assert before.violations_count == 0, before.generate_report()
    assert after.violations_count == 0, after.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
