"""A small world for runtime tests: a published release, one conversation, scripted ports, and the worker in hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from tests.runtime.fakes import FakeGateway, FakeModel, answered
from tooling.content import canonical, digest, to_content
from tooling.models import Release
from tooling.specs import Definitions
from transactions import execution, turns
from transactions.core.statuses import AttemptStatus, ConfirmationStatus, Status
from transactions.models import Attempt, Channel, Confirmation, Event, Transaction, Turn
from transactions.services import ending, intake, verifying
from transactions.services.conversations import open_conversation
from transactions.services.intake import Received


class World:
    """One customer in one conversation. ``says`` sends and handles a text, ``work`` is the worker; no more happens."""

    def __init__(
        self, definitions: Definitions, *, locale: str = "pt-BR", identity: Mapping[str, Any] | None = None
    ) -> None:
        self.publish(definitions)
        channel, _ = Channel.objects.get_or_create(key="test", defaults={"anonymous": True})
        who = {"customer_key": "C-1"} if identity is None else identity
        self.conversation = open_conversation(channel, locale=locale, identity=who)
        self.model = FakeModel()
        self.gateway = FakeGateway()

    def publish(self, definitions: Definitions) -> int:
        """A new release; its number."""
        number = Release.objects.count() + 1
        content = canonical(to_content(definitions))
        Release.objects.create(number=number, content=content, hash=digest(content), comment="test")
        return number

    # The user -------------------------------------------

    def says(self, text: str, *, seen_seq: int | None = None, client_message_id: str | None = None) -> Turn:
        """Send a text and have it handled."""
        turn = self.sends(text, seen_seq=seen_seq, client_message_id=client_message_id)
        self.think()
        turn.refresh_from_db()
        return turn

    def sends(self, text: str, *, seen_seq: int | None = None, client_message_id: str | None = None) -> Turn:
        """Send a text; nobody handles it yet."""
        key = client_message_id or str(uuid4())
        intake.receive_message(self.conversation.pk, client_message_id=key, text=text, seen_seq=seen_seq)
        return Turn.objects.get(conversation=self.conversation, client_message_id=key)

    def answers(
        self, decision: str, *, confirmation_id: str | None = None, item_keys: list[str] | None = None
    ) -> Received:
        """Press a button of the open confirmation."""
        return intake.receive_answer(
            self.conversation.pk,
            client_message_id=str(uuid4()),
            confirmation_id=confirmation_id or str(self.confirmation.pk),
            decision=decision,  # type: ignore[arg-type]  # tests send what clients may send
            item_keys=item_keys,
        )

    # The processes -------------------------------------------

    def think(self) -> None:
        turns.run_turns(self.conversation.pk, model=self.model)

    def validate(self) -> None:
        """Run the due validator, once."""
        transaction = Transaction.objects.filter(status=Status.PRE_VALIDATING).first()
        if transaction is not None:
            execution.prevalidate(transaction.pk, gateway=self.gateway)
            self.think()

    def execute(self) -> None:
        """Run the due attempts, without waiting for a delay between two tries."""
        Attempt.objects.filter(status=AttemptStatus.READY).update(due_at=self.conversation.created_at)
        for attempt in Attempt.objects.filter(status=AttemptStatus.READY):
            execution.execute(attempt.pk, gateway=self.gateway)
        self.think()

    def verify(self) -> None:
        """Take the next step about an unknown outcome, without waiting until it is due."""
        for transaction in Transaction.objects.exclude(verify_due_at=None):
            Transaction.objects.filter(pk=transaction.pk).update(verify_due_at=transaction.created_at)
            execution.reconcile(transaction.pk, gateway=self.gateway)
        self.think()

    def abandon_verifying(self) -> None:
        """Claim the next step about an unknown outcome, and end before anything comes of it."""
        for transaction in Transaction.objects.exclude(verify_due_at=None):
            rows = Transaction.objects.filter(pk=transaction.pk)
            rows.update(verify_due_at=transaction.created_at)
            verifying.claim(transaction.pk)
            rows.update(leased_until=transaction.created_at)

    def work(self) -> None:
        """Be the worker until nothing is due."""
        for _ in range(20):
            busy = Transaction.objects.filter(status=Status.PRE_VALIDATING).exists()
            ready = Attempt.objects.filter(status=AttemptStatus.READY).exists()
            if not busy and not ready:
                return
            self.validate()
            self.execute()
        raise AssertionError("the worker has no end of work")

    def age(self) -> None:
        """Let the time of what occupies the conversation be over."""
        Transaction.objects.filter(conversation=self.conversation).update(expires_at=self.conversation.created_at)
        Confirmation.objects.filter(transaction__conversation=self.conversation).update(
            expires_at=self.conversation.created_at
        )

    def expire(self) -> None:
        """Let the time be over, and sweep."""
        self.age()
        ending.expire_if_due(self.conversation.pk)

    # What became of it -------------------------------------------

    @property
    def transactions(self) -> list[Transaction]:
        return list(Transaction.objects.filter(conversation=self.conversation).order_by("created_at"))

    @property
    def transaction(self) -> Transaction:
        """The newest transaction."""
        return self.transactions[-1]

    @property
    def confirmation(self) -> Confirmation:
        """The open confirmation."""
        return Confirmation.objects.get(transaction__conversation=self.conversation, status=ConfirmationStatus.OPEN)

    @property
    def events(self) -> list[Event]:
        """What the user's socket gets, in order."""
        return list(Event.objects.filter(conversation=self.conversation).for_the_user())

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def last(self, kind: str) -> Event:
        return [event for event in self.events if event.kind == kind][-1]

    def incidents(self) -> list[Event]:
        return list(Event.objects.filter(conversation=self.conversation, kind="incident"))


def rows(*results: Mapping[str, Any], **more: Any) -> Any:
    """An answer with ``results``."""
    return answered({"results": [dict(row) for row in results], **more})
