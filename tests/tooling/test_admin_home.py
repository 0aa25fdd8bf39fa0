"""The first page of the administration, and what a tool's page says of its neighbours."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from tests.tooling.admin_pages import add_url, change_url, save
from tooling.drift import Difference, Kind
from tooling.models import Intent, McpServer, Policy, ServerState, Tool, Workflow
from tooling.specs import Definitions
from tooling.uses import Role, Use, uses_of

pytestmark = pytest.mark.django_db
ACTION = "cancelar_vas_avulso"


@pytest.fixture(autouse=True)
def _python_is_allowed(settings: Any) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


def home(client: Client) -> str:
    response = client.get("/admin/")
    assert response.status_code == 200
    return str(response.content.decode())


def card(html: str, title: str) -> str:
    return next(one for one in html.split('<li class="card">')[1:] if f">{title}</a>" in one).split("</li>")[0]


def signed_in(client: Client, *codenames: str) -> Client:
    user = User.objects.create_user("rui", password=None, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client.force_login(user)
    client.cookies["django_language"] = "en"
    return client


# The first page -----------------------------------------------------------------------------------


def test_there_is_a_card_for_each_kind_with_how_many_there_are(ana: Client, both: Definitions):
    html = home(ana)

    assert '<p class="card-count">8</p>' in card(html, "Tools")
    assert '<p class="card-count">2</p>' in card(html, "MCP servers")
    assert "card-count" not in card(html, "Router settings")
    assert "The draft equals release 1" in html


def test_what_is_wrong_is_counted_on_its_card(ana: Client, both: Definitions):
    Policy.objects.filter(tool__name=ACTION).update(requires=["nothing"], require_confirmation=False)

    html = home(ana)

    assert "1 error keeps the draft from being published." in html
    assert "1 error</span>" in card(html, "Policies") and "warning" in card(html, "Policies")
    assert "nothing is wrong" in card(html, "MCP servers")


def test_the_next_steps_are_those_that_the_user_may_take(client: Client, ana: Client, both: Definitions):
    assert 'href="/admin/tooling/release/publish/"' in home(ana)

    html = home(signed_in(Client(), "view_tool"))

    assert "release/publish" not in html
    assert "Tools</a>" in html and "Policies</a>" not in html
    assert "Add</a>" not in card(html, "Tools") and add_url(Tool) not in html


def test_who_may_see_no_definition_sees_no_card(client: Client, both: Definitions):
    html = home(signed_in(client, "view_transaction"))

    assert 'class="card"' not in html and "Transactions</a>" in html


def test_a_kind_with_a_card_is_not_listed_twice(ana: Client, both: Definitions):
    assert home(ana).count('href="/admin/tooling/tool/"') == 1


# Uses and neighbours ------------------------------------------------------------------------------


def test_everything_that_names_a_tool_is_found(both: Definitions):
    def of(tool: str) -> set[Use]:
        return set(uses_of(tool, both))

    assert of("validar_vas_subject") >= {Use(Role.VALIDATOR, ("tool_policies", ACTION))}
    assert Use(Role.RECONCILER, ("tool_policies", "cancelar_pedidos")) in of("reconciliar_pedidos")
    assert {use.role for use in of("solicitar_devolucao")} >= {Role.OFFERED, Role.STEP, Role.BY_WORKFLOW}
    assert Use(Role.FILLED, ("mcp_parameter_mapping", ACTION)) in of(ACTION)
    assert of("unheard_of") == set()


def test_the_page_of_a_tool_links_to_everything_that_names_it(ana: Client, both: Definitions):
    page = ana.get(change_url(Tool.objects.get(name="solicitar_devolucao"))).content.decode()
    uses = page.split('id="uses"')[1].split("</section>")[0]

    assert (
        f'Runs inside of the workflow <a href="{change_url(Workflow.objects.get())}#id_text">devolucao_pedido v1</a>'
        in uses
    )
    assert "Offered by the intent" in uses and "Is a step of the workflow" in uses


def test_a_tool_that_nothing_names_says_what_that_means(ana: Client, both: Definitions):
    tool = Tool.objects.create(name="nova", description="Nova.", server=McpServer.objects.first())

    assert "customers cannot ask for it yet" in ana.get(change_url(tool)).content.decode()


def test_how_the_live_server_is_and_differs_stands_on_the_page_of_its_tools(ana: Client, both: Definitions):
    ours = Difference(Kind.ARGUMENT_REQUIRED, ACTION, "channel")
    other = Difference(Kind.TOOL_GONE, "listar_servicos")
    now = timezone.now()
    ServerState.objects.create(
        server="contas",
        checked_at=now,
        listed_at=now,
        differs_since=now,
        findings=[ours.plain(), other.plain()],
    )

    page = ana.get(change_url(Tool.objects.get(name=ACTION))).content.decode()
    uses = page.split('id="uses"')[1].split("</section>")[0]

    assert "differs from the published definitions since" in uses
    assert "the argument channel is new and required" in uses
    assert "is not offered any more" not in uses


def test_a_disabled_server_is_told_on_the_page_of_its_tools(ana: Client, both: Definitions):
    McpServer.objects.filter(name="contas").update(enabled=False)

    page = ana.get(change_url(Tool.objects.get(name=ACTION))).content.decode()

    assert "disabled, nothing of it is called" in page


# Nothing is called multi-item ---------------------------------------------------------------------


def test_no_page_of_the_definitions_offers_a_switch_for_several_items(ana: Client, both: Definitions):
    models = [McpServer, Tool, Policy, Intent, Workflow]
    urls = [add_url(model) for model in models] + [change_url(model._default_manager.first()) for model in models]

    for url in [*urls, "/admin/"]:
        for language in ("en", "pt-br"):
            ana.cookies["django_language"] = language
            html = ana.get(url).content.decode().lower()
            assert [word for word in ("multi_item", "multi-item", "multiitem", "multi item") if word in html] == []


# Words of the router, secrets of servers ----------------------------------------------------------


def test_the_shipped_answers_stand_beside_those_that_a_release_adds(ana: Client, both: Definitions):
    page = ana.get("/admin/tooling/routersettings/1/change/").content.decode()

    assert "Understood anyway: sim, confirmo," in page.split('id="id_confirm_pt_br_helptext"')[1].split("</div>")[0]
    assert "yes" in page.split('id="id_confirm_en_helptext"')[1].split("</div>")[0]
    assert "never mind" in page.split('id="id_reject_en_helptext"')[1].split("</div>")[0]


def test_a_secret_is_refused_with_the_way_to_keep_it(ana: Client, both: Definitions):
    errors = save(ana, change_url(McpServer.objects.get(name="contas")), headers="Authorization: Bearer abc")

    assert len(errors) == 1 and "use a ${ENV} reference. " in errors[0]
    assert "environment variable" in errors[0]
