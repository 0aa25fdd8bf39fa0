"""Conventions of the house that no tool checks: sizes, who writes rows, no business words in the runtime."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.loading import DEFINITIONS

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("agentplatform", "transactions", "tooling")
DEMO_DEFINITIONS = ROOT / "tooling" / "demo" / "definitions"


def sources(*packages: str) -> list[Path]:
    """The Python files of ``packages`` that people write, in a stable order."""
    found = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    return sorted(path for path in found if "migrations" not in path.parts)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), filename=str(path))


# Sizes --------------------------------------------------------------------------------------------


def test_every_file_says_in_its_first_line_what_it_is_for():
    silent = []
    for path in [ROOT / "manage.py", *sources(*PACKAGES, "tests")]:
        lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#!")]
        if lines and not lines[0].startswith(('"""', 'r"""')):
            silent.append(name_of(path))

    assert silent == []


def test_no_file_is_longer_than_it_can_be_read():
    limits = [(400, sources(*PACKAGES)), (600, sources("tests"))]
    limits.append((400, [*(ROOT / "static").rglob("*.js"), *(ROOT / "templates").rglob("*.html")]))

    long = [
        f"{name_of(path)}: {count}"
        for limit, paths in limits
        for path in paths
        if (count := path.read_text("utf-8").count("\n")) > limit
    ]

    assert long == []


def test_no_function_is_longer_than_fifty_lines():
    long = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in sources(*PACKAGES)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > 50
    ]

    assert long == []


def test_what_silences_a_checker_says_why():
    silencer = re.compile(r"#\s*(noqa|type:\s*ignore)(:\s*[A-Z0-9, ]+|\[[a-z-, ]+\])?\s*(?P<reason>.*)")
    bare = [
        f"{name_of(path)}:{number}"
        for path in sources(*PACKAGES)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if (found := silencer.search(line)) and len(found["reason"].strip("# -")) < 4
    ]

    assert bare == []


# Wake-ups -----------------------------------------------------------------------------------------


def test_every_task_that_the_outbox_wakes_is_registered():
    from agentplatform.celery import app
    from transactions import outbox

    app.loader.import_default_modules()

    assert set(outbox.TASKS.values()) <= set(app.tasks)


def test_every_work_of_the_outbox_has_a_function():
    from transactions import outbox

    missing = [
        target
        for target in outbox.RUNNERS.values()
        if not callable(getattr(import_module(target.split(":")[0]), target.split(":")[1], None))
    ]

    assert missing == []


# Who writes runtime rows --------------------------------------------------------------------------

WRITERS = ("transactions/services/", "transactions/outbox.py")
SETTING_UP = {
    "agentplatform/management/commands/demo.py",
    "transactions/management/commands/channel.py",
    "transactions/management/commands/apikey.py",
    "transactions/admin.py",
}
"""May write channels and API keys: they belong to the installation, not to a transaction."""

CREATING = {"save", "asave", "bulk_create", "abulk_create", "bulk_update", "abulk_update"}
CREATING |= {"get_or_create", "aget_or_create", "update_or_create", "aupdate_or_create"}
QUERYING = {"create", "acreate", "update", "aupdate", "delete", "adelete"}
"""Dictionaries and sets have some of these, too: on them only a queryset before the call makes it a write."""
QUERYSETS = {"objects", "filter", "exclude", "all", "select_for_update", "using", "order_by", "annotate"}


def runtime_models() -> set[str]:
    from django.apps import apps

    return {model.__name__ for model in apps.get_app_config("transactions").get_models()}


def chain_of(node: ast.expr) -> tuple[str, list[str]]:
    """The name that an attribute or call chain begins with, and the attributes on the way."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        if isinstance(node, ast.Attribute):
            attributes.append(node.attr)
        node = node.func if isinstance(node, ast.Call) else node.value
    return (node.id if isinstance(node, ast.Name) else ""), attributes


def writes(path: Path, models: set[str]) -> Iterator[str]:
    """Where ``path`` writes a row of ``models``, or of something that may be one."""
    for node in ast.walk(tree_of(path)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        verb, (root, attributes) = node.func.attr, chain_of(node.func.value)
        another_model = root[:1].isupper() and root not in models
        queried = verb in QUERYING and (root in models or QUERYSETS & set(attributes))
        if not another_model and root != "super" and (verb in CREATING or queried):
            yield f"{name_of(path)}:{node.lineno} {root}.{verb}"


def test_only_services_and_the_outbox_write_runtime_rows():
    models = runtime_models()
    readers = [
        path
        for path in sources("agentplatform", "transactions")
        if not name_of(path).startswith(WRITERS) and name_of(path) not in SETTING_UP
    ]

    found = [place for path in readers for place in writes(path, models)]

    assert found == []


def test_setting_up_writes_nothing_but_channels_and_keys():
    models = runtime_models() - {"Channel", "ApiKey"}
    paths = [ROOT / name for name in sorted(SETTING_UP) if (ROOT / name).exists()]

    found = [
        place for path in paths for place in writes(path, models) if any(f" {model}." in place for model in models)
    ]

    assert found == []


def test_definitions_never_write_runtime_rows():
    models = runtime_models()

    found = [
        name_of(path)
        for path in sources("tooling")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("transactions")
    ]

    assert models
    assert found == []


@pytest.mark.parametrize(
    ("code", "is_write"),
    [
        ("Item.objects.create(label='x')", True),
        ("transaction.items.filter(key='k').update(status='x')", True),
        ("turn.save(update_fields=['rule'])", True),
        ("Event.objects.bulk_create(rows)", True),
        ("known.update(more)", False),
        ("hasher.update(data)", False),
        ("Group.objects.get_or_create(name='x')", False),
        ("Item.objects.filter(key='k').count()", False),
    ],
)
def test_the_search_for_writers_finds_writes_and_nothing_else(tmp_path, code, is_write, monkeypatch):
    path = tmp_path / "sample.py"
    path.write_text(code)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)

    assert bool(list(writes(path, {"Item", "Event", "Turn"}))) is is_write


# No business words (EXT-100, EXT-161; runtime.md §5.1) --------------------------------------------

CONTRACT_NAMES = {
    # contracts.md §5 and §6: what servers, validators and reconcile tools are sent or answer.
    "items",
    "keep_items",
    "target_tool",
    "idempotency_key",
    "customer_key",
    "contract_key",
    "reason",
}
"""Names that contracts.md defines itself, although an example set has an argument of that name."""


def vocabulary() -> dict[str, str]:
    """Every tool, argument and phrase of the definition sets, folded → where it stands."""
    found: dict[str, str] = {}
    for folder in (DEFINITIONS / "contas", DEFINITIONS / "pedidos", DEFINITIONS / "legacy", DEMO_DEFINITIONS):
        for path in sorted(folder.rglob("*.y*ml")):
            for word in words(yaml.safe_load(path.read_text("utf-8"))):
                found.setdefault(word.strip().casefold(), name_of(path))
    return found


def words(document: dict[str, Any]) -> Iterator[str]:
    for name, tool in document.get("tools", {}).items():
        yield from (name, *tool.get("selection_keywords", ()), *texts(tool.get("description")))
        for argument, declared in tool.get("args_schema", {}).items():
            yield argument
            if isinstance(declared, dict):
                yield from (text for key in PHRASES for text in texts(declared.get(key)))
    for intent in document.get("intents", ()):
        yield from (intent["name"], *texts(intent.get("description")))
        yield from (*intent.get("keywords", ()), *intent.get("examples", ()))
    yield from document.get("mcp_servers", {})
    for node in document.get("nodes", ()):
        yield node["id"]


PHRASES = ("label", "description", "user_prompt")


def texts(value: object) -> list[str]:
    """The texts of a definition's field: one text, one per language, or a list."""
    match value:
        case str():
            return [value]
        case dict():
            return [text for text in value.values() if isinstance(text, str)]
        case list():
            return [text for text in value if isinstance(text, str)]
        case _:
            return []


def literals(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value.strip().casefold()


def test_no_string_of_the_runtime_is_a_business_word():
    known = vocabulary()
    forbidden = known.keys() - CONTRACT_NAMES

    found = [
        f"{name_of(path)}:{line} {text!r} of {known[text]}"
        for path in sources("transactions")
        for line, text in literals(path)
        if text in forbidden
    ]

    assert {"cancelar_vas_avulso", "subject", "order_ids", "cancelar serviço"} <= forbidden
    assert found == []


def test_every_exception_is_a_name_of_the_contracts_and_needed():
    used = {text for path in sources("transactions") for _, text in literals(path)}

    assert vocabulary().keys() >= CONTRACT_NAMES
    assert used >= CONTRACT_NAMES


PATTERNS_ALLOWED = {
    "transactions/console/filters.py",
    "transactions/core/envelope.py",
    "transactions/core/folding.py",
    "transactions/core/masking.py",
    "transactions/frames.py",
}
"""Modules that may use regular expressions: on the form of a text, never on what it means in a domain."""


def test_no_regular_expression_reads_business_values():
    users = {
        name_of(path)
        for path in sources("transactions")
        for node in ast.walk(tree_of(path))
        if (isinstance(node, ast.Import) and any(alias.name in ("re", "regex") for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module in ("re", "regex"))
    }

    assert users - PATTERNS_ALLOWED == set()


def test_no_pattern_of_the_runtime_holds_a_business_word():
    known = {word for word in vocabulary() if len(word) > 3} - CONTRACT_NAMES
    pattern_calls = {"compile", "match", "search", "fullmatch", "findall", "finditer", "sub", "split"}

    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in sources("transactions")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in pattern_calls
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and known & set(re.findall(r"\w+", str(node.args[0].value).casefold()))
    ]

    assert found == []


# Other words that do not belong here --------------------------------------------------------------


def test_no_secret_and_no_unfinished_note_is_in_the_tree():
    marks = re.compile(r"\b(TODO|FIXME|XXX)\b|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bsk-[A-Za-z0-9]{20,}")
    found = [
        f"{name_of(path)}:{number}"
        for path in sources(*PACKAGES)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if marks.search(line)
    ]

    assert found == []
