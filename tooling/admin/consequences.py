"""What follows for customers from a change of a definition: a sentence beside the line, marked where it is riskier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tooling.differences import Change, ChangeKind
from tooling.own_secrets import REFERENCE
from tooling.specs import JSON


@dataclass(frozen=True, slots=True)
class Consequence:
    text: str
    is_riskier: bool = False


Rule = Callable[[JSON, JSON], Consequence | None]


def consequence_of(change: Change) -> Consequence | None:
    """The consequence of one change; None where there is nothing to say beyond the line itself."""
    if change.kind is ChangeKind.REMOVED and change.path[0] == "tools" and len(change.path) == 2:
        return Consequence(_("customers can no longer use it; what is open ends on its release"))
    if change.kind is ChangeKind.ADDED and change.path[0] == "servers" and len(change.path) == 2:
        return _new_server(change.new)
    field = (change.path[0], *change.path[1 if change.path[0] == "router" else 2 :])
    if change.kind is not ChangeKind.CHANGED:
        # A phrase or header that comes or goes is a change of the whole of them.
        field = field[:2] if field[:2] in WHOLE else field
    rule = WHOLE.get(field[:2]) or RULES.get(field)
    return rule(change.old, change.new) if rule else None


def _switch(on: object, off: object, *, risky: bool | None = None) -> Rule:
    """Of a yes or no; ``risky`` is the value that is."""

    def rule(old: JSON, new: JSON) -> Consequence:
        return Consequence(str(on if new else off), risky is not None and bool(new) is risky)

    return rule


def _choice(texts: Mapping[str, object], risky: str) -> Rule:
    def rule(old: JSON, new: JSON) -> Consequence | None:
        return Consequence(str(texts[new]), new == risky) if new in texts else None

    return rule


def _limit(less: object, more: object, *, risky_less: bool = False, risky_more: bool = False) -> Rule:
    """Of a number, where none means no limit."""

    def rule(old: JSON, new: JSON) -> Consequence:
        grows = new is None or (old is not None and new > old)
        return Consequence(str(more if grows else less), risky_more if grows else risky_less)

    return rule


def _new_server(server: JSON) -> Consequence | None:
    """Which variables of the environment it would be sent, and where."""
    values = [*server.get("headers", {}).values(), *server.get("env", {}).values()]
    names = sorted({name for value in values for name in REFERENCE.findall(value)})
    if not names:
        return None
    where = server.get("endpoint") or server.get("command", "")
    text = _("the values of %(names)s are sent to %(where)s")
    return Consequence(text % {"names": ", ".join(names), "where": where}, True)


def _always(text: object, *, risky: bool = True) -> Rule:
    def rule(old: JSON, new: JSON) -> Consequence:
        return Consequence(str(text), risky)

    return rule


def _requires(old: JSON, new: JSON) -> Consequence | None:
    gone = [name for name in old or [] if name not in (new or [])]
    come = [name for name in new or [] if name not in (old or [])]
    if gone:
        return Consequence(_("nobody asks for %(names)s any more") % {"names": ", ".join(map(str, gone))}, True)
    if come:
        return Consequence(_("customers are asked for %(names)s") % {"names": ", ".join(map(str, come))})
    return None


def _timeout(old: JSON, new: JSON) -> Consequence:
    shorter = new is not None and (old is None or new < old)
    if shorter:
        return Consequence(_("a slow answer becomes an unknown outcome sooner"), True)
    return Consequence(_("customers wait longer for a slow server"))


def _operation(old: JSON, new: JSON) -> Consequence | None:
    if old == "transactional":
        return Consequence(_("it no longer counts as something that changes what customers have"), True)
    if new == "transactional":
        return Consequence(_("it counts as something that changes what customers have"))
    return None


def _reconcile(old: JSON, new: JSON) -> Consequence:
    if new:
        return Consequence(_("this tool is asked what became of an unknown outcome"))
    return Consequence(_("nobody is asked what became of an unknown outcome; an operator decides"), True)


RULES: dict[tuple[str, ...], Rule] = {
    ("policies", "pre_validation", "fail_open"): _switch(
        gettext_lazy("items that were not validated will pass"),
        gettext_lazy("without a verdict of the validator nothing is executed"),
        risky=True,
    ),
    ("policies", "pre_validation", "enabled"): _switch(
        gettext_lazy("every item is checked before the customer confirms"),
        gettext_lazy("nothing is checked before the customer confirms"),
        risky=False,
    ),
    ("policies", "pre_validation", "tool"): _always(gettext_lazy("another validator decides what may be done")),
    ("policies", "require_confirmation"): _switch(
        gettext_lazy("the customer is asked before it runs"),
        gettext_lazy("it runs without asking the customer"),
        risky=False,
    ),
    ("policies", "requires_identity"): _switch(
        gettext_lazy("only signed-in customers can use it"),
        gettext_lazy("customers who are not signed in can use it"),
        risky=False,
    ),
    ("policies", "requires"): _requires,
    ("policies", "operation_type"): _operation,
    ("policies", "reconcile_tool"): _reconcile,
    ("policies", "timeout_seconds"): _timeout,
    ("policies", "idempotency"): _choice(
        {
            "key": gettext_lazy("a call without an answer is sent again: right only if the server runs one key once"),
            "none": gettext_lazy("a call without an answer is never sent again; an operator decides"),
        },
        "key",
    ),
    ("policies", "on_intent_shift"): _choice(
        {
            "park": gettext_lazy("what waits for its confirmation is set aside and offered again"),
            "abandon": gettext_lazy("an open request ends when the customer asks for something else"),
        },
        "abandon",
    ),
    ("policies", "atomicity"): _choice(
        {
            "all_or_nothing": gettext_lazy("a set that is only partly eligible is refused as a whole"),
            "best_effort": gettext_lazy("of a set that is only partly eligible, the eligible part is done"),
        },
        "best_effort",
    ),
    ("policies", "max_items"): _limit(
        gettext_lazy("longer lists are refused"),
        gettext_lazy("one confirmation can cover more items"),
        risky_more=True,
    ),
    ("policies", "expires_after"): _limit(
        gettext_lazy("open requests end sooner"), gettext_lazy("open requests stay open longer")
    ),
    ("tools", "enabled"): _switch(
        gettext_lazy("customers can use it"),
        gettext_lazy("customers can no longer use it; what is open ends on its release"),
    ),
    ("tools", "mcp_server"): _always(gettext_lazy("its calls go to another server")),
    ("servers", "enabled"): _switch(
        gettext_lazy("its tools can be called"), gettext_lazy("none of its tools can be called"), risky=False
    ),
    ("servers", "endpoint"): _always(gettext_lazy("all calls of this server go to another address")),
    ("servers", "command"): _always(gettext_lazy("another program is started for this server")),
    ("servers", "transport"): _always(gettext_lazy("this server is reached in another way")),
    ("intents", "enabled"): _switch(
        gettext_lazy("messages can lead there"), gettext_lazy("no message leads there any more")
    ),
    ("router", "confidence_threshold"): _limit(
        gettext_lazy("less certain readings of a message count"),
        gettext_lazy("customers are asked again more often"),
        risky_less=True,
    ),
}
"""Section and field → what a change of it means."""

WHOLE: dict[tuple[str, ...], Rule] = {
    ("servers", "args"): _always(gettext_lazy("another program is started for this server")),
    ("servers", "headers"): _always(gettext_lazy("its calls carry other headers")),
    ("servers", "env"): _always(gettext_lazy("its program gets other variables")),
    ("router", "confirmation_phrases"): _always(gettext_lazy("other words count as a yes or a no")),
}
"""Fields of which every part means the same."""
