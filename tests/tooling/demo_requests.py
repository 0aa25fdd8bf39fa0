"""The requests that the platform would send to a language model, built from the definition sets of the tests."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from tests.loading import DEFINITIONS
from tooling import yaml_io
from tooling.specs import Definitions, ToolSpec
from transactions.core.confirmation import reply_request
from transactions.core.parameters import extraction_request
from transactions.core.routing import ActiveTransaction, routing_request
from transactions.core.statuses import Status

SETS = ("contas", "pedidos", "biblioteca")


@cache
def definitions(*names: str) -> Definitions:
    reading = yaml_io.read_sets([DEFINITIONS / name for name in names], stdio_commands=("python",))
    assert reading.definitions is not None, reading.problems
    return reading.definitions


def tool_named(name: str) -> ToolSpec:
    return next(found for each in SETS if (found := definitions(each).tools.get(name)))


def question_for(tool: ToolSpec, name: str, locale: str) -> str:
    """What the platform asks for a pending parameter."""
    argument = tool.argument(name)
    assert argument is not None
    return argument.user_prompt.in_locale(locale)


def collecting(
    tool_name: str,
    message: str,
    *,
    pending: Sequence[str] = (),
    known: Mapping[str, Any] | None = None,
    locale: str = "pt-BR",
    last: str | None = None,
) -> dict[str, Any]:
    """The extraction request of a turn that answers the question for the first pending name."""
    tool = tool_named(tool_name)
    names = tuple(pending) or required(tool_name)
    asked = question_for(tool, names[0], locale) if last is None else last
    return extraction_request(tool, names, known or {}, message=message, last_assistant_message=asked, locale=locale)


def opening(tool_name: str, message: str, *, locale: str = "pt-BR", last: str | None = None) -> dict[str, Any]:
    """The extraction request of the turn that opens a transaction."""
    tool = tool_named(tool_name)
    names = required(tool_name)
    return extraction_request(tool, names, {}, message=message, last_assistant_message=last, locale=locale)


def required(tool_name: str) -> tuple[str, ...]:
    return next(each.policies[tool_name].requires for name in SETS if tool_name in (each := definitions(name)).tools)


def routing(
    message: str,
    *,
    sets: Sequence[str],
    locale: str = "pt-BR",
    active: tuple[str, Mapping[str, Any], Sequence[str]] | None = None,
    status: Status = Status.COLLECTING_PARAMETERS,
    last: str | None = None,
) -> dict[str, Any]:
    """The routing request; ``active`` is (tool, known, pending)."""
    given = active and ActiveTransaction(tool_named(active[0]), status, active[1], tuple(active[2]))
    intents = [intent for intent in definitions(*sets).intents.values() if intent.enabled]
    return routing_request(message, active=given, intents=intents, last_assistant_message=last, locale=locale)


def replying(
    message: str,
    *,
    tool_name: str,
    labels: Sequence[str],
    parameters: Mapping[str, Any],
    text: str = "Confirma?",
    locale: str = "pt-BR",
) -> dict[str, Any]:
    """The request that reads a reply to a confirmation; the items' keys are k1, k2, …"""
    items = [{"key": f"k{place}", "label": label, "eligible": True} for place, label in enumerate(labels, 1)]
    return reply_request(
        tool=tool_named(tool_name),
        message=message,
        confirmation_text=text,
        items=items,
        parameters=parameters,
        locale=locale,
    )
