"""The console in a real browser: accessible, by keyboard alone, on small screens, and obeying its own policy."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.builders import (
    PASSWORD,
    a_conversation,
    a_transaction,
    a_user,
    a_whole_story,
    an_attempt,
    an_item,
    an_operator,
)
from transactions.core.statuses import ItemStatus, Status

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LIST = "/console/transactions/"


@pytest.fixture
def operator():
    return an_operator()


def one_of_each():
    """Rows of every status and item outcome; returns the fullest."""
    for status in Status:
        a_transaction(status, items=[(f"Item de {status}", ItemStatus.PENDING)], multi_item_status="")
    transaction = a_whole_story(has_unconfirmed=True, has_unknown=True, review_state="needed")
    for position, outcome in enumerate(ItemStatus, start=10):
        an_item(transaction, position, f"Item {outcome}", outcome)
    an_item(transaction, 50, "Ninguém confirmou", ItemStatus.SUCCEEDED, unconfirmed=True)
    an_attempt(transaction, 2, status="UNKNOWN", failure="connection reset")
    return transaction


def is_wider_than_its_window(page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


# Accessibility ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("locale", "width"), [("pt-BR", 1280), ("en", 390)])
def test_no_page_has_an_accessibility_violation(open_page, operator, scheme, locale, width):
    story = one_of_each()
    record = f"{LIST}{story.pk}/"
    pages = [
        ("/login/", None),
        (LIST, operator),
        (f"{LIST}?status=open&has_unknown=true&period=nonsense", operator),
        (f"{LIST}?q=nothing", operator),
        (record, operator),
        (f"{LIST}00000000-0000-0000-0000-000000000000/", operator),
        (LIST, a_user("rui")),
    ]

    violations = []
    for path, user in pages:
        page = open_page(path, user=user, width=width, locale=locale, color_scheme=scheme)
        for details in page.locator("details").all():
            details.evaluate("element => { element.open = true }")
        for violation in Axe().run(page).response["violations"]:
            violations += [(path, violation["id"], node["html"]) for node in violation["nodes"]]

    assert violations == []


def test_everything_works_by_keyboard_alone(open_page, operator, live_server):
    story = a_whole_story()
    page = open_page("/login/")

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Ir para o conteúdo")).to_be_focused()
    page.get_by_label("Usuário").focus()
    page.keyboard.type("ana")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(live_server.url + LIST)
    tab_to(page, page.get_by_label("Item, protocolo ou id da transação"))
    page.keyboard.type("falados")
    page.keyboard.press("Enter")
    expect(page).to_have_url(
        live_server.url + LIST + "?q=falados&tool=&period=&channel=&multi_item_status=&review_state="
    )
    tab_to(page, page.get_by_role("link", name="encerrar_assinaturas"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(live_server.url + f"{LIST}{story.pk}/")
    answer = page.locator("summary", has_text="Resposta bruta")
    tab_to(page, answer)
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Resposta bruta")).to_be_visible()


def tab_to(page, target, most=80):
    for _ in range(most):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            return
    pytest.fail("Tab does not lead there")


def test_targets_can_be_hit(open_page, operator):
    story = one_of_each()
    wanted = (
        "button, summary, select, input:not([type=hidden]), .chips a, .menu a, .button, .jump a, .back, .list .tool"
    )

    small = []
    for path in (LIST, f"{LIST}{story.pk}/"):
        page = open_page(path, user=operator, width=390)
        for target in page.locator(wanted).all():
            box = target.bounding_box()
            # A tick box is as large as the label around it.
            is_tick = target.evaluate("element => element.type === 'checkbox'")
            if box and not is_tick and (box["width"] < 24 or box["height"] < 24):
                small.append((target.inner_text(), box))

    assert small == []


@pytest.mark.parametrize("width", [320, 390, 640])
def test_pages_fit_small_screens_and_high_zoom(open_page, operator, width):
    # 640 px is a window of 1280 px at 200 %.
    story = one_of_each()
    a_transaction(tool="um_nome_muito_comprido_" * 6, items=[("x" * 200, ItemStatus.FAILED)])

    for path in ("/login/", LIST, f"{LIST}{story.pk}/"):
        page = open_page(path, user=operator if path != "/login/" else None, width=width)
        for details in page.locator("details").all():
            details.evaluate("element => { element.open = true }")
        assert not is_wider_than_its_window(page), path


def test_on_a_phone_every_cell_says_its_column(open_page, operator):
    a_whole_story()

    page = open_page(LIST, user=operator, width=390)

    row = page.get_by_role("row").filter(has_text="encerrar_assinaturas")
    label = row.get_by_role("cell").nth(2).evaluate("cell => getComputedStyle(cell, '::before').content")
    assert label == '"Itens"'
    expect(row.get_by_text("2/3")).to_be_visible()
    expect(row.get_by_text("Parcial")).to_be_visible()


# What people do -----------------------------------------------------------------------------------


def test_the_language_is_switched_in_place(open_page, operator, live_server):
    page = open_page(f"{LIST}?status=FAILED", user=operator)
    expect(page.get_by_role("heading", name="Transações")).to_be_visible()

    page.get_by_role("button", name="English").click()

    expect(page.get_by_role("heading", name="Transactions")).to_be_visible()
    expect(page).to_have_url(live_server.url + LIST + "?status=FAILED")
    expect(page.get_by_role("button", name="English")).to_have_attribute("aria-pressed", "true")


def test_a_protocol_is_copied_and_that_is_announced(open_page, operator):
    story = a_whole_story()
    page = open_page(f"{LIST}{story.pk}/", user=operator, permissions=["clipboard-read", "clipboard-write"])

    page.get_by_role("button", name="Copiar o protocolo PRT-881").click()

    expect(page.get_by_role("status")).to_have_text("Copiado: PRT-881")
    assert page.evaluate("navigator.clipboard.readText()") == "PRT-881"


def test_a_chip_filters_and_the_filters_survive_a_reload(open_page, operator):
    a_transaction(Status.FAILED, tool="uma")
    a_transaction(Status.SUCCESS, tool="outra")
    page = open_page(LIST, user=operator)

    page.get_by_role("link", name="Falhas 1").click()
    page.reload()

    expect(page.get_by_role("link", name="uma", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="outra", exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name="Falhas 1")).to_have_attribute("aria-current", "true")


def test_signing_out_ends_at_the_login_page(open_page, operator, live_server):
    page = open_page(LIST, user=operator)

    page.get_by_role("button", name="Sair").click()

    expect(page).to_have_url(live_server.url + "/login/")
    page.goto(live_server.url + LIST)
    expect(page.get_by_role("heading", name="Entrar")).to_be_visible()


def test_without_scripts_everything_can_be_read_and_nothing_is_offered_in_vain(open_page, operator):
    story = a_whole_story()

    page = open_page(f"{LIST}{story.pk}/", user=operator, java_script_enabled=False)

    page.locator("summary", has_text="Resposta bruta").click()
    expect(page.get_by_role("group", name="Resposta bruta")).to_be_visible()
    expect(page.locator("button[data-copy]").first).to_be_hidden()


def test_hostile_names_run_nothing(open_page, operator):
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    transaction = a_transaction(
        tool=evil, items=[(evil, ItemStatus.SUCCEEDED)], conversation=a_conversation(identity={"customer_key": evil})
    )

    for path in (LIST, f"{LIST}{transaction.pk}/"):
        page = open_page(path, user=operator)
        expect(page.get_by_role("main")).to_contain_text("<img src=x onerror=alert(1)>")
        assert page.locator("main img, main script").count() == 0
