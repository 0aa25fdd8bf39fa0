"""The login page, which slows down guessing: ten wrong passwords per name and address in ten minutes."""

from __future__ import annotations

import hashlib
import unicodedata

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

FAILURES = 10
WINDOW_SECONDS = 600


class ThrottledLoginView(LoginView):
    """Django's login; a name is counted alike whether such a user exists or not."""

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if cache.get(_counter(request), 0) < FAILURES:
            return super().post(request, *args, **kwargs)
        # An unbound form: the password is not even looked at while the name is held back.
        form = AuthenticationForm(request)
        message = _("Too many failed attempts. Wait ten minutes and try again.")
        return self.render_to_response(self.get_context_data(form=form, held_back=message), status=429)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        name = _counter(self.request)
        if not cache.add(name, 1, WINDOW_SECONDS):
            _count(name)
        return super().form_invalid(form)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        cache.delete(_counter(self.request))
        return super().form_valid(form)


def _count(name: str) -> None:
    try:
        cache.incr(name)
    except ValueError:
        # The window ended between add and incr; this failure opens the next one.
        cache.set(name, 1, WINDOW_SECONDS)


def _counter(request: HttpRequest) -> str:
    """The key under which failures of this name from this address are counted; it does not tell the name."""
    username = unicodedata.normalize("NFKC", request.POST.get("username", "")).casefold()
    address = request.META.get("REMOTE_ADDR", "")
    return "login:" + hashlib.sha256(f"{address}|{username}".encode()).hexdigest()
