"""Opening a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transactions.models import Channel, Conversation


def open_conversation(channel: Channel, *, locale: str, identity: Mapping[str, Any]) -> Conversation:
    """A new conversation in ``channel``; ``identity`` is the business claim of a checked user token, or empty."""
    identity = dict(identity)
    return Conversation.objects.create(
        channel=channel, locale=locale, identity=identity, customer=Conversation.customer_of(identity)
    )
