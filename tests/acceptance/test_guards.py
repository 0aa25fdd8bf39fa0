"""What stands between a yes and the call, each tried on real processes and judged by the server's own ledger."""

import psycopg
import pytest
import yaml

from tests.acceptance.crashing import ACTION, ORDERS, SERVER, judge, patiently, scene_of

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.postgres, pytest.mark.redis]


@pytest.fixture(scope="module")
def scene(module_processes, tmp_path_factory, postgres_url, redis_url):
    with scene_of(module_processes, tmp_path_factory.mktemp("guards"), database=postgres_url, redis=redis_url) as scene:
        yield scene


@pytest.fixture(autouse=True)
def fresh(scene):
    """No sweeper and no fault of an earlier case."""
    yield
    scene.kill_sweepers()
    scene.stack.clear_faults(SERVER)


def publish(scene, **of_the_tool):
    """A release in which the acting tool says ``of_the_tool``."""
    folder = scene.stack.folder / "definitions" / SERVER
    path = folder / "tools.yaml"
    document = yaml.safe_load(path.read_text("utf-8"))
    document["tools"][ACTION].update(of_the_tool)
    path.write_text(yaml.safe_dump(document, allow_unicode=True), "utf-8")
    scene.forks.run("definitions", "import", str(folder), "--publish", "-m", "guards")


def test_a_confirmation_that_was_used_starts_nothing_more(scene):
    chat = scene.asked_to_confirm()
    confirmation_id = chat.of("confirmation.requested")[0]["data"]["confirmation_id"]

    answers = [chat.press(confirmation_id, "confirm") for _ in range(2)]
    scene.forks.run("run_due")
    scene.told(chat, "transaction.finished")
    answers.append(chat.press(confirmation_id, "confirm"))
    said = [chat.wait_for_ack(message_id) for message_id in answers]
    scene.forks.run("run_due")

    assert judge(scene, chat).calls == 1
    assert [frame.get("code", "") for frame in said] == ["", "confirmation_closed", "confirmation_closed"]


def test_what_is_not_what_was_confirmed_is_not_sent(scene):
    chat = scene.asked_to_confirm()
    scene.yes(chat)
    transaction_id = chat.wait_for("execution.started")["transaction_id"]

    with psycopg.connect(scene.stack.database, autocommit=True) as database:
        changed = database.execute(
            "UPDATE transactions_transaction SET arguments = replace(arguments::text, %s, %s)::jsonb WHERE id = %s",
            [ORDERS[0], "PED-1004", transaction_id],
        )
        assert changed.rowcount == 1
    scene.forks.run("run_due")

    assert judge(scene, chat).calls == 0
    finished = scene.told(chat, "transaction.finished")
    assert scene.stack.effects(SERVER, transaction_id=transaction_id) == []
    assert (finished["data"]["status"], finished["data"]["reason_code"]) == ("FAILED", "digest_mismatch")


def test_a_tool_that_was_disabled_after_the_yes_is_not_called(scene):
    chat = scene.asked_to_confirm()
    scene.yes(chat)
    chat.wait_for("execution.started")

    publish(scene, enabled=False)
    scene.forks.run("run_due")
    publish(scene, enabled=True)

    assert judge(scene, chat).calls == 0
    finished = scene.told(chat, "transaction.finished")
    assert (finished["data"]["status"], finished["data"]["reason_code"]) == ("FAILED", "tool_disabled")


def test_an_item_that_the_answer_leaves_out_is_unknown_until_it_is_asked_about(scene):
    chat = scene.asked_to_confirm()
    scene.stack.fault(SERVER, tool=ACTION, behaviour="omit_row", item=ORDERS[1], times=1)
    scene.yes(chat)
    chat.wait_for("execution.started")

    scene.forks.run("run_due")
    patiently(chat, lambda: chat.of("transaction.verifying") or chat.of("transaction.finished"), what="an outcome")
    judge(scene, chat)
    scene.sweeper()
    scene.told(chat, "transaction.finished")

    judged = judge(scene, chat)
    assert (judged.calls, judged.record["status"]) == (1, "SUCCESS")
    told = chat.of("transaction.verifying")[0]["data"]["items"]
    assert {item["label"]: item["status"] for item in told} == dict.fromkeys(ORDERS, "SUCCEEDED") | {
        ORDERS[1]: "UNKNOWN"
    }


def test_a_call_that_takes_longer_than_the_lease_stays_its_workers_own(scene):
    chat = scene.asked_to_confirm()
    scene.stack.fault(SERVER, tool=ACTION, behaviour="delay", seconds=4, times=1)
    scene.sweeper()
    scene.sweeper()
    scene.yes(chat)

    scene.told(chat, "transaction.finished")

    judged = judge(scene, chat)
    assert (judged.calls, judged.record["status"]) == (1, "SUCCESS")
    assert chat.of("transaction.verifying") == []
