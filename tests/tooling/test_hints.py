"""The table of everything that checks and the reader of files can find, and that each says what to do about it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation
from django.utils.translation import gettext

from tests.tooling.test_doubts import NEEDS_A_TICK, RAISED
from tooling.drift import Kind
from tooling.findings import Finding, warning
from tooling.forms.wording import agreed_to, hint_said
from tooling.hints import HINTS, TICKS, hint_of

ROOT = Path(__file__).resolve().parents[2] / "tooling"
CODE = re.compile(r"[a-z]+\.[a-z][a-z0-9_]*")
SPEAKERS = [*sorted(ROOT.glob("checks_of_*.py")), *sorted(ROOT.glob("yaml_*.py"))]
SPEAKERS.append(ROOT.parent / "transactions" / "rehearsal" / "publishing.py")
REPORTING = {"Finding", "warning", "note", "error", "stop", "wrong", "choice", "Problem", "check_address"}

MADE = {
    "{}_missing": ["server.endpoint_missing", "profile.base_url_missing"],
    "{}_malformed": ["server.endpoint_malformed", "profile.base_url_malformed"],
    "{}_scheme": ["server.endpoint_scheme", "profile.base_url_scheme"],
    "policy.{}_range": ["policy.expires_after_range", "policy.timeout_seconds_range", "policy.max_items_range"],
    "intent.{}_empty": ["intent.keyword_empty", "intent.example_empty"],
    "workflow.{}_missing": ["workflow.name_missing", "workflow.version_missing"],
    "drift.{}": [f"drift.{kind}" for kind in Kind if kind.startswith("argument_")],
}
"""Codes that are put together: how, and what comes of it."""

NO_CODES = {"server.endpoint", "profile.base_url"}
"""What some of them begin with."""


def codes() -> Iterator[tuple[str, str]]:
    """(code, place) of everything that can be reported."""
    for path in SPEAKERS:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            place = f"{path.name}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.JoinedStr):
                shape = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
                yield from ((code, place) for code in MADE.get(shape, ()))
            elif isinstance(node, ast.Call) and name_of(node.func) in REPORTING:
                held = (one.value for one in node.args if isinstance(one, ast.Constant))
                yield from ((one, place) for one in held if isinstance(one, str) and CODE.fullmatch(one))


def name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def every_code() -> set[str]:
    return {code for code, _ in codes()} - NO_CODES


def test_every_code_has_a_hint_and_every_hint_a_code():
    found = every_code()

    assert len(found) > 150
    assert found - HINTS.keys() == set()
    assert HINTS.keys() - found == set()


def test_every_code_that_is_put_together_is_among_those_of_the_table():
    shapes = {
        "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in argument.values)
        for path in SPEAKERS
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and name_of(node.func) in ("Finding", "warning", "note")
        for argument in node.args[:1]
        if isinstance(argument, ast.JoinedStr)
    }

    assert shapes <= MADE.keys()


def test_every_doubt_has_a_set_that_raises_it():
    doubts = ("risks", "questions", "helpers", "words", "reach")
    told = {code for code, place in codes() if place.split(".")[0].removeprefix("checks_of_") in doubts}

    assert told == RAISED.keys()


@pytest.mark.parametrize("code", sorted(HINTS))
def test_a_hint_is_one_sentence_in_both_languages(code: str):
    english = hint_of(code)
    with translation.override("pt-br"):
        portuguese = gettext(english)

    for text in (english, portuguese):
        assert text[0].isupper() or text.startswith("$")
        assert text.endswith(".") and not text.endswith("..")
        assert ". " not in text.replace("_ . - ", "")
    assert portuguese != english


def test_a_finding_says_what_to_do():
    assert warning("policy.fail_open", "…", ("tool_policies", "x")).hint.startswith("Turn it off, so that")
    assert Finding("cases.failed", "…", ("tool_policies", "x")).hint == ""


def test_each_finding_that_needs_a_tick_says_what_is_agreed_to():
    assert TICKS.keys() == NEEDS_A_TICK | {"policy.no_confirmation"}


def test_what_is_agreed_to_names_the_tool_in_the_readers_language():
    for code in TICKS:
        found = warning(code, "…", ("tool_policies", "cancelar", "x"), needs_tick=True)
        with translation.override("pt-br"):
            portuguese = agreed_to(found)
        with translation.override("en"):
            assert agreed_to(found) not in ("", portuguese)
        assert ("cancelar" in portuguese) is (code != "router.phrase_keyword")

    assert agreed_to(warning("policy.fail_open", "…", ("tool_policies", "x"))) == ""


def test_a_hint_is_said_in_the_readers_language():
    with translation.override("pt-br"):
        assert hint_said("policy.requires_twice") == "Remova um dos dois."
        assert hint_said("cases.failed") == ""
