"""A small set of files that a case changes, imported through the command and through the page: both must agree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from django.core.management import CommandError, call_command

from tests.tooling.uploading import Importer, zip_of
from tooling import publishing
from tooling.specs import Definitions

SET = {
    "mcp_servers.yaml": "version: 1\nmcp_servers:\n  s: {endpoint: 'https://x.example/mcp'}\n",
    "tools.yaml": """version: 1
tools:
  t: {mcp_server: s, description: does it, tool_type: action, args_schema: {a: string}}
  v: {mcp_server: s, description: checks it, tool_type: internal, args_schema: {a: string}}
""",
    "tool_policies.yaml": "version: 1\ntool_policies:\n  t: {requires: [a]}\n",
    "mcp_parameter_mapping.yaml": "version: 1\n",
    "routing.yaml": "version: 1\nintents: []\n",
    "llm_profiles.yaml": "version: 1\nprofiles: {}\n",
}
PLACE = re.compile(r"[^:]+:\d+:\d+: (warning: )?.+")


@dataclass(frozen=True)
class Imported:
    """What was said line by line; the draft afterwards; whether anything was written."""

    told: list[str]
    draft: Definitions
    saved: bool

    @property
    def errors(self) -> list[str]:
        return [line for line in self.told if ": warning: " not in line]

    @property
    def warnings(self) -> list[str]:
        return [line for line in self.told if ": warning: " in line]


def imported(page: Importer, folder: Path, files: Mapping[str, str | bytes]) -> Imported:
    """Import the set with ``files`` in place of its own, twice from the same draft; the two ways must not differ."""
    folder.mkdir(exist_ok=True)
    for name, text in (SET | dict(files)).items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    before = publishing.draft()
    by_command = _by_command(folder)
    publishing.replace_draft(before)
    by_page = _by_page(page, folder)
    assert by_page == by_command
    assert all(PLACE.fullmatch(line) for line in by_page.told), by_page.told
    assert by_page.saved is not bool(by_page.errors)
    return by_page


def _by_command(folder: Path) -> Imported:
    err, status = StringIO(), 0
    try:
        call_command("definitions", "import", str(folder), stdout=StringIO(), stderr=err)
    except CommandError as failed:
        status = failed.returncode
    lines = [line.removeprefix(f"{folder.parent}/") for line in err.getvalue().splitlines()]
    return Imported(lines, publishing.draft(), saved=status == 0)


def _by_page(page: Importer, folder: Path) -> Imported:
    shown = page.look({"set.zip": zip_of(folder)})
    if shown.can_write:
        page.write(shown)
    return Imported(shown.problems, publishing.draft(), saved=shown.can_write)


def policy(text: str) -> dict[str, str]:
    """The file of policies with one for ``t``."""
    return {"tool_policies.yaml": f"version: 1\ntool_policies:\n  t: {text}\n"}
