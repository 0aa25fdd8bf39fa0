"""Trying messages in a real browser: see what a changed policy does, keep it, and be told when a draft breaks it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.test_admin import is_wider_than_its_window
from tests.builders import a_user
from tests.rehearsal.reading import MESSAGE, a_reading_model, asking
from tests.rehearsal.test_simulating import ACTION, VALIDATOR, definitions
from tests.runtime import shop
from tooling import publishing
from tooling.draft_rights import DRAFT
from tooling.models import Policy
from transactions import execution, llm
from transactions.models import SimulationCase

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TRY = "/admin/tooling/simulate/"
CASES = f"{TRY}cases/"
PUBLISH = "/admin/tooling/release/publish/"


@pytest.fixture
def model():
    # As the server does at its start: the first page must not wait for two SDKs.
    llm.warm_up()
    execution.warm_up()
    with a_reading_model() as endpoint:
        yield endpoint


@pytest.fixture
def bia(model):
    """A business administrator, and a release whose validator blocks when it does not answer."""
    check = replace(definitions().policy(ACTION).pre_validation, fail_open=False)
    publishing.replace_draft(shop.with_policy(asking(model), ACTION, pre_validation=check))
    publishing.publish(comment="first")
    verbs = [f"tooling.{verb}_{kind}" for kind in DRAFT for verb in ("add", "change", "delete", "view")]
    return a_user("bia", "tooling.publish_release", "tooling.view_release", *verbs, is_staff=True)


def try_it(page, message=MESSAGE, *, answer="silent"):
    page.get_by_label("O cliente escreve:").fill(message)
    page.get_by_text("O que os validadores respondem").click()
    page.get_by_label(f"O que {VALIDATOR} faz:").select_option(answer)
    page.get_by_role("button", name="Simular", exact=True).click()


def keep(page, name):
    page.get_by_label("Nome:").fill(name)
    page.get_by_role("button", name="Salvar a simulação").click()


def picture(page, name):
    """Kept where SCREENSHOTS says, for whoever wants to look."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


def test_the_consequence_of_a_policy_is_seen_kept_and_guarded(open_page, bia):
    page = open_page(TRY, user=bia)
    try_it(page)
    expect(page.locator(".simulate-steps")).to_contain_text("nesse caso a política bloqueia")
    picture(page, "blocked")
    keep(page, "validador fora do ar")
    expect(page.locator("#content-main")).to_contain_text("como esperado")

    Policy.objects.filter(tool__name=ACTION).update(fail_open=True)
    page.goto(page.url.partition("/admin/")[0] + PUBLISH)
    expect(page.locator("#content-main")).to_contain_text("termina como “Aguardando confirmação”")
    page.locator(f'a[href^="{CASES}"]').click()
    page.get_by_role("link", name="validador fora do ar").click()
    expect(page.locator("#content-main")).to_contain_text("agora: Aguardando confirmação")
    picture(page, "differs")
    page.get_by_role("button", name="Aceitar o novo resultado").click()

    expect(page.locator("#content-main")).to_contain_text("como esperado")
    page.goto(page.url.partition("/admin/")[0] + PUBLISH)
    expect(page.locator("#content-main")).not_to_contain_text("Simulação salva")
    assert SimulationCase.objects.get().expected["status"] == "AWAITING_CONFIRMATION"


def test_the_conversation_goes_on_with_the_keyboard_alone(open_page, bia):
    page = open_page(TRY, user=bia)
    page.get_by_label("O cliente escreve:").focus()
    page.keyboard.type(MESSAGE)
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".simulate-steps")).to_contain_text("Com um sim")

    page.get_by_label("O cliente escreve:").focus()
    page.keyboard.type("sim")
    page.get_by_role("button", name="Continuar a simulação").focus()
    page.keyboard.press("Enter")

    expect(page.locator(".simulate-steps")).to_contain_text(f"{ACTION} seria chamado agora")
    expect(page.locator("#content-main")).to_contain_text("Nada foi executado.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("locale", "width"), [("pt-BR", 1280), ("pt-BR", 320), ("en", 320)])
def test_no_page_has_an_accessibility_violation_or_is_too_wide(open_page, bia, locale, width, scheme):
    page = open_page(TRY, user=bia, width=width, locale=locale, color_scheme=scheme)
    seen = [("empty", page.url)]
    page.locator("#id_message").fill(MESSAGE)
    page.locator("#try input[type=submit]").click()
    page.locator("#id_name").fill("dois serviços " + "x" * 60)
    violations = look(page, f"story-{locale}-{width}-{scheme}")
    page.locator("input[name=save]").click()
    violations += look(page, f"case-{locale}-{width}-{scheme}")
    case = page.url
    Policy.objects.filter(tool__name=ACTION).update(requires=[], require_confirmation=False)
    page.goto(case)
    violations += look(page, f"case-differs-{locale}-{width}-{scheme}")
    page.goto(seen[0][1] + "cases/")
    page.locator("#content-main input[type=submit].default").click()
    violations += look(page, f"cases-{locale}-{width}-{scheme}")
    page.goto(seen[0][1])
    page.locator("#try input[type=submit]").click()
    violations += look(page, f"errors-{locale}-{width}-{scheme}")

    assert violations == []


def look(page, name):
    """What is wrong with the page as it stands, everything unfolded."""
    page.evaluate("document.querySelectorAll('#content-main details').forEach(one => { one.open = true })")
    picture(page, name)
    violations = Axe().run(page, options={"preload": False}).response["violations"]
    found = [f"{name}: {one['id']} {[node['target'] for node in one['nodes']]}" for one in violations]
    return [*found, *([f"{name}: too wide"] if is_wider_than_its_window(page) else [])]
