"""Writing down what is known although the database goes away meanwhile: nobody else knows it (runtime.md §9.2)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.db import InterfaceError, OperationalError, connection

log = logging.getLogger(__name__)

KEEP_SECONDS = 300.0
"""How long the outcome of a call is kept in hand while the database cannot take it."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 5.0


def written(write: Callable[[], None]) -> None:
    """Call ``write`` until the database has taken it, each time on a new connection.

    ``write`` may have been committed although it raised, so it must be harmless to repeat. After KEEP_SECONDS, and
    inside somebody else's transaction, the last error is raised.
    """
    deadline, pause = time.monotonic() + KEEP_SECONDS, FIRST_PAUSE_SECONDS
    while True:
        try:
            write()
            return
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or time.monotonic() > deadline:
                raise
            log.warning("the outcome of a call could not be written and is kept: %s", error)
        connection.close()
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
