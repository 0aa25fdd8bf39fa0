"""Everything that makes a set of definitions wrong or doubtful, wherever the set came from.

Pure: files, drafts, the admin and the API all ask ``check`` and show its findings in their own way.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from urllib.parse import parse_qsl, urlsplit

from tooling.checks_of_policies import check_policies
from tooling.checks_of_texts import check_texts
from tooling.checks_of_tools import check_mappings, check_tools
from tooling.checks_of_workflows import check_workflows
from tooling.findings import Finding, Findings, did_you_mean, warning
from tooling.own_secrets import REFERENCE, own_secret_in
from tooling.specs import Definitions, IntentSpec, OperationType, ProfileSpec, RouterSpec, ServerSpec, Transport

LONGEST_NAME = 100
LONGEST_ADDRESS = 500
NAME = re.compile(r"\w[\w.:-]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
SECRET_NAME = re.compile(
    r"authorization|cookie|token|secret|passw|pwd|credential|signature|(^|[-_])(api|access|private)?[-_]?key($|[-_])|"
    r"apikey|(^|[-_])auth($|[-_])",
    re.IGNORECASE,
)
SECRET_VALUE = re.compile(r"(?i)^\s*(bearer|basic|token)\s+\S|^(sk|pk|ghp|gho|xox[abp])[-_]\w{8,}|^eyJ[\w-]+\.[\w-]+\.")


def check(definitions: Definitions, *, stdio_commands: Collection[str] = ()) -> tuple[Finding, ...]:
    """All findings about ``definitions``; a set without errors among them may be published.

    ``stdio_commands``: the commands that a stdio server may start here (``MCP_STDIO_COMMANDS``).
    """
    return tuple(_all(definitions, stdio_commands))


def _all(definitions: Definitions, stdio_commands: Collection[str]) -> Findings:
    yield from _check_names(definitions)
    for server in definitions.servers.values():
        yield from check_server(server, stdio_commands)
    yield from check_tools(definitions)
    yield from check_texts(definitions)
    yield from check_policies(definitions)
    yield from check_mappings(definitions)
    for intent in definitions.intents.values():
        yield from _check_intent(intent, definitions)
    yield from check_router(definitions.router)
    for profile in definitions.profiles.values():
        yield from check_profile(profile)
    yield from check_workflows(definitions)


def _check_names(definitions: Definitions) -> Findings:
    sections: dict[str, Iterable[str]] = {
        "mcp_servers": definitions.servers,
        "tools": definitions.tools,
        "intents": definitions.intents,
        "profiles": definitions.profiles,
    }
    for section, names in sections.items():
        for name in names:
            yield from check_name(name, (section, name))
    for tool in definitions.tools.values():
        for name in tool.argument_names:
            yield from check_name(name, ("tools", tool.name, "args_schema", name))
    for name, version in definitions.workflows:
        yield from check_name(name, ("workflows", name, str(version), "name"))


def check_name(name: str, path: tuple[str, ...]) -> Findings:
    """Names are the identifiers that MCP servers, files and URLs carry: no spaces, no markup, nothing to escape."""
    if len(name) > LONGEST_NAME:
        yield Finding("name.too_long", f"a name of {len(name)} characters, the limit is {LONGEST_NAME}", path)
    elif not NAME.fullmatch(name):
        message = f'"{name}" is no name: use letters, digits, _ . - and :, with no spaces'
        yield Finding("name.malformed", message, path)


def secret_literal(name: str, value: str) -> bool:
    """Whether the header or variable ``name`` holds a secret itself and not a reference to one."""
    if REFERENCE.search(value) or not value.strip():
        return False
    return bool(SECRET_NAME.search(name) or SECRET_VALUE.search(value))


def check_server(server: ServerSpec, stdio_commands: Collection[str]) -> Findings:
    path = ("mcp_servers", server.name)
    if server.transport is Transport.STDIO:
        yield from _check_command(server, stdio_commands)
        if server.endpoint:
            yield warning("server.endpoint_unused", "endpoint is not used with stdio", (*path, "endpoint"))
    else:
        yield from check_address(server.endpoint, (*path, "endpoint"), "server.endpoint")
        if server.command:
            yield warning("server.command_unused", "command is used with stdio only", (*path, "command"))
    for kind, values in (("header", server.headers), ("env", server.env)):
        key = "headers" if kind == "header" else "env"
        for name, value in values.items():
            yield from _check_value(kind, name, value, (*path, key, name))


def _check_command(server: ServerSpec, stdio_commands: Collection[str]) -> Findings:
    path = ("mcp_servers", server.name, "command")
    if not server.command:
        yield Finding("server.command_missing", "a stdio server needs a command", path)
    elif server.command not in stdio_commands:
        message = f'command "{server.command}" is not in the list of allowed stdio commands (MCP_STDIO_COMMANDS)'
        yield Finding("server.command_not_allowed", message, path)
    if len(server.command) > LONGEST_ADDRESS:
        yield Finding("name.too_long", f"longer than {LONGEST_ADDRESS} characters", path)


def check_address(address: str, path: tuple[str, ...], code: str) -> Findings:
    """An http or https address with a host and without credentials; ``code`` begins the findings' codes."""
    if not address:
        yield Finding(f"{code}_missing", f"{path[-1]} is missing; give the server's http or https address", path)
        return
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        yield Finding(f"{code}_malformed", f'"{address}" is not an address', path)
        return
    if parts.scheme not in ("http", "https"):
        message = f'scheme "{parts.scheme}" is not allowed; use http or https'
        yield Finding(f"{code}_scheme", message, path)
    elif not host or any(letter.isspace() for letter in address):
        yield Finding(f"{code}_malformed", f'"{address}" is not an address', path)
    secrets = [name for name, value in parse_qsl(parts.query) if secret_literal(name, value)]
    if parts.username or parts.password or secrets:
        message = f"{path[-1]} holds a literal secret; send it in a header with a ${{ENV}} reference"
        yield Finding("server.secret_literal", message, path)
    if len(address) > LONGEST_ADDRESS:
        yield Finding("name.too_long", f"longer than {LONGEST_ADDRESS} characters", path)


def _check_value(kind: str, name: str, value: str, path: tuple[str, ...]) -> Findings:
    allowed = HEADER if kind == "header" else VARIABLE
    if not allowed.fullmatch(name):
        yield Finding("server.name_malformed", f'"{name}" is not the name of a {kind}', path)
    if "${" in REFERENCE.sub("", value):
        yield Finding("server.reference_malformed", f'{kind} "{name}": a reference is written ${{NAME}}', path)
    elif own := own_secret_in(value):
        message = f'{kind} "{name}" would send {own}, which belongs to this installation alone'
        yield Finding("server.own_secret", message, path)
    elif secret_literal(name, value):
        message = f'{kind} "{name}" holds a literal secret; use a ${{ENV}} reference'
        yield Finding("server.secret_literal", message, path)
    if any(letter in value for letter in "\r\n"):
        yield Finding("server.value_malformed", f'{kind} "{name}" must be one line', path)


def _check_intent(intent: IntentSpec, definitions: Definitions) -> Findings:
    path = ("intents", intent.name)
    for number, tool in enumerate(intent.mcp_tools):
        where = (*path, "mcp_tools", str(number))
        if tool not in definitions.tools:
            near = did_you_mean(tool, definitions.tools)
            yield Finding("intent.tool_unknown", f'mcp_tools "{tool}" is not in tools.yaml{near}', where)
        elif definitions.policy(tool).operation_type is OperationType.INTERNAL:
            message = f'tool "{tool}" is internal; it is never offered to users'
            yield warning("intent.tool_internal", message, where)
    if not intent.mcp_tools:
        message = f'intent "{intent.name}" names no tool; choosing it does nothing'
        yield warning("intent.no_tools", message, path)
    for key, what, texts in (("keywords", "keyword", intent.keywords), ("examples", "example", intent.examples)):
        for number, text in enumerate(texts):
            if not text.strip():
                message = f'intent "{intent.name}" has an empty {what}'
                yield Finding(f"intent.{what}_empty", message, (*path, key, str(number)))
    for key, text in (("domain", intent.domain), ("agent", intent.agent)):
        if len(text) > LONGEST_NAME:
            yield Finding("name.too_long", f"{key}: longer than {LONGEST_NAME} characters", (*path, key))


def check_router(router: RouterSpec) -> Findings:
    if not 0 <= router.confidence_threshold <= 1:
        message = f"confidence_threshold {router.confidence_threshold:g} is not between 0 and 1"
        yield Finding("router.threshold_range", message, ("router", "confidence_threshold"))
    for locale, phrases in router.confirmation_phrases.items():
        path = ("router", "confirmation_phrases", locale)
        rejected = {phrase.strip().casefold() for phrase in phrases.reject}
        for key, texts in (("confirm", phrases.confirm), ("reject", phrases.reject)):
            for number, text in enumerate(texts):
                if not text.strip():
                    yield Finding("router.phrase_empty", f"{key}: an empty phrase", (*path, key, str(number)))
                elif key == "confirm" and text.strip().casefold() in rejected:
                    message = f'"{text}" cannot both confirm and reject; remove one of them'
                    yield Finding("router.phrase_ambiguous", message, (*path, key, str(number)))


def check_profile(profile: ProfileSpec) -> Findings:
    path = ("profiles", profile.name)
    if profile.base_url:
        yield from check_address(profile.base_url, (*path, "base_url"), "profile.base_url")
    if profile.api_key_env and not VARIABLE.fullmatch(profile.api_key_env):
        message = "api_key_env must be the name of an environment variable, never the key itself"
        yield Finding("profile.secret_literal", message, (*path, "api_key_env"))
    if profile.temperature is not None and not 0 <= profile.temperature <= 2:
        message = f"temperature {profile.temperature:g} is not between 0 and 2"
        yield Finding("profile.temperature_range", message, (*path, "temperature"))
    if profile.timeout_seconds is not None and profile.timeout_seconds <= 0:
        message = f"timeout_seconds {profile.timeout_seconds:g} must be above 0"
        yield Finding("profile.timeout_range", message, (*path, "timeout_seconds"))
    if profile.max_tokens is not None and profile.max_tokens < 1:
        yield Finding("profile.max_tokens_range", "max_tokens must be above 0", (*path, "max_tokens"))
    for key, text in (("provider", profile.provider), ("api_key_env", profile.api_key_env)):
        if len(text) > LONGEST_NAME:
            yield Finding("name.too_long", f"{key}: longer than {LONGEST_NAME} characters", (*path, key))
    if len(profile.model) > 2 * LONGEST_NAME:
        yield Finding("name.too_long", f"model: longer than {2 * LONGEST_NAME} characters", (*path, "model"))
