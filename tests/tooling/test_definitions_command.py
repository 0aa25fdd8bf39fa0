"""``manage.py definitions``: what it changes, what it prints and when it exits with 1 (contracts.md §1, §7)."""

import shutil
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.loading import DEFINITIONS
from tests.tooling.conftest import read
from tooling import catalog, publishing
from tooling.hints import hint_of
from tooling.models import Release, Tool

pytestmark = pytest.mark.django_db
CONTAS = str(DEFINITIONS / "contas")
PEDIDOS = str(DEFINITIONS / "pedidos")


@pytest.fixture(autouse=True)
def _python_is_allowed(settings) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


def definitions(*arguments: str) -> tuple[str, str]:
    """Run the command; its standard output and error."""
    out, err = StringIO(), StringIO()
    call_command("definitions", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def failing(*arguments: str) -> tuple[CommandError, str]:
    err = StringIO()
    with pytest.raises(CommandError) as failed:
        call_command("definitions", *arguments, stdout=StringIO(), stderr=err)
    assert failed.value.returncode == 1
    return failed.value, err.getvalue()


@pytest.fixture
def broken(copy_of: Callable[[str], Path]) -> Path:
    folder = copy_of("contas")
    shutil.copy(DEFINITIONS / "broken" / "16_number_where_string.tools.yaml", folder / "tools.yaml")
    return folder


def test_validating_changes_nothing(db: None):
    out, err = definitions("validate", CONTAS, PEDIDOS)

    assert (out, err) == ("valid\n", "")
    assert not Tool.objects.exists()


def test_an_error_is_printed_with_its_place_as_typed_and_exits_with_one(broken: Path, monkeypatch):
    monkeypatch.chdir(broken.parent)

    error, err = failing("validate", "contas")

    assert err == "contas/tools.yaml:24:18: description: expected text, got the number 2024\n"
    assert str(error) == "1 error; nothing was changed"


def test_importing_alone_makes_a_draft(db: None):
    definitions("import", CONTAS)

    assert publishing.draft() == read("contas")
    assert catalog.newest() is None


def test_importing_and_publishing_makes_a_release(db: None):
    out, _ = definitions("import", CONTAS, PEDIDOS, "--publish", "-m", "first")

    assert "published release 1" in out
    assert catalog.current().definitions == read("contas", "pedidos")
    assert Release.objects.get().comment == "first"


def test_importing_the_same_again_publishes_nothing_and_succeeds(db: None):
    definitions("import", CONTAS, "--publish", "-m", "first")

    out, _ = definitions("import", CONTAS, "--publish", "-m", "second")

    assert "release 1 already holds exactly this" in out
    assert Release.objects.count() == 1


def test_a_set_with_an_error_changes_neither_draft_nor_release(broken: Path):
    definitions("import", CONTAS, "--publish", "-m", "first")

    failing("import", str(broken), "--publish", "-m", "second")

    assert publishing.draft() == read("contas")
    assert Release.objects.count() == 1


def test_publishing_from_files_needs_a_comment(db: None):
    error, _ = failing("import", CONTAS, "--publish")

    assert "comment" in str(error)
    assert not Tool.objects.exists()


def test_warnings_are_printed_and_do_not_stop_an_import(db: None):
    _, err = definitions("import", str(DEFINITIONS / "legacy"))

    assert 'tools.yaml:36:5: warning: unknown key "multi_item": has no effect; remove it' in err
    assert publishing.draft() == read("legacy")


def test_one_file_changes_one_kind(db: None, copy_of: Callable[[str], Path]):
    definitions("import", CONTAS)
    routing = copy_of("contas") / "routing.yaml"
    routing.write_text(routing.read_text("utf-8").replace("0.65", "0.9"), "utf-8")

    definitions("import", str(routing))

    draft = publishing.draft()
    assert draft.router.confidence_threshold == 0.9
    assert (draft.tools, draft.policies) == (read("contas").tools, read("contas").policies)


@pytest.mark.parametrize("names", [["contas"], ["pedidos"], ["contas", "pedidos"]])
def test_an_export_can_be_imported_and_is_equal(names: list[str], tmp_path: Path):
    definitions("import", *(str(DEFINITIONS / name) for name in names), "--publish", "-m", "first")
    first = Release.objects.get().hash

    definitions("export", str(tmp_path / "out"))
    publishing.replace_draft(read("legacy"))
    definitions("import", str(tmp_path / "out"))
    publishing.publish(comment="again", force=True)

    assert catalog.current().hash == first


def test_an_export_may_be_the_draft_or_an_earlier_release(tmp_path: Path):
    definitions("import", CONTAS, "--publish", "-m", "first")
    definitions("import", PEDIDOS, "--publish", "-m", "second")
    publishing.replace_draft(read("legacy"))

    for name, arguments in {"one": ["--release", "1"], "two": [], "draft": ["--draft"]}.items():
        definitions("export", str(tmp_path / name), *arguments)

    tools = {name: (tmp_path / name / "tools.yaml").read_text("utf-8") for name in ("one", "two", "draft")}
    assert "listar_servicos" in tools["one"]
    assert "consultar_pedidos" in tools["two"]
    assert "consultar_faturas" in tools["draft"]


def test_a_comparison_lists_what_changes(db: None):
    definitions("import", CONTAS, "--publish", "-m", "first")
    Tool.objects.filter(name="listar_servicos").update(enabled=False)

    against_draft, _ = definitions("diff")
    definitions("publish", "-m", "off")
    between, _ = definitions("diff", "1", "2")

    assert against_draft == between == "~ tools.listar_servicos.enabled: true → false\n"
    assert definitions("diff")[0] == "no difference\n"


def test_rolling_back_makes_a_new_release_with_the_old_content(db: None):
    definitions("import", CONTAS, "--publish", "-m", "first")
    definitions("import", PEDIDOS, "--publish", "-m", "second")

    out, _ = definitions("rollback", "1", "-m", "back")

    assert "published release 3 with the content of release 1" in out
    assert catalog.current().definitions == read("contas")


def test_what_is_not_there_exits_with_one(db: None):
    assert "no release 9" in str(failing("rollback", "9", "-m", "x")[0])
    assert "nothing is published" in str(failing("diff")[0])
    assert "nowhere:1:1: No such file or directory" in failing("validate", "nowhere")[1]


# What to do about it, with -v 2 ---------------------------------------------------------------------


def test_what_to_do_is_printed_where_it_is_asked_for(broken: Path, monkeypatch):
    monkeypatch.chdir(broken.parent)

    _, err = failing("validate", "contas", "-v", "2")

    assert err == (
        "contas/tools.yaml:24:18: description: expected text, got the number 2024\n"
        "  hint: Write a text; put it in quotes if it looks like something else.\n"
    )


@pytest.fixture
def doubtful(copy_of: Callable[[str], Path], monkeypatch) -> Path:
    """contas with an open validator and a keyword in two intents."""
    folder = copy_of("contas")
    for name, old, new in (
        ("tool_policies.yaml", "fail_open: false", "fail_open: true"),
        ("routing.yaml", "- meus serviços", "- Tirar da minha conta"),
    ):
        file = folder / name
        file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    monkeypatch.chdir(folder.parent)
    return folder


def test_what_is_doubtful_in_files_is_printed_at_its_place_where_it_is_asked_for(doubtful: Path):
    assert definitions("validate", "contas") == ("valid\n", "")

    out, err = definitions("validate", "contas", "-v", "2")

    assert out == "valid\n"
    assert err == (
        'contas/routing.yaml:30:9: warning: keyword "tirar da minha conta" is also one of intent "consultar_servicos", '
        "which gets the message: its priority number is lower\n"
        "  hint: Remove the keyword from one of the two intents.\n"
        "contas/tool_policies.yaml:27:18: warning: fail_open is on: items that were not validated will pass when the "
        "validator is down\n"
        f"  hint: {hint_of('policy.fail_open')}\n"
    )


def test_what_is_doubtful_is_printed_by_publishing_where_it_is_asked_for_and_never_stops_it(doubtful: Path):
    definitions("import", "contas")

    out, err = definitions("publish", "-m", "first", "-v", "2")

    assert out.startswith("published release 1 (")
    assert "warning: fail_open is on" in err
    assert Release.objects.count() == 1
