"""The one door to MCP: the port ToolGateway over the SDK, for any number of threads (runtime.md §9.4).

One event loop in one thread of the process serves every call; clients are pooled there.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import warnings
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from jsonschema.exceptions import SchemaError, best_match
from jsonschema.validators import validator_for
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import CallToolRequest, CallToolRequestParams, Tool
from pydantic import BaseModel
from referencing import Registry
from referencing.exceptions import Unresolvable

from tooling.cleaning import clean_json, clean_text
from tooling.gateway import Answered, Call, NoAnswer, NotSent, Outcome, RemoteTool
from tooling.mcp_answers import Mark, outcome_of
from tooling.mcp_pool import CLOSE_SECONDS, LISTING_SECONDS, Connection, Pool
from tooling.mcp_targets import target_of
from tooling.mcp_transport import current_mark, described
from tooling.specs import JSON, ServerSpec

SPARE_SECONDS = 10.0
"""How much longer than a call's own time its thread waits for the loop before it gives the loop up."""

T = TypeVar("T")

# The SDK logs what a server sent, word by word, when it cannot parse it, and session ids as information.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)
logging.getLogger("httpx2").setLevel(logging.WARNING)
warnings.filterwarnings("ignore", category=MCPDeprecationWarning)


class _AnyResult(BaseModel):
    """What the SDK may make of a result: it is not read."""


@dataclass(eq=False)
class McpGateway:
    """Calls tools of real servers. ``mode``: "auto" speaks the 2026 protocol or else 2025, "legacy" only 2025."""

    mode: str = "auto"
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._pool = Pool(self.mode)

    def call(self, call: Call) -> Outcome:
        """Post the call at most once and wait for it; never raises for anything the network or the server does."""
        done = self._run(self._call(call), call.timeout + SPARE_SECONDS)
        if done is None:
            return NoAnswer("the calls of this process do not move on")
        outcome, connection = done
        if not isinstance(outcome, Answered) or outcome.is_error or connection is None:
            return outcome
        return replace(outcome, schema_error=self._schema_error(connection, call.tool, outcome))

    def list_tools(self, server: ServerSpec, timeout: float = 10.0) -> Sequence[RemoteTool] | NotSent | NoAnswer:
        """The tools that ``server`` offers now."""
        found = self._run(self._list(server, seconds=timeout), timeout + SPARE_SECONDS)
        return NoAnswer("the calls of this process do not move on") if found is None else found

    def close(self) -> None:
        """Close every client and end the thread; the next call would start anew."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        pool, self._pool = self._pool, Pool(self.mode)
        closing = asyncio.run_coroutine_threadsafe(pool.close(), loop)
        try:
            closing.result(CLOSE_SECONDS + 2)
        except TimeoutError:
            closing.cancel()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(2)

    def _run(self, work: Coroutine[Any, Any, T], seconds: float) -> T | None:
        """Run ``work`` on the loop; None where it did not end in time."""
        future = asyncio.run_coroutine_threadsafe(work, self._running_loop())
        try:
            return future.result(seconds)
        except TimeoutError:
            future.cancel()
            return None

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=loop.run_forever, name="mcp", daemon=True)
                self._thread.start()
            return self._loop

    async def _call(self, call: Call) -> tuple[Outcome, Connection | None]:
        target = target_of(call.server)
        if isinstance(target, NotSent):
            return target, None
        deadline = asyncio.get_running_loop().time() + call.timeout
        taken = await self._pool.take(target, call.timeout)
        if isinstance(taken, NotSent):
            return taken, None
        connection, client = taken
        mark = Mark(seconds=call.timeout)
        current_mark.set(mark)
        sending = asyncio.create_task(_send(client, call))
        sending.add_done_callback(lambda _: connection.give_back())
        # Not wait_for: that would also wait until the SDK has told the server that it gives up.
        await asyncio.wait({sending}, timeout=max(0.0, deadline - asyncio.get_running_loop().time()))
        trouble = f"no answer within {call.timeout:g} s"
        if sending.done() and not sending.cancelled():
            trouble = sending.result()
        sending.cancel()
        outcome = outcome_of(mark, trouble)
        if not isinstance(outcome, Answered):
            _retire_if_lost(connection, mark)
        return outcome, connection

    async def _list(self, server: ServerSpec, *, seconds: float) -> Sequence[RemoteTool] | NotSent | NoAnswer:
        target = target_of(server)
        if isinstance(target, NotSent):
            return target
        taken = await self._pool.take(target, seconds)
        if isinstance(taken, NotSent):
            return taken
        connection, client = taken
        try:
            async with asyncio.timeout(seconds):
                return [_remote(tool) for tool in await connection.list_tools(client.session)]
        except TimeoutError:
            return NoAnswer(f"no answer within {seconds:g} s")
        except Exception as error:  # the SDK raises its own, pydantic's and anyio's errors for what a server answers
            connection.retire()
            return NoAnswer(target.hidden(described(error)))
        finally:
            connection.give_back()

    def _schema_error(self, connection: Connection, tool: str, answer: Answered) -> str:
        """How ``answer`` breaks the tool's output schema, read anew where the known one says so."""
        schema = connection.schemas.get(tool)
        if schema is None or not schema_error(schema, answer):
            return ""
        self._run(_refresh(connection), LISTING_SECONDS + 1)
        newest = connection.schemas.get(tool)
        return schema_error(newest, answer) if newest is not None else ""


def schema_error(schema: Mapping[str, JSON], answer: Answered) -> str:
    """How the structured content of ``answer`` breaks ``schema``; empty where it does not."""
    if answer.raw.get("structuredContent") is None:
        return "the tool declares an output schema, but the answer has no structured content"
    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
        error = best_match(kind(schema, registry=Registry()).iter_errors(answer.raw["structuredContent"]))
    except (SchemaError, Unresolvable, RecursionError) as problem:
        return clean_text(f"the tool's output schema is invalid: {problem}")[:500]
    return clean_text(f"{error.json_path}: {error.message}")[:500] if error is not None else ""


async def _send(client: Client, call: Call) -> str:
    """Send the call and wait for the SDK to be done with it; how it ended if it failed. The mark holds the answer.

    Not with ``call_tool`` of the SDK: that one sends again after some errors, and lists tools after the effect.
    """
    params = CallToolRequestParams(
        name=call.tool, arguments=clean_json(dict(call.arguments)), _meta=clean_json(dict(call.meta)) or None
    )
    try:
        await client.session.send_request(
            CallToolRequest(params=params), _AnyResult, request_read_timeout_seconds=call.timeout + 5
        )
    except Exception as error:  # what the SDK makes of an answer does not matter: the transport kept it
        return described(error)
    return ""


async def _refresh(connection: Connection) -> None:
    client = connection.opened.result()
    if isinstance(client, NotSent):
        return
    try:
        async with asyncio.timeout(LISTING_SECONDS):
            await connection.list_tools(client.session)
    except Exception as error:  # a listing that fails leaves the schemas as they were
        logging.getLogger(__name__).info("listing tools again failed: %s", type(error).__name__)


def _retire_if_lost(connection: Connection, mark: Mark) -> None:
    """Open the next client anew where this one may have lost its server: a session is gone after a restart."""
    has_session = connection.http is None or connection.http.has_session
    if mark.status in (400, 404) or (mark.error and has_session):
        connection.retire()


def _remote(tool: Tool) -> RemoteTool:
    annotations = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else {}
    return RemoteTool(
        name=clean_text(tool.name),
        description=clean_text(tool.description or ""),
        input_schema=clean_json(tool.input_schema),
        output_schema=None if tool.output_schema is None else clean_json(tool.output_schema),
        annotations=clean_json(annotations),
        meta=clean_json(dict(tool.meta or {})),
    )


_gateways: dict[int, McpGateway] = {}
_lock = threading.Lock()


def gateway() -> McpGateway:
    """The gateway of this process; a forked child makes its own, because threads do not survive a fork."""
    with _lock:
        if os.getpid() not in _gateways:
            _gateways.clear()
            _gateways[os.getpid()] = McpGateway()
        return _gateways[os.getpid()]


def close() -> None:
    """Close the gateway of this process, if it has one."""
    with _lock:
        ours = _gateways.pop(os.getpid(), None)
    if ours is not None:
        ours.close()
