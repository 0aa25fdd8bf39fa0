"""The demo's chat page in a real browser: what it shows of each event, and what a user can do with it."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.db.transaction import atomic
from django.utils import timezone
from playwright.sync_api import expect

from tests.chat_channel import serving
from tests.services import wait_until
from transactions import outbox
from transactions.models import Channel, Conversation, Transaction, Turn
from transactions.services.rows import hold, record
from transactions.sessions import identity_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
KEY = "the-key-of-the-demo-" * 3
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture
def shop_of(monkeypatch):
    """Opens the demo channel to the pages of an address; returns their site."""
    monkeypatch.setitem(outbox.RUNNERS, "turns", "tests.chat_channel:leave_for_later")
    monkeypatch.setenv("DEMO_KEY", KEY)

    def create(address):
        Channel.objects.create(key="demo", origins=[f"http://{address}"], jwt_secret_env="DEMO_KEY")
        return f"http://{address}"

    return create


@pytest.fixture
def site(shop_of):
    with serving() as address:
        yield shop_of(address)


@pytest.fixture
def open_page(browser, request):
    """Opens the chat page; fails the test if the page's script or its security policy complained."""
    contexts, complaints = [], []

    def open_(path="/demo/", *, site="", width=1280, height=800, locale="pt-BR", **options):
        site = site or request.getfixturevalue("site")
        context = browser.new_context(viewport={"width": width, "height": height}, locale=locale, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("console", lambda line: complaints.append(line.text) if "Security Policy" in line.text else None)
        page.goto(site + path)
        expect(page.locator("#chat")).to_have_attribute("data-state", "online")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


def conversation():
    return Conversation.objects.latest("created_at")


def transaction():
    return Transaction.objects.create(
        conversation=conversation(),
        release=1,
        tool="t",
        operation_type="transactional",
        status="SUCCESS",
        expires_at=timezone.now(),
    )


def tell(kind, *, about=None, **data):
    with atomic():
        record(hold(conversation().pk), kind, data, transaction=about)


def items(number, **more):
    return [
        {"key": f"k{n}", "label": f"Serviço {n}", "eligible": True, "reason": None} | more for n in range(1, number + 1)
    ]


def ask(about, id_="c-1", text="Confirma?", of=(), minutes=9):
    expires_at = (timezone.now() + timedelta(minutes=minutes)).isoformat()
    tell("confirmation.requested", about=about, confirmation_id=id_, text=text, items=list(of), expires_at=expires_at)


def outcome(label, status, reason=None, protocol=None):
    return {"key": label, "label": label, "status": status, "reason": reason, "protocol": protocol}


def finish(about, *outcomes, status="SUCCESS", text="", kind="transaction.finished", **more):
    succeeded = sum(item["status"] == "SUCCEEDED" for item in outcomes)
    unknown = sum(item["status"] == "UNKNOWN" for item in outcomes)
    excluded = sum(item["status"] == "EXCLUDED" for item in outcomes)
    failed = len(outcomes) - succeeded - unknown - excluded
    counts = {
        "total": len(outcomes),
        "succeeded": succeeded,
        "failed": failed,
        "unknown": unknown,
        "excluded": excluded,
    }
    tell(
        kind,
        about=about,
        status=status,
        multi_item_status="",
        reason_code="",
        text=text,
        items=list(outcomes),
        counts=counts,
        **more,
    )


# Saying something


def test_a_suggestion_is_said_for_the_user_and_shown_once(open_page):
    page = open_page()

    page.get_by_role("button", name="Quero cancelar pedidos").click()

    expect(page.locator(".bubble.user")).to_have_count(1)
    expect(page.locator(".bubble.user .mark")).to_have_count(0)
    assert [turn.text for turn in Turn.objects.all()] == ["Quero cancelar pedidos"]
    expect(page.locator("#typing")).to_be_visible()
    tell("assistant.message", text="Quais?", rule="")
    expect(page.locator("#typing")).to_be_hidden()


def test_the_page_is_used_with_the_keyboard_alone(open_page):
    page = open_page()
    expect(page.get_by_label("Sua mensagem")).to_be_focused()

    page.keyboard.type("uma linha")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("outra linha")
    page.keyboard.press("Enter")

    expect(page.locator(".bubble.user")).to_have_count(1)
    wait_until(Turn.objects.exists)
    assert Turn.objects.get().text == "uma linha\noutra linha"
    expect(page.get_by_label("Sua mensagem")).to_have_value("")


def test_a_text_that_is_too_long_is_kept_whole_and_says_what_to_do(open_page):
    page = open_page()
    box = page.get_by_label("Sua mensagem")

    box.fill("é" * 4213)
    page.keyboard.press("Enter")

    expect(page.locator("#limit")).to_have_text(
        "O texto tem 4.213 caracteres; cabem 4.000. Encurte ou envie em partes."
    )
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(box).to_have_value("é" * 4213)
    expect(page.locator(".bubble.user")).to_have_count(0)
    box.fill("🙂" * 4000)
    expect(page.locator("#limit")).to_have_text("4.000 de 4.000 caracteres")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble.user .mark")).to_have_count(0)
    assert Turn.objects.get().text == "🙂" * 4000
    expect(page.locator("#limit")).to_be_hidden()


@pytest.mark.parametrize(("locale", "word"), [("pt-BR", "Assunto"), ("en", "About")])
def test_what_was_started_is_named_without_a_word_of_the_shop(open_page, locale, word):
    page = open_page(f"/demo/?locale={locale}")
    tell("transaction.started", about=transaction(), tool="t", label="Cancelar algo", release=1)

    expect(page.locator(".note")).to_have_text(f"{word}: Cancelar algo")


def test_a_message_says_what_its_writer_had_on_screen(open_page):
    page = open_page()
    tell("assistant.message", text="Olá", rule="")
    expect(page.get_by_text("Olá", exact=True)).to_be_visible()

    page.get_by_label("Sua mensagem").fill("oi")
    page.keyboard.press("Enter")

    wait_until(Turn.objects.exists)
    assert Turn.objects.get().seen_seq == 1


def test_what_anybody_says_is_shown_as_text(open_page):
    page = open_page()
    about = transaction()
    page.get_by_label("Sua mensagem").fill(EVIL)
    page.keyboard.press("Enter")
    tell("assistant.message", text=EVIL, rule="")
    tell("transaction.started", about=about, tool="t", label=EVIL, release=1)
    ask(about, text=EVIL, of=items(2, label=EVIL) + items(1, label=EVIL, eligible=False, reason=EVIL))
    expect(page.locator(".confirmation")).to_be_visible()
    finish(about, outcome(EVIL, "FAILED", EVIL, EVIL), status="FAILED", text=EVIL)

    expect(page.locator(".result")).to_be_visible()
    expect(page.locator(".result .item-label")).to_have_text(EVIL)
    assert page.locator(".log img, .log script").count() == 0


# The question


def test_a_question_shows_every_item_what_is_left_out_and_the_safe_choice_first(open_page):
    page = open_page()
    text = "Confirma?\nFica de fora:\n• Tela Kids: não pode ser feito (fidelidade até 30/06)"
    tela_kids = items(1, label="Tela Kids", eligible=False, reason="fidelidade_ate_30_06")
    ask(transaction(), text=text, of=[*items(2), *tela_kids])

    card = page.get_by_role("group", name="Confirma?")
    expect(card.get_by_role("checkbox")).to_have_count(2)
    expect(card.locator(".left-out")).to_contain_text("Tela Kids")
    expect(card.locator(".left-out")).to_have_text(re.compile("Fica de foraTela Kidsfidelidade até 30/06"))
    expect(card.get_by_role("button")).to_have_text(["Não, voltar", "Confirmar 2"])
    expect(card.locator(".expiry")).to_contain_text("Expira em 9 min")
    expect(page.get_by_label("Sua mensagem")).to_be_focused()


def test_a_long_list_of_what_is_left_out_is_folded_and_unfolds_whole(open_page):
    page = open_page()
    left_out = [
        {"key": f"x{n}", "label": f"Fora {n}", "eligible": False, "reason": "ja_entregue"} for n in range(1, 26)
    ]
    ask(transaction(), of=[*items(2), *left_out])

    rows = page.locator(".left-out li")
    expect(rows.locator("visible=true")).to_have_count(5)
    page.get_by_role("button", name="Ver todos (25)").click()
    expect(rows.locator("visible=true")).to_have_count(25)


def test_unticking_an_item_changes_what_the_button_says(open_page):
    page = open_page()
    ask(transaction(), of=items(3))
    card = page.locator(".confirmation")

    card.get_by_label("Serviço 2").uncheck()
    expect(card.locator(".primary")).to_have_text("Continuar com 2")
    for number in (1, 3):
        card.get_by_label(f"Serviço {number}").uncheck()
    expect(card.locator(".primary")).to_be_disabled()
    for number in (1, 2, 3):
        card.get_by_label(f"Serviço {number}").check()
    expect(card.locator(".primary")).to_have_text("Confirmar 3")


def test_a_single_item_needs_no_tick_box(open_page):
    page = open_page()
    ask(transaction(), of=items(1))

    expect(page.locator(".confirmation .primary")).to_have_text("Confirmar 1")
    expect(page.get_by_role("checkbox")).to_have_count(0)


def test_a_question_that_is_asked_again_is_one_card_at_the_end(open_page):
    page = open_page()
    about = transaction()
    ask(about, of=items(2))
    tell("assistant.message", text="Só se você confirmar.", rule="")
    ask(about, of=items(2))

    expect(page.locator(".confirmation")).to_have_count(1)
    expect(page.locator(".log > :last-child")).to_have_class(re.compile("confirmation"))
    expect(page.locator(".confirmation .primary")).to_be_enabled()


def test_a_new_question_replaces_the_old_one(open_page):
    page = open_page()
    about = transaction()
    ask(about, "c-1", of=items(3))
    ask(about, "c-2", of=items(2))

    expect(page.locator(".confirmation")).to_have_count(2)
    old, new = page.locator(".confirmation").all()
    expect(old).to_contain_text("Substituída por uma nova pergunta")
    expect(old.get_by_role("button")).to_have_count(0)
    expect(new.get_by_role("button")).to_have_count(2)


def test_why_an_answer_was_refused_stays_until_the_user_acts(open_page):
    page = open_page()
    ask(transaction(), of=items(3))
    card = page.locator(".confirmation")
    card.get_by_label("Serviço 2").uncheck()
    # An empty key names no item: the server refuses the choice.
    card.get_by_label("Serviço 1").evaluate("box => (box.value = '')")
    expect(card.locator(".card-note")).to_have_text("Vou perguntar de novo, só com os itens marcados.")

    card.locator(".primary").click()

    expect(card.locator(".card-note")).to_have_text("A escolha de itens não é válida. Escolha de novo.")
    expect(card.locator(".primary")).to_be_enabled()
    expect(card.locator(".primary")).to_have_text("Continuar com 2")
    card.get_by_label("Serviço 2").check()
    expect(card.locator(".card-note")).to_be_hidden()


def test_an_answer_that_comes_too_late_closes_the_card_and_keeps_the_page_alive(open_page):
    page = open_page()
    ask(transaction(), of=items(2))

    page.get_by_role("button", name="Confirmar 2").click()

    expect(page.locator(".confirmation")).to_have_attribute("data-closed", "ended")
    expect(page.locator(".confirmation .card-note")).to_have_text("Esta pergunta já não vale. Responda à mais nova.")
    expect(page.locator(".confirmation").get_by_role("button")).to_have_count(0)
    page.get_by_label("Sua mensagem").fill("oi")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble.user .mark")).to_have_count(0)


# The result


def test_a_result_tells_every_item_with_its_outcome_reason_and_protocol(open_page):
    page = open_page()
    about = transaction()
    rows = "• Serviço 1: feito (protocolo PRT-1)\n• Serviço 2: recusado (em separação)"
    tell("execution.started", about=about, attempt=1)
    tell("items.progress", about=about, done=1, total=3, items=[])
    expect(page.locator(".card.progress")).to_contain_text("1 de 3")
    finish(
        about,
        outcome("Serviço 1", "SUCCEEDED", protocol="PRT-1"),
        outcome("Serviço 2", "FAILED", reason="em_separacao"),
        outcome("Serviço 3", "UNKNOWN"),
        outcome("Serviço 4", "EXCLUDED"),
        status="VERIFYING",
        text=f"Ainda verificando.\n{rows}\nAvisamos aqui.",
        kind="transaction.verifying",
    )

    card = page.locator(".result")
    expect(page.locator(".card.progress")).to_have_count(0)
    expect(card.locator(".card-kind")).to_contain_text("Em verificação")
    expect(card.locator(".counts")).to_have_text("1 concluído, 1 não foi possível, 1 em verificação, 1 deixado de fora")
    expect(card.locator(".card-text")).to_have_text("Ainda verificando.\nAvisamos aqui.")
    expect(card.locator("li")).to_contain_text(["feito", "em separação", "em verificação", "deixado de fora por você"])
    expect(card.get_by_role("button", name="Copiar PRT-1")).to_be_visible()
    expect(card.get_by_role("link", name="Ver no console")).to_have_attribute(
        "href", f"/console/transactions/{about.pk}/"
    )


def test_what_a_query_found_is_shown_as_it_was_told(open_page):
    page = open_page()
    text = "Encontrei 2 itens:\n• Serviço 1 – preço: 9,90; status: ativo\n• Serviço 2\n   preço: 5,00\n   status: ativo"
    finish(transaction(), outcome("Serviço 1", "SUCCEEDED"), outcome("Serviço 2", "SUCCEEDED"), text=text)

    rows = page.locator(".result li")
    expect(rows.first).to_have_text("Serviço 1preço: 9,90; status: ativo")
    expect(rows.last).to_have_text("Serviço 2preço: 5,00status: ativo")
    expect(page.locator(".result .card-text")).to_have_text("Encontrei 2 itens:")
    expect(page.locator(".result .outcome")).to_have_count(0)


def test_a_long_result_is_folded_with_what_went_wrong_on_top_and_unfolds_whole(open_page):
    page = open_page()
    outcomes = [outcome(f"Serviço {number}", "SUCCEEDED") for number in range(1, 12)]
    finish(transaction(), *outcomes, outcome("Serviço 12", "FAILED"), status="PARTIAL_SUCCESS")

    rows = page.locator(".result li")
    expect(rows.locator("visible=true")).to_have_count(5)
    expect(rows.first).to_contain_text("Serviço 12")
    page.get_by_role("button", name="Ver todos (12)").click()
    expect(rows.locator("visible=true")).to_have_count(12)


def test_a_request_that_ended_without_effect_says_so_and_counts_nothing(open_page):
    page = open_page()
    kept = [outcome(f"Serviço {number}", "NOT_EXECUTED") for number in (1, 2)]
    finish(transaction(), *kept, status="CANCELLED", text="Tudo bem, nada mudou.\n• Serviço 1: não foi executado")

    card = page.locator(".result")
    expect(card.locator(".card-kind")).to_have_text("Nada foi feito")
    expect(card.locator(".card-text")).to_have_text("Tudo bem, nada mudou.")
    expect(card.locator("li")).to_have_text(["Serviço 1não foi executado", "Serviço 2não executado"])


# Coming back


def test_a_reload_brings_the_conversation_back_and_does_not_read_it_aloud(open_page):
    page = open_page()
    page.get_by_label("Sua mensagem").fill("oi")
    page.keyboard.press("Enter")
    tell("assistant.message", text="Olá de novo", rule="")
    expect(page.get_by_text("Olá de novo")).to_be_visible()
    log = page.get_by_role("log")
    expect(log).to_have_attribute("aria-live", "polite")

    page.reload(wait_until="commit")

    expect(page.get_by_text("Olá de novo")).to_be_visible()
    expect(page.locator(".bubble.user")).to_have_text(re.compile("oi"))
    assert Conversation.objects.count() == 1
    tell("assistant.message", text="E agora", rule="")
    expect(page.get_by_text("E agora")).to_have_count(1)


def test_what_is_said_without_a_connection_is_kept_and_sent_once_it_is_back(open_page, shop_of):
    with serving() as address:
        page = open_page(site=shop_of(address))
    expect(page.locator("#connection")).to_contain_text("Reconectando")

    page.get_by_label("Sua mensagem").fill("ainda aqui")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble.user .mark")).to_have_text("enviando…")
    with serving(int(address.split(":")[1])):
        expect(page.locator("#connection")).to_be_hidden(timeout=20_000)
        expect(page.locator(".bubble.user .mark")).to_have_count(0)
        expect(page.locator(".bubble.user")).to_have_count(1)

    assert [turn.text for turn in Turn.objects.all()] == ["ainda aqui"]


def test_starting_over_brings_a_new_customer(open_page):
    page = open_page()
    first = conversation()

    page.get_by_role("link", name="Recomeçar").click()
    expect(page.locator("#chat")).to_have_attribute("data-state", "online")

    wait_until(lambda: Conversation.objects.count() == 2)
    assert conversation().identity != first.identity
    assert set(conversation().identity) == {"customer_key", "contract_key"}


def test_a_customer_and_a_language_can_be_named_in_the_address(open_page):
    page = open_page("/demo/?customer=ana&locale=en")

    expect(page.get_by_role("button", name="I want to cancel some orders")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    assert conversation().identity == {"customer_key": "ana", "contract_key": "ana"}
    assert conversation().locale == "en"


def test_the_browsers_language_is_the_default(open_page):
    page = open_page(locale="en-US")

    expect(page.get_by_label("Your message")).to_be_visible()


# For everybody


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_the_page_passes_axe_and_does_not_scroll_sideways(open_page, settings, width, scheme):
    settings.OFFLINE_MODEL = True
    page = open_page(width=width, color_scheme=scheme)
    about = transaction()
    tell("assistant.message", text="palavra" * 60, rule="")
    ask(about, of=[*items(3), *items(1, eligible=False, reason="x" * 200)])
    other = transaction()
    tell("execution.started", about=other, attempt=1)
    finish(
        transaction(),
        outcome("Serviço 1", "SUCCEEDED", protocol="PRT-1" * 20),
        outcome("Serviço 2", "FAILED", reason="não"),
        outcome("Serviço 3", "UNKNOWN"),
        status="PARTIAL_SUCCESS",
        text="Parte foi concluída.",
    )
    expect(page.locator(".result")).to_be_visible()

    found = Axe().run(page)

    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every(box => box.scrollWidth <= box.clientWidth)")


def test_no_line_of_the_page_runs_an_inline_script_or_calls_another_site(open_page):
    page = open_page()

    policy = page.request.get(page.url).headers["content-security-policy"]

    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_the_page_is_not_there_in_production(client, settings):
    settings.IS_PRODUCTION = True

    assert client.get("/demo/").status_code == 404


def test_without_the_demo_channel_the_page_says_what_to_do(client):
    answer = client.get("/demo/", headers={"accept-language": "en"})

    assert answer.status_code == 503
    assert "make demo" in answer.content.decode()


def test_the_start_page_leads_everywhere(client, settings):
    content = client.get("/").content.decode()

    for path in ("/demo/", "/console/", "/admin/", "/api/schema/"):
        assert f'href="{path}"' in content
    settings.IS_PRODUCTION = True
    assert 'href="/demo/"' not in client.get("/").content.decode()


def test_the_token_of_the_page_is_of_its_own_customer(client, monkeypatch):
    monkeypatch.setenv("DEMO_KEY", KEY)
    channel = Channel.objects.create(key="demo", jwt_secret_env="DEMO_KEY")

    content = client.get("/demo/").content.decode()
    again = client.get("/demo/").content.decode()

    config = json.loads(unescape(re.search(r'data-config="([^"]*)"', content)[1]))
    customer = identity_of(config["userToken"], channel)["customer_key"]
    assert customer.startswith("demo-")
    assert customer in again
