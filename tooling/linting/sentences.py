"""A sentence for every fault, and one for what to do about it; ``items``, ``detail`` and ``call`` are filled in."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from tooling.linting.faults import Code
from tooling.linting.probes import Why

MESSAGES: Mapping[Code, object] = {
    Code.CALL_REFUSED: _("The server refuses the call as the definition makes it: %(detail)s"),
    Code.NOT_STRUCTURED: _("An answer is plain text and no object: %(detail)s"),
    Code.BREAKS_SCHEMA: _("An answer breaks the server's own output schema: %(detail)s"),
    Code.NO_ROWS: _("Several items, but no row for each: %(items)s would all stay “being verified”."),
    Code.MISSING_ROW: _("No row for %(items)s: the customer would read “being verified” until an operator settles it."),
    Code.EXTRA_ROW: _("A row for something that was not asked for: %(items)s. Operators would get an incident."),
    Code.EXTRA_DONE: _("The server reports something as done that nobody asked for: %(items)s."),
    Code.FLAG_NOT_BOOLEAN: _("The verdict is no true or false (%(detail)s): %(items)s would stay “being verified”."),
    Code.FLAG_MISSING: _("A row says neither success nor ok: %(items)s would stay “being verified”."),
    Code.FLAGS_DISAGREE: _("A row says two things at once (%(detail)s): %(items)s would stay “being verified”."),
    Code.ROWS_DISAGREE: _("Two rows about one item contradict each other: %(items)s would stay “being verified”."),
    Code.ROWS_REPEATED: _("More than one row for %(items)s; they agree, so one counts."),
    Code.ROWS_ANONYMOUS: _(
        "Rows do not say which item they are about: as soon as one fails and another does not, %(items)s would "
        "stay “being verified”."
    ),
    Code.ROW_AMBIGUOUS: _("A row fits more than one item: %(items)s would stay “being verified”."),
    Code.REFUSAL_TOLD_AS_DONE: _("The server refuses %(items)s, but the customer would be told that it was done."),
    Code.EXAMPLE_FAILED: _("The server calls %(items)s an example of success, and it fails: %(detail)s"),
    Code.ORDER_MATTERS: _("In another order %(items)s comes to the opposite: somebody would be told a wrong result."),
    Code.WHOLE_CONTRADICTS: _("Every item succeeded, but the answer as a whole says that it failed."),
    Code.NO_REASON: _("No reason for %(items)s: the customer would read only that it failed."),
    Code.NO_PROTOCOL: _("No protocol number for %(items)s: the customer would have nothing to quote."),
    Code.KEY_NOT_ECHOED: _("Rows do not echo item_key: %(items)s is recognised by its name alone."),
    Code.UNTRIED: _("Not tried, because there are no examples or no time: %(call)s."),
    Code.EXAMPLES_MALFORMED: _("What the server declares as examples cannot be read."),
    Code.KEY_IGNORED: _("The same request under the same key ran a second time."),
    Code.KEY_NOT_SHOWN: _("Nothing in the answers shows whether the same request runs only once."),
    Code.KEY_TAKES_OTHERS: _("The key of one request was taken for another one: %(items)s."),
    Code.KEY_COULD_BE_USED: _("The server runs the same request only once, and the policy does not use that."),
    Code.RECONCILE_NO_LIST: _(
        "The reconcile tool %(detail)s answers without results: nothing unknown would be settled."
    ),
    Code.RECONCILE_INVENTS: _("The reconcile tool %(detail)s calls done what never was: %(items)s."),
    Code.DRY_RUN_HAD_EFFECT: _(
        "After a dry run %(items)s does not succeed any more: the dry run seems to have been real. The check was "
        "stopped at once."
    ),
    Code.DRY_RUN_RECONCILED: _(
        "Asked afterwards, the reconcile tool %(detail)s says that the dry run of %(items)s was carried out. The "
        "check was stopped at once."
    ),
    Code.DRY_RUN_ALWAYS: _(
        "The definition fills the argument %(detail)s, which marks a dry run: real calls would be dry runs, and "
        "customers would be told that something was done."
    ),
    Code.NO_VERDICT: _("No verdict: eligible is neither true nor false (%(detail)s)."),
    Code.REFUSAL_PASSES: _("The server refuses %(items)s, but its validator lets it pass."),
    Code.ELIGIBLE_REFUSED: _("The server calls %(items)s an example of success, and its validator refuses: %(detail)s"),
    Code.ITEM_FLAG: _("eligible of %(items)s is no true or false (%(detail)s): the customer is refused that item."),
    Code.ITEM_NAMELESS: _("An item of the validator has no name: customers could not read what they confirm."),
    Code.ITEM_DROPPED: _("The validator does not name %(items)s: the customer would not hear of it any more."),
    Code.ITEM_ADDED: _("The validator names something that was not asked for: %(items)s."),
    Code.NO_ITEMS: _("The validator names no items: the question repeats the customer's words instead of naming each."),
    Code.ITEM_NO_REASON: _("No reason why %(items)s is refused: the customer would not read one either."),
    Code.BAD_PARAMETER: _("The validator asks for %(detail)s, which the policy does not require: no verdict."),
    Code.BAD_TARGET: _("The validator sends the customer on to another tool: %(detail)s."),
    Code.KEPT_IGNORED: _(
        "After the customer took items out, the validator still names %(items)s: it is asked for again."
    ),
    Code.NOT_REACHED: _("The server could not be called: %(detail)s"),
    Code.TOO_SLOW: _("No answer in time (%(detail)s): %(items)s would stay “being verified”."),
    Code.NEARLY_TOO_SLOW: _("An answer took %(detail)s seconds, which is close to the limit of the policy."),
    Code.TOO_LARGE: _("An answer is larger than 10 MiB and is not read: every item would stay “being verified”."),
    Code.NO_ANSWER: _("The call broke off: %(detail)s. Every item would stay “being verified”."),
    Code.SLOW_UNTRIED: _("The server declares no example that takes long, so slowness was not tried."),
}

_ROW = _("Answer one row for each item that was sent, with its item_key and a literal true or false in success.")
_DECLARE = _("Declare examples of that kind in agentplatform/fixtures.")
HINTS: Mapping[Code, object] = {
    Code.CALL_REFUSED: _("Compare the tool's arguments with the live server, and correct the definition."),
    Code.NOT_STRUCTURED: _("Answer structured content, or an object as JSON text."),
    Code.BREAKS_SCHEMA: _("Correct the output schema, or the answer."),
    Code.NO_ROWS: _ROW,
    Code.MISSING_ROW: _ROW,
    Code.EXTRA_ROW: _("Answer only about the items that were sent."),
    Code.EXTRA_DONE: _("Do only what was sent: customers confirmed nothing else."),
    Code.FLAG_NOT_BOOLEAN: _ROW,
    Code.FLAG_MISSING: _ROW,
    Code.FLAGS_DISAGREE: _("Send only success, or the same in both."),
    Code.ROWS_DISAGREE: _ROW,
    Code.ROWS_REPEATED: _ROW,
    Code.ROWS_ANONYMOUS: _ROW,
    Code.ROW_AMBIGUOUS: _ROW,
    Code.REFUSAL_TOLD_AS_DONE: _("Say success: false, or set isError where there are no rows."),
    Code.EXAMPLE_FAILED: _("Bring the examples up to date, or let the dry run answer as a real call would."),
    Code.ORDER_MATTERS: _("Match results to items by their keys, never by their position."),
    Code.WHOLE_CONTRADICTS: _("Leave ok out where there are rows, or let it agree with them."),
    Code.NO_REASON: _("Put a reason into every row that failed."),
    Code.NO_PROTOCOL: _("Put a protocol into every row that succeeded."),
    Code.KEY_NOT_ECHOED: _("Copy the key of agentplatform/item_keys into item_key of the row."),
    Code.UNTRIED: _DECLARE,
    Code.EXAMPLES_MALFORMED: _("Compare the declaration with docs/contract-linter.md."),
    Code.KEY_IGNORED: _(
        "Keep the answer by agentplatform/idempotency_key and give it again; until then set idempotency to none."
    ),
    Code.KEY_NOT_SHOWN: _("Give every run a protocol of its own, and repeat it for the same key."),
    Code.KEY_TAKES_OTHERS: _("Refuse a known key that comes with other arguments."),
    Code.KEY_COULD_BE_USED: _("Set idempotency of the policy to key: what is unknown is then settled by asking again."),
    Code.RECONCILE_NO_LIST: _("Answer results with a row for each item whose fate is known; an empty list for none."),
    Code.RECONCILE_INVENTS: _("Answer only about calls that were made under that key."),
    Code.DRY_RUN_HAD_EFFECT: _(
        "Look at the real system first: something may have happened. Then let a dry run change nothing."
    ),
    Code.DRY_RUN_RECONCILED: _(
        "Look at the real system first: something may have happened. Then leave dry runs out of what is reported."
    ),
    Code.DRY_RUN_ALWAYS: _("Take the argument out of the mapping and of what the policy requires."),
    Code.NO_VERDICT: _("Answer eligible with a literal true or false."),
    Code.REFUSAL_PASSES: _("Say eligible: false for that item, with a reason."),
    Code.ELIGIBLE_REFUSED: _("Bring the examples up to date, or correct the validator."),
    Code.ITEM_FLAG: _("Say eligible with a literal true or false for every item."),
    Code.ITEM_NAMELESS: _("Give every item a label or a name."),
    Code.ITEM_DROPPED: _(
        "Name every item that was asked for; those that cannot be done with eligible: false and a reason."
    ),
    Code.ITEM_ADDED: _("That is right where a word stands for several things; else leave it out."),
    Code.NO_ITEMS: _("Answer transaction_decision.resolved_arguments.items with one entry for each item."),
    Code.ITEM_NO_REASON: _("Put a reason beside every eligible: false."),
    Code.BAD_PARAMETER: _("Name a parameter that the policy requires."),
    Code.BAD_TARGET: _("Make sure that this tool exists and is enabled."),
    Code.KEPT_IGNORED: _("Leave out what is not in keep_items."),
    Code.NOT_REACHED: _("Test the connection on the page of the server."),
    Code.TOO_SLOW: _("Answer faster, or raise the time limit of the policy."),
    Code.NEARLY_TOO_SLOW: _("Answer faster, or raise the time limit of the policy."),
    Code.TOO_LARGE: _("Answer only what customers and operators need."),
    Code.NO_ANSWER: _("Look into the server's log for what happened to this call."),
    Code.SLOW_UNTRIED: _DECLARE,
}

WHYS: Mapping[Why, object] = {
    Why.NOT_LISTED: _("The server does not offer this tool."),
    Why.NO_SANDBOX: _(
        "This tool changes something, and its server declares no sandbox for it. It is never called without "
        "one: ask the makers of the server to declare a dry run (agentplatform/sandbox)."
    ),
    Why.SANDBOX_MALFORMED: _("What the server declares as a sandbox cannot be read, so the tool is not called."),
    Why.SANDBOX_ARGUMENT_UNKNOWN: _(
        "The server declares a dry run by an argument that its own schema does not have. It might take the "
        "dry run for a real call, so the tool is not called."
    ),
    Why.SAYS_IT_CHANGES: _(
        "The definition says that this tool only reads, but the server says that it changes something. It is "
        "not called without a sandbox: correct its type, or ask the makers of the server."
    ),
    Why.NOT_DECLARED: _(
        "The server requires arguments that the definition does not have: %(names)s. Real calls would fail, "
        "too: add them to the tool."
    ),
    Why.VALUES_MISSING: _(
        "There is no value for: %(names)s. Give values, or ask the makers of the server to declare examples "
        "(agentplatform/fixtures)."
    ),
}
