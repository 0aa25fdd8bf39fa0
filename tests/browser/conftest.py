"""The browser of the browser tests, and pages of ours opened in it."""

import os

import pytest
from playwright.sync_api import sync_playwright


@pytest.fixture(scope="module")
def browser(chromium):
    # Playwright's loop runs in this thread; the rows that a test writes and reads are in no danger from it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def open_page(browser, live_server, client):
    """Opens a page of ours; fails the test if a script or the security policy of the page complained."""
    contexts, complaints = [], []

    def open_(path, *, user=None, width=1280, height=900, locale="pt-BR", **options):
        context = browser.new_context(viewport={"width": width, "height": height}, locale=locale, **options)
        contexts.append(context)
        if user is not None:
            client.force_login(user)
            context.add_cookies(
                [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
            )
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("console", lambda line: complaints.append(line.text) if "Security Policy" in line.text else None)
        page.goto(live_server.url + path)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []
