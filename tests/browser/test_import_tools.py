"""Importing the tools of a live server in a real browser, with the keyboard only, and on a narrow window."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import Permission
from playwright.sync_api import expect

from tests.browser.pages import is_wider_than_its_window, press_until, violations
from tests.builders import a_user
from tests.tooling.mcp_servers import hostile
from tooling import publishing
from tooling.models import McpServer, Release
from tooling.specs import Definitions, ServerSpec, ToolType

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SCHEMA = {
    "type": "object",
    "properties": {"boleto": {"type": "string"}, "quando": {"oneOf": [{"type": "string"}, {"type": "object"}]}},
    "required": ["boleto"],
}
LISTING = [
    {"name": "pagar", "description": "Paga um boleto. " + "palavra" * 60, "inputSchema": SCHEMA},
    {"name": "listar", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {"name": "conhecida", "inputSchema": {"type": "object"}},
    {"name": "tem espaço " + "x" * 300, "inputSchema": {"type": "object"}},
]


@pytest.fixture
def shop():
    """A live server that the draft knows, with one tool imported already."""
    with hostile(listing=LISTING) as server:
        publishing.replace_draft(Definitions(servers={"loja": replace(server.spec, name="loja")}))
        from tooling import importing

        seen = importing.look("loja")
        importing.write(importing.plan(seen.discovery, {"conhecida": ToolType.QUERY}))
        yield McpServer.objects.get()


@pytest.fixture
def bia():
    user = a_user("bia", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="tooling"))
    return user


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("locale", "width"), [("pt-BR", 1280), ("en", 320)])
def test_no_step_has_an_accessibility_violation_or_is_wider_than_its_window(
    open_page, bia, shop, locale, width, scheme
):
    def check(page):
        assert violations(page) == []
        assert not is_wider_than_its_window(page)

    server = f"/admin/tooling/mcpserver/{shop.pk}"
    page = open_page(f"{server}/change/", user=bia, width=width, locale=locale, color_scheme=scheme)
    check(page)
    page.locator("button.object-tool").click()
    expect(page.locator(".messagelist li")).to_have_count(1)
    check(page)
    page.goto(page.url.replace("/change/", "/import/"))
    check(page)
    page.locator("input[name=tool]").first.check()
    page.locator(".submit-row input").click()
    expect(page.locator("input[name=seen]")).to_have_count(1)
    check(page)


def test_tools_are_imported_with_the_keyboard_only(open_page, bia, shop):
    page = open_page(f"/admin/tooling/mcpserver/{shop.pk}/change/", user=bia)

    press_until(page, page.get_by_role("button", name="Testar conexão"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("conectado em")).to_be_visible()
    press_until(page, page.get_by_role("link", name="Importar ferramentas…"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("Já no rascunho")).to_be_visible()
    press_until(page, page.get_by_label("Importar listar"))
    page.keyboard.press("Space")
    press_until(page, page.get_by_role("button", name="Mostrar o que seria adicionado…"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nada é publicado com isso.")).to_be_visible()
    press_until(page, page.get_by_role("button", name="Adicionar ao rascunho"))
    page.keyboard.press("Enter")

    expect(page.get_by_text("1 ferramenta foi adicionada ao rascunho: listar.")).to_be_visible()
    draft = publishing.draft()
    assert draft.tools["listar"].tool_type is ToolType.QUERY
    assert "pagar" not in draft.tools
    assert not Release.objects.exists()


def test_a_server_that_does_not_answer_is_told_on_its_page(open_page, bia):
    publishing.replace_draft(Definitions(servers={"loja": ServerSpec("loja", endpoint="http://127.0.0.1:9/mcp")}))
    server = McpServer.objects.get()

    page = open_page(f"/admin/tooling/mcpserver/{server.pk}/import/", user=bia, locale="en")

    expect(page.get_by_text("nobody answers there")).to_be_visible()
    assert page.url.endswith("/change/")
    assert violations(page) == []
