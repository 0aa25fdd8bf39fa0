"""Editing definitions in a real browser with the keyboard only, with scripts and without them."""

import pytest
from django.contrib.auth.models import Permission
from playwright.sync_api import expect

from tests.browser.pages import press_until
from tests.builders import a_user
from tests.tooling.conftest import read
from tooling import publishing
from tooling.models import Policy, Tool

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ACTION = "cancelar_vas_avulso"


@pytest.fixture
def tool(settings):
    settings.MCP_STDIO_COMMANDS = ["python"]
    publishing.replace_draft(read("contas", "pedidos"))
    publishing.publish(comment="first")
    return Tool.objects.get(name=ACTION)


@pytest.fixture
def bia():
    user = a_user("bia", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="tooling"))
    return user


def save(page):
    press_until(page, page.locator("input[name=_continue]").last)
    page.keyboard.press("Enter")
    expect(page.locator(".messagelist .success")).to_be_visible(timeout=30_000)


def names():
    return publishing.draft().tools[ACTION].argument_names


def test_arguments_are_added_moved_and_removed_with_the_keyboard_only(open_page, bia, tool):
    page = open_page(f"/admin/tooling/tool/{tool.pk}/change/", user=bia)
    assert names() == ("subject", "canal", "contract_key")

    press_until(page, page.get_by_role("button", name="Mover subject para baixo"))
    page.keyboard.press("Enter")
    expect(page.locator("#arguments-status")).to_have_text("subject agora é o número 2.")
    press_until(page, page.get_by_label("Remover contract_key"))
    page.keyboard.press("Space")
    press_until(page, page.get_by_role("button", name="Adicionar argumento"))
    page.keyboard.press("Enter")
    expect(page.locator("#id_arguments-3-name")).to_be_focused()
    page.keyboard.type("motivo")
    save(page)

    assert names() == ("canal", "subject", "motivo")


def test_the_same_is_done_without_scripts(open_page, bia, tool):
    page = open_page(f"/admin/tooling/tool/{tool.pk}/change/", user=bia, java_script_enabled=False, locale="en")

    expect(page.get_by_role("button", name="Add an argument")).to_be_hidden()
    expect(page.get_by_role("button", name="Move subject down")).to_be_hidden()
    page.locator("#id_arguments-0-position").fill("2")
    page.locator("#id_arguments-2-DELETE").check()
    page.locator("#id_arguments-3-name").fill("motivo")
    page.locator("input[name=_continue]").last.click()

    expect(page.locator(".messagelist .success")).to_be_visible(timeout=30_000)
    assert names() == ("canal", "subject", "motivo")


def test_the_way_from_an_error_on_top_leads_to_its_field(open_page, bia, tool):
    page = open_page(f"/admin/tooling/tool/{tool.pk}/change/", user=bia)

    page.locator("#id_arguments-1-name").fill("subject")
    page.locator("input[name=_continue]").last.click()
    press_until(page, page.get_by_role("link", name="Linha 2 · Nome"))
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")

    expect(page.locator("#id_arguments-1-position")).not_to_be_focused()
    assert page.url.endswith("#id_arguments-1-name")


def test_a_policy_is_edited_with_the_keyboard_and_warns_as_soon_as_a_value_is_risky(open_page, bia, tool):
    page = open_page(f"/admin/tooling/policy/{tool.policy.pk}/change/", user=bia)
    warning = page.get_by_text("são executados itens que ninguém verificou")
    expect(warning).to_be_hidden()

    press_until(page, page.locator("#id_fail_open"))
    page.keyboard.press("Space")
    expect(warning).to_be_visible()
    save(page)

    expect(page.get_by_text("se o validador estiver fora do ar: segue sem validar.")).to_be_visible()
    expect(warning).to_be_visible()
    assert Policy.objects.get(tool=tool).fail_open


@pytest.mark.parametrize("scripts", [True, False])
def test_what_was_typed_goes_from_the_form_to_the_yaml_and_is_saved_there(open_page, bia, tool, scripts):
    page = open_page(f"/admin/tooling/tool/{tool.pk}/change/", user=bia, java_script_enabled=scripts, locale="en")

    page.locator("#id_selection_keywords").fill("nova palavra")
    page.get_by_role("button", name="YAML").click()
    expect(page.get_by_text("This is not saved yet")).to_be_visible()
    text = page.get_by_label("The whole object, as in its file")
    text.fill(text.input_value().replace("nova palavra", "outra palavra"))
    page.get_by_role("button", name="Form").click()
    expect(page.get_by_text("The YAML has changes that are not saved.")).to_be_visible()
    page.get_by_role("button", name="Save in the draft and show the form").click()

    expect(page.locator("#id_selection_keywords")).to_have_value("outra palavra")


def test_the_enter_key_in_a_field_saves_and_does_not_change_the_tab(open_page, bia, tool):
    page = open_page(f"/admin/tooling/tool/{tool.pk}/change/", user=bia)

    page.locator("#id_name").press("Enter")

    expect(page.locator(".messagelist .success")).to_be_visible(timeout=30_000)
    assert page.url.endswith("/admin/tooling/tool/")
