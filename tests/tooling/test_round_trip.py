"""What is published, exported and imported is the same again, whatever the set and whichever way it goes."""

import shutil
import tempfile
from io import BytesIO, StringIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.test import Client
from hypothesis import HealthCheck, given, settings

from tests.tooling.conftest import read
from tests.tooling.generated import definitions
from tests.tooling.test_content import hash_of
from tests.tooling.uploading import Importer
from tooling import catalog, publishing, yaml_io
from tooling.specs import Definitions, Kind

pytestmark = pytest.mark.django_db
MANY = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True)
def _python_is_allowed(settings) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


@pytest.fixture
def folder():
    """A directory for every example of a generated test, empty each time that ``fresh`` is called."""
    path = Path(tempfile.mkdtemp())
    yield path
    shutil.rmtree(path)


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def published(made: Definitions) -> str:
    """The hash of ``made`` as a release; the draft holds something else afterwards."""
    publishing.replace_draft(made)
    release = publishing.publish(comment="generated", force=True)
    publishing.replace_draft(read("legacy"))
    return release.hash


def definitions_command(*arguments: str) -> None:
    call_command("definitions", *arguments, stdout=StringIO(), stderr=StringIO())


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@MANY
@given(made=definitions())
def test_any_release_that_is_exported_and_imported_by_command_has_an_equal_hash(folder: Path, made: Definitions):
    first = published(made)
    definitions_command("export", str(fresh(folder / "one")))

    definitions_command("import", str(folder / "one"))
    again = publishing.publish(comment="again", force=True)
    definitions_command("export", str(fresh(folder / "two")))

    assert (first, again.hash) == (hash_of(made), hash_of(made))
    assert files_of(folder / "one") == files_of(folder / "two")


@MANY
@given(made=definitions())
def test_any_release_that_is_downloaded_and_imported_in_the_admin_has_an_equal_hash(ana: Client, made: Definitions):
    first = published(made)
    number = catalog.current().number
    archive = download(ana, f"releases/{number}/")

    page = Importer(ana)
    done = page.write(page.look({"release.zip": archive}))
    again = publishing.publish(comment="again", force=True)

    assert "The draft holds what the files say" in done.html
    assert (first, again.hash) == (hash_of(made), hash_of(made))
    assert download(ana, f"releases/{again.number}/") == archive


def download(client: Client, path: str) -> bytes:
    return client.get(f"/api/v1/definitions/{path}", headers={"Accept": "application/zip"}).content


@settings(MANY, max_examples=4)
@given(made=definitions(), there=definitions())
def test_what_is_shown_is_what_is_written_whatever_kinds_are_sent(ana: Client, made: Definitions, there: Definitions):
    publishing.replace_draft(there)
    with ZipFile(BytesIO(archive_of(ana, made, there))) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    page = Importer(ana)

    for kind in Kind:
        before = publishing.draft()
        chosen = {name: data for name, data in files.items() if name.startswith(str(kind))}
        shown = page.look(chosen) if chosen else None
        if shown is None or not shown.can_write:
            assert publishing.draft() == before
            continue
        expected = yaml_io.read_files(chosen, stdio_commands=["python"], base=before).definitions
        page.write(shown)
        assert publishing.draft() == expected


def archive_of(client: Client, made: Definitions, then: Definitions) -> bytes:
    publishing.replace_draft(made)
    archive = download(client, "draft/")
    publishing.replace_draft(then)
    return archive


@pytest.mark.parametrize("name", ["biblioteca", "contas", "pedidos", "legacy"])
def test_a_set_of_the_tests_makes_the_round_through_the_admin(ana: Client, name: str):
    first = published(read(name))
    page = Importer(ana)

    page.write(page.look({"x.zip": download(ana, f"releases/{catalog.current().number}/")}))

    assert hash_of(publishing.draft()) == first
