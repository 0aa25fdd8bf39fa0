"""Files that somebody chose in the browser: taken in, read as the command reads them, and carried to the second step.

Nothing is kept on the server between the steps: the page carries the texts, signed, and brings them back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.core.signing import BadSignature, Signer
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _

from tooling import publishing, yaml_io
from tooling.admin.archives import LONGEST_NAME, is_archive, unpack
from tooling.findings import Severity
from tooling.publishing import Change, Version
from tooling.specs import JSON, Definitions, Kind
from tooling.yaml_files import File, given_files
from tooling.yaml_io import Problem, Reading
from tooling.yaml_nodes import shorten
from tooling.yaml_reader import MAX_BYTES, too_large

MOST_TOGETHER = 5 * 256 * 1024
"""Bytes of all files of one import: what surely fits, packed and signed, into the form of the second step."""


@dataclass(slots=True)
class Upload:
    """The files by name, and what could not be taken in; ``skipped`` stood in an archive and is no definition file."""

    files: dict[str, bytes] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    keep: bool = False
    """Whether what the files do not name stays in the draft."""

    @property
    def is_empty(self) -> bool:
        return not (self.files or self.problems)

    def refuse(self, code: str, message: str, name: str, hint: str = "") -> None:
        self.problems.append(Problem(Severity.ERROR, code, message, name, hint=hint))


@dataclass(frozen=True, slots=True)
class Seen:
    """What an import would do to the draft as it was at ``version``."""

    version: Version
    draft: Definitions
    reading: Reading

    def changes(self) -> list[Change]:
        """Nothing where a file is wrong."""
        return publishing.diff(self.draft, self.reading.definitions or self.draft)


def refusal_of_body(request: HttpRequest) -> tuple[int, str] | None:
    """(status, why) where the request itself cannot be taken: it is too large, or none that a browser sends."""
    try:
        len(request.POST)
    except (RequestDataTooBig, TooManyFilesSent):
        return 413, _("That is too much at once. Import fewer files, or use the command.")
    except (MultiPartParserError, UnicodeDecodeError):
        return 400, _("The browser sent something that cannot be read. Choose the files again.")
    return None


def taken_from(request: HttpRequest) -> Upload:
    """The chosen files, archives opened, and the pasted text, in the order in which the command would read them."""
    upload = Upload(keep=request.POST.get("keep") == "yes")
    for file in request.FILES.getlist("files"):
        _add_file(upload, file)
    text = request.POST.get("text", "")
    if text.strip():
        _add(upload, _name_of_text(request, text), text.encode("utf-8", "surrogatepass"))
    size = sum(len(data) for data in upload.files.values())
    if size > MOST_TOGETHER:
        message = f"{size} bytes together, the limit is {MOST_TOGETHER}"
        upload.refuse("upload.too_large", message, next(iter(upload.files)), "import them one after another")
        upload.files.clear()
    return upload


def _name_of_text(request: HttpRequest, text: str) -> str:
    name = request.POST.get("name", "").strip()
    return name or ("pasted.json" if text.lstrip().startswith("{") else "pasted.yaml")


def _add_file(upload: Upload, file: UploadedFile[bytes]) -> None:
    name, size = str(file.name), file.size or 0
    beginning = file.read(4)
    if is_archive(name, beginning) and size <= MOST_TOGETHER:
        unpacked = unpack(name, beginning + file.read(), most_bytes=MOST_TOGETHER)
        upload.problems += unpacked.problems
        upload.skipped += unpacked.skipped
        for inner, data in unpacked.files.items():
            _add(upload, inner, data)
    elif is_archive(name, beginning):
        upload.refuse("upload.too_large", f"{size} bytes, the limit is {MOST_TOGETHER}", name)
    elif size > MAX_BYTES:
        upload.problems.append(too_large(name, size))
    else:
        _add(upload, name, beginning + file.read())


def _add(upload: Upload, name: str, data: bytes) -> None:
    if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
        message = "the name of the file is too long, or has characters that cannot be shown"
        upload.refuse("upload.name", message, "".join(one for one in shorten(name) if one.isprintable()))
    elif name in upload.files and name != yaml_io.FOLDER:
        upload.refuse("upload.twice", f'"{name}" was sent twice', name)
    else:
        upload.files[name] = data


def read(upload: Upload) -> Seen:
    """What the command would say of the files, now."""
    draft = publishing.draft()
    reading = yaml_io.read_files(
        {file.name: file.data for file in sorted(given_files(upload.files), key=_order)},
        stdio_commands=settings.MCP_STDIO_COMMANDS,
        base=draft,
        keep=upload.keep,
        unread=upload.problems,
    )
    return Seen(publishing.version_of(draft), draft, reading)


def _order(file: File) -> tuple[str, bool, str]:
    """Directory by directory, and in each the workflows last, as the command reads them."""
    path = PurePosixPath(file.name)
    below = path.parent.parent if path.parent.name == Kind.WORKFLOWS else path.parent
    return (str(below), file.kind is Kind.WORKFLOWS, file.name)


# From one step to the next ----------------------------------------------------------------------------------------


class _Compact:
    """Texts as they are, so that a page in any script stays small."""

    def dumps(self, carried: JSON) -> bytes:
        return json.dumps(carried, ensure_ascii=False, separators=(",", ":")).encode()

    def loads(self, data: bytes) -> JSON:
        return json.loads(data)


def carry(user_id: int, upload: Upload, version: Version) -> str:
    """The files and the version of the draft that they were compared with, for the form of the next step."""
    carried = {
        "files": {name: data.decode() for name, data in upload.files.items()},
        "keep": upload.keep,
        "release": version.release,
        "hash": version.hash,
    }
    return _signer(user_id).sign_object(carried, serializer=_Compact, compress=True)


def carried(user_id: int, token: str) -> tuple[Upload, Version] | None:
    """What ``carry`` packed for the same user; None for anything else."""
    try:
        held = _signer(user_id).unsign_object(token, serializer=_Compact)
    except BadSignature:
        return None
    files = {name: text.encode() for name, text in held["files"].items()}
    return Upload(files, keep=held["keep"]), Version(held["release"], held["hash"])


def _signer(user_id: int) -> Signer:
    return Signer(salt=f"tooling.import-files.{user_id}")
