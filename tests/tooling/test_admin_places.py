"""Every finding leads to the page, and there to the field, on which it is corrected."""

import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from tests.tooling.admin_pages import fields_of
from tests.tooling.conftest import read
from tests.tooling.test_doubts import GOOD, RAISED
from tooling import publishing
from tooling.admin.places import Places
from tooling.doubts import doubts
from tooling.models import ParameterMapping, Policy, RouterSettings, Tool
from tooling.specs import Definitions


@pytest.fixture(autouse=True)
def allowed_commands(settings: Any) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


WHOLE_OBJECT = {"intent.no_words", "router.no_intents", "tool.not_offered"}
"""Of these no single field is at fault."""


def has(page: str, anchor: str) -> bool:
    return re.search(rf'\sid="{re.escape(anchor)}"', page) is not None


@pytest.mark.parametrize("code", RAISED)
def test_a_doubt_leads_to_its_field(code: str, ana: Client, db: None):
    changed = RAISED[code](GOOD)
    publishing.replace_draft(changed)
    (found,) = doubts(publishing.draft())

    url, _, anchor = Places().url_of(found.path).partition("#")
    page = ana.get(url).content.decode()

    assert "/change/" in url
    assert bool(anchor) is (code not in WHOLE_OBJECT)
    assert not anchor or has(page, anchor)


FIELDS = [
    ("mcp_servers", "contas", "endpoint"),
    ("mcp_servers", "contas", "headers", "Authorization"),
    ("tools", "cancelar_vas_avulso", "mcp_server"),
    ("tools", "cancelar_vas_avulso", "args_schema", "canal", "enum", "0"),
    ("tools", "cancelar_vas_avulso", "selection_keywords", "1"),
    ("tools", "cancelar_vas_avulso", "cache"),
    ("tool_policies", "cancelar_vas_avulso", "requires", "0"),
    ("tool_policies", "cancelar_vas_avulso", "max_items"),
    ("tool_policies", "cancelar_vas_avulso", "execution", "workflow"),
    ("mcp_parameter_mapping", "cancelar_vas_avulso", "map", "contract_key"),
    ("mcp_parameter_mapping", "listar_servicos", "extract", "categoria", "pattern"),
    ("intents", "cancelar_servicos", "examples", "0"),
    ("router", "confidence_threshold"),
    ("router", "confirmation_phrases", "en", "reject", "0"),
    ("profiles", "default", "temperature"),
    ("workflows", "devolucao_pedido", "1", "nodes", "0", "input"),
]


@pytest.mark.parametrize("path", FIELDS, ids=".".join)
def test_a_path_leads_to_its_field(path: tuple[str, ...], ana: Client, both: Definitions):
    url, _, anchor = Places().url_of(path).partition("#")

    assert has(ana.get(url).content.decode(), anchor)


def test_a_tool_without_a_policy_of_its_own_gets_one(ana: Client, both: Definitions):
    Policy.objects.filter(tool__name="listar_servicos").delete()

    url = Places().url_of(("tool_policies", "listar_servicos", "requires_identity"))

    assert url.endswith(f"/policy/add/?tool={Tool.objects.get(name='listar_servicos').pk}")
    assert ana.get(url).status_code == 200


def test_what_a_mapping_of_all_tools_fills_is_corrected_there(ana: Client, both: Definitions):
    ParameterMapping.objects.filter(tool__name="listar_servicos").delete()
    shared = ParameterMapping.objects.create(tool=None, map={"contract_key": "contract_key"})

    url = Places().url_of(("mcp_parameter_mapping", "listar_servicos", "map", "contract_key"))

    assert f"/parametermapping/{shared.pk}/change/#" in url


@pytest.mark.parametrize(
    "path",
    [
        ("tool_policies", "<no one> & co"),
        ("mcp_parameter_mapping", "gone", "map", "x"),
        ("workflows", "gone", "7", "nodes"),
        ("workflows", "gone"),
        ("tools", "gone", "args_schema", "x"),
        ("intents", "gone", "keywords", "0"),
        ("router",),
    ],
)
def test_what_is_not_there_leads_to_the_list_of_its_kind(path: tuple[str, ...], ana: Client, both: Definitions):
    RouterSettings.objects.all().delete()

    url = Places().url_of(path)
    response = ana.get(url, follow=True)

    assert response.status_code == 200
    assert "<no one>" not in response.content.decode()


def test_an_argument_that_is_not_there_leads_to_its_tool(ana: Client, both: Definitions):
    assert "#" not in Places().url_of(("tools", "listar_servicos", "args_schema", "gone", "enum"))


def test_many_findings_ask_the_database_few_times(both: Definitions, django_assert_max_num_queries: object):
    paths = [("tools", name, "args_schema", one) for name, tool in both.tools.items() for one in tool.argument_names]
    paths += [("tool_policies", name, "requires") for name in both.policies]
    places = Places()

    with django_assert_max_num_queries(3):
        urls = {places.url_of(path) for path in paths}

    assert len(urls) == len(paths)


def test_the_rows_of_arguments_are_counted_as_the_page_shows_them(ana: Client, db: None):
    publishing.replace_draft(read("contas"))
    tool = Tool.objects.get(name="cancelar_vas_avulso")
    tool.arguments.filter(name="subject").update(position=9)

    url, _, anchor = Places().url_of(("tools", tool.name, "args_schema", "subject")).partition("#")
    page = ana.get(url).content.decode()

    assert re.search(rf'<input[^>]*value="subject"[^>]*id="{anchor}"', page)


def test_a_second_version_of_a_workflow_has_its_own_page(ana: Client, both: Definitions):
    first = both.workflows["devolucao_pedido", 1]
    publishing.replace_draft(
        replace(both, workflows={**both.workflows, ("devolucao_pedido", 2): replace(first, version=2)})
    )
    places = Places()

    urls = {places.url_of(("workflows", "devolucao_pedido", version, "start")) for version in ("1", "2")}

    assert len(urls) == 2


def test_an_argument_is_called_by_its_name_whatever_that_is(ana: Client, db: None):
    publishing.replace_draft(RAISED["argument.no_question"](GOOD))

    page = ana.get("/admin/tooling/release/publish/").content.decode()

    assert "Tool cancel · argument order</a>" in page
    assert "Write the question as the customer should read it" in page


def test_after_saving_a_note_is_no_warning(ana: Client, db: None):
    publishing.replace_draft(RAISED["intent.keyword_inside"](GOOD))
    url = Places().url_of(("intents", "to_show"))

    page = ana.post(url, fields_of(ana, url), follow=True).content.decode()

    (told,) = re.findall(r'<li class="(\w+)">A message with', page)
    assert told == "info"
