"""What ``make demo`` sets up: secrets, demo servers, offline model, definitions, channel and administrator."""

from __future__ import annotations

import dataclasses
import fcntl
import os
import secrets
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.management import call_command

from agentplatform.children import Children, kept_secret
from tooling import catalog, publishing, yaml_io
from tooling.specs import Definitions

CHANNEL = "demo"
USER = "demo"
SECRET_ENV = "DEMO_JWT_SECRET"
SERVERS = ("contas", "pedidos")
DEFINITIONS = Path(settings.BASE_DIR) / "tooling" / "demo" / "definitions"


class InvalidDefinitions(Exception):
    """The shipped sets do not read; the message lists every problem with its place."""


@dataclass(frozen=True)
class Installation:
    """One demo in ``data``; ``ports`` by the name of the process that listens."""

    data: Path
    host: str
    ports: dict[str, int]

    @cached_property
    def tokens(self) -> dict[str, str]:
        """The bearer token of each MCP server, by the variable that the definitions name."""
        return {token_variable(name): kept_secret(self.data / f"mcp_token_{name}") for name in SERVERS}

    @property
    def is_offline(self) -> bool:
        """Whether the bundled offline model answers."""
        return not settings.LLM_BASE_URL

    @property
    def helpers(self) -> tuple[str, ...]:
        """The processes beside the server."""
        return (*SERVERS, "model") if self.is_offline else SERVERS

    def start_helpers(self, children: Children) -> None:
        for name in SERVERS:
            variable = token_variable(name)
            arguments = ["-m", f"tooling.demo.{name}", "--transport", "streamable-http"]
            arguments += ["--port", str(self.ports[name]), "--ledger", str(self.data / f"{name}_ledger.json")]
            arguments += ["--token-env", variable, "--faults", "--watch-stdin"]
            children.start(name, arguments, {variable: self.tokens[variable]})
        if self.is_offline:
            arguments = ["-m", "tooling.demo.model", "--port", str(self.ports["model"]), "--watch-stdin"]
            children.start("model", arguments)

    def start_server(self, children: Children) -> None:
        arguments = ["manage.py", "serve", "--embedded", "--watch-stdin"]
        arguments += ["--host", self.host, "--port", str(self.ports["server"])]
        children.start("server", arguments, self.environment)

    @cached_property
    def environment(self) -> dict[str, str]:
        """What the server needs beyond our own environment."""
        found = self.tokens | {
            "DATA_DIR": str(self.data),
            SECRET_ENV: kept_secret(self.data / "demo_jwt_secret"),
        }
        if self.is_offline:
            found |= {
                "LLM_BASE_URL": f"http://127.0.0.1:{self.ports['model']}/v1",
                "LLM_API_KEY": "offline",
                "LLM_MODEL": "offline-demo",
                "OFFLINE_MODEL": "1",
            }
        return found

    def publish(self) -> int:
        """The number of a release whose servers stand on our ports: the newest, or one made now.

        At the first start the shipped sets; later what was published since, with nothing but the addresses changed.
        """
        newest = catalog.newest()
        if newest is None:
            self.write(wanted := self.at_our_ports(shipped()))
            return publishing.install(wanted, comment="The demo, as shipped", author=USER).number
        wanted = self.at_our_ports(newest.definitions)
        if wanted == newest.definitions:
            return newest.number
        # What somebody was editing moves too, and is not published with it.
        self.write(self.at_our_ports(publishing.draft()))
        return publishing.install(wanted, comment="The demo servers moved to other ports", author=USER).number

    @staticmethod
    def write(definitions: Definitions) -> None:
        publishing.change_draft(definitions, kinds=publishing.ALL_KINDS, author=USER, via=publishing.Via.SETUP)

    def at_our_ports(self, definitions: Definitions) -> Definitions:
        """``definitions`` with the demo servers' addresses as they are at this start."""
        moved = {
            name: dataclasses.replace(definitions.servers[name], endpoint=f"http://127.0.0.1:{self.ports[name]}/mcp")
            for name in SERVERS
            if name in definitions.servers
        }
        return dataclasses.replace(definitions, servers={**definitions.servers, **moved})

    def fill_in(self) -> str:
        """Create or update channel, groups and administrator; the password, or "" when the user existed."""
        origins = [f"http://{host}:{self.ports['server']}" for host in ("127.0.0.1", "localhost")]
        arguments = [argument for origin in origins for argument in ("--origin", origin)]
        arguments += ["--jwt-secret-env", SECRET_ENV, "--anonymous", "--allow-no-origin", "--update"]
        with open(os.devnull, "w") as nowhere:
            call_command("channel", "create", CHANNEL, *arguments, stdout=nowhere)
        return create_administrator()

    def summary(self, password: str) -> list[tuple[str, str]]:
        site = f"http://{self.host}:{self.ports['server']}"
        shown = password or "as shown at the first start; reset: manage.py changepassword demo"
        return [
            ("Chat", f"{site}/demo"),
            ("Console", f"{site}/console/"),
            ("Admin", f"{site}/admin/"),
            ("User", USER),
            ("Password", f"{password}   (shown only now)" if password else shown),
            ("Mode", "embedded: server and worker in one process"),
            ("Model", "offline demo model" if self.is_offline else settings.LLM_BASE_URL),
        ]


def lock(data: Path) -> IO[str] | None:
    """The lock of the demo on ``data``, held until it is closed or this process ends; None if another demo has it."""
    data.mkdir(parents=True, exist_ok=True)
    file = (data / "demo.lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def token_variable(server: str) -> str:
    """The environment variable that holds the bearer token of ``server``, as the shipped sets name it."""
    return f"{server.upper()}_MCP_TOKEN"


def shipped() -> Definitions:
    """The definition sets that come with the demo servers."""
    reading = yaml_io.read_sets([path for path in sorted(DEFINITIONS.iterdir()) if path.is_dir()])
    if reading.definitions is None:
        raise InvalidDefinitions("\n".join(str(problem) for problem in reading.problems))
    return reading.definitions


def migrate() -> None:
    call_command("migrate", verbosity=0, interactive=False)


def create_administrator() -> str:
    """A superuser with a random password; "" when there is one already."""
    from django.contrib.auth import get_user_model

    users = get_user_model()._default_manager
    if users.filter(username=USER).exists():
        return ""
    password = secrets.token_urlsafe(12)
    users.create_superuser(USER, password=password)
    return password


def boxed(rows: list[tuple[str, str]]) -> str:
    """``rows`` as a box of two columns."""
    left = max(len(name) for name, _ in rows)
    lines = [f" {name.ljust(left)}  {text} " for name, text in rows]
    width = max(len(line) for line in lines)
    middle = "\n".join(f"│{line.ljust(width)}│" for line in lines)
    return f"\n╭{'─' * width}╮\n{middle}\n╰{'─' * width}╯"
