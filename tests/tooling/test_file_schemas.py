"""The schemas that editors get accept every good file, and refuse what is broken in its structure."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft7Validator

from tests.loading import DEFINITIONS
from tests.tooling.conftest import COMMANDS, read
from tests.tooling.generated import definitions
from tests.tooling.test_broken import Broken, broken_files, data_of
from tooling import publishing, yaml_io
from tooling.file_schemas import schema_of
from tooling.specs import Definitions, Kind
from tooling.yaml_files import kind_of_name
from tooling.yaml_nodes import to_json
from tooling.yaml_reader import read_tree
from tooling.yaml_writer import first_line

GOOD = sorted(
    path
    for folder in ("biblioteca", "contas", "pedidos", "legacy")
    for path in (DEFINITIONS / folder).rglob("*")
    if kind_of_name(str(path)) is not None
)
STRUCTURAL = {
    "policy.pre_validation_tool_missing",
    "workflow.action_missing",
    "policy.operation_type_unknown",
    "type.boolean",
    "type.string",
    "intent.keyword_empty",
    "router.threshold_range",
}
"""The codes of broken examples whose fault one file shows by itself; the others are about references or YAML."""


def errors_in(name: str, data: bytes) -> list[str]:
    """What the schema of the file's kind says against it."""
    kind = kind_of_name(name)
    assert kind is not None
    node, _ = read_tree(name, data)
    assert node is not None
    return [error.json_path for error in Draft7Validator(schema_of(kind)).iter_errors(to_json(node))]


@pytest.mark.parametrize("kind", Kind)
def test_every_schema_is_one(kind: Kind) -> None:
    Draft7Validator.check_schema(schema_of(kind))
    json.dumps(schema_of(kind), allow_nan=False)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_good_and_every_legacy_file_is_accepted(path: Path) -> None:
    assert errors_in(str(path), path.read_bytes()) == []


@pytest.mark.parametrize(
    "broken", [one for one in broken_files() if one.code in STRUCTURAL], ids=lambda broken: broken.name
)
def test_what_is_broken_in_its_structure_is_refused(broken: Broken) -> None:
    assert len(errors_in(broken.replaces, data_of(broken))) == 1


def test_every_structural_fault_of_the_examples_is_among_them() -> None:
    assert {one.code for one in broken_files()} >= STRUCTURAL


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(made=definitions())
def test_whatever_can_be_exported_is_accepted_and_read_back_equal(made: Definitions) -> None:
    files = yaml_io.write(made, schemas="https://example.org/schemas")

    for name, text in files.items():
        assert errors_in(name, text.encode()) == []
        assert text.startswith(
            f"# yaml-language-server: $schema=https://example.org/schemas/{kind_of_name(name)}.json\n"
        )
    reading = yaml_io.read_files({name: text.encode() for name, text in files.items()}, stdio_commands=COMMANDS)
    assert reading.definitions == made


@pytest.mark.parametrize("kind", Kind)
def test_no_key_of_a_schema_is_unknown_to_the_reader(kind: Kind) -> None:
    said = sample(schema_of(kind))
    said.pop("mcpServers", None)
    name = "workflows/x.v1.yaml" if kind is Kind.WORKFLOWS else f"{kind}.yaml"

    reading = yaml_io.read_files({name: yaml_io.dump(said).encode()})

    assert [problem.message for problem in reading.problems if problem.code == "key.unknown"] == []


def sample(schema: Any) -> Any:
    """Something with every key that a schema names."""
    if "then" in schema and "properties" not in schema:
        schema = schema["then"]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kinds = schema.get("type", "object")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "object" and "properties" in schema:
        return {name: sample(inner) for name, inner in schema["properties"].items()}
    if kind == "object":
        inner = schema.get("additionalProperties")
        return {"x": sample(inner)} if isinstance(inner, dict) else {}
    if kind == "array":
        return [sample(schema["items"])] if "items" in schema else []
    return {"string": "x", "integer": 1, "number": 1, "boolean": True}[kind]


# Where they are -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", Kind)
def test_a_schema_is_served_to_anybody_and_written_by_the_command(kind: Kind, client: Client) -> None:
    served = client.get(f"/schemas/definitions/{kind}.json")
    out = StringIO()
    call_command("definitions", "schema", str(kind), stdout=out)

    assert served.status_code == 200
    assert served["content-type"] == "application/schema+json"
    assert served.json() == json.loads(out.getvalue()) == schema_of(kind)


def test_without_a_kind_the_command_writes_all_of_them() -> None:
    out = StringIO()
    call_command("definitions", "schema", stdout=out)

    assert json.loads(out.getvalue()) == {str(kind): schema_of(kind) for kind in Kind}


def test_a_kind_that_is_none_is_refused(client: Client) -> None:
    assert client.get("/schemas/definitions/secrets.json").status_code == 404
    with pytest.raises(CommandError):
        call_command("definitions", "schema", "secrets")


def test_an_export_names_the_schema_of_each_file_and_imports_equal(db: None, tmp_path: Path, settings: Any) -> None:
    settings.DEFINITION_SCHEMAS_URL = "https://chat.example.org/schemas/definitions"
    both = read("contas", "pedidos")
    publishing.replace_draft(both)

    call_command("definitions", "export", str(tmp_path), "--draft", stdout=StringIO())

    base = settings.DEFINITION_SCHEMAS_URL
    assert (tmp_path / "tools.yaml").read_text("utf-8").startswith(first_line("tools.yaml", base))
    workflow = next((tmp_path / "workflows").iterdir())
    assert workflow.read_text("utf-8").startswith(first_line("workflows/x.v1.yaml", base))
    assert yaml_io.read_sets([tmp_path], stdio_commands=COMMANDS).definitions == both
