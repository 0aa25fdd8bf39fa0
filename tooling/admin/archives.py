"""One ZIP archive of definition files, opened without believing what it says of itself."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import error as zlib_error

from tooling.findings import Severity
from tooling.specs import Kind
from tooling.yaml_files import YAML, ignored, is_file_of_a_set, nothing_in
from tooling.yaml_io import FOLDER
from tooling.yaml_nodes import Problem, shorten
from tooling.yaml_reader import MAX_BYTES, too_large

MOST_ENTRIES = 1000
LONGEST_NAME = 200
MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
"""How an archive, and an empty one, begins."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The definition files of an archive by path; FOLDER says that there are no workflows, as in an export.

    ``skipped`` are the other files; ``problems`` what could not be taken in, and why.
    """

    files: Mapping[str, bytes]
    problems: tuple[Problem, ...] = ()
    skipped: tuple[str, ...] = ()


class _Refused(Exception):
    """The archive is not read at all; holds the problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def is_archive(name: str, beginning: bytes) -> bool:
    return name.lower().endswith(".zip") or beginning.startswith(MAGIC)


def unpack(name: str, data: bytes, *, most_bytes: int) -> Unpacked:
    """The definition files in the archive ``name``, which may hold ``most_bytes`` when unpacked.

    Names as in directories: the files of a set, those below ``workflows/``, and nothing else. What is no plain file
    with a plain name refuses the whole archive; nothing is written to a disk.
    """
    try:
        with ZipFile(BytesIO(data)) as archive:
            return _read(name, archive, most_bytes)
    except _Refused as refused:
        return Unpacked({}, (refused.problem,))
    except (BadZipFile, zlib_error, NotImplementedError, OSError, EOFError, ValueError):
        return Unpacked({}, (_problem("archive.unreadable", "not a ZIP archive that can be read", name),))


def _problem(code: str, message: str, name: str, hint: str = "") -> Problem:
    return Problem(Severity.ERROR, code, message, name, hint=hint)


def _read(name: str, archive: ZipFile, most_bytes: int) -> Unpacked:
    entries = sorted(_checked(name, archive.infolist()), key=lambda entry: entry.filename)
    wanted = [entry for entry in entries if _is_wanted(entry.filename)]
    size = sum(entry.file_size for entry in wanted)
    if size > most_bytes:
        hint = "import the sets one after another, or with the command"
        message = f"{size} bytes when unpacked, the limit is {most_bytes}"
        raise _Refused(_problem("archive.too_large", message, name, hint))
    files = {entry.filename: archive.read(entry) for entry in wanted if entry.file_size <= MAX_BYTES}
    problems = [too_large(entry.filename, entry.file_size) for entry in wanted if entry.file_size > MAX_BYTES]
    others = [entry.filename for entry in entries if entry not in wanted and not entry.is_dir()]
    problems += [ignored(other) for other in others if _is_yaml(other)]
    if not wanted:
        problems.append(nothing_in(name))
    if any(_is_folder_of_workflows(entry) for entry in entries):
        files[FOLDER] = b""
    return Unpacked(files, tuple(problems), tuple(other for other in others if not _is_yaml(other)))


def _checked(name: str, entries: list[ZipInfo]) -> Iterator[ZipInfo]:
    """The entries, without what systems add for themselves; _Refused at the first that is not what it should be."""
    if len(entries) > MOST_ENTRIES:
        message = f"{len(entries)} files, the limit is {MOST_ENTRIES}"
        raise _Refused(_problem("archive.too_many", message, name))
    known: set[str] = set()
    for entry in entries:
        _check(name, entry)
        if entry.filename in known:
            message = f'"{shorten(entry.filename)}" is in the archive twice'
            raise _Refused(_problem("archive.twice", message, name))
        known.add(entry.filename)
        parts = PurePosixPath(entry.filename).parts
        if not any(part.startswith((".", "__MACOSX")) for part in parts):
            yield entry


def _check(name: str, entry: ZipInfo) -> None:
    path = entry.filename
    parts = path.removesuffix("/").split("/")
    if not path.isprintable() or not 0 < len(path) <= LONGEST_NAME:
        message = "the name of a file in it is too long, or has characters that cannot be shown"
        raise _Refused(_problem("archive.entry_name", message, name))
    if "\\" in path or ":" in path or any(part in ("", ".", "..") for part in parts):
        message = f'"{shorten(path)}" leads out of the archive'
        raise _Refused(_problem("archive.entry_path", message, name))
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        message = f'"{shorten(path)}" is a link, and no file'
        raise _Refused(_problem("archive.link", message, name))
    if entry.flag_bits & 0x1:
        message = f'"{shorten(path)}" is protected by a password'
        raise _Refused(_problem("archive.encrypted", message, name))
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        message = f'"{shorten(path)}" is packed in a way that is not read here'
        raise _Refused(_problem("archive.method", message, name, "make an ordinary ZIP archive"))


def _is_yaml(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in YAML


def _is_wanted(path: str) -> bool:
    file = PurePosixPath(path)
    if path.endswith("/"):
        return False
    return is_file_of_a_set(file) or (file.parent.name == Kind.WORKFLOWS and _is_yaml(path))


def _is_folder_of_workflows(entry: ZipInfo) -> bool:
    return entry.is_dir() and PurePosixPath(entry.filename).name == Kind.WORKFLOWS
