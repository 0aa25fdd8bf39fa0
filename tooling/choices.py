"""The choices that forms offer, in words that say what each of them means."""

from django.utils.translation import gettext_lazy as _

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

TRANSPORTS = [
    (Transport.STREAMABLE_HTTP.value, _("HTTP (streamable)")),
    (Transport.STDIO.value, _("child process (stdio)")),
]
TOOL_TYPES = [
    (ToolType.ACTION.value, _("action – changes something")),
    (ToolType.QUERY.value, _("query – only reads")),
    (ToolType.INTERNAL.value, _("internal – never offered to users")),
]
ARGUMENT_TYPES = [
    (ArgumentType.STRING.value, _("text")),
    (ArgumentType.INTEGER.value, _("whole number")),
    (ArgumentType.NUMBER.value, _("number")),
    (ArgumentType.BOOLEAN.value, _("yes or no")),
    (ArgumentType.ARRAY.value, _("list")),
    (ArgumentType.OBJECT.value, _("object")),
]
OPERATION_TYPES = [
    (OperationType.READ_ONLY.value, _("read only – looks something up")),
    (OperationType.CONVERSATIONAL.value, _("conversational – answers, changes nothing")),
    (OperationType.TRANSACTIONAL.value, _("transactional – changes something for the customer")),
    (OperationType.INTERNAL.value, _("internal – called by the platform only")),
]
EXECUTION_MODES = [
    (ExecutionMode.DIRECT_TOOL.value, _("call the tool")),
    (ExecutionMode.WORKFLOW.value, _("run a workflow")),
]
IDEMPOTENCIES = [
    (Idempotency.NONE.value, _("none – the server does not recognise a repeated key")),
    (Idempotency.KEY.value, _("key – the server runs one key once")),
]
INTENT_SHIFTS = [
    (OnIntentShift.ABANDON.value, _("abandon – the request is dropped")),
    (OnIntentShift.PARK.value, _("park – it is set aside and offered again")),
]
ATOMICITIES = [
    (Atomicity.BEST_EFFORT.value, _("best effort – each item for itself")),
    (Atomicity.ALL_OR_NOTHING.value, _("all or nothing – one verdict for the whole set")),
]
