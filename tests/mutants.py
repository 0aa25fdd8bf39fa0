"""Removes each guard of the write path in turn and shows that the crash harness catches it. ``make mutants`` runs it.

A mutant is a copy of the product with one guard removed by exact edits of its text; where a second guard would hold
instead, that one is removed, too, and ``because`` says so. The judge is the harness: real processes, the MCP server's
ledger and the customer's chat. A mutant that no case of its selection fails on has survived, and the run ends with 1.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("agentplatform", "static", "templates", "tests", "tooling", "transactions", "manage.py", "pyproject.toml")
AT_ONCE = 2
SECONDS = 600
CALLS, TURNS, GUARDS = (f"tests/acceptance/test_{name}.py" for name in ("crash_calls", "crash_turns", "guards"))
CALLING = f"{CALLS}::test_struck_while_calling_nothing_is_done_twice_or_claimed_unknown"
FAILED = re.compile(r"^FAILED (\S+)", re.MULTILINE)
ERROR = re.compile(r"^ERROR (\S+)", re.MULTILINE)
SEEN = re.compile(
    r"^(?:E +(?! |AssertionError$)(?:AssertionError: )?|(?=waited )|_+ .+ _+\n(?!\S*:\d))(.+)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Edit:
    """``old`` stands exactly once in ``path`` and becomes ``new``."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """``guard`` removed by ``edits``; one of ``tests`` must fail."""

    guard: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]
    because: str = ""


EXECUTING = "transactions/services/executing.py"
EXECUTION = "transactions/execution.py"
ACCOUNTING = "transactions/services/accounting.py"
INTAKE = "transactions/services/intake.py"
CONFIRMING = "transactions/services/confirming.py"
STATUSES = "transactions/core/statuses.py"

ANY_LEASE = Edit(
    EXECUTING, ".filter(pk=claim.attempt_id, lease=claim.lease).first()", ".filter(pk=claim.attempt_id).first()"
)
ANY_STATUS = Edit(
    EXECUTING,
    '    if attempt.status != AttemptStatus.READY:\n        raise LeaseLost(f"',
    '    if False:\n        raise LeaseLost(f"',
)
ANY_MOVE = Edit(STATUSES, "    if new not in _TABLES[type(old)][old]:", "    if False:")

MUTANTS = (
    Mutant(
        "a claim respects the lease of another worker",
        (
            Edit(EXECUTING, "    free = due.filter(Q(leased_until=None) | Q(leased_until__lte=now))", "    free = due"),
            ANY_LEASE,
            ANY_STATUS,
        ),
        (f"{CALLING}[claimed-hang]",),
        because="the gate asks again for the lease and for READY",
    ),
    Mutant(
        "the gate lets only READY through",
        (ANY_STATUS, ANY_LEASE),
        (f"{CALLING}[claimed-hang]",),
        because="whoever took over has a lease of his own, and the gate asks for it",
    ),
    Mutant(
        "SENT is committed before the call",
        (
            Edit(EXECUTING, "        status=AttemptStatus.SENT,\n        sent_at=now,", "        sent_at=now,"),
            Edit(
                EXECUTING,
                "        status__in=[AttemptStatus.SENT, AttemptStatus.UNKNOWN],\n",
                "        status__in=[AttemptStatus.READY, AttemptStatus.SENT, AttemptStatus.UNKNOWN],\n",
            ),
        ),
        (f"{CALLING}[answered-kill]",),
    ),
    Mutant(
        "no answer is not taken for not sent",
        (
            Edit(
                EXECUTION,
                "partial(executing.record_no_answer, claim, outcome)",
                "partial(executing.record_not_sent, claim, NotSent(outcome.reason))",
            ),
        ),
        (f"{CALLING}[unknown-raise]",),
    ),
    Mutant(
        "what a dead worker had sent is not sent again",
        (
            Edit(
                EXECUTING,
                '    record_no_answer(claim, NoAnswer("the worker ended before the answer came"))\n',
                "    Attempt.objects.filter(pk=attempt.pk).update(status=AttemptStatus.READY)\n",
            ),
        ),
        (f"{CALLING}[answered-kill]",),
    ),
    Mutant(
        "a confirmation is used once",
        (
            Edit(
                CONFIRMING,
                "pk=confirmation.pk, status=ConfirmationStatus.OPEN, expires_at__gt=now",
                "pk=confirmation.pk",
            ),
            Edit(
                INTAKE,
                "            transaction__status=Status.AWAITING_CONFIRMATION,\n"
                "            status=ConfirmationStatus.OPEN,\n",
                "",
            ),
            Edit(
                EXECUTING,
                "attempt = new_attempt(transaction, number=1, digest=digest)",
                "attempt = new_attempt(transaction, number=transaction.attempts.count() + 1, digest=digest)",
            ),
            ANY_MOVE,
        ),
        (f"{GUARDS}::test_a_confirmation_that_was_used_starts_nothing_more",),
        because="the open confirmation is looked for twice, the table of moves and the number of the attempt hold, too",
    ),
    Mutant(
        "the gate compares the digest",
        (Edit(EXECUTING, "    if digest_of(conversation, transaction, rules) != attempt.digest:", "    if False:"),),
        (f"{GUARDS}::test_what_is_not_what_was_confirmed_is_not_sent",),
    ),
    Mutant(
        "the gate asks whether the tool is still enabled",
        (Edit(EXECUTING, "    if not catalog.is_available(transaction.tool):", "    if False:"),),
        (f"{GUARDS}::test_a_tool_that_was_disabled_after_the_yes_is_not_called",),
    ),
    Mutant(
        "the raw answer is committed before it is accounted for",
        (
            Edit(
                EXECUTION,
                "            written(partial(executing.record_answer, claim, outcome))\n"
                '            failpoints.hit("recorded")\n'
                "            accounting.settle(claim.attempt_id)\n",
                "            from django.db.transaction import atomic\n\n"
                "            with atomic():\n"
                "                executing.record_answer(claim, outcome)\n"
                '                failpoints.hit("recorded")\n'
                "                accounting.settle(claim.attempt_id)\n",
            ),
        ),
        (f"{CALLING}[recorded-kill]",),
    ),
    Mutant(
        "a message is known again by its client message id",
        (
            Edit(
                INTAKE,
                "        client_message_id=client_message_id,\n        text=text,\n",
                '        client_message_id=f"{client_message_id}-{seq}",\n        text=text,\n',
            ),
        ),
        (f"{TURNS}::test_a_request_is_handled_once_though_its_web_process_was_struck[message_stored-kill]",),
        because="stored under another name it is neither found again nor refused by the database",
    ),
    Mutant(
        "an item that the answer leaves out is not counted as failed",
        (
            Edit(
                "transactions/core/outcomes.py",
                'return _settle(item, None, VerdictSource.UNREPORTED, "§4a.3")',
                'return _settle(item, False, VerdictSource.UNREPORTED, "§4a.3")',
            ),
        ),
        (f"{GUARDS}::test_an_item_that_the_answer_leaves_out_is_unknown_until_it_is_asked_about",),
    ),
    Mutant(
        "an answer is accounted for once",
        (
            Edit(
                ACCOUNTING,
                "    if attempt.status != AttemptStatus.ANSWERED or attempt.accounted_at is not None:",
                "    if False:",
            ),
            Edit("transactions/services/finishing.py", "    if transaction.is_final:\n", "    if False:\n"),
            ANY_MOVE,
        ),
        (f"{CALLING}[recorded-hang]",),
        because="what is final stays final, and the table of moves knows no way out of it",
    ),
    Mutant(
        "the lease is kept while the call runs",
        (Edit("transactions/leases.py", "    thread.start()\n", ""),),
        (f"{GUARDS}::test_a_call_that_takes_longer_than_the_lease_stays_its_workers_own",),
    ),
    Mutant(
        "a turn is applied only by who holds its lease, and once",
        (
            Edit(
                "transactions/services/turning.py",
                "    if conversation.turns_lease != handling.lease or not is_open:",
                "    if False:",
            ),
        ),
        (f"{TURNS}::test_a_request_is_handled_once_though_its_web_process_was_struck[turn_read-hang]",),
    ),
    Mutant(
        "the sweeper finds attempts that nobody was woken for",
        (Edit("transactions/sweeper.py", '        yield "execute", str(key)\n', "        pass\n"),),
        (f"{TURNS}::test_a_yes_counts_once_though_its_web_process_was_struck[confirmation_stored-kill]",),
    ),
)


def faults_of(mutant: Mutant, root: Path = ROOT) -> list[str]:
    """Every edit whose text does not stand exactly once in the product."""
    counts = [(edit, (root / edit.path).read_text("utf-8").count(edit.old)) for edit in mutant.edits]
    return [f"{mutant.guard}: {edit.old!r} stands {n} times in {edit.path}" for edit, n in counts if n != 1]


def copy_to(folder: Path, edits: Sequence[Edit]) -> None:
    """The product in ``folder``, with ``edits``."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    for edit in edits:
        path = folder / edit.path
        path.write_text(path.read_text("utf-8").replace(edit.old, edit.new), "utf-8")


@dataclass(frozen=True, slots=True)
class Run:
    """``failed``: the tests that failed; ``broken``: what could not even be tried; ``output`` for the reader."""

    failed: list[str]
    broken: list[str]
    seconds: float
    output: str


def run(edits: Sequence[Edit], tests: Sequence[str]) -> Run:
    """The outcome of ``tests`` on a copy of the product with ``edits``."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        copy_to(Path(name), edits)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rfE", "--tb=short", *tests]
        env = {**os.environ, "REQUIRE_SERVICES": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=name, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
    output = done.stdout + done.stderr
    failed, broken = FAILED.findall(output), ERROR.findall(output)
    if done.returncode not in (0, 1):
        broken.append(f"pytest ended with {done.returncode}")
    return Run(failed, broken, time.monotonic() - started, output)


def lines(chosen: Sequence[Mutant]) -> Iterator[tuple[bool, str]]:
    """Whether each mutant was caught, and its line of the table."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for mutant, done in zip(chosen, pool.map(lambda one: run(one.edits, one.tests), chosen), strict=True):
            is_caught = bool(done.failed) and not done.broken
            by = _catch(done) if is_caught else "; ".join(done.broken) or "NOTHING: it survived"
            yield is_caught, f"{mutant.guard} – {by} – {done.seconds:.0f} s"
            if not is_caught:
                print(done.output[-4000:])


def _catch(done: Run) -> str:
    """The test that failed, and the first thing that it saw."""
    seen = SEEN.search(done.output)
    return f"{done.failed[0].rpartition('::')[2]}: {seen[1][:100] if seen else 'it failed'}"


def main(words: Sequence[str]) -> int:
    """Run every mutant, or those whose guard holds one of ``words``; 0 if all are caught."""
    chosen = [one for one in MUTANTS if not words or any(word in one.guard for word in words)]
    rotten = [fault for mutant in chosen for fault in faults_of(mutant)]
    if rotten:
        print("The text of a guard has changed; write the mutant anew:", *rotten, sep="\n  ")
        return 1
    tests = sorted({test for mutant in chosen for test in mutant.tests})
    healthy = run((), tests)
    if healthy.failed or healthy.broken:
        print(healthy.output[-4000:], "The product itself does not pass; mutants would prove nothing.", sep="\n")
        return 1
    print(f"the product itself passes the {len(tests)} cases – {healthy.seconds:.0f} s\n\nguard – caught by – seconds")
    caught = 0
    for is_caught, line in lines(chosen):
        caught += is_caught
        print(line, flush=True)
    print(f"\n{caught} of {len(chosen)} mutants are caught")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
