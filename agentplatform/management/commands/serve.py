"""``manage.py serve``: the ASGI server; with ``--embedded`` worker and sweeper, too (contracts.md §1)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentplatform import health, server
from agentplatform.children import ChildFailed, Children, port_near


class Command(BaseCommand):
    help = "Serves pages, API and chat; with --embedded also runs pre-validations, tool calls and the sweeper."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--embedded", action="store_true", help="run the due work in this process, too")
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", "8000")))
        parser.add_argument("--watch-stdin", action="store_true", help="end when standard input closes")

    def handle(self, *args: Any, embedded: bool, host: str, port: int, watch_stdin: bool, **options: Any) -> None:
        try:
            listener = server.bound(host, port)
        except OSError as error:
            raise CommandError(f"cannot listen on {host}:{port}: {error.strerror}; try --port") from error
        if trouble := health.check_migrations():
            raise CommandError(trouble)
        if not settings.LLM_BASE_URL and (not settings.IS_PRODUCTION or settings.ALLOW_OFFLINE_MODEL):
            start_offline_model()
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


def start_offline_model() -> None:
    """Have the bundled offline model answer where no other endpoint is named (contracts.md §1)."""
    children = Children(Path(settings.DATA_DIR).resolve() / "logs", settings.BASE_DIR)
    port = port_near(0)
    children.start("model", ["-m", "tooling.demo.model", "--port", str(port), "--watch-stdin"])
    try:
        children.wait_until_listening("model", port)
    except ChildFailed as error:
        raise CommandError(str(error)) from error
    settings.LLM_BASE_URL = f"http://127.0.0.1:{port}/v1"
    settings.LLM_MODEL = "offline-demo"
    settings.OFFLINE_MODEL = True


def warnings(*, embedded: bool) -> list[str]:
    """What this way of starting leaves out, in words that say what to do."""
    found = []
    if not embedded and not settings.REDIS_URL:
        found.append(
            "REDIS_URL is not set: turns are read here, but due work that nobody was woken for waits until "
            "`manage.py run_due --loop` runs, or start with --embedded."
        )
    if settings.OFFLINE_MODEL:
        found.append("The offline demo model answers; LLM_BASE_URL names an OpenAI-compatible endpoint instead.")
    elif not settings.LLM_BASE_URL:
        found.append("LLM_BASE_URL is not set: free text is not understood. Name an OpenAI-compatible endpoint.")
    return found
