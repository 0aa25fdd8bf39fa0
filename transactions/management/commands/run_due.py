"""``manage.py run_due``: the sweeper as a process of its own, with Celery or without it (contracts.md §1)."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from transactions import outbox, sweeper


class Command(BaseCommand):
    help = "Runs whatever is due, once or, with --loop, until it is told to stop."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--loop", action="store_true", help="go on until SIGTERM or Ctrl-C")

    def handle(self, *args: Any, loop: bool, **options: Any) -> None:
        if not loop:
            self.stdout.write(f"{sweeper.run_once()} due")
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: stop.set())
        self.stdout.write("Running due work; stop with Ctrl-C")
        self.stdout.flush()
        sweeper.loop(stop)
        outbox.shutdown()
