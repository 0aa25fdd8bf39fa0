"""What a live server lists becomes arguments, or is named as what does not fit: whatever JSON it sends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooling import yaml_io
from tooling.discovery import (
    LARGEST_SCHEMA,
    MOST_ARGUMENTS,
    MOST_TOOLS,
    Found,
    RefusalKind,
    Refused,
    discover,
    read_tool,
)
from tooling.gateway import RemoteTool
from tooling.schema_reading import LONGEST_TEXT, Note, NoteKind, argument_of
from tooling.specs import ArgumentSpec, ArgumentType, Definitions, OperationType, ServerSpec, Text, ToolSpec, ToolType

SERVER = ServerSpec("loja", endpoint="http://127.0.0.1:9/mcp")


def listed(schema: Any = None, name: str = "pagar", description: str = "Paga.", **annotations: Any) -> RemoteTool:
    return RemoteTool(name, description, {"type": "object"} if schema is None else schema, annotations=annotations)


def with_properties(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def found(schema: Any = None, **options: Any) -> Found:
    one = read_tool("loja", listed(schema, **options))
    assert isinstance(one, Found), one
    return one


def refused(remote: RemoteTool) -> Refused:
    one = read_tool("loja", remote)
    assert isinstance(one, Refused), one
    return one


def argument(schema: Any, root: Any = None) -> tuple[ArgumentSpec, list[NoteKind]]:
    one, notes = argument_of("x", schema, root or {})
    return one, [note.kind for note in notes]


# What can be said here ------------------------------------------------------------------------------


def test_types_texts_values_formats_and_elements_become_the_table_of_arguments() -> None:
    schema = with_properties(
        pedido={"type": "string", "description": "Número do pedido"},
        quando={"type": "string", "format": "date"},
        canal={"type": "string", "enum": ["app", "loja"]},
        vezes={"type": "integer", "enum": [1, 2]},
        itens={"type": "array", "items": {"type": "string"}},
        linhas={"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
    )

    one = found({**schema, "required": ["itens", "pedido"]})

    assert one.tool.arguments == (
        ArgumentSpec("pedido", description=Text("Número do pedido")),
        ArgumentSpec("quando", format="date"),
        ArgumentSpec("canal", enum=("app", "loja")),
        ArgumentSpec("vezes", ArgumentType.INTEGER, enum=(1, 2)),
        ArgumentSpec("itens", ArgumentType.ARRAY, items={"type": "string"}),
        ArgumentSpec("linhas", ArgumentType.ARRAY, items={"type": "object", "properties": {"sku": {"type": "string"}}}),
    )
    assert one.notes == ()
    assert one.requires == ("pedido", "itens")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ArgumentSpec("x", ArgumentType.INTEGER)),
        ({"type": ["string", "null"]}, ArgumentSpec("x")),
        ({"$ref": "#/$defs/Canal"}, ArgumentSpec("x", enum=("app", "loja"))),
        (
            {"allOf": [{"$ref": "#/$defs/Canal"}], "description": "d"},
            ArgumentSpec("x", enum=("app", "loja"), description=Text("d")),
        ),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, ArgumentSpec("x", enum=("a", "b"))),
        ({"enum": [1, 2, None]}, ArgumentSpec("x", ArgumentType.INTEGER, enum=(1, 2))),
        ({"enum": [True]}, ArgumentSpec("x", ArgumentType.BOOLEAN, enum=(True,))),
        ({"const": 1.5}, ArgumentSpec("x", ArgumentType.NUMBER, enum=(1.5,))),
        (
            {"items": {"$ref": "#/$defs/Canal"}},
            ArgumentSpec("x", ArgumentType.ARRAY, items={"type": "string", "enum": ["app", "loja"]}),
        ),
    ],
    ids=str,
)  # fmt: skip
def test_other_ways_to_say_the_same_are_understood(schema: Any, expected: ArgumentSpec) -> None:
    root = {"$defs": {"Canal": {"type": "string", "enum": ["app", "loja"]}}}

    assert argument(schema, root) == (expected, [])


# What does not fit ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "kind", "note"),
    [
        ({}, ArgumentType.STRING, NoteKind.UNTYPED),
        (True, ArgumentType.STRING, NoteKind.UNTYPED),
        ({"type": "file"}, ArgumentType.STRING, NoteKind.UNTYPED),
        ({"type": ["integer", "string"]}, ArgumentType.STRING, NoteKind.NARROWED),
        ({"oneOf": [{"type": "string"}, {"type": "array"}]}, ArgumentType.ARRAY, NoteKind.NARROWED),
        ({"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, ArgumentType.OBJECT, NoteKind.SIMPLIFIED),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, ArgumentType.OBJECT, NoteKind.SIMPLIFIED),
        ({"items": {"oneOf": [{"type": "string"}, {"type": "object"}]}}, ArgumentType.ARRAY, NoteKind.SIMPLIFIED),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, ArgumentType.ARRAY, NoteKind.SIMPLIFIED),
        ({"$ref": "#/nowhere"}, ArgumentType.STRING, NoteKind.UNTYPED),
        ({"$ref": "https://example.org/schema.json"}, ArgumentType.STRING, NoteKind.UNTYPED),
        ({"type": "string", "enum": ["a", 7]}, ArgumentType.STRING, NoteKind.VALUES),
        ({"type": "string", "format": "f" * 41}, ArgumentType.STRING, NoteKind.FORMAT),
        ({"type": "string", "description": "d" * (LONGEST_TEXT + 1)}, ArgumentType.STRING, NoteKind.CUT),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_what_a_definition_cannot_say_is_simplified_and_named(schema: Any, kind: ArgumentType, note: NoteKind) -> None:
    one, notes = argument(schema)

    assert (one.type, notes) == (kind, [note])


def test_references_that_go_in_circles_end() -> None:
    root = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}

    one, notes = argument({"$ref": "#/$defs/a"}, root)

    assert (one.type, notes) == (ArgumentType.OBJECT, [NoteKind.SIMPLIFIED])


def test_rules_between_arguments_are_named_once_for_the_tool() -> None:
    one = found({**with_properties(a={"type": "string"}), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]})

    assert one.notes == (Note(NoteKind.SIMPLIFIED),)
    assert one.tool.argument_names == ("a",)


def test_an_optional_argument_whose_name_cannot_be_used_is_left_out_and_a_required_one_refuses_the_tool() -> None:
    schema = with_properties(**{"<b>": {"type": "string"}, "ok": {"type": "string"}})

    assert found(schema).notes == (Note(NoteKind.LEFT_OUT, "<b>"),)
    assert refused(listed({**schema, "required": ["<b>"]})) == Refused("pagar", RefusalKind.ARGUMENT_NAME, "<b>")


def test_a_required_argument_that_nothing_describes_is_declared_all_the_same() -> None:
    one = found({"type": "object", "required": ["id"]})

    assert (one.tool.argument_names, one.requires) == (("id",), ("id",))


# What a server claims -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotations", "suggested"),
    [
        ({}, ToolType.ACTION),
        ({"readOnlyHint": True}, ToolType.QUERY),
        ({"readOnlyHint": False}, ToolType.ACTION),
        ({"destructiveHint": True}, ToolType.ACTION),
        ({"destructiveHint": False}, ToolType.ACTION),
        ({"readOnlyHint": True, "destructiveHint": True}, ToolType.ACTION),
        ({"readOnlyHint": "true"}, ToolType.ACTION),
        ({"readOnlyHint": 1, "destructiveHint": [1]}, ToolType.ACTION),
    ],
    ids=str,
)
def test_only_a_clear_word_of_the_server_suggests_that_nobody_need_be_asked(
    annotations: Any, suggested: ToolType
) -> None:
    assert found(**annotations).tool.tool_type is suggested


def test_what_is_imported_as_an_action_asks_first_whatever_the_server_says() -> None:
    one = found({"type": "object", "required": ["id"]}, readOnlyHint=True)

    tool, policy = one.as_type(ToolType.ACTION)

    assert tool.tool_type is ToolType.ACTION
    assert (policy.operation_type, policy.require_confirmation) == (OperationType.TRANSACTIONAL, True)
    assert policy.requires == ("id",)


# What is hostile ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", " ", "a b", "a/b", "<script>", "x" * 101, "\x00", "a\nb", "../x", "é ü"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    assert refused(listed(name=name)).kind is RefusalKind.NAME


def nested(levels: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return schema


def test_a_schema_of_ten_megabytes_is_refused_with_its_size() -> None:
    one = refused(listed(with_properties(a={"type": "string", "description": "x" * 10_000_000})))

    assert one.kind is RefusalKind.TOO_LARGE
    assert int(one.detail) > LARGEST_SCHEMA


def test_ten_thousand_arguments_are_refused_with_their_number() -> None:
    one = refused(listed(with_properties(**{f"a{number}": {} for number in range(10_000)})))

    assert one == Refused("pagar", RefusalKind.TOO_MANY, "10000")


def test_one_argument_more_than_the_limit_is_refused_and_the_limit_is_not() -> None:
    most = {f"a{number}": {"type": "string"} for number in range(MOST_ARGUMENTS)}

    assert len(found(with_properties(**most)).tool.arguments) == MOST_ARGUMENTS
    assert refused(listed(with_properties(**most, one_more={}))).kind is RefusalKind.TOO_MANY


@pytest.mark.parametrize("levels", [20, 90, 5000])
def test_deep_nesting_is_cut_to_the_type(levels: int) -> None:
    one = found(with_properties(a=nested(levels)))

    assert one.tool.arguments == (ArgumentSpec("a", ArgumentType.ARRAY, items={"type": "array"}),)
    assert one.notes == (Note(NoteKind.SIMPLIFIED, "a"),)


def test_a_schema_of_no_object_is_refused() -> None:
    assert refused(listed({"type": "string"})).kind is RefusalKind.NO_OBJECT
    assert refused(listed([])).kind is RefusalKind.NO_OBJECT


KEYS = st.sampled_from(
    ["type", "properties", "required", "items", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "format", "$defs"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=4),
    max_leaves=25,
)
WORDS = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null", "#/$defs/a", "#/"])
schemas = st.recursive(
    st.dictionaries(KEYS, WORDS | json_values, max_size=4),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": WORDS | st.lists(WORDS, max_size=3),
            "properties": st.dictionaries(st.text(max_size=4) | st.sampled_from(["a", "no", "1"]), inner, max_size=4),
            "items": inner,
            "anyOf": st.lists(inner, max_size=3),
            "oneOf": st.lists(inner, max_size=3),
            "enum": st.lists(json_values, max_size=4),
            "required": st.lists(st.sampled_from(["a", "no", "1"]), max_size=3),
            "$ref": WORDS,
            "$defs": st.dictionaries(st.sampled_from(["a"]), inner, max_size=1),
        },
    ),
    max_leaves=15,
)


@settings(max_examples=300, deadline=None)
@given(schema=schemas | json_values, name=st.sampled_from(["pagar", "no", "1.5"]), description=st.text(max_size=30))
def test_whatever_a_server_sends_is_refused_or_makes_a_draft_that_can_be_published_and_exported(
    schema: Any, name: str, description: str
) -> None:
    seen = discover(SERVER, [RemoteTool(name, description, schema)], Definitions(servers={"loja": SERVER}))

    assert len(seen.found) + len(seen.refused) == 1
    assert not [one for one in seen.refused if one.kind is RefusalKind.INVALID]
    for one in seen.found:
        tool, policy = one.as_type(one.tool.tool_type)
        draft = Definitions({"loja": SERVER}, {name: tool}, {name: policy})
        files = {file: text.encode() for file, text in yaml_io.write(draft).items()}
        reading = yaml_io.read_files(files)
        assert reading.definitions == draft, [str(problem) for problem in reading.problems]


# A whole listing ------------------------------------------------------------------------------------


def test_a_listing_is_sorted_into_what_can_be_imported_what_is_there_and_what_is_refused() -> None:
    draft = Definitions(
        servers={"loja": SERVER},
        tools={"pagar": ToolSpec("pagar", Text("Paga"), "loja"), "somar": ToolSpec("somar", Text("Soma"), "outro")},
    )
    offered = [listed(name=name) for name in ("pagar", "somar", "novo", "novo", "a b")]

    seen = discover(SERVER, offered, draft)

    assert [one.tool.name for one in seen.found] == ["novo"]
    assert seen.known == ("pagar",)
    assert seen.refused == (
        Refused("somar", RefusalKind.TAKEN, "outro"),
        Refused("novo", RefusalKind.TWICE),
        Refused("a b", RefusalKind.NAME),
    )


def test_a_listing_without_end_is_read_to_its_limit_and_the_rest_is_counted() -> None:
    offered = [replace(listed(), name=f"t{number}") for number in range(MOST_TOOLS + 5)]

    seen = discover(SERVER, offered, Definitions())

    assert len(seen.found) == MOST_TOOLS
    assert seen.refused == (Refused("…", RefusalKind.TOO_MANY_TOOLS, "5"),)
