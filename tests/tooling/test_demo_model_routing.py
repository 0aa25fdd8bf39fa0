"""Which intent the offline model finds, with one set published and with several, idle and beside a transaction."""

import pytest

from tests.tooling.demo_requests import definitions
from tests.tooling.demo_requests import routing as request_of
from tooling.demo.offline_routing import routing
from transactions.core.routing import Routing, read_routing
from transactions.core.statuses import Status

SHOP = ("contas", "pedidos")
ALL = ("contas", "pedidos", "biblioteca")
THRESHOLD = 0.65


def read(message, *, sets, **told):
    """The routing as the platform reads it."""
    intents = list(definitions(*sets).intents.values())
    answer = read_routing(routing(request_of(message, sets=sets, **told)), intents=intents)
    assert isinstance(answer, Routing)
    return answer


def target(answer):
    """The intent that the platform would go to, or the decision where it goes nowhere."""
    is_move = answer.decision in ("shift", "abandon") and answer.intent and answer.confidence >= THRESHOLD
    return answer.intent if is_move else answer.decision


IDLE = [
    (SHOP, "pt-BR", "quero cancelar serviço: Música Mais, Livros Falados e Craque 10", "cancelar_servicos"),
    (SHOP, "en", "please cancel Música Mais, Livros Falados and Craque 10", "cancelar_servicos"),
    (SHOP, "pt-BR", "quero cancelar pedidos", "cancelar_pedidos"),
    (SHOP, "en", "I want to cancel some orders", "cancelar_pedidos"),
    (SHOP, "pt-BR", "cancela os pedidos PED-1006 e PED-1007", "cancelar_pedidos"),
    (SHOP, "en", "cancel orders PED-1006 and PED-1007", "cancelar_pedidos"),
    (SHOP, "pt-BR", "tira da minha conta a Música Mais, o Tela Kids e o Craque 10", "cancelar_servicos"),
    (SHOP, "en", "take Música Mais, Tela Kids and Craque 10 off my bill", "cancelar_servicos"),
    (SHOP, "en", "cancel the services Música Mais, Livros Falados and Craque 10", "cancelar_servicos"),
    (SHOP, "pt-BR", "quero devolver um pedido", "devolver_pedido"),
    (SHOP, "en", "I want to return an order", "devolver_pedido"),
    (SHOP, "pt-BR", "quero cancelar serviço", "cancelar_servicos"),
    (SHOP, "en", "I want to cancel a service", "cancelar_servicos"),
    (SHOP, "en", "then cancel Craque 10", "cancelar_servicos"),
    (SHOP, "pt-BR", "cancela o Jogos Dia", "cancelar_servicos"),
    (SHOP, "pt-BR", "cancela o PED-1001", "cancelar_pedidos"),
    (SHOP, "pt-BR", "você pode cancelar o Craque 10?", "cancelar_servicos"),
    (SHOP, "en", "can you cancel Craque 10?", "cancelar_servicos"),
    (SHOP, "pt-BR", "cadê o PED-1001?", "consultar_pedidos"),
    (SHOP, "en", "where is order PED-1001?", "consultar_pedidos"),
    (SHOP, "pt-BR", "mostra meus pedidos", "consultar_pedidos"),
    (SHOP, "pt-BR", "quais serviços eu tenho?", "consultar_servicos"),
    (SHOP, "pt-BR", "o tênis chegou com defeito", "devolver_pedido"),
    (ALL, "pt-BR", "quero renovar o Dom Casmurro e Vidas Secas", "renovar_emprestimos"),
    (ALL, "en", "please renew Dom Casmurro and The Hobbit", "renovar_emprestimos"),
    (ALL, "pt-BR", "preciso de mais tempo com o Capitães da Areia", "renovar_emprestimos"),
    (ALL, "en", "I need more time with The Hobbit", "renovar_emprestimos"),
    (ALL, "pt-BR", "quando vencem meus livros?", "ver_emprestimos"),
    (ALL, "en", "which books do I have?", "ver_emprestimos"),
    (ALL, "pt-BR", "quero uma sala", "agendar_sala"),
    (ALL, "en", "I'd like a study room", "agendar_sala"),
    (ALL, "en", "book room S-204 for me", "agendar_sala"),
    (ALL, "pt-BR", "tem sala livre amanhã?", "agendar_sala"),
    (ALL, "pt-BR", "o que acontece se eu cancelar o Música Mais?", "question"),
    (ALL, "pt-BR", "qual o horário da loja?", "question"),
    (ALL, "pt-BR", "quanto custa?", "question"),
    (ALL, "en", "what are your opening hours?", "question"),
    (ALL, "pt-BR", "oi", "none"),
    (ALL, "pt-BR", "bom dia!", "none"),
    (ALL, "pt-BR", "apaga tudo", "none"),
    (ALL, "pt-BR", "quero outra coisa", "none"),
    (ALL, "pt-BR", "meu plano está caro", "none"),
    (ALL, "pt-BR", "quero ver minha fatura", "none"),
    (ALL, "pt-BR", "sim", "none"),
    (ALL, "en", "no, thanks", "none"),
    (ALL, "pt-BR", "", "none"),
]


@pytest.mark.parametrize(("sets", "locale", "message", "wanted"), IDLE, ids=[line[2] for line in IDLE])
def test_a_message_goes_to_the_intent_whose_words_it_shares(sets, locale, message, wanted):
    assert target(read(message, sets=sets, locale=locale)) == wanted


@pytest.mark.parametrize(("sets", "locale", "message", "wanted"), IDLE[:23], ids=[line[2] for line in IDLE[:23]])
def test_another_domain_beside_it_changes_nothing(sets, locale, message, wanted):
    assert target(read(message, sets=ALL, locale=locale)) == wanted


DENIED = [
    "não cancele o PED-1001",
    "não quero cancelar o Craque 10",
    "não é pra cancelar o PED-1001",
    "não quero devolver nada",
    "don't cancel PED-1001",
    "I don't want to cancel PED-1001",
    "do not cancel Craque 10",
]


@pytest.mark.parametrize("active", [None, ("consultar_pedidos", {}, ["order_ids"])], ids=["idle", "beside"])
@pytest.mark.parametrize("message", DENIED)
def test_a_wish_that_is_denied_leads_nowhere(message, active):
    answer = read(message, sets=SHOP, active=active)

    assert (answer.decision in ("none", "question"), answer.intent, answer.confidence < THRESHOLD) == (True, None, True)


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("não quero cancelar o Craque 10, quero devolver um pedido", "devolver_pedido"),
        ("não quero mais o Craque 10, cancela", "cancelar_servicos"),
        ("não pedi esse tal de Livros Falados, tira da minha conta", "cancelar_servicos"),
        ("não consigo cancelar meu pedido", "cancelar_pedidos"),
        ("I can't cancel my order", "cancelar_pedidos"),
    ],
)
def test_a_no_about_something_else_denies_no_wish(message, wanted):
    assert target(read(message, sets=SHOP)) == wanted


@pytest.mark.parametrize("message", ["oi 10", "10", "meu filho tem 10 anos", "PED-1001", "o número 1001", "apaga tudo"])
def test_a_number_alone_is_no_request_and_no_greeting(message):
    answer = read(message, sets=SHOP)

    assert (answer.decision, answer.confidence < THRESHOLD) == ("none", True)


@pytest.mark.parametrize("message", ["cancela aí o ped 1001", "cancela o PED 1001", "cancel ped 1001"])
def test_a_code_that_is_written_in_two_words_is_a_code(message):
    assert target(read(message, sets=ALL)) == "cancelar_pedidos"


@pytest.mark.parametrize("active", [None, ("consultar_pedidos", {}, ["order_ids"])], ids=["idle", "beside"])
@pytest.mark.parametrize(
    "message",
    ["oi", "bom dia", "obrigado", "muito obrigado!", "hello", "thanks", "thank you so much", "valeu, até mais"],
)
def test_a_greeting_or_a_thank_you_is_sure_to_want_nothing(message, active):
    answer = read(message, sets=SHOP, active=active)

    assert (answer.decision, answer.confidence) == ("none", 0.9)


SERVICES = ("cancelar_vas_avulso", {}, ["subject"])
RETURN = ("solicitar_devolucao", {"order_id": "PED-1001"}, ["reason"])
CONFIRMING = ("cancelar_vas_avulso", {"subject": "Música Mais, Livros Falados, Craque 10"}, [])
TRACKING = ("consultar_pedidos", {}, ["order_ids"])
RENEWING = ("renovar_emprestimos", {}, ["obras"])
BOOKING = ("agendar_sala", {"sala": "S-204"}, ["finalidade"])

BESIDE = [
    (SERVICES, "pt-BR", "antes disso, quais são os meus serviços ativos?", "consultar_servicos"),
    (SERVICES, "en", "first, which add-ons am I paying for?", "consultar_servicos"),
    (SERVICES, "pt-BR", "quero cancelar serviço", "continue"),
    (SERVICES, "pt-BR", "deixa pra lá", "abandon"),
    (SERVICES, "en", "forget it", "abandon"),
    (SERVICES, "pt-BR", "não sei", "none"),
    (SERVICES, "pt-BR", "todos", "none"),
    (RETURN, "pt-BR", "agora quero cancelar o pedido PED-2002", "cancelar_pedidos"),
    (RETURN, "pt-BR", "esquece, quero ver meus serviços", "consultar_servicos"),
    (RETURN, "pt-BR", "qual o horário da loja?", "question"),
    (CONFIRMING, "pt-BR", "cancela o Jogos Dia", "cancelar_servicos"),
    (CONFIRMING, "pt-BR", "quero devolver um pedido", "devolver_pedido"),
    (CONFIRMING, "pt-BR", "larga isso, quero devolver um pedido", "devolver_pedido"),
    (CONFIRMING, "pt-BR", "quais são os meus serviços?", "consultar_servicos"),
    (CONFIRMING, "pt-BR", "que dia é hoje?", "question"),
    (CONFIRMING, "pt-BR", "tem multa?", "question"),
    (CONFIRMING, "pt-BR", "bom dia", "none"),
    (CONFIRMING, "pt-BR", "hum", "none"),
    (CONFIRMING, "pt-BR", "acho que sim", "none"),
    (CONFIRMING, "pt-BR", "quero ver minha fatura", "none"),
    (RENEWING, "pt-BR", "antes disso, que livros eu tenho?", "ver_emprestimos"),
    (RENEWING, "pt-BR", "deixa pra lá", "abandon"),
    (TRACKING, "pt-BR", "cancela PED-1001 e PED-1002", "cancelar_pedidos"),
    (TRACKING, "en", "cancel PED-1001 and PED-1002", "cancelar_pedidos"),
    (BOOKING, "pt-BR", "quero renovar um livro", "renovar_emprestimos"),
    (BOOKING, "en", "please renew my books", "renovar_emprestimos"),
]


@pytest.mark.parametrize(("active", "locale", "message", "wanted"), BESIDE, ids=[line[2] for line in BESIDE])
def test_a_transaction_is_left_only_for_what_is_clearly_wanted(active, locale, message, wanted):
    status = Status.COLLECTING_PARAMETERS if active[2] else Status.AWAITING_CONFIRMATION

    assert target(read(message, sets=ALL, active=active, locale=locale, status=status)) == wanted


@pytest.mark.parametrize(
    ("active", "message", "values"),
    [
        (RETURN, "errei, o pedido é PED-2002", {"order_id": "PED-2002"}),
        (RETURN, "na verdade é o PED-1008", {"order_id": "PED-1008"}),
        (BOOKING, "na verdade a sala S-301", {"sala": "S-301"}),
        (BOOKING, "actually it's S-301", {"sala": "S-301"}),
    ],
)
def test_a_known_value_that_is_corrected_goes_on_with_the_new_one(active, message, values):
    answer = read(message, sets=ALL, active=active)

    assert (answer.decision, answer.values) == ("continue", values)


def test_a_draw_between_intents_stays_below_the_threshold():
    twins = [
        {"name": name, "description": "Quer alterar o plano.", "examples": ["muda meu plano"]} for name in ("a", "b")
    ]

    answer = routing({"message": "muda meu plano", "active_transaction": None, "intents": twins})

    assert answer["confidence"] < THRESHOLD


def test_without_an_intent_on_offer_nothing_is_chosen():
    assert routing({"message": "quero cancelar", "active_transaction": None, "intents": []})["intent"] is None
