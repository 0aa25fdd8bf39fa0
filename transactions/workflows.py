"""Runs the nodes of a workflow around the one call of its tool (contracts.md §5, runtime.md §9).

The nodes before the tool's own run under the claim, before the attempt is SENT: a crash there means that nothing was
sent, and the next worker starts again at the first node. The nodes after it run when the answer is accounted for and
told: whatever becomes of them, or of their worker, changes nothing any more, and they are not run a second time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from tooling.gateway import Answered, Call, NoAnswer, NotSent, Outcome, ToolGateway
from tooling.specs import WorkflowNode
from transactions.core.workflows import Ended, Next
from transactions.services import stepping
from transactions.services.stepping import Run

REPEATS = 2
"""How often a call that changes nothing is made again (runtime.md §9.4)."""
MOST_TRIES = 10
LONGEST_WAIT_SECONDS = 30.0


def call_again(gateway: ToolGateway, call: Call, *, repeats: int, wait: float = 0.0) -> Outcome:
    """Make the call; where it may be repeated, again while it gets no answer and its time is not over."""
    deadline = time.monotonic() + call.timeout
    outcome = gateway.call(call)
    while repeats and isinstance(outcome, NotSent | NoAnswer) and time.monotonic() + wait < deadline:
        if isinstance(outcome, NotSent) and not outcome.again:
            break
        repeats -= 1
        if wait:
            time.sleep(wait)
        outcome = gateway.call(call)
    return outcome


def reach(run: Run, gateway: ToolGateway) -> tuple[Run, Mapping[str, Any] | None]:
    """Run the nodes before the tool's own; its arguments, or None where the run ended without reaching it."""
    if run.sent_before is not None:
        return run, run.sent_before
    while True:
        match run.next():
            case Next(node=node, arguments=arguments) if node.action == run.tool:
                return run, stepping.own_arguments(run, arguments)
            case Next(node=node, arguments=arguments):
                run = _ran(run, node, arguments, gateway)
            case Ended():
                stepping.stop(run)
                return run, None


def follow(run: Run, answer: Answered, gateway: ToolGateway) -> None:
    """Run the nodes after the tool's own, once; the failure of one is a secondary error (runtime.md §4.6)."""
    run = stepping.own_result(run, answer)
    while isinstance(coming := run.next(), Next):
        run = _ran(run, coming.node, coming.arguments, gateway)
    stepping.note_trouble(run)


def _ran(run: Run, node: WorkflowNode, arguments: Mapping[str, Any], gateway: ToolGateway) -> Run:
    call = stepping.call_of(run, node, arguments)
    if isinstance(call, NotSent):
        return stepping.keep(run, node, arguments, call)
    tries, wait = _retry(node) if stepping.may_repeat(run, node) else (1, 0.0)
    outcome = call_again(gateway, call, repeats=tries - 1, wait=wait)
    return stepping.keep(run, node, call.arguments, outcome)


def _retry(node: WorkflowNode) -> tuple[int, float]:
    """How often a node is tried in all, and the seconds between two tries."""
    tries, wait = (node.retry.get(name) for name in ("max_attempts", "wait_seconds"))
    number = int(tries) if isinstance(tries, int | float) else 1 + REPEATS
    seconds = float(wait) if isinstance(wait, int | float) else 0.0
    return min(max(number, 1), MOST_TRIES), min(max(seconds, 0.0), LONGEST_WAIT_SECONDS)
