"""A set of definitions as the files of an export, and how two sets differ line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from enum import StrEnum
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.conf import settings

from tooling import yaml_io
from tooling.content import from_content, to_content
from tooling.specs import Definitions

MOST_LINES = 4000
"""Lines of one file that are compared; finding the shortest way between more takes too long for a page."""


class LineKind(StrEnum):
    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    PLACE = "place"


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file that differs. ``lines``: what it is and the text with its + or -; None where too much differs."""

    name: str
    lines: tuple[tuple[LineKind, str], ...] | None


def files_of(definitions: Definitions) -> dict[str, str]:
    """The files of an export, the empty folder of workflows included: sent back they make the same again.

    Equal content makes equal files, in whatever order the draft's rows come; each names its schema in its first line.
    """
    files = dict(yaml_io.write(from_content(to_content(definitions)), schemas=settings.DEFINITION_SCHEMAS_URL))
    return files if definitions.workflows else files | {yaml_io.FOLDER: ""}


def zipped(files: Mapping[str, str]) -> bytes:
    """An archive that is equal for equal files; a name that ends in a slash is an empty folder."""
    held = BytesIO()
    with ZipFile(held, "w") as archive:
        for name, text in files.items():
            archive.writestr(ZipInfo(name), text.encode(), compress_type=ZIP_DEFLATED)
    return held.getvalue()


def file_differences(old: Definitions, new: Definitions) -> list[FileDiff]:
    """The files that differ, as ``diff -u`` would show them."""
    before, after = files_of(old), files_of(new)
    names = [name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)]
    return [_difference(name, before.get(name, ""), after.get(name, "")) for name in names if name != yaml_io.FOLDER]


def _difference(name: str, before: str, after: str) -> FileDiff:
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        return FileDiff(name, None)
    return FileDiff(name, tuple(_lines(old, new)))


def _lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[LineKind, str]]:
    kinds = {"+": LineKind.ADDED, "-": LineKind.REMOVED, "@": LineKind.PLACE}
    for line in list(unified_diff(old, new, lineterm=""))[2:]:
        yield kinds.get(line[:1], LineKind.SAME), line
