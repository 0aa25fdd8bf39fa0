"""What a tool, policy, server, mapping, intent, workflow, model profile or a whole set of them is (contracts.md §5).

Pure values: no framework, no I/O. ``tooling.yaml_io`` reads and writes them as files, ``tooling.models`` stores
them, ``tooling.catalog`` hands the published ones to the runtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

JSON = Any
"""A JSON value: None, bool, int, float, str, list or dict with text keys."""


class Kind(StrEnum):
    """The kinds of definition files; a file of a kind is named after it."""

    SERVERS = "mcp_servers"
    TOOLS = "tools"
    POLICIES = "tool_policies"
    MAPPINGS = "mcp_parameter_mapping"
    ROUTING = "routing"
    PROFILES = "llm_profiles"
    WORKFLOWS = "workflows"


class ToolType(StrEnum):
    ACTION = "action"
    QUERY = "query"
    INTERNAL = "internal"


class OperationType(StrEnum):
    READ_ONLY = "read_only"
    CONVERSATIONAL = "conversational"
    TRANSACTIONAL = "transactional"
    INTERNAL = "internal"


class ArgumentType(StrEnum):
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"


class Transport(StrEnum):
    STREAMABLE_HTTP = "streamable_http"
    STDIO = "stdio"


class Idempotency(StrEnum):
    NONE = "none"
    KEY = "key"


class OnIntentShift(StrEnum):
    ABANDON = "abandon"
    PARK = "park"


class Atomicity(StrEnum):
    BEST_EFFORT = "best_effort"
    ALL_OR_NOTHING = "all_or_nothing"


class ExecutionMode(StrEnum):
    DIRECT_TOOL = "direct_tool"
    WORKFLOW = "workflow"


class Strategy(StrEnum):
    LLM = "llm"
    REGEX = "regex"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class Text:
    """A text in one or several languages: ``default`` for all, ``by_locale`` where a locale has its own."""

    default: str = ""
    by_locale: Mapping[str, str] = field(default_factory=dict)

    def in_locale(self, locale: str) -> str:
        """The text for ``locale`` ("pt-BR"), else its language ("pt"), else the default, else any."""
        exact = self.by_locale.get(locale)
        if exact:
            return exact
        language = locale.split("-")[0].lower()
        for known, text in self.by_locale.items():
            if known.split("-")[0].lower() == language:
                return text
        return self.default or next(iter(self.by_locale.values()), "")

    def __bool__(self) -> bool:
        return bool(self.default or self.by_locale)


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """One argument of a tool. ``format`` "date" and "date-time" are read as dates (runtime.md §5.5)."""

    name: str
    type: ArgumentType = ArgumentType.STRING
    label: Text = Text()
    description: Text = Text()
    user_prompt: Text = Text()
    enum: tuple[JSON, ...] = ()
    format: str = ""
    items: Mapping[str, JSON] = field(default_factory=dict)
    """The JSON schema of the elements of an array, as declared."""


@dataclass(frozen=True, slots=True)
class CacheSpec:
    enabled: bool = False
    ttl_seconds: int = 0


@dataclass(frozen=True, slots=True)
class ToolSpec:
    name: str
    description: Text
    mcp_server: str
    enabled: bool = True
    tool_type: ToolType = ToolType.QUERY
    arguments: tuple[ArgumentSpec, ...] = ()
    selection_keywords: tuple[str, ...] = ()
    cache: CacheSpec = CacheSpec()
    response: Mapping[str, JSON] = field(default_factory=dict)
    safe_to_simulate: bool = False
    """A simulation may really call it; counts only for internal tools, which change nothing."""

    def argument(self, name: str) -> ArgumentSpec | None:
        return next((argument for argument in self.arguments if argument.name == name), None)

    @property
    def argument_names(self) -> tuple[str, ...]:
        return tuple(argument.name for argument in self.arguments)


@dataclass(frozen=True, slots=True)
class PreValidationSpec:
    enabled: bool = False
    tool: str = ""
    fail_open: bool = False


@dataclass(frozen=True, slots=True)
class ExecutionSpec:
    mode: ExecutionMode = ExecutionMode.DIRECT_TOOL
    workflow: str = ""
    version: int | None = None
    """A version number; None is "active", the newest one."""


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """The effective policy of one tool: what the file says, united with defaults and legacy keys."""

    tool: str
    operation_type: OperationType = OperationType.READ_ONLY
    require_confirmation: bool = False
    requires: tuple[str, ...] = ()
    pre_validation: PreValidationSpec = PreValidationSpec()
    execution: ExecutionSpec = ExecutionSpec()
    reconcile_tool: str = ""
    idempotency: Idempotency = Idempotency.NONE
    on_intent_shift: OnIntentShift = OnIntentShift.ABANDON
    expires_after: int | None = None
    """Seconds; None is the installation's default."""
    timeout_seconds: float | None = None
    max_items: int | None = None
    atomicity: Atomicity = Atomicity.BEST_EFFORT
    requires_identity: bool = False


@dataclass(frozen=True, slots=True)
class ExtractSpec:
    """How one auxiliary argument is read from the message (never one in ``requires``)."""

    field: str
    source: str = "message"
    type: ArgumentType = ArgumentType.STRING
    strategy: Strategy = Strategy.LLM
    description: Text = Text()
    pattern: str = ""
    group: int = 0


@dataclass(frozen=True, slots=True)
class MappingSpec:
    """Auxiliary arguments of one tool; the mapping defaults are already merged in."""

    tool: str
    map: Mapping[str, str] = field(default_factory=dict)
    """context key (of the signed identity, or ``idempotency_key``) → argument name."""
    defaults: Mapping[str, JSON] = field(default_factory=dict)
    extract: tuple[ExtractSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One MCP server. ``headers`` and ``env`` hold ``${ENV}`` references, never their values."""

    name: str
    transport: Transport = Transport.STREAMABLE_HTTP
    endpoint: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    enabled: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IntentSpec:
    name: str
    description: Text = Text()
    mcp_tools: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    priority: int = 100
    enabled: bool = True
    domain: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Phrases:
    """Explicit answers to a confirmation that a release adds to the shipped ones (runtime.md §6.4)."""

    confirm: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouterSpec:
    confidence_threshold: float = 0.65
    confirmation_phrases: Mapping[str, Phrases] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProfileSpec:
    """A language-model profile; None falls back to the profile ``default``, then to the environment."""

    name: str
    provider: str = ""
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class WorkflowNode:
    id: str
    action: str
    input: Mapping[str, JSON] = field(default_factory=dict)
    retry: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkflowEdge:
    source: str
    target: str
    when: Mapping[str, JSON] = field(default_factory=dict)
    priority: int = 0


@dataclass(frozen=True, slots=True)
class WorkflowSpec:
    name: str
    version: int
    start: str
    nodes: tuple[WorkflowNode, ...] = ()
    edges: tuple[WorkflowEdge, ...] = ()


@dataclass(frozen=True, slots=True)
class Definitions:
    """A whole set of definitions: what a draft holds and what a release freezes.

    Every tool has a policy here, whether or not a file names one (contracts.md §5, "without a policy entry").
    """

    servers: Mapping[str, ServerSpec] = field(default_factory=dict)
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    policies: Mapping[str, PolicySpec] = field(default_factory=dict)
    mappings: Mapping[str, MappingSpec] = field(default_factory=dict)
    intents: Mapping[str, IntentSpec] = field(default_factory=dict)
    router: RouterSpec = RouterSpec()
    profiles: Mapping[str, ProfileSpec] = field(default_factory=dict)
    workflows: Mapping[tuple[str, int], WorkflowSpec] = field(default_factory=dict)

    def policy(self, tool: str) -> PolicySpec:
        return self.policies.get(tool) or PolicySpec(tool=tool)

    def mapping(self, tool: str) -> MappingSpec:
        return self.mappings.get(tool) or MappingSpec(tool=tool)

    def is_available(self, tool: str) -> bool:
        """Whether ``tool`` exists, is enabled and stands on an enabled server."""
        spec = self.tools.get(tool)
        if spec is None or not spec.enabled:
            return False
        server = self.servers.get(spec.mcp_server)
        return server is not None and server.enabled
