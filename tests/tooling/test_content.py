"""Files, rows and the canonical content each hold a whole set of definitions without losing anything."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

from tests.tooling.conftest import COMMANDS, read
from tests.tooling.generated import definitions
from tooling import content, drafts, yaml_io
from tooling.checks_of_sets import check
from tooling.content import ContentError
from tooling.specs import Definitions, Kind

SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]


def through_files(original: Definitions) -> yaml_io.Reading:
    files = {name: text.encode() for name, text in yaml_io.write(original).items()}
    return yaml_io.read_files(files, stdio_commands=COMMANDS)


def hash_of(one: Definitions) -> str:
    return content.digest(content.canonical(content.to_content(one)))


@settings(max_examples=50, deadline=None, suppress_health_check=SLOW)
@given(definitions())
def test_any_set_survives_export_and_import(original: Definitions):
    assert [one for one in check(original, stdio_commands=COMMANDS) if one.is_error] == []

    reading = through_files(original)

    assert [str(problem) for problem in reading.problems if problem.is_error] == []
    assert reading.definitions == original
    assert hash_of(reading.definitions) == hash_of(original)


@settings(max_examples=50, deadline=None, suppress_health_check=SLOW)
@given(definitions())
def test_any_set_survives_the_content_of_a_release(original: Definitions):
    text = content.canonical(content.to_content(original))

    again = content.from_content(json.loads(text))

    assert again == original
    assert content.canonical(content.to_content(again)) == text


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=SLOW)
@given(definitions())
def test_any_set_survives_the_rows_of_the_draft(original: Definitions):
    drafts.replace_draft(original)

    assert drafts.draft() == original
    assert hash_of(drafts.draft()) == hash_of(original)


@pytest.mark.parametrize("name", ["contas", "pedidos", "legacy"])
def test_a_set_of_the_tests_survives_export_and_import(name: str):
    original = read(name)

    assert through_files(original).definitions == original


def test_an_export_holds_every_kind_so_that_importing_it_replaces_everything():
    files = yaml_io.write(Definitions())

    assert set(files) == {f"{kind}.yaml" for kind in Kind if kind is not Kind.WORKFLOWS}


def test_the_hash_does_not_depend_on_the_order_of_files_and_names(contas: Definitions):
    turned = {name: contas.tools[name] for name in reversed(contas.tools)}

    assert hash_of(Definitions(servers=contas.servers, tools=turned)) == hash_of(
        Definitions(servers=contas.servers, tools=contas.tools)
    )


def test_content_of_an_older_version_takes_the_defaults_of_new_fields(contas: Definitions):
    plain = content.to_content(contas)
    for policy in plain["policies"].values():
        del policy["atomicity"]

    assert content.from_content(plain) == contas


@pytest.mark.parametrize(
    "plain",
    [
        [],
        {"tools": []},
        {"tools": {"x": {}}},
        {"tools": {"x": {"name": 1}}},
        {"nonsense": {}},
        {"router": {"confidence_threshold": "high"}},
    ],
)
def test_what_is_no_content_is_refused(plain: object):
    with pytest.raises(ContentError):
        content.from_content(plain)
