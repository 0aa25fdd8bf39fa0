"""Runtime rows: who talks, what was asked, what was tried and what became of every item (runtime.md §1, §2).

Only ``transactions.services`` and ``transactions.outbox`` write them; everybody else reads.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable
from typing import Any, NoReturn

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from transactions.cases import CaseResult as CaseResult
from transactions.cases import SimulationCase as SimulationCase
from transactions.channels import ApiKey as ApiKey
from transactions.channels import Channel as Channel
from transactions.clock import database_now
from transactions.core.statuses import (
    FINAL,
    OCCUPYING,
    AttemptStatus,
    ConfirmationStatus,
    ItemStatus,
    ReviewState,
    Status,
    is_final,
)
from transactions.disclosures import Disclosure as Disclosure
from transactions.exports import ExportRun as ExportRun
from transactions.replays import ReplayRun as ReplayRun


class Conversation(models.Model):
    """One customer's chat in one channel. ``identity`` comes only from the signed user token."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="conversations")
    locale = models.CharField(max_length=16)
    identity = models.JSONField(default=dict)
    customer = models.CharField(max_length=64, blank=True, db_index=True)
    """A digest of the identity: whose unsettled items a new transaction must not touch (runtime.md §6.7)."""
    last_seq = models.PositiveIntegerField(default=0)
    chain_length = models.PositiveIntegerField(default=0)
    """How many events the chain of evidence holds, the operator-only ones included."""
    chain_head = models.CharField(max_length=64, blank=True)
    """The hash of the newest event of the chain."""
    turns_lease = models.UUIDField(null=True)
    turns_leased_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=database_now, editable=False)

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")

    def __str__(self) -> str:
        return str(self.id)

    @staticmethod
    def customer_of(identity: dict[str, Any]) -> str:
        if not identity:
            return ""
        return hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()


class TurnQuerySet(models.QuerySet["Turn"]):
    def waiting(self) -> TurnQuerySet:
        return self.filter(handled_at=None).order_by("number")


class Turn(models.Model):
    """One message of the user: stored before anything is done about it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="turns")
    number = models.PositiveIntegerField()
    client_message_id = models.CharField(max_length=100)
    text = models.TextField(blank=True)
    answer = models.JSONField(null=True)
    """A button: {confirmation_id, decision, item_keys}, or {retry: transaction id}; None for a text."""
    seq = models.PositiveIntegerField()
    seen_seq = models.PositiveIntegerField(null=True)
    queued = models.BooleanField(default=False)
    """It arrived while a validator or the tool was at work and waits (runtime.md §6.7)."""
    tries = models.PositiveSmallIntegerField(default=0)
    rule = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(default=database_now, editable=False)
    handled_at = models.DateTimeField(null=True)

    objects = TurnQuerySet.as_manager()

    class Meta:
        verbose_name = _("turn")
        verbose_name_plural = _("turns")
        constraints = [
            models.UniqueConstraint(fields=["conversation", "client_message_id"], name="one_turn_per_client_message"),
            models.UniqueConstraint(fields=["conversation", "number"], name="turns_in_order"),
        ]
        indexes = [models.Index(fields=["created_at"], condition=Q(handled_at=None), name="waiting_turns")]

    def __str__(self) -> str:
        return f"turn {self.number}"


class TransactionQuerySet(models.QuerySet["Transaction"]):
    def occupying(self) -> TransactionQuerySet:
        return self.filter(status__in=OCCUPYING)

    def running_by_release(self) -> dict[int, int]:
        """Release number → transactions that are not ended, set aside and being verified included; one query."""
        rows = self.exclude(status__in=FINAL).order_by().values_list("release").annotate(n=models.Count("pk"))
        return dict(rows)


class Transaction(models.Model):
    """One run of one tool, from the first word to the last accounted item (runtime.md §2)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="transactions")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="children")
    release = models.PositiveIntegerField()
    tool = models.CharField(max_length=200)
    intent = models.CharField(max_length=200, blank=True)
    operation_type = models.CharField(max_length=20)
    status = models.CharField(max_length=24, default=Status.COLLECTING_PARAMETERS)
    multi_item_status = models.CharField(max_length=16, blank=True)
    reason_code = models.CharField(max_length=40, blank=True)
    reason = models.TextField(blank=True)
    """The reason in the validator's or the tool's words, where they gave one."""
    review_state = models.CharField(max_length=16, default=ReviewState.NONE)
    revision = models.PositiveIntegerField(default=0)
    arguments = models.JSONField(default=dict)
    """name → {"value", "source", "turn_id"}."""
    question = models.TextField(blank=True)
    """The validator's own question for the parameter that it asked for, said once (runtime.md §7)."""
    asked = models.CharField(max_length=200, blank=True)
    """The parameter that was asked for last."""
    pre_validation = models.JSONField(null=True)
    validator_runs = models.PositiveSmallIntegerField(default=0)
    validations = models.JSONField(default=list)
    """What every run of a validator came to, in order: {tool, answer, error}; ``pre_validation`` is what counts."""
    redirected = models.BooleanField(default=False)
    keep_items = models.JSONField(null=True)
    """Labels that the user kept at the confirmation; None: no subset was chosen."""
    before_change = models.JSONField(null=True)
    """What stood before a change at the confirmation, to go back to if the validator refuses it (runtime.md §6.5)."""
    has_unknown = models.BooleanField(default=False)
    has_unconfirmed = models.BooleanField(default=False)
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    claims = models.PositiveSmallIntegerField(default=0)
    verify_tries = models.PositiveSmallIntegerField(default=0)
    """How often an unknown outcome was asked about, by the reconcile tool or a resend (runtime.md §9.4)."""
    verify_due_at = models.DateTimeField(null=True)
    """When it is asked about next; None: nobody asks, or an operator must."""
    verify_until = models.DateTimeField(null=True)
    """When asking ends and operators take over."""
    expires_at = models.DateTimeField()
    warned_at = models.DateTimeField(null=True)
    """When the user was told that ``expires_at`` is near; None: not for this ``expires_at``."""
    created_at = models.DateTimeField(default=database_now, editable=False)
    finished_at = models.DateTimeField(null=True)

    objects = TransactionQuerySet.as_manager()

    class Meta:
        verbose_name = _("transaction")
        verbose_name_plural = _("transactions")
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=Q(status__in=sorted(OCCUPYING)),
                name="one_occupying_transaction",
            ),
            models.CheckConstraint(condition=Q(status__in=sorted(Status)), name="known_transaction_status"),
            models.CheckConstraint(
                condition=Q(multi_item_status__in=["", "SUCCESS", "PARTIAL_SUCCESS", "FAILED"]),
                name="known_multi_item_status",
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="newest_first"),
            models.Index(fields=["status", "-created_at"], name="by_status"),
            models.Index(fields=["expires_at"], condition=Q(finished_at=None), name="due_to_expire"),
            models.Index(fields=["verify_due_at"], condition=~Q(verify_due_at=None), name="due_to_verify"),
            models.Index(fields=["created_at"], condition=Q(review_state=ReviewState.NEEDED), name="needs_review"),
        ]
        permissions = [
            ("operate", _("Can read the operator console")),
            ("see_every_channel", _("Can see the transactions of every channel")),
            ("see_customer_data", _("Can see who the customers are")),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.id}"

    @property
    def is_final(self) -> bool:
        return is_final(Status(self.status))

    @property
    def known(self) -> dict[str, Any]:
        """argument name → value."""
        return {name: held["value"] for name, held in self.arguments.items()}


class ItemQuerySet(models.QuerySet["Item"]):
    def tallies(self, transactions: Iterable[uuid.UUID]) -> dict[uuid.UUID, dict[str, int]]:
        """transaction id → item status → number, in one query; rows that nobody confirmed are left out."""
        found: dict[uuid.UUID, dict[str, int]] = {}
        asked = self.filter(transaction_id__in=list(transactions), unconfirmed=False).order_by()
        for pk, status, number in asked.values_list("transaction_id", "status").annotate(models.Count("id")):
            found.setdefault(pk, {})[status] = number
        return found


class Item(models.Model):
    """One business item of a transaction, in the order it was confirmed, with its outcome and the evidence for it."""

    transaction = models.ForeignKey(Transaction, on_delete=models.PROTECT, related_name="items")
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=100)
    label = models.TextField()
    fields = models.JSONField(default=dict)
    status = models.CharField(max_length=16, default=ItemStatus.PENDING)
    reason = models.TextField(null=True)  # noqa: DJ001 - null is "no reason was given", as contracts.md §8 shows it
    protocol = models.TextField(null=True)  # noqa: DJ001 - null is "no protocol", as contracts.md §8 shows it
    verdict_source = models.CharField(max_length=16, blank=True)
    rule = models.CharField(max_length=60, blank=True)
    evidence = models.JSONField(default=dict)
    unconfirmed = models.BooleanField(default=False)
    """A row that nobody confirmed (runtime.md §4a.4): shown, never counted."""

    objects = ItemQuerySet.as_manager()

    class Meta:
        verbose_name = _("item")
        verbose_name_plural = _("items")
        ordering = ["transaction", "position"]
        constraints = [
            models.UniqueConstraint(fields=["transaction", "key"], name="one_item_per_key"),
            models.CheckConstraint(condition=Q(status__in=sorted(ItemStatus)), name="known_item_status"),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def eligible(self) -> bool:
        return self.status != ItemStatus.INELIGIBLE


class Attempt(models.Model):
    """One try to make the one logical call of a transaction (runtime.md §9)."""

    transaction = models.ForeignKey(Transaction, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=16, default=AttemptStatus.READY)
    is_resend = models.BooleanField(default=False)
    """It repeats, with the same key, a call whose outcome is unknown; that it was not sent proves nothing."""
    idempotency_key = models.CharField(max_length=100)
    digest = models.CharField(max_length=80, blank=True)
    request = models.JSONField(default=dict)
    raw_answer = models.JSONField(null=True)
    normalised = models.JSONField(null=True)
    steps = models.JSONField(default=list)
    """What each node of a workflow was asked and answered, in the order in which they ran; empty for a direct call."""
    secondary_error = models.TextField(null=True)  # noqa: DJ001 - null is "none", as contracts.md §8 shows it
    failure = models.TextField(blank=True)
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    claims = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    accounted_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        ordering = ["transaction", "number"]
        constraints = [
            models.UniqueConstraint(fields=["transaction", "number"], name="one_attempt_per_number"),
            models.UniqueConstraint(
                fields=["transaction"],
                condition=Q(status__in=[AttemptStatus.READY, AttemptStatus.SENT]),
                name="one_open_attempt",
            ),
        ]
        indexes = [models.Index(fields=["due_at"], condition=Q(accounted_at=None), name="attempts_at_work")]

    def __str__(self) -> str:
        return f"attempt {self.number}"


class Confirmation(models.Model):
    """One question, exactly as it was shown, and its single answer (runtime.md §8)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    transaction = models.ForeignKey(Transaction, on_delete=models.PROTECT, related_name="confirmations")
    text = models.TextField()
    items = models.JSONField(default=list)
    digest = models.CharField(max_length=80)
    status = models.CharField(max_length=16, default=ConfirmationStatus.OPEN)
    requested_seq = models.PositiveIntegerField()
    expires_at = models.DateTimeField()
    answered_by = models.CharField(max_length=10, blank=True)
    answered_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=database_now, editable=False)

    class Meta:
        verbose_name = _("confirmation")
        verbose_name_plural = _("confirmations")
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["transaction"],
                condition=Q(status=ConfirmationStatus.OPEN),
                name="one_open_confirmation",
            )
        ]

    def __str__(self) -> str:
        return f"confirmation {self.id}"


class EventIsFinal(TypeError):
    """An event was to be deleted; evidence stays."""


class EventQuerySet(models.QuerySet["Event"]):
    """Events can be read and made, nothing else. A trigger refuses changes; SQLite has none for deleting."""

    def delete(self) -> NoReturn:
        raise EventIsFinal

    def for_the_user(self) -> EventQuerySet:
        """What the chat may show, in order; operator-only events have no seq (contracts.md §2)."""
        return self.exclude(seq=None).order_by("seq")


class Event(models.Model):
    """What happened, in the order it happened; append-only."""

    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="events")
    transaction = models.ForeignKey(Transaction, null=True, on_delete=models.PROTECT, related_name="events")
    turn = models.ForeignKey(Turn, null=True, on_delete=models.PROTECT, related_name="events")
    seq = models.PositiveIntegerField(null=True)
    number = models.PositiveIntegerField(null=True)
    """Its place in the conversation's chain of evidence; None: it is older than the chain."""
    hash = models.CharField(max_length=64, blank=True)
    """Binds its content to the event before it in the chain."""
    kind = models.CharField(max_length=40)
    rule = models.CharField(max_length=40, blank=True)
    actor = models.CharField(max_length=20, default="system")
    data = models.JSONField(default=dict)
    model_calls = models.JSONField(default=list)
    at = models.DateTimeField()

    objects = EventQuerySet.as_manager()

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "seq"], name="one_event_per_seq"),
            models.UniqueConstraint(fields=["conversation", "number"], name="one_event_per_number"),
        ]

    def __str__(self) -> str:
        return self.kind

    def delete(self, using: str | None = None, keep_parents: bool = False) -> NoReturn:
        raise EventIsFinal


class WorkerHeartbeat(models.Model):
    """When a process that runs due work was last alive; read by /readyz."""

    name = models.CharField(max_length=100, unique=True)
    beat_at = models.DateTimeField()

    class Meta:
        verbose_name = _("sign of life")
        verbose_name_plural = _("signs of life")

    def __str__(self) -> str:
        return self.name
