"""Signs what leaves as evidence, with Ed25519; whoever has the public key can check it without asking us."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from transactions.core.bundles import signed_bytes

ALGORITHM = "Ed25519"
CONTEXT = b"agentplatform evidence Ed25519 1"
"""Keeps the key that is derived from SECRET_KEY apart from every other use of it."""


def public_key() -> str:
    """The base64 of the public key that belongs to this installation."""
    return _text(_private_key().public_key().public_bytes_raw())


def signed(content: Mapping[str, Any]) -> dict[str, Any]:
    """``content`` with its signature."""
    value = _text(_private_key().sign(signed_bytes(content)))
    return {**content, "signature": {"algorithm": ALGORITHM, "public_key": public_key(), "value": value}}


def signature_problem(bundle: Mapping[str, Any], *, expected_key: str | None = None) -> str | None:
    """Why the signature does not hold; None where it does.

    Without ``expected_key`` it shows only that nothing was changed after the key in the bundle signed it.
    """
    match bundle.get("signature"):
        case {"algorithm": "Ed25519", "public_key": str(key), "value": str(value)}:
            if expected_key is not None and key != expected_key:
                return f"it was signed with another key, {key}"
            return _problem_of(bundle, key=key, value=value)
    return f"it has no {ALGORITHM} signature"


def _problem_of(bundle: Mapping[str, Any], *, key: str, value: str) -> str | None:
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
        public.verify(base64.b64decode(value, validate=True), signed_bytes(bundle))
    except (ValueError, RecursionError) as error:
        return f"the key, the signature or the content is malformed: {error}"
    except InvalidSignature:
        return "the bundle was changed after it was signed, or signed with another key"
    return None


def _private_key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(_seed())


def _seed() -> bytes:
    """The 32 bytes of EVIDENCE_KEY, else derived from SECRET_KEY."""
    if not settings.EVIDENCE_KEY:
        return HKDF(algorithm=SHA256(), length=32, salt=None, info=CONTEXT).derive(settings.SECRET_KEY.encode())
    try:
        seed = base64.b64decode(settings.EVIDENCE_KEY, validate=True)
    except ValueError:
        seed = b""
    if len(seed) != 32:
        raise ImproperlyConfigured("EVIDENCE_KEY is not the base64 of 32 bytes; `openssl rand -base64 32` makes one")
    return seed


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
