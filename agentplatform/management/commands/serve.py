"""``manage.py serve``: the ASGI server; with ``--embedded`` worker and sweeper, too (contracts.md §1)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentplatform import server


class Command(BaseCommand):
    help = "Serves pages, API and chat; with --embedded also runs pre-validations, tool calls and the sweeper."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--embedded", action="store_true", help="run the due work in this process, too")
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", "8000")))
        parser.add_argument("--watch-stdin", action="store_true", help="end when standard input closes")

    def handle(self, *args: Any, embedded: bool, host: str, port: int, watch_stdin: bool, **options: Any) -> None:
        try:
            listener = server.listen(host, port)
        except OSError as error:
            raise CommandError(f"cannot listen on {host}:{port}: {error.strerror}; try --port") from error
        for warning in warnings(embedded=embedded):
            self.stderr.write(self.style.WARNING(warning))
        self.stdout.write(f"Serving on http://{host}:{listener.getsockname()[1]}")
        self.stdout.flush()
        if not settings.IS_PRODUCTION:
            # Development serves static files from their sources; the empty directory only keeps it quiet.
            Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)
        if watch_stdin:
            server.end_with_stdin()
        server.run(listener, embedded=embedded)


def warnings(*, embedded: bool) -> list[str]:
    """What this way of starting leaves out, in words that say what to do."""
    found = []
    if not embedded and not settings.REDIS_URL:
        found.append(
            "REDIS_URL is not set: turns are read here, but due work that nobody was woken for waits until "
            "`manage.py run_due --loop` runs, or start with --embedded."
        )
    if not settings.LLM_BASE_URL:
        found.append(
            "LLM_BASE_URL is not set: free text is not understood. Name an OpenAI-compatible endpoint, or "
            "start the offline demo model with `python -m tooling.demo.model --port 8200`."
        )
    return found
