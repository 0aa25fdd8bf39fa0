"""The judge names every kind of violation, and nothing where there is none; the figures are what they say."""

import dataclasses
import math

import pytest

from tests.soak import plan
from tests.soak.evidence import Call, Confirmation, Conversation, Effect, Evidence, Told, Transaction, View
from tests.soak.judge import Crime, judge, stuck
from tests.soak.progress import Kill, Moment, Wait, delays, percentile, waits_of

ACTION, CONVERSATION = "act", "C"
YES = Confirmation("confirmed", "sha256:1", frozenset({"a", "b"}))
EVENTS = [(1, "user.message"), (2, "confirmation.requested"), (3, "transaction.finished")]


def told(kind="transaction.finished", status="PARTIAL_SUCCESS", **items):
    return Told(kind, status, items or {"a": "SUCCEEDED", "b": "FAILED"})


TRANSACTION = Transaction(
    id="T",
    conversation=CONVERSATION,
    tool=ACTION,
    status="PARTIAL_SUCCESS",
    items={"a": "SUCCEEDED", "b": "FAILED"},
    confirmations=[YES],
    told=[told()],
)
CLEAN = Evidence(
    effects=[Effect("ana", "a", "T", "sha256:1")],
    calls=[Call("validate", "T"), Call("validate", "T"), Call(ACTION, "T")],
    transactions=[TRANSACTION],
    conversations=[Conversation(CONVERSATION, 3, EVENTS, frozenset({"m1", "m2"}))],
    views=[View(CONVERSATION, EVENTS[:2], frozenset({"m1"})), View(CONVERSATION, EVENTS)],
)


def crimes(evidence):
    return {violation.crime for violation in judge(evidence, actions={ACTION})}


def but(transaction=TRANSACTION, *, effects=CLEAN.effects, calls=CLEAN.calls, **changes):
    """The clean evidence, with another transaction."""
    return dataclasses.replace(
        CLEAN, transactions=[dataclasses.replace(transaction, **changes)], effects=effects, calls=calls
    )


def conversation_but(**changes):
    return dataclasses.replace(
        CLEAN, conversations=[dataclasses.replace(CLEAN.conversations[0], **changes)], views=CLEAN.views[:1]
    )


def view_but(**changes):
    return dataclasses.replace(CLEAN, views=[dataclasses.replace(CLEAN.views[1], **changes)])


VERIFYING = dataclasses.replace(
    TRANSACTION,
    status="VERIFYING",
    review_state="needed",
    items={"a": "UNKNOWN", "b": "UNKNOWN"},
    told=[told("transaction.verifying", "VERIFYING", a="UNKNOWN", b="UNKNOWN")],
)
REJECTED = dataclasses.replace(
    TRANSACTION,
    status="CANCELLED",
    items={"a": "NOT_EXECUTED", "b": "NOT_EXECUTED"},
    confirmations=[Confirmation("rejected", "sha256:1", YES.eligible)],
    told=[told(status="CANCELLED", a="NOT_EXECUTED", b="NOT_EXECUTED")],
)
WAITING = dataclasses.replace(
    TRANSACTION,
    status="AWAITING_CONFIRMATION",
    items={"a": "PENDING", "b": "PENDING"},
    confirmations=[Confirmation("open", "sha256:1", YES.eligible)],
    told=[],
)


@pytest.mark.parametrize(
    "evidence",
    [
        CLEAN,
        Evidence(),
        but(VERIFYING),
        but(VERIFYING, effects=[]),
        but(REJECTED, effects=[], calls=[]),
        but(WAITING, effects=[], calls=[]),
        but(resends=1, calls=[Call(ACTION, "T"), Call(ACTION, "T")]),
        but(told=[told("transaction.verifying", "VERIFYING", a="UNKNOWN", b="UNKNOWN"), told()]),
    ],
)
def test_what_is_in_order_is_no_violation(evidence):
    assert judge(evidence, actions={ACTION}) == []


GUILTY = {
    "an item changed twice": (but(effects=[*CLEAN.effects, Effect("ana", "a", "T", "sha256:1")]), Crime.DUPLICATE),
    "called twice": (but(calls=[Call(ACTION, "T"), Call(ACTION, "T")]), Crime.DUPLICATE),
    "called more often than resent": (but(resends=1, calls=[Call(ACTION, "T")] * 3), Crime.DUPLICATE),
    "called for nobody": (but(calls=[*CLEAN.calls, Call(ACTION, "")]), Crime.DUPLICATE),
    "an effect nobody shows": (but(items={"b": "FAILED"}), Crime.LOST),
    "a confirmed item still pending": (but(items={"a": "SUCCEEDED", "b": "PENDING"}), Crime.LOST),
    "a confirmed item in flight": (but(items={"a": "SUCCEEDED", "b": "IN_FLIGHT"}), Crime.LOST),
    "unknown and in nobody's queue": (but(VERIFYING, review_state="none"), Crime.LOST),
    "unknown of a final transaction": (but(items={"a": "SUCCEEDED", "b": "UNKNOWN"}), Crime.LOST),
    "a confirmed item is gone": (but(items={"a": "SUCCEEDED"}), Crime.LOST),
    "finished and never told": (but(told=[]), Crime.LOST),
    "unknown and never told": (but(VERIFYING, told=[]), Crime.LOST),
    "told something else": (but(told=[told(status="SUCCESS")]), Crime.LOST),
    "an effect without any yes": (but(confirmations=[]), Crime.UNCONFIRMED),
    "an effect after a no": (but(REJECTED), Crime.UNCONFIRMED),
    "an effect before the answer": (but(WAITING), Crime.UNCONFIRMED),
    "an effect of another digest": (but(effects=[Effect("ana", "a", "T", "sha256:2")]), Crime.UNCONFIRMED),
    "an effect on another item": (but(effects=[Effect("ana", "c", "T", "sha256:1")]), Crime.UNCONFIRMED),
    "an effect of no transaction": (but(effects=[Effect("ana", "a", "", "")]), Crime.UNCONFIRMED),
    "still executing": (but(status="EXECUTING"), Crime.STUCK),
    "still validating": (but(WAITING, status="PRE_VALIDATING", effects=[], calls=[]), Crime.STUCK),
    "verifying and in nobody's queue": (but(VERIFYING, review_state="none"), Crime.STUCK),
    "a turn that nobody handled": (conversation_but(unhandled=1), Crime.STUCK),
    "it happened and is failed": (but(items={"a": "FAILED", "b": "FAILED"}), Crime.UNKNOWN_AS_FAILED),
    "it happened and is not executed": (but(items={"a": "NOT_EXECUTED", "b": "FAILED"}), Crime.UNKNOWN_AS_FAILED),
    "it happened and was once told failed": (
        but(told=[told(a="FAILED", b="FAILED"), told()]),
        Crime.UNKNOWN_AS_FAILED,
    ),
    "succeeded without an effect": (but(effects=[]), Crime.INVENTED),
    "told succeeded without an effect": (
        but(VERIFYING, told=[told(a="SUCCEEDED", b="UNKNOWN")], effects=[]),
        Crime.INVENTED,
    ),
    "a gap in what is stored": (conversation_but(events=[EVENTS[0], EVENTS[2]]), Crime.STREAM),
    "fewer events than numbers": (conversation_but(last_seq=4), Crime.STREAM),
    "a client saw a gap": (view_but(troubles=["event 3 came after 1"]), Crime.STREAM),
    "a client saw what is not stored": (view_but(seen=[*EVENTS, (4, "assistant.message")]), Crime.STREAM),
    "a client saw something else": (view_but(seen=[(1, "user.message"), (2, "turn.queued")]), Crime.STREAM),
    "acknowledged and not stored": (view_but(acknowledged=frozenset({"m9"})), Crime.UNKEPT),
    "a broken chain of evidence": (dataclasses.replace(CLEAN, broken_chains=["C event 2"]), Crime.TAMPERED),
    "a conversation that is not stored": (view_but(conversation="D"), Crime.UNKEPT),
}


@pytest.mark.parametrize("name", GUILTY)
def test_every_violation_is_named(name):
    evidence, crime = GUILTY[name]

    assert crime in crimes(evidence)


def test_every_crime_has_an_example():
    assert {crime for _, crime in GUILTY.values()} == set(Crime)


def test_a_violation_names_the_transaction():
    found = judge(but(status="EXECUTING"), actions={ACTION})

    assert [str(violation) for violation in found] == ["non-terminal: T: is EXECUTING, review none"]
    assert found == stuck(but(status="EXECUTING"))


# Kill → progress ----------------------------------------------------------------------------------------------


def test_a_confirmed_transaction_waits_from_the_yes_until_its_call_is_sent():
    moments = [Moment("execution.started", 10.0), Moment("attempt.sent", 14.0), Moment("transaction.moved", 15.0)]

    waits = waits_of("T", moments, calls=[14.1], answered=[14.8])

    assert [(wait.what, wait.start, wait.end, wait.sent_at) for wait in waits] == [
        ("call", 10.0, 14.0, None),
        ("answer", 14.0, 15.0, 14.0),
        ("accounting", 14.8, 15.0, None),
    ]


def test_a_validator_run_is_in_flight_from_its_first_call_on():
    moments = [Moment("transaction.moved", 10.0, "PRE_VALIDATING"), Moment("pre_validation.finished", 20.0)]

    (wait,) = waits_of("T", moments, calls=[9.0, 12.0], answered=[])

    assert not wait.is_in_flight(11.0)
    assert wait.is_in_flight(12.5)


def test_a_delay_is_the_time_from_a_kill_to_the_end_of_a_wait_that_held_then():
    kills = [Kill(plan.Kind.WORKER, "worker-0", at) for at in (9.0, 11.0, 14.0)]

    found = list(delays(kills, [Wait("T", "call", 10.0, 14.0), Wait("U", "turn", 13.0, None)]))

    assert [delay.seconds for delay in found] == [3.0, math.inf]


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([], 0.95, 0.0), ([7.0], 0.5, 7.0), (list(range(1, 101)), 0.95, 95), ([1, 2, 3], 1.0, 3), ([3, 1, 2], 0.5, 2)],
)
def test_a_percentile_is_a_value_that_so_many_do_not_exceed(values, share, expected):
    assert percentile(values, share) == expected


# The plan -----------------------------------------------------------------------------------------------------


def first(count, iterator):
    return [next(iterator) for _ in range(count)]


def test_one_seed_decides_everything():
    assert first(50, plan.parts(7)) == first(50, plan.parts(7)) != first(50, plan.parts(8))
    assert first(50, plan.strikes(7, (0.5, 3))) == first(50, plan.strikes(7, (0.5, 3)))
    assert first(50, plan.mischiefs(7)) == first(50, plan.mischiefs(7))


def test_every_component_is_struck_and_every_manner_is_played():
    struck = {strike.kind for strike in first(200, plan.strikes(1, (0.5, 3)))}
    played = {(part.temper, part.tabs) for part in first(500, plan.parts(1))}

    assert struck == set(plan.Kind)
    assert {temper for temper, _ in played} == set(plan.Temper)
    assert all(len(set(part.items)) == plan.ITEMS for part in first(500, plan.parts(1)))
