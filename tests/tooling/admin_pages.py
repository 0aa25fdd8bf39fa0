"""Reading and sending the forms of the administration as a browser does."""

from html.parser import HTMLParser
from typing import Any

from django.test import Client
from django.urls import reverse


class Fields(HTMLParser):
    """What a browser would send back of the forms of a page that nobody touched."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.data: dict[str, list[str]] = {}
        self.errors: list[str] = []
        self._area: str | None = None
        self._select: str | None = None
        self._in_errors = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        names = {name: value or "" for name, value in attributes}
        name = names.get("name", "")
        match tag:
            case "input" if name and names.get("type") in ("checkbox", "radio"):
                if "checked" in names:
                    self.data.setdefault(name, []).append(names.get("value", "on"))
            case "input" if name and names.get("type") != "submit":
                self.data[name] = [names.get("value", "")]
            case "textarea":
                self._area, self.data[name] = name, [""]
            case "select":
                self._select = name
            case "option" if "selected" in names and self._select:
                self.data.setdefault(self._select, []).append(names["value"])
            case "ul" if "errorlist" in names.get("class", ""):
                self._in_errors += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            assert self._area is not None
            # HTML drops the line break right after the tag, and browsers send CRLF.
            self.data[self._area] = [self.data[self._area][0].removeprefix("\n").replace("\n", "\r\n")]
            self._area = None
        elif tag == "select":
            self._select = None
        elif tag == "ul" and self._in_errors:
            self._in_errors -= 1

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self.data[self._area][0] += data
        elif self._in_errors and data.strip():
            self.errors.append(data.strip())


def change_url(obj: Any) -> str:
    return reverse(f"admin:tooling_{obj._meta.model_name}_change", args=[obj.pk])


def add_url(model: Any) -> str:
    return reverse(f"admin:tooling_{model._meta.model_name}_add")


def fields_of(client: Client, url: str) -> dict[str, Any]:
    response = client.get(url)
    assert response.status_code == 200
    return Fields(response.content.decode()).data


def save(client: Client, url: str, **changes: Any) -> list[str]:
    """Open a page, change some fields and save; the errors of the page that comes back, none if it was saved."""
    response = client.post(url, fields_of(client, url) | changes)
    return Fields(response.content.decode()).errors if response.status_code == 200 else []
