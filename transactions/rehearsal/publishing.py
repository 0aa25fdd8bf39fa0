"""What publishing asks the runtime: how saved simulations come out with a draft, and what runs on which release."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from threading import Lock

from django.conf import settings

from tooling.checks_of_sets import check
from tooling.content import canonical, digest, to_content
from tooling.findings import Finding, warning
from tooling.specs import Definitions
from transactions.models import CaseResult, SimulationCase, Transaction
from transactions.rehearsal.cases import CaseRun, Difference, run_case

MOST_REMEMBERED = 5000

_remembered: OrderedDict[tuple[str, str], tuple[CaseResult, tuple[Difference, ...]]] = OrderedDict()
"""(definitions, case), both as digests → how it came out: the page, its button and the API ask for the same."""
_lock = Lock()


def running() -> Mapping[int, int]:
    """Release number → transactions that are not ended."""
    return Transaction.objects.running_by_release()


def rehearse(definitions: Definitions) -> Iterator[Finding]:
    """A finding for every saved simulation that does not come out as expected; nobody is asked.

    Definitions with errors are not played: what they would do is not defined.
    """
    cases = list(SimulationCase.objects.all())
    if not cases or any(one.is_error for one in check(definitions, stdio_commands=settings.MCP_STDIO_COMMANDS)):
        return
    version = digest(canonical(to_content(definitions)))
    for case in cases:
        result, found = _come_out(case, definitions, version)
        if finding := finding_of(case.name, result, found):
            yield finding


def _come_out(
    case: SimulationCase, definitions: Definitions, version: str
) -> tuple[CaseResult, tuple[Difference, ...]]:
    held = {"scene": case.scene, "readings": case.readings, "answers": case.answers, "expected": case.expected}
    key = (version, digest(canonical(held)))
    with _lock:
        if (known := _remembered.get(key)) is not None:
            _remembered.move_to_end(key)
            return known
    run: CaseRun = run_case(case, definitions, looks_ahead=False)
    with _lock:
        _remembered[key] = (run.result, run.differences)
        while len(_remembered) > MOST_REMEMBERED:
            _remembered.popitem(last=False)
    return run.result, run.differences


def finding_of(name: str, result: CaseResult, found: tuple[Difference, ...]) -> Finding | None:
    """How publishing tells of it; None where all is as expected."""
    path = ("simulations", name)
    match result:
        case CaseResult.DIFFERS:
            return Finding("simulation.differs", _told(name, found), path)
        case CaseResult.NEEDS_READING:
            message = f'the saved simulation "{name}" needs an answer that is not recorded'
            return warning("simulation.needs_reading", message, path)
        case _:
            return None


def _told(name: str, found: tuple[Difference, ...]) -> str:
    """By its end, where that differs; else by how much."""
    for one in found:
        if one.aspect == "status" and one.expected and one.now:
            return f'the saved simulation "{name}" ends as {one.now} instead of {one.expected}'
    return f'the saved simulation "{name}" comes out differently ({len(found)})'
