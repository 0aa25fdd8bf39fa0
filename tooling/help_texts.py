"""What an administrator must know about each field of the definitions, consequences first."""

from django.utils.translation import gettext_lazy as _

MCP_SERVER_ENDPOINT = _("The http or https address of the server; only for the HTTP transport.")
MCP_SERVER_COMMAND = _("Only for a child process; it must be in the installation's list MCP_STDIO_COMMANDS.")
MCP_SERVER_ARGS = _("One argument per line, in order.")
MCP_SERVER_ENABLED = _(
    "Off: none of its tools is called any more once this is published, not even by running transactions."
)
MCP_SERVER_HEADERS = _("One per line as Name: value. Secrets only as ${NAME} of an environment variable.")
MCP_SERVER_ENV = _("One per line as NAME: value, for a child process; it inherits PATH and nothing else.")
TOOL_NAME = _("The tool's name on its MCP server.")
TOOL_DESCRIPTION = _("What the tool does, in one or two sentences; the language model reads this.")
TOOL_ENABLED = _("Off: users are told that it is not available, and it is not called any more once published.")
TOOL_TOOL_TYPE = _("Decides how the tool may be used where it has no policy of its own.")
TOOL_SELECTION_KEYWORDS = _("One per line; they choose between the tools of one intent.")
TOOL_CACHE_ENABLED = _(
    "Not built yet: the choice is stored and checked, but every call goes to the server. "
    "Later it will be honoured for read-only tools."
)
TOOL_CACHE_TTL_SECONDS = _("Stored for later; answers are not kept yet.")
TOOL_RESPONSE = _("Kept for other clients; one key: value per line.")
TOOL_SAFE_TO_SIMULATE = _(
    "For validators only: a simulation really calls it, with what the message says. "
    "Off: its answer is made up, and the simulation says so."
)
TOOL_ARGUMENT_LABEL = _("How the value is called in a question, with its article.")
TOOL_ARGUMENT_DESCRIPTION = _("What the language model should look for.")
TOOL_ARGUMENT_USER_PROMPT = _("Asked when the value is missing.")
TOOL_ARGUMENT_ENUM = _("One per line; empty: any value.")
TOOL_ARGUMENT_FORMAT = _("For example date or date-time.")
TOOL_ARGUMENT_ITEMS = _("Only for a list.")
POLICY_REQUIRE_CONFIRMATION = _("On: nothing runs before the customer has confirmed the exact items.")
POLICY_REQUIRES = _("What must be collected from the customer before anything runs.")
POLICY_PRE_VALIDATION_ENABLED = _("On: the validator checks and resolves the values before the confirmation.")
POLICY_PRE_VALIDATION_TOOL = _("An internal tool without a validator of its own.")
POLICY_FAIL_OPEN = _(
    "On: when the validator is down or answers nonsense, unchecked items can be executed. "
    "Off: the request is refused and the customer is told to try again. "
    "A clear refusal of the validator always ends the request."
)
POLICY_EXECUTION_MODE = _(
    "A workflow asks other tools before and after; of the tools that change something it calls only this one, once."
)
POLICY_WORKFLOW = _("Only where a workflow is run.")
POLICY_WORKFLOW_VERSION = _("Empty: the newest version.")
POLICY_RECONCILE_TOOL = _(
    "Asked what really happened when a call got no answer, five times within a quarter of an hour; then an operator "
    "decides. Internal or read only."
)
POLICY_IDEMPOTENCY = _(
    "Key: a call that got no answer, and that no reconcile tool can explain, is sent again under the same key. Choose "
    "it only if the server really runs one key once: otherwise the operation can happen twice. None: it is never sent "
    "again, and an operator decides."
)
POLICY_ON_INTENT_SHIFT = _(
    "Abandon: the open request ends, nothing is executed. Park: what waits for its confirmation is set aside, "
    "offered again, checked and confirmed afresh."
)
POLICY_EXPIRES_AFTER = _("How long the request may stay open without an answer; empty: the installation's default.")
POLICY_TIMEOUT_SECONDS = _("After this time the outcome counts as unknown and is verified, never as failed.")
POLICY_MAX_ITEMS = _("More eligible items are refused; empty: no limit.")
POLICY_ATOMICITY = _("All or nothing: a set that is only partly eligible is refused as a whole.")
POLICY_REQUIRES_IDENTITY = _("On: refused without a signed identity of the session.")
PARAMETER_MAPPING_TOOL = _("Empty: for every tool that declares the arguments.")
PARAMETER_MAPPING_MAP = _("One per line as key of the signed identity: argument.")
PARAMETER_MAPPING_DEFAULTS = _("One per line as argument: value.")
PARAMETER_MAPPING_EXTRACT = _(
    "As in mcp_parameter_mapping.yaml: one argument with strategy, pattern or description each. Only the "
    "strategy llm is run today; regex and hybrid are stored and checked, and the argument stays empty."
)
INTENT_DESCRIPTION = _("The language model chooses by this text.")
INTENT_KEYWORDS = _("One per line; whole words, accents and case do not matter. A match asks no language model.")
INTENT_EXAMPLES = _("One per line: how customers really say it.")
INTENT_PRIORITY = _("Between equal matches the lower number wins.")
ROUTER_SETTINGS_CONFIDENCE_THRESHOLD = _(
    "0 to 1. Below it the router's choice does not count and the customer is asked again."
)
ROUTER_SETTINGS_CONFIRMATION_PHRASES = _("{locale: {confirm: [], reject: []}}, added to the shipped phrases.")
LLM_PROFILE_NAME = _("The component's name, or default for all others.")
LLM_PROFILE_PROVIDER = _("A label only.")
LLM_PROFILE_BASE_URL = _("OpenAI-compatible; empty: the installation's LLM_BASE_URL.")
LLM_PROFILE_API_KEY_ENV = _("The name of an environment variable, never the key itself.")
RELEASE_CONTENT = _("Canonical JSON; kept as text, so that its hash can be checked byte by byte.")
RELEASE_HASH = _("SHA-256 of the content, in hex.")
