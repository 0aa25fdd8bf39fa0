"""The administration of definitions in a real browser: change, read the warnings, publish, roll back (ux.md §1.2)."""

from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import Permission
from playwright.sync_api import expect

from tests.browser.pages import is_wider_than_its_window
from tests.builders import PASSWORD, a_user, a_whole_story, an_api_key
from tests.tooling.conftest import read
from tooling import publishing
from tooling.models import Policy, Release, Tool
from tooling.specs import Definitions, Text

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ACTION = "cancelar_vas_avulso"
PUBLISH = "/admin/tooling/release/publish/"
RUNTIME = (
    "disclosure",
    "channel",
    "apikey",
    "conversation",
    "turn",
    "transaction",
    "item",
    "attempt",
    "confirmation",
    "event",
)


@pytest.fixture
def definitions(settings):
    """Both sets of the tests, as draft and as release 1."""
    settings.MCP_STDIO_COMMANDS = ["python"]
    both = read("contas", "pedidos")
    publishing.replace_draft(both)
    publishing.publish(comment="first")
    return both


@pytest.fixture
def bia():
    """A business administrator who may also look at the runtime's rows."""
    user = a_user("bia", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label__in=["tooling", "transactions"]))
    return user


def a_draft_with_everything(both):
    """A draft that changes, adds and removes things, with long texts, an error and a warning."""
    policy, tool = both.policy(ACTION), both.tools[ACTION]
    publishing.replace_draft(
        replace(
            both,
            tools=dict(both.tools)
            | {
                ACTION: replace(tool, description=Text("palavra " * 90)),
                "nova": replace(tool, name="nova", description=Text("x" * 300)),
            },
            policies=dict(both.policies)
            | {
                ACTION: replace(policy, requires=(), require_confirmation=False),
                "nova": replace(policy, tool="nova", requires=("nada",)),
            },
        )
    )


def pages():
    """The pages of the runtime's rows, and those of definitions that are long; the others have a test of their own."""
    tool = Tool.objects.get(name=ACTION)
    long = [PUBLISH, "/admin/tooling/release/1/roll-back/", f"/admin/tooling/tool/{tool.pk}/change/"]
    return [*long, *(f"/admin/transactions/{name}/" for name in RUNTIME)]


# Accessibility and size ---------------------------------------------------------------------------


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("locale", "width", "scheme"), [("pt-BR", 1280, "light"), ("en", 390, "dark")])
def test_no_page_has_an_accessibility_violation(open_page, bia, definitions, locale, width, scheme):
    a_whole_story()
    an_api_key()
    a_draft_with_everything(definitions)
    publishing.replace_draft(definitions)
    Policy.objects.filter(tool__name=ACTION).update(fail_open=True)
    publishing.publish(comment="second")
    a_draft_with_everything(definitions)

    violations = []
    page = open_page("/admin/", user=bia, width=width, locale=locale, color_scheme=scheme)
    for path in pages():
        page.goto(page.url.split("/admin/")[0] + path)
        for details in page.locator("#content details").all():
            details.evaluate("element => { element.open = true }")
        for violation in Axe().run(page, options={"preload": False}).response["violations"]:
            violations += [(path, violation["id"], node["html"][:160]) for node in violation["nodes"]]

    assert violations == []


@pytest.mark.parametrize("width", [390, 1280])
def test_changes_and_warnings_fit_the_window_folded_and_open(open_page, bia, definitions, width):
    a_draft_with_everything(definitions)
    policies = Policy.objects.get(tool__name=ACTION)

    page = open_page(PUBLISH, user=bia, width=width)
    folded = page.evaluate("document.documentElement.scrollHeight")
    assert not is_wider_than_its_window(page)
    for details in page.locator("#content details").all():
        details.evaluate("element => { element.open = true }")
    assert not is_wider_than_its_window(page)
    assert folded < 4 * 900
    page.goto(page.url.replace(PUBLISH, f"/admin/tooling/policy/{policies.pk}/change/"))
    assert not is_wider_than_its_window(page)


def test_a_first_release_fits_the_window(open_page, bia, definitions):
    everything = publishing.diff(Definitions(), definitions)

    page = open_page(f"/admin/tooling/release/{Release.objects.get().pk}/change/", user=bia, width=390)

    expect(page.locator(".changes > li")).to_have_count(len(everything))
    assert page.evaluate("document.documentElement.scrollHeight") < 4 * 900
    assert not is_wider_than_its_window(page)


# What people do -----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 390])
def test_a_policy_is_changed_published_with_its_warnings_read_and_rolled_back(open_page, bia, definitions, width):
    page = open_page("/login/?next=/admin/", width=width)
    page.get_by_label("Usuário").fill("bia")
    page.get_by_label("Senha").fill(PASSWORD)
    page.get_by_role("button", name="Entrar").click()
    page.goto(page.url.replace("/admin/", f"/admin/tooling/policy/?q={ACTION}"))
    page.get_by_role("link", name=ACTION).first.click()

    page.get_by_label("seguir quando o validador não dá veredito", exact=False).check()
    page.get_by_role("button", name="Salvar", exact=True).first.click()
    expect(page.get_by_text(f"Salvo no rascunho: política “{ACTION}”.")).to_be_visible()
    expect(page.get_by_text("itens não validados vão passar").first).to_be_visible()
    page.get_by_role("link", name="Publicar…").click()
    expect(page.get_by_text("seguir quando o validador não dá veredito: não → sim")).to_be_visible()
    page.get_by_label("Comentário").fill("aberto enquanto o validador muda")
    page.get_by_label("Li os avisos").check()
    page.get_by_label("É isso mesmo").check()
    page.get_by_role("button", name="Publicar como versão 2").click()
    expect(page.get_by_text("aberto enquanto o validador muda")).to_be_visible()

    page.get_by_role("link", name="Restaurar esta versão…").click()
    expect(page.get_by_text("seguir quando o validador não dá veredito: sim → não")).to_be_visible()
    page.get_by_label("Comentário").fill("de volta")
    page.get_by_role("button", name="Publicar como versão 3").click()

    expect(page.get_by_text("de volta")).to_be_visible()
    assert publishing.draft() == definitions


def test_without_the_tick_the_warnings_are_shown_again_and_nothing_is_published(open_page, bia, definitions):
    Policy.objects.filter(tool__name=ACTION).update(requires=[])

    page = open_page(PUBLISH, user=bia, locale="en")
    page.get_by_label("Comment").fill("x")
    page.locator("form").last.evaluate("form => { form.noValidate = true }")
    page.get_by_role("button", name="Publish as release 2").click()

    expect(page.get_by_text("Read the warnings above and tick this before publishing.")).to_be_visible()
    expect(page.get_by_text("the confirmation cannot name what will be done")).to_be_visible()
    assert Release.objects.count() == 1


def test_a_long_name_is_refused_and_not_cut(open_page, bia, definitions):
    page = open_page("/admin/tooling/llmprofile/add/", user=bia)

    page.get_by_label("Nome").fill("x" * 101)
    page.get_by_role("button", name="Salvar", exact=True).first.click()

    expect(page.get_by_text("no máximo 100 caracteres").last).to_be_visible()
    assert page.get_by_label("Nome").input_value() == "x" * 101
