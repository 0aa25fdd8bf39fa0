"""Every page of the administration of definitions, at two widths and in both languages.

No accessibility violation, no report of the security policy, nothing wider than its window. The pages are taken from
the addresses that the administration has, so that a new one cannot be forgotten: whoever adds one with arguments of its
own says in ``ARGUMENTS`` how it is reached.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.browser.pages import is_wider_than_its_window, opened
from tests.builders import a_user
from tests.tooling.conftest import read
from tooling import publishing
from tooling.models import Policy, Release, RouterSettings, Tool

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ACTION = "cancelar_vas_avulso"
NO_PAGES = {"tooling_mcpserver_test", "tooling_release_files"}
"""What only takes something, or gives a file."""
ASKS_A_SERVER = {"tooling_mcpserver_import"}
"""Swept by the test of its own, which has a live server."""


def registered() -> list[Any]:
    """The model admins of the definitions."""
    return [one for model, one in admin.site._registry.items() if model._meta.app_label == "tooling"]


def first_of(model: Any) -> Any:
    """The object whose pages are opened: one with all its parts, where there is a choice."""
    named = {Tool: {"name": ACTION}, Policy: {"tool__name": ACTION}}
    return model._default_manager.filter(**named.get(model, {})).first()


ARGUMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "tooling_release_roll_back": lambda: {"number": Release.objects.order_by("number").first().number},
}
"""Name of an address → its arguments, where they are not the key of the first object."""


def addresses() -> Iterator[tuple[str, str]]:
    """(name, address) of every page of every registered kind of definition."""
    yield "index", reverse("admin:index")
    yield "app_list", reverse("admin:app_list", args=["tooling"])
    for one in registered():
        row = first_of(one.model)
        for pattern in one.get_urls():
            name = pattern.name
            if name is None or name in NO_PAGES | ASKS_A_SERVER or is_stated_elsewhere(one, name):
                continue
            wanted = set(pattern.pattern.converters)
            if name in ARGUMENTS:
                yield name, reverse(f"admin:{name}", kwargs=ARGUMENTS[name]())
            elif not wanted:
                yield name, reverse(f"admin:{name}")
            elif row is not None and len(wanted) == 1:
                yield name, reverse(f"admin:{name}", kwargs={wanted.pop(): row.pk})


def is_stated_elsewhere(one: Any, name: str) -> bool:
    """Adding and deleting where nobody may, and rows that the browser's own tests make."""
    verb = name.rsplit("_", 1)[-1]
    refuses = {"add": RouterSettings, "delete": RouterSettings}
    is_read_only = type(one).has_add_permission is not admin.ModelAdmin.has_add_permission
    return verb in ("add", "delete") and (refuses.get(verb) is one.model or is_read_only)


def below_the_administration() -> Iterator[tuple[str, str]]:
    """Pages below /admin/tooling/ that no model admin has; those with arguments are swept by their own tests."""

    def walk(patterns: Any, before: str) -> Iterator[tuple[str, str]]:
        for one in patterns:
            route = before + str(one.pattern)
            if isinstance(one, URLResolver) and one.namespace is None:
                yield from walk(one.url_patterns, route)
            elif isinstance(one, URLPattern) and route.startswith("admin/tooling/") and "<" not in route:
                yield str(one.name), f"/{route}"

    yield from walk(get_resolver().url_patterns, "")


@pytest.fixture
def definitions(settings):
    """Both sets of the tests, published twice, and a draft with an error and a warning."""
    settings.MCP_STDIO_COMMANDS = ["python"]
    publishing.replace_draft(read("contas", "pedidos"))
    publishing.publish(comment="first")
    Policy.objects.filter(tool__name=ACTION).update(fail_open=True)
    publishing.publish(comment="second")
    Policy.objects.filter(tool__name=ACTION).update(requires=["nada"], require_confirmation=False, idempotency="key")
    RouterSettings.objects.get_or_create(pk=1)


@pytest.fixture
def bia():
    user = a_user("bia", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label__in=["tooling", "transactions"]))
    return user


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("locale", "width", "scheme"), [("pt-BR", 320, "light"), ("pt-BR", 1280, "dark"), ("en", 320, "dark")]
)
def test_every_page_of_the_definitions_is_accessible_and_fits_its_window(
    open_page, bia, definitions, locale, width, scheme
):
    found = []
    page = open_page("/admin/", user=bia, width=width, locale=locale, color_scheme=scheme)
    root = page.url.removesuffix("/admin/")
    for name, path in [*addresses(), *below_the_administration()]:
        answer = page.goto(root + path)
        if answer is None or answer.status != 200:
            found.append((name, path, f"status {answer.status if answer else None}"))
            continue
        opened(page)
        if is_wider_than_its_window(page):
            found.append((name, path, "wider than its window"))
        for violation in Axe().run(page, options={"preload": False}).response["violations"]:
            found += [(name, violation["id"], node["html"][:200]) for node in violation["nodes"]]

    assert found == []


def test_every_address_of_the_administration_is_swept_or_named(definitions):
    swept = {name for name, _path in addresses()}
    names = [(one, pattern.name) for one in registered() for pattern in one.get_urls() if pattern.name]
    stated = {name for one, name in names if is_stated_elsewhere(one, name) or first_of(one.model) is None}

    assert {name for _one, name in names} - swept - stated - NO_PAGES - ASKS_A_SERVER == set()
    assert len(swept) > 30
