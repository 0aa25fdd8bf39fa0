"""Opening a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from transactions.models import Channel, Conversation


def open_conversation(channel: Channel, *, locale: str, identity: Mapping[str, Any]) -> Conversation:
    """A new conversation in ``channel``; ``identity`` is the business claim of a checked user token, or empty."""
    identity = dict(identity)
    return Conversation.objects.create(
        channel=channel, locale=locale, identity=identity, customer=Conversation.customer_of(identity)
    )


def open_rehearsal(*, locale: str, identity: Mapping[str, Any]) -> Conversation:
    """A conversation that will be taken back, in a channel that will be, too.

    It belongs to no customer, so that nothing that is really unsettled plays into it.
    """
    channel = Channel.objects.create(key=f"rehearsal-{uuid4().hex}", locale=locale)
    return Conversation.objects.create(channel=channel, locale=locale, identity=dict(identity))
