"""Small builders that write runtime rows directly, for tests of what only reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import Permission, User
from django.utils import timezone

from transactions.core.statuses import AttemptStatus, ConfirmationStatus, ItemStatus, Status, is_final
from transactions.models import (
    ApiKey,
    Attempt,
    Channel,
    Confirmation,
    Conversation,
    Event,
    Item,
    Transaction,
    Turn,
)

PASSWORD = "a long enough password"


def a_user(name: str = "rui", *permissions: str, **more: Any) -> User:
    """A user with ``permissions`` ("app.codename")."""
    user = User.objects.create_user(name, password=PASSWORD, **more)
    for permission in permissions:
        app, codename = permission.split(".")
        user.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    return user


def an_operator(name: str = "ana", **more: Any) -> User:
    return a_user(name, "transactions.operate", "transactions.see_every_channel", **more)


def an_operator_of(*channels: str, name: str = "bia", **more: Any) -> User:
    """An operator who sees only what happened in ``channels``."""
    user = a_user(name, "transactions.operate", **more)
    for key in channels:
        a_channel(key).operators.add(user)
    return user


def an_api_key(key: str = "a-key", role: str = "operator", **more: Any) -> dict[str, str]:
    """Store the hash of ``key`` and return the request headers of a program that holds it."""
    ApiKey.objects.create(name=f"{role} {key}", role=role, hash=ApiKey.hash_of(key), **more)
    return {"Authorization": f"Bearer {key}"}


def a_channel(key: str = "site") -> Channel:
    return Channel.objects.get_or_create(key=key, defaults={"anonymous": True})[0]


def a_conversation(channel: str = "site", identity: Mapping[str, Any] | None = None) -> Conversation:
    identity = dict({"customer_key": "C-000123"} if identity is None else identity)
    return Conversation.objects.create(
        channel=a_channel(channel),
        locale="pt-BR",
        identity=identity,
        customer=Conversation.customer_of(identity),
    )


def a_transaction(
    status: Status = Status.SUCCESS,
    *,
    items: Sequence[tuple[str, ItemStatus]] = (),
    conversation: Conversation | None = None,
    created_at: datetime | None = None,
    **fields: Any,
) -> Transaction:
    """A transaction in ``status`` with ``items`` (label, status) and nothing else."""
    created_at = created_at or timezone.now()
    defaults = {
        "release": 3,
        "tool": "encerrar_assinaturas",
        "operation_type": "transactional",
        "expires_at": created_at + timedelta(hours=1),
        "finished_at": created_at + timedelta(seconds=2.1) if is_final(status) else None,
        "has_unknown": any(outcome is ItemStatus.UNKNOWN for _, outcome in items),
    }
    transaction = Transaction.objects.create(
        conversation=conversation or a_conversation(), status=status, **(defaults | fields)
    )
    # auto_now_add knows no other time than now.
    Transaction.objects.filter(pk=transaction.pk).update(created_at=created_at)
    transaction.refresh_from_db()
    for position, (label, outcome) in enumerate(items, start=1):
        an_item(transaction, position, label, outcome)
    return transaction


def an_item(transaction: Transaction, position: int, label: str, status: ItemStatus, **fields: Any) -> Item:
    defaults: dict[str, Any] = {"key": f"i{position}", "fields": {"name": label}, "verdict_source": "row"}
    if status is ItemStatus.SUCCEEDED:
        defaults |= {"protocol": f"PRT-{880 + position}", "evidence": {"success": True, "subject": label}}
    if status is ItemStatus.FAILED:
        defaults |= {"reason": "not_found", "evidence": {"success": False, "reason": "not_found"}}
    return Item.objects.create(
        transaction=transaction, position=position, label=label, status=status, **(defaults | fields)
    )


def an_attempt(transaction: Transaction, number: int = 1, **fields: Any) -> Attempt:
    now = timezone.now()
    defaults = {
        "status": AttemptStatus.ANSWERED,
        "idempotency_key": "tx-7f3a",
        "digest": "sha256:ab12",
        "request": {"tool": transaction.tool, "arguments": transaction.known},
        "raw_answer": {"structured": {"results": []}, "is_error": False},
        "due_at": now,
        "sent_at": now,
        "answered_at": now + timedelta(seconds=1.8),
        "accounted_at": now + timedelta(seconds=1.9),
    }
    return Attempt.objects.create(transaction=transaction, number=number, **(defaults | fields))


def a_confirmation(transaction: Transaction, text: str, **fields: Any) -> Confirmation:
    now = timezone.now()
    defaults = {
        "digest": "sha256:ab12",
        "status": ConfirmationStatus.CONFIRMED,
        "requested_seq": 4,
        "expires_at": now + timedelta(minutes=10),
        "answered_by": "text",
        "answered_at": now,
    }
    return Confirmation.objects.create(transaction=transaction, text=text, **(defaults | fields))


def an_event(conversation: Conversation, kind: str, data: Mapping[str, Any] | None = None, **fields: Any) -> Event:
    """The next public event of ``conversation``; pass ``seq=None`` for one that only operators see."""
    conversation.last_seq += 1
    conversation.save(update_fields=["last_seq"])
    defaults = {"seq": conversation.last_seq, "at": timezone.now()}
    return Event.objects.create(conversation=conversation, kind=kind, data=dict(data or {}), **(defaults | fields))


def a_turn(conversation: Conversation, text: str) -> Turn:
    """A handled message of the user, with its event."""
    number = conversation.turns.count() + 1
    turn = Turn.objects.create(
        conversation=conversation,
        number=number,
        client_message_id=f"m{number}",
        text=text,
        seq=conversation.last_seq + 1,
        handled_at=timezone.now(),
    )
    an_event(conversation, "user.message", {"text": text}, turn=turn, actor="user")
    return turn


def a_whole_story(**fields: Any) -> Transaction:
    """A transaction that ended partly, with everything that a record can hold."""
    conversation = fields.pop("conversation", None) or a_conversation()
    request = a_turn(conversation, "encerra Música Mais, Livros Falados e Craque 10")
    held = "Música Mais, Livros Falados e Craque 10"
    transaction = a_transaction(
        Status.PARTIAL_SUCCESS,
        items=[
            ("Música Mais Mensal", ItemStatus.SUCCEEDED),
            ("Livros Falados Premium", ItemStatus.FAILED),
            ("Craque 10", ItemStatus.SUCCEEDED),
        ],
        conversation=conversation,
        **{
            "multi_item_status": "PARTIAL_SUCCESS",
            "reason_code": "partly_failed",
            "revision": 7,
            "arguments": {"subject": {"value": held, "source": "extraction", "turn_id": str(request.pk)}},
            "pre_validation": {
                "tool": "conferir_assinaturas",
                "eligible": True,
                "fail_open_used": False,
                "request": {"subject": held},
                "answer": {"eligible": True},
                "error": None,
            },
        }
        | fields,
    )
    question = "Você confirma o encerramento?\n  - Música Mais Mensal\n  - Livros Falados Premium\n  - Craque 10"
    a_confirmation(transaction, question)
    an_attempt(transaction, secondary_error="notificação: tempo esgotado", normalised={"ok": True})
    _tell(conversation, transaction, request, question)
    return transaction


def _tell(conversation: Conversation, transaction: Transaction, request: Turn, question: str) -> None:
    call = {"component": "transaction_parameter_extraction", "profile": "default", "ms": 412, "ok": True}
    own: dict[str, Any] = {"transaction": transaction}
    started = {"tool": transaction.tool, "release": 3}
    an_event(conversation, "transaction.started", started, turn=request, rule="idle.keyword", model_calls=[call], **own)
    moved = {"from": "COLLECTING_PARAMETERS", "to": "PRE_VALIDATING", "reason_code": ""}
    an_event(conversation, "transaction.moved", moved, seq=None, turn=request, **own)
    an_event(conversation, "pre_validation.finished", {"eligible": True}, rule="runtime.md §7", **own)
    an_event(conversation, "confirmation.requested", {"text": question}, **own)
    yes = a_turn(conversation, "sim")
    answered = {"decision": "confirm", "by": "text"}
    an_event(conversation, "confirmation.answered", answered, turn=yes, rule="confirmation.explicit", **own)
    an_event(conversation, "execution.started", {"attempt": 1}, turn=yes, **own)
    an_event(conversation, "items.progress", {"done": 2, "total": 3}, **own)
    told = "2 de 3 encerradas. Livros Falados Premium não foi encontrada."
    an_event(conversation, "transaction.finished", {"status": "PARTIAL_SUCCESS", "text": told}, **own)
