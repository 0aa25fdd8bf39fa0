"""A program that speaks to the endpoints of definitions, for their tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.test import Client

from tests.loading import DEFINITIONS

URL = "/api/v1/definitions/"


def is_problem(response: Any, status: int, code: str = "") -> bool:
    body = response.json()
    return (
        response.status_code == status
        and response["Content-Type"] == "application/problem+json"
        and body["status"] == status
        and {"type", "title", "detail", "code"} <= body.keys()
        and code in ("", body["code"])
    )


class Caller:
    """Whoever calls: a key's headers, or a signed-in client without any."""

    def __init__(self, headers: Mapping[str, str] | None = None, client: Client | None = None) -> None:
        self.client = client or Client()
        self.headers = {"Accept-Language": "en", **(headers or {})}

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(URL + path, headers=self.headers | headers)

    def send(self, method: str, path: str, body: Any, if_match: str | None = None) -> Any:
        headers = self.headers | ({"If-Match": if_match} if if_match is not None else {})
        call = getattr(self.client, method)
        return call(URL + path, body, content_type="application/json", headers=headers)

    def etag(self) -> str:
        return str(self.get("draft/")["ETag"])

    def put(self, files: Mapping[str, Any], if_match: str | None = None) -> Any:
        return self.send("put", "draft/", {"files": files}, self.etag() if if_match is None else if_match)

    def validate(self, files: Mapping[str, Any]) -> Any:
        return self.send("post", "validate/", {"files": files})

    def publish(self, comment: str = "what changes", if_match: str | None = None) -> Any:
        return self.send("post", "publish/", {"comment": comment}, self.etag() if if_match is None else if_match)

    def roll_back(self, number: int, comment: str = "back", if_match: str | None = None) -> Any:
        return self.send("post", f"releases/{number}/rollback/", {"comment": comment}, if_match)


def files_in(folder: Path) -> dict[str, bytes]:
    """The files of a set in the order in which the command reads them, under the name of their directory."""
    inside = sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml", ".json"))
    workflows = sorted((folder / "workflows").glob("*.y*ml"))
    return {str(path.relative_to(folder.parent)): path.read_bytes() for path in (*inside, *workflows)}


def set_named(name: str) -> dict[str, str]:
    """A good set of the tests as files for a request."""
    return {file: data.decode() for file, data in files_in(DEFINITIONS / name).items()}
