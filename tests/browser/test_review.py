"""Settling unknown items and moving reviews in a real browser: accessible, by keyboard alone, and on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.test_console import LIST, is_wider_than_its_window, tab_to
from tests.builders import an_operator
from tests.runtime.durability import LABELS
from tests.runtime.test_reviewing import undecided
from transactions import outbox
from transactions.core.statuses import ItemStatus
from transactions.services.resolving import resolve

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def no_one_else_works(monkeypatch):
    for work in outbox.RUNNERS:
        monkeypatch.setitem(outbox.RUNNERS, work, "tests.chat_channel:leave_for_later")


@pytest.fixture
def operator():
    return an_operator()


def record_of(world) -> str:
    return f"{LIST}{world.transaction.pk}/"


def settled_by_somebody_else(world, label=LABELS[0]):
    key = world.transaction.items.get(label=label).key
    resolve(world.transaction.pk, key, status=ItemStatus.FAILED, reason="a loja disse que não", actor="rui")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("locale", "width"), [("pt-BR", 1280), ("en", 390)])
def test_the_forms_and_what_they_answer_have_no_accessibility_violation(open_page, operator, scheme, locale, width):
    world = undecided()
    page = open_page(record_of(world), user=operator, width=width, locale=locale, color_scheme=scheme)

    violations = open_and_check(page)
    settled_by_somebody_else(world)
    form = page.locator(".deed").first
    form.get_by_role("radio").first.check()
    form.locator("textarea").fill("x")
    form.get_by_role("button").click()
    expect(page.get_by_role("alert")).to_contain_text("rui")
    violations += open_and_check(page)
    page.locator("#review button").first.click()
    expect(page.locator(".notice[role=status]")).to_be_visible()
    violations += open_and_check(page)
    page.goto(page.url.partition(LIST)[0] + LIST + "?review_state=needed")
    violations += open_and_check(page)

    assert violations == []


def open_and_check(page):
    for details in page.locator("details").all():
        details.evaluate("element => { element.open = true }")
    return [
        (violation["id"], node["html"])
        for violation in Axe().run(page).response["violations"]
        for node in violation["nodes"]
    ]


def test_an_item_is_settled_by_keyboard_alone(open_page, operator):
    world = undecided(LABELS[:1])
    page = open_page(LIST, user=operator)

    tab_to(page, page.get_by_role("link", name="A revisar 1"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="A revisar 1")).to_have_attribute("aria-current", "true")
    tab_to(page, page.get_by_role("link", name=world.transaction.tool))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("radio", name="Foi feito.", exact=True))
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Foi tentado e não deu certo.")).to_be_checked()
    tab_to(page, page.get_by_label("Motivo, para o registro e para o cliente"))
    page.keyboard.type("a loja disse que não")
    tab_to(page, page.get_by_role("button", name="Definir e avisar o cliente"))
    page.keyboard.press("Enter")

    told = f"“{LABELS[0]}” está “Falhou” agora, e o cliente foi avisado."
    expect(page.locator(".notice[role=status]")).to_contain_text(told)
    item = world.transaction.items.get()
    assert (item.status, item.reason) == ("FAILED", "a loja disse que não")


def test_the_browser_sends_nothing_without_a_reason(open_page, operator):
    world = undecided(LABELS[:1])
    page = open_page(record_of(world), user=operator)

    page.get_by_role("radio", name="Foi feito.", exact=True).check()
    page.get_by_role("button", name="Definir e avisar o cliente").click()

    expect(page.get_by_label("Motivo, para o registro e para o cliente")).to_be_focused()
    assert world.transaction.items.get().status == "UNKNOWN"


@pytest.mark.parametrize("width", [320, 390])
def test_the_forms_fit_a_phone_and_their_targets_can_be_hit(open_page, operator, width):
    world = undecided(["Um serviço de nome muito comprido " * 6, "x" * 100])
    page = open_page(record_of(world), user=operator, width=width)
    open_and_check(page)

    boxes = [target.bounding_box() for target in page.locator(".deed button, .deed label.tick, .deed textarea").all()]

    assert not is_wider_than_its_window(page)
    assert [box for box in boxes if box["height"] < 24 or box["x"] + box["width"] > width] == []


def test_without_scripts_a_review_is_taken(open_page, operator):
    world = undecided(LABELS[:1])
    page = open_page(record_of(world), user=operator, java_script_enabled=False)

    page.get_by_label("Nota para outros operadores").fill("pergunto à loja")
    page.get_by_role("button", name="Eu cuido disso").click()

    expect(page.get_by_text("A revisão está “vista” agora.")).to_be_visible()
    expect(page.get_by_role("button", name="Eu cuido disso")).to_have_count(0)
