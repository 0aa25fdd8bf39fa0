"""The demo dialogues, in both languages, against the embedded product with its demo servers and offline model."""

import pytest

from tests.acceptance.dialogues import DIALOGUES
from tests.acceptance.playing import executions, play
from tests.acceptance.stack import Stack

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def stack(module_processes, tmp_path_factory):
    """One process, SQLite, nothing installed beside it."""
    stack = Stack(module_processes, tmp_path_factory.mktemp("dialogues"))
    stack.start_servers()
    stack.start_model()
    stack.prepare()
    stack.wait_for_helpers()
    stack.serve("--embedded")
    return stack


@pytest.mark.parametrize("locale", ["pt-BR", "en"])
@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: dialogue.number)
def test_the_dialogue_goes_as_written(stack, dialogue, locale):
    if dialogue.skip:
        pytest.skip(dialogue.skip)
    chat = stack.chat(locale=locale, customer=f"dialogue-{dialogue.number}-{locale}")

    play(chat, dialogue)

    assert all(count == 1 for count in executions(chat).values())
