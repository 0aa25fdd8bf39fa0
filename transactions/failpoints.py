"""Named crash points of the write path, set by the environment variable FAILPOINT; off in production.

``FAILPOINT="sent:kill"`` kills the process where ``hit("sent")`` stands; ``raise`` raises, ``hang`` never returns.
Several are separated by commas. The points: claimed, sent, answered, recorded, accounted, turn_read.
"""

from __future__ import annotations

import os
import signal
import threading


class FailpointHit(Exception):
    """The failure that ``raise`` simulates."""


def active() -> dict[str, str]:
    """name → action, as the environment sets them; empty in production."""
    from django.conf import settings

    if settings.IS_PRODUCTION:
        return {}
    pairs = (entry.partition(":") for entry in os.environ.get("FAILPOINT", "").split(",") if entry)
    return {name.strip(): action.strip() or "kill" for name, _, action in pairs}


def hit(name: str) -> None:
    """Do what the environment asks for at this point; nothing by default."""
    if "FAILPOINT" not in os.environ:
        return
    match active().get(name):
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise FailpointHit(name)
        case "hang":
            threading.Event().wait()
