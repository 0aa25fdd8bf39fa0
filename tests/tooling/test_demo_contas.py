"""The demo server contas: which services a sentence means, and what its tools answer."""

import pytest

from tests.tooling.mcp_servers import Demo
from tooling.demo.line import meant_by
from tooling.gateway import Answered, Call
from tooling.mcp_client import McpGateway

MUSIC, BOOKS, GOALS, KIDS = "Música Mais Mensal", "Livros Falados Premium", "Craque 10", "Tela Kids"


@pytest.fixture(scope="module")
def contas(module_processes, tmp_path_factory):
    """A function that calls a tool of a running server; every customer starts from the same line."""
    demo = Demo(module_processes, "contas", tmp_path_factory.mktemp("contas") / "ledger")
    demo.start()
    gateway = McpGateway()

    def call(tool, customer, **arguments):
        outcome = gateway.call(Call(demo.spec, tool, arguments | {"contract_key": customer}))
        assert isinstance(outcome, Answered)
        assert not outcome.is_error, outcome.texts
        return outcome.structured

    yield call
    gateway.close()


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("Música Mais, Livros Falados e Craque 10", [MUSIC, BOOKS, GOALS]),
        ("a Música Mais, o Tela Kids e o Craque 10", [MUSIC, KIDS, GOALS]),
        ("Música Mais, Livros Falados and Craque 10", [MUSIC, BOOKS, GOALS]),
        ("musica mais", [MUSIC]),
        ("CRAQUE", [GOALS]),
        ("livro falado", [BOOKS]),
        ("Música Mais Mensal, Craque 10", [MUSIC, GOALS]),
        ("Música Mais Craque 10", [MUSIC, GOALS]),
        ("esse tal de Livros Falados, por favor", [BOOKS]),
        ("Craque 10, Craque 10", [GOALS]),
        ("Horóscopo do Dia", ["Horóscopo do Dia"]),
        ("o Jogos Dia", ["Jogos Dia"]),
        ("tudo", [MUSIC, BOOKS, GOALS, KIDS]),
        ("meus serviços", []),
        ("", []),
    ],
)
def test_a_sentence_means_services(sentence, names):
    assert meant_by(sentence) == names


def decision(answer):
    return answer["transaction_decision"]["resolved_arguments"]


def test_the_validator_resolves_names_and_says_one_by_one(contas):
    answer = contas("validar_vas_subject", "v1", subject="Música Mais, o Tela Kids, Horóscopo e Craque 10")

    assert answer["eligible"] is True
    assert decision(answer) == {
        "subject": f"{MUSIC}, {GOALS}",
        "items": [
            {"name": MUSIC, "eligible": True},
            {"name": KIDS, "eligible": False, "reason": "fidelidade_ate_30_06"},
            {"name": "Horóscopo do Dia", "eligible": False, "reason": "nao_contratado"},
            {"name": GOALS, "eligible": True},
        ],
    }
    assert answer["transaction_decision"]["target_tool"] == "cancelar_vas_avulso"
    assert "confirmation_message" not in answer["transaction_decision"]


def test_the_validator_keeps_only_the_items_that_stay(contas):
    answer = contas(
        "validar_vas_subject", "v2", subject="Música Mais, Livros Falados e Craque 10", keep_items=[MUSIC, GOALS]
    )

    assert decision(answer)["subject"] == f"{MUSIC}, {GOALS}"
    assert [item["name"] for item in decision(answer)["items"]] == [MUSIC, GOALS]


def test_none_eligible_is_refused_with_the_reasons(contas):
    answer = contas("validar_vas_subject", "v3", subject="Tela Kids")

    assert answer["eligible"] is False
    assert decision(answer)["items"] == [{"name": KIDS, "eligible": False, "reason": "fidelidade_ate_30_06"}]


def test_a_sentence_without_a_service_asks_for_it_again(contas):
    answer = contas("validar_vas_subject", "v4", subject="meus serviços")

    assert (answer["status"], answer["parameter"]) == ("NEEDS_PARAMETER", "subject")


def test_cancelling_answers_a_row_for_every_service(contas):
    answer = contas("cancelar_vas_avulso", "c1", subject=f"{MUSIC}, Tela Kids, {GOALS}")

    assert [(row["name"], row["success"]) for row in answer["results"]] == [(MUSIC, True), (KIDS, False), (GOALS, True)]
    assert answer["results"][0]["protocol"] != answer["results"][2]["protocol"]
    assert answer["results"][1]["reason"] == "fidelidade_ate_30_06"


def test_a_cancelled_service_leaves_the_list_and_cannot_be_cancelled_again(contas):
    contas("cancelar_vas_avulso", "c2", subject="Craque 10")

    active = contas("listar_servicos", "c2")["results"]
    everything = contas("listar_servicos", "c2", incluir_cancelados=True)["results"]
    again = contas("validar_vas_subject", "c2", subject="Craque 10")

    assert [row["name"] for row in active] == [MUSIC, BOOKS, KIDS]
    assert {row["name"]: row["situação"] for row in everything}[GOALS] == "cancelado"
    assert decision(again)["items"][0]["reason"] == "ja_cancelado"


def test_the_list_says_every_service_with_its_price_and_filters_by_category(contas):
    rows = contas("listar_servicos", "c3")["results"]
    books = contas("listar_servicos", "c3", categoria="leitura")["results"]

    assert all(row["ok"] is True and row["preço_mensal"] in row["label"] for row in rows)
    assert [row["name"] for row in rows] == [MUSIC, BOOKS, GOALS, KIDS]
    assert [row["name"] for row in books] == [BOOKS]
