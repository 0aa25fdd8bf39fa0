"""The page that imports files, used as a browser does, and the command beside it for the same files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from io import BytesIO, StringIO
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from tests.tooling.admin_pages import Fields
from tests.tooling.definitions_api import files_in


class Page(HTMLParser):
    """An answer of the page: its problems as the command prints them, and what a browser would send back."""

    def __init__(self, response: Any) -> None:
        super().__init__()
        self.status = response.status_code
        self.html = response.content.decode()
        self.fields = Fields(self.html).data
        self.problems: list[str] = []
        self._open: list[str] = []
        self._line = ""
        self.feed(self.html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "ul" and ("id", "problems") in attributes:
            self._open = ["ul"]
        elif self._open and tag == "li":
            self._line = ""

    def handle_endtag(self, tag: str) -> None:
        if self._open and tag == "li":
            kind, place, text = re.fullmatch(r"(Error|Warning) (.*?:\d+:\d+): (.*)", self._line.strip(), re.S).groups()
            self.problems.append(f"{place}: {'warning: ' if kind == 'Warning' else ''}{text}")
        elif self._open and tag == "ul":
            self._open = []

    def handle_data(self, data: str) -> None:
        if self._open:
            self._line += data

    @property
    def can_write(self) -> bool:
        return bool(self.fields.get("files", [""])[0])

    def messages(self) -> list[str]:
        return re.findall(r'<li class="(?:success|error|warning|info)">(.*?)</li>', self.html, re.S)


class Importer:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.url = reverse("import-files")

    def open(self) -> Page:
        return Page(self.client.get(self.url))

    def look(
        self, files: Mapping[str, bytes] | None = None, *, text: str = "", name: str = "", keep: bool = False
    ) -> Page:
        """Send files, or a text, to the first step."""
        sent = [SimpleUploadedFile(file, data) for file, data in (files or {}).items()]
        fields = {"files": sent, "text": text, "name": name, "keep": "yes" if keep else ""}
        return Page(self.client.post(self.url, fields))

    def look_at(self, folder: Path) -> Page:
        return self.look({f"{folder.name}.zip": zip_of(folder)})

    def write(self, page: Page) -> Page:
        """Press the button of the second step, and follow to the page that says what came of it."""
        assert page.can_write, page.problems or page.messages()
        return Page(self.client.post(self.url, page.fields, follow=True))


def zipped(files: Mapping[str, bytes] | Iterable[tuple[str, bytes]]) -> bytes:
    held = BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as archive:
        for name, data in files.items() if isinstance(files, Mapping) else files:
            archive.writestr(name, data)
    return held.getvalue()


def zip_of(folder: Path) -> bytes:
    """Everything in a folder as an archive that holds the folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return zipped({str(path.relative_to(folder.parent)): path.read_bytes() for path in paths})


def without_folders(folder: Path) -> dict[str, bytes]:
    """The files of a set as a browser sends them: by their last names."""
    return {PurePosixPath(name).name: data for name, data in files_in(folder).items()}


def command_says(*paths: Path, action: str = "validate", options: tuple[str, ...] = ()) -> list[str]:
    """What ``manage.py definitions`` prints of problems, run beside the directories."""
    err, before = StringIO(), Path.cwd()
    os.chdir(paths[0].parent)
    try:
        call_command("definitions", action, *(path.name for path in paths), *options, stdout=StringIO(), stderr=err)
    except CommandError:
        pass
    finally:
        os.chdir(before)
    return err.getvalue().splitlines()
