"""Two administrators at once, and four eyes, in a real browser: conflicts lose nothing, makers approve nothing."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import Permission, User
from playwright.sync_api import expect

from tests.builders import a_user
from tests.tooling.conftest import read
from tooling import publishing
from tooling.models import Policy, PublishRequest, Release

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ACTION = "cancelar_vas_avulso"
PUBLISH = "/admin/tooling/release/publish/"


@pytest.fixture(autouse=True)
def _published(settings):
    settings.MCP_STDIO_COMMANDS = ["python"]
    publishing.replace_draft(read("contas", "pedidos"))
    publishing.publish(comment="first")


def an_admin(name, **more):
    user = a_user(name, is_staff=True, **more)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="tooling"))
    return user


def policy_path():
    return f"/admin/tooling/policy/{Policy.objects.get(tool__name=ACTION).pk}/change/"


def ticked(page, comment):
    page.get_by_label("Comentário").fill(comment)
    for box in page.locator("#content input[type=checkbox]").all():
        box.check()


def save(page, value):
    page.locator("#id_max_items").fill(value)
    page.get_by_role("button", name="Salvar", exact=True).first.click()


def is_clean(page):
    """No violation of accessibility, and nothing wider than the window."""
    for details in page.locator("#content details").all():
        details.evaluate("element => { element.open = true }")
    found = Axe().run(page, options={"preload": False}).response["violations"]
    assert [(one["id"], node["html"][:160]) for one in found for node in one["nodes"]] == []
    assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


@pytest.mark.parametrize("width", [1280, 320])
def test_of_two_who_publish_at_once_the_second_sees_both_changes_and_goes_on(open_page, client, width):
    ana = open_page(policy_path(), user=an_admin("ana"), width=width)
    save(ana, "7")
    ana.goto(ana.url.split("/admin/")[0] + PUBLISH)
    ticked(ana, "o comentário de ana")
    client.cookies.clear()  # Another browser: signing in there ends no session here.
    bia = open_page(policy_path(), user=an_admin("bia"), width=width)
    save(bia, "8")
    bia.goto(bia.url.split("/admin/")[0] + PUBLISH)
    ticked(bia, "o comentário de bia")
    bia.get_by_role("button", name="Publicar como versão 2").click()
    expect(bia.get_by_text("A versão 2 está publicada.").or_(bia.get_by_text("versão 2")).first).to_be_visible()
    bia.goto(bia.url.split("/admin/")[0] + policy_path())
    save(bia, "9")

    ana.get_by_role("button", name="Publicar como versão 2").click()
    expect(ana.get_by_text("bia publicou a versão 2", exact=False)).to_be_visible()
    expect(ana.get_by_text("O que ainda mudaria")).to_be_visible()
    is_clean(ana)
    assert ana.get_by_label("Comentário").input_value() == "o comentário de ana"
    ticked(ana, "o comentário de ana")
    ana.get_by_role("button", name="Publicar como versão 3").click()

    expect(ana.get_by_text("o comentário de ana").first).to_be_visible()
    assert [release.author for release in Release.objects.all()] == ["ana", "bia", ""]


@pytest.mark.parametrize("width", [1280, 320])
def test_who_saves_second_compares_and_decides_with_the_keyboard(open_page, client, width):
    ana = open_page(policy_path(), user=an_admin("ana"), width=width)
    client.cookies.clear()  # Another browser: signing in there ends no session here.
    bia = open_page(policy_path(), user=an_admin("bia"), width=width)
    save(bia, "8")
    ana.locator("#id_expires_after").fill("77")

    save(ana, "9")
    expect(ana.get_by_role("heading", name="Outra pessoa mudou isto enquanto você editava")).to_be_visible()
    expect(ana.get_by_text("os dois mudaram", exact=True)).to_be_visible()
    is_clean(ana)
    ana.get_by_role("button", name="Salvar o que eu mudei").focus()
    ana.keyboard.press("Enter")

    expect(ana.get_by_text(f"Salvo no rascunho: política “{ACTION}”.")).to_be_visible()
    saved = publishing.draft().policy(ACTION)
    assert (saved.max_items, saved.expires_after) == (9, 77)
    ana.goto(ana.url.split("/admin/")[0] + policy_path())
    ana.get_by_role("link", name="Histórico").click()
    expect(ana.locator("ol.edits > li")).to_have_count(2)
    is_clean(ana)


@pytest.mark.parametrize("width", [1280, 320])
def test_four_eyes_from_the_request_to_the_release_and_not_by_its_author(open_page, settings, width):
    settings.FOUR_EYES = True
    ana = open_page(policy_path(), user=an_admin("ana", is_superuser=True), width=width)
    save(ana, "7")
    ana.get_by_role("link", name="Publicar…").click()
    ticked(ana, "no máximo sete")
    is_clean(ana)
    ana.get_by_role("button", name="Pedir a publicação como versão 2").click()
    expect(ana.get_by_text("aguarda a aprovação de outra pessoa", exact=False)).to_be_visible()
    request = f"/admin/tooling/publishrequest/{PublishRequest.objects.get().pk}/change/"
    ana.goto(ana.url.split("/admin/")[0] + request)
    expect(ana.get_by_text("Você não pode decidir sobre ele", exact=False)).to_be_visible()
    expect(ana.get_by_role("button", name="Aprovar", exact=False)).to_have_count(0)
    is_clean(ana)
    User.objects.filter(username="ana").update(username="maria")

    rui = open_page(request, user=an_admin("rui"), width=width)
    is_clean(rui)
    rui.get_by_label("Vi as mudanças e os avisos").check()
    rui.get_by_role("button", name="Aprovar e publicar como versão 2").click()

    expect(rui.get_by_text("Publicado como versão 2", exact=False)).to_be_visible()
    rui.goto(rui.url.split("/admin/")[0] + "/admin/tooling/release/")
    is_clean(rui)
    release = Release.objects.first()
    assert (release.author, release.approver, release.comment) == ("ana", "rui", "no máximo sete")
    for path in ("draft/", "compare/?old=1&new=2", "1/roll-back/"):
        rui.goto(rui.url.split("/admin/")[0] + "/admin/tooling/release/" + path)
        is_clean(rui)
