"""Who is at a chat socket: its session token, and the user token it was opened with (contracts.md §2, §7)."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import jwt
from django.conf import settings
from django.core import signing

from transactions.models import Channel, Conversation

log = logging.getLogger(__name__)

SALT = "transactions.chat.session"
ALGORITHM = "HS256"
MAX_TOKEN = 8 * 1024
MAX_CLAIMS = 20
MAX_NAME = 64
MAX_VALUE = 200

Identity = dict[str, str | int]


@dataclass(frozen=True, slots=True)
class Session:
    """The right to one conversation until ``expires_at`` (seconds since the epoch)."""

    conversation_id: UUID
    channel: str
    expires_at: float

    @property
    def is_expired(self) -> bool:
        return time.time() >= self.expires_at

    @property
    def expiry(self) -> datetime:
        return datetime.fromtimestamp(self.expires_at, UTC)


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a user token does not prove who the user is; meant for the developer of the channel."""

    reason: str


def open_session(conversation: Conversation, channel: Channel) -> tuple[str, Session]:
    """A token for ``conversation`` that is good for SESSION_SECONDS, and what it says."""
    expires_at = int(time.time()) + settings.SESSION_SECONDS
    session = Session(conversation.pk, channel.key, expires_at)
    return signing.dumps([str(conversation.pk), channel.key, expires_at], salt=SALT), session


def read_session(token: str) -> Session | None:
    """What a session token says, expired or not; None unless we signed it."""
    try:
        match signing.loads(token, salt=SALT):
            case [str() as conversation_id, str() as channel, int() as expires_at]:
                return Session(UUID(conversation_id), channel, expires_at)
            case _:
                return None
    except (signing.BadSignature, ValueError):
        return None


def identity_of(user_token: str, channel: Channel) -> Identity | Rejected:
    """The ``business`` claim of a user token that the channel's own key signed and that has not expired.

    The algorithm is ours to choose, never the token's; ``exp`` is required; the claim is an object of short
    texts and integers.
    """
    key = key_of(channel)
    if not key:
        log.warning("channel %s got a user token and has no key for it (%s)", channel, channel.jwt_secret_env)
        return Rejected("the channel accepts no user tokens")
    if len(user_token) > MAX_TOKEN:
        return Rejected("the user token is too long")
    try:
        claims = jwt.decode(user_token, key, algorithms=[ALGORITHM], options={"require": ["exp"]})
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
        # PyJWT leaves some malformed claims and headers to the errors of the built-ins.
        return Rejected(f"the user token is not valid: {error}")
    return _business(claims)


def _business(claims: Mapping[str, object]) -> Identity | Rejected:
    business = claims.get("business")
    if not isinstance(business, dict) or len(business) > MAX_CLAIMS:
        return Rejected('the claim "business" must be an object')
    identity: Identity = {}
    for name, value in business.items():
        if not _is_short(name, MAX_NAME) or not (_is_short(value, MAX_VALUE) or _is_integer(value)):
            return Rejected('the claim "business" holds something else than short texts and integers')
        identity[name] = value
    return identity


def _is_short(value: object, length: int) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= length and value.isprintable()


def _is_integer(value: object) -> bool:
    return type(value) is int and abs(value) < 2**63


def allows_origin(channel: Channel, origin: str | None) -> bool:
    """Whether a page of ``origin`` (scheme://host[:port], as a browser sends it) may talk in ``channel``.

    No pattern, and no "null": only what the channel lists, letter for letter.
    """
    if origin is None:
        return channel.allow_no_origin
    return "://" in origin and isinstance(channel.origins, list) and origin in channel.origins


def is_known_origin(origin: str | None) -> bool:
    """Whether any channel lets ``origin`` in: asked before the client has said which one it wants."""
    return any(allows_origin(channel, origin) for channel in Channel.objects.all())


def identity_named(customer: str) -> Identity:
    """The identity of a customer whom only the demo page and the terminal know."""
    return {"customer_key": customer, "contract_key": customer}


def mint_user_token(channel: Channel, identity: Identity, *, seconds: int) -> str | None:
    """A user token as the channel's site would sign it, for demo page and terminal; None without a key."""
    key = key_of(channel)
    if not key:
        return None
    return jwt.encode({"exp": int(time.time()) + seconds, "business": identity}, key, algorithm=ALGORITHM)


def key_of(channel: Channel) -> str:
    """The key of the channel's user tokens: the environment variable that the channel names; else empty.

    In development a demo that runs in another terminal has kept its key in the data directory.
    """
    name = channel.jwt_secret_env
    if not name.isidentifier():
        return ""
    kept = Path(settings.DATA_DIR) / name.lower()
    if not os.environ.get(name) and not settings.IS_PRODUCTION and kept.is_file():
        return kept.read_text().strip()
    return os.environ.get(name, "")
