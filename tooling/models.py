"""The editable draft of the definitions, and the releases that were published from it (contracts.md §5).

The rows are storage for ``tooling.publishing`` and the forms of the admin; others read ``tooling.catalog``.
"""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from tooling import choices, help_texts
from tooling.contract_grades import ContractCheck, ToolGrade
from tooling.draft_edits import DraftChange, DraftEdit
from tooling.publish_requests import PublishRequest
from tooling.releases import Release
from tooling.server_states import ServerState
from tooling.specs import (
    ArgumentType,
    Atomicity,
    ExecutionMode,
    Idempotency,
    OnIntentShift,
    OperationType,
    ToolType,
    Transport,
)

__all__ = [
    "ContractCheck",
    "DraftChange",
    "DraftEdit",
    "Intent",
    "LlmProfile",
    "McpServer",
    "ParameterMapping",
    "Policy",
    "PublishRequest",
    "Release",
    "RouterSettings",
    "ServerState",
    "Tool",
    "ToolArgument",
    "ToolGrade",
    "Workflow",
]


class McpServer(models.Model):
    """One MCP server of the draft. Headers and environment hold ``${ENV}`` references, never secrets."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    transport = models.CharField(
        _("transport"), max_length=20, choices=choices.TRANSPORTS, default=Transport.STREAMABLE_HTTP.value
    )
    endpoint = models.CharField(
        _("endpoint"), max_length=500, blank=True, default="", help_text=help_texts.MCP_SERVER_ENDPOINT
    )
    command = models.CharField(
        _("command"), max_length=500, blank=True, default="", help_text=help_texts.MCP_SERVER_COMMAND
    )
    args = models.JSONField(_("command arguments"), blank=True, default=list, help_text=help_texts.MCP_SERVER_ARGS)
    enabled = models.BooleanField(_("enabled"), default=True, help_text=help_texts.MCP_SERVER_ENABLED)
    headers = models.JSONField(_("headers"), blank=True, default=dict, help_text=help_texts.MCP_SERVER_HEADERS)
    env = models.JSONField(_("environment"), blank=True, default=dict, help_text=help_texts.MCP_SERVER_ENV)

    class Meta:
        verbose_name = _("MCP server")
        verbose_name_plural = _("MCP servers")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Tool(models.Model):
    """One tool of the draft; its arguments are rows of ``ToolArgument``."""

    name = models.CharField(_("name"), max_length=100, unique=True, help_text=help_texts.TOOL_NAME)
    description = models.JSONField(_("description"), default=str, help_text=help_texts.TOOL_DESCRIPTION)
    server = models.ForeignKey(McpServer, on_delete=models.PROTECT, related_name="tools", verbose_name=_("MCP server"))
    enabled = models.BooleanField(_("enabled"), default=True, help_text=help_texts.TOOL_ENABLED)
    tool_type = models.CharField(
        _("type"),
        max_length=20,
        choices=choices.TOOL_TYPES,
        default=ToolType.QUERY.value,
        help_text=help_texts.TOOL_TOOL_TYPE,
    )
    selection_keywords = models.JSONField(
        _("selection keywords"), blank=True, default=list, help_text=help_texts.TOOL_SELECTION_KEYWORDS
    )
    cache_enabled = models.BooleanField(_("cache answers"), default=False, help_text=help_texts.TOOL_CACHE_ENABLED)
    cache_ttl_seconds = models.PositiveIntegerField(
        _("cache time in seconds"), default=0, help_text=help_texts.TOOL_CACHE_TTL_SECONDS
    )
    response = models.JSONField(_("response hints"), blank=True, default=dict, help_text=help_texts.TOOL_RESPONSE)
    safe_to_simulate = models.BooleanField(
        _("may be called by simulations"), default=False, help_text=help_texts.TOOL_SAFE_TO_SIMULATE
    )

    class Meta:
        verbose_name = _("tool")
        verbose_name_plural = _("tools")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ToolArgument(models.Model):
    """One argument of a tool. A text is JSON text, or {locale: text}."""

    tool = models.ForeignKey(Tool, on_delete=models.CASCADE, related_name="arguments", verbose_name=_("tool"))
    position = models.PositiveIntegerField(_("position"), default=0)
    name = models.CharField(_("name"), max_length=100)
    type = models.CharField(_("type"), max_length=20, choices=choices.ARGUMENT_TYPES, default=ArgumentType.STRING.value)
    label = models.JSONField(_("label"), blank=True, default=str, help_text=help_texts.TOOL_ARGUMENT_LABEL)
    description = models.JSONField(
        _("description"), blank=True, default=str, help_text=help_texts.TOOL_ARGUMENT_DESCRIPTION
    )
    user_prompt = models.JSONField(
        _("question to the user"), blank=True, default=str, help_text=help_texts.TOOL_ARGUMENT_USER_PROMPT
    )
    enum = models.JSONField(_("allowed values"), blank=True, default=list, help_text=help_texts.TOOL_ARGUMENT_ENUM)
    format = models.CharField(
        _("format"), max_length=40, blank=True, default="", help_text=help_texts.TOOL_ARGUMENT_FORMAT
    )
    items = models.JSONField(_("element schema"), blank=True, default=dict, help_text=help_texts.TOOL_ARGUMENT_ITEMS)

    class Meta:
        verbose_name = _("argument")
        verbose_name_plural = _("arguments")
        ordering = ["tool", "position", "pk"]
        constraints = [models.UniqueConstraint(fields=["tool", "name"], name="tooling_argument_once_per_tool")]

    def __str__(self) -> str:
        return self.name


class Policy(models.Model):
    """How one tool may be used (contracts.md §5, ``tool_policies``). Without a row the type decides."""

    tool = models.OneToOneField(Tool, on_delete=models.CASCADE, related_name="policy", verbose_name=_("tool"))
    operation_type = models.CharField(
        _("operation"), max_length=20, choices=choices.OPERATION_TYPES, default=OperationType.READ_ONLY.value
    )
    require_confirmation = models.BooleanField(
        _("ask for confirmation"), default=False, help_text=help_texts.POLICY_REQUIRE_CONFIRMATION
    )
    requires = models.JSONField(_("requires"), blank=True, default=list, help_text=help_texts.POLICY_REQUIRES)
    pre_validation_enabled = models.BooleanField(
        _("validate first"), default=False, help_text=help_texts.POLICY_PRE_VALIDATION_ENABLED
    )
    pre_validation_tool = models.CharField(
        _("validator"),
        max_length=100,
        blank=True,
        default="",
        help_text=help_texts.POLICY_PRE_VALIDATION_TOOL,
    )
    fail_open = models.BooleanField(
        _("go on when the validator gives no verdict"), default=False, help_text=help_texts.POLICY_FAIL_OPEN
    )
    execution_mode = models.CharField(
        _("execution"),
        max_length=20,
        choices=choices.EXECUTION_MODES,
        default=ExecutionMode.DIRECT_TOOL.value,
        help_text=help_texts.POLICY_EXECUTION_MODE,
    )
    workflow = models.CharField(
        _("workflow"), max_length=100, blank=True, default="", help_text=help_texts.POLICY_WORKFLOW
    )
    workflow_version = models.PositiveIntegerField(
        _("workflow version"), null=True, blank=True, help_text=help_texts.POLICY_WORKFLOW_VERSION
    )
    reconcile_tool = models.CharField(
        _("reconcile tool"),
        max_length=100,
        blank=True,
        default="",
        help_text=help_texts.POLICY_RECONCILE_TOOL,
    )
    idempotency = models.CharField(
        _("idempotency"),
        max_length=10,
        choices=choices.IDEMPOTENCIES,
        default=Idempotency.NONE.value,
        help_text=help_texts.POLICY_IDEMPOTENCY,
    )
    on_intent_shift = models.CharField(
        _("when the customer asks for something else"),
        max_length=10,
        choices=choices.INTENT_SHIFTS,
        default=OnIntentShift.ABANDON.value,
        help_text=help_texts.POLICY_ON_INTENT_SHIFT,
    )
    expires_after = models.PositiveIntegerField(
        _("expires after (seconds)"), null=True, blank=True, help_text=help_texts.POLICY_EXPIRES_AFTER
    )
    timeout_seconds = models.FloatField(
        _("time limit of the call (seconds)"),
        null=True,
        blank=True,
        help_text=help_texts.POLICY_TIMEOUT_SECONDS,
    )
    max_items = models.PositiveIntegerField(
        _("most items at once"), null=True, blank=True, help_text=help_texts.POLICY_MAX_ITEMS
    )
    atomicity = models.CharField(
        _("atomicity"),
        max_length=20,
        choices=choices.ATOMICITIES,
        default=Atomicity.BEST_EFFORT.value,
        help_text=help_texts.POLICY_ATOMICITY,
    )
    requires_identity = models.BooleanField(
        _("needs a signed-in customer"), default=False, help_text=help_texts.POLICY_REQUIRES_IDENTITY
    )

    class Meta:
        verbose_name = _("policy")
        verbose_name_plural = _("policies")
        ordering = ["tool__name"]

    def __str__(self) -> str:
        return self.tool.name


class ParameterMapping(models.Model):
    """Where a tool's auxiliary arguments come from; the row without a tool goes for all of them."""

    tool = models.OneToOneField(
        Tool,
        on_delete=models.CASCADE,
        related_name="mapping",
        null=True,
        blank=True,
        verbose_name=_("tool"),
        help_text=help_texts.PARAMETER_MAPPING_TOOL,
    )
    map = models.JSONField(_("from the identity"), blank=True, default=dict, help_text=help_texts.PARAMETER_MAPPING_MAP)
    defaults = models.JSONField(
        _("default values"), blank=True, default=dict, help_text=help_texts.PARAMETER_MAPPING_DEFAULTS
    )
    extract = models.JSONField(
        _("read from the message"), blank=True, default=list, help_text=help_texts.PARAMETER_MAPPING_EXTRACT
    )

    class Meta:
        verbose_name = _("parameter mapping")
        verbose_name_plural = _("parameter mappings")
        ordering = ["tool__name"]
        constraints = [
            models.UniqueConstraint(
                models.Value(1),
                condition=models.Q(tool__isnull=True),
                name="tooling_one_mapping_for_all_tools",
            )
        ]

    def __str__(self) -> str:
        return self.tool.name if self.tool else str(_("all tools"))


class Intent(models.Model):
    """What a customer may want, and the tools that serve it."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    description = models.JSONField(_("description"), blank=True, default=str, help_text=help_texts.INTENT_DESCRIPTION)
    mcp_tools = models.JSONField(_("tools"), blank=True, default=list)
    keywords = models.JSONField(_("keywords"), blank=True, default=list, help_text=help_texts.INTENT_KEYWORDS)
    examples = models.JSONField(_("examples"), blank=True, default=list, help_text=help_texts.INTENT_EXAMPLES)
    priority = models.IntegerField(_("priority"), default=100, help_text=help_texts.INTENT_PRIORITY)
    enabled = models.BooleanField(_("enabled"), default=True)
    domain = models.CharField(_("domain"), max_length=100, blank=True, default="")
    agent = models.CharField(_("agent"), max_length=100, blank=True, default="")

    class Meta:
        verbose_name = _("intent")
        verbose_name_plural = _("intents")
        ordering = ["priority", "name"]

    def __str__(self) -> str:
        return self.name


class RouterSettings(models.Model):
    """The one row of settings of the router."""

    confidence_threshold = models.FloatField(
        _("confidence threshold"),
        default=0.65,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text=help_texts.ROUTER_SETTINGS_CONFIDENCE_THRESHOLD,
    )
    confirmation_phrases = models.JSONField(
        _("confirmation phrases"),
        blank=True,
        default=dict,
        help_text=help_texts.ROUTER_SETTINGS_CONFIRMATION_PHRASES,
    )

    class Meta:
        verbose_name = _("router settings")
        verbose_name_plural = _("router settings")
        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="tooling_only_one_router_row")]

    def __str__(self) -> str:
        return str(_("router settings"))


class LlmProfile(models.Model):
    """How one component talks to its language model; what is empty falls back to the profile ``default``."""

    name = models.CharField(_("name"), max_length=100, unique=True, help_text=help_texts.LLM_PROFILE_NAME)
    provider = models.CharField(
        _("provider"), max_length=100, blank=True, default="", help_text=help_texts.LLM_PROFILE_PROVIDER
    )
    model = models.CharField(_("model"), max_length=200, blank=True, default="")
    base_url = models.CharField(
        _("address"), max_length=500, blank=True, default="", help_text=help_texts.LLM_PROFILE_BASE_URL
    )
    api_key_env = models.CharField(
        _("variable with the API key"),
        max_length=100,
        blank=True,
        default="",
        help_text=help_texts.LLM_PROFILE_API_KEY_ENV,
    )
    temperature = models.FloatField(_("temperature"), null=True, blank=True)
    max_tokens = models.PositiveIntegerField(_("most tokens"), null=True, blank=True)
    timeout_seconds = models.FloatField(_("time limit (seconds)"), null=True, blank=True)

    class Meta:
        verbose_name = _("language model profile")
        verbose_name_plural = _("language model profiles")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Workflow(models.Model):
    """One version of a workflow. ``content`` is the file's ``start``, ``nodes`` and ``edges``."""

    name = models.CharField(_("name"), max_length=100)
    version = models.PositiveIntegerField(_("version"))
    content = models.JSONField(_("content"))

    class Meta:
        verbose_name = _("workflow")
        verbose_name_plural = _("workflows")
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="tooling_workflow_version_once")]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"
