"""The production shape of the product for one test module: PostgreSQL, Redis, both MCP servers, a scripted model."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.acceptance.stack import Stack
from tests.processes import Processes
from tests.scripted_model import Answers, Refused, ScriptedModel

ORDER = re.compile(r"PED-\d+")


def orders_of(component: str, payload: dict[str, Any]) -> Any:
    """A model that reads order numbers and nothing else; it writes no text and takes no decision."""
    if component != "transaction_parameter_extraction":
        return Refused(400)
    found = ORDER.findall(payload["message"])
    return {
        "kind": "answers_pending" if found else "something_else",
        "values": dict.fromkeys(payload["pending"], found or None),
    }


@contextmanager
def real_parts(
    processes: Processes, folder: Path, *, database: str, redis: str, answers: Answers = orders_of, **settings: str
) -> Iterator[Stack]:
    """Everything but workers and sweeper is up; the test starts those that it wants."""
    stack = Stack(processes, folder, database, redis, settings)
    with ScriptedModel(answers, port=stack.ports["model"]):
        stack.start_servers()
        stack.prepare()
        stack.wait_for_helpers()
        stack.serve()
        yield stack
