"""Who may see which transactions: people and programs see those of their channels, unless they may see all."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

from transactions.models import Channel

Row = TypeVar("Row", bound=Model)

EVERY_CHANNEL = "transactions.see_every_channel"
SEES_CUSTOMER_DATA = "transactions.see_customer_data"
CHANNEL = "conversation__channel"
"""From a transaction to its channel."""


def visible(rows: QuerySet[Row], caller: Any, *, channel: str = CHANNEL) -> QuerySet[Row]:
    """Those of ``rows`` that ``caller`` may see; ``channel`` is the way from a row to its channel.

    What is not visible does not exist for the caller: lists leave it out, and asking for it by id finds nothing.
    """
    if caller.has_perm(EVERY_CHANNEL):
        return rows
    return rows.filter(Q(**{f"{channel}__in": channels_of(caller)}))


def channels_of(caller: Any) -> QuerySet[Channel]:
    """The channels whose transactions ``caller`` (a user, or the program behind an API key) may see."""
    if caller.has_perm(EVERY_CHANNEL):
        return Channel.objects.all()
    if not caller.is_authenticated:
        return Channel.objects.none()
    own: QuerySet[Channel] = caller.channels.all()
    return own
