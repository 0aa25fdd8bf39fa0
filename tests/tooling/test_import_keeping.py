"""Files that only add and change: what they do not name stays in the draft, by the command and by the page."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings

from tests.loading import DEFINITIONS
from tests.tooling.conftest import COMMANDS, read
from tests.tooling.generated import definitions
from tests.tooling.uploading import Importer, command_says
from tooling import publishing, yaml_io
from tooling.specs import Definitions, Text, ToolSpec, ToolType

DESKTOP = (
    b'{"mcpServers": {"shop": {"url": "https://x.example/mcp"}, "own": {"command": "python", "args": ["-m", "x"]}}}'
)
TOOL = b"version: 1\ntools:\n  listar: {mcp_server: contas, description: lists, tool_type: query}\n"


@pytest.fixture
def page(ana: Client, settings) -> Importer:
    settings.MCP_STDIO_COMMANDS = ["python"]
    return Importer(ana)


def test_the_servers_of_a_desktop_client_come_beside_those_of_the_draft(page: Importer, published: Definitions):
    shown = page.look({"claude_desktop_config.json": DESKTOP}, keep=True)
    page.write(shown)

    assert shown.problems == []
    assert "Added to and changed: MCP servers." in shown.html
    assert set(publishing.draft().servers) == {*published.servers, "shop", "own"}
    assert publishing.draft().tools == published.tools


def test_without_a_word_about_it_the_servers_that_a_file_does_not_name_go(page: Importer, published: Definitions):
    told = page.look({"claude_desktop_config.json": DESKTOP})

    assert any('mcp_server "contas" is not in mcp_servers.yaml' in line for line in told.problems)


def test_one_tool_is_added_and_one_is_changed_with_all_else_as_it_was(page: Importer, published: Definitions):
    name = "listar_servicos"
    one = replace(published.tools[name], description=Text("other"))
    listar = ToolSpec("listar", mcp_server="contas", description=Text("lists"), tool_type=ToolType.QUERY)
    changed = yaml_io.write(Definitions(tools={name: one, "listar": listar}))["tools.yaml"].encode()

    page.write(page.look({"tools.yaml": changed}, keep=True))

    draft = publishing.draft()
    assert set(draft.tools) == {*published.tools, "listar"}
    assert draft.tools[name].description.default == "other"
    assert draft.tools["cancelar_vas_avulso"] == published.tools["cancelar_vas_avulso"]
    assert draft.policies["cancelar_vas_avulso"] == published.policies["cancelar_vas_avulso"]
    assert (draft.intents, draft.router) == (published.intents, published.router)


@pytest.mark.parametrize("path", sorted((DEFINITIONS / "broken").glob("*.yaml")), ids=lambda path: path.name)
def test_files_that_only_add_are_told_as_by_the_command(page: Importer, published: Definitions, path: Path):
    told = command_says(path, options=("--keep",))

    assert page.look({path.name: path.read_bytes()}, keep=True).problems == told


def test_the_command_adds_and_publishes(page: Importer, published: Definitions, tmp_path: Path):
    (tmp_path / "tools.yaml").write_bytes(TOOL)

    told = command_says(tmp_path / "tools.yaml", action="import", options=("--keep", "--publish", "-m", "one more"))

    assert told == []
    assert set(publishing.draft().tools) == {*published.tools, "listar"}


def test_what_was_chosen_is_kept_with_a_text_that_has_a_fault(page: Importer, published: Definitions):
    told = page.look(text="version: 1\ntools: 5\n", keep=True)

    assert told.fields["keep"] == ["yes"]
    assert told.problems == ["pasted.yaml:2:8: tools: expected a mapping, got the number 5"]


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(made=definitions())
def test_adding_any_set_to_itself_or_to_nothing_is_that_set(made: Definitions):
    files = {name: text.encode() for name, text in yaml_io.write(made).items()}

    for base in (made, Definitions()):
        reading = yaml_io.read_files(files, stdio_commands=COMMANDS, base=base, keep=True)

        assert reading.definitions == made


def test_adding_a_set_to_another_keeps_both():
    files = {name: text.encode() for name, text in yaml_io.write(read("pedidos")).items()}

    both = yaml_io.read_files(files, stdio_commands=COMMANDS, base=read("contas"), keep=True).definitions

    assert both is not None
    assert set(both.tools) == {*read("contas").tools, *read("pedidos").tools}
    assert both.policies["cancelar_vas_avulso"] == read("contas").policies["cancelar_vas_avulso"]
    assert both.workflows == read("pedidos").workflows
