"""What tests of pages in a browser ask of them."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe


def is_wider_than_its_window(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def opened(page: Any) -> None:
    """Unfold everything that is folded."""
    for details in page.locator("#content details").all():
        details.evaluate("element => { element.open = true }")


def violations(page: Any) -> list[tuple[str, str]]:
    """(rule, element) of every accessibility violation, what is folded included."""
    opened(page)
    found = Axe().run(page, options={"preload": False}).response["violations"]
    return [(one["id"], node["html"][:160]) for one in found for node in one["nodes"]]


def press_until(page: Any, locator: Any, *, most: int = 120) -> None:
    """Go to ``locator`` with the tab key, as somebody without a mouse does."""
    for _ in range(most):
        if locator.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{locator} is not reached with the keyboard")
