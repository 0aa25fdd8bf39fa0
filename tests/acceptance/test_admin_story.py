"""A business admin changes a policy without fear, on real processes, while a customer waits at an old confirmation."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.acceptance.client import Chat, Event
from tests.acceptance.stack import Stack

pytestmark = [pytest.mark.acceptance, pytest.mark.browser, pytest.mark.timeout(240)]
TOOL = "cancelar_vas_avulso"
ASKED = "quero cancelar serviço: Música Mais, Livros Falados e Craque 10"
NAME, PASSWORD = "ana", "a long enough password"


@pytest.fixture
def stack(processes, tmp_path):
    """The product in one process, its servers and model beside it, and one business admin."""
    stack = Stack(processes, tmp_path)
    stack.start_servers()
    stack.start_model()
    stack.prepare()
    account = {"DJANGO_SUPERUSER_USERNAME": NAME, "DJANGO_SUPERUSER_PASSWORD": PASSWORD}
    account["DJANGO_SUPERUSER_EMAIL"] = "ana@example.org"
    processes.run("createsuperuser", "--noinput", env=stack.env | account)
    stack.wait_for_helpers()
    stack.serve("--embedded")
    return stack


@pytest.fixture
def admin(stack, chromium):
    """The administration in a browser that speaks Portuguese; fails if the security policy was broken."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_context(locale="pt-BR", base_url=stack.base).new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: complaints.append(line.text) if "Security Policy" in line.text else None)
        yield page
        browser.close()
    assert complaints == []


def asks(stack: Stack, customer: str) -> Chat:
    chat = stack.chat(customer=customer)
    chat.say(ASKED)
    return chat


def finished(chat: Chat) -> Event:
    return chat.wait_for("transaction.finished")


def log_in(page: Page) -> None:
    page.goto("/admin/")
    page.get_by_label("Usuário").fill(NAME)
    page.get_by_label("Senha").fill(PASSWORD)
    page.get_by_role("button", name="Entrar").click()


def open_policy(page: Page) -> None:
    page.goto("/admin/tooling/policy/")
    page.locator("#result_list").get_by_role("link", name=TOOL, exact=True).click()


def simulate(page: Page) -> None:
    page.goto("/admin/tooling/simulate/")
    page.get_by_label("O cliente escreve:").fill(ASKED)
    page.locator("summary", has_text="De onde, como quem e com quais definições").click()
    page.get_by_label("Quem escreve").fill("customer_key = C-9\ncontract_key = CT-9")
    page.get_by_role("button", name="Simular", exact=True).click()


def publish(page: Page, comment: str) -> None:
    page.get_by_label("Comentário").fill(comment)
    for box in page.locator("input[name=meant], input[name=read_warnings]").all():
        box.check()
    page.get_by_role("button", name=re.compile("^Publicar como versão")).click()


def test_a_policy_is_changed_seen_simulated_published_and_rolled_back_while_a_customer_waits(stack, admin):
    waiting = asks(stack, "C-1")
    confirmation = waiting.wait_for("confirmation.requested")

    # What she changes is explained where she changes it, and nothing is live yet.
    log_in(admin)
    open_policy(admin)
    expect(admin.locator("#content-main")).to_contain_text("Pede confirmação")
    admin.get_by_label("Pedir confirmação").uncheck()
    admin.get_by_label("Seguir quando o validador não dá veredito").check()
    admin.get_by_role("button", name="Salvar", exact=True).first.click()
    expect(admin.locator("body")).to_contain_text("Salvo no rascunho")
    assert asks(stack, "C-2").wait_for("confirmation.requested")

    # She tries a message: nothing is asked any more, and nothing is executed by trying.
    simulate(admin)
    expect(admin.locator("#content-main")).to_contain_text(f"{TOOL} seria chamado")
    expect(admin.locator("#content-main")).to_contain_text("Nada foi executado")
    assert stack.effects("contas") == []

    # She publishes, and says that she means it.
    admin.goto("/admin/tooling/release/publish/")
    expect(admin.locator("#in-words ~ ul.changes").first).to_contain_text("sem perguntar")
    publish(admin, "cancela sem perguntar")
    expect(admin.locator("body")).to_contain_text("versão 2")

    # Who asks now is not asked; who was asked before answers what was asked, on the old release.
    fast = asks(stack, "C-3")
    assert finished(fast)["data"]["status"] == "SUCCESS"
    assert not fast.of("confirmation.requested")
    waiting.press(confirmation["data"]["confirmation_id"], "confirm")
    assert finished(waiting)["data"]["status"] == "SUCCESS"
    old = stack.transaction(finished(waiting)["transaction_id"])
    assert (old["release"], [one["status"] for one in old["confirmations"]]) == (1, ["confirmed"])
    assert stack.transaction(finished(fast)["transaction_id"])["release"] == 2

    # She goes back, and customers are asked again.
    admin.goto("/admin/tooling/release/1/roll-back/")
    publish(admin, "volta a perguntar")
    expect(admin.locator("body")).to_contain_text("versão 3")
    assert asks(stack, "C-4").wait_for("confirmation.requested")
