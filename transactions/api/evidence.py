"""The evidence of one transaction as a signed bundle: ``GET /api/v1/transactions/{id}/evidence/``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC
from typing import Any
from uuid import UUID

from django.db.transaction import atomic
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException, PermissionDenied
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from tooling import catalog
from tooling.api_basics import problems
from transactions.access import SEES_CUSTOMER_DATA
from transactions.api.permissions import OperatorEndpoint
from transactions.api.serializers import TransactionDetail
from transactions.core.bundles import FORMAT, chain_rows, problems_of
from transactions.core.records import malformed
from transactions.models import Attempt, Conversation, Disclosure, Event, Transaction
from transactions.services.disclosing import disclose
from transactions.services.rows import database_now, entry_of, hold
from transactions.services.signing import signed


class BrokenRecord(APIException):
    """The rows of a transaction are not what its events say; each is named, and nothing is signed."""

    status_code = 409
    default_code = "broken_record"

    def __init__(self, wrong: Sequence[str]) -> None:
        super().__init__("; ".join(wrong))


@atomic
def bundle_of(transaction: Transaction) -> dict[str, Any]:
    """Everything that proves what ``transaction`` did, signed; nothing of its conversation moves while it is read.

    Raises BrokenRecord where a part of it does not hold.
    """
    conversation = hold(transaction.conversation_id)
    transaction = Transaction.objects.select_related("conversation__channel").get(pk=transaction.pk)
    try:
        release_hash = catalog.release(transaction.release).hash
    except catalog.NothingPublished:
        release_hash = None
    if wrong := _unreadable(transaction):
        raise BrokenRecord(wrong)
    content = {
        "format": FORMAT,
        "made_at": database_now().astimezone(UTC).isoformat(),
        "transaction": TransactionDetail(transaction).data,
        "release": {"number": transaction.release, "hash": release_hash},
        "chain": _chain_of(conversation, transaction),
    }
    # As a reader of the file will have it, for that is what is signed.
    read = json.loads(JSONRenderer().render(content))
    if problems := problems_of(read):
        raise BrokenRecord([f"{problem.part}: {problem.detail}" for problem in problems])
    return signed(read)


def _unreadable(transaction: Transaction) -> list[str]:
    """Columns that hold what the product cannot have written, so that no record can be made of them."""
    held = {"arguments": transaction.arguments, "pre_validation": transaction.pre_validation}
    steps = Attempt.objects.filter(transaction=transaction).order_by("number").values_list("number", "steps")
    return [
        *malformed(str(transaction.pk), **held),
        *(
            f"transactions_attempt {number} of transaction {transaction.pk}: steps is no list of objects"
            for number, held_steps in steps
            if not isinstance(held_steps, list) or not all(isinstance(step, dict) for step in held_steps)
        ),
    ]


def _chain_of(conversation: Conversation, transaction: Transaction) -> dict[str, Any]:
    events = Event.objects.filter(conversation=conversation)
    turns = events.filter(transaction=transaction).exclude(turn=None).values_list("turn_id", flat=True)
    chained = events.exclude(number=None).order_by("number").iterator(chunk_size=500)
    rows = chain_rows(map(entry_of, chained), str(transaction.pk), set(map(str, turns)))
    return {
        "conversation_id": str(conversation.pk),
        "length": conversation.chain_length,
        "head": conversation.chain_head,
        "older": events.filter(number=None).count(),
        "events": list(rows),
    }


# As it is described ------------------------------------------


class BundleReleaseOut(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    hash = serializers.CharField(allow_null=True)


class ChainRowOut(serializers.Serializer[Any]):
    """One event: in full where it belongs to the transaction, else the fingerprint of its content."""

    number = serializers.IntegerField()
    hash = serializers.CharField()
    event = serializers.DictField(required=False)
    content = serializers.CharField(required=False)


class ChainOut(serializers.Serializer[Any]):
    conversation_id = serializers.UUIDField()
    length = serializers.IntegerField()
    head = serializers.CharField()
    older = serializers.IntegerField(help_text="Events that were written before there was a chain.")
    events = ChainRowOut(many=True)


class SignatureOut(serializers.Serializer[Any]):
    algorithm = serializers.CharField()
    public_key = serializers.CharField()
    value = serializers.CharField()


class EvidenceOut(serializers.Serializer[Any]):
    """Signed with Ed25519 over everything but ``signature``; ``manage.py evidence_bundle --check`` checks it."""

    format = serializers.CharField()
    made_at = serializers.DateTimeField()
    transaction = TransactionDetail()
    release = BundleReleaseOut()
    chain = ChainOut()
    signature = SignatureOut()


class TransactionEvidenceView(OperatorEndpoint):
    """The signed bundle of one transaction."""

    @extend_schema(
        operation_id="transactions_evidence",
        responses={200: EvidenceOut, **problems(401, 403, 404, 409, 429)},
    )
    def get(self, request: Any, pk: UUID) -> Response:
        transaction = self.found(pk)
        if not request.user.has_perm(SEES_CUSTOMER_DATA):
            raise PermissionDenied(_("The evidence shows who the customer is, which you may not see."))
        disclose(transaction, by=request.user.get_username(), what=Disclosure.What.EVIDENCE)
        bundle = bundle_of(transaction)
        name = f'attachment; filename="evidence-{pk}.json"'
        return Response(bundle, headers={"Content-Disposition": name})
