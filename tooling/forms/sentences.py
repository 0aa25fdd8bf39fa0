"""Every sentence of the checks and of the reader that a form or the publish page may show, to be translated.

The checks and the reader speak English, for files and the command. ``tooling.forms.wording`` finds the sentence that
made a message and says it in the reader's language; a test keeps this list complete.
"""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

SENTENCES = (
    # Names
    gettext_noop("a name of %(length)s characters, the limit is %(limit)s"),
    gettext_noop('"%(name)s" is no name: use letters, digits, _ . - and :, with no spaces'),
    gettext_noop("longer than %(limit)s characters"),
    gettext_noop("%(key)s: longer than %(limit)s characters"),
    # Servers
    gettext_noop("endpoint is not used with stdio"),
    gettext_noop("command is used with stdio only"),
    gettext_noop("a stdio server needs a command"),
    gettext_noop('command "%(command)s" is not in the list of allowed stdio commands (MCP_STDIO_COMMANDS)'),
    gettext_noop("%(key)s is missing; give the server's http or https address"),
    gettext_noop('"%(address)s" is not an address'),
    gettext_noop('scheme "%(scheme)s" is not allowed; use http or https'),
    gettext_noop("%(key)s holds a literal secret; send it in a header with a ${ENV} reference"),
    gettext_noop('"%(name)s" is not the name of a %(kind)s'),
    gettext_noop('%(kind)s "%(name)s": a reference is written ${NAME}'),
    gettext_noop('%(kind)s "%(name)s" holds a literal secret; use a ${ENV} reference'),
    gettext_noop('%(kind)s "%(name)s" would send %(variable)s, which belongs to this installation alone'),
    gettext_noop('%(kind)s "%(name)s" must be one line'),
    gettext_noop("this text seems to hold a credential; models and files show it"),
    # Tools and arguments
    gettext_noop('tool "%(tool)s" names no mcp_server'),
    gettext_noop('mcp_server "%(name)s" is not in mcp_servers.yaml'),
    gettext_noop('tool "%(tool)s" has no description; the language model chooses by it'),
    gettext_noop("cache has no effect: %(tool)s is %(operation)s, and only read_only answers are cached"),
    gettext_noop('tool "%(tool)s" has an empty selection keyword'),
    gettext_noop("format: longer than %(limit)s characters"),
    gettext_noop('items has no effect: "%(name)s" is %(type)s, not array'),
    gettext_noop("enum: %(value)s is not of type %(type)s"),
    # Policies
    gettext_noop('policy for "%(name)s", which is not in tools.yaml'),
    gettext_noop("%(tool)s is transactional and runs without a confirmation"),
    gettext_noop(
        "the confirmation cannot name what will be done; list in requires what the customer must say "
        "before %(tool)s runs"
    ),
    gettext_noop("fail_open is on: items that were not validated will pass when the validator is down"),
    gettext_noop('%(tool)s requires "%(name)s", which is not in its args_schema'),
    gettext_noop('"%(name)s" is named twice'),
    gettext_noop("%(key)s %(value)s is not between %(least)s and %(most)s"),
    gettext_noop("%(key)s %(value)s must be above 0"),
    gettext_noop("%(key)s must be above 0"),
    gettext_noop("pre_validation is enabled and names no tool"),
    gettext_noop('validator "%(tool)s" is not in tools.yaml'),
    gettext_noop('validator "%(tool)s" is %(operation)s; a validator must be internal'),
    gettext_noop('validator "%(tool)s" is disabled: every request for %(user)s goes on unchecked'),
    gettext_noop('validator "%(tool)s" is disabled: every request for %(user)s is refused'),
    gettext_noop('validator "%(tool)s" must not have a pre_validation of its own'),
    gettext_noop("validator loop: %(way)s"),
    gettext_noop('reconcile tool "%(tool)s" is not in tools.yaml'),
    gettext_noop('reconcile tool "%(tool)s" is %(operation)s; it must be internal or read_only'),
    gettext_noop("workflow has no effect with mode direct_tool"),
    gettext_noop("mode workflow names no workflow"),
    gettext_noop('workflow "%(workflow)s" is not among the workflows'),
    gettext_noop('workflow "%(workflow)s" has no version %(version)s, only %(known)s'),
    gettext_noop('workflow "%(workflow)s" v%(version)s never calls %(tool)s; it could only fail'),
    # Mappings
    gettext_noop('mapping for "%(name)s", which is not in tools.yaml'),
    gettext_noop('%(part)s: "%(name)s" is not in the args_schema of %(tool)s'),
    gettext_noop('%(part)s for "%(name)s" never runs: it is in requires'),
    gettext_noop('%(part)s for "%(name)s" never applies: it is in requires'),
    gettext_noop('default of "%(name)s" is not of its type %(type)s'),
    gettext_noop('default of "%(name)s" is none of %(known)s'),
    gettext_noop('from: "%(source)s" is not known; read from the message'),
    gettext_noop("strategy %(strategy)s needs a pattern"),
    gettext_noop("pattern is not a regular expression: %(detail)s"),
    gettext_noop("group %(group)s does not exist; the pattern has %(count)s"),
    # Intents, router, profiles
    gettext_noop('mcp_tools "%(tool)s" is not in tools.yaml'),
    gettext_noop('tool "%(tool)s" is internal; it is never offered to users'),
    gettext_noop('intent "%(intent)s" names no tool; choosing it does nothing'),
    gettext_noop('intent "%(intent)s" has an empty keyword'),
    gettext_noop('intent "%(intent)s" has an empty example'),
    gettext_noop("%(part)s: an empty phrase"),
    gettext_noop('"%(phrase)s" cannot both confirm and reject; remove one of them'),
    gettext_noop("api_key_env must be the name of an environment variable, never the key itself"),
    # Workflows
    gettext_noop("version must be 1 or higher"),
    gettext_noop("a workflow needs at least one node"),
    gettext_noop("a workflow has at most %(nodes)s nodes and %(edges)s edges"),
    gettext_noop("a workflow needs a name"),
    gettext_noop("a workflow needs a version"),
    gettext_noop("node %(number)s has no id"),
    gettext_noop('node "%(node)s" is defined twice'),
    gettext_noop('node "%(node)s" has no action'),
    gettext_noop('action "%(action)s" is not in tools.yaml'),
    gettext_noop('input "%(name)s" is not in the args_schema of %(tool)s'),
    gettext_noop("%(key)s: expected a number of 0 or more"),
    gettext_noop("the workflow names no start"),
    gettext_noop('start "%(node)s" is not a node'),
    gettext_noop('edge %(end)s "%(node)s", which is not a node'),
    gettext_noop('node "%(node)s" cannot be reached from "%(start)s"'),
    gettext_noop("cycle: %(way)s"),
    gettext_noop("more than one node calls %(tool)s: %(nodes)s; it is called once"),
    gettext_noop("%(action)s is transactional; of those a workflow of %(tool)s may call only %(user)s"),
    gettext_noop("retry has no effect: %(action)s is %(operation)s, not read_only or internal"),
    gettext_noop('the edge to "%(node)s" is never taken: one without when comes before it'),
    gettext_noop("when needs exactly one of %(known)s"),
    gettext_noop("exists: expected true or false"),
    gettext_noop("in: expected a list"),
    gettext_noop("when needs a path such as $.nodes.ID.field"),
    gettext_noop('"%(reference)s" is no reference; write $.input.NAME or $.nodes.ID.FIELD'),
    gettext_noop('"%(reference)s" names the node "%(node)s", which does not exist'),
    gettext_noop('"%(reference)s" is always empty: node "%(node)s" never runs before'),
    gettext_noop('"%(reference)s" is not in the args_schema of %(tool)s'),
    # What is allowed and worth a second look
    gettext_noop('keyword "%(keyword)s" has neither letters nor digits; no message matches it'),
    gettext_noop('keyword "%(keyword)s" is also one of intent "%(intent)s", which gets the message: %(why)s'),
    gettext_noop('a message with "%(longest)s" goes to intent "%(intent)s": its keyword is longer'),
    gettext_noop('example "%(example)s" is also one of intent "%(intent)s"; it tells nobody which is meant'),
    gettext_noop(
        'intent "%(intent)s" has more than one tool without selection keywords: %(tools)s; '
        "the customer is asked which, and no answer can choose"
    ),
    gettext_noop(
        'selection keyword "%(keyword)s" is also one of %(tool)s: who says it to intent "%(intent)s" '
        "is asked which is meant, and the same words do not choose"
    ),
    gettext_noop('"%(phrase)s" is among the rejecting phrases, too, with other accents or case: it rejects'),
    gettext_noop('"%(phrase)s" confirms what is open, although customers ask with it for intent "%(intent)s"'),
    gettext_noop('"%(name)s" is required, and no text says how to ask for it'),
    gettext_noop('"%(name)s" is required, and its schema does not say what is inside: nobody can say it in a chat'),
    gettext_noop("enum: %(value)s is also what is read where the customer says nothing"),
    gettext_noop("enum: %(value)s and %(other)s are the same to customers, who write without case and accents"),
    gettext_noop(
        'validator "%(tool)s" stands on the disabled server "%(server)s": every request for %(user)s %(consequence)s'
    ),
    gettext_noop('validator "%(tool)s" takes nothing of what %(user)s collects; it cannot check it'),
    gettext_noop('validator "%(tool)s" requires "%(name)s", which is no argument of %(user)s'),
    gettext_noop("when a call of %(tool)s gets no answer, only an operator can find out what became of it"),
    gettext_noop('reconcile tool "%(tool)s" is disabled: unknown outcomes of %(user)s go to operators'),
    gettext_noop(
        'reconcile tool "%(tool)s" stands on the disabled server "%(server)s": '
        "unknown outcomes of %(user)s go to operators"
    ),
    gettext_noop(
        'reconcile tool "%(tool)s" takes neither idempotency_key nor items; it cannot know which call is meant'
    ),
    gettext_noop('intent "%(intent)s" has neither keywords nor examples; the model knows its description only'),
    gettext_noop('intent "%(intent)s" has no description, keyword or example; only its name leads to it'),
    gettext_noop('tool "%(tool)s" is disabled; customers are told that it is not available'),
    gettext_noop(
        'tool "%(tool)s" stands on the disabled server "%(server)s"; customers are told that it is not available'
    ),
    gettext_noop("no intent is enabled; customers cannot ask for anything"),
    gettext_noop('no intent offers the tool "%(tool)s"; customers cannot ask for it'),
    gettext_noop('no policy runs the workflow "%(workflow)s"'),
    gettext_noop('node "%(node)s" calls "%(tool)s", which is disabled; a run ends there'),
    gettext_noop('node "%(node)s" calls "%(tool)s" on the disabled server "%(server)s"; a run ends there'),
    gettext_noop('node "%(node)s" does not give %(tool)s "%(name)s", which it requires'),
    gettext_noop(
        "%(tool)s is of type action, and its policy makes it %(operation)s: "
        "a call without an answer is repeated, and what it does may be done twice"
    ),
    gettext_noop(
        '"%(name)s" is asked of the customer, although the signed identity has it: '
        "customers could name somebody else's"
    ),
    gettext_noop('without a signed identity %(tool)s runs, and without "%(name)s"'),
    gettext_noop("%(tool)s needs a signed identity, and nothing of it is sent to its server"),
    gettext_noop("after %(seconds)s seconds the request expires; customers need longer to answer"),
    gettext_noop("park has no effect: %(tool)s never waits for a confirmation"),
    gettext_noop('server "%(server)s" did not list %(tool)s when it was asked last'),
    gettext_noop('server "%(server)s" wants the argument "%(name)s" of %(tool)s, which is not in its args_schema'),
    gettext_noop(
        'server "%(server)s" wants the argument "%(name)s" of %(tool)s, and neither requires nor the mapping gives it'
    ),
    gettext_noop('server "%(server)s" does not know the argument "%(name)s" of %(tool)s'),
    gettext_noop('server "%(server)s" takes the argument "%(name)s" of %(tool)s in another type: %(types)s'),
    gettext_noop('server "%(server)s" does not take these values of "%(name)s" of %(tool)s: %(values)s'),
    # What the reader says of a text typed into a form
    gettext_noop('unknown key "%(name)s": has no effect; remove it'),
    gettext_noop('"%(name)s" does not belong here; remove it'),
    gettext_noop('exactly one entry is expected below "%(name)s", got %(count)s'),
    gettext_noop('this belongs to the tool "%(tool)s", which cannot be changed here'),
    gettext_noop('"%(name)s" belongs to the policy of the tool; write it there'),
    gettext_noop("%(key)s: expected %(expected)s, got %(got)s"),
    gettext_noop("expected a mapping, got %(got)s"),
    gettext_noop("%(key)s: %(value)s is not between %(least)s and %(most)s"),
    gettext_noop('%(key)s "%(value)s" is none of %(known)s'),
    gettext_noop('type "%(value)s" read as %(type)s'),
    gettext_noop("%(size)s bytes, the limit is %(limit)s"),
    gettext_noop("byte order mark ignored"),
    gettext_noop("byte %(byte)s is not UTF-8"),
    gettext_noop("character %(character)s is not allowed"),
    gettext_noop("a second document begins"),
    gettext_noop("aliases are not allowed"),
    gettext_noop("nested more than %(depth)s deep, the limit is %(limit)s"),
    gettext_noop("nested %(depth)s deep, the limit is %(limit)s"),
    gettext_noop('duplicate key "%(name)s"'),
    gettext_noop("a key must be a text"),
    gettext_noop('"%(value)s" is not a finite number'),
    gettext_noop("NUL and surrogates cannot be stored"),
    gettext_noop('tag "%(tag)s" is not allowed'),
    gettext_noop("a tab cannot indent; use spaces"),
    gettext_noop("mapping values are not allowed here"),
    gettext_noop("mapping values are not allowed in this context"),
    gettext_noop("did not find expected key"),
    gettext_noop("did not find expected ',' or ']'"),
    gettext_noop("did not find expected ',' or '}'"),
    gettext_noop("could not find expected ':'"),
    gettext_noop("found unexpected end of stream"),
    gettext_noop("found character that cannot start any token"),
    # Hints
    gettext_noop('did you mean "%(word)s"?'),
    gettext_noop("split the set into several directories"),
    gettext_noop("save the file as UTF-8 without BOM"),
    gettext_noop("save the file as UTF-8"),
    gettext_noop("remove it, or write it as an escape in quotes"),
    gettext_noop("one file holds one document"),
    gettext_noop("write the value out"),
    gettext_noop("flatten it"),
    gettext_noop("the first one is in line %(line)s"),
    gettext_noop("remove the escape"),
    gettext_noop("environment values are written ${NAME}, in headers and env only"),
    gettext_noop("remove it"),
    gettext_noop("check the indentation; quote a text that contains a colon"),
    gettext_noop("check the indentation"),
    gettext_noop("a list is not closed"),
    gettext_noop("a mapping is not closed"),
    # Publishing
    gettext_noop("nothing changed since release %(number)s; there is nothing to publish"),
    gettext_noop(
        "nobody but its author ever approved what release %(number)s holds: import its files into the draft and "
        "request the publication"
    ),
    gettext_noop("whoever made or requested a change cannot decide about it; another person has to"),
    gettext_noop("only a person can decide about a request, not an API key"),
    gettext_noop("the request was %(status)s by %(by)s already"),
    gettext_noop("release %(number)s was published since the request; withdraw or reject it, and ask again"),
    gettext_noop("a request of %(by)s waits; it has to be decided or withdrawn first"),
    gettext_noop("a rejection needs a reason"),
    # Saved simulations
    gettext_noop('the saved simulation "%(name)s" ends as %(ending)s instead of %(planned)s'),
    gettext_noop('the saved simulation "%(name)s" comes out differently (%(count)s)'),
    gettext_noop('the saved simulation "%(name)s" needs an answer that is not recorded'),
)

NO_YAML = _("this is not valid YAML")
"""For what the YAML library says in its own words, which nobody can list."""

ENDINGS = {
    "COLLECTING_PARAMETERS": _("Collecting data"),
    "PRE_VALIDATING": _("Checking"),
    "AWAITING_CONFIRMATION": _("Awaiting confirmation"),
    "EXECUTING": _("Running"),
    "PARKED": _("Set aside"),
    "REFUSED": _("Refused"),
    "CANCELLED": _("Cancelled"),
    "ABANDONED": _("Abandoned"),
    "EXPIRED": _("Expired"),
}
"""How a simulation may end; it executes nothing, so that it never succeeds or fails."""

WORDS = {
    "ending": ENDINGS,
    "planned": ENDINGS,
    "consequence": {"goes on unchecked": _("goes on unchecked"), "is refused": _("is refused")},
    "why": {
        "its priority number is lower": _("its priority number is lower"),
        "its name comes first": _("its name comes first"),
    },
    "kind": {"header": _("header"), "env": _("environment variable")},
    "operation": {
        "read_only": _("read only"),
        "conversational": _("conversational"),
        "transactional": _("transactional"),
        "internal": _("internal"),
    },
    "part": {
        "map": _("from the identity"),
        "defaults": _("default values"),
        "extract": _("read from the message"),
        "confirm": _("confirming phrases"),
        "reject": _("rejecting phrases"),
    },
    "type": {
        "string": _("text"),
        "integer": _("whole number"),
        "number": _("number"),
        "boolean": _("yes or no"),
        "array": _("list"),
        "object": _("object"),
    },
    "key": {
        "confidence_threshold": _("confidence threshold"),
        "temperature": _("temperature"),
        "timeout_seconds": _("time limit (seconds)"),
        "max_tokens": _("most tokens"),
        "max_items": _("most items at once"),
        "expires_after": _("expires after (seconds)"),
        "endpoint": _("endpoint"),
        "base_url": _("address"),
        "api_key_env": _("variable with the API key"),
        "provider": _("provider"),
        "model": _("model"),
        "domain": _("domain"),
        "agent": _("agent"),
    },
    "expected": {
        "text": _("a text"),
        "true or false": _("true or false"),
        "a whole number": _("a whole number"),
        "a number": _("a number"),
        "a list": _("a list"),
        "a list of texts": _("a list of texts"),
        "a list of mappings": _("a list of mappings"),
        "a mapping": _("a mapping"),
        "a type or a mapping": _("a type or a mapping"),
    },
    "got": {
        "nothing": _("nothing"),
        "true": _("true"),
        "false": _("false"),
        "a list": _("a list"),
        "a mapping": _("a mapping"),
    },
}
"""What some places of the sentences hold, in words; other values are shown as they are."""

GOT = (gettext_noop('the text "%(text)s"'), gettext_noop("the number %(value)s"))
