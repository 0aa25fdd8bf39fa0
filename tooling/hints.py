"""What to do about each thing that the checks of definitions find, and what to agree to where a tick is needed."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from tooling.hints_of_files import HINTS_OF_FILES

HINTS_OF_CHECKS = {
    "argument.enum_alike": _("Keep one of the two, or tell them apart by a word."),
    "argument.enum_blank": _("Remove the value, or give it a word that customers say."),
    "argument.enum_type": _("Write the value in the argument's type, or change the type."),
    "argument.format": _("Use a short format such as date or date-time."),
    "argument.items_unused": _("Remove it, or make the argument a list."),
    "argument.no_question": _(
        "Write the question as the customer should read it; a label or a description also helps."
    ),
    "argument.shapeless": _("Collect texts, numbers or lists of them instead, or describe the parts in the schema."),
    "drift.argument_enum": _("Remove the values that the server does not take."),
    "drift.argument_gone": _("Remove the argument, or ask who runs the server."),
    "drift.argument_required": _(
        "Add the argument to the tool, and say in its policy or mapping where its value comes from."
    ),
    "drift.argument_type": _("Declare the argument in a type that the server takes."),
    "drift.argument_unfilled": _("Put the argument into requires, or give it a default in the mapping."),
    "drift.tool_gone": _("Disable the tool, or ask who runs the server; then compare the server again."),
    "intent.example_empty": _("Remove the empty line."),
    "intent.example_twice": _("Keep the example where it belongs and remove it from the other intent."),
    "intent.keyword_empty": _("Remove the empty line."),
    "intent.keyword_inside": _(
        "Nothing to do if this is meant; otherwise choose words that do not stand in each other."
    ),
    "intent.keyword_twice": _("Remove the keyword from one of the two intents."),
    "intent.keyword_wordless": _("Write a word that customers say, or remove the line."),
    "intent.no_tools": _("Name the tool that the intent leads to, or disable the intent."),
    "intent.no_words": _("Add some sentences as customers say them."),
    "intent.tool_disabled": _("Nothing to do if it is off on purpose; otherwise enable it."),
    "intent.tool_internal": _("Take the tool out of the intent, or change the operation of its policy."),
    "intent.tool_unknown": _("Choose a tool that is defined, or define this one first."),
    "intent.tools_alike": _("Give all but one of them selection keywords, or an intent of their own."),
    "mapping.argument_unknown": _("Add the argument to the tool, or remove this line."),
    "mapping.default_enum": _("Use one of the allowed values."),
    "mapping.default_type": _("Write the default in the argument's type."),
    "mapping.group_unknown": _("Use 0 for the whole match, or the number of a group of the pattern."),
    "mapping.pattern_malformed": _("Correct the regular expression."),
    "mapping.pattern_missing": _("Give a pattern, or choose the strategy llm."),
    "mapping.required": _("Remove this line; what is in requires is asked of the customer and never mapped."),
    "mapping.source_unknown": _("Write message: values are read from the customer's message only."),
    "mapping.tool_unknown": _("Define the tool, or remove its mapping."),
    "name.malformed": _("Rename it with letters, digits, _ . - and : only."),
    "name.too_long": _("Shorten it."),
    "policy.action_repeated": _(
        "If the tool changes anything, make the policy transactional; if it only reads, make the tool a query."
    ),
    "policy.expires_after_range": _("Give a time above zero, for example 30m, or leave it empty."),
    "policy.expires_early": _("Give customers some minutes, for example 30m."),
    "policy.fail_open": _(
        "Turn it off, so that requests are refused while the validator is down, unless acting on unchecked "
        "items is better for customers."
    ),
    "policy.identity_asked": _("Take it out of requires, so that it comes from the signed identity only."),
    "policy.identity_optional": _(
        "Turn on that an identity is required, or take the argument out of the mapping if the tool needs none."
    ),
    "policy.identity_unused": _("Map what the server needs of the identity to one of the tool's arguments."),
    "policy.max_items_range": _("Give a whole number above zero, or leave it empty."),
    "policy.no_confirmation": _("Turn the confirmation on, unless the customer may never be asked about this."),
    "policy.park_unused": _("Choose abandon, or turn the confirmation on."),
    "policy.pre_validation_tool_missing": _("Choose the validator, or turn the validation off."),
    "policy.reconcile_blind": _("Declare idempotency_key and items in its arguments, or choose another tool."),
    "policy.reconcile_disabled": _("Enable it, or choose another one."),
    "policy.reconcile_missing": _(
        "Name a tool that tells what became of a call, or choose key under idempotency if the server runs "
        "each key once."
    ),
    "policy.reconcile_not_internal": _("Choose a tool that only reads, or make this one internal."),
    "policy.reconcile_unknown": _("Choose a tool that is defined, or leave it empty."),
    "policy.requires_nothing": _("List what the customer must say, so that the confirmation can name it."),
    "policy.requires_twice": _("Remove one of the two."),
    "policy.requires_unknown": _("Add the argument to the tool, or take the name out of requires."),
    "policy.timeout_seconds_range": _("Give a time above zero, or leave it empty."),
    "policy.tool_unknown": _("Define the tool, or remove its policy."),
    "policy.validator_argument": _("Give both tools the same name for it, or do not require it of the validator."),
    "policy.validator_blind": _(
        "Give the validator an argument of the same name as one that is collected, or choose another validator."
    ),
    "policy.validator_disabled": _("Enable the validator, choose another one, or turn the validation off."),
    "policy.validator_loop": _("Turn off the validation of one of them: a validator is not validated itself."),
    "policy.validator_not_internal": _("Make the validator internal, or choose one that is."),
    "policy.validator_server_disabled": _("Enable the server, choose another validator, or turn the validation off."),
    "policy.validator_unknown": _("Choose a tool that is defined, or define the validator first."),
    "policy.validator_validated": _("Turn off the validation of the validator."),
    "policy.workflow_missing": _("Name the workflow, or choose to call the tool directly."),
    "policy.workflow_unknown": _("Choose a workflow that is defined, or define this one first."),
    "policy.workflow_unused": _("Remove the workflow, or choose the mode workflow."),
    "policy.workflow_version_unknown": _("Choose a version that exists, or leave it empty for the newest."),
    "policy.workflow_without_tool": _("Add a node that calls the tool, or choose another workflow."),
    "profile.base_url_malformed": _("Correct the address; it begins with http:// or https:// and names a host."),
    "profile.base_url_missing": _("Give the address of the model, or leave the field out."),
    "profile.base_url_scheme": _("Write the address with http:// or https://."),
    "profile.max_tokens_range": _("Give a whole number above zero, or leave it empty."),
    "profile.secret_literal": _(
        "Put the key into an environment variable, write the variable's name here, and change the key, "
        "because it was readable."
    ),
    "profile.temperature_range": _("Give a number from 0 to 2; 0 is best for reading values."),
    "profile.timeout_range": _("Give a time above zero, or leave it empty."),
    "router.no_intents": _("Enable an intent, or add one."),
    "router.phrase_ambiguous": _("Remove it from one of the two lists."),
    "router.phrase_empty": _("Remove the empty line."),
    "router.phrase_keyword": _(
        "Remove the phrase: who asks for something else at a confirmation must not confirm by it."
    ),
    "router.phrase_rejects": _("Remove it from one of the two lists."),
    "router.threshold_range": _("Give a number from 0 to 1, for example 0.65."),
    "server.command_missing": _("Give the command that starts the server, or choose the HTTP transport."),
    "server.command_not_allowed": _(
        "Ask whoever runs the installation to add the command to MCP_STDIO_COMMANDS, or use an HTTP address."
    ),
    "server.command_unused": _("Remove the command, or choose the stdio transport."),
    "server.endpoint_malformed": _("Correct the address; it begins with http:// or https:// and names a host."),
    "server.endpoint_missing": _(
        "Give the address at which the server answers, for example https://tools.example.com/mcp."
    ),
    "server.endpoint_scheme": _("Write the address with http:// or https://."),
    "server.endpoint_unused": _("Remove the address, or choose the HTTP transport."),
    "server.name_malformed": _("Correct the name of the header or variable."),
    "server.reference_malformed": _("Write the reference as ${NAME}, with letters, digits and _ only."),
    "text.secret": _("Take it out and change it: models, customers and exported files may have shown it."),
    "server.own_secret": _("Give this server a credential of its own, in a variable that nothing else uses."),
    "server.secret_literal": _(
        "Put the secret into an environment variable of the installation and write ${NAME} here; change the "
        "secret, because it was readable."
    ),
    "server.value_malformed": _("Write the value in one line."),
    "simulation.differs": _("Correct the draft, or open the simulation and accept the new result."),
    "simulation.needs_reading": _("Open the simulation and record it anew: the model reads it once more."),
    "tool.cache_unused": _("Turn the cache off, or make the tool read only if it changes nothing."),
    "tool.keyword_empty": _("Remove the empty line."),
    "tool.keyword_twice": _("Give each tool of the intent words of its own."),
    "tool.no_description": _("Say in one or two sentences what the tool does for customers."),
    "tool.not_offered": _("Name it in an intent, or disable it if nobody needs it."),
    "tool.server_missing": _("Choose the server that offers the tool."),
    "tool.server_unknown": _("Choose a server that is defined, or define this one first."),
    "workflow.action_disabled": _("Enable the tool and its server, or take the node out."),
    "workflow.action_missing": _("Name the tool that the node calls."),
    "workflow.action_unknown": _("Choose a tool that is defined, or define this one first."),
    "workflow.argument_missing": _("Add the argument to the node's input, for example as $.input.NAME."),
    "workflow.argument_unknown": _("Correct the name, or add the argument to the tool."),
    "workflow.cycle": _("Remove one of the transitions; a workflow only goes forward."),
    "workflow.edge_never": _("Give the earlier transition a condition, or put this one before it."),
    "workflow.edge_unknown": _("Correct the id, or add the node."),
    "workflow.empty": _("Add the node that calls the tool."),
    "workflow.input_unknown": _("Correct the name, or add the argument to the tool that runs the workflow."),
    "workflow.node_id_missing": _("Give the node an id."),
    "workflow.node_twice": _("Give each node an id of its own."),
    "workflow.reference_later": _("Refer to a node that runs before, or change the transitions."),
    "workflow.reference_malformed": _(
        "Write $.input.NAME for what was asked, or $.nodes.ID.FIELD for what a node answered."
    ),
    "workflow.reference_unknown": _("Correct the id, or add the node."),
    "workflow.retry": _("Give a number of 0 or more."),
    "workflow.retry_unused": _("Remove retry; only what changes nothing is called again."),
    "workflow.second_action": _(
        "Let the node call a tool that changes nothing; of the actions a workflow calls its own only."
    ),
    "workflow.start_missing": _("Name the node to begin with."),
    "workflow.start_unknown": _("Correct the id, or add the node."),
    "workflow.too_large": _("Divide it: what belongs together can be done by one tool of the server."),
    "workflow.tool_twice": _("Leave one node that calls the tool; its server handles several items in one call."),
    "workflow.unreachable": _("Add a transition to the node, or remove it."),
    "workflow.unused": _("Name it in a policy, or remove it if nobody needs it."),
    "workflow.version": _("Give a whole number, beginning with 1."),
    "workflow.when_exists": _("Write true or false."),
    "workflow.when_in": _("Write a list of values."),
    "workflow.when_operator": _("Leave exactly one condition."),
    "workflow.when_path": _("Say what is compared, for example $.nodes.ID.ok."),
}

HINTS = {**HINTS_OF_CHECKS, **HINTS_OF_FILES}
"""The code of a finding, or of a problem of a file → one sentence, in English; pages translate it."""

TICKS = {
    "policy.action_repeated": _("%(name)s may do the same thing twice."),
    "policy.fail_open": _("%(name)s may act on items that nobody checked."),
    "policy.identity_asked": _("customers of %(name)s may name what belongs to somebody else."),
    "policy.no_confirmation": _("%(name)s may run without asking the customer first."),
    "router.phrase_keyword": _("this phrase may confirm, even from customers who ask for something else."),
}
"""The code of a finding that needs a tick → what the person agrees to, with the name of the tool."""


def hint_of(code: str) -> str:
    """One sentence; empty for a code that nobody described."""
    return HINTS.get(code, "")
