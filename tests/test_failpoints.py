"""Crash points: a closed list, each used in the code, misspelling ends the process, production knows none."""

import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from agentplatform import checks
from tests.acceptance import test_crash_calls, test_crash_turns
from transactions import failpoints
from transactions.failpoints import Action, FailpointHit, Point, Strike, strikes_of

ROOT = Path(__file__).resolve().parent.parent
USED = re.compile(r"""failpoints\.hit\(?,? ?\(?["'](\w+)["']\)""")


@pytest.fixture(autouse=True)
def nothing_was_hit(monkeypatch):
    monkeypatch.setattr(failpoints, "_hits", type(failpoints._hits)())
    monkeypatch.setattr(failpoints, "_released", threading.Event())


def test_every_point_is_hit_somewhere_and_no_other_is():
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "transactions").rglob("*.py"))

    assert sorted(USED.findall(code)) == sorted(Point)


def test_every_point_has_its_cases_on_real_processes():
    calls = (*test_crash_calls.VALIDATING, *test_crash_calls.CALLING, *test_crash_calls.VERIFYING)
    turns = (*test_crash_turns.ASKING, *test_crash_turns.BY_WORD, *test_crash_turns.BY_BUTTON)

    assert {*calls, *test_crash_calls.LAST, *turns} == set(Point)


def test_a_value_may_name_several_points_and_the_hit_that_counts():
    found = strikes_of("sent:kill, answered:raise:2,turn_read:hang")

    assert found == (
        Strike(Point.SENT, Action.KILL),
        Strike(Point.ANSWERED, Action.RAISE, only=2),
        Strike(Point.TURN_READ, Action.HANG),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("snet:kill", "message_stored"),
        ("sent", "point:action"),
        ("sent:explode", "kill, raise, hang"),
        ("sent:kill:0", "counts from 1"),
        ("sent:kill:x", "counts from 1"),
    ],
)
def test_a_value_that_means_nothing_is_refused_in_words_that_say_what_would(text, said):
    with pytest.raises(ImproperlyConfigured, match=said):
        strikes_of(text)


def test_a_process_with_a_misspelt_point_does_not_start(tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "run_due"],
        cwd=ROOT,
        env={"FAILPOINT": "snet:kill", "DATA_DIR": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert 'Wrong setting: FAILPOINT names the point "snet"' in done.stderr


def test_raise_strikes_at_every_hit_or_at_the_one_that_is_named(monkeypatch):
    monkeypatch.setenv("FAILPOINT", "sent:raise,answered:raise:2")

    for _ in range(2):
        with pytest.raises(FailpointHit):
            failpoints.hit("sent")
    failpoints.hit("answered")
    with pytest.raises(FailpointHit):
        failpoints.hit("answered")
    failpoints.hit("answered")
    failpoints.hit("recorded")


def test_what_hangs_goes_on_when_it_is_released(monkeypatch):
    monkeypatch.setenv("FAILPOINT", "sent:hang")
    went_on = threading.Event()
    thread = threading.Thread(target=lambda: (failpoints.hit("sent"), went_on.set()), daemon=True)

    thread.start()
    hung = not went_on.wait(0.05)
    failpoints.release()

    assert hung
    assert went_on.wait(10)


def test_production_is_struck_by_nothing_and_its_check_says_what_to_do(monkeypatch):
    monkeypatch.setenv("FAILPOINT", "sent:raise")

    with override_settings(IS_PRODUCTION=True):
        failpoints.hit("sent")
        (message,) = checks.check_failpoints()

    assert (message.id, message.is_serious()) == ("agentplatform.E003", True)
    assert "Unset FAILPOINT" in message.hint


def test_without_the_variable_production_and_development_have_nothing_to_say(monkeypatch):
    monkeypatch.delenv("FAILPOINT", raising=False)

    for is_production in (True, False):
        with override_settings(IS_PRODUCTION=is_production):
            assert checks.check_failpoints() == []


def test_development_may_set_points(monkeypatch):
    monkeypatch.setenv("FAILPOINT", "sent:raise")

    assert checks.check_failpoints() == []
