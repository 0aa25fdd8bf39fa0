"""Keeping a lease alive while a call runs, so that a dead worker is noticed soon and a slow call is not."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import connection

log = logging.getLogger(__name__)


@contextmanager
def kept_alive(renew: Callable[[], None]) -> Iterator[None]:
    """Call ``renew`` from a thread of its own, three times per lease, until the block ends."""
    done = threading.Event()

    def keep() -> None:
        try:
            while not done.wait(settings.LEASE_SECONDS / 3):
                try:
                    renew()
                except DatabaseTrouble as error:
                    # The lease may run out; then the answer arrives late, which is provided for.
                    log.warning("a lease could not be renewed: %s", error)
                    connection.close()  # a broken connection does not mend: the next try makes a new one
        finally:
            connection.close()

    thread = threading.Thread(target=keep, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
