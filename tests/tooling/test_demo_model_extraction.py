"""What the offline model reads of an answer: the demo dialogues and other lines, in domains it was not made for."""

import datetime

import pytest

from tests.tooling.demo_requests import collecting, definitions, opening, tool_named
from tooling.demo.offline_extraction import auxiliary, extraction
from tooling.specs import ArgumentSpec, ArgumentType, Text, ToolSpec
from transactions.core.parameters import Extraction, extraction_request, read_extraction

SERVICES, ORDERS, RETURN, TRACK = "cancelar_vas_avulso", "cancelar_pedidos", "solicitar_devolucao", "consultar_pedidos"
RENEW, ROOM = "renovar_emprestimos", "agendar_sala"
NONE = {}
TODAY = datetime.date(2026, 12, 30)


def taken(request):
    """What the platform takes of the offline model's answer: coerced, grounded, never null."""
    answer = extraction(request)
    assert list(answer) == ["kind", "values"]
    assert list(answer["values"]) == request["pending"]
    read = read_extraction(
        answer,
        tool_named(request["tool"]),
        request["pending"],
        message=request["message"],
        last_assistant_message=request["last_assistant_message"],
        locale=request["locale"],
    )
    assert isinstance(read, Extraction)
    assert read.dropped == {}
    assert answer["kind"] == ("answers_pending" if read.values else "something_else")
    return dict(read.values)


THREE = "Música Mais, Livros Falados e Craque 10"
THREE_EN = "Música Mais, Livros Falados and Craque 10"
BILLED = "Música Mais, o Tela Kids e o Craque 10"
LONG_TITLE = "Memórias póstumas de Brás Cubas"

OPENING = [
    (SERVICES, "pt-BR", f"quero cancelar serviço: {THREE}", THREE),
    (SERVICES, "en", f"please cancel {THREE_EN}", THREE_EN),
    (SERVICES, "pt-BR", f"tira da minha conta a {BILLED}", BILLED),
    (SERVICES, "en", "take Música Mais, Tela Kids and Craque 10 off my bill", "Música Mais, Tela Kids and Craque 10"),
    (SERVICES, "pt-BR", f"cancelar serviços {THREE}", THREE),
    (SERVICES, "en", f"cancel the services {THREE_EN}", THREE_EN),
    (SERVICES, "pt-BR", "então cancelar serviço Craque 10", "Craque 10"),
    (SERVICES, "en", "then cancel Craque 10", "Craque 10"),
    (SERVICES, "pt-BR", "Quero cancelar Música Mais", "Música Mais"),
    (SERVICES, "pt-BR", "quero cancelar música mais e craque 10", "música mais e craque 10"),
    (SERVICES, "pt-BR", "quero cancelar o serviço música mais", "música mais"),
    (SERVICES, "pt-BR", "não pedi esse tal de Livros Falados, tira da minha conta", "Livros Falados"),
    (SERVICES, "pt-BR", "cancela a Música Mais e depois manda o protocolo por e-mail", "Música Mais"),
    (SERVICES, "pt-BR", "quero cancelar serviço", None),
    (SERVICES, "en", "I want to cancel a service", None),
    (SERVICES, "pt-BR", "quero cancelar serviço adicional", None),
    (ORDERS, "pt-BR", "quero cancelar pedidos", None),
    (ORDERS, "en", "I want to cancel some orders", None),
    (ORDERS, "en", "please cancel my last two orders", None),
    (ORDERS, "pt-BR", "comprei duas vezes sem querer, quero cancelar", None),
    (ORDERS, "pt-BR", "cancela os pedidos PED-1006 e PED-1007", ["PED-1006", "PED-1007"]),
    (ORDERS, "en", "cancel orders PED-1006 and PED-1007", ["PED-1006", "PED-1007"]),
    (ORDERS, "pt-BR", "quero cancelar pedido PED-1004 e PED-1005", ["PED-1004", "PED-1005"]),
    (ORDERS, "pt-BR", "cancelar pedidos PED-1003, PED-1006 e PED-1007", ["PED-1003", "PED-1006", "PED-1007"]),
    (TRACK, "pt-BR", "cadê o PED-1001?", ["PED-1001"]),
    (TRACK, "pt-BR", "quando chegam os pedidos PED-1002 e PED-1003?", ["PED-1002", "PED-1003"]),
    (TRACK, "en", "where is my order?", None),
    (RENEW, "pt-BR", "quero renovar o Dom Casmurro e Vidas Secas", ["Dom Casmurro", "Vidas Secas"]),
    (RENEW, "en", "please renew Dom Casmurro and The Hobbit", ["Dom Casmurro", "The Hobbit"]),
    (RENEW, "pt-BR", f"renovar {LONG_TITLE} e Dom Casmurro", [LONG_TITLE, "Dom Casmurro"]),
    (RENEW, "pt-BR", "renovar os livros Dune, Vidas Secas e O cortiço", ["Dune", "Vidas Secas", "O cortiço"]),
    (RENEW, "en", 'renew "Crime e Castigo" and Dune', ["Crime e Castigo", "Dune"]),
    (RENEW, "pt-BR", "quero renovar livros", None),
    (RENEW, "en", "renew my books please", None),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "locale", "message", "value"), OPENING, ids=[line[2] for line in OPENING])
def test_the_value_in_an_opening_request_is_what_the_user_named(tool, locale, message, value):
    request = opening(tool, message, locale=locale)

    values = taken(request)

    assert values == ({} if value is None else {request["pending"][0]: value})


NAMES = [
    ("pt-BR", "Música Mais", "Música Mais"),
    ("pt-BR", "música mais e craque 10", "música mais e craque 10"),
    ("pt-BR", "música mais", "música mais"),
    ("pt-BR", "o jogos dia", "jogos dia"),
    ("pt-BR", "quero o Craque 10", "Craque 10"),
    ("pt-BR", "quero cancelar a Música Mais e o craque 10", "Música Mais e o craque 10"),
    ("pt-BR", "Craque 10 e música mais", "Craque 10 e música mais"),
    ("pt-BR", "música mais e Craque 10", "música mais e Craque 10"),
    ("pt-BR", "cancela o Craque 10 pra mim, por favor", "Craque 10"),
    ("pt-BR", 'o "Livros Falados"', "Livros Falados"),
    ("pt-BR", "não é o Craque 10, é o Tela Kids", "Tela Kids"),
    ("pt-BR", "Horóscopo do Dia", "Horóscopo do Dia"),
    ("pt-BR", "CANCELAR MUSICA MAIS", "MUSICA MAIS"),
    ("pt-BR", "é o Craque 10?", "Craque 10"),
    ("pt-BR", "o Craque 10, e depois quero ver os meus serviços", "Craque 10"),
    ("en", "Craque 10, and then show me my add-ons", "Craque 10"),
    ("en", "it's Craque 10", "Craque 10"),
    ("pt-BR", "antes disso, quais são os meus serviços ativos?", None),
    ("en", "first, which add-ons am I paying for?", None),
    ("pt-BR", "quero ver minha fatura", None),
    ("pt-BR", "quero minha fatura", None),
    ("pt-BR", "esquece, quero ver minha fatura", None),
    ("pt-BR", "deixa pra lá", None),
    ("en", "forget it", None),
    ("pt-BR", "todos", None),
    ("pt-BR", "os meus serviços", None),
    ("pt-BR", "não sei", None),
    ("en", "I don't know", None),
    ("pt-BR", "bom dia", None),
    ("pt-BR", "sim", None),
    ("pt-BR", "quero falar com um atendente", None),
    ("pt-BR", "", None),
]  # fmt: skip


@pytest.mark.parametrize(("locale", "message", "value"), NAMES, ids=[line[1] for line in NAMES])
def test_the_answer_to_a_question_for_a_name_is_the_name_or_nothing(locale, message, value):
    values = taken(collecting(SERVICES, message, locale=locale))

    assert values == ({} if value is None else {"subject": value})


TWO = [
    (RETURN, "pt-BR", "PED-1004, ficou apertado", {"order_id": "PED-1004", "reason": "ficou apertado"}),
    (RETURN, "en", "PED-1004, it's too tight", {"order_id": "PED-1004", "reason": "it's too tight"}),
    (RETURN, "pt-BR", "é o PED-1004, ficou apertado", {"order_id": "PED-1004", "reason": "ficou apertado"}),
    (RETURN, "pt-BR", "PED-1004 porque veio errado", {"order_id": "PED-1004", "reason": "veio errado"}),
    (RETURN, "pt-BR", "o número do pedido é PED-1001", {"order_id": "PED-1001"}),
    (RETURN, "pt-BR", "quero devolver o PED-1004", {"order_id": "PED-1004"}),
    (RETURN, "en", "I want to return order PED-1004", {"order_id": "PED-1004"}),
    (RETURN, "pt-BR", "PED-1004. Vocês buscam em casa?", {"order_id": "PED-1004"}),
    (RETURN, "pt-BR", "12345", {"order_id": "12345"}),
    (RETURN, "pt-BR", "o 1001", {"order_id": "1001"}),
    (RETURN, "pt-BR", "o pedido ped 1001", {"order_id": "ped 1001"}),
    (RETURN, "pt-BR", "PED-1001, e quero ver minha fatura", {"order_id": "PED-1001"}),
    (RETURN, "pt-BR", "Música", NONE),
    (RETURN, "pt-BR", "agora quero cancelar outra coisa", NONE),
    (ROOM, "pt-BR", "S-204, vou estudar em grupo", {"sala": "S-204", "finalidade": "vou estudar em grupo"}),
    (ROOM, "en", "S-204, we have a group project", {"sala": "S-204", "finalidade": "we have a group project"}),
    (ROOM, "pt-BR", "a 204", {"sala": "204"}),
    (ROOM, "pt-BR", "a maior", NONE),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "locale", "message", "values"), TWO, ids=[line[2] for line in TWO])
def test_one_answer_may_fill_two_values_each_in_its_place(tool, locale, message, values):
    assert taken(collecting(tool, message, locale=locale)) == values


FREE = [
    ("pt-BR", "ficou apertado", "ficou apertado"),
    ("pt-BR", "porque chegou quebrado", "chegou quebrado"),
    ("en", "it's too tight", "it's too tight"),
    ("pt-BR", "chegou quebrado, e a caixa veio amassada", "chegou quebrado, e a caixa veio amassada"),
    ("pt-BR", "não gostei da cor", "não gostei da cor"),
    ("pt-BR", "desisti da compra", "desisti da compra"),
    ("pt-BR", "desisti", "desisti"),
    ("pt-BR", "quero devolver porque veio errado", "veio errado"),
    ("pt-BR", "quero ver minha fatura", None),
    ("pt-BR", "agora quero cancelar o pedido PED-2002", None),
    ("pt-BR", "errei, o pedido é PED-2002", None),
    ("pt-BR", "mudei de ideia, encerra a compra PED-2002", None),
    ("pt-BR", "qual o horário da loja?", None),
    ("pt-BR", "e aí?", None),
]


@pytest.mark.parametrize(("locale", "message", "value"), FREE, ids=[line[1] for line in FREE])
def test_a_free_text_is_kept_in_the_users_words(locale, message, value):
    request = collecting(RETURN, message, pending=["reason"], known={"order_id": "PED-1001"}, locale=locale)

    values = taken(request)

    assert set(values) == ({"reason"} if value else set())
    assert value is None or value in values["reason"]


def test_a_name_inside_a_free_text_is_a_part_of_it():
    request = collecting(ROOM, "Estudar para a prova de Cálculo 2", pending=["finalidade"], known={"sala": "S-204"})

    assert taken(request) == {"finalidade": "Estudar para a prova de Cálculo 2"}


LISTS = [
    (ORDERS, "pt-BR", "PED-1001, PED-1006 e PED-1002", ["PED-1001", "PED-1006", "PED-1002"]),
    (ORDERS, "en", "PED-1001, PED-1006 and PED-1002", ["PED-1001", "PED-1006", "PED-1002"]),
    (ORDERS, "pt-BR", "1001 e 1002", ["1001", "1002"]),
    (ORDERS, "pt-BR", "PED-1001 e o PED-1002 pra mim", ["PED-1001", "PED-1002"]),
    (ORDERS, "pt-BR", "o PED-1001, não o PED-1002", ["PED-1001"]),
    (ORDERS, "pt-BR", "PED-1001,PED-1002;PED-1003", ["PED-1001", "PED-1002", "PED-1003"]),
    (ORDERS, "pt-BR", "PED-1001\nPED-1002", ["PED-1001", "PED-1002"]),
    (ORDERS, "pt-BR", "PED-1001 e ped-1001", ["PED-1001"]),
    (ORDERS, "pt-BR", "todos", None),
    (ORDERS, "pt-BR", "os dois últimos", None),
    (RENEW, "pt-BR", "dom casmurro e vidas secas", ["dom casmurro", "vidas secas"]),
    (RENEW, "en", "the hobbit and dune", ["hobbit", "dune"]),
    (RENEW, "pt-BR", "o livro dom casmurro", ["dom casmurro"]),
    (RENEW, "en", "Dom Casmurro, and then show me the rooms", ["Dom Casmurro"]),
    (RENEW, "pt-BR", "antes disso, que livros eu tenho?", None),
    (RENEW, "pt-BR", "na verdade queria uma sala", None),
    (RENEW, "pt-BR", "os dois", None),
]


@pytest.mark.parametrize(("tool", "locale", "message", "value"), LISTS, ids=[line[2] for line in LISTS])
def test_a_list_has_one_element_for_each_thing(tool, locale, message, value):
    request = collecting(tool, message, locale=locale)

    assert taken(request) == ({} if value is None else {request["pending"][0]: value})


ORDERED = [
    (TRACK, "pt-BR", "cancela PED-1001 e PED-1002", None),
    (TRACK, "en", "cancel PED-1001 and PED-1002", None),
    (TRACK, "pt-BR", "quero cancelar o PED-1001", None),
    (TRACK, "pt-BR", "devolve o PED-1004", None),
    (TRACK, "en", "please return order PED-1004", None),
    (TRACK, "pt-BR", "tira o PED-1001", None),
    (TRACK, "pt-BR", "o que acontece se eu cancelar o PED-1001?", None),
    (TRACK, "pt-BR", "posso cancelar o PED-1001?", None),
    (TRACK, "pt-BR", "quero ver minha fatura", None),
    (TRACK, "pt-BR", "cadê o PED-1001?", ["PED-1001"]),
    (TRACK, "pt-BR", "quero ver o PED-1001", ["PED-1001"]),
    (TRACK, "en", "show me PED-1001", ["PED-1001"]),
    (TRACK, "pt-BR", "compra PED-1001", ["PED-1001"]),
    (TRACK, "pt-BR", "comprei o PED-1001", ["PED-1001"]),
    (ORDERS, "pt-BR", "cancela o PED-1001", ["PED-1001"]),
    (ORDERS, "en", "cancel PED-1001", ["PED-1001"]),
    (ORDERS, "pt-BR", "quero cancelar o PED-1001", ["PED-1001"]),
    (ORDERS, "pt-BR", "tira o PED-1001", ["PED-1001"]),
    (ORDERS, "pt-BR", "devolve o PED-1004", None),
    (ORDERS, "pt-BR", "cadê o PED-1001?", None),
    (RENEW, "pt-BR", "renova o Dom Casmurro", ["Dom Casmurro"]),
    (RENEW, "pt-BR", "cancela o Dom Casmurro", None),
]


@pytest.mark.parametrize(
    ("tool", "locale", "message", "value"), ORDERED, ids=[f"{line[0]} {line[2]}" for line in ORDERED]
)
def test_an_order_for_another_operation_is_no_value_and_the_same_one_again_is(tool, locale, message, value):
    request = collecting(tool, message, locale=locale)

    assert taken(request) == ({} if value is None else {request["pending"][0]: value})


CLINIC = ToolSpec(
    "marcar",
    Text("Marca uma consulta do paciente."),
    "s",
    arguments=(
        ArgumentSpec("medico", label=Text("o médico"), description=Text("Nome do médico.")),
        ArgumentSpec("queixa", label=Text("a queixa"), description=Text("O que o paciente sente, nas palavras dele.")),
        ArgumentSpec("dia", label=Text("o dia"), description=Text("O dia da consulta."), format="date"),
    ),
)


@pytest.mark.parametrize(
    ("pending", "last", "message", "values"),
    [
        (("medico",), "Com quem?", "com a Dra. Ana Lima", {"medico": "Dra. Ana Lima"}),
        (
            ("medico", "queixa"),
            "Com quem?",
            "dra. ana, estou com febre",
            {"medico": "dra. ana", "queixa": "estou com febre"},
        ),
        (("medico", "queixa"), "Com quem?", "ana porque dói muito", {"medico": "ana", "queixa": "dói muito"}),
        (("medico", "dia"), "Com quem?", "ana lima, dia 15/01/2027", {"medico": "ana lima", "dia": "2027-01-15"}),
        (("queixa",), "O que você sente?", "O Dr. Paulo mandou voltar", {"queixa": "O Dr. Paulo mandou voltar"}),
        (("queixa",), "How do you feel?", "I have a headache", {"queixa": "have a headache"}),
        (("queixa",), "How do you feel?", "it is getting worse every day", {"queixa": "it is getting worse every day"}),
        (("medico",), "Com quem?", "custa R$ 50?", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_tool_of_a_third_domain_is_answered_alike(pending, last, message, values):
    request = extraction_request(CLINIC, pending, {}, message=message, last_assistant_message=last, locale="pt-BR")

    found = extraction(request, TODAY)["values"]

    assert {name: value for name, value in found.items() if value is not None} == values


def test_a_yes_accepts_the_one_thing_that_the_question_named():
    request = collecting(RETURN, "sim, esse", pending=["order_id"], last="É o pedido PED-1002?")

    assert taken(request) == {"order_id": "PED-1002"}


def test_an_example_in_a_description_is_a_form_and_never_a_value():
    assert taken(collecting(ROOM, "tanto faz")) == {}
    assert taken(opening(ROOM, "quero uma sala")) == {}


# Values of a form ---------------------------------------------------------------------------------


def read_as(message, *, locale="pt-BR", last="Qual?", **argument):
    given = ArgumentSpec("x", label=Text("o campo"), **argument)
    tool = ToolSpec("t", Text("Faz algo."), "s", arguments=(given,))
    request = extraction_request(tool, ("x",), {}, message=message, last_assistant_message=last, locale=locale)
    return extraction(request, TODAY)["values"]["x"]


@pytest.mark.parametrize(
    ("message", "locale", "value"),
    [
        ("o de 14,99", "pt-BR", 14.99),
        ("R$ 1.234,56", "pt-BR", 1234.56),
        ("1.234", "pt-BR", 1234),
        ("1.234", "en", 1.234),
        ("na verdade foram 19,99", "pt-BR", 19.99),
        ("não sei", "pt-BR", None),
        ("entre 10 e 20", "pt-BR", None),
        ("o Craque 10 e o PED-1001", "pt-BR", None),
    ],
)
def test_a_number_is_read_only_where_it_is_the_only_one(message, locale, value):
    assert read_as(message, locale=locale, type=ArgumentType.NUMBER) == value


@pytest.mark.parametrize(
    ("message", "locale", "value"),
    [
        ("10/01/2027", "pt-BR", "2027-01-10"),
        ("no dia 2026-12-31", "pt-BR", "2026-12-31"),
        ("5/1", "pt-BR", "2027-01-05"),
        ("amanhã", "pt-BR", "2026-12-31"),
        ("15 de março", "pt-BR", "2027-03-15"),
        ("March 15th, 2028", "en", "2028-03-15"),
        ("31/02/2027", "pt-BR", None),
        ("qualquer dia", "pt-BR", None),
    ],
)
def test_a_date_is_read_in_the_forms_people_write(message, locale, value):
    assert read_as(message, locale=locale, format="date") == value


def test_a_moment_needs_its_time():
    assert read_as("amanhã às 14h30", format="date-time") == "2026-12-31T14:30:00"
    assert read_as("amanhã", format="date-time") is None


@pytest.mark.parametrize(("message", "value"), [("sim", True), ("não, obrigado", False), ("talvez sim", None)])
def test_a_yes_or_no_counts_as_the_first_word(message, value):
    assert read_as(message, type=ArgumentType.BOOLEAN) is value


@pytest.mark.parametrize(("message", "value"), [("de MANHÃ", "manhã"), ("manhã ou tarde", None), ("qualquer", None)])
def test_a_member_of_a_list_counts_where_it_is_said_and_is_the_only_one(message, value):
    assert read_as(message, enum=("manhã", "tarde", "noite")) == value


@pytest.mark.parametrize(
    ("tool", "name", "message", "value"),
    [
        ("listar_servicos", "categoria", "quais serviços de música eu tenho?", "música"),
        ("listar_servicos", "categoria", "quais são os meus serviços ativos?", None),
        ("listar_servicos", "incluir_cancelados", "mostra os serviços, incluindo já cancelados", True),
        ("agendar_sala", "turno", "queria uma sala para amanhã à tarde", "tarde"),
        ("agendar_sala", "turno", "a sala S-204", None),
        ("agendar_sala", "finalidade", "a sala S-204 para estudar", None),
    ],
)
def test_optional_details_are_read_only_when_they_are_said_outright(tool, name, message, value):
    request = extraction_request(
        tool_named(tool), (name,), {}, message=message, last_assistant_message=None, locale="pt-BR"
    )

    answer = auxiliary(request)

    assert answer["values"] == {name: value}
    assert answer["kind"] == ("something_else" if value is None else "answers_pending")


def test_the_definition_set_of_the_library_is_valid_and_merges_with_the_others():
    assert definitions("contas", "pedidos", "biblioteca").intents.keys() >= {RENEW, ROOM}
