"""The mutants do not rot: each guard that they remove stands in the product exactly once, and their tests exist."""

import ast
from pathlib import Path

import pytest

from tests.mutants import COPIED, MUTANTS, ROOT, copy_to, faults_of


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.guard.replace(" ", "-"))
def test_every_edit_of_a_mutant_finds_its_text_exactly_once(mutant):
    assert faults_of(mutant) == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.guard.replace(" ", "-"))
def test_a_mutant_is_still_python(mutant):
    changed = {}
    for edit in mutant.edits:
        text = changed.get(edit.path) or (ROOT / edit.path).read_text("utf-8")
        changed[edit.path] = text.replace(edit.old, edit.new)

    for path, text in changed.items():
        ast.parse(text, filename=path)


def test_every_test_that_is_to_catch_a_mutant_exists():
    named = {test.partition("[")[0] for mutant in MUTANTS for test in mutant.tests}

    missing = [
        test
        for test in named
        if f"def {test.partition('::')[2]}(" not in (ROOT / test.partition("::")[0]).read_text("utf-8")
    ]

    assert missing == []


def test_a_copy_holds_the_edits_and_everything_that_the_tests_need(tmp_path):
    mutant = MUTANTS[0]

    copy_to(tmp_path, mutant.edits)

    assert {path.name for path in tmp_path.iterdir()} == set(COPIED)
    texts = {edit.path: Path(tmp_path, edit.path).read_text("utf-8") for edit in mutant.edits}
    assert all(edit.new in texts[edit.path] and edit.old not in texts[edit.path] for edit in mutant.edits)
