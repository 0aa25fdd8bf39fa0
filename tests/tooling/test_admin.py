"""The administration edits the draft in words, refuses nonsense with a reason, and publishes (ux.md §1.2, §2.1-2.3)."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from tests.tooling.admin_pages import Fields, add_url, change_url, fields_of, save
from tooling import catalog, publishing
from tooling.models import (
    Intent,
    LlmProfile,
    McpServer,
    ParameterMapping,
    Policy,
    Release,
    RouterSettings,
    Tool,
    Workflow,
)
from tooling.specs import Definitions

pytestmark = pytest.mark.django_db

MODELS = [McpServer, Tool, Policy, ParameterMapping, Intent, LlmProfile, Workflow]


@pytest.fixture(autouse=True)
def _python_is_allowed(settings: Any) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


# Pages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [*MODELS, RouterSettings, Release], ids=lambda model: model.__name__)
def test_every_list_and_every_page_of_an_object_opens(ana: Client, both: Definitions, model: Any):
    listed = ana.get(reverse(f"admin:tooling_{model._meta.model_name}_changelist"), follow=True)

    assert listed.status_code == 200
    for obj in model._default_manager.all():
        assert ana.get(change_url(obj)).status_code == 200


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_page_for_adding_opens(ana: Client, both: Definitions, model: Any):
    assert ana.get(add_url(model)).status_code == 200


@pytest.mark.parametrize("model", [*MODELS, RouterSettings], ids=lambda model: model.__name__)
def test_saving_a_page_that_nobody_touched_changes_nothing(ana: Client, both: Definitions, model: Any):
    for obj in model._default_manager.all():
        assert save(ana, change_url(obj)) == []

    assert publishing.draft() == both


def test_pages_hold_no_inline_script_or_style(ana: Client, both: Definitions):
    urls = [change_url(obj) for model in MODELS for obj in model._default_manager.all()[:1]]
    urls += [reverse("admin:tooling_release_publish"), reverse("admin:tooling_release_changelist")]

    for url in urls:
        html = ana.get(url).content.decode()
        scripts = re.findall(r"<script[^>]*>", html)
        assert [tag for tag in scripts if "src=" not in tag and "application/json" not in tag] == []
        assert re.search(r"<style|\sstyle=|\son[a-z]+=", html) is None


# Adding and changing ------------------------------------------------------------------------------


def test_a_tool_is_added_with_its_arguments_in_two_languages(ana: Client, both: Definitions):
    arguments = {
        "arguments-TOTAL_FORMS": "2", "arguments-INITIAL_FORMS": "0",
        "arguments-0-position": "0", "arguments-0-name": "plan", "arguments-0-type": "string",
        "arguments-0-label_first": "o plano", "arguments-0-label_second": "the plan",
        "arguments-0-user_prompt_first": "Qual plano?", "arguments-0-enum": "básico\r\n\r\n completo ",
        "arguments-1-position": "1", "arguments-1-name": "months", "arguments-1-type": "integer",
        "arguments-1-enum": "6\r\n12",
    }  # fmt: skip

    errors = save(
        ana,
        add_url(Tool),
        name="trocar_plano",
        description_first="Troca o plano.",
        server=str(McpServer.objects.get(name="contas").pk),
        tool_type="action",
        selection_keywords="trocar plano\r\nmudar de plano",
        **arguments,
    )

    assert errors == []
    tool = publishing.draft().tools["trocar_plano"]
    assert tool.description.default == "Troca o plano."
    assert tool.selection_keywords == ("trocar plano", "mudar de plano")
    plan, months = tool.arguments
    assert plan.label.by_locale == {"pt-BR": "o plano", "en": "the plan"}
    assert (plan.user_prompt.default, plan.enum, months.enum) == ("Qual plano?", ("básico", "completo"), (6, 12))


def test_values_that_do_not_fit_the_arguments_type_are_refused(ana: Client, both: Definitions):
    tool = Tool.objects.get(name="listar_servicos")

    errors = save(ana, change_url(tool), **{"arguments-0-type": "integer", "arguments-0-enum": "6\r\nsix"})

    assert errors == ["“six” is not a value of this type."]


def test_two_arguments_of_one_name_are_refused(ana: Client, both: Definitions):
    tool = Tool.objects.get(name="listar_servicos")

    errors = save(ana, change_url(tool), **{"arguments-1-name": "categoria"})

    assert errors == ["This name is there twice."]


def test_a_policy_chooses_what_it_requires_among_its_tools_arguments(ana: Client, both: Definitions):
    policy = Policy.objects.get(tool__name="cancelar_vas_avulso")

    page = ana.get(change_url(policy)).content.decode()
    errors = save(ana, change_url(policy), requires=["canal", "subject"], fail_open="on", expires_after="2h")

    assert 'type="checkbox" name="requires" value="canal"' in page
    assert errors == []
    saved = publishing.draft().policy("cancelar_vas_avulso")
    assert (saved.requires, saved.pre_validation.fail_open, saved.expires_after) == (("subject", "canal"), True, 7200)


def test_the_consequence_of_a_switch_is_told_beside_it(ana: Client, both: Definitions):
    page = ana.get(change_url(Policy.objects.get(tool__name="cancelar_vas_avulso"))).content.decode()

    for consequence in ("unchecked items can be executed", "the operation can happen twice", "nothing is executed"):
        assert consequence in page


def test_a_new_policy_asks_for_its_tool_first_and_then_for_the_rest(ana: Client, both: Definitions):
    Policy.objects.filter(tool__name="cancelar_vas_avulso").delete()
    tool = Tool.objects.get(name="cancelar_vas_avulso")

    response = ana.post(
        add_url(Policy), {"tool": str(tool.pk), "operation_type": "transactional", "require_confirmation": "on"}
    )

    policy = Policy.objects.get(tool=tool)
    assert response.status_code == 302 and response["Location"] == change_url(policy)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"pre_validation_tool": ""}, "names no validator"),
        ({"execution_mode": "workflow"}, "Choose the workflow"),
        ({"expires_after": "soon"}, "such as 30m"),
        ({"max_items": "0"}, "above 0"),
        ({"timeout_seconds": "-1"}, "above 0"),
    ],
)
def test_a_policy_that_cannot_be_carried_out_is_refused(
    ana: Client, both: Definitions, changes: dict[str, str], error: str
):
    policy = Policy.objects.get(tool__name="cancelar_vas_avulso")

    assert any(error in one for one in save(ana, change_url(policy), **changes))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        (
            {"headers": "Authorization: Bearer abc"},
            'header "Authorization" holds a literal secret; use a ${ENV} reference',
        ),
        ({"headers": "no colon"}, "Line 1: write Name: value."),
        ({"headers": "X-A: 1\r\nX-A: 2"}, "Line 2: “X-A” is there twice."),
        ({"endpoint": "ftp://x/mcp"}, 'scheme "ftp" is not allowed; use http or https'),
        ({"transport": "stdio", "command": "bash"}, "list of allowed stdio commands"),
    ],
)
def test_a_server_that_must_not_be_is_refused(ana: Client, both: Definitions, changes: dict[str, str], error: str):
    server = McpServer.objects.get(name="contas")

    errors = save(ana, change_url(server), **changes)

    assert any(error in one for one in errors), errors


def test_an_intent_takes_keywords_and_examples_line_by_line(ana: Client, both: Definitions):
    errors = save(
        ana,
        add_url(Intent),
        name="mudar",
        description_first="Quer mudar.",
        mcp_tools=["cancelar_vas_avulso", "listar_servicos"],
        keywords="mudar plano\r\ntrocar plano",
        examples="quero mudar\r\n",
    )

    assert errors == []
    intent = publishing.draft().intents["mudar"]
    assert intent.keywords == ("mudar plano", "trocar plano")
    assert set(intent.mcp_tools) == {"cancelar_vas_avulso", "listar_servicos"}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"extract": "canal: {strategy: regex, pattern: '('}"}, "not a regular expression"),
        ({"extract": "canal: {strategy: guess}"}, 'strategy "guess" is none of'),
        ({"extract": "canal: ["}, "Line"),
        ({"defaults": "canal: chat\r\ncanal: loja"}, 'Line 2: duplicate key "canal"'),
        ({"defaults": "- a"}, "Write one key: value per line."),
    ],
)
def test_a_mapping_is_read_like_the_file_it_stands_for(
    ana: Client, both: Definitions, changes: dict[str, str], error: str
):
    mapping = ParameterMapping.objects.get(tool__name="cancelar_vas_avulso")

    errors = save(ana, change_url(mapping), **changes)

    assert any(error in one for one in errors), errors


def test_default_values_keep_their_types(ana: Client, both: Definitions):
    mapping = ParameterMapping.objects.get(tool__name="cancelar_vas_avulso")

    save(ana, change_url(mapping), defaults="canal: no\r\ncontract_key: '12'")

    assert publishing.draft().mapping("cancelar_vas_avulso").defaults == {"canal": "no", "contract_key": "12"}


def test_a_second_mapping_for_all_tools_is_refused(ana: Client, both: Definitions):
    assert save(ana, add_url(ParameterMapping), tool="", map="a: contract_key") == []

    assert save(ana, add_url(ParameterMapping), tool="", map="b: contract_key") != []


def test_phrases_are_edited_per_language(ana: Client, both: Definitions):
    url = reverse("admin:tooling_routersettings_changelist")
    ana.get(url)

    errors = save(ana, change_url(RouterSettings.objects.get()), confirm_pt_br="bora\r\nfechou", reject_en="nope")

    assert errors == []
    phrases = publishing.draft().router.confirmation_phrases
    assert phrases["pt-BR"].confirm == ("bora", "fechou")
    assert phrases["en"].reject == ("nope",)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"confidence_threshold": "7"}, "less than or equal to 1"),
        ({"confirm_en": "ok", "reject_en": "OK"}, "cannot both confirm and reject"),
    ],
)
def test_a_router_that_cannot_decide_is_refused(ana: Client, both: Definitions, changes: dict[str, str], error: str):
    errors = save(ana, change_url(RouterSettings.objects.get()), **changes)

    assert any(error in one for one in errors), errors


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("to: situacao_final", "to: conferir_pedido", "cycle: "),
        ("action: solicitar_devolucao", "acton: solicitar_devolucao", "has no action"),
        ("start: conferir_pedido", "\tstart: x", "a tab cannot indent"),
        ("version: 1", "version: one", "expected a whole number"),
    ],
)
def test_a_workflow_is_checked_by_the_reader_of_its_file(
    ana: Client, both: Definitions, old: str, new: str, error: str
):
    url = change_url(Workflow.objects.get())
    text = fields_of(ana, url)["text"][0]

    errors = save(ana, url, text=text.replace(old, new))

    assert any(error in one for one in errors), errors


def test_a_new_version_of_a_workflow_is_added_and_the_same_one_is_refused(ana: Client, both: Definitions):
    text = fields_of(ana, change_url(Workflow.objects.get()))["text"][0]

    again = save(ana, add_url(Workflow), text=text)
    errors = save(ana, add_url(Workflow), text=text.replace("version: 1", "version: 2"))

    assert any("raise the version" in one for one in again)
    assert errors == []
    assert ("devolucao_pedido", 2) in publishing.draft().workflows


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"api_key_env": "sk-abc-123"}, "never the key itself"),
        ({"base_url": "file:///etc/passwd"}, "use http or https"),
        ({"temperature": "9"}, "between 0 and 2"),
    ],
)
def test_a_profile_that_no_model_can_serve_is_refused(
    ana: Client, both: Definitions, changes: dict[str, str], error: str
):
    errors = save(ana, change_url(LlmProfile.objects.get(name="default")), **changes)

    assert any(error in one for one in errors), errors


def test_after_saving_the_page_says_what_would_stop_publishing(ana: Client, both: Definitions):
    url = change_url(Policy.objects.get(tool__name="cancelar_vas_avulso"))
    Tool.objects.get(name="cancelar_vas_avulso").arguments.filter(name="subject").delete()

    response = ana.post(url, fields_of(ana, url), follow=True)

    said = [str(message) for message in response.context["messages"]]
    assert any(one.startswith('Correct before publishing: cancelar_vas_avulso requires "subject"') for one in said)


# Publishing ---------------------------------------------------------------------------------------


def publish_url() -> str:
    return reverse("admin:tooling_release_publish")


def test_publishing_shows_the_changes_and_makes_the_next_release(ana: Client, both: Definitions):
    Tool.objects.filter(name="listar_servicos").update(enabled=False)

    page = ana.get(publish_url()).content.decode()
    response = ana.post(publish_url(), fields_of(ana, publish_url()) | {"comment": "off for maintenance"})

    assert "<strong>Tool listar_servicos</strong> · enabled" in page and "Publish as release 2" in page
    assert response.status_code == 302
    release = Release.objects.get(number=2)
    assert (release.comment, release.author) == ("off for maintenance", "ana")
    assert not catalog.is_available("listar_servicos")


def test_publishing_needs_a_comment(ana: Client, both: Definitions):
    Tool.objects.filter(name="listar_servicos").update(enabled=False)

    response = ana.post(publish_url(), fields_of(ana, publish_url()) | {"comment": " "})

    assert Fields(response.content.decode()).errors == ["This field is required."]
    assert Release.objects.count() == 1


def now_seen() -> str:
    return str(publishing.version_of(publishing.draft()))


def test_a_draft_with_an_error_shows_it_and_cannot_be_published(ana: Client, both: Definitions):
    fields = fields_of(ana, publish_url())
    Policy.objects.filter(tool__name="cancelar_vas_avulso").update(requires=["nothing"])

    page = ana.get(publish_url()).content.decode()
    response = ana.post(publish_url(), fields | {"comment": "try", "seen": now_seen()}, follow=True)

    assert "requires &quot;nothing&quot;" in page and 'name="comment"' not in page
    assert any("cannot be published" in str(message) for message in response.context["messages"])
    assert '<blockquote class="comment">try</blockquote>' in response.content.decode()
    assert Release.objects.count() == 1


def test_a_page_made_before_somebody_else_published_is_shown_again(ana: Client, both: Definitions):
    Tool.objects.filter(name="listar_servicos").update(enabled=False)
    fields = fields_of(ana, publish_url())
    publishing.publish(comment="faster")
    Tool.objects.filter(name="listar_servicos").update(enabled=True)

    response = ana.post(publish_url(), fields | {"comment": "mine"})

    assert "meanwhile" in response.content.decode()
    assert Release.objects.count() == 2


def test_rolling_back_publishes_the_old_content_again(ana: Client, both: Definitions):
    publishing.replace_draft(Definitions())
    publishing.publish(comment="all gone")
    url = reverse("admin:tooling_release_roll_back", args=[1])

    page = ana.get(reverse("admin:tooling_release_changelist")).content.decode()
    ana.post(url, fields_of(ana, url) | {"comment": "come back"})

    assert url in page
    assert catalog.current().number == 3 and catalog.current().definitions == both
    assert publishing.draft() == both


def test_a_release_is_shown_with_what_it_changed_and_cannot_be_edited(ana: Client, both: Definitions):
    Tool.objects.filter(name="listar_servicos").update(enabled=False)
    publishing.publish(comment="off")
    release = Release.objects.get(number=2)

    page = ana.get(change_url(release)).content.decode()

    assert "<strong>Tool listar_servicos</strong> · enabled" in page
    assert 'name="comment"' not in page
    assert ana.post(change_url(release), {"comment": "x"}).status_code == 403


# Who may ------------------------------------------------------------------------------------------


def test_an_operator_without_the_permission_is_turned_away(client: Client, both: Definitions):
    user = User.objects.create_user("olga", is_staff=True)
    user.groups.add(Group.objects.get(name="operator"))
    client.force_login(user)

    for url in (
        publish_url(),
        reverse("admin:tooling_release_roll_back", args=[1]),
        reverse("admin:tooling_tool_changelist"),
        reverse("admin:tooling_routersettings_changelist"),
        add_url(Policy),
    ):
        assert client.get(url).status_code == 403
        assert client.post(url, {"comment": "x", "base": "1"}).status_code == 403
    assert Release.objects.count() == 1


def test_somebody_who_is_not_signed_in_is_asked_to_sign_in(client: Client, both: Definitions):
    response = client.get(publish_url())

    assert response.status_code == 302 and "login" in response["Location"]
