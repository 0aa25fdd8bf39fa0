"""The start page: where everything is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agentplatform.demo_page import page_locale

TEXTS: Final[Mapping[str, Mapping[str, str]]] = {
    "pt-BR": {
        "lead": "Clientes resolvem pelo chat; cada item é confirmado, executado no máximo uma vez e contado.",
        "chat": "Chat de demonstração",
        "chat_hint": "Converse como um cliente da loja de demonstração.",
        "console": "Console",
        "console_hint": "Acompanhe cada transação e cada item, com as provas.",
        "admin": "Administração",
        "admin_hint": "Edite ferramentas e políticas; publique e volte versões.",
        "api": "API",
        "api_hint": "O documento OpenAPI.",
        "offline_model": "Modelo de demonstração, sem internet: responde por regras, não por uma IA.",
    },
    "en": {
        "lead": "Customers act through chat; every item is confirmed, called at most once and accounted for.",
        "chat": "Demo chat",
        "chat_hint": "Talk as a customer of the demo shop.",
        "console": "Console",
        "console_hint": "Follow every transaction and every item, with the evidence.",
        "admin": "Admin",
        "admin_hint": "Edit tools and policies; publish and roll back.",
        "api": "API",
        "api_hint": "The OpenAPI document.",
        "offline_model": "Offline demo model: it answers by rule, not by an AI.",
    },
}


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Links to the chat (in development), the console, the admin and the API's description."""
    locale = page_locale(request)
    context = {"locale": locale, "texts": TEXTS[locale], "has_demo": not settings.IS_PRODUCTION}
    return render(request, "home.html", context)
