"""Importing files in a real browser: chosen and pasted, with the keyboard only, and on a narrow window."""

import pytest
from django.contrib.auth.models import Permission
from playwright.sync_api import expect

from tests.browser.pages import is_wider_than_its_window, press_until, violations
from tests.builders import a_user
from tests.loading import DEFINITIONS
from tests.tooling.uploading import without_folders, zip_of
from tooling import publishing, yaml_io
from tooling.models import Release

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SLOW = 20_000
"""Milliseconds for a page that writes and checks everything, on a machine that is busy."""
PAGE = "/admin/tooling/import-files/"
LONG = "version: 1\ntools:\n" + "".join(f"  {'tool' * 20}{n}: 5\n" for n in range(12))


@pytest.fixture
def bia():
    user = a_user("bia", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="tooling"))
    return user


@pytest.fixture(autouse=True)
def _python_is_allowed(settings):
    settings.MCP_STDIO_COMMANDS = ["python"]


def set_of(name):
    return yaml_io.read_sets([DEFINITIONS / name], stdio_commands=["python"]).definitions


def chosen(name):
    """The files of a set, for the field of the page."""
    return [
        {"name": file, "mimeType": "", "buffer": data} for file, data in without_folders(DEFINITIONS / name).items()
    ]


def archive(name):
    return {"name": f"{name}.zip", "mimeType": "application/zip", "buffer": zip_of(DEFINITIONS / name)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("locale", "width"), [("pt-BR", 1280), ("en", 320)])
def test_no_step_has_an_accessibility_violation_or_is_wider_than_its_window(open_page, bia, locale, width, scheme):
    def check(page):
        assert violations(page) == []
        assert not is_wider_than_its_window(page)

    publishing.replace_draft(set_of("contas"))
    page = open_page(PAGE, user=bia, width=width, locale=locale, color_scheme=scheme)
    check(page)
    page.locator("#id_text").fill(LONG)
    page.locator(".submit-row input").click()
    expect(page.locator("#problems .finding-error").first).to_be_visible()
    check(page)
    page.locator("#id_text").fill("")
    page.locator("#id_files").set_input_files([archive("legacy")])
    page.locator(".submit-row input").click()
    expect(page.locator("input[name=step]")).to_have_count(1)
    check(page)


def test_a_text_is_imported_with_the_keyboard_only_after_its_fault_was_corrected(open_page, bia):
    page = open_page("/admin/tooling/tool/", user=bia)

    press_until(page, page.get_by_role("link", name="Importar arquivos…"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Importar arquivos", exact=True)).to_be_visible()
    press_until(page, page.get_by_label("Nome do arquivo:"))
    page.keyboard.type("llm_profiles.yaml")
    press_until(page, page.get_by_label("Texto:"))
    page.keyboard.type("version: 1\nprofiles: {own: 5}\n")
    press_until(page, page.get_by_role("button", name="Mostrar o que mudaria…"))
    page.keyboard.press("Enter")
    expect(page.locator("#problems")).to_contain_text("llm_profiles.yaml:2:17: own: era esperado um mapa")
    assert not publishing.draft().profiles
    press_until(page, page.get_by_label("Texto:"))
    page.keyboard.press("Control+A")
    page.keyboard.type("version: 1\nprofiles: {own: {model: m}}\n")
    press_until(page, page.get_by_role("button", name="Mostrar o que mudaria…"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("Novo perfil de modelo de linguagem own")).to_be_visible()
    press_until(page, page.get_by_role("button", name="Gravar no rascunho"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("O rascunho agora está como os arquivos dizem.")).to_be_visible()
    assert set(publishing.draft().profiles) == {"own"}


def test_files_that_were_chosen_are_written_as_shown_and_published_by_nobody(open_page, bia):
    publishing.replace_draft(set_of("contas"))
    page = open_page(PAGE, user=bia, locale="en")

    page.get_by_label("Files:").set_input_files(chosen("pedidos"))
    page.get_by_role("button", name="Show what would change…").click()
    expect(page.get_by_text("New tool consultar_pedidos")).to_be_visible()
    expect(page.get_by_text("things of the draft are not in the files")).to_be_visible()
    press_until(page, page.get_by_role("button", name="Write into the draft"))
    page.keyboard.press("Enter")

    expect(page.get_by_text("The draft holds what the files say.")).to_be_visible(timeout=SLOW)
    assert publishing.draft() == set_of("pedidos")
    assert not Release.objects.exists()


def test_a_draft_that_somebody_changed_meanwhile_is_told_and_the_files_stay(open_page, bia):
    page = open_page(PAGE, user=bia, locale="en")
    page.get_by_label("Files:").set_input_files([archive("contas")])
    page.get_by_role("button", name="Show what would change…").click()
    expect(page.get_by_text("New tool listar_servicos")).to_be_visible()

    publishing.change_draft(set_of("pedidos"), kinds=publishing.ALL_KINDS, author="bruno")
    page.get_by_role("button", name="Write into the draft").click()

    expect(page.get_by_text("The draft was changed by “bruno”")).to_be_visible()
    expect(page.get_by_text("Tool consultar_pedidos removed")).to_be_visible()
    assert publishing.draft() == set_of("pedidos")
    page.get_by_role("button", name="Write into the draft").click()
    expect(page.get_by_text("The draft holds what the files say.")).to_be_visible(timeout=SLOW)
    assert set(publishing.draft().tools) == set(set_of("contas").tools)
