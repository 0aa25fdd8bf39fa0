"""A business administrator tries a message, reads the story, and keeps it as a test case (ux.md §1.2, §2.2)."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core import signing
from django.test import Client
from django.urls import reverse

from tests.builders import a_user
from tests.rehearsal.reading import MESSAGE, a_reading_model, asking
from tests.rehearsal.test_simulating import ACTION, VALIDATOR, definitions, rows
from tests.runtime import shop
from tests.scripted_model import ScriptedModel
from tests.tooling.admin_pages import Fields
from tooling import publishing
from transactions.models import CaseResult, SimulationCase
from transactions.trying import carrying

pytestmark = pytest.mark.django_db
NAME = "cancelar dois serviços"
LEFT_OUT = [{"name": "Música Mais"}, {"name": "Craque 10", "eligible": False, "reason": "fidelidade"}]
ITEMS = json.dumps({"eligible": True, "transaction_decision": {"resolved_arguments": {"items": LEFT_OUT}}})


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with a_reading_model() as endpoint:
        yield endpoint


@pytest.fixture
def ana(client: Client, model: ScriptedModel) -> Client:
    """A business administrator reading Portuguese, and a draft that asks the model of the test."""
    publishing.replace_draft(asking(model))
    user = User.objects.create_user("ana", password=None, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="tooling"))
    client.force_login(user)
    client.cookies["django_language"] = "pt-br"
    return client


def text_of(response: Any) -> str:
    page = response.content.decode().partition('id="content-main"')[2]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def fields(response: Any) -> dict[str, Any]:
    return Fields(response.content.decode()).data


def tried(client: Client, message: str = MESSAGE, **values: Any) -> Any:
    """The page after the message was sent from an untouched form with ``values``."""
    url = reverse("simulate")
    untouched = fields(client.get(url)) | {"message": message} | values
    return client.post(url, untouched)


def saved(client: Client, name: str = NAME, **values: Any) -> SimulationCase:
    response = client.post(reverse("simulate"), keeping(tried(client, **values), name))
    assert response.status_code == 302, text_of(response)
    return SimulationCase.objects.get(name=name)


def keeping(shown: Any, name: str = NAME, **more: Any) -> dict[str, Any]:
    """What the form that saves would send."""
    page = fields(shown)
    return {"recorded": page["recorded"], "aspects": page["aspects"], "name": name, "save": "1", **more}


def fail_open(model: ScriptedModel, is_open: bool) -> None:
    check = replace(definitions().policy(ACTION).pre_validation, fail_open=is_open)
    publishing.replace_draft(shop.with_policy(asking(model), ACTION, pre_validation=check))


# The story ------------------------------------------


def test_the_story_says_in_order_what_would_be_done_and_that_nothing_was(ana: Client) -> None:
    before = rows()

    told = text_of(tried(ana))

    in_order = [
        "Entendi o pedido “cancelar_servico”: o modelo tem 90 % de certeza, e o mínimo é 70 %.",
        "Li na conversa:",
        "“Música Mais, Craque 10”",
        f"Não falta nada para {ACTION}.",
        f"O validador {VALIDATOR} aprovou (resposta inventada).",
        "O cliente leria:",
        "Você confirma?",
        f"Com um sim, {ACTION} seria chamado no servidor loja.",
        "Nada foi executado.",
        "6.8 · idle.model",
    ]
    places = [told.find(one) for one in in_order]
    assert -1 not in places and places == sorted(places), told
    assert rows() == before


def test_a_keyword_is_named_in_english_too(ana: Client, model: ScriptedModel) -> None:
    publishing.replace_draft(shop.with_keywords(asking(model), {"cancelar_servico": ["quero cancelar"]}))
    ana.cookies["django_language"] = "en"

    told = text_of(tried(ana))

    assert "Understood the request “cancelar_servico”, because the message contains “quero cancelar”." in told


def test_what_fail_open_does_is_said_where_the_validator_does_not_answer(ana: Client, model: ScriptedModel) -> None:
    answer = {f"answer:{VALIDATOR}": "silent"}
    blocked = text_of(tried(ana, **answer))
    fail_open(model, True)

    opened = text_of(tried(ana, **answer))

    assert "nesse caso a política bloqueia" in blocked and "Nada seria chamado:" in blocked
    assert "nesse caso a política segue sem validar" in opened and "Com um sim" in opened


def test_an_own_answer_decides_item_by_item(ana: Client) -> None:
    told = text_of(tried(ana, **{f"answer:{VALIDATOR}": "own", f"own:{VALIDATOR}": ITEMS}))

    assert "(resposta escolhida por você)" in told and "Craque 10: fica de fora (fidelidade)" in told


def test_the_conversation_goes_on_without_asking_the_model_again_for_what_was_said(
    ana: Client, model: ScriptedModel
) -> None:
    first = tried(ana)
    asked = len(model.requests)

    second = ana.post(reverse("simulate"), fields(first) | {"message": "sim"})

    assert len(model.requests) == asked
    told = text_of(second)
    assert "1 mensagem antes" in told and f"{ACTION} seria chamado agora" in told
    assert fields(second)["said"] == ["sim"]


def test_a_request_that_is_open_already_is_where_it_begins(ana: Client) -> None:
    told = text_of(tried(ana, "sim", tool=ACTION, known="subject = Craque 10"))

    assert f"{ACTION} seria chamado agora no servidor loja." in told.replace(",", "")


def test_the_address_may_name_the_tool(ana: Client) -> None:
    assert fields(ana.get(reverse("simulate") + f"?tool={ACTION}"))["tool"] == [ACTION]


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"message": " "}, "Escreva o que o cliente diz."),
        ({"message": "x" * 4001}, "4000"),
        ({"identity": "customer_key"}, "Escreva um nome = valor por linha: “customer_key”."),
        ({"known": "subject = x"}, "Escolha também o pedido que já está em andamento."),
        ({"tool": ACTION, "known": "nada = x"}, "“nada”: a ferramenta não tem esse argumento"),
        ({f"answer:{VALIDATOR}": "own", f"own:{VALIDATOR}": "[1]"}, "Escreva a resposta como um objeto JSON"),
        ({f"answer:{VALIDATOR}": "call"}, "call"),
        ({"which": "77"}, "Não existe essa versão."),
        ({"which": "x"}, "Não existe essa versão."),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_asked(
    ana: Client, model: ScriptedModel, values: dict[str, str], error: str
) -> None:
    response = tried(ana, **{"message": MESSAGE, **values})

    assert response.status_code == 200
    assert error in text_of(response)
    assert model.requests == []


def test_hostile_text_is_shown_as_text(ana: Client, model: ScriptedModel) -> None:
    hostile = '<script>alert(1)</script>\x00"\u202e'

    page = tried(ana, hostile).content.decode()

    assert "<script>alert" not in page and "\x00" not in page


def test_a_draft_with_errors_says_where_to_correct_it(ana: Client) -> None:
    publishing.replace_draft(shop.with_policy(definitions(), ACTION, requires=("nada",)))

    response = ana.get(reverse("simulate"))

    assert "O rascunho tem erros" in text_of(response)
    assert reverse("admin:tooling_release_publish") in response.content.decode()


# Who ------------------------------------------


@pytest.mark.parametrize("name", ["simulate", "simulate-cases", "simulate-case"])
def test_only_staff_who_may_change_the_draft_may_look(client: Client, name: str) -> None:
    url = reverse(name, args=[1] if name == "simulate-case" else [])
    stranger = client.get(url)
    client.force_login(a_user("vera", "tooling.change_policy", "tooling.publish_release", is_staff=True))

    answers = [client.get(url).status_code, client.post(url, {"message": "x"}).status_code]

    assert (stranger.status_code, answers) == (302, [403, 403])


def test_nothing_is_taken_without_the_token_of_the_form(ana: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = ana.cookies

    assert strict.post(reverse("simulate"), {"message": "x"}).status_code == 403


# Saving ------------------------------------------


def test_what_was_seen_is_saved_with_what_is_to_be_compared(ana: Client) -> None:
    shown = tried(ana)

    response = ana.post(reverse("simulate"), keeping(shown, aspects=["status", "arguments"]))

    case = SimulationCase.objects.get()
    assert response["Location"] == reverse("simulate-case", args=[case.pk])
    assert case.expected == {"status": "AWAITING_CONFIRMATION", "arguments": {"subject": "Música Mais, Craque 10"}}
    assert (case.created_by, len(case.readings), len(case.answers)) == ("ana", 2, 1)


def test_a_name_that_is_taken_is_said_and_the_story_is_still_there(ana: Client, model: ScriptedModel) -> None:
    saved(ana)
    shown = tried(ana)
    asked = len(model.requests)

    again = ana.post(reverse("simulate"), keeping(shown))

    assert "Já existe uma simulação salva com este nome." in text_of(again)
    assert "O cliente leria:" in text_of(again) and len(model.requests) == asked
    assert SimulationCase.objects.count() == 1


@pytest.mark.parametrize("forged", ["", "x", "nobody", "other"])
def test_only_what_this_page_showed_to_this_person_is_saved(ana: Client, forged: str) -> None:
    shown = keeping(tried(ana))
    held = signing.loads(shown["recorded"][0], salt=carrying.SALT)
    texts = {
        "nobody": signing.dumps(held, salt="another"),
        "other": signing.dumps(held | {"user": 0}, salt=carrying.SALT),
    }

    response = ana.post(reverse("simulate"), shown | {"recorded": texts.get(forged, forged)}, follow=True)

    assert "A página é antiga demais ou foi feita para outra pessoa" in response.content.decode()
    assert SimulationCase.objects.count() == 0


# Saved ones ------------------------------------------


def test_all_are_run_against_the_draft_and_the_results_stand_in_the_list(ana: Client, model: ScriptedModel) -> None:
    saved(ana, "um", **{f"answer:{VALIDATOR}": "silent"})
    saved(ana, "dois")
    fail_open(model, True)
    asked = len(model.requests)

    told = text_of(ana.post(reverse("simulate-cases"), follow=True))

    assert len(model.requests) == asked
    results = dict(SimulationCase.objects.values_list("name", "last_result"))
    assert results == {"um": CaseResult.DIFFERS, "dois": CaseResult.AS_EXPECTED}
    assert "um diferente" in told and "dois como esperado" in told


def test_one_is_shown_beside_what_was_expected_and_accepted(ana: Client, model: ScriptedModel) -> None:
    case = saved(ana, **{f"answer:{VALIDATOR}": "silent"})
    fail_open(model, True)
    url = reverse("simulate-case", args=[case.pk])
    shown = ana.get(url)

    ana.post(url, {"accept": "1", "recorded": fields(shown)["recorded"], "revision": "0"})

    assert "Recusado" in text_of(shown) and "agora: Aguardando confirmação" in text_of(shown)
    case.refresh_from_db()
    assert case.expected["status"] == "AWAITING_CONFIRMATION"
    assert "como esperado" in text_of(ana.get(url))


def test_what_somebody_changed_meanwhile_is_not_accepted_over(ana: Client, model: ScriptedModel) -> None:
    case = saved(ana, **{f"answer:{VALIDATOR}": "silent"})
    fail_open(model, True)
    url = reverse("simulate-case", args=[case.pk])
    shown = fields(ana.get(url))
    ana.post(url, {"rename": "1", "name": "outro", "revision": "0"})

    response = ana.post(url, {"accept": "1", "recorded": shown["recorded"], "revision": "0"}, follow=True)

    assert "Alguém fez uma alteração enquanto isso" in response.content.decode()


def test_recording_anew_asks_the_model_and_keeps_what_comes_out_as_expected(ana: Client, model: ScriptedModel) -> None:
    case = saved(ana)
    asked = len(model.requests)

    response = ana.post(reverse("simulate-case", args=[case.pk]), {"anew": "1"}, follow=True)

    assert len(model.requests) == asked + 2
    assert "Gravado de novo; o resultado é o esperado." in response.content.decode()


def test_one_is_renamed_and_deleted_and_a_second_click_does_no_harm(ana: Client) -> None:
    case, other = saved(ana), saved(ana, "outra")
    url = reverse("simulate-case", args=[case.pk])

    taken = ana.post(url, {"rename": "1", "name": "outra", "revision": "0"}, follow=True)
    ana.post(url, {"rename": "1", "name": "nova", "revision": "0"})
    twice = [ana.post(url, {"delete": "1"}).status_code for _ in range(2)]

    assert "Já existe uma simulação salva com este nome." in taken.content.decode()
    assert twice == [302, 404]
    assert [one.name for one in SimulationCase.objects.all()] == [other.name]


def test_the_publish_page_leads_to_the_simulation_that_differs(ana: Client, model: ScriptedModel) -> None:
    case = saved(ana, **{f"answer:{VALIDATOR}": "silent"})
    fail_open(model, True)

    page = ana.get(reverse("admin:tooling_release_publish")).content.decode()

    assert "termina como “Aguardando confirmação”, e não como “Recusado”" in html.unescape(page)
    (link,) = set(re.findall(r'href="([^"]*simulate/cases/[^"]*)"', page))
    assert case.name in ana.get(html.unescape(link)).content.decode()
