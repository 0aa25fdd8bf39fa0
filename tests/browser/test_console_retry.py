"""The console's page of a retry in a real browser: accessible, on any screen, and by keyboard alone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.test_console import LIST, is_wider_than_its_window
from tests.browser.test_console import operator as operator
from tests.runtime.retries import a_world, finished
from transactions import outbox
from transactions.models import Transaction

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def parent(monkeypatch):
    for work in outbox.RUNNERS:
        monkeypatch.setitem(outbox.RUNNERS, work, "tests.chat_channel:leave_for_later")
    return finished(a_world())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("locale", "width"), [("pt-BR", 1280), ("en", 320)])
def test_the_page_is_accessible_and_fits_with_and_without_its_button(
    open_page, operator, parent, scheme, locale, width
):
    page = open_page(f"{LIST}{parent.pk}/retry/", user=operator, width=width, locale=locale, color_scheme=scheme)

    offered = Axe().run(page)
    is_wide = is_wider_than_its_window(page)
    page.locator(".deed button").click()
    page.goto(page.url.replace(str(Transaction.objects.get(parent=parent).pk), str(parent.pk)) + "retry/")
    refused = Axe().run(page)

    expect(page.locator("#refusal")).to_be_visible()
    assert offered.violations_count == 0, offered.generate_report()
    assert refused.violations_count == 0, refused.generate_report()
    assert not is_wide


def test_a_retry_is_started_with_the_keyboard_alone(open_page, operator, parent):
    page = open_page(f"{LIST}{parent.pk}/", user=operator)

    page.get_by_role("link", name="Tentar de novo o que falhou").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Tentar de novo o que falhou")).to_be_visible()
    page.get_by_role("button", name="Pedir ao cliente que confirme a nova tentativa").focus()
    page.keyboard.press("Enter")

    expect(page.get_by_role("status").first).to_contain_text("A nova tentativa foi iniciada")
    child = Transaction.objects.get(parent=parent)
    expect(page.get_by_role("link", name=str(parent.pk))).to_be_visible()
    assert str(child.pk) in page.url
