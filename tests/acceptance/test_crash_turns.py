"""Every crash point of messages, turns and confirmations × kill, raise and hang, in a web process of its own."""

import pytest

from tests.acceptance.crashing import judge, patiently, scene_of, struck
from transactions.failpoints import Action, Point

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.postgres, pytest.mark.redis]

ASKING = (Point.MESSAGE_STORED, Point.TURN_CLAIMED, Point.TURN_READ)
HIT = {Point.TURN_READ: 2}
"""Where not the first hit is struck: a turn that needs a model is read once without one, and handed on."""
BY_WORD = (Point.TURN_READ, Point.TURN_APPLIED)
BY_BUTTON = (Point.CONFIRMATION_STORED, Point.WAKE_UP_PUBLISHING)


@pytest.fixture(scope="module")
def scene(module_processes, tmp_path_factory, postgres_url, redis_url):
    with scene_of(module_processes, tmp_path_factory.mktemp("crash"), database=postgres_url, redis=redis_url) as scene:
        scene.sweeper()
        yield scene


def come_back(scene, chat, doomed, action):
    """The customer goes on where a web process answers; what hung goes on, too, and ends when it is told."""
    if action is Action.RAISE:
        return chat
    chat = scene.through(chat, scene.stack.base)
    patiently(chat, lambda: chat.of("transaction.finished"), what="the end")
    if action is Action.HANG:
        scene.release(doomed)
    return chat


def check_done_once(scene, chat):
    scene.told(chat, "transaction.finished")
    judged = judge(scene, chat)
    assert (judged.calls, judged.record["status"]) == (1, "SUCCESS")
    assert chat.of("transaction.verifying") == []


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("point", ASKING)
def test_a_request_is_handled_once_though_its_web_process_was_struck(scene, point, action):
    with scene.second_web(FAILPOINT=f"{point}:{action}:{HIT.get(point, 1)}") as (doomed, base):
        chat = scene.through(scene.stack.chat(customer=scene.somebody()), base)
        message_id = scene.request(chat)
        struck(doomed, point, action)

        if action is not Action.RAISE:
            chat = scene.through(chat, scene.stack.base)
        scene.request(chat, message_id=message_id)  # a client that saw no ack sends it again
        scene.yes(chat)
        chat = come_back(scene, chat, doomed, action)

        check_done_once(scene, chat)


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("point", (*BY_WORD, *BY_BUTTON))
def test_a_yes_counts_once_though_its_web_process_was_struck(scene, point, action):
    chat = scene.ask()
    patiently(chat, lambda: chat.of("confirmation.requested"), what="the confirmation")
    with scene.second_web(FAILPOINT=f"{point}:{action}:1") as (doomed, base):
        chat = scene.through(chat, base)
        if point in BY_BUTTON:
            scene.yes(chat)
        else:
            chat.catch_up()
            chat.say("sim")
        struck(doomed, point, action)

        chat = come_back(scene, chat, doomed, action)

        check_done_once(scene, chat)
