"""The definitions over HTTP: the command's messages, roles, versions and conflicts, releases (contracts.md §3)."""

import base64
import threading
import zipfile
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import RequestDataTooBig
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from tests.builders import an_api_key
from tests.loading import DEFINITIONS
from tests.tooling.admin_pages import change_url, save
from tests.tooling.conftest import read
from tests.tooling.definitions_api import URL, Caller, files_in, is_problem, set_named
from tests.tooling.test_broken import Broken, broken_files, data_of
from tooling import catalog, publishing
from tooling.models import Policy, Release, Tool
from tooling.specs import Definitions
from transactions.api.parsing import BoundedJSONParser

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _python_is_allowed(settings: Any) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


@pytest.fixture
def publisher(db: None) -> Caller:
    return Caller(an_api_key("p", role="publisher"))


@pytest.fixture
def other(db: None) -> Caller:
    return Caller(an_api_key("o", role="publisher"))


def without(tool: str) -> dict[str, str]:
    """The set contas with one tool switched off."""
    files = set_named("contas")
    before = files["contas/tools.yaml"]
    head, tail = before.split(f"\n  {tool}:\n")
    files["contas/tools.yaml"] = f"{head}\n  {tool}:\n{tail.replace('enabled: true', 'enabled: false', 1)}"
    return files


def told_by_the_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What ``manage.py definitions validate`` says of the directory."""
    err = StringIO()
    monkeypatch.chdir(folder.parent)
    try:
        call_command("definitions", "validate", folder.name, stdout=StringIO(), stderr=err)
    except CommandError as error:
        assert "nothing was changed" in str(error)
    return err.getvalue().splitlines()


def encoded(files: dict[str, bytes]) -> dict[str, Any]:
    """Text where it is text, else bytes, as a program would send what it read from a disk."""
    sent: dict[str, Any] = {}
    for name, data in files.items():
        try:
            sent[name] = data.decode()
        except UnicodeDecodeError:
            sent[name] = {"base64": base64.b64encode(data).decode()}
    return sent


# The same checks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", broken_files(), ids=lambda broken: broken.name)
def test_a_broken_file_is_told_as_by_the_command(
    publisher: Caller, broken: Broken, copy_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
):
    folder = copy_of(broken.set_name)
    (folder.parent / broken.replaces).write_bytes(data_of(broken))
    files = encoded(files_in(folder))

    checked, put = publisher.validate(files), publisher.put(files)

    expected = told_by_the_command(folder, monkeypatch)
    (found,) = checked.json()["problems"]
    assert [found["text"]] == [row["text"] for row in put.json()["problems"]] == expected
    assert (found["id"], found["severity"], found["line"]) == (broken.code, broken.severity, broken.line)
    assert (found["file"], broken.gist in f"{found['message']} ({found['hint']})") == (broken.replaces, True)
    is_warning = broken.severity == "warning"
    assert put.status_code == 200 if is_warning else is_problem(put, 422, "invalid_files")
    assert checked.json()["valid"] is is_warning is Tool.objects.exists()


def test_an_old_installations_files_are_told_as_by_the_command(publisher: Caller, monkeypatch: pytest.MonkeyPatch):
    expected = told_by_the_command(DEFINITIONS / "legacy", monkeypatch)

    put = publisher.put(set_named("legacy"))

    assert [row["text"] for row in put.json()["problems"]] == expected
    assert (put.status_code, put.json()["warning_count"]) == (200, len(expected))
    assert publishing.draft() == read("legacy")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: &a [x]\nb: [*a, *a]\n", "yaml.alias"),
        ("tools: !!python/object/apply:os.system ['true']\n", "yaml.tag"),
        ("tools: " + "[" * 5000 + "]" * 5000, "yaml.too_deep"),
        ("tools:\n  x: \ud800\n", "file.not_utf8"),
        ("tools:\n  x: \0\n", "yaml.character"),
        ("--- {}\n--- {}\n", "yaml.documents"),
        ("tools: {", "yaml.syntax"),
    ],
    ids=lambda text: text[:14].encode("ascii", "replace").decode().strip() if " " in text else text,
)
def test_hostile_yaml_is_refused_with_its_place(publisher: Caller, published: Definitions, text: str, code: str):
    put = publisher.put({"tools.yaml": text})

    assert is_problem(put, 422, "invalid_files")
    assert code in {row["id"] for row in put.json()["problems"]}
    assert publishing.draft() == published


def test_the_draft_itself_is_checked_when_no_files_are_sent(publisher: Caller, published: Definitions):
    Policy.objects.filter(tool__name="cancelar_vas_avulso").update(requires=["nothing"])

    found = publisher.send("post", "validate/", {}).json()

    errors = [row for row in found["problems"] if row["severity"] == "error"]
    assert (found["valid"], found["error_count"]) == (False, 1)
    assert (errors[0]["id"], errors[0]["path"][:2]) == (
        "policy.requires_unknown",
        ["tool_policies", "cancelar_vas_avulso"],
    )


# What a request may hold --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({}, "files"),
        ({"files": {}}, "files"),
        ({"files": []}, "files"),
        ({"files": {"tools.yaml": 5}}, "files.tools.yaml"),
        ({"files": {"tools.yaml": {"base64": "%"}}}, "files.tools.yaml"),
        ({"files": {"tools.yaml": {"base64": "", "more": ""}}}, "files.tools.yaml"),
        ({"files": {"": "x"}}, "files"),
        ({"files": {"a\nb.yaml": "x"}}, "files"),
        ({"files": {"x" * 201: "x"}}, "files"),
        ({"files": {f"{number}.tools.yaml": "" for number in range(1001)}}, "files"),
    ],
)
def test_a_request_that_holds_no_files_is_refused(publisher: Caller, published: Definitions, body: Any, name: str):
    response = publisher.send("put", "draft/", body, publisher.etag())

    assert is_problem(response, 400, "invalid")
    assert [error["name"] for error in response.json()["errors"]] == [name]
    assert publishing.draft() == published


def test_a_body_over_two_mebibytes_is_refused(publisher: Caller):
    files = {"tools.yaml": "x" * 1_100_000, "routing.yaml": "x" * 1_100_000}

    assert is_problem(publisher.validate(files), 413, "too_large")


def test_a_body_that_is_too_large_is_not_read_to_its_end():
    endless = BytesIO(b" " * 4_000_000)

    with pytest.raises(RequestDataTooBig):
        BoundedJSONParser().parse(endless)

    assert endless.tell() <= 2 * 1024 * 1024 + 1


def test_a_body_without_a_length_is_not_taken_for_none(publisher: Caller, published: Definitions):
    chunked = publisher.headers | {"Transfer-Encoding": "chunked"}

    response = publisher.client.generic("POST", f"{URL}validate/", content_type="application/json", headers=chunked)

    assert is_problem(response, 411, "length_needed")


def test_a_kind_of_file_that_is_not_sent_stays_and_an_empty_folder_clears_the_workflows(publisher: Caller):
    publisher.put(set_named("pedidos"))
    routing = set_named("pedidos")["pedidos/routing.yaml"].replace("0.65", "0.9")

    kept = publisher.put({"routing.yaml": routing})
    gone = publisher.put({"workflows/": ""} | set_named("contas"))

    assert kept.json()["files"]["routing.yaml"] != ""
    assert any(name.startswith("workflows/") and text for name, text in kept.json()["files"].items())
    assert gone.status_code == 200
    assert publishing.draft() == read("contas")


# Roles --------------------------------------------------------------------------------------------

PATHS = ["draft/", "releases/", "releases/1/", "releases/1/diff"]


def changes(caller: Caller) -> list[Any]:
    """One request to everything that changes or checks something."""
    return [
        caller.put(set_named("contas"), "x"),
        caller.validate({"a": ""}),
        caller.publish("x", "x"),
        caller.roll_back(1),
    ]


def test_keys_of_operators_and_strangers_are_refused_everywhere(published: Definitions):
    operator, stranger = Caller(an_api_key("k")), Caller()

    for caller, status in ((operator, 403), (stranger, 401)):
        answers = [*(caller.get(path) for path in PATHS), *changes(caller)]
        assert all(is_problem(answer, status) for answer in answers)

    assert publishing.draft() == published
    assert Release.objects.count() == 1


def test_a_signed_in_business_admin_does_all_of_it_and_is_named(ana: Client, published: Definitions):
    caller = Caller(client=ana)

    assert [caller.get(path).status_code for path in PATHS] == [200] * 4
    assert caller.put(without("listar_servicos")).status_code == 200
    assert caller.publish().json()["author"] == "ana"
    assert caller.roll_back(1).json()["author"] == "ana"


def test_a_signed_in_user_needs_the_token_against_forgery(published: Definitions):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(User.objects.create_superuser("root", password=None))

    assert is_problem(Caller(client=browser).roll_back(1), 403)


@pytest.mark.parametrize(
    ("held", "allowed"),
    [
        ("view_", {"GET draft", "GET releases", "validate"}),
        ("change_", {"GET draft", "validate"}),
        ("publish_release", {"GET releases", "publish", "roll back"}),
    ],
)
def test_users_may_do_over_http_what_they_may_in_the_admin(published: Definitions, held: str, allowed: set[str]):
    user = User.objects.create_user("rui")
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="tooling", codename__startswith=held))
    client = Client()
    client.force_login(user)
    rui = Caller(client=client)

    answers = {
        "GET draft": rui.get("draft/"),
        "GET releases": rui.get("releases/"),
        "PUT draft": rui.put(set_named("contas"), '"x"'),
        "validate": rui.validate(set_named("contas")),
        "publish": rui.publish("again", '"x"'),
        "roll back": rui.roll_back(1),
    }

    assert {name for name, answer in answers.items() if answer.status_code != 403} == allowed


# Versions and conflicts ---------------------------------------------------------------------------


@pytest.mark.parametrize("if_match", [None, "", "*"])
def test_a_change_names_the_version_that_it_was_decided_on(publisher: Caller, published: Definitions, if_match):
    put = publisher.send("put", "draft/", {"files": without("listar_servicos")}, if_match)
    publish = publisher.send("post", "publish/", {"comment": "x"}, if_match)

    assert is_problem(put, 428, "if_match_needed") and is_problem(publish, 428, "if_match_needed")
    assert publishing.draft() == published


def test_a_draft_that_somebody_else_changed_is_not_overwritten(
    publisher: Caller, other: Caller, published: Definitions
):
    seen = publisher.etag()
    other.put(without("listar_servicos"))
    theirs = publishing.draft()

    late = publisher.put(without("cancelar_vas_avulso"), seen)

    assert is_problem(late, 412, "draft_moved")
    assert late.json()["changed_by"] == "key:publisher o" in late.json()["detail"]
    assert late.json()["changed_at"]
    assert publishing.draft() == theirs != published


def test_a_change_in_the_admin_is_a_conflict_that_names_its_author(
    publisher: Caller, ana: Client, published: Definitions
):
    seen = publisher.etag()
    url = change_url(Tool.objects.get(name="listar_servicos"))
    assert save(ana, url, selection_keywords="serviços") == []

    late = publisher.publish("mine", seen)

    assert is_problem(late, 412, "draft_moved")
    assert late.json()["changed_by"] == "ana"


@pytest.mark.parametrize("if_match", ['"1-abc"', "1", 'W/"x"', '"x", "y"', "\x7f", '"999999999999-' + "0" * 64 + '"'])
def test_a_version_that_is_none_of_ours_is_one_that_is_gone(publisher: Caller, published: Definitions, if_match: str):
    assert is_problem(publisher.put(without("listar_servicos"), if_match), 412, "draft_moved")


def test_the_answer_to_a_change_is_the_next_version(publisher: Caller, published: Definitions):
    before = publisher.etag()

    answer = publisher.put(without("listar_servicos"), f'"another", {before}')

    assert answer["ETag"] == publisher.etag() != before
    assert publisher.publish("off", answer["ETag"]).status_code == 201


def test_who_decided_before_somebody_published_decides_again(publisher: Caller, other: Caller, published: Definitions):
    publisher.put(without("listar_servicos"))
    seen = publisher.etag()
    other.publish("theirs")

    late = publisher.publish("mine", seen)

    assert is_problem(late, 412, "draft_moved")
    assert (late.json()["changed_by"], late.json()["release"]) == ("key:publisher o", 2)
    assert Release.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_publishers_at_once_one_wins_and_the_others_learn_who(contas: Definitions):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    publishing.replace_draft(contas)
    callers = [Caller(an_api_key(f"k{number}", role="publisher")) for number in range(4)]
    seen, together, answers = callers[0].etag(), threading.Barrier(4), []

    def run(caller: Caller) -> None:
        try:
            together.wait(10)
            answers.append(caller.publish("mine", seen))
        finally:
            connection.close()

    run_all(run, callers)

    assert sorted(answer.status_code for answer in answers) == [201, 412, 412, 412]
    winner = Release.objects.get().author
    assert {answer.json()["changed_by"] for answer in answers if answer.status_code == 412} == {winner}


@pytest.mark.django_db(transaction=True)
def test_of_writers_at_once_one_wins_and_nothing_is_mixed(contas: Definitions):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    publishing.replace_draft(contas)
    names = ["listar_servicos", "validar_vas_subject", "cancelar_vas_avulso"]
    writers = {name: Caller(an_api_key(name, role="publisher")) for name in names}
    seen, together, answers = next(iter(writers.values())).etag(), threading.Barrier(3), {}

    def run(name: str) -> None:
        files = set_named("contas")
        files["contas/tools.yaml"] = files["contas/tools.yaml"].replace(
            "\n    description: ", f"\n    description: {name} "
        )
        try:
            together.wait(10)
            answers[name] = writers[name].put(files, seen)
        finally:
            connection.close()

    run_all(run, names)

    assert sorted(answer.status_code for answer in answers.values()) == [200, 412, 412]
    (winner,) = [name for name, answer in answers.items() if answer.status_code == 200]
    described = {tool.description.default.split()[0] for tool in publishing.draft().tools.values()}
    assert described == {winner}


def run_all(run: Callable[[Any], None], each: list[Any]) -> None:
    threads = [threading.Thread(target=run, args=[one]) for one in each]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


# Publishing and rolling back ----------------------------------------------------------------------


def test_publishing_answers_the_number_and_the_hash(publisher: Caller, published: Definitions):
    publisher.put(without("listar_servicos"))

    answer = publisher.publish(" off ")

    release = Release.objects.get(number=2)
    assert answer.status_code == 201
    body = answer.json()
    assert (body["number"], body["hash"], body["comment"]) == (2, release.hash, "off")
    assert (body["author"], release.author) == ("key:publisher p",) * 2


@pytest.mark.parametrize("body", [{}, {"comment": ""}, {"comment": " \n"}, {"comment": "x" * 5001}, {"comment": ["x"]}])
def test_a_release_needs_a_comment(publisher: Caller, published: Definitions, body: Any):
    publisher.put(without("listar_servicos"))

    publish = publisher.send("post", "publish/", body, publisher.etag())
    back = publisher.send("post", "releases/1/rollback/", body)

    assert is_problem(publish, 400) and is_problem(back, 400)
    assert Release.objects.count() == 1


def test_nothing_new_is_not_published(publisher: Caller, published: Definitions):
    assert is_problem(publisher.publish(), 409, "nothing_changed")
    assert is_problem(publisher.roll_back(1), 409, "nothing_changed")
    assert Release.objects.count() == 1


def test_a_draft_with_errors_is_refused_with_every_finding(publisher: Caller, published: Definitions):
    Tool.objects.filter(name="validar_vas_subject").update(tool_type="query")
    Policy.objects.filter(tool__name="cancelar_vas_avulso").update(requires=["nothing"])

    refused = publisher.publish()

    assert is_problem(refused, 422, "invalid_draft")
    expected = [str(one) for one in publishing.check_draft() if one.is_error]
    assert [row["text"] for row in refused.json()["problems"] if row["severity"] == "error"] == expected
    assert refused.json()["error_count"] == len(expected) > 0


def test_rolling_back_makes_a_new_release_with_the_old_content(publisher: Caller, published: Definitions):
    publisher.put(without("listar_servicos"))
    publisher.publish()

    answer = publisher.roll_back(1)

    assert answer.status_code == 201
    assert (answer.json()["number"], answer.json()["hash"]) == (3, Release.objects.get(number=1).hash)
    assert publishing.draft() == catalog.current().definitions == published


def test_rolling_back_with_a_version_spares_a_draft_that_nobody_looked_at(
    publisher: Caller, other: Caller, published: Definitions
):
    publisher.put(without("listar_servicos"))
    publisher.publish()
    seen = publisher.etag()
    other.put(set_named("pedidos") | {"workflows/": ""} | set_named("contas"))

    assert is_problem(publisher.roll_back(1, if_match=seen), 412, "draft_moved")
    assert Release.objects.count() == 2


def test_what_is_not_there_is_not_found(publisher: Caller, published: Definitions):
    paths = ["releases/9/", "releases/99999999999999999999/", "releases/9/diff", "releases/1/diff?to=9"]

    assert all(is_problem(publisher.get(path), 404) for path in paths)
    assert is_problem(publisher.roll_back(9), 404)
    assert all(is_problem(publisher.get(f"releases/1/diff?to={to}"), 400) for to in ("x", "-1", "1" * 30))


# Reading ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [["contas"], ["pedidos"], ["contas", "pedidos"], ["legacy"]])
def test_the_files_of_a_release_make_an_equal_one(publisher: Caller, names: list[str]):
    publishing.replace_draft(read(*names))
    first = publishing.publish(comment="first")
    files = publisher.get("releases/1/").json()["files"]
    publishing.replace_draft(read("pedidos" if "pedidos" not in names else "legacy"))
    publisher.publish("something else")

    put = publisher.put(files)

    assert put.status_code == 200
    assert put.json()["hash"] == first.hash
    assert put.json()["files"] == files
    assert publisher.publish("again").json()["hash"] == first.hash


@pytest.mark.parametrize("name", ["contas", "pedidos"])
def test_a_release_is_downloaded_as_files_that_the_command_imports(publisher: Caller, name: str, tmp_path: Path):
    publishing.replace_draft(read(name))
    first = publishing.publish(comment="first")
    publishing.replace_draft(read("legacy"))

    answer = publisher.get("releases/1/?format=zip")

    assert answer["Content-Type"] == "application/zip"
    assert answer["Content-Disposition"] == 'attachment; filename="definitions-release-1.zip"'
    zipfile.ZipFile(BytesIO(answer.content)).extractall(tmp_path)
    call_command("definitions", "import", str(tmp_path), stdout=StringIO())
    assert publishing.publish(comment="again", force=True).hash == first.hash
    assert is_problem(publisher.get("releases/9/?format=zip"), 404)


def test_releases_are_listed_newest_first_in_pages(publisher: Caller, published: Definitions):
    for number in range(2, 6):
        publishing.publish(comment=f"number {number}", force=True)

    first = publisher.get("releases/?page_size=2").json()
    second = publisher.client.get(first["next"], headers=publisher.headers).json()
    back = publisher.client.get(second["previous"], headers=publisher.headers).json()

    assert [row["number"] for row in first["results"]] == [5, 4]
    assert [row["number"] for row in second["results"]] == [3, 2]
    assert back["results"] == first["results"]
    assert first["results"][0].keys() == {
        "number",
        "hash",
        "comment",
        "author",
        "created_at",
        "approver",
        "rolled_back_to",
    }


@pytest.mark.parametrize(
    "query", ["cursor=x", "cursor=cD1hYmM%3D", "cursor=cD0%3D", "page_size=0", "page_size=201", "page_size=x"]
)
def test_a_cursor_or_size_that_is_not_ours_is_refused(publisher: Caller, published: Definitions, query: str):
    assert is_problem(publisher.get(f"releases/?{query}"), 400)


def test_a_difference_is_told_as_by_the_command(publisher: Caller, published: Definitions):
    publisher.put(without("listar_servicos"))
    publisher.publish()

    to_draft, to_two = publisher.get("releases/1/diff"), publisher.get("releases/1/diff?to=2")

    out = StringIO()
    call_command("definitions", "diff", "1", "2", stdout=out)
    (change,) = to_two.json()["changes"]
    assert change["text"] == out.getvalue().strip()
    assert (change["kind"], change["old"], change["new"]) == ("changed", True, False)
    assert change["path"] == ["tools", "listar_servicos", "enabled"]
    assert to_draft.json() == {"from": "1", "to": "draft", "changes": [change]}


def test_the_draft_is_read_with_what_is_wrong_with_it(publisher: Caller, published: Definitions):
    answer = publisher.get("draft/").json()

    assert (answer["release"], answer["hash"]) == (1, Release.objects.get().hash)
    assert answer["files"] == publisher.get("releases/1/").json()["files"]
    assert [row["text"] for row in answer["problems"]] == [str(one) for one in publishing.check_draft()]


def test_what_is_found_comes_with_what_to_do_and_doubts_stop_nobody(publisher: Caller, published: Definitions):
    Policy.objects.filter(tool__name="cancelar_vas_avulso").update(fail_open=True)
    Tool.objects.filter(name="listar_servicos").update(enabled=False)

    answer = publisher.get("draft/").json()
    released = publisher.publish()

    assert [answer[f"{kind}_count"] for kind in ("error", "warning", "note")] == [0, 1, 1]
    rows = [(row["id"], row["severity"], row["needs_tick"]) for row in answer["problems"]]
    assert rows == [("policy.fail_open", "warning", True), ("intent.tool_disabled", "note", False)]
    assert all(row["hint"].endswith(".") for row in answer["problems"])
    assert (released.status_code, released.json()["warnings"]) == (201, answer["problems"])


def test_an_import_by_the_command_is_a_change_with_an_author(publisher: Caller, published: Definitions):
    seen = publisher.etag()
    call_command("definitions", "import", str(DEFINITIONS / "pedidos"), stdout=StringIO(), stderr=StringIO())

    assert publisher.put(without("listar_servicos"), seen).json()["changed_by"] == "manage.py"


def test_too_many_requests_of_one_key_have_to_wait(publisher: Caller, other: Caller, settings, monkeypatch):
    from django.core.cache import cache

    from tooling.api.access import DefinitionsThrottle

    cache.clear()
    settings.RATE_LIMITS = True
    monkeypatch.setattr(DefinitionsThrottle, "rate", "2/min")

    answers = [caller.get("releases/") for caller in (publisher, publisher, publisher, other)]

    assert [answer.status_code for answer in answers] == [200, 200, 429, 200]
