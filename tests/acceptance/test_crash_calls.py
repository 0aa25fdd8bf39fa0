"""Every crash point of validator, call, accounting, sweep and verifying × kill, raise and hang, on real processes."""

import signal

import pytest

from tests.acceptance.crashing import ACTION, SERVER, judge, scene_of, struck
from transactions.failpoints import Action, Point

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.postgres, pytest.mark.redis]

VALIDATING = (Point.VALIDATOR_CLAIMED, Point.VALIDATOR_ANSWERED, Point.VERDICT_RECORDED, Point.SWEEP_FOUND)
CALLING = (Point.CLAIMED, Point.ANSWERED, Point.RECORDED, Point.ACCOUNTED, Point.NOT_SENT, Point.UNKNOWN)
VERIFYING = (Point.VERIFY_CLAIMED, Point.VERIFY_ANSWERED, Point.VERIFY_RECORDED)
LAST = (Point.SENT,)
"""Leaves outcomes unknown that sweepers go on asking about, so nothing else is struck after it."""
ANSWER_LOST = {Point.UNKNOWN, *VERIFYING}
"""The server does the work and its answer never arrives."""
TOLD_UNKNOWN = {Point.SENT, Point.ANSWERED, *ANSWER_LOST}
"""Struck here, nobody knows at first what became of the call, and the customer is told so."""


@pytest.fixture(scope="module")
def scene(module_processes, tmp_path_factory, postgres_url, redis_url):
    with scene_of(module_processes, tmp_path_factory.mktemp("crash"), database=postgres_url, redis=redis_url) as scene:
        yield scene


@pytest.fixture(autouse=True)
def fresh(scene):
    """No sweeper and no fault of an earlier case."""
    scene.kill_sweepers()
    scene.stack.clear_faults(SERVER)
    yield
    scene.kill_sweepers()


def take_over(scene, action):
    """A raise is survived by the process itself; after a kill, or beside what hangs, another one does the work."""
    if action is not Action.RAISE:
        scene.sweeper()


def come_back(scene, doomed, action):
    """What hung goes on now, when its work was done by others, as after a long pause of its machine."""
    if action is Action.HANG:
        doomed.send(signal.SIGCONT)
        scene.release(doomed)


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("point", VALIDATING)
def test_struck_while_validating_everything_is_done_once(scene, point, action):
    doomed = scene.sweeper(FAILPOINT=f"{point}:{action}:1")
    chat = scene.ask()
    struck(doomed, point, action)

    take_over(scene, action)
    scene.yes(chat)
    scene.told(chat, "transaction.finished")
    come_back(scene, doomed, action)
    judged = judge(scene, chat)

    assert (judged.calls, judged.record["status"]) == (1, "SUCCESS")
    assert chat.of("transaction.verifying") == []


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("point", (*CALLING, *VERIFYING, *LAST))
def test_struck_while_calling_nothing_is_done_twice_or_claimed_unknown(scene, point, action):
    chat = scene.asked_to_confirm()
    if point in ANSWER_LOST:
        scene.stack.fault(SERVER, tool=ACTION, behaviour="drop_answer", times=1)
    refused = {"PEDIDOS_MCP_TOKEN": "wrong"} if point is Point.NOT_SENT else {}
    doomed = scene.sweeper(FAILPOINT=f"{point}:{action}:1", **refused)
    scene.yes(chat)
    struck(doomed, point, action)

    if refused and action is Action.RAISE:
        doomed.end()  # with its wrong token it would be refused again
        scene.sweeper()
    else:
        if refused and action is Action.HANG:
            doomed.send(signal.SIGSTOP)  # the rest of it would go on and be refused again
        take_over(scene, action)
    nobody_called = point is Point.SENT
    scene.told(chat, "transaction.verifying" if nobody_called else "transaction.finished")
    come_back(scene, doomed, action)
    if nobody_called and action is Action.HANG:
        scene.told(chat, "transaction.finished")
    judged = judge(scene, chat)

    was_called = not nobody_called or action is Action.HANG
    assert (judged.calls, judged.record["status"]) == ((1, "SUCCESS") if was_called else (0, "VERIFYING"))
    assert bool(chat.of("transaction.verifying")) == (point in TOLD_UNKNOWN)
