"""What the contract linter would send to one tool: which calls, with which items, each expecting what. Pure.

Nothing is planned for a tool that changes something, unless its server declares a sandbox; every planned call of such
a tool carries the mark of the dry run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tooling.gateway import RemoteTool
from tooling.linting.answers import Item, label_of
from tooling.linting.declarations import (
    Declared,
    Examples,
    Sandbox,
    Trouble,
    contradicts_reading,
    declared_by,
    item_argument,
    required_by,
)
from tooling.specs import JSON, ArgumentType, Definitions, MappingSpec, OperationType, PolicySpec, ServerSpec, ToolSpec

STRANGER = "contract-linter-0"
"""An item that no server knows."""


class Role(StrEnum):
    """What a tool is called for."""

    ACTION = "action"
    QUERY = "query"
    VALIDATOR = "validator"
    RECONCILER = "reconciler"


class Try(StrEnum):
    """One call of a check; the order is the order of calling."""

    PLAIN = "plain"
    ONE = "one"
    AGAIN = "again"
    REPEATED = "repeated"
    OTHER_ARGUMENTS = "other_arguments"
    RECONCILED = "reconciled"
    ONE_FAILS = "one_fails"
    ALL_SUCCEED = "all_succeed"
    ALL_FAIL = "all_fail"
    MIXED = "mixed"
    REORDERED = "reordered"
    STRANGER = "stranger"
    KEPT = "kept"
    UNUSED_KEY = "unused_key"
    SLOW = "slow"


class Why(StrEnum):
    """Why a tool is not called."""

    NOT_LISTED = "not_listed"
    NO_SANDBOX = "no_sandbox"
    SANDBOX_MALFORMED = "sandbox_malformed"
    SANDBOX_ARGUMENT_UNKNOWN = "sandbox_argument_unknown"
    SAYS_IT_CHANGES = "says_it_changes"
    NOT_DECLARED = "not_declared"
    VALUES_MISSING = "values_missing"


@dataclass(frozen=True, slots=True)
class Subject:
    """A tool of the draft with all that its check depends on; ``remote`` None: its server does not offer it.

    ``action``: for a validator or reconcile tool the tool that it is asked for. ``reconciler``: the policy's.
    """

    server: ServerSpec
    tool: ToolSpec
    policy: PolicySpec
    mapping: MappingSpec
    role: Role
    remote: RemoteTool | None = None
    action: PolicySpec | None = None
    reconciler: ToolSpec | None = None
    reconciler_server: ServerSpec | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    """One call: ``key`` names its idempotency key within the run. ``kept``: labels that a validator shall keep."""

    kind: Try
    items: tuple[Item, ...]
    arguments: Mapping[str, JSON]
    key: str
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls of one check. ``untried``: what cannot be tried, because there are no examples for it."""

    subject: Subject
    probes: tuple[Probe, ...]
    sandbox: Sandbox | None = None
    untried: tuple[Try, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    has_items: bool = field(default=True)


@dataclass(frozen=True, slots=True)
class Uncallable:
    """Why nothing may or can be called; ``names``: of arguments."""

    subject: Subject
    why: Why
    names: tuple[str, ...] = ()


def subject_of(definitions: Definitions, name: str, offered: Sequence[RemoteTool]) -> Subject:
    """The tool ``name`` of ``definitions``, in the role in which policies call it."""
    tool, policy = definitions.tools[name], definitions.policy(name)
    validates = [each for each in definitions.policies.values() if each.pre_validation.tool == name]
    reconciles = [each for each in definitions.policies.values() if each.reconcile_tool == name]
    role = Role.QUERY if changes_nothing(policy) else Role.ACTION
    if changes_nothing(policy) and (validates or reconciles):
        role = Role.VALIDATOR if validates else Role.RECONCILER
    reconciler = definitions.tools.get(policy.reconcile_tool)
    if reconciler is not None and not changes_nothing(definitions.policy(reconciler.name)):
        reconciler = None
    return Subject(
        server=definitions.servers[tool.mcp_server],
        tool=tool,
        policy=policy,
        mapping=definitions.mapping(name),
        role=role,
        remote=next((each for each in offered if each.name == name), None),
        action=next(iter([*validates, *reconciles]), None),
        reconciler=reconciler,
        reconciler_server=definitions.servers.get(reconciler.mcp_server) if reconciler else None,
    )


def changes_nothing(policy: PolicySpec) -> bool:
    """Whether a tool of this policy may be called without a sandbox: by contract it only reads."""
    return policy.operation_type in (OperationType.INTERNAL, OperationType.READ_ONLY)


def plan_of(subject: Subject, values: Mapping[str, JSON]) -> Plan | Uncallable:
    """The calls of a check; ``values`` for arguments win over the server's examples and the mapping's defaults."""
    if subject.remote is None:
        return Uncallable(subject, Why.NOT_LISTED)
    declared = declared_by(subject.remote)
    refusal = _refusal(subject, declared)
    if refusal is not None:
        return Uncallable(subject, refusal)
    examples = _examples(subject, declared.examples or Examples(), values)
    if missing := _missing(subject, examples, declared.sandbox):
        return missing
    probes = tuple(_probes(subject, examples))
    return Plan(
        subject,
        probes,
        declared.sandbox,
        untried=_untried(subject, examples, {probe.kind for probe in probes}),
        troubles=declared.troubles,
        has_items=bool(examples.argument),
    )


def _refusal(subject: Subject, declared: Declared) -> Why | None:
    """Why the tool must not be called at all; a sandbox that is not understood is none."""
    if declared.sandbox is not None:
        return None
    for trouble in declared.troubles:
        if trouble is not Trouble.EXAMPLES_MALFORMED:
            return Why(trouble.value)
    if subject.role is Role.ACTION:
        return Why.NO_SANDBOX
    says_so = subject.remote is not None and contradicts_reading(subject.remote)
    return Why.SAYS_IT_CHANGES if says_so else None


def _examples(subject: Subject, said: Examples, values: Mapping[str, JSON]) -> Examples:
    """The examples to send: given values are items of which nobody knows what becomes."""
    remote = subject.remote
    place = said.argument or (item_argument(remote) if remote is not None and values else "")
    if subject.role is Role.RECONCILER:
        place = ""
    others = {**subject.mapping.defaults, **said.arguments, **values}
    succeed, fail, slow = said.succeed, said.fail, said.slow
    if place in values:
        given = values[place]
        succeed, fail, slow = (tuple(given) if isinstance(given, list) else (given,)), (), ()
    most = subject.policy.max_items or len(succeed) + len(fail) + len(slow) + 1
    return Examples(
        argument=place if place and (succeed or fail or slow) else "",
        separator="" if place in values else said.separator,
        succeed=succeed[:most],
        fail=fail[:most],
        slow=slow[:most],
        arguments={name: value for name, value in others.items() if subject.tool.argument(name) and name != place},
        says_outcomes=place not in values,
    )


def _missing(subject: Subject, examples: Examples, sandbox: Sandbox | None) -> Uncallable | None:
    """Which arguments the call lacks, because nobody gave a value or the definition does not have them."""
    if subject.role is Role.RECONCILER or subject.remote is None:
        return None
    mapped = subject.mapping.map.get("idempotency_key", "")
    own = (mapped, sandbox.argument if sandbox else "", "target_tool", examples.argument)
    needed = dict.fromkeys([*subject.policy.requires, *required_by(subject.remote)])
    lacking = [name for name in needed if name not in examples.arguments and name not in own]
    if undeclared := [name for name in lacking if subject.tool.argument(name) is None]:
        return Uncallable(subject, Why.NOT_DECLARED, tuple(undeclared))
    return Uncallable(subject, Why.VALUES_MISSING, tuple(lacking)) if lacking else None


# Which calls ---------------------------------------------------------------------------------------------------


def _probes(subject: Subject, examples: Examples) -> Iterator[Probe]:
    make = _Maker(subject, examples)
    if subject.role is Role.RECONCILER:
        yield make.asking(Try.UNUSED_KEY, [_item(0, STRANGER, None)], "unused")
    elif not examples.argument:
        yield make.of(Try.PLAIN, [])
    else:
        yield from _batches(make, subject.role)


def _batches(make: _Maker, role: Role) -> Iterator[Probe]:
    succeed, fail = make.succeed, make.fail
    one = [*succeed, *fail][:1]
    if one:
        yield make.of(Try.ONE, one)
    if one and role is Role.ACTION:
        yield from _keys(make, one)
    if make.takes_several:
        yield from _sets(make)
    elif fail:
        yield make.of(Try.ONE_FAILS, fail[:1])
    if make.takes_texts:
        stranger = _item(99, STRANGER, False)
        yield make.of(Try.STRANGER, [*succeed[:1], stranger] if make.takes_several else [stranger])
    if role is Role.VALIDATOR and make.takes_several and len(succeed) > 1 and make.takes_kept:
        yield make.of(Try.KEPT, succeed, kept=(succeed[0].label,))
    if make.slow:
        yield make.of(Try.SLOW, make.slow if make.takes_several else make.slow[:1])


def _keys(make: _Maker, one: Sequence[Item]) -> Iterator[Probe]:
    """The same call under another key, under its own, and its key with other arguments."""
    yield make.of(Try.AGAIN, one)
    yield make.of(Try.REPEATED, one, key=Try.ONE)
    if len(make.succeed) > 1:
        yield make.of(Try.OTHER_ARGUMENTS, make.succeed[1:2], key=Try.ONE)
    if make.reconciles:
        yield make.asking(Try.RECONCILED, one, Try.ONE)


def _sets(make: _Maker) -> Iterator[Probe]:
    succeed, fail = make.succeed, make.fail
    if len(succeed) > 1:
        yield make.of(Try.ALL_SUCCEED, succeed)
    if fail:
        yield make.of(Try.ONE_FAILS, fail[:1])
    if len(fail) > 1:
        yield make.of(Try.ALL_FAIL, fail)
    if succeed and fail:
        yield make.of(Try.MIXED, make.mixed)
    widest = make.mixed if succeed and fail else succeed
    if len(widest) > 1:
        # Moved on by one: a reversed odd set may look the same from both ends.
        yield make.of(Try.REORDERED, [*widest[1:], widest[0]])


def _untried(subject: Subject, examples: Examples, tried: set[Try]) -> tuple[Try, ...]:
    """What a check of this role tries as well, if there are examples."""
    if subject.role is Role.RECONCILER or (not examples.argument and subject.role is Role.QUERY):
        return ()
    wanted = [Try.ONE, Try.ONE_FAILS, Try.ALL_SUCCEED, Try.ALL_FAIL, Try.MIXED, Try.SLOW]
    if subject.role is Role.ACTION:
        wanted.insert(1, Try.OTHER_ARGUMENTS)
    if not _Maker(subject, examples).takes_several:
        wanted = [each for each in wanted if each not in (Try.ALL_SUCCEED, Try.ALL_FAIL, Try.MIXED)]
    return tuple(each for each in wanted if each not in tried)


def _item(number: int, value: JSON, expected: bool | None) -> Item:
    return Item(f"item-{number}", value, label_of(value) or f"item-{number}", expected)


@dataclass(slots=True)
class _Maker:
    """Makes the calls of one check out of its examples."""

    subject: Subject
    examples: Examples
    succeed: list[Item] = field(default_factory=list)
    fail: list[Item] = field(default_factory=list)
    slow: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        examples = self.examples
        number = 0
        for values, into, expected in (
            (examples.succeed, self.succeed, True if examples.says_outcomes else None),
            (examples.fail, self.fail, False),
            (examples.slow, self.slow, None),
        ):
            for value in values:
                into.append(_item(number, value, expected))
                number += 1

    @property
    def _is_list(self) -> bool:
        argument = self.subject.tool.argument(self.examples.argument)
        return argument is not None and argument.type is ArgumentType.ARRAY

    @property
    def takes_several(self) -> bool:
        """Several items in one call, as far as the policy allows them."""
        return (self._is_list or bool(self.examples.separator)) and self.subject.policy.max_items != 1

    @property
    def takes_texts(self) -> bool:
        return all(isinstance(item.value, str) for item in [*self.succeed, *self.fail])

    @property
    def takes_kept(self) -> bool:
        return self.subject.tool.argument("keep_items") is not None

    @property
    def reconciles(self) -> bool:
        return self.subject.reconciler is not None and self.subject.reconciler_server is not None

    @property
    def mixed(self) -> list[Item]:
        """Some of both, in turns, so that no order tells which is which."""
        most = self.subject.policy.max_items or len(self.succeed) + len(self.fail)
        pairs = zip(self.succeed, self.fail, strict=False)
        rest = [*self.succeed[len(self.fail) :], *self.fail[len(self.succeed) :]]
        return [*(item for pair in pairs for item in pair), *rest][:most]

    def of(self, kind: Try, items: Sequence[Item], *, key: str = "", kept: tuple[str, ...] = ()) -> Probe:
        arguments = {**self.examples.arguments, **self._in_place(items)}
        if kept:
            arguments["keep_items"] = list(kept)
        if self.subject.role is Role.VALIDATOR and self.subject.action and self.subject.tool.argument("target_tool"):
            arguments["target_tool"] = self.subject.action.tool
        return Probe(kind, tuple(items), arguments, key or kind, kept)

    def asking(self, kind: Try, items: Sequence[Item], key: str) -> Probe:
        """A question to the reconcile tool about the call under ``key``; the key itself is put in when it is sent."""
        return Probe(kind, tuple(items), {}, key)

    def _in_place(self, items: Sequence[Item]) -> dict[str, JSON]:
        values = [item.value for item in items]
        if not self.examples.argument:
            return {}
        if self._is_list:
            return {self.examples.argument: values}
        is_joined = len(values) > 1 or self.examples.separator
        value = self.examples.separator.join(map(label_of, values)) if is_joined else values[0]
        return {self.examples.argument: value}
