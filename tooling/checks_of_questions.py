"""Whether customers can give what a policy collects from them: a question in words, a value that can be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tooling.findings import Findings, warning
from tooling.folding import fold
from tooling.specs import JSON, ArgumentSpec, ArgumentType, Definitions, OperationType

BLANK = frozenset({"", "null", "n/a"})
"""What a model writes where it read nothing (runtime.md §5.5)."""


def doubts_of_questions(definitions: Definitions) -> Findings:
    """Internal tools are left out: what they need comes from other tools."""
    for tool in definitions.tools.values():
        policy = definitions.policy(tool.name)
        if policy.operation_type is OperationType.INTERNAL:
            continue
        required = set(policy.requires)
        for argument in tool.arguments:
            path = ("tools", tool.name, "args_schema", argument.name)
            if argument.name in required:
                yield from _check_asked(argument, path)
            yield from _check_choices(argument.enum, path)


def _check_asked(argument: ArgumentSpec, path: tuple[str, ...]) -> Findings:
    if not (argument.user_prompt or argument.label or argument.description):
        message = f'"{argument.name}" is required, and no text says how to ask for it'
        yield warning("argument.no_question", message, path)
    if argument.type is ArgumentType.OBJECT or (argument.type is ArgumentType.ARRAY and _is_vague(argument.items)):
        message = (
            f'"{argument.name}" is required, and its schema does not say what is inside: nobody can say it in a chat'
        )
        yield warning("argument.shapeless", message, path)


def _is_vague(schema: Mapping[str, JSON]) -> bool:
    return schema.get("type") == ArgumentType.OBJECT and not schema.get("properties")


def _check_choices(allowed: Sequence[JSON], path: tuple[str, ...]) -> Findings:
    first: dict[str, JSON] = {}
    for number, value in enumerate(allowed):
        where = (*path, "enum", str(number))
        if value is None or (isinstance(value, str) and value.strip().casefold() in BLANK):
            message = f"enum: {value!r} is also what is read where the customer says nothing"
            yield warning("argument.enum_blank", message, where)
            continue
        folded = fold(value.strip()) if isinstance(value, str) else str(value)
        other = first.setdefault(folded, value)
        if isinstance(value, str) and other is not value:
            message = f"enum: {value!r} and {other!r} are the same to customers, who write without case and accents"
            yield warning("argument.enum_alike", message, where)
