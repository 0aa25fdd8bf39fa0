"""Checking the contract of a tool in a real browser, with the keyboard only, and on a narrow window."""

import os

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import Permission
from playwright.sync_api import expect

from tests.browser.pages import press_until
from tests.builders import a_user
from tests.tooling.contract_servers import Till, a_till, listing
from tooling.models import Tool, ToolGrade

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.timeout(180)]
WAIT = 30_000
"""Milliseconds that a step which asks the live server may take on a busy machine."""
LONG = "boleto-de-nome-muito-comprido-" * 8


@pytest.fixture
def bia():
    user = a_user("bia", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="tooling"))
    return user


def page_of(name="cancelar"):
    return f"/admin/tooling/tool/{Tool.objects.get(name=name).pk}"


def check(page, name=""):
    for details in page.locator("#content details").all():
        details.evaluate("element => { element.open = true }")
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)
    found = Axe().run(page, options={"preload": False}).response["violations"]
    assert [(one["id"], node["html"][:160]) for one in found for node in one["nodes"]] == []
    assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("locale", "width"), [("pt-BR", 1280), ("en", 320)])
def test_no_step_has_an_accessibility_violation_or_is_wider_than_its_window(open_page, bia, locale, width, scheme):
    at = f"{locale}-{width}-{scheme}"
    spoiled = Till(lambda till, rows: {"results": [*rows, {"boleto": LONG, "success": True}]}, honours_keys=False)
    with a_till(spoiled):
        page = open_page(f"{page_of()}/contract/", user=bia, width=width, locale=locale, color_scheme=scheme)
        check(page, f"1-none-{at}")
        page.locator("input[type=submit].default").click()
        expect(page.locator("button[value=run]")).to_be_visible(timeout=WAIT)
        check(page, f"2-plan-{at}")
        page.locator("button[value=run]").click()
        expect(page.locator(".grade-unsafe").first).to_be_visible(timeout=WAIT)
        check(page, f"3-unsafe-{at}")
        Tool.objects.filter(name="cancelar").update(description="Outra.")
        page.reload()
        expect(page.locator("p.finding-warning")).to_be_visible()
        check(page, f"4-old-{at}")
        page.goto(page.url.split("/tool/")[0] + "/tool/")
        expect(page.locator(".grade-unsafe")).to_be_visible()
        check(page, f"5-list-{at}")


@pytest.mark.parametrize(("locale", "width"), [("pt-BR", 320), ("en", 1280)])
def test_what_may_not_be_called_and_what_lacks_values_is_readable(open_page, bia, locale, width):
    bare = [{**each, "_meta": {}} for each in listing()]
    with a_till(listed=bare):
        page = open_page(f"{page_of()}/contract/", user=bia, width=width, locale=locale)
        page.locator("input[type=submit].default").click()
        expect(page.locator(".finding-error")).to_be_visible(timeout=WAIT)
        expect(page.locator("button[value=run]")).to_have_count(0)
        check(page, f"6-no-sandbox-{locale}-{width}")
        page.goto(page.url.split("/admin/")[0] + f"{page_of('validar')}/contract/")
        page.locator("input[type=submit].default").click()
        expect(page.locator(".errorlist")).to_be_visible(timeout=WAIT)
        check(page, f"7-values-{locale}-{width}")


def test_a_contract_is_checked_with_the_keyboard_only(open_page, bia):
    with a_till():
        page = open_page(f"{page_of()}/change/", user=bia)

        press_until(page, page.get_by_role("link", name="Verificar contrato…"))
        page.keyboard.press("Enter")
        expect(page.get_by_text("Esta ferramenta ainda não foi verificada.")).to_be_visible()
        press_until(page, page.get_by_role("button", name="Mostrar o que seria chamado…"))
        page.keyboard.press("Enter")
        promise = page.get_by_text("O servidor diz que nada acontece enquanto o argumento dry_run for true")
        expect(promise).to_be_visible(timeout=WAIT)
        press_until(page, page.get_by_role("button", name="Fazer estas chamadas em ensaio"))
        page.keyboard.press("Enter")

        expect(page.get_by_text("Contrato de “cancelar” verificado: boa.")).to_be_visible(timeout=WAIT)
        expect(page.locator(".grade-line")).to_contain_text("boa")
    assert ToolGrade.objects.get().grade == "good"
