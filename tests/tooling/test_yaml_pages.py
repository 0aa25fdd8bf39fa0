"""The YAML tab of an object's page shows the same object as its form, and saving either way writes the same."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import translation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tooling import generated
from tests.tooling.admin_pages import Fields, change_url, fields_of, save
from tooling import publishing
from tooling.drafts import spec_of
from tooling.models import (
    DraftEdit,
    Intent,
    LlmProfile,
    McpServer,
    ParameterMapping,
    Policy,
    RouterSettings,
    Tool,
)
from tooling.specs import Definitions, MappingSpec
from tooling.yaml_objects import read_object, write_object

pytestmark = pytest.mark.django_db
MODELS = [McpServer, Tool, Policy, ParameterMapping, Intent, LlmProfile, RouterSettings]
ACTION = "cancelar_vas_avulso"


@pytest.fixture(autouse=True)
def _python_is_allowed(settings: Any) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


@pytest.fixture
def tool(both: Definitions) -> Tool:
    return Tool.objects.get(name=ACTION)


def yaml_url(row: Any) -> str:
    return reverse(f"admin:tooling_{row._meta.model_name}_yaml", args=[row.pk])


def text_of(client: Client, url: str) -> str:
    return str(fields_of(client, url)["text"][0])


def told(response: Any) -> list[str]:
    """The problems that the page lists."""
    listed = re.search(r'class="troubles" id="text_error">(.*?)</ul>', response.content.decode(), re.DOTALL)
    return re.findall(r"<li>(.*?)</li>", listed[1]) if listed else []


def replaced(client: Client, url: str, old: str, new: str, **more: str) -> Any:
    """Open the tab, replace ``old`` in its text and save."""
    fields = fields_of(client, url)
    text = fields["text"][0]
    assert old in text
    return client.post(url, fields | {"text": text.replace(old, new)} | more)


# The same object ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_saving_the_text_that_nobody_touched_changes_nothing(ana: Client, both: Definitions, model: Any):
    rows = list(model._default_manager.all())
    edits = DraftEdit.objects.count()

    for row in rows:
        url = yaml_url(row)
        assert ana.post(url, fields_of(ana, url)).status_code == 302

    assert rows and publishing.draft() == both
    assert DraftEdit.objects.count() == edits


def test_what_the_yaml_saves_is_what_the_form_saves(ana: Client, tool: Tool):
    by_form = save(ana, change_url(tool), **{"selection_keywords": "a\r\nb", "arguments-0-user_prompt_first": "Qual?"})
    saved = spec_of(Tool.objects.get(pk=tool.pk))
    written = write_object(saved)
    publishing.replace_draft(publishing.draft())
    save(ana, change_url(tool), **{"selection_keywords": "", "arguments-0-user_prompt_first": ""})

    response = ana.post(yaml_url(tool), fields_of(ana, yaml_url(tool)) | {"text": written})

    assert by_form == [] and response.status_code == 302
    assert spec_of(Tool.objects.get(pk=tool.pk)) == saved
    assert fields_of(ana, change_url(tool))["arguments-0-user_prompt_first"] == ["Qual?"]


def test_a_change_is_on_record_with_its_author(ana: Client, tool: Tool):
    replaced(ana, yaml_url(tool), "enabled: true", "enabled: false")

    assert not Tool.objects.get(pk=tool.pk).enabled
    edit = DraftEdit.objects.latest("pk")
    assert edit.by == "ana" and [change.path for change in edit.changes.all()] == [["tools", ACTION, "enabled"]]


def test_an_object_is_renamed(ana: Client, tool: Tool):
    assert replaced(ana, yaml_url(tool), f"  {ACTION}:", "  outro_nome:").status_code == 302

    draft = publishing.draft()
    assert "outro_nome" in draft.tools and ACTION not in draft.tools
    assert draft.policy("outro_nome").pre_validation.enabled


def test_the_mapping_for_all_tools_is_text_too(ana: Client, both: Definitions):
    row = ParameterMapping.objects.create(tool=None, map={"customer_key": "customer_key"})

    response = replaced(ana, yaml_url(row), "customer_key: customer_key", "contract_key: contract_key")

    assert response.status_code == 302
    assert spec_of(ParameterMapping.objects.get(pk=row.pk)) == MappingSpec("", {"contract_key": "contract_key"})


OBJECTS = (
    st.one_of(generated.tools, generated.profiles)
    .filter(lambda found: bool(found))
    .map(lambda found: next(iter(found.values())))
)


@given(OBJECTS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_object_comes_back_from_its_text(spec: Any):
    found = read_object(write_object(spec), spec, Definitions())

    assert all(not problem.code.startswith(("yaml.", "object.", "type.")) for problem in found.problems)
    assert found.spec is None or found.spec == spec


# From one tab to the other ------------------------------------------------------------------------


def test_what_was_typed_into_the_form_goes_along_to_the_yaml_and_is_not_saved(
    ana: Client, tool: Tool, both: Definitions
):
    fields = fields_of(ana, change_url(tool)) | {"selection_keywords": "nova palavra", "arguments-3-name": "novo"}

    page = ana.post(change_url(tool), fields | {"_as_yaml": "1"})

    text = Fields(page.content.decode()).data["text"][0]
    assert page.status_code == 200 and "nova palavra" in text and "novo: string" in text
    assert "This is not saved yet" in page.content.decode()
    assert publishing.draft() == both
    saved = ana.post(yaml_url(tool), Fields(page.content.decode()).data)
    assert saved.status_code == 302
    assert publishing.draft().tools[ACTION].selection_keywords == ("nova palavra",)


def test_a_form_with_an_error_stays_a_form(ana: Client, tool: Tool):
    fields = fields_of(ana, change_url(tool)) | {"name": "", "_as_yaml": "1"}

    assert Fields(ana.post(change_url(tool), fields).content.decode()).errors == ["This field is required."]


def test_the_way_back_to_the_form_is_free_where_nothing_changed(ana: Client, tool: Tool):
    response = ana.post(yaml_url(tool), fields_of(ana, yaml_url(tool)) | {"_to_form": "1"})

    assert (response.status_code, response["Location"]) == (302, change_url(tool))


def test_changes_of_the_yaml_are_not_dropped_on_the_way_to_the_form(ana: Client, tool: Tool, both: Definitions):
    page = replaced(ana, yaml_url(tool), "enabled: true", "enabled: false", _to_form="1")

    assert "changes that are not saved" in page.content.decode()
    assert "enabled: false" in Fields(page.content.decode()).data["text"][0]
    assert publishing.draft() == both
    saved = ana.post(yaml_url(tool), Fields(page.content.decode()).data | {"_save_to_form": "1"})
    assert saved["Location"] == change_url(tool)
    assert not Tool.objects.get(pk=tool.pk).enabled


def test_what_somebody_else_saved_meanwhile_is_shown_beside_ones_own_and_both_are_kept(ana: Client, tool: Tool):
    mine = fields_of(ana, yaml_url(tool))
    save(ana, change_url(tool), selection_keywords="theirs")

    page = ana.post(yaml_url(tool), mine | {"text": mine["text"][0].replace("enabled: true", "enabled: false")})

    html = page.content.decode()
    assert page.status_code == 409 and "Somebody else changed this meanwhile" in html
    assert "- theirs" in html.split("<textarea")[0]
    assert "enabled: false" in Fields(html).data["text"][0]
    assert publishing.draft().tools[ACTION].selection_keywords == ("theirs",)
    assert ana.post(yaml_url(tool), Fields(html).data).status_code == 302
    assert not Tool.objects.get(pk=tool.pk).enabled


# What is wrong with a text ------------------------------------------------------------------------

WRONG: list[tuple[Any, str, str, str]] = [
    (Tool, "enabled: true", "enabled: maybe", "Line 6, column 14: enabled: expected true or false"),
    (Tool, "enabled: true", "enabled: true\n    enabled: true", 'Line 7, column 5: duplicate key "enabled"'),
    (Tool, "mcp_server: contas", "mcp_server: nowhere", 'Line 5, column 17: mcp_server "nowhere"'),
    (Tool, "version: 1", "version: 1\ntool_policies: {}", ""),
    (Tool, f"  {ACTION}:", "  'a b':", "Line 3, column 3: "),
    (Tool, f"  {ACTION}:", "  other: {}\n  " + ACTION + ":", 'exactly one entry is expected below "tools", got 2'),
    (Tool, "enabled: true", "enabled: true\n    requires: [subject]", '"requires" belongs to the policy of the tool'),
    (Tool, "tools:", "tools: [", "Line "),
    (Policy, f"  {ACTION}:", "  listar_servicos:", f'this belongs to the tool "{ACTION}"'),
    (Policy, "max_items: 20", "max_items: 0", "most items at once 0 is not between"),
    (Policy, "idempotency: key", "idempotency: always", 'idempotency "always" is none of'),
]


@pytest.mark.parametrize(("model", "old", "new", "error"), WRONG)
def test_a_wrong_text_is_refused_with_its_line_and_column_and_kept(
    ana: Client, both: Definitions, model: Any, old: str, new: str, error: str
):
    row = Tool.objects.get(name=ACTION) if model is Tool else Policy.objects.get(tool__name=ACTION)

    page = replaced(ana, yaml_url(row), old, new)

    if not error:
        assert page.status_code == 302  # An unknown key is only warned of.
        return
    assert page.status_code == 200
    assert any(error.replace('"', "&quot;") in one for one in told(page)), told(page)
    assert new in Fields(page.content.decode()).data["text"][0].replace("\r\n", "\n")
    assert publishing.draft() == both


def test_a_secret_is_refused_like_in_the_form(ana: Client, both: Definitions):
    row = McpServer.objects.get(name="contas")
    fields = fields_of(ana, yaml_url(row))
    text = f"mcp_servers:\n  contas:\n    endpoint: {row.endpoint}\n    headers: {{Authorization: Bearer abc}}\n"

    page = ana.post(yaml_url(row), fields | {"text": text})

    assert len(told(page)) == 1 and "literal secret" in told(page)[0]
    assert "abc" not in str(McpServer.objects.values_list("headers", flat=True))


def test_a_name_that_is_taken_is_refused(ana: Client, tool: Tool):
    page = replaced(ana, yaml_url(tool), f"  {ACTION}:", "  listar_servicos:")

    assert "another one called “listar_servicos”" in page.content.decode()


def test_what_another_object_may_still_correct_is_saved_and_told(ana: Client, both: Definitions):
    row = Policy.objects.get(tool__name=ACTION)

    response = replaced(ana, yaml_url(row), "- subject", "- later")

    assert response.status_code == 302
    said = [str(message) for message in ana.get(response["Location"]).context["messages"]]
    assert any(one.startswith("Correct before publishing: ") and '"later"' in one for one in said)


@pytest.mark.parametrize("text", ["", "~", "[]", "tools:", "\u202e", "a: &x [*x]", "x" * 300_000, "[" * 5000])
def test_hostile_and_empty_texts_are_refused(ana: Client, tool: Tool, both: Definitions, text: str):
    page = ana.post(yaml_url(tool), fields_of(ana, yaml_url(tool)) | {"text": text})

    assert page.status_code == 200 and told(page)
    assert publishing.draft() == both


def test_a_text_is_only_a_text(ana: Client, tool: Tool):
    page = ana.post(yaml_url(tool), {"text": "</textarea><script>alert(1)</script>", "seen_of_draft": "<script>"})

    assert "<script>alert" not in page.content.decode()


def test_errors_are_told_in_portuguese(ana: Client, tool: Tool):
    ana.cookies["django_language"] = "pt-br"

    page = replaced(ana, yaml_url(tool), "enabled: true", "enabled: maybe")

    assert told(page)[0].startswith("Linha 6, coluna 14: ")
    with translation.override("en"):
        assert "Nothing is saved yet" not in page.content.decode()


# Who may ------------------------------------------------------------------------------------------


def test_who_may_only_look_reads_the_yaml_and_cannot_save_it(client: Client, tool: Tool, both: Definitions):
    user = User.objects.create_user("rui", password=None, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_tool"))
    client.force_login(user)

    page = client.get(yaml_url(tool))

    assert page.status_code == 200 and "<textarea" not in page.content.decode()
    assert client.post(yaml_url(tool), {"text": "tools: {}"}).status_code == 403
    assert client.get(yaml_url(tool.policy)).status_code == 403
    client.logout()
    assert client.get(yaml_url(tool)).status_code == 302
    assert publishing.draft() == both


def test_a_workflow_has_no_second_tab_for_its_form_is_the_text(ana: Client, both: Definitions):
    assert ana.get("/admin/tooling/workflow/1/yaml/").status_code in (302, 404)
    assert b"_as_yaml" not in ana.get("/admin/tooling/workflow/add/").content
