"""The page that imports files: the command's messages, exactly the shown changes, and nothing of anybody lost."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.loading import DEFINITIONS
from tests.tooling.conftest import read
from tests.tooling.test_broken import BROKEN, broken_files, data_of
from tests.tooling.uploading import Importer, Page, command_says, without_folders, zipped
from tooling import publishing
from tooling.models import Release
from tooling.specs import Definitions

pytestmark = pytest.mark.django_db
GOOD = ["biblioteca", "contas", "pedidos"]
TOOLS = "version: 1\ntools:\n  listar: {mcp_server: contas, description: lists, tool_type: query}\n"


@pytest.fixture(autouse=True)
def _python_is_allowed(settings) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


@pytest.fixture
def page(ana: Client) -> Importer:
    return Importer(ana)


def shown_lines(page: Page) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.html))


# The same messages ----------------------------------------------------------------------------------


def without_directories(lines: list[str]) -> list[str]:
    return [re.sub(r"^(?:[^:/]*/)+", "", line) for line in lines]


def assert_says_the_same(page: Importer, folder: Path) -> None:
    told = command_says(folder)

    assert page.look_at(folder).problems == told
    assert page.look(without_folders(folder)).problems == without_directories(told)


@pytest.mark.parametrize("name", [*GOOD, "legacy"])
def test_a_whole_set_is_told_as_by_the_command_line_for_line(page: Importer, name: str):
    assert_says_the_same(page, DEFINITIONS / name)


@pytest.mark.parametrize("broken", broken_files(), ids=lambda broken: broken.name)
def test_a_broken_set_is_told_as_by_the_command_line_for_line(page: Importer, broken, copy_of):
    folder = copy_of(broken.set_name)
    (folder.parent / broken.replaces).write_bytes(data_of(broken))

    assert_says_the_same(page, folder)


@pytest.mark.parametrize("path", sorted(BROKEN.glob("*.yaml")), ids=lambda path: path.name)
def test_a_broken_file_alone_is_told_as_by_the_command_against_the_draft(page: Importer, published, path: Path):
    told = command_says(path)

    assert told
    assert page.look({path.name: path.read_bytes()}).problems == told


def test_two_sets_in_one_archive_are_one_set_as_for_the_command(page: Importer, copy_of, tmp_path: Path):
    copy_of("contas"), copy_of("pedidos")
    tools = tmp_path / "pedidos" / "tools.yaml"
    tools.write_text(tools.read_text("utf-8") + "  listar_servicos: {mcp_server: pedidos, description: x}\n", "utf-8")
    files = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    told = command_says(tmp_path / "contas", tmp_path / "pedidos")

    assert "differs from contas/tools.yaml" in told[0]
    assert page.look({"both.zip": zipped(files)}).problems == told


def test_a_misspelt_name_in_an_archive_is_told_as_in_a_directory(page: Importer, copy_of):
    folder = copy_of("contas")
    (folder / "routing.yaml").rename(folder / "rooting.yaml")

    told = command_says(folder)

    assert page.look_at(folder).problems == told
    assert "rooting.yaml" in told[0]


# What is written ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOOD)
def test_a_set_is_shown_and_then_written_and_nothing_is_published(page: Importer, name: str):
    shown = page.look_at(DEFINITIONS / name)
    before = publishing.draft()
    done = page.write(shown)

    assert before == Definitions()
    assert publishing.draft() == read(name)
    assert "The draft holds what the files say" in done.html
    assert not Release.objects.exists()


def test_what_is_shown_is_what_changes(page: Importer, published: Definitions):
    routing = (DEFINITIONS / "contas" / "routing.yaml").read_text("utf-8").replace("0.65", "0.9")

    shown = page.look(text=routing, name="routing.yaml")

    assert "confidence threshold: 0.65 → 0.9" in shown_lines(shown)
    page.write(shown)
    changes = publishing.diff(published, publishing.draft())
    assert [str(change) for change in changes] == ["~ router.confidence_threshold: 0.65 → 0.9"]


def test_a_kind_that_is_not_in_the_upload_stays(page: Importer, published: Definitions):
    files = {"tools.yaml": TOOLS.encode(), "routing.yaml": b"version: 1\nintents: []\n"}

    shown = page.look(files | {"tool_policies.yaml": b"version: 1\n", "mcp_parameter_mapping.yaml": b"version: 1\n"})
    page.write(shown)

    draft = publishing.draft()
    assert "Stay as they are: MCP servers, language model profiles, workflows." in shown_lines(shown)
    assert set(draft.tools) == {"listar"}
    assert (draft.servers, draft.profiles) == (published.servers, published.profiles)


def test_what_would_go_from_the_draft_is_counted_before_it_goes(page: Importer, published: Definitions):
    shown = page.look(text=(DEFINITIONS / "contas" / "mcp_servers.yaml").read_text("utf-8"), name="mcp_servers.yaml")
    assert "would be removed" not in shown.html

    profiles = page.look(text="version: 1\nprofiles: {}\n", name="llm_profiles.yaml")

    assert f"{len(published.profiles)} things of the draft are not in the files" in shown_lines(profiles)


def test_a_text_without_a_name_is_known_by_its_keys(page: Importer, published: Definitions):
    page.write(page.look(text="version: 1\nprofiles: {own: {model: m}}\n"))

    assert set(publishing.draft().profiles) == {"own"}


def test_the_servers_of_a_desktop_client_are_imported(page: Importer):
    text = (
        '{"mcpServers": {"shop": {"url": "https://x.example/mcp"}, "own": {"command": "python", "args": ["-m", "x"]}}}'
    )

    for shown in (page.look(text=text), page.look({"claude_desktop_config.json": text.encode()})):
        assert shown.problems == []
    page.write(shown)

    servers = publishing.draft().servers
    assert (servers["shop"].endpoint, servers["own"].command) == ("https://x.example/mcp", "python")


def test_a_command_of_a_desktop_client_that_is_not_allowed_is_refused_at_its_line(page: Importer, tmp_path: Path):
    path = tmp_path / "mcpServers.json"
    path.write_text('{"mcpServers": {\n  "own": {"command": "rm", "args": ["-rf", "/"]}}}')

    told = command_says(path)
    shown = page.look({path.name: path.read_bytes()})

    assert shown.problems == told
    assert 'mcpServers.json:2:22: command "rm" is not in the list' in told[0]
    assert not shown.can_write


def test_files_with_an_error_change_nothing_and_a_pasted_text_is_still_there(page: Importer, published: Definitions):
    shown = page.look(text="version: 1\ntools:\n  x: 5\n", name="tools.yaml")

    assert "tools.yaml:3:6: x: expected a mapping, got the number 5" in shown.problems
    assert not shown.can_write
    assert shown.fields["name"] == ["tools.yaml"]
    assert shown.fields["text"] == ["version: 1\r\ntools:\r\n  x: 5\r\n"]
    assert publishing.draft() == published


def test_files_that_say_what_the_draft_holds_offer_no_button(page: Importer, published: Definitions):
    shown = page.look_at(DEFINITIONS / "contas")

    assert "Nothing: the draft already holds what the files say." in shown.html
    assert 'value="Write into the draft"' not in shown.html


# Others at the same time ----------------------------------------------------------------------------


def test_a_draft_that_changed_meanwhile_is_told_with_its_author_and_the_files_are_kept(
    page: Importer, published: Definitions, client: Client
):
    shown = page.look(text="version: 1\nprofiles: {own: {model: m}}\n", name="llm_profiles.yaml")
    other = publishing.version_of(published)
    changed = read("contas", "pedidos")
    publishing.change_draft(changed, kinds=publishing.ALL_KINDS, author="bruno", seen=[other])

    told = page.write(shown)

    assert told.status == 409
    assert "The draft was changed by “bruno”" in told.messages()[0]
    assert publishing.draft() == changed
    page.write(told)
    assert set(publishing.draft().profiles) == {"own"}
    assert publishing.draft().tools == changed.tools


def test_a_button_that_is_pressed_twice_writes_once(page: Importer):
    shown = page.look_at(DEFINITIONS / "contas")

    page.write(shown)
    again = page.write(shown)

    assert "The draft already holds what the files say" in again.html
    assert publishing.draft() == read("contas")


def test_what_was_allowed_at_the_first_step_is_checked_again_at_the_second(page: Importer, settings):
    shown = page.look(text='{"mcpServers": {"own": {"command": "python"}}}')
    settings.MCP_STDIO_COMMANDS = []

    told = page.write(shown)

    assert 'command "python" is not in the list' in told.problems[0]
    assert publishing.draft() == Definitions()


# Who may --------------------------------------------------------------------------------------------


def test_the_page_needs_the_permissions_on_the_whole_draft(client: Client):
    user = User.objects.create_user("rui", is_staff=True)
    own = Permission.objects.filter(content_type__app_label="tooling")
    user.user_permissions.set(own.exclude(codename="delete_intent"))
    client.force_login(user)

    assert client.get("/admin/tooling/import-files/").status_code == 403
    assert client.post("/admin/tooling/import-files/", {"text": TOOLS}).status_code == 403
    assert client.post("/admin/tooling/import-files/", {"step": "write"}).status_code == 403


@pytest.mark.parametrize("is_staff", [False, None])
def test_strangers_are_sent_to_the_login_page(client: Client, is_staff: bool | None):
    if is_staff is not None:
        client.force_login(User.objects.create_user("rui", is_staff=is_staff))

    for response in (client.get("/admin/tooling/import-files/"), client.post("/admin/tooling/import-files/", {})):
        assert response.status_code == 302
        assert "/login/" in response["Location"]


@pytest.mark.parametrize("data", [{"text": TOOLS}, {"step": "write", "files": "x"}, {}])
def test_a_form_of_another_site_does_nothing(ana: Client, published: Definitions, data: dict[str, str]):
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = ana.cookies

    assert strict.post("/admin/tooling/import-files/", data).status_code == 403
    assert publishing.draft() == published


def test_what_a_page_carries_is_good_for_its_user_only_and_cannot_be_changed(page: Importer, client: Client):
    shown = page.look_at(DEFINITIONS / "contas")
    held = shown.fields["files"][0]
    shown.fields["files"] = [held[:-1] + ("A" if held[-1] != "A" else "B")]
    refused = page.write(shown)

    root = Client()
    root.force_login(User.objects.create_superuser("root"))
    shown.fields["files"] = [held]
    another = Importer(root).write(shown)

    assert "choose the files again" in refused.html
    assert "escolha os arquivos de novo" in another.html
    assert publishing.draft() == Definitions()
