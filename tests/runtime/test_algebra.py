"""Whatever a customer, a model, a validator, a tool and the clock do, in any order: the promises hold after each step.

A random life of one conversation (runtime.md §2, §4a, §6, §8, §9). The checks read the rows and events as an outsider
would; they use none of the functions that they check.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db.models import F
from django.db.transaction import atomic, set_rollback
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from tests.runtime import shop
from tests.runtime.fakes import answered
from tests.runtime.staging import EXTRACTION, ROUTING, shift_to
from tests.runtime.world import World, rows
from tooling.gateway import Answered, Call, NoAnswer, NotSent, Outcome
from tooling.specs import Definitions
from transactions import execution, outbox, sweeper
from transactions.core.errors import ConfirmationClosed, InvalidItems
from transactions.core.statuses import (
    BUSY,
    FINAL,
    MOVES,
    OCCUPYING,
    AttemptStatus,
    ConfirmationStatus,
    ItemStatus,
    Status,
)
from transactions.models import Attempt, Confirmation, Event, Item, Transaction, Turn
from transactions.services import accounting, executing, intake, validating
from transactions.services.evidence import Tally, verify

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

REPLY = "confirmation_reply"
CANCEL, ORDERS, RETURN, INVOICES = "cancelar_vas_avulso", "cancelar_pedidos", "solicitar_devolucao", "consultar_faturas"
INTENTS = [shop.INTENTS[tool] for tool in (CANCEL, ORDERS, RETURN, INVOICES)]
NAMES = ["Música Mais", "Livros Falados", "Craque 10"]
STEPS = 24
OPEN_ITEMS = {ItemStatus.PENDING, ItemStatus.IN_FLIGHT}


def definitions(*, disabled: str = "") -> Definitions:
    """A tool with a validator, one with an array, one with two values, and a query."""
    found = shop.with_validator(shop.shop(), CANCEL, "validar")
    if disabled:
        off = shop.tool(disabled, shop.ARGUMENTS[disabled], enabled=False)
        found = shop.with_tool(found, off)
    return found


# What the model, the validator and the tool may say ------------------------------------------

some_names = st.sampled_from([7, 7, 7, 7, 3, 5, 6, 1, 2]).map(
    lambda mask: [name for n, name in enumerate(NAMES) if mask >> n & 1]
)
masks = st.integers(0, 7)
texts = st.sampled_from(
    ["sim", "sim", "não", "pode confirmar", "cancelar", "quanto custa?", "sim, mas quanto custa?", ", ".join(NAMES)]
)
extractions = st.sampled_from([*["all"] * 8, "first", "none", "unreadable", "failure"])
routings = st.builds(
    lambda decision, intent, confidence: {
        "decision": decision,
        "intent": intent,
        "confidence": confidence,
        "values": {"subject": NAMES[0], "order_id": NAMES[1], "order_ids": NAMES[:1]},
        "reason": "random",
    },
    st.sampled_from(["shift", "continue", "question", "abandon", "none"]),
    st.sampled_from([*INTENTS, None]),
    st.sampled_from([0.95, 0.95, 0.3]),
)
reply_kinds = st.sampled_from(
    ["confirm", "reject", "change_items", "change_items", "change_parameters", "question", "other", "failure"]
)


def extraction_of(how: str, names: list[str]) -> Callable[[Mapping[str, Any]], Any]:
    """What the model reads: the named items for every pending value, for the first, for none, or nonsense."""

    def read(payload: Mapping[str, Any]) -> Any:
        if how == "unreadable":
            return ["nonsense"]
        taken = {"all": payload["pending"], "first": payload["pending"][:1]}.get(how, [])
        values = {name: value_of(payload["schema"][name]) if name in taken else None for name in payload["pending"]}
        return {"kind": "answers_pending" if taken else "something_else", "values": values}

    def value_of(declared: Mapping[str, Any]) -> Any:
        return names if declared["type"] == "array" else ", ".join(names)

    return read


def named_in(call: Call) -> list[str]:
    return [name for name in NAMES if name in str(call.arguments.get("subject", ""))]


def validated(names: list[str], **more: Any) -> Answered:
    items = [{"name": name, **more.get(name, {})} for name in names]
    return answered({"eligible": True, "transaction_decision": {"resolved_arguments": {"items": items}}})


def kept(call: Call) -> list[str]:
    keep = call.arguments.get("keep_items")
    return [name for name in named_in(call) if keep is None or name in keep]


VALIDATORS: dict[str, Callable[[Call], Outcome]] = {
    "keeps to what was kept": lambda call: validated(kept(call)),
    "ignores what was taken out": lambda call: validated(named_in(call)),
    "finds one not eligible": lambda call: validated(kept(call), **{NAMES[0]: {"eligible": False, "reason": "locked"}}),
    "names no items": lambda call: answered({"eligible": True}),
    "finds more": lambda call: validated([*kept(call), "Jogos Dia"]),
    "refuses": lambda call: answered({"eligible": False, "error": "no"}),
    "asks": lambda call: answered({"status": "NEEDS_PARAMETER", "parameter": "subject", "parameter_message": "Qual?"}),
    "redirects": lambda call: answered(
        {"eligible": True, "transaction_decision": {"target_tool": RETURN, "resolved_arguments": {}}}
    ),
    "talks nonsense": lambda call: answered({"eligible": "yes"}),
    "says nothing": lambda call: NoAnswer("timeout"),
}


FOLLOWING = ("keeps to what was kept", "ignores what was taken out")
validators = st.sampled_from([*VALIDATORS, *["keeps to what was kept"] * 20])


def verdicts(call: Call, mask: int) -> list[dict[str, Any]]:
    keys = call.meta["agentplatform/item_keys"]
    return [{"item_key": key["key"], "success": bool(mask >> n & 1)} for n, key in enumerate(keys)]


ACTIONS: dict[str, Callable[[Call, int], Outcome]] = {
    "reports every item": lambda call, mask: rows(*verdicts(call, mask)),
    "succeeds": lambda call, mask: rows(*verdicts(call, 7)),
    "forgets one": lambda call, mask: rows(*verdicts(call, mask)[1:]),
    "does one too many": lambda call, mask: rows(*verdicts(call, mask), {"name": "Nobody's", "success": True}),
    "contradicts itself": lambda call, mask: rows(*verdicts(call, mask), *verdicts(call, ~mask)),
    "talks nonsense": lambda call, mask: rows({"success": "true"}, {"success": None}),
    "says only yes": lambda call, mask: answered({"ok": True}),
    "says only no": lambda call, mask: answered({"ok": False, "error": "no"}),
    "errs": lambda call, mask: answered({"message": "boom"}, is_error=True),
    "is away": lambda call, mask: NotSent("connection refused"),
    "is gone": lambda call, mask: NotSent("-32601", again=False),
    "drops the answer": lambda call, mask: NoAnswer("reset"),
}
ANSWERS = ["reports every item", "succeeds", "forgets one", "says only yes"]


# One life ------------------------------------------


class Life:
    """One customer and everything around her; ``draw`` decides what happens."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.draw = draw
        self.world = World(definitions())
        self.said: dict[str, str] = {}
        self.sent: Counter[UUID] = Counter()
        self.dead: list[tuple[executing.Claim, Call]] = []
        self.ended: dict[UUID, str] = {}
        self.succeeded: set[int] = set()
        self.taken_out: set[str] = set()
        """What the user left out with a button, until the next words: they may name it again."""
        self.validator, self.action, self.mask = "keeps to what was kept", "succeeds", 7
        for tool in (CANCEL, ORDERS, RETURN, INVOICES):
            self.world.gateway.answers(tool, self.act)
        self.world.gateway.answers("validar", lambda call: VALIDATORS[self.validator](call))
        self.listens("none", [], no_intent(), "other", 0)
        Worker.gateway, Worker.model = self.world.gateway, self.world.model

    def steps(self) -> list[Callable[[], None]]:
        """What can happen now; what leads on stands there more often."""
        status = next((t.status for t in self.world.transactions if t.status in OCCUPYING), None)
        return [
            *often(status is None, self.asks, 16),
            *often(status == Status.COLLECTING_PARAMETERS, self.answers_the_question, 16),
            *often(status == Status.PRE_VALIDATING, self.validates, 16),
            *often(status == Status.AWAITING_CONFIRMATION, self.presses, 10),
            *often(status == Status.AWAITING_CONFIRMATION, self.leaves_one_out, 4),
            *often(status == Status.AWAITING_CONFIRMATION, self.replies, 5),
            *often(self.is_ready(), self.executes, 16),
            *often(self.is_ready(), self.a_worker_dies, 4),
            *often(status in BUSY, self.leases_run_out_and_the_sweeper_comes, 2),
            *often(status in OCCUPYING, self.its_time_is_over),
            *often(status == Status.PRE_VALIDATING, self.a_validators_worker_dies),
            *often(bool(self.dead), self.an_answer_comes_late, 3),
            *often(Turn.objects.waiting().exists(), self.thinks, 3),
            *often(Confirmation.objects.exists(), self.presses),
            *often(bool(self.said), self.says_it_twice),
            self.a_release_is_published,
            self.sends,
        ]

    # The customer

    def asks(self) -> None:
        """A new request, with all values, the first one or none."""
        tool, names = (
            self.draw(st.sampled_from([CANCEL, CANCEL, CANCEL, ORDERS, ORDERS, RETURN, INVOICES])),
            self.names(),
        )
        self.store(f"gostaria disso: {', '.join(names)}")
        self.listens(self.draw(extractions), names, shift_to(shop.INTENTS[tool]), "other", 0)
        self.world.think()

    def answers_the_question(self) -> None:
        names = self.names()
        self.store(", ".join(names))
        self.listens(self.draw(extractions), names, self.draw(routings), "other", 0)
        self.world.think()

    def replies(self) -> None:
        self.store(self.draw(texts))
        self.thinks()

    def sends(self) -> None:
        self.store(self.draw(texts))

    def store(self, text: str) -> None:
        key = str(uuid4())
        self.said[key] = text
        self.world.sends(text, client_message_id=key)

    def thinks(self) -> None:
        """The turns that can be handled are handled, with a model that reads anything."""
        drawn = (self.draw(extractions), self.names(), self.draw(routings), self.draw(reply_kinds), self.draw(masks))
        self.listens(*drawn)
        self.world.think()

    def names(self) -> list[str]:
        found: list[str] = self.draw(some_names)
        return found

    def listens(self, how: str, names: list[str], routing: Any, kind: str, mask: int) -> None:
        """Script the model, for all that comes until it is scripted anew."""
        self.taken_out = set()

        def read_reply(payload: Mapping[str, Any]) -> Any:
            keys = [item["key"] for n, item in enumerate(payload["items"]) if mask >> n & 1]
            values = dict.fromkeys(payload["parameters"], NAMES[mask % 3])
            return {"kind": kind, "keep_item_keys": keys, "values": values, "question": "quanto custa?"}

        answers = {EXTRACTION: extraction_of(how, names), ROUTING: routing, REPLY: read_reply}
        failing = [name for name, drawn in ((EXTRACTION, how), (REPLY, kind)) if drawn == "failure"]
        self.world.model.script(answers, dict.fromkeys(failing, "timeout"))

    def says_it_twice(self) -> None:
        key = self.draw(st.sampled_from(list(self.said)))
        before = self.world.conversation.events.count()

        received = intake.receive_message(
            self.world.conversation.pk, client_message_id=key, text="outra coisa", seen_seq=None
        )

        assert received.duplicate
        assert self.world.conversation.events.count() == before
        assert Turn.objects.get(client_message_id=key).text == self.said[key]

    def leaves_one_out(self) -> None:
        """The button of the open confirmation, without one of its items."""
        confirmation = self.world.confirmation
        keys = [item["key"] for item in confirmation.items if item["eligible"]]
        if len(keys) > 1:
            left = self.draw(st.sampled_from(keys))
            self.press(confirmation, "confirm", [key for key in keys if key != left])

    def presses(self) -> None:
        """A button of any confirmation that was ever shown, with items that may not be its own."""
        known = list(Confirmation.objects.order_by("requested_seq", "created_at"))
        confirmation = self.draw(st.sampled_from([*[known[-1]] * 5, *known]))
        keys = [item["key"] for item in confirmation.items]
        chosen = self.draw(st.sampled_from([None, None, None, None, keys, keys[:1], [], ["bogus"]]))
        self.press(confirmation, self.draw(st.sampled_from(["confirm", "confirm", "confirm", "reject"])), chosen)

    def press(self, confirmation: Confirmation, decision: str, chosen: list[str] | None) -> None:
        with suppress(ConfirmationClosed, InvalidItems):
            self.world.answers(decision, confirmation_id=str(confirmation.pk), item_keys=chosen)
            assert confirmation.status == ConfirmationStatus.OPEN
            if decision == "confirm" and chosen is not None:
                self.taken_out |= {item["label"] for item in confirmation.items if item["key"] not in chosen}

    # The workers

    def validates(self) -> None:
        self.set_validator()
        self.world.validate()

    def set_validator(self) -> None:
        self.validator = self.draw(validators)
        if self.validator not in FOLLOWING:
            # The change may be refused, and then the set before it is confirmed anew.
            self.taken_out = set()

    def is_ready(self) -> bool:
        return Attempt.objects.filter(status=AttemptStatus.READY).exists()

    def executes(self) -> None:
        self.action, self.mask = self.draw(st.sampled_from(list(ACTIONS))), self.draw(masks)
        self.world.execute()

    def act(self, call: Call) -> Outcome:
        """The tool is called: it was confirmed before, exactly so, and never before that could have had an effect."""
        transaction = Transaction.objects.get(pk=call.meta["agentplatform/transaction_id"])
        self.check_authorised(transaction, call)
        outcome = ACTIONS[self.action](call, self.mask)
        if not isinstance(outcome, NotSent):
            self.check_first(transaction)
        return outcome

    def check_authorised(self, transaction: Transaction, call: Call) -> None:
        assert transaction.status == Status.EXECUTING
        if call.tool == INVOICES:
            return
        answers = Event.objects.filter(transaction=transaction, kind="confirmation.answered")
        assert [event.data["decision"] for event in answers] == ["confirm"]
        (confirmed,) = transaction.confirmations.filter(status=ConfirmationStatus.CONFIRMED)
        assert call.meta["agentplatform/request_digest"] == confirmed.digest
        wanted = {item["key"]: item["label"] for item in confirmed.items if item["eligible"]}
        assert {key["key"]: key["label"] for key in call.meta["agentplatform/item_keys"]} == wanted
        assert not self.taken_out & set(wanted.values())
        assert not [label for label in self.taken_out if label in str(call.arguments)]
        if call.tool == ORDERS:
            assert call.arguments["order_ids"] == list(wanted.values())

    def check_first(self, transaction: Transaction) -> None:
        if transaction.tool != INVOICES:
            self.sent[transaction.pk] += 1
            assert self.sent[transaction.pk] == 1

    def a_worker_dies(self) -> None:
        """After its claim, after sending, or after it kept the answer."""
        where = self.draw(st.sampled_from(["claimed", "sent", "recorded"]))
        claim = executing.claim(Attempt.objects.filter(status=AttemptStatus.READY)[0].pk)
        if claim is None or where == "claimed":
            return
        call = executing.gate(claim)
        if call is None:
            return
        transaction = Transaction.objects.get(pk=call.meta["agentplatform/transaction_id"])
        self.check_authorised(transaction, call)
        self.check_first(transaction)
        self.dead.append((claim, call))
        if where == "recorded":
            executing.record_answer(claim, rows(*verdicts(call, self.draw(masks))))

    def a_validators_worker_dies(self) -> None:
        validating.claim_validation(Transaction.objects.get(status=Status.PRE_VALIDATING).pk)

    def an_answer_comes_late(self) -> None:
        claim, call = self.draw(st.sampled_from(self.dead))
        outcome = ACTIONS[self.draw(st.sampled_from(ANSWERS))](call, self.draw(masks))
        assert isinstance(outcome, Answered)
        executing.record_answer(claim, outcome)
        accounting.settle(claim.attempt_id)

    # Time, and the operators

    def leases_run_out_and_the_sweeper_comes(self) -> None:
        Attempt.objects.exclude(leased_until=None).update(leased_until=F("due_at"))
        Transaction.objects.exclude(leased_until=None).update(leased_until=F("created_at"))
        self.set_validator()
        self.action = self.draw(st.sampled_from(list(ACTIONS)))
        sweeper.run_once()

    def its_time_is_over(self) -> None:
        self.world.expire()

    def a_release_is_published(self) -> None:
        self.world.publish(definitions(disabled=self.draw(st.sampled_from([*[""] * 6, CANCEL, ORDERS]))))

    # What holds after every step

    def check(self) -> None:
        events = list(self.world.conversation.events.all())
        numbers = [event.seq for event in events if event.seq is not None]
        self.world.conversation.refresh_from_db()
        assert numbers == list(range(1, self.world.conversation.last_seq + 1))
        transactions = list(
            Transaction.objects.filter(conversation=self.world.conversation).prefetch_related("confirmations", "items")
        )
        assert len([t for t in transactions if t.status in OCCUPYING]) <= 1
        for transaction in transactions:
            self.check_transaction(transaction, [event for event in events if event.transaction_id == transaction.pk])
        succeeded = {i.pk for t in transactions for i in t.items.all() if i.status == ItemStatus.SUCCEEDED}
        assert self.succeeded <= succeeded
        self.succeeded = succeeded

    def check_transaction(self, transaction: Transaction, events: list[Event]) -> None:
        """What is final stays and was told once; what was called agrees with the ledger; one question is open."""
        is_final = transaction.status in FINAL
        assert [event.kind for event in events].count("transaction.finished") == is_final
        assert self.ended.get(transaction.pk, transaction.status) == transaction.status
        if is_final:
            self.ended[transaction.pk] = transaction.status
        items, confirmations = list(transaction.items.all()), list(transaction.confirmations.all())
        asked = [c for c in confirmations if c.status == ConfirmationStatus.OPEN]
        assert len(asked) == (transaction.status == Status.AWAITING_CONFIRMATION)
        check_items(transaction, items, was_called=bool(self.sent[transaction.pk]))
        check_moves(transaction, [event for event in events if event.kind == "transaction.moved"])
        confirmed = [item for c in confirmations if c.status == ConfirmationStatus.CONFIRMED for item in c.items]
        for event in events:
            if event.kind in ("transaction.finished", "transaction.verifying"):
                check_told(event, confirmed)


def often(is_possible: bool, step: Callable[[], None], weight: int = 1) -> list[Callable[[], None]]:
    return [step] * weight if is_possible else []


def check_items(transaction: Transaction, items: list[Item], *, was_called: bool) -> None:
    statuses = [item.status for item in items if not item.unconfirmed and item.status != ItemStatus.EXCLUDED]
    if transaction.status in FINAL or transaction.status == Status.VERIFYING:
        assert not set(statuses) & OPEN_ITEMS
    if transaction.tool == INVOICES:
        return
    # Where nobody named the items and no answer came, there are none to compare with (runtime.md §4a.5).
    if was_called and statuses and transaction.status != Status.EXECUTING:
        assert transaction.status == verdict_of(statuses)
    if not was_called:
        assert not set(statuses) & {ItemStatus.SUCCEEDED, ItemStatus.FAILED, ItemStatus.UNKNOWN}


def check_moves(transaction: Transaction, moves: list[Event]) -> None:
    """Every move is one of the table, and starts where the last one ended."""
    stands = str(Status.COLLECTING_PARAMETERS)
    for event in moves:
        assert event.data["from"] == stands
        assert event.data["to"] in MOVES[Status(stands)]
        stands = event.data["to"]
    assert transaction.status == stands


def check_told(event: Event, confirmed: list[dict[str, Any]]) -> None:
    """The event names every item of the set that was confirmed, with an outcome and in its text."""
    told = {item["key"]: item for item in event.data["items"]}
    assert not {item["status"] for item in told.values()} & OPEN_ITEMS
    for item in confirmed:
        assert told[item["key"]]["label"] == item["label"]
        assert item["label"] in event.data["text"]


def no_intent() -> dict[str, Any]:
    return {"decision": "none", "intent": None, "confidence": 0.9, "values": None, "reason": "test"}


def verdict_of(statuses: list[str]) -> str:
    """The status that items with these outcomes come to, in words of runtime.md §4a.6."""
    if "UNKNOWN" in statuses:
        return "VERIFYING"
    succeeded = statuses.count("SUCCEEDED")
    if succeeded == len(statuses):
        return "SUCCESS"
    return "PARTIAL_SUCCESS" if succeeded else "FAILED"


class Complaints(logging.Handler):
    """What the runtime logged as an error; it goes on after one, and a test must not."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        trouble = record.exc_info[1] if record.exc_info else ""
        self.heard.append(f"{record.getMessage()}: {trouble!r}")


class Worker:
    """What the sweeper's work runs with: the ports of the life that is being lived."""

    gateway: Any = None
    model: Any = None


def run_turns(conversation_id: str) -> None:
    from transactions.turns import run_turns

    run_turns(conversation_id, model=Worker.model)


def prevalidate(transaction_id: str) -> None:
    execution.prevalidate(transaction_id, gateway=Worker.gateway)


def execute(attempt_id: str) -> None:
    execution.execute(attempt_id, gateway=Worker.gateway)


@pytest.fixture
def own_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The sweeper finds the work and these scripted ports do it."""
    for work, name in {"turns": "run_turns", "prevalidate": "prevalidate", "execute": "execute"}.items():
        monkeypatch.setitem(outbox.RUNNERS, work, f"{__name__}:{name}")  # type: ignore[misc]  # keys are literals
    yield


@pytest.mark.usefixtures("own_workers")
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(data=st.data())
def test_the_promises_hold_after_every_step_of_any_life(data: st.DataObject) -> None:
    complaints = Complaints()
    logger = logging.getLogger("transactions")
    logger.addHandler(complaints)
    try:
        with atomic():
            life = Life(data.draw)
            for _ in range(STEPS):
                step = data.draw(st.sampled_from(life.steps()))
                note(step.__name__)
                step()
                life.check()
                assert complaints.heard == []
            # Here and not after every step, which takes longer than the steps; a life ends at any point of a request.
            assert list(verify(Tally(), life.world.conversation.pk)) == []
            set_rollback(True)
    finally:
        logger.removeHandler(complaints)
