"""The cases of governance.jsonl about files, the draft and releases; where the others are driven is named."""

import re
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from tests.loading import cases
from tests.test_promises import functions_of
from tests.tooling.conftest import read
from tests.tooling.file_cases import SET, imported, policy
from tests.tooling.uploading import Importer, command_says, zipped
from tooling import catalog, publishing, yaml_io
from tooling.models import Release
from tooling.specs import Atomicity, Definitions

pytestmark = pytest.mark.django_db
RUNTIME = "tests/runtime/test_governance_cases.py::"
CASES = {case["id"]: case for case in cases("governance")}
ELSEWHERE = {
    "GOV-007": RUNTIME + "test_gov_007_a_read_only_tool_without_confirmation_runs_without_a_question",
    "GOV-010": RUNTIME + "test_gov_010_the_confirmation_of_somebody_else_and_another_set_of_items_are_refused",
    "GOV-011": "tests/console/test_record.py::"
    "test_an_operator_sees_item_reason_protocol_confirmation_release_rule_and_raw_answer",
    "GOV-013": RUNTIME + "test_gov_013_a_confirmation_outlives_a_release_that_changes_only_labels",
    "GOV-018": "tests/console/test_access.py::test_the_api_answers_nobody_without_credentials",
    "GOV-027": RUNTIME + "test_gov_027_two_operators_that_review_are_both_in_the_events",
    "GOV-031": RUNTIME + "test_gov_031_review_states_and_verdict_sources_are_exactly_these",
    "GOV-038": "tests/tooling/test_mcp_pool.py::test_an_unset_reference_is_an_error_and_never_an_empty_value",
    "GOV-040": RUNTIME + "test_gov_040_what_is_cached_for_reading_is_called_again_for_an_action",
}


@pytest.fixture
def page(ana: Client) -> Importer:
    return Importer(ana)


@pytest.fixture(autouse=True)
def _python_is_allowed(settings) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "set"


def test_every_case_is_driven_here_or_there():
    here = {f"GOV-{name[9:12]}" for name in globals() if name.startswith("test_gov_")}

    assert here | set(ELSEWHERE) == set(CASES)
    assert not here & set(ELSEWHERE)
    for place in ELSEWHERE.values():
        path, _, name = place.partition("::")
        assert name in functions_of(path), place


def test_gov_001_the_parts_of_a_pre_validation_are_read(page: Importer, folder: Path):
    case = CASES["GOV-001"]
    tools = SET["tools.yaml"].replace("  v:", "  validar_contestacao:")
    text = case["given"]["yaml"]

    result = imported(page, folder, policy("{requires: [a], " + text + "}") | {"tools.yaml": tools})

    read_part = result.draft.policy("t").pre_validation
    assert (read_part.enabled, read_part.tool, read_part.fail_open) == (
        case["then"]["enabled"],
        case["then"]["tool"],
        case["then"]["fail_open"],
    )


def test_gov_005_a_multi_item_switch_has_no_effect_and_is_told_at_its_line(page: Importer, folder: Path):
    tools = SET["tools.yaml"] + "  x: {mcp_server: s, description: d, multi_item: true}\n"

    result = imported(page, folder, {"tools.yaml": tools})

    (line,) = [line for line in result.told if "multi_item" in line]
    assert CASES["GOV-005"]["then"]["reported"] in line
    assert line.startswith("set/tools.yaml:5:38: warning: ")
    assert result.saved


@pytest.mark.parametrize("publisher", ["a", "b"])
def test_gov_008_a_release_records_its_publisher_and_comment(publisher: str):
    User.objects.create_user("a")
    publishing.change_draft(read("contas"), kinds=publishing.ALL_KINDS, author=User.objects.get(username="a"))
    user, _ = User.objects.get_or_create(username=publisher)

    publishing.publish(comment="what changes", author=user)

    release = Release.objects.get()
    assert (release.author, release.comment) == (publisher, "what changes")
    assert publishing.draft() == read("contas")


def test_gov_009_a_later_role_or_name_changes_nothing_of_what_was_recorded():
    user = User.objects.create_user("a")
    publishing.change_draft(read("contas"), kinds=publishing.ALL_KINDS, author=user)
    publishing.publish(comment="first", author=user)

    user.username, user.is_superuser = "somebody", True
    user.save()

    assert Release.objects.get().author == "a"


def test_gov_012_a_time_that_is_none_is_refused_at_its_line(page: Importer, folder: Path):
    result = imported(page, folder, policy("{requires: [a], expires_after: abc}"))

    assert len(result.errors) == 1
    assert result.errors[0].startswith("set/tool_policies.yaml:3:37: ")
    assert (result.saved, result.draft) == (False, Definitions())


def test_gov_020_one_error_in_one_file_saves_nothing_and_exits_with_one(page: Importer, folder: Path):
    result = imported(page, folder, {"routing.yaml": "version: 1\nintents: 5\n"})

    assert re.fullmatch(r"set/routing\.yaml:2:10: .+", result.errors[0])
    assert (result.saved, result.draft) == (False, Definitions())


def test_gov_022_what_is_rolled_back_equals_the_older_release():
    publishing.replace_draft(read("contas"))
    first = publishing.publish(comment="first")
    publishing.replace_draft(read("contas", "pedidos"))
    publishing.publish(comment="second")

    back = publishing.roll_back(1, "back")

    assert (back.number, back.hash, back.content) == (3, first.hash, first.content)
    assert catalog.release(2).definitions == read("contas", "pedidos")


def test_gov_023_a_difference_lists_changed_keys_only():
    publishing.replace_draft(read("contas"))
    publishing.publish(comment="first")
    out = StringIO()
    routing = yaml_io.write(read("contas"))["routing.yaml"].replace("threshold: 0.65", "threshold: 0.9")
    reading = yaml_io.read_files({"routing.yaml": routing.encode()}, base=publishing.draft())
    publishing.replace_draft(reading.definitions)
    publishing.publish(comment="second")

    call_command("definitions", "diff", "1", "2", stdout=out)

    assert out.getvalue() == "~ router.confidence_threshold: 0.65 → 0.9\n"


def test_gov_024_an_export_names_the_variable_and_holds_no_secret(
    page: Importer, folder: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.setenv("LLM_API_KEY", "sk-very-secret-7777")
    profiles = "version: 1\nprofiles: {default: {model: m, api_key_env: LLM_API_KEY}}\n"
    imported(page, folder, {"llm_profiles.yaml": profiles})

    call_command("definitions", "export", str(tmp_path / "out"), "--draft", stdout=StringIO())

    texts = "".join(path.read_text("utf-8") for path in (tmp_path / "out").rglob("*.yaml"))
    assert "LLM_API_KEY" in texts
    assert "7777" not in texts


def test_gov_025_state_policies_are_accepted_and_not_needed(page: Importer, folder: Path):
    result = imported(page, folder, {"routing.yaml": "version: 1\nintents: []\nstate_policies: [{state: X}]\n"})

    (line,) = [line for line in result.told if "state_policies" in line]
    assert CASES["GOV-025"]["then"]["reported"] in line
    assert result.saved


def test_gov_032_thirty_minutes_are_1800_seconds(page: Importer, folder: Path):
    result = imported(page, folder, policy("{requires: [a], expires_after: 30m}"))

    assert result.draft.policy("t").expires_after == CASES["GOV-032"]["then"]["seconds"]


def test_gov_034_a_validator_is_internal_and_has_no_validator_of_its_own(page: Importer, folder: Path):
    tools = SET["tools.yaml"].replace("checks it, tool_type: internal", "checks it, tool_type: query")
    policies = """version: 1
tool_policies:
  t: {requires: [a], pre_validation: {enabled: true, tool: v}}
  v: {pre_validation: {enabled: true, tool: t}}
"""

    result = imported(page, folder, {"tools.yaml": tools, "tool_policies.yaml": policies})

    assert any("must be internal" in line for line in result.errors)
    assert (result.saved, result.draft) == (False, Definitions())


def test_gov_037_directories_that_differ_are_refused(page: Importer, tmp_path: Path):
    for name, description in (("a", "one"), ("b", "another")):
        (tmp_path / name).mkdir()
        for file, text in SET.items():
            (tmp_path / name / file).write_text(text.replace("does it", description), "utf-8")
    files = {str(path.relative_to(tmp_path)): path.read_bytes() for path in sorted(tmp_path.rglob("*.yaml"))}
    told = command_says(tmp_path / "a", tmp_path / "b", action="import")
    shown = page.look({"both.zip": zipped(files)})

    assert shown.problems == told
    assert told[-1] == "b/tools.yaml:3:3: tools.t differs from a/tools.yaml:3; make them equal or remove one"
    assert not shown.can_write
    assert publishing.draft() == Definitions()


def test_gov_041_all_or_nothing_is_accepted_without_a_warning(page: Importer, folder: Path):
    plain = imported(page, folder, policy("{requires: [a]}"))
    result = imported(page, folder, policy("{requires: [a], atomicity: all_or_nothing}"))

    assert result.draft.policy("t").atomicity is Atomicity.ALL_OR_NOTHING
    assert result.told == plain.told


def test_gov_043_without_a_word_about_it_it_is_best_effort(page: Importer, folder: Path):
    assert imported(page, folder, policy("{}")).draft.policy("t").atomicity is Atomicity.BEST_EFFORT
