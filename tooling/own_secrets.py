"""Which variables of the environment definitions never send anywhere: what this installation itself rests on.

Definitions are edited by people who may not read the environment; a reference to one of these would hand it to a
server of their choice.
"""

from __future__ import annotations

import re

REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""How a value of a definition names a variable."""

OWN_SECRETS = frozenset({"SECRET_KEY", "EVIDENCE_KEY", "DATABASE_URL", "REDIS_URL", "POSTGRES_PASSWORD"})


def own_secret_in(value: str) -> str:
    """The first of OWN_SECRETS that ``value`` refers to; "" if it refers to none."""
    return next((name for name in REFERENCE.findall(value) if name in OWN_SECRETS), "")
