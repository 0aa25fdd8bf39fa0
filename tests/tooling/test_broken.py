"""Every broken file is refused at its exact line, with a message that says what is wrong (contracts.md §5)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.loading import DEFINITIONS
from tests.tooling.conftest import COMMANDS
from tooling import yaml_io
from tooling.yaml_io import Problem

BROKEN = DEFINITIONS / "broken"
EXPECTATION = re.compile(r"# expect: (?P<warning>warning )?(?P<code>[\w.]+): (?P<gist>.*) at line (?P<line>\d+)")


@dataclass(frozen=True)
class Broken:
    """One broken file, what it stands in for and what the reader must say."""

    name: str
    replaces: str
    severity: str
    code: str
    gist: str
    line: int

    @property
    def set_name(self) -> str:
        return self.replaces.split("/")[0]


def broken_files() -> list[Broken]:
    files = []
    for path in sorted(BROKEN.iterdir()):
        if path.name == "README.md" or path.with_name(path.name + ".expect").exists():
            continue
        expect, overlay = path.read_text("utf-8").splitlines()[:2]
        found = EXPECTATION.fullmatch(expect)
        assert found, expect
        severity = "warning" if found["warning"] else "error"
        replaces = overlay.removeprefix("# overlay: replaces ")
        name = path.name.removesuffix(".expect")
        files.append(Broken(name, replaces, severity, found["code"], found["gist"], int(found["line"])))
    return files


def data_of(broken: Broken) -> bytes:
    """The broken file's bytes; the one that is too large is made here, as its description says."""
    path = BROKEN / broken.name
    if path.exists():
        return path.read_bytes()
    return padded((DEFINITIONS / broken.replaces).read_bytes(), 1_258_291)


def padded(data: bytes, size: int) -> bytes:
    """``data`` and comment lines up to exactly ``size`` bytes."""
    line = b"# " + b"x" * 76 + b"\n"
    return (data + line * (size // len(line)))[: size - 1] + b"\n"


def problems_with(broken: Broken, folder: Path) -> list[Problem]:
    (folder.parent / broken.replaces).write_bytes(data_of(broken))
    return list(yaml_io.read_sets([folder], stdio_commands=COMMANDS).problems)


@pytest.mark.parametrize("broken", broken_files(), ids=lambda broken: broken.name)
def test_the_fault_of_a_file_is_told_at_its_line_and_nothing_else_is(broken: Broken, copy_of: Callable[[str], Path]):
    folder = copy_of(broken.set_name)

    problems = problems_with(broken, folder)

    told = [(problem.code, problem.severity.value, problem.line, problem.file) for problem in problems]
    assert told == [(broken.code, broken.severity, broken.line, str(folder.parent / broken.replaces))]
    assert broken.gist in problems[0].message + f" ({problems[0].hint})"


def test_a_file_with_a_byte_order_mark_equals_the_same_file_without(copy_of: Callable[[str], Path]):
    broken = next(one for one in broken_files() if one.code == "file.bom")
    folder = copy_of(broken.set_name)
    plain = data_of(broken).removeprefix(b"\xef\xbb\xbf")

    with_mark = yaml_io.read_files({"tools.yaml": data_of(broken)}, base=read_base(folder))
    without = yaml_io.read_files({"tools.yaml": plain}, base=read_base(folder))

    assert with_mark.definitions == without.definitions
    assert without.problems == ()


def read_base(folder: Path):
    return yaml_io.read_sets([folder], stdio_commands=COMMANDS).definitions


@pytest.mark.parametrize(("size", "accepted"), [(1_048_576, True), (1_048_577, False)])
def test_a_file_may_have_exactly_one_mebibyte(size: int, accepted: bool, copy_of: Callable[[str], Path]):
    folder = copy_of("contas")
    file = folder / "tools.yaml"
    file.write_bytes(padded(file.read_bytes(), size))

    reading = yaml_io.read_sets([folder])

    assert (reading.definitions is not None) is accepted


def test_all_errors_of_a_set_are_told_and_not_only_the_first(copy_of: Callable[[str], Path]):
    folder = copy_of("contas")
    tools = (folder / "tools.yaml").read_text("utf-8")
    tools = tools.replace("mcp_server: contas", "mcp_server: conta", 2).replace("tool_type: action", "tool_type: act")
    (folder / "tools.yaml").write_text(tools, "utf-8")
    policies = (folder / "tool_policies.yaml").read_text("utf-8")
    (folder / "tool_policies.yaml").write_text(policies.replace("max_items: 20", "max_items: many"), "utf-8")

    codes = [problem.code for problem in yaml_io.read_sets([folder]).problems]

    assert sorted(codes) == ["tool.server_unknown", "tool.server_unknown", "tool.type_unknown", "type.integer"]


def test_a_problem_is_told_as_editors_want_it():
    reading = yaml_io.read_files({"a/tools.yaml": b"version: 1\ntools:\n  x: 5\nowner: me\n"})

    assert [str(problem) for problem in reading.problems] == [
        "a/tools.yaml:3:6: x: expected a mapping, got the number 5",
        'a/tools.yaml:4:1: warning: unknown key "owner": has no effect; remove it',
    ]


def test_a_missing_directory_and_an_empty_one_are_errors(tmp_path: Path):
    missing = yaml_io.read_sets([tmp_path / "nowhere"])
    empty = yaml_io.read_sets([tmp_path])

    assert [problem.code for problem in missing.problems] == ["file.unreadable"]
    assert [problem.code for problem in empty.problems] == ["file.none"]
