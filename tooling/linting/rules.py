"""From what a server answered to all calls of a check to faults and a grade. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tooling.gateway import NoAnswer, NotSent
from tooling.linting.answers import answer_of, protocol_of
from tooling.linting.batches import accounted, faults_of_batch
from tooling.linting.calls import QUESTIONS
from tooling.linting.declarations import Trouble
from tooling.linting.faults import (
    MOST_NAMED,
    Aspect,
    Code,
    Fault,
    Grade,
    Level,
    Seen,
    fault,
    grade_of,
)
from tooling.linting.probes import Plan, Role, Try
from tooling.linting.validators import faults_of_reconciler, faults_of_validator
from tooling.specs import ExecutionMode, Idempotency

NEARLY = 0.8
"""The share of its time that a call may take before it is called nearly too slow."""
_ORDER = (Level.UNSAFE, Level.WAITS, Level.HINT)


@dataclass(frozen=True, slots=True)
class Report:
    """What a check came to; ``aspects``: a grade for each thing that was looked at. Faults: the worst first."""

    grade: Grade
    aspects: Mapping[Aspect, Grade]
    faults: tuple[Fault, ...]


def must_end(plan: Plan, seen: Sequence[Seen]) -> bool:
    """Whether no further call may follow: the dry run did something, or the server does not answer."""
    last = seen[-1]
    if isinstance(last.outcome, NoAnswer):
        return True
    if isinstance(last.outcome, NotSent):
        return last.outcome.raw is None
    return any(each.code in (Code.DRY_RUN_HAD_EFFECT, Code.DRY_RUN_RECONCILED) for each in _all(plan, seen))


def report_of(plan: Plan, seen: Sequence[Seen], timeout: float) -> Report:
    """The grade of a tool by everything that was seen; ``timeout``: seconds that a call may take."""
    found = [*_always(plan), *_all(plan, seen), *_slow(seen, timeout), *_untried(plan, seen)]
    faults = tuple(sorted(_merged(found), key=lambda each: _ORDER.index(each.level)))
    if not any(each.answered for each in seen):
        return Report(Grade.NOT_CHECKED, {}, faults)
    shown = _aspects(plan)
    # What has no aspect of its own here, as an untried batch of a validator, counts to the first.
    of = [(each, each.aspect if each.aspect in shown else shown[0]) for each in faults]
    aspects = {aspect: grade_of(each for each, its in of if its is aspect) for aspect in shown}
    return Report(grade_of(faults), aspects, faults)


def _aspects(plan: Plan) -> tuple[Aspect, ...]:
    match plan.subject.role:
        case Role.ACTION:
            return (Aspect.RESULTS, Aspect.IDEMPOTENCY, Aspect.SANDBOX, Aspect.TIME)
        case Role.VALIDATOR:
            return (Aspect.VALIDATOR, Aspect.TIME)
        case Role.RECONCILER:
            return (Aspect.IDEMPOTENCY, Aspect.TIME)
        case Role.QUERY:
            return (Aspect.RESULTS, Aspect.TIME)


def _all(plan: Plan, seen: Sequence[Seen]) -> Iterator[Fault]:
    for each in seen:
        yield from _of(plan, each)
    if plan.subject.role in (Role.ACTION, Role.QUERY):
        yield from _compared(plan, {each.probe.kind: each for each in seen})


def _of(plan: Plan, seen: Seen) -> Iterator[Fault]:
    """What one call shows by itself."""
    answered = seen.answered
    if answered is None:
        yield from _without_answer(seen)
    elif seen.probe.kind in QUESTIONS:
        yield from faults_of_reconciler(plan, seen, answered)
    elif plan.subject.role is Role.VALIDATOR:
        yield from faults_of_validator(plan, seen, answered)
    elif seen.probe.kind not in (Try.AGAIN, Try.REPEATED, Try.OTHER_ARGUMENTS):
        # Those three are compared with the first call instead.
        yield from faults_of_batch(plan, seen, answered)


def _without_answer(seen: Seen) -> Iterator[Fault]:
    match seen.outcome:
        case NotSent(raw=None):
            yield fault(Code.NOT_REACHED, seen, detail=seen.failure)
        case NotSent() if seen.probe.kind is not Try.OTHER_ARGUMENTS:
            yield fault(Code.CALL_REFUSED, seen, detail=seen.failure)
        case NoAnswer(reason=reason) if "10 MiB" in reason:
            yield fault(Code.TOO_LARGE, seen)
        case NoAnswer(reason=reason) if "no answer within" in reason:
            yield fault(Code.TOO_SLOW, seen, (item.label for item in seen.probe.items), detail=reason)
        case NoAnswer(reason=reason):
            yield fault(Code.NO_ANSWER, seen, detail=reason)


# One call compared with another --------------------------------------------------------------------------------


def _compared(plan: Plan, seen: Mapping[Try, Seen]) -> Iterator[Fault]:
    one, again = seen.get(Try.ONE), seen.get(Try.AGAIN)
    if undone := _changed(plan, one, again, only_done=True):
        yield fault(Code.DRY_RUN_HAD_EFFECT, again, undone)
    if one is not None:
        yield from _keys(plan, one, seen)
    reordered, base = seen.get(Try.REORDERED), seen.get(Try.MIXED) or seen.get(Try.ALL_SUCCEED)
    if changed := _changed(plan, base, reordered):
        yield fault(Code.ORDER_MATTERS, reordered, changed)


def _changed(plan: Plan, first: Seen | None, second: Seen | None, *, only_done: bool = False) -> list[str]:
    """The labels of the items that came to the opposite the second time."""
    before = accounted(plan, first) if first else None
    after = accounted(plan, second) if second else None
    if first is None or before is None or after is None:
        return []
    opposite = {
        key
        for key, concluded in before.items.items()
        if concluded.done is not None
        and (concluded.done or not only_done)
        and key in after.items
        and after.items[key].done is (not concluded.done)
    }
    return [item.label for item in first.probe.items if item.key in opposite]


def _keys(plan: Plan, one: Seen, seen: Mapping[Try, Seen]) -> Iterator[Fault]:
    """Whether a key runs once: a second call under it gets the first answer, and none takes other arguments."""
    is_relied_on = plan.subject.policy.idempotency is Idempotency.KEY
    honoured = _is_honoured(plan, one, seen)
    if honoured is False:
        yield fault(Code.KEY_IGNORED, seen[Try.REPEATED], level=None if is_relied_on else Level.HINT)
    elif honoured is None and one.answered and Try.REPEATED in seen and is_relied_on:
        yield fault(Code.KEY_NOT_SHOWN, seen[Try.REPEATED])
    other = seen.get(Try.OTHER_ARGUMENTS)
    takes = other is not None and _did_something(plan, other)
    if other is not None and takes and is_relied_on and honoured is not False:
        yield fault(Code.KEY_TAKES_OTHERS, other, (item.label for item in other.probe.items))
    is_direct = plan.subject.policy.execution.mode is ExecutionMode.DIRECT_TOOL
    if honoured and other is not None and not takes and is_direct and not is_relied_on:
        yield fault(Code.KEY_COULD_BE_USED, seen[Try.REPEATED])


def _is_honoured(plan: Plan, one: Seen, seen: Mapping[Try, Seen]) -> bool | None:
    """None: it cannot be seen, because nothing in the answers tells one run from another."""
    repeated, again = seen.get(Try.REPEATED), seen.get(Try.AGAIN)
    if repeated is None or repeated.answered is None or one.answered is None:
        return None
    if _changed(plan, one, repeated):
        return False
    before, after = _protocols(plan, one), _protocols(plan, repeated)
    if before != after:
        return False
    return True if before and again is not None and _protocols(plan, again) != before else None


def _protocols(plan: Plan, seen: Seen) -> list[str]:
    """Under which numbers the call was done, by its rows, else as a whole."""
    if seen.answered is None:
        return []
    answer = answer_of(plan.subject.tool.name, seen.answered)
    return sorted(filter(None, map(protocol_of, answer.rows or [answer.result])))


def _did_something(plan: Plan, seen: Seen) -> bool:
    found = accounted(plan, seen)
    return found is not None and any(each.done for each in found.items.values())


# What needs no call --------------------------------------------------------------------------------------------


def _always(plan: Plan) -> Iterator[Fault]:
    """What the definition does wrong: a mapping that makes a dry run of every real call; examples nobody can read."""
    subject, name = plan.subject, plan.sandbox.argument if plan.sandbox else ""
    mapping = subject.mapping
    filled = {*mapping.defaults, *mapping.map.values(), *subject.policy.requires}
    if name and name in filled | {each.field for each in mapping.extract}:
        yield fault(Code.DRY_RUN_ALWAYS, detail=name)
    if Trouble.EXAMPLES_MALFORMED in plan.troubles:
        yield fault(Code.EXAMPLES_MALFORMED)


def _slow(seen: Sequence[Seen], timeout: float) -> Iterator[Fault]:
    for each in seen:
        if each.answered is not None and each.seconds > NEARLY * timeout:
            yield fault(Code.NEARLY_TOO_SLOW, each, detail=f"{each.seconds:.1f}")


def _untried(plan: Plan, seen: Sequence[Seen]) -> Iterator[Fault]:
    """What there are no examples for, and what there was no time for; not what an earlier call forbade."""
    is_ended = bool(seen) and must_end(plan, seen)
    rest = () if is_ended else tuple(probe.kind for probe in plan.probes[len(seen) :])
    for kind in plan.untried + rest:
        code = Code.SLOW_UNTRIED if kind is Try.SLOW else Code.UNTRIED
        yield replace(fault(code), kind=kind)


def _merged(faults: Iterable[Fault]) -> list[Fault]:
    """Each kind of fault once, with the items of all calls that showed it; what was not tried is said one by one."""
    found: dict[tuple[Code, Try | None], Fault] = {}
    for each in faults:
        key = (each.code, each.kind if each.code is Code.UNTRIED else None)
        known = found.setdefault(key, each)
        found[key] = replace(known, items=tuple(dict.fromkeys([*known.items, *each.items])))
    return [replace(each, items=each.items[:MOST_NAMED]) for each in found.values()]
