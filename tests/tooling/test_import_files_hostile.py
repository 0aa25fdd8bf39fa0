"""What the page that imports files refuses: what is too large, hostile archives and names, and what is no text."""

import random
import stat
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_LZMA, ZipFile, ZipInfo

import pytest
from django.test import Client

from tests.loading import DEFINITIONS
from tests.tooling.conftest import read
from tests.tooling.uploading import Importer, Page, command_says, zip_of, zipped
from tooling import publishing
from tooling.admin.uploads import MOST_TOGETHER
from tooling.specs import Definitions

pytestmark = pytest.mark.django_db
TOOLS = "version: 1\ntools:\n  listar: {mcp_server: contas, description: lists, tool_type: query}\n"


@pytest.fixture
def page(ana: Client) -> Importer:
    return Importer(ana)


def test_without_anything_the_page_says_what_to_do(page: Importer):
    assert page.look().messages() == ["Choose at least one file, or paste a text."]


def test_a_file_over_one_mebibyte_is_told_as_by_the_command_and_one_of_just_that_is_read(page: Importer):
    line = b"# " + b"x" * 97 + b"\n"
    text = TOOLS.encode().replace(b"contas", b"s") + line * 10_486
    servers = {"mcp_servers.yaml": b"version: 1\nmcp_servers: {s: {endpoint: 'https://x.example/mcp'}}\n"}

    exact = page.look(servers | {"tools.yaml": text[:1_048_575] + b"\n"})
    over = page.look(servers | {"tools.yaml": text[:1_048_576] + b"\n"})

    assert exact.problems == []
    assert over.problems == [
        "tools.yaml:1:1: 1048577 bytes, the limit is 1048576 (split the set into several directories)"
    ]
    page.write(exact)
    assert set(publishing.draft().tools) == {"listar"}


def test_files_that_are_too_large_together_are_refused(page: Importer):
    files = {"tools.yaml": b"#" * 900_000, "routing.yaml": b"#" * 900_000}

    assert "1800000 bytes together, the limit is" in page.look(files).problems[0]


def test_the_largest_import_in_any_script_fits_into_the_second_step(page: Importer, published: Definitions):
    words = random.Random(4)
    text = "".join(chr(words.randrange(0x4E00, 0x9FFF)) for _ in range((MOST_TOGETHER // 2 - 100) // 3))
    texts = {name: f"version: 1\nprofiles: {{}}\n# {text}\n".encode() for name in ("a.yaml", "b.yaml")}

    shown = page.look(texts)
    page.write(shown)

    assert sum(len(data) for data in texts.values()) > MOST_TOGETHER - 1000
    assert publishing.draft().profiles == {}


@pytest.mark.parametrize("body", [{"text": "x" * 3_000_000}, {"step": "write", "files": "x" * 10_000_000}])
def test_a_body_that_is_too_large_is_told_on_the_page(page: Importer, published: Definitions, body: dict[str, str]):
    told = Page(page.client.post(page.url, body))

    assert told.status == 413
    assert "too much at once" in told.messages()[0]
    assert publishing.draft() == published


def test_an_upload_of_ten_megabytes_is_refused_by_its_size(page: Importer):
    told = page.look({"tools.yaml": b"#" * 10_000_000, "x.zip": b"PK\x03\x04" + b"#" * 10_000_000})

    assert told.problems == [
        "tools.yaml:1:1: 10000000 bytes, the limit is 1048576 (split the set into several directories)",
        f"x.zip:1:1: 10000004 bytes, the limit is {MOST_TOGETHER}",
    ]


def test_too_many_files_are_told_on_the_page(page: Importer):
    assert page.look({f"{n}.yaml": b"" for n in range(101)}).status == 413


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("version: 1\n".encode("utf-16"), "byte 0xff is not UTF-8 (save the file as UTF-8)"),
        ("# ação\n".encode("latin-1"), "byte 0xe7 is not UTF-8 (save the file as UTF-8)"),
        (b"\x89PNG\r\n\x1a\n\0", "byte 0x89 is not UTF-8 (save the file as UTF-8)"),
        ("version: 1\n".encode("utf-16-be"), "character U+0000 is not allowed"),
        (b"\x1f\x8b\x08", "byte 0x8b is not UTF-8"),
    ],
)
def test_what_is_no_text_is_told_at_its_place(page: Importer, published: Definitions, data: bytes, message: str):
    told = page.look({"tools.yaml": data})

    assert message in told.problems[0]
    assert not told.can_write


def test_an_empty_file_is_read_as_by_the_command(page: Importer, tmp_path: Path):
    (tmp_path / "tools.yaml").write_bytes(b"")

    assert page.look({"tools.yaml": b""}).problems == command_says(tmp_path / "tools.yaml")


def test_the_same_name_twice_is_refused(page: Importer):
    told = page.look({"tools.yaml": TOOLS.encode()}, text=TOOLS, name="tools.yaml")

    assert '"tools.yaml" was sent twice' in told.problems[0]


def test_hostile_names_and_texts_are_shown_as_text(page: Importer):
    name = "<img src=x onerror=alert(1)>.yaml"

    told = page.look(text="version: 1\ntools: {'<script>alert(1)</script>': 5}\n", name=name)

    assert "<script>alert(1)" not in told.html
    assert "<img src=x" not in told.html
    assert told.problems[0].startswith(name)


@pytest.mark.parametrize("name", ["a\u202eb.yaml", "x" * 201, "a\x07.yaml"])
def test_a_name_that_cannot_be_shown_is_refused(page: Importer, name: str):
    told = page.look(text=TOOLS, name=name)

    assert "characters that cannot be shown" in told.problems[0]
    assert "\u202e" not in told.problems[0]


def test_of_many_problems_the_first_are_shown_and_the_rest_is_counted(page: Importer):
    told = page.look(text="version: 1\n" + "".join(f"key{n}: 1\n" for n in range(700)), name="tools.yaml")

    assert len(told.problems) == 500
    assert "200 more are not shown." in told.html


# Archives -------------------------------------------------------------------------------------------

GOOD = {path.name: path.read_bytes() for path in sorted((DEFINITIONS / "contas").glob("*.yaml"))}


def link(name: str) -> ZipInfo:
    entry = ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def with_password(data: bytes) -> bytes:
    """The archive with the mark of a password on its only file, in both places that say so."""
    changed = bytearray(data)
    changed[6] |= 1
    changed[data.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(changed)


def lying(data: bytes, size: int) -> bytes:
    """The archive of one file, which says that the file has ``size`` bytes."""
    changed = bytearray(data)
    start = data.rindex(b"PK\x01\x02") + 24
    changed[start : start + 4] = size.to_bytes(4, "little")
    return bytes(changed)


def packed(method: int) -> bytes:
    held = BytesIO()
    with ZipFile(held, "w", method) as archive:
        archive.writestr("tools.yaml", "version: 1\n")
    return held.getvalue()


BOMB = zipped({"tools.yaml": b"#" * 1_000_000, "routing.yaml": b"#" * 1_000_000})
REFUSED = {
    "no archive at all": (b"version: 1\n", "not a ZIP archive that can be read"),
    "cut off": (zipped(GOOD)[:-30], "not a ZIP archive that can be read"),
    "damaged": (zipped({"tools.yaml": b"a" * 500}).replace(b"K", b"\xff", 1)[:], "not a ZIP archive that can be read"),
    "says too little of itself": (lying(zipped({"tools.yaml": b"#" * 5000}), 10), "not a ZIP archive that can be read"),
    "a bomb": (BOMB, "2000000 bytes when unpacked, the limit is"),
    "too many files": (zipped({f"{n}.txt": b"" for n in range(1001)}), "1001 files, the limit is 1000"),
    "up and out": (zipped({"../tools.yaml": b""}), '"../tools.yaml" leads out of the archive'),
    "from the root": (zipped({"/etc/tools.yaml": b""}), '"/etc/tools.yaml" leads out of the archive'),
    "a drive": (zipped({"C:/tools.yaml": b""}), '"C:/tools.yaml" leads out of the archive'),
    "the other slash": (zipped({"..\\tools.yaml": b""}), "leads out of the archive"),
    "a link": (zipped([(link("tools.yaml"), b"/etc/passwd")]), '"tools.yaml" is a link, and no file'),
    "a password": (with_password(zipped({"tools.yaml": b"x: 1"})), '"tools.yaml" is protected by a password'),
    "a name from right to left": (zipped({"\u202etools.yaml": b""}), "characters that cannot be shown"),
    "a very long name": (zipped({"x" * 201: b""}), "too long"),
    "lzma": (packed(ZIP_LZMA), '"tools.yaml" is packed in a way that is not read here'),
    "bzip2": (packed(ZIP_BZIP2), '"tools.yaml" is packed in a way that is not read here'),
    "an archive in an archive": (zipped({"set.zip": zipped(GOOD)}), "no definition file here"),
    "nothing": (zipped({}), "no definition file here"),
}


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED)
def test_an_archive_that_is_not_what_it_should_be_is_refused_as_a_whole(
    page: Importer, published: Definitions, data: bytes, message: str
):
    told = page.look({"set.zip": data})

    assert told.problems[0].startswith("set.zip:1:1: ")
    assert message in told.problems[0]
    assert len([line for line in told.problems if not line.startswith("(draft)")]) == 1
    assert not told.can_write
    assert publishing.draft() == published


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_twice_in_an_archive_is_refused(page: Importer):
    told = page.look({"set.zip": zipped([("tools.yaml", b"a"), ("tools.yaml", b"b")])})

    assert '"tools.yaml" is in the archive twice' in told.problems[0]


def test_a_file_in_an_archive_that_is_too_large_is_told_as_in_a_directory(page: Importer, tmp_path: Path):
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "tools.yaml").write_bytes(b"#" * 1_100_000)

    assert page.look_at(folder).problems == command_says(folder)


def test_an_archive_that_nobody_called_one_is_read_all_the_same(page: Importer):
    page.write(page.look({"download": zip_of(DEFINITIONS / "contas")}))

    assert publishing.draft() == read("contas")


def test_what_systems_add_to_archives_is_passed_over_and_other_files_are_named(page: Importer):
    more = {
        "__MACOSX/tools.yaml": b"\0",
        ".DS_Store": b"\0",
        ".git/tools.yaml": b"x",
        "inner.zip": b"PK",
        "README.md": b"",
    }

    shown = page.look({"set.zip": zipped(GOOD | more)})

    assert shown.problems == []
    assert "Not read, because they are no definition files" in shown.html
    assert "<code>README.md</code>" in shown.html
    assert "MACOSX" not in shown.html
    page.write(shown)
    assert publishing.draft() == read("contas")


def test_an_archive_without_any_definitions_beside_good_files_is_still_an_error(page: Importer):
    told = page.look(GOOD | {"photos.zip": zipped({"a.png": b""})})

    assert "photos.zip:1:1: no definition file here" in told.problems[0]
    assert not told.can_write
