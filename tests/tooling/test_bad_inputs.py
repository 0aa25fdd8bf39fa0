"""The cases of bad_inputs.jsonl about definitions: files by the command and by the page, addresses, and conflicts.

The others are named by surface: they concern the chat, models and answers of servers.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.loading import cases
from tests.test_promises import functions_of
from tests.tooling.admin_pages import add_url, save
from tests.tooling.file_cases import SET, Imported, imported
from tests.tooling.uploading import Importer, command_says, zipped
from tooling import publishing
from tooling.checks_of_sets import check
from tooling.gateway import NotSent
from tooling.mcp_targets import refusal_of_addresses, target_of
from tooling.models import McpServer
from tooling.specs import Definitions, ServerSpec, Text, ToolSpec

pytestmark = pytest.mark.django_db
CASES = {case["id"]: case for case in cases("bad_inputs")}
OF_OTHERS = ("chat/", "ws/", "llm/", "mcp/", "privacy", "admin/text")
"""Surfaces that are no matter of definitions."""
ELSEWHERE = {
    "BAD-181": "tests/tooling/test_mcp_outcomes.py::"
    "test_what_is_no_proper_answer_is_unknown_and_the_call_was_posted_once",
    "BAD-199": "tests/tooling/test_definitions_api.py::test_who_decided_before_somebody_published_decides_again",
    "BAD-200": "tests/tooling/test_definitions_api.py::test_a_change_in_the_admin_is_a_conflict_that_names_its_author",
    "BAD-201": "tests/console/test_login.py::test_after_ten_failures_even_the_right_password_has_to_wait",
    "BAD-202": "tests/console/test_login.py::test_a_session_gets_a_new_id_at_login_and_dies_at_logout",
    "BAD-205": "tests/api/test_transactions_api.py::test_lookups_that_are_no_filters_reach_no_database",
    "BAD-206": "tests/api/test_transactions_api.py::test_a_value_that_cannot_be_read_is_a_problem_that_names_it",
}


@pytest.fixture
def page(ana: Client) -> Importer:
    return Importer(ana)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "set"


def given_file(yaml: str) -> dict[str, str]:
    """The file of the set that ``yaml`` stands for; ``x`` is a tool of ours where it is only a policy."""
    if "tool_policies" in yaml:
        tools = SET["tools.yaml"] + "  x: {mcp_server: s, description: d, args_schema: {a: string}}\n"
        return {"tool_policies.yaml": "version: 1\n" + yaml, "tools.yaml": tools}
    return {"tools.yaml": yaml.replace("{description:", "{mcp_server: s, description:")}


def saved_nothing(result: Imported) -> bool:
    return not result.saved and result.draft == Definitions()


REFUSED = {
    "BAD-125": "tag",
    "BAD-126": "alias",
    "BAD-127": "alias",
    "BAD-129": "a tab cannot indent",
    "BAD-130": "a second document begins",
    "BAD-133": 'did you mean "transactional"?',
    "BAD-134": "expected true or false",
    "BAD-137": "version: expected 1",
    "BAD-138": 'policy for "nao_existe", which is not in tools.yaml',
    "BAD-139": 'validator "nao_existe" is not in tools.yaml',
    "BAD-140": "validator loop: x -> x",
    "BAD-141": 'requires "nao_declarado", which is not in its args_schema',
}


@pytest.mark.parametrize("id_", REFUSED)
def test_a_file_that_must_be_refused_is_refused_with_its_reason(page: Importer, folder: Path, id_: str):
    case = CASES[id_]

    result = imported(page, folder, given_file(case["when"]["yaml"]))

    assert any(REFUSED[id_] in line for line in result.errors), result.told
    assert saved_nothing(result)
    if "line" in case["then"]:
        assert result.errors[0].startswith(f"set/tools.yaml:{case['then']['line']}:")


AS_WRITTEN = {"BAD-143": "no", "BAD-144": "012", "BAD-145": "1_000"}


@pytest.mark.parametrize("id_", AS_WRITTEN)
def test_a_word_that_looks_like_something_else_is_read_as_it_is_written(page: Importer, folder: Path, id_: str):
    yaml = given_file(CASES[id_]["when"]["yaml"])["tools.yaml"]

    result = imported(page, folder, {"tools.yaml": "version: 1\n" + yaml, "tool_policies.yaml": "version: 1\n"})

    assert result.draft.tools["x"].description.default == AS_WRITTEN[id_]


def test_bad_147_a_number_where_a_text_belongs_is_refused_with_the_number(page: Importer, folder: Path):
    result = imported(page, folder, given_file(CASES["BAD-147"]["when"]["yaml"]))

    assert "description: expected text, got the number 1000" in result.errors[-1]
    assert saved_nothing(result)


def test_bad_148_nothing_where_a_text_belongs_is_told(page: Importer, folder: Path):
    yaml = given_file(CASES["BAD-148"]["when"]["yaml"])["tools.yaml"]

    result = imported(page, folder, {"tools.yaml": "version: 1\n" + yaml, "tool_policies.yaml": "version: 1\n"})

    assert any('tool "x" has no description' in line for line in result.told)


def test_bad_136_an_empty_file_is_a_kind_without_anything(page: Importer, folder: Path):
    result = imported(page, folder, {"tools.yaml": "", "tool_policies.yaml": ""})

    assert result.errors == []
    assert result.draft.tools == {}


def test_bad_149_thirty_three_levels_are_refused(page: Importer, folder: Path):
    levels = CASES["BAD-149"]["when"]["levels"]

    result = imported(page, folder, {"tools.yaml": "a: " + "[" * (levels - 1) + "]" * (levels - 1)})

    assert "the limit is 32" in result.errors[0]
    assert saved_nothing(result)


def test_bad_150_a_byte_over_one_mebibyte_is_refused(page: Importer, folder: Path):
    size = CASES["BAD-150"]["when"]["bytes"]

    result = imported(page, folder, {"tools.yaml": b"#" * size})

    assert f"{size} bytes, the limit is 1048576" in result.errors[0]
    assert saved_nothing(result)


def test_bad_151_another_encoding_is_a_clear_error(page: Importer, folder: Path):
    result = imported(page, folder, {"tools.yaml": SET["tools.yaml"].encode("utf-16")})

    assert "is not UTF-8 (save the file as UTF-8)" in result.errors[0]
    assert saved_nothing(result)


def test_bad_154_every_error_of_a_file_is_listed(page: Importer, folder: Path):
    number = CASES["BAD-154"]["when"]["errors_in_one_file"]
    tools = SET["tools.yaml"] + "".join(f"  t{n}: {{mcp_server: s, description: {n}}}\n" for n in range(number))

    result = imported(page, folder, {"tools.yaml": tools})

    assert len(result.errors) == number
    assert saved_nothing(result)


@pytest.mark.parametrize("id_", ["BAD-155", "BAD-156", "BAD-157", "BAD-158", "BAD-159"])
def test_a_name_that_is_none_is_refused(page: Importer, folder: Path, id_: str):
    name = CASES[id_]["when"]["tool_name"]

    result = imported(
        page, folder, {"tools.yaml": SET["tools.yaml"] + f'  "{name}": {{mcp_server: s, description: d}}\n'}
    )

    assert "no name" in result.errors[0] or "characters, the limit is" in result.errors[0]
    assert saved_nothing(result)


def test_bad_160_one_name_on_two_servers_is_never_mixed_up(page: Importer, tmp_path: Path):
    for server in ("s", "z"):
        (tmp_path / server).mkdir()
        for name in ("mcp_servers.yaml", "tools.yaml"):
            text = SET[name].replace("  s:", f"  {server}:").replace("mcp_server: s", f"mcp_server: {server}")
            (tmp_path / server / name).write_text(text, "utf-8")
    files = {str(path.relative_to(tmp_path)): path.read_bytes() for path in sorted(tmp_path.rglob("*.yaml"))}

    told = command_says(tmp_path / "s", tmp_path / "z")

    assert "tools.t differs from s/tools.yaml:3" in told[0]
    assert page.look({"both.zip": zipped(files)}).problems == told


def test_bad_161_an_action_without_a_confirmation_is_warned_of(page: Importer, folder: Path):
    policies = (
        "version: 1\ntool_policies:\n  t: {requires: [a], operation_type: transactional, require_confirmation: false}\n"
    )

    result = imported(page, folder, {"tool_policies.yaml": policies})

    assert any("runs without a confirmation" in line for line in result.warnings)
    assert result.saved


@pytest.mark.parametrize("id_", ["BAD-163", "BAD-165"])
def test_a_schema_that_is_hard_on_readers_is_told_and_harms_nobody(page: Importer, folder: Path, id_: str):
    schema = json.dumps(CASES[id_]["when"]["args_schema"])
    tools = SET["tools.yaml"] + f"  x: {{mcp_server: s, description: d, args_schema: {schema}}}\n"

    result = imported(page, folder, {"tools.yaml": tools})

    assert any("unknown key" in line or "type" in line for line in result.told)


# Addresses ------------------------------------------------------------------------------------------

BY_CASE = {id_: case["when"] for id_, case in CASES.items() if "endpoint" in case["when"]}


@pytest.mark.parametrize("id_", [id_ for id_, when in BY_CASE.items() if when.get("production")])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_production_connects_to_no_address_of_its_own_network(id_: str, scheme: str):
    endpoint = BY_CASE[id_]["endpoint"].replace("http://", f"{scheme}://")

    target = target_of(ServerSpec("x", endpoint=endpoint), {"ENVIRONMENT": "production"})

    assert isinstance(target, NotSent) or refusal_of_addresses(endpoint)


def field_of(when: Mapping[str, Any]) -> dict[str, str]:
    return {"name": "x", "transport": "streamable_http", "endpoint": when["endpoint"]}


@pytest.mark.parametrize("id_", [id_ for id_, when in BY_CASE.items() if not when.get("production")])
def test_an_address_that_is_none_is_refused_where_it_is_saved(page: Importer, folder: Path, id_: str):
    endpoint = BY_CASE[id_]["endpoint"]

    errors = save(page.client, add_url(McpServer), **field_of(BY_CASE[id_]))
    result = imported(
        page, folder, {"mcp_servers.yaml": f"version: 1\nmcp_servers:\n  s: {{endpoint: '{endpoint}'}}\n"}
    )

    assert errors
    assert not McpServer.objects.exists()
    assert len(result.errors) == 1
    assert saved_nothing(result)
    assert publishing.draft() == Definitions()


@pytest.mark.parametrize("id_", ["BAD-185", "BAD-186"])
def test_what_the_installation_itself_rests_on_is_never_sent_to_a_server(page: Importer, folder: Path, id_: str):
    value = CASES[id_]["when"]["headers"]["Authorization"]
    name = value.partition("{")[2].rstrip("}")

    errors = save(page.client, add_url(McpServer), headers=f"Authorization: {value}")
    text = f"version: 1\nmcp_servers:\n  s: {{endpoint: 'https://a.example', headers: {{Authorization: '{value}'}}}}\n"
    result = imported(page, folder, {"mcp_servers.yaml": text})
    spec = ServerSpec("s", endpoint="https://a.example", headers={"Authorization": value})
    outcome = target_of(spec, {name: "the secret"})

    assert errors
    assert saved_nothing(result)
    assert isinstance(outcome, NotSent)
    assert "the secret" not in outcome.reason


def test_bad_183_a_credential_in_a_description_is_warned_about():
    texts = ("use sk-abcdef0123456789", "Authorization: Bearer abcdefgh12345678", "eyJhbGciOi.eyJzdWIi.c2ln")
    found = [
        finding.code
        for text in texts
        for finding in check(Definitions(tools={"t": ToolSpec("t", Text(text), "s")}, servers={"s": ServerSpec("s")}))
    ]

    assert found.count("text.secret") == len(texts)
    plain = Definitions(tools={"t": ToolSpec("t", Text("Cancela pedidos do portador"), "s")})
    assert "text.secret" not in [finding.code for finding in check(plain)]


@pytest.mark.django_db
def test_bad_204_a_host_that_is_not_ours_is_refused(client):
    answer = client.get("/admin/", headers={"host": CASES["BAD-204"]["when"]["Host"]})

    assert answer.status_code == CASES["BAD-204"]["then"]["status_code"]


# Every case -----------------------------------------------------------------------------------------

OPEN = {
    "BAD-182": "a try to connect says what it met: who may change servers is told why one is not reached",
    "BAD-184": "tests of each page: references are stored, never values",
}


def test_every_case_about_definitions_is_driven_or_says_why_not():
    source = Path(__file__).read_text("utf-8")
    of_ours = {id_ for id_, case in CASES.items() if not case["given"]["surface"].startswith(OF_OTHERS)}
    driven = {id_ for id_ in of_ours if f'"{id_}"' in source or f"test_bad_{id_[4:]}_" in source} | set(BY_CASE)

    assert of_ours - driven == set()
    assert not driven - set(CASES)
    assert not set(OPEN) & set(ELSEWHERE)
    for place in ELSEWHERE.values():
        path, _, name = place.partition("::")
        assert name in functions_of(path), place
