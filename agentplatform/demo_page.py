"""The demo's chat page: a customer of its own for every browser session, in development only (contracts.md §7)."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from transactions.models import Channel
from transactions.sessions import identity_named, mint_user_token

CHANNEL: Final = "demo"
TOKEN_SECONDS: Final = 3600
SESSION_KEY: Final = "demo_customer"

SUGGESTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "pt-BR": (
        "Cancelar serviço: Música Mais, Livros Falados e Craque 10",
        "Quero cancelar pedidos",
        "Quais são os meus serviços ativos?",
    ),
    "en": (
        "Please cancel Música Mais, Livros Falados and Craque 10",
        "I want to cancel some orders",
        "Which add-ons am I paying for?",
    ),
}
"""First sentences that the bundled definitions and servers can answer."""

PAGE_TEXTS: Final[Mapping[str, Mapping[str, str]]] = {
    "pt-BR": {
        "title": "Atendimento",
        "lead": "Loja de demonstração",
        "log": "Conversa",
        "message": "Sua mensagem",
        "placeholder": "Escreva sua mensagem…",
        "hint": "Enter envia, Shift+Enter quebra a linha.",
        "send": "Enviar",
        "restart": "Recomeçar",
        "restart_hint": "Nova conversa com um cliente novo",
        "other_language": "English",
        "typing": "O assistente está trabalhando…",
        "offline_model": "Modelo de demonstração, sem internet: responde por regras, não por uma IA.",
        "customer": "Cliente",
        "no_script": "Esta página precisa de JavaScript.",
        "no_channel": "O canal de demonstração ainda não existe. Inicie o produto com make demo.",
    },
    "en": {
        "title": "Support",
        "lead": "Demo shop",
        "log": "Conversation",
        "message": "Your message",
        "placeholder": "Write your message…",
        "hint": "Enter sends, Shift+Enter starts a new line.",
        "send": "Send",
        "restart": "Start over",
        "restart_hint": "A new conversation with a new customer",
        "other_language": "Português",
        "typing": "The assistant is working…",
        "offline_model": "Offline demo model: it answers by rule, not by an AI.",
        "customer": "Customer",
        "no_script": "This page needs JavaScript.",
        "no_channel": "The demo channel does not exist yet. Start the product with make demo.",
    },
}


@require_safe
@never_cache
def demo(request: HttpRequest) -> HttpResponse:
    """The chat page of ``?customer=`` (default: a random one of this session), in ``?locale=``; 404 in production."""
    if settings.IS_PRODUCTION:
        raise Http404
    locale = page_locale(request)
    if "new" in request.GET:
        request.session.pop(SESSION_KEY, None)
        return redirect(f"{request.path}?locale={locale}")
    customer = _customer(request)
    channel = Channel.objects.filter(key=CHANNEL).first()
    context = {
        "locale": locale,
        "texts": PAGE_TEXTS[locale],
        "other_locale": "pt-BR" if locale == "en" else "en",
        "customer": customer,
        "config": json.dumps(_config(channel, customer, locale)) if channel else "",
    }
    return render(request, "chat/demo.html", context, status=200 if channel else 503)


def page_locale(request: HttpRequest) -> str:
    """pt-BR or en: what was asked for, else what the browser prefers."""
    asked = request.GET.get("locale") or get_language() or ""
    return "en" if asked.lower().startswith("en") else "pt-BR"


def _customer(request: HttpRequest) -> str:
    named = request.GET.get("customer", "")
    if named and len(named) <= 64 and named.isprintable():
        return named
    customer = request.session.setdefault(SESSION_KEY, f"demo-{secrets.token_hex(4)}")
    return str(customer)


def _config(channel: Channel, customer: str, locale: str) -> dict[str, object]:
    """What the page's script needs; see static/chat/main.js."""
    return {
        "channel": channel.key,
        "locale": locale,
        "userToken": mint_user_token(channel, identity_named(customer), seconds=TOKEN_SECONDS),
        "sessionsPath": "/api/v1/chat/sessions",
        "storageKey": f"chat:{channel.key}:{customer}:{locale}",
        "consoleUrl": "/console/transactions/",
        "suggestions": SUGGESTIONS[locale],
    }
