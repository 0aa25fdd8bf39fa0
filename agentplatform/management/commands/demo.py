"""``manage.py demo`` (``make demo``): the whole product from one terminal, with everything under DATA_DIR."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentplatform import demo
from agentplatform.children import ChildFailed, Children, port_near

PORTS = {"server": 8000, "contas": 8101, "pedidos": 8102, "model": 8200}


class Command(BaseCommand):
    help = "Migrates, fills in demo data and runs server, worker, demo MCP servers and offline model together."
    # Speed: the checks run once, in the server.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", PORTS["server"])))

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        if settings.IS_PRODUCTION:
            raise CommandError("the demo is for development; unset ENVIRONMENT")
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, leave)
        children = Children(Path(settings.DATA_DIR).resolve() / "logs", settings.BASE_DIR)
        # Two demos on one directory would publish each other's addresses.
        lock = demo.lock(Path(settings.DATA_DIR))
        if lock is None:
            raise CommandError(f"a demo already runs on {settings.DATA_DIR}; stop it, or set DATA_DIR to another one")
        try:
            self.run(children, host, port)
        except ChildFailed as error:
            raise CommandError(str(error)) from error
        finally:
            children.end(first="server")
            lock.close()

    def run(self, children: Children, host: str, port: int) -> None:
        """Start everything in order, say so, and stay until the server ends."""
        ports = self.ports(port)
        installation = demo.Installation(Path(settings.DATA_DIR).resolve(), host, ports)
        self.done(f"data in {settings.DATA_DIR}")
        installation.start_helpers(children)
        demo.migrate()
        self.done("database migrated")
        for name in installation.helpers:
            children.wait_until_listening(name, ports[name])
        self.done(f"started {', '.join(installation.helpers)}")
        release = installation.publish()
        self.done(f"definitions: release {release}")
        password = installation.fill_in()
        self.done(f'channel "{demo.CHANNEL}", groups, user "{demo.USER}"')
        installation.start_server(children)
        children.wait_until_listening("server", ports["server"])
        self.done(f"serving; logs in {children.logs}")
        self.stdout.write(demo.boxed(installation.summary(password)))
        self.stdout.write("Stop with Ctrl-C.")
        self.stdout.flush()
        status = children.wait_for("server")
        raise ChildFailed(f"the server ended with {status}; read {children.logs / 'server.log'}")

    def ports(self, wanted: int) -> dict[str, int]:
        """A free port for every process, the usual one where it is free."""
        found: dict[str, int] = {}
        for name, usual in (PORTS | {"server": wanted}).items():
            found[name] = port_near(usual)
            if found[name] != usual:
                self.stdout.write(f"  port {usual} is taken: {name} listens on {found[name]}")
        return found

    def done(self, step: str) -> None:
        self.stdout.write(f"  {self.style.SUCCESS('✓')} {step}")
        self.stdout.flush()


def leave(_number: int, _frame: FrameType | None) -> NoReturn:
    """End through the ``finally`` of the command, so that the children end, too."""
    sys.exit(0)
