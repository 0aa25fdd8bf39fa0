"""A planned probe as a call: what the runtime would send, marked as a dry run (contracts.md §6). Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tooling.drift import fingerprint
from tooling.gateway import Call
from tooling.linting.answers import label_of
from tooling.linting.declarations import PREFIX
from tooling.linting.probes import Plan, Probe, Try
from tooling.specs import JSON, ToolSpec

DRY_RUN = PREFIX + "dry_run"
"""Sent with every call of a check, beside the mark that the server asks for."""
QUESTIONS = (Try.RECONCILED, Try.UNUSED_KEY)
"""Asked of the reconcile tool."""


def call_of(plan: Plan, probe: Probe, *, run: str, default_timeout: float) -> Call:
    """The call of ``probe``; ``run`` makes its keys new, so that no earlier check answers for this one."""
    subject = plan.subject
    timeout = subject.policy.timeout_seconds or default_timeout
    meta: dict[str, JSON] = {
        PREFIX + "idempotency_key": _key(probe, run),
        PREFIX + "transaction_id": f"lint-{run}",
        DRY_RUN: True,
    }
    if probe.kind in QUESTIONS:
        tool, server = subject.tool, subject.server
        if probe.kind is Try.RECONCILED and subject.reconciler and subject.reconciler_server:
            tool, server = subject.reconciler, subject.reconciler_server
        meta[PREFIX + "idempotency_key"] = f"{_key(probe, run)}-question"
        return Call(server, tool.name, _question(tool, probe, run), meta, timeout)
    arguments = {**probe.arguments, **_key_argument(plan, probe, run)}
    meta[PREFIX + "item_keys"] = [{"key": item.key, "label": item.label} for item in probe.items]
    meta[PREFIX + "request_digest"] = f"sha256:{fingerprint(arguments)}"
    if plan.sandbox is not None:
        arguments, meta = plan.sandbox.marked(arguments, meta)
    return Call(subject.server, subject.tool.name, arguments, meta, timeout)


def _key(probe: Probe, run: str) -> str:
    return f"lint-{run}-{probe.key}"


def _key_argument(plan: Plan, probe: Probe, run: str) -> Mapping[str, JSON]:
    """The key where the mapping puts it into an argument, too (runtime.md §9.3)."""
    name = plan.subject.mapping.map.get("idempotency_key")
    return {name: _key(probe, run)} if name else {}


def _question(tool: ToolSpec, probe: Probe, run: str) -> dict[str, JSON]:
    """What a reconcile tool is asked: the key of a call, and its items as it takes them."""
    argument = tool.argument("items")
    takes_texts = argument is not None and argument.items.get("type") == "string"
    asked = [
        item.label if takes_texts else {**_fields(item.value), "key": item.key, "label": item.label}
        for item in probe.items
    ]
    return {"idempotency_key": _key(probe, run), "items": asked}


def _fields(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, dict) else {"label": label_of(value)}


def shown(call: Call) -> str:
    """A call as people read it: its arguments, on one line."""
    return json.dumps(dict(call.arguments), ensure_ascii=False)
