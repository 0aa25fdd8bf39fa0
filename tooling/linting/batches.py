"""What one answer of an action or a query does wrong, by what would become of each item (runtime.md §4, §4a). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tooling.gateway import Answered
from tooling.identifying import KEY_FIELD
from tooling.linting.answers import (
    VERDICTS,
    Account,
    Answer,
    Cause,
    Concluded,
    Item,
    account,
    answer_of,
    label_of,
    protocol_of,
    verdict_of,
)
from tooling.linting.faults import Code, Fault, Seen, fault
from tooling.linting.probes import Plan, Role
from tooling.specs import JSON, Atomicity


def accounted(plan: Plan, seen: Seen) -> Account | None:
    """What would become of every item of the call; None where there was no answer."""
    if seen.answered is None:
        return None
    is_atomic = plan.subject.policy.atomicity is Atomicity.ALL_OR_NOTHING
    return account(seen.probe.items, answer_of(plan.subject.tool.name, seen.answered), is_atomic=is_atomic)


def faults_of_batch(plan: Plan, seen: Seen, answered: Answered) -> Iterator[Fault]:
    """Everything that this answer does wrong, the faults of single items together by their kind."""
    answer = answer_of(plan.subject.tool.name, answered)
    if answered.schema_error:
        yield fault(Code.BREAKS_SCHEMA, seen, detail=answered.schema_error)
    if not isinstance(answer.result, dict):
        yield fault(Code.NOT_STRUCTURED, seen, detail=str(answer.result))
    if not seen.probe.items:
        yield from _found_by_itself(seen, answer)
        return
    found = accounted(plan, seen)
    assert found is not None  # noqa: S101 - there is an answer
    yield from _by_item(seen, answer, found)
    yield from _around(plan, seen, answer, found)


def _found_by_itself(seen: Seen, answer: Answer) -> Iterator[Fault]:
    """A tool that was given no items: its rows define them, so only their verdicts can be wrong."""
    malformed = [row for row in answer.rows or () if verdict_of(row) is None]
    for row in malformed[:1]:
        yield fault(_flag_fault(row), seen, map(label_of, malformed), detail=_flag(row))


def _by_item(seen: Seen, answer: Answer, found: Account) -> Iterator[Fault]:
    labels: dict[Code, list[str]] = defaultdict(list)
    details: dict[Code, str] = {}
    for item in seen.probe.items:
        for code, detail in _of_item(item, found.items[item.key], answer, found):
            labels[code].append(item.label)
            details.setdefault(code, detail)
    for code, names in labels.items():
        yield fault(code, seen, names, detail=details[code])


def _of_item(item: Item, concluded: Concluded, answer: Answer, found: Account) -> Iterator[tuple[Code, str]]:
    match concluded.cause:
        case Cause.NO_ROWS:
            yield Code.NO_ROWS, ""
        case Cause.MISSING:
            yield (Code.ROWS_ANONYMOUS if found.anonymous else Code.MISSING_ROW), ""
        case Cause.UNANIMOUS:
            yield Code.ROWS_ANONYMOUS, ""
        case Cause.AMBIGUOUS:
            yield Code.ROW_AMBIGUOUS, ""
        case Cause.CONFLICTING:
            yield Code.ROWS_DISAGREE, ""
        case Cause.MALFORMED:
            rows = concluded.rows or answer.rows or ()
            bad = next((row for row in rows if verdict_of(row) is None), None)
            yield _flag_fault(bad), _flag(bad)
        case _ if len(concluded.rows) > 1:
            yield Code.ROWS_REPEATED, ""
    if item.expected is False and concluded.done is True:
        yield Code.REFUSAL_TOLD_AS_DONE, ""
    if item.expected is True and concluded.done is False:
        yield Code.EXAMPLE_FAILED, _reason(concluded, answer)


def _flag_fault(row: JSON) -> Code:
    """What is wrong with the verdict of a malformed row."""
    said = [row[name] for name in VERDICTS if name in row] if isinstance(row, dict) else []
    if not said:
        return Code.FLAG_MISSING
    return Code.FLAGS_DISAGREE if all(isinstance(each, bool) for each in said) else Code.FLAG_NOT_BOOLEAN


def _flag(row: JSON) -> str:
    said = [(name, row[name]) for name in VERDICTS if name in row] if isinstance(row, dict) else []
    return ", ".join(f"{name}: {value!r}"[:60] for name, value in said)


def _reason(concluded: Concluded, answer: Answer) -> str:
    rows = concluded.rows or (answer.result,)
    return next((text for row in rows if (text := _reason_in(row))), "")


def _reason_in(row: JSON) -> str:
    said = (row.get("reason") or row.get("error")) if isinstance(row, dict) else row
    return label_of(said) if isinstance(said, str | dict) else ""


def _around(plan: Plan, seen: Seen, answer: Answer, found: Account) -> Iterator[Fault]:
    """What is wrong beside the items' verdicts: rows about others, and what customers and operators would miss."""
    done = [row for row in found.extra if verdict_of(row) is True]
    others = [row for row in found.extra if verdict_of(row) is not True]
    if done:
        yield fault(Code.EXTRA_DONE, seen, map(label_of, done))
    if others:
        yield fault(Code.EXTRA_ROW, seen, map(label_of, others))
    by_row = {item.label: found.items[item.key] for item in seen.probe.items if found.items[item.key].rows}
    failed = [label for label, each in by_row.items() if each.done is False]
    succeeded = [label for label, each in by_row.items() if each.done is True]
    if silent := [label for label in failed if not any(map(_reason_in, by_row[label].rows))]:
        yield fault(Code.NO_REASON, seen, silent)
    if not answer.verdict and by_row and len(succeeded) == len(seen.probe.items):
        yield fault(Code.WHOLE_CONTRADICTS, seen)
    if plan.subject.role is not Role.ACTION:
        return
    if bare := [label for label in succeeded if not any(map(protocol_of, by_row[label].rows))]:
        yield fault(Code.NO_PROTOCOL, seen, bare)
    if unkeyed := [label for label, each in by_row.items() if not any(KEY_FIELD in row for row in each.rows)]:
        yield fault(Code.KEY_NOT_ECHOED, seen, unkeyed)
