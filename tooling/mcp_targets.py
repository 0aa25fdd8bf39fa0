"""Where a server really is: references to the environment resolved, and what this installation does not connect to."""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from tooling.gateway import NotSent
from tooling.own_secrets import REFERENCE, own_secret_in
from tooling.specs import ServerSpec, Transport

SHORTEST_SECRET = 4
"""Characters; what is shorter would take every other word of a text with it."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server with its secrets in place: one pooled client each. Never printed or logged."""

    transport: Transport
    endpoint: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    command: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()

    def hidden(self, text: str) -> str:
        """``text`` without the values of headers and variables, as they are or as an error quotes them."""
        held = [value for name, value in (*self.headers, *self.env) if name != "PATH"]
        secrets = {one for value in held for one in (value, *value.split()) if len(one) >= SHORTEST_SECRET}
        written = {one for secret in secrets for one in (secret, repr(secret)[1:-1])}
        for one in sorted(written, key=len, reverse=True):
            text = text.replace(one, "***")
        return text


class _Unset(Exception):
    """The variable that a reference names is not set; the argument is its name."""


def target_of(server: ServerSpec, environment: Mapping[str, str] = os.environ) -> Target | NotSent:
    """The target of ``server``, or why it is not connected to however often one tries (contracts.md §5)."""
    own = next(filter(None, map(own_secret_in, (*server.headers.values(), *server.env.values()))), "")
    if own:
        return NotSent(f"{own} belongs to this installation and is not sent to a server", again=False)
    try:
        headers, env = _resolved(server.headers, environment), _resolved(server.env, environment)
    except _Unset as unset:
        return NotSent(f"environment variable {unset} is not set", again=False)
    if server.transport == Transport.STDIO:
        return _child(server, env, environment)
    refusal = _refusal_of_endpoint(server.endpoint, is_production=is_production(environment))
    if refusal:
        return NotSent(refusal, again=False)
    return Target(Transport.STREAMABLE_HTTP, endpoint=server.endpoint, headers=headers)


def is_production(environment: Mapping[str, str] = os.environ) -> bool:
    return environment.get("ENVIRONMENT", "development") == "production"


def refusal_of_addresses(endpoint: str) -> str:
    """Why production does not connect to what the name in ``endpoint`` stands for; empty where it does.

    Asks the name service and may take its time.
    """
    parts = urlsplit(endpoint)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except OSError:
        return ""  # connecting fails on its own, and may succeed later
    return next(filter(None, (_refusal_of_address(str(entry[4][0])) for entry in found)), "")


def _resolved(values: Mapping[str, str], environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    def value(found: re.Match[str]) -> str:
        held = environment.get(found[1], "")
        if not held:
            raise _Unset(found[1])
        return held

    return tuple((name, REFERENCE.sub(value, text)) for name, text in sorted(values.items()))


def _child(server: ServerSpec, env: tuple[tuple[str, str], ...], environment: Mapping[str, str]) -> Target | NotSent:
    allowed = [command.strip() for command in environment.get("MCP_STDIO_COMMANDS", "").split(",")]
    if not server.command or server.command not in allowed:
        return NotSent(f'command "{server.command}" is not in MCP_STDIO_COMMANDS', again=False)
    path = environment.get("PATH", os.defpath)
    # "python" means the interpreter that the product runs on, also where no environment was activated.
    own = os.pathsep.join([os.path.dirname(sys.executable), path])
    command = shutil.which(server.command, path=own) or server.command
    whole = {"PATH": path} | dict(env)
    return Target(Transport.STDIO, command=(command, *server.args), env=tuple(sorted(whole.items())))


def _refusal_of_endpoint(endpoint: str, *, is_production: bool) -> str:
    try:
        parts = urlsplit(endpoint)
        is_address = bool(parts.hostname) and parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        return "the endpoint is not an http or https address"
    if not is_production:
        return ""
    if parts.scheme != "https":
        return "production connects to https endpoints only"
    host = str(parts.hostname).rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return "production does not connect to its own machine"
    return _refusal_of_address(host)


def _refusal_of_address(host: str) -> str:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return ""
    mapped = getattr(address, "ipv4_mapped", None) or address
    if mapped.is_loopback or mapped.is_unspecified:
        return "production does not connect to its own machine"
    return "production does not connect to link-local addresses" if mapped.is_link_local else ""
