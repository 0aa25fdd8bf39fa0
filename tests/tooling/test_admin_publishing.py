"""What a release changes, and what is doubtful about it, is read before it is published (ux.md §1.2, §2.3)."""

import logging
import re
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import translation

from tests.tooling.admin_pages import Fields, add_url, change_url, fields_of, save
from tests.tooling.conftest import read
from tooling import publishing
from tooling.admin.changes import LONGEST, Line, lines_of
from tooling.models import Intent, LlmProfile, McpServer, ParameterMapping, Policy, Release, Tool, Workflow
from tooling.specs import Definitions, Text

pytestmark = pytest.mark.django_db
ACTION = "cancelar_vas_avulso"


@pytest.fixture(autouse=True)
def _python_is_allowed(settings: Any) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


def publish_url() -> str:
    return reverse("admin:tooling_release_publish")


def in_portuguese(client: Client) -> Client:
    client.cookies["django_language"] = "pt-br"
    return client


def said_lines(old: Definitions, new: Definitions, language: str = "pt-br") -> list[str]:
    """Each change as its line of text, folded parts left out."""
    with translation.override(language):
        return [text_of(line) for line in lines_of(publishing.diff(old, new))]


def text_of(line: Line) -> str:
    values = f": {line.old.text} → {line.new.text}" if line.old and line.new else ""
    return " · ".join(filter(None, (line.title, line.label))) + values


def with_policy(definitions: Definitions, **changes: Any) -> Definitions:
    policy = replace(definitions.policy(ACTION), **changes)
    return replace(definitions, policies=dict(definitions.policies) | {ACTION: policy})


def with_tool(definitions: Definitions, **changes: Any) -> Definitions:
    return replace(definitions, tools=dict(definitions.tools) | {ACTION: replace(definitions.tools[ACTION], **changes)})


# Changes in words ---------------------------------------------------------------------------------


def test_a_changed_field_is_one_line_in_the_readers_language(contas: Definitions):
    changed = with_policy(contas, require_confirmation=False, max_items=5)

    assert said_lines(contas, changed) == [
        f"Política {ACTION} · máximo de itens por vez: 20 → 5",
        f"Política {ACTION} · pedir confirmação: sim → não",
    ]
    assert said_lines(contas, changed, "en")[1] == f"Policy {ACTION} · ask for confirmation: yes → no"


def test_choices_lists_and_empty_values_are_said_in_words(contas: Definitions):
    policy = contas.policy(ACTION)
    closed = replace(policy.pre_validation, fail_open=True)

    changed = with_policy(contas, requires=("subject", "canal"), expires_after=None, pre_validation=closed)
    changed = with_policy(changed, atomicity="all_or_nothing")

    assert said_lines(contas, changed)[0].endswith("atomicidade: melhor esforço → tudo ou nada")
    assert f"Política {ACTION} · requer: subject → subject, canal" in said_lines(contas, changed)
    assert f"Política {ACTION} · seguir quando o validador não dá veredito: não → sim" in said_lines(contas, changed)


def test_a_change_inside_an_argument_names_the_argument(contas: Definitions):
    first, *rest = contas.tools[ACTION].arguments
    changed = with_tool(contas, arguments=(replace(first, label=Text("o nome")), *rest))

    (line,) = said_lines(contas, changed)

    assert line.startswith(f"Ferramenta {ACTION} · argumento {first.name} · rótulo: ") and line.endswith("→ o nome")


def test_settings_of_the_router_are_said_with_a_decimal_comma(contas: Definitions):
    changed = replace(contas, router=replace(contas.router, confidence_threshold=0.9))

    (line,) = said_lines(contas, changed)

    assert line.startswith("Configuração do roteador · limiar de confiança: 0,") and line.endswith("→ 0,9")


def test_what_comes_and_what_goes_is_one_line_with_its_facts_folded(contas: Definitions):
    fewer = replace(contas, tools={name: one for name, one in contas.tools.items() if name != ACTION})

    with translation.override("pt-br"):
        (added,) = lines_of(publishing.diff(fewer, contas))
        (removed,) = lines_of(publishing.diff(contas, fewer))

    assert (text_of(added), text_of(removed)) == (f"Nova ferramenta {ACTION}", f"Ferramenta {ACTION} removida")
    facts = {fact.label: fact.value.text for fact in added.facts}
    assert facts["servidor MCP"] == "contas" and facts["argumento subject · tipo"] == "texto"


@pytest.mark.parametrize(
    ("old", "new"), [(Definitions(), read("contas", "pedidos")), (read("contas", "pedidos"), Definitions())]
)
def test_no_change_is_told_as_raw_data(old: Definitions, new: Definitions):
    with translation.override("pt-br"):
        html = render_to_string("admin/tooling/release/changes.html", {"changes": lines_of(publishing.diff(old, new))})

    assert "{&quot;" not in html and "[&quot;" not in html
    for technical in ("pre_validation_", "fail_open", "on_intent_shift", "selection_keywords", "True", "None"):
        assert technical not in html


def test_a_long_value_is_folded_and_whole(contas: Definitions):
    long = "palavra " * 60 + "fim"

    with translation.override("pt-br"):
        (line,) = lines_of(publishing.diff(contas, with_tool(contas, description=Text(long))))
        html = render_to_string("admin/tooling/release/changes.html", {"changes": [line]})

    assert line.new is not None and line.new.full == long and len(line.new.text) <= LONGEST + 1
    assert '<details class="value">' in html and long in html


# Warnings -----------------------------------------------------------------------------------------


def careless(**changes: Any) -> None:
    Policy.objects.filter(tool__name=ACTION).update(**(changes or {"requires": []}))


def test_a_warning_is_shown_in_words_and_must_be_read_before_publishing(ana: Client, both: Definitions):
    careless()

    page = in_portuguese(ana).get(publish_url()).content.decode()
    unread = ana.post(publish_url(), fields_of(ana, publish_url()) | {"comment": "x"})
    read_ = ana.post(publish_url(), fields_of(ana, publish_url()) | {"comment": "x", "read_warnings": "on"})

    assert "Aviso" in page and f"Política {ACTION} · requer" in page and "a confirmação não tem como dizer" in page
    assert "Li os avisos" in page
    assert Fields(unread.content.decode()).errors == ["Leia os avisos acima e marque esta caixa antes de publicar."]
    assert read_.status_code == 302 and Release.objects.count() == 2


def test_a_warning_that_came_after_the_page_was_opened_must_be_read_too(ana: Client, both: Definitions):
    Tool.objects.filter(name="listar_servicos").update(enabled=False)
    fields = fields_of(ana, publish_url())
    careless(fail_open=True)

    response = ana.post(publish_url(), fields | {"comment": "x"})

    assert "read_warnings" not in fields
    assert "items that were not validated will pass" in response.content.decode()
    assert Release.objects.count() == 1


def test_without_warnings_nothing_has_to_be_ticked(ana: Client, both: Definitions):
    Tool.objects.filter(name="listar_servicos").update(enabled=False)

    assert "read_warnings" not in ana.get(publish_url()).content.decode()


def test_after_saving_a_doubtful_policy_its_consequence_is_told(ana: Client, both: Definitions):
    url = change_url(Policy.objects.get(tool__name=ACTION))

    response = in_portuguese(ana).post(url, fields_of(ana, url) | {"requires": []}, follow=True)

    said = [str(message) for message in response.context["messages"]]
    assert any("a confirmação não tem como dizer o que será feito" in one for one in said)


# Names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [McpServer, Tool, Intent, LlmProfile], ids=lambda model: model.__name__)
@pytest.mark.parametrize(
    ("name", "portuguese", "english"),
    [
        ("a b", "“a b” não serve como nome", "is no name"),
        ("<i>", "não serve como nome", "is no name"),
        ("x" * 101, "no máximo 100 caracteres", "at most 100 characters"),
    ],
)
def test_a_name_that_is_no_identifier_is_refused_in_both_languages(
    ana: Client, both: Definitions, model: Any, name: str, portuguese: str, english: str
):
    url = change_url(model.objects.first())

    assert any(english in one for one in save(ana, url, name=name))
    assert any(portuguese in one for one in save(in_portuguese(ana), url, name=name))
    assert publishing.draft() == both


def test_an_arguments_and_a_workflows_name_are_refused_too(ana: Client, both: Definitions):
    workflow = change_url(Workflow.objects.get())
    text = fields_of(ana, workflow)["text"][0]

    in_tool = save(ana, change_url(Tool.objects.get(name=ACTION)), **{"arguments-0-name": "a b"})
    in_workflow = save(ana, workflow, text=text.replace("name: devolucao_pedido", "name: devolução pedido"))

    assert any("“a b” is no name" in one or '"a b" is no name' in one for one in in_tool)
    assert any("is no name" in one for one in in_workflow)


def test_no_field_lets_the_browser_cut_what_is_pasted(ana: Client, both: Definitions):
    pages = [change_url(model.objects.first()) for model in (McpServer, Tool, Policy, Intent, LlmProfile)]

    assert [url for url in pages if "maxlength" in ana.get(url).content.decode()] == []


# Saving -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [McpServer, Tool, Policy, Intent, Workflow], ids=lambda model: model.__name__)
def test_what_was_saved_is_told_without_a_gender(ana: Client, both: Definitions, model: Any):
    obj = model.objects.first()
    url = change_url(obj)

    response = in_portuguese(ana).post(url, fields_of(ana, url), follow=True)

    said = [str(message) for message in response.context["messages"]]
    assert said[-1] == f"Salvo no rascunho: {model._meta.verbose_name} “{obj}”."


def test_what_was_removed_is_told_without_a_gender(ana: Client, both: Definitions):
    intent, other = Intent.objects.all()[:2]

    one = in_portuguese(ana).post(
        reverse("admin:tooling_intent_delete", args=[intent.pk]), {"post": "yes"}, follow=True
    )
    several = ana.post(
        reverse("admin:tooling_intent_changelist"),
        {"action": "delete_selected", "_selected_action": [other.pk], "post": "yes"},
        follow=True,
    )

    assert [str(said) for said in one.context["messages"]] == [f"Removido do rascunho: intenção “{intent}”."]
    assert [str(said) for said in several.context["messages"]] == [f"Removido do rascunho: {other}."]


def test_a_mapping_that_fills_nothing_is_refused(ana: Client, both: Definitions):
    url = add_url(ParameterMapping)

    errors = save(in_portuguese(ana), url, tool="", map="", defaults=" ", extract="")

    assert errors == ["Este mapeamento não preenche nada. Escreva ao menos um argumento em um dos três campos."]
    assert not ParameterMapping.objects.filter(tool=None).exists()


@pytest.mark.parametrize(
    ("model", "changes", "error"),
    [
        (McpServer, {"endpoint": "ftp://x/mcp"}, "o esquema “ftp” não é permitido"),
        (McpServer, {"endpoint": ""}, "falta “endereço”"),
        (LlmProfile, {"api_key_env": "sk-abc-123"}, "nunca a própria chave"),
        (LlmProfile, {"temperature": "9"}, "temperatura: 9 não está entre 0 e 2"),
        (Workflow, {"text": "name: x\nversion: 1\nstart: a\n"}, "um fluxo precisa de ao menos uma etapa"),
        (Workflow, {"text": "name: [x"}, "Linha 2: faltou"),
        (ParameterMapping, {"extract": "canal: {strategy: guess}"}, "strategy “guess” não é nenhum de"),
    ],
)
def test_a_refusal_is_told_in_portuguese(
    ana: Client, both: Definitions, model: Any, changes: dict[str, str], error: str
):
    errors = save(in_portuguese(ana), change_url(model.objects.first()), **changes)

    assert any(one.startswith(error) or error in one for one in errors), errors
    assert not any(re.search(r"\b(the|must|expected|is not|needs)\b", one) for one in errors), errors


# What is not built yet ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "promises"),
    [
        (Tool, ["toda chamada vai ao servidor"]),
        (ParameterMapping, ["Hoje só a estratégia llm é executada"]),
    ],
)
def test_a_form_says_what_is_not_built_yet(ana: Client, both: Definitions, model: Any, promises: list[str]):
    page = in_portuguese(ana).get(change_url(model.objects.first())).content.decode()

    assert [one for one in promises if one not in page] == []


def test_the_policy_form_says_what_follows_from_a_choice(ana: Client, both: Definitions):
    page = in_portuguese(ana).get(change_url(Policy.objects.first())).content.decode()

    said = ["senão a operação pode acontecer duas vezes", "depois um operador decide", "oferecido de novo"]
    assert [one for one in said if one not in page] == []


# Refusals -----------------------------------------------------------------------------------------


def test_a_refused_page_is_no_accident_in_the_log(client: Client, both: Definitions, caplog: pytest.LogCaptureFixture):
    user = User.objects.create_user("olga", is_staff=True)
    user.groups.add(Group.objects.get(name="operator"))
    client.force_login(user)
    pages = [publish_url(), reverse("admin:tooling_release_roll_back", args=[1]), add_url(Policy)]
    pages += [reverse("admin:tooling_tool_changelist"), change_url(Tool.objects.first())]
    pages += [reverse("admin:tooling_tool_delete", args=[Tool.objects.first().pk])]

    with caplog.at_level(logging.DEBUG):
        answers = [client.get(url).status_code for url in pages]

    assert answers == [403] * len(pages)
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
