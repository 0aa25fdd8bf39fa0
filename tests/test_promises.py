"""The promise table is true: every promise names tests, and every named test exists (house-style.md §9)."""

import ast
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROMISES = tomllib.loads((ROOT / "tests" / "promises.toml").read_text("utf-8"))
MISSION = [f"S1-{number}" for number in range(1, 5)] + [f"S2-{number}" for number in range(1, 6)]
SECTIONS = ["2", "3", "4", "4a", "5", "6", "7", "8", "9", "10", "11"]


@cache
def functions_of(name: str) -> set[str]:
    """The test functions of one file, methods as Class::method."""
    path = ROOT / name
    if not path.exists():
        return set()
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{child.name}" for child in node.body if isinstance(child, ast.FunctionDef)}
    return found


def named_tests() -> list[tuple[str, str]]:
    return [(promise, test) for table in PROMISES.values() for promise, tests in table.items() for test in tests]


def test_every_named_test_exists():
    missing = []
    for promise, test in named_tests():
        name, _, function = test.partition("::")
        if function.partition("[")[0] not in functions_of(name):
            missing.append(f"{promise}: {test}")

    assert missing == []


def test_every_promise_has_a_test():
    bare = [promise for table in PROMISES.values() for promise, tests in table.items() if not tests]

    assert bare == []


def test_the_mission_documents_tests_are_all_in_the_table():
    assert sorted(PROMISES["mission"]) == MISSION


def test_every_section_of_the_runtime_contract_is_in_the_table():
    covered = {promise.split(" ")[0].split(".")[0] for promise in PROMISES["runtime"]}

    assert covered >= {f"§{section}" for section in SECTIONS}
