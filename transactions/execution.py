"""Runs one due piece of work of a worker: a validator run or an attempt. The same for Celery and the sweeper."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, close_old_connections, connection

from tooling.cleaning import clean_json
from tooling.gateway import Answered, Call, NoAnswer, NotSent, Outcome, ToolGateway
from tooling.specs import OperationType
from transactions import failpoints, workflows
from transactions.core.errors import LeaseLost
from transactions.core.outcomes import envelope_of
from transactions.core.prevalidation import Failure, Judgement, Verdict, judge
from transactions.keeping import written
from transactions.leases import kept_alive
from transactions.models import Attempt
from transactions.services import accounting, executing, stepping, validating, verifying
from transactions.services.validating import Validation
from transactions.workflows import REPEATS, call_again


def _gateway() -> ToolGateway:
    from tooling.mcp_client import (
        gateway,
    )  # the MCP SDK takes long to import, and not every process calls tools

    return gateway()


def warm_up() -> None:
    """Import the MCP SDK and open the gateway's loop before the first call."""
    _gateway()


def execute(attempt_id: int | str, *, gateway: ToolGateway | None = None) -> None:
    """Claim, gate, call, record, account: one attempt, at most one call (runtime.md §9.2)."""
    _fresh_connections()
    claim = executing.claim(int(attempt_id))
    if claim is None:
        return
    failpoints.hit("claimed")
    try:
        run = stepping.begin(claim)
        if run is None:
            _call_and_record(claim, executing.gate(claim), gateway)
        else:
            _work_through(run, gateway or _gateway())
    except LeaseLost:
        return
    except (OperationalError, InterfaceError):
        # Where nothing was sent yet, the next worker need not wait for the lease to run out.
        written(partial(executing.give_back, claim))
        raise


def _work_through(run: stepping.Run, gateway: ToolGateway) -> None:
    """The nodes of a workflow before the tool's own, then its one call, then the others."""
    with kept_alive(partial(executing.renew, run.claim)):
        run, arguments = workflows.reach(run, gateway)
    if arguments is None:
        return
    outcome = _call_and_record(run.claim, executing.gate(run.claim, arguments), gateway)
    if isinstance(outcome, Answered):
        workflows.follow(run, outcome, gateway)


def _call_and_record(claim: executing.Claim, call: Call | None, gateway: ToolGateway | None) -> Outcome | None:
    """Make the call that the gate let through, and write what came of it; None where it let none through."""
    if call is None:
        return None
    failpoints.hit("sent")
    repeats = REPEATS if _changes_nothing(claim.attempt_id) else 0
    with kept_alive(partial(executing.renew, claim)):
        outcome = call_again(gateway or _gateway(), call, repeats=repeats)
    failpoints.hit("answered")
    _record(claim, outcome)
    return outcome


def _record(claim: executing.Claim, outcome: Outcome) -> None:
    """Write what came of the call, also where the database is away at the moment: no call is made again for that."""
    match outcome:
        case Answered():
            written(partial(executing.record_answer, claim, outcome))
            failpoints.hit("recorded")
            accounting.settle(claim.attempt_id)
        case NotSent():
            written(partial(executing.record_not_sent, claim, outcome))
            failpoints.hit("not_sent")
        case NoAnswer():
            written(partial(executing.record_no_answer, claim, outcome))
            failpoints.hit("unknown")


def _changes_nothing(attempt_id: int) -> bool:
    operation_type = Attempt.objects.values_list("transaction__operation_type", flat=True).get(pk=attempt_id)
    return operation_type in (OperationType.READ_ONLY, OperationType.INTERNAL)


def _asked(call: Call | None, failure: str, renew: Callable[[], None], gateway: ToolGateway | None) -> Outcome:
    """The outcome of a call that changes nothing, so it may be repeated; one that cannot be made was not sent."""
    if call is None:
        return NotSent(failure)
    with kept_alive(renew):
        return call_again(gateway or _gateway(), call, repeats=REPEATS)


# The validator ------------------------------------------


def prevalidate(transaction_id: UUID | str, *, gateway: ToolGateway | None = None) -> None:
    """Call the validator of a transaction in PRE_VALIDATING and apply what it says (runtime.md §7)."""
    _fresh_connections()
    validation = validating.claim_validation(UUID(str(transaction_id)))
    if validation is None:
        return
    failpoints.hit("validator_claimed")
    outcome = _asked(validation.call, validation.failure, partial(validating.renew, validation), gateway)
    failpoints.hit("validator_answered")
    verdict, answer, error = _read_validator(validation, outcome)
    judgement = _judge(validation, verdict)
    validating.record_verdict(validation, judgement, answer=answer, error=error)
    failpoints.hit("verdict_recorded")


def reconcile(transaction_id: UUID | str, *, gateway: ToolGateway | None = None) -> None:
    """Take the due step about an unknown outcome; where that is a question to a tool, ask it (runtime.md §9.4)."""
    _fresh_connections()
    check = verifying.claim(UUID(str(transaction_id)))
    if check is None:
        return
    failpoints.hit("verify_claimed")
    outcome = _asked(check.call, check.failure, partial(verifying.renew, check), gateway)
    failpoints.hit("verify_answered")
    verifying.record_check(check, outcome)
    failpoints.hit("verify_recorded")


def _read_validator(validation: Validation, outcome: Outcome) -> tuple[Verdict, Any, str | None]:
    """What ``judge`` reads, and what is kept as evidence beside it: the answer, or why there was none."""
    match outcome:
        case Answered(is_error=True):
            return Failure("the validator answered with an error"), outcome.raw, "is_error"
        case Answered():
            tool = validation.rules.policy.pre_validation.tool
            envelope = envelope_of(tool, structured=outcome.structured, texts=outcome.texts, is_error=False)
            result = clean_json(envelope["result"])
            return result, result, None
        case NotSent(reason=reason) | NoAnswer(reason=reason):
            return Failure(reason), None, reason


def _judge(validation: Validation, verdict: Verdict) -> Judgement:
    return judge(
        verdict,
        policy=validation.rules.policy,
        tool=validation.rules.tool,
        arguments=validation.arguments,
    )


def _fresh_connections() -> None:
    """A connection that a restart of the database broke is not used again; not inside a test's transaction."""
    if not connection.in_atomic_block:
        close_old_connections()
