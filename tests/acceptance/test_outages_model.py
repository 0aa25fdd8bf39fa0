"""A language model that answers nothing, or is away: others are served meanwhile, and who asked it is told so."""

import itertools

import pytest
import yaml

from tests.acceptance.client import close_all
from tests.acceptance.outages import TIMES, awaiting, check_done_once, press_yes
from tests.acceptance.parts import orders_of, real_parts
from tests.acceptance.stack import SETS
from tests.scripted_model import Hang, Refused
from tests.services import wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.redis, pytest.mark.timeout(300)]

THREADS = 2
PROCESSES = 2
"""That handle turns: web and sweeper."""
SLOW = (PROCESSES + 1) * THREADS
PATIENCE = 20
"""Seconds that a model may take here; a yes that had to wait for it would come after somebody was told."""


class Model:
    """Reads orders, as ever; it says nothing to whoever mentions a snail, and refuses everything while it is down."""

    def __init__(self):
        self.hanging = 0
        self.is_down = False

    def __call__(self, component, payload):
        if self.is_down:
            return Refused(503)
        if "lesma" in payload["message"]:
            self.hanging += 1
            return Hang()
        return orders_of(component, payload)


@pytest.fixture(scope="module")
def model():
    return Model()


@pytest.fixture(scope="module")
def stack(module_processes, tmp_path_factory, postgres_url, redis_url, model):
    """Web, worker and sweeper with two threads each for turns, and two for those that ask the model."""
    folder = tmp_path_factory.mktemp("models")
    times = {**TIMES, "WORK_THREADS": str(THREADS), "DB_THREADS": str(THREADS)}
    with real_parts(module_processes, folder, database=postgres_url, redis=redis_url, answers=model, **times) as stack:
        be_patient(stack)
        stack.start_worker()
        stack.start_sweeper()
        yield stack


def be_patient(stack):
    """Publish profiles that give every component PATIENCE seconds."""
    folders = [stack.folder / "definitions" / name for name in SETS]
    for folder in folders:
        profiles = yaml.safe_load((folder / "llm_profiles.yaml").read_text())
        for profile in profiles["profiles"].values():
            profile["timeout_seconds"] = PATIENCE
        (folder / "llm_profiles.yaml").write_text(yaml.safe_dump(profiles))
    stack.processes.run("definitions", "import", *map(str, folders), "--publish", "-m", "patience", env=stack.env)


def test_turns_that_hang_in_the_model_keep_no_yes_waiting_and_are_answered_honestly(stack, model):
    """Every thread that may ask the model does so, in the web process and in the sweeper, and more turns wait."""
    ana, bia, carla = [awaiting(stack, name) for name in ("by-word", "by-button", "says-no")]
    slow = [stack.chat(customer=f"slow-{n}") for n in range(SLOW)]
    for chat in slow:
        chat.wait_for_ack(chat.say("cancelar pedidos da lesma"))
    wait_until(lambda: model.hanging >= PROCESSES * THREADS, what="the threads to hang")

    said, pressed, refused = ana.say("sim"), press_yes(bia), carla.say("não")
    for chat, message_id in ((ana, said), (bia, pressed), (carla, refused)):
        assert chat.wait_for_ack(message_id)["type"] == "ack"
    check_done_once(stack, [ana, bia])
    assert carla.wait_for("transaction.finished")["data"]["status"] == "CANCELLED"

    for chat in slow:
        chat.catch_up()
    told = itertools.chain.from_iterable(chat.of("assistant.message") for chat in slow)
    assert list(told) == []
    for chat in slow:
        chat.wait_for("assistant.message", rule="model.unavailable", timeout=6 * PATIENCE)
    close_all([ana, bia, carla, *slow])


def test_a_model_that_is_down_is_told_and_what_needs_none_goes_on(stack, model):
    ana, bia = awaiting(stack, "model-down"), stack.chat(customer="model-down-too")
    model.is_down = True

    bia.say("cancelar pedidos")
    bia.wait_for("assistant.message", rule="model.unavailable", timeout=40)
    ana.say("sim")
    check_done_once(stack, [ana])
    model.is_down = False

    bia.say("cancelar pedidos PED-1001 e PED-1002")
    bia.wait_for("confirmation.requested", timeout=40)
    assert "transaction.started" not in bia.kinds()[: bia.kinds().index("assistant.message")]
