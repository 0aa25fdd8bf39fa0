"""A simulation told as a story that needs no technical words, step by step, with the technical ones to fold out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.formats import number_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from tooling.specs import JSON, Definitions
from transactions.console import labels
from transactions.core.parameters import EMPTY, NOT_IN_THE_MESSAGE, NOT_PENDING, WRONG_TYPE
from transactions.core.statuses import Status
from transactions.rehearsal.outcome import CallSeen, IntentSeen, LineSeen, RequestSeen, Seen, ValidationSeen
from transactions.rehearsal.simulating import Source

DROPPED: Mapping[str, Any] = {
    NOT_IN_THE_MESSAGE: gettext_lazy("it does not stand in the message"),
    NOT_PENDING: gettext_lazy("it was not asked for"),
    WRONG_TYPE: gettext_lazy("it does not fit the type"),
    EMPTY: gettext_lazy("it is empty"),
}
SOURCES: Mapping[str, Any] = {
    Source.CALLED: gettext_lazy("really asked"),
    Source.GIVEN: gettext_lazy("as you chose"),
    Source.MADE_UP: gettext_lazy("made up"),
    Source.RECORDED: gettext_lazy("recorded"),
    "": gettext_lazy("not asked"),
}
COMPONENTS: Mapping[str, Any] = {
    "intent_routing": gettext_lazy("which request is meant"),
    "transaction_parameter_extraction": gettext_lazy("reading of values"),
    "confirmation_reply": gettext_lazy("reading of the reply to the confirmation"),
    "mcp_parameter_extraction": gettext_lazy("reading of additional values"),
}
DECISIONS: Mapping[str, Any] = {
    "shift": gettext_lazy("a new request"),
    "continue": gettext_lazy("more about the open request"),
    "question": gettext_lazy("a question"),
    "abandon": gettext_lazy("giving the request up"),
    "none": gettext_lazy("none of the known requests"),
}
GOOD, CARE, STOP, PLAIN = "good", "care", "stop", "plain"


@dataclass(frozen=True, slots=True)
class Fact:
    """``tone`` is a class of simulate.css."""

    text: str
    tone: str = PLAIN


@dataclass(frozen=True, slots=True)
class Folded:
    """JSON that opens on demand and can be copied."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """``quote``: what a customer would read."""

    title: str
    tone: str = PLAIN
    facts: Sequence[Fact] = ()
    quotes: Sequence[str] = ()
    folded: Sequence[Folded] = field(default=())


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier message, and what the customer read then."""

    said: str
    answers: Sequence[str]


@dataclass(frozen=True, slots=True)
class Story:
    earlier: Sequence[Exchange]
    said: str
    steps: Sequence[Step]
    rules: Sequence[str]
    model_calls: Sequence[str]
    is_whole: bool


def story(seen: Seen, definitions: Definitions, locale: str) -> Story:
    """``locale``: in which the labels of arguments are said."""
    *earlier, last = seen.lines
    teller = _Teller(definitions, locale)
    return Story(
        earlier=[Exchange(_said(line), line.answers) for line in earlier],
        said=_said(last),
        steps=[
            teller.understood(last, seen.last),
            teller.read(last, seen.last),
            teller.missing(seen.last),
            *teller.validated(seen.last),
            teller.told(last, seen.last),
            teller.call(seen),
        ],
        rules=[_rule(one.rule, one.section) for line in seen.lines for one in line.rules],
        model_calls=[_model_call(call) for line in seen.lines for call in line.model_calls],
        is_whole=seen.whole,
    )


def _said(line: LineSeen) -> str:
    return line.message if line.message is not None else _("(the request is open already)")


def _rule(rule: str, section: str) -> str:
    return f"{section} · {rule} · {labels.words(labels.RULES, rule)}"


def _model_call(call: Mapping[str, Any]) -> str:
    what = COMPONENTS.get(call["component"], call["component"])
    end = "" if call["ok"] else f" · {_('failed')}: {call.get('reason', '')}"
    return f"{what} · {_('profile')} {call['profile']} · {call['ms']} ms{end}"


@dataclass(frozen=True, slots=True)
class _Teller:
    definitions: Definitions
    locale: str

    # 1 ------------------------------------------

    def understood(self, line: LineSeen, request: RequestSeen | None) -> Step:
        intent = line.intent
        if intent is None:
            rule = line.rules[-1].rule if line.rules else ""
            title = (
                _("Understood: %(why)s.") % {"why": labels.words(labels.RULES, rule)}
                if rule
                else _("Nothing was said yet.")
            )
            return Step(title, STOP if rule == "model.unavailable" else PLAIN)
        if intent.by == "keyword":
            told = {"intent": intent.name, "keyword": intent.keyword}
            return Step(
                _("Understood the request “%(intent)s”, because the message contains “%(keyword)s”.") % told,
                GOOD,
                self._about(intent),
            )
        return self._by_model(intent, line)

    def _by_model(self, intent: IntentSeen, line: LineSeen) -> Step:
        told = {
            "intent": intent.name,
            "sure": _percent(intent.confidence),
            "needed": _percent(intent.threshold),
            "decision": DECISIONS.get(intent.decision, intent.decision),
        }
        why = [Fact(_("The model's reason: “%(reason)s”") % {"reason": intent.reason})] if intent.reason else []
        if not intent.name:
            return Step(_("The model took the message for %(decision)s.") % told, CARE, why)
        if (intent.confidence or 0) < (intent.threshold or 0):
            title = (
                _("Not sure enough: the model thought of “%(intent)s” with %(sure)s, and %(needed)s are needed.") % told
            )
            return Step(title, STOP, why)
        title = _("Understood the request “%(intent)s”: the model is %(sure)s sure, %(needed)s are needed.") % told
        return Step(title, GOOD, [*self._about(intent), *why])

    def _about(self, intent: IntentSeen) -> list[Fact]:
        spec = self.definitions.intents.get(intent.name)
        text = spec.description.in_locale(self.locale) if spec else ""
        return [Fact(text)] if text else []

    # 2 ------------------------------------------

    def read(self, line: LineSeen, request: RequestSeen | None) -> Step:
        held = request.arguments if request else {}
        facts = [Fact(f"{self._name(name, request)}: {_sourced(one)}", GOOD) for name, one in held.items()]
        for reading in line.readings:
            for name, why in reading.dropped.items():
                told = {"name": self._name(name, request), "why": DROPPED.get(why, why)}
                facts.append(Fact(_("%(name)s: what the model read does not count, because %(why)s") % told, CARE))
        if facts:
            return Step(_("Read from the conversation:"), GOOD, facts)
        return Step(_("Read no value from the conversation."))

    def _name(self, name: str, request: RequestSeen | None) -> str:
        spec = self.definitions.tools.get(request.tool) if request else None
        argument = spec.argument(name) if spec else None
        label = argument.label.in_locale(self.locale) if argument else ""
        return f"{capfirst(label)} ({name})" if label else name

    # 3 ------------------------------------------

    def missing(self, request: RequestSeen | None) -> Step:
        if request is None:
            return Step(_("No request was opened."), CARE)
        if not request.missing:
            return Step(_("Nothing is missing for %(tool)s.") % {"tool": request.tool}, GOOD)
        if request.status != Status.COLLECTING_PARAMETERS:
            return Step(_("Something is missing, and nobody asks for it: the request has ended."), CARE)
        facts = [
            Fact(_("%(name)s: “%(question)s”") % {"name": self._name(one.name, request), "question": one.question})
            for one in request.missing
        ]
        return Step(_("Missing, so the customer is asked:"), CARE, facts)

    # 4 ------------------------------------------

    def validated(self, request: RequestSeen | None) -> Iterator[Step]:
        if request is None or not request.validations:
            yield Step(_("No validator was asked."))
            return
        for one in request.validations:
            yield self._validated(one)

    def _validated(self, one: ValidationSeen) -> Step:
        told = {"tool": one.tool, "source": SOURCES.get(one.source, one.source)}
        facts = [_item(item.label, item.eligible, item.reason) for item in one.items]
        if one.error:
            facts.append(Fact(_("No verdict: %(why)s") % {"why": _why_silent(one.error)}, CARE))
        folded = [Folded(_("What it was asked"), _json(one.request))]
        if one.answer is not None:
            folded.append(Folded(_("What it answered"), _json(one.answer)))
        if one.fail_open_used:
            title = (
                _("The validator %(tool)s gave no verdict (%(source)s), and the policy goes on unchecked then.") % told
            )
            return Step(title, STOP, facts, folded=folded)
        if one.eligible:
            return Step(_("The validator %(tool)s approved (%(source)s).") % told, GOOD, facts, folded=folded)
        if one.reason_code == "pre_validation_unavailable":
            title = _("The validator %(tool)s gave no verdict (%(source)s), and the policy blocks then.") % told
            return Step(title, CARE, facts, folded=folded)
        return Step(_("The validator %(tool)s did not approve (%(source)s).") % told, CARE, facts, folded=folded)

    # 5 ------------------------------------------

    def told(self, line: LineSeen, request: RequestSeen | None) -> Step:
        quotes = line.answers
        is_asked = request is not None and request.status == Status.AWAITING_CONFIRMATION
        if not quotes and is_asked and request is not None and request.confirmation is not None:
            quotes = (request.confirmation.text,)
        if not quotes:
            return Step(_("The customer would read nothing yet."))
        return Step(_("The customer would read:"), quotes=quotes)

    # 6 ------------------------------------------

    def call(self, seen: Seen) -> Step:
        request, call = seen.last, seen.next_call
        if call is None:
            return Step(self._why_no_call(request), PLAIN)
        told = {"tool": call.tool, "server": call.server}
        if request is not None and request.status == Status.AWAITING_CONFIRMATION:
            title = _("With a yes, %(tool)s would be called on the server %(server)s.") % told
            return Step(title, GOOD, self._nodes(call), folded=_call_folded(call))
        if request is not None and not request.confirmation:
            title = _("%(tool)s would be called on the server %(server)s at once, without asking the customer.") % told
            tone = STOP if request.operation_type == "transactional" else PLAIN
            return Step(title, tone, self._nodes(call), folded=_call_folded(call))
        title = _("%(tool)s would be called on the server %(server)s now.") % told
        return Step(title, GOOD, self._nodes(call), folded=_call_folded(call))

    def _why_no_call(self, request: RequestSeen | None) -> str:
        if request is None:
            return _("Nothing would be called.")
        if request.reason_code:
            return _("Nothing would be called: %(why)s") % {"why": labels.words(labels.REASONS, request.reason_code)}
        return _("Nothing would be called yet.")

    @staticmethod
    def _nodes(call: CallSeen) -> list[Fact]:
        if not call.nodes:
            return []
        first = ngettext(
            "Through the workflow %(name)s with %(n)d step:",
            "Through the workflow %(name)s with %(n)d steps:",
            len(call.nodes),
        )
        return [
            Fact(first % {"name": call.workflow, "n": len(call.nodes)}),
            *(Fact(f"{number}. {node.id}: {node.action}") for number, node in enumerate(call.nodes, start=1)),
        ]


def _item(label: str, eligible: bool, reason: str) -> Fact:
    if eligible:
        return Fact(label, GOOD)
    return Fact(_("%(item)s: left out") % {"item": label} + (f" ({reason})" if reason else ""), CARE)


def _why_silent(error: str) -> str:
    known = {
        "not asked": _("it is switched off"),
        "it was to give no answer": _("it does not answer, as you chose"),
        "error": _("it answered with an error"),
    }
    return known.get(error, error)


def _call_folded(call: CallSeen) -> list[Folded]:
    held = {"server": call.server, "tool": call.tool, "arguments": dict(call.arguments), "_meta": dict(call.meta)}
    inputs = {node.id: {"action": node.action, "input": dict(node.input)} for node in call.nodes}
    folded = [Folded(_("The exact call"), _json(held))]
    return [*folded, Folded(_("What each step is given"), _json(inputs))] if inputs else folded


def _percent(value: float | None) -> str:
    return f"{number_format(round((value or 0) * 100))} %"


def _plain(value: JSON) -> str:
    if isinstance(value, str):
        return f"“{value}”"
    return (
        _("yes")
        if value is True
        else _("no")
        if value is False
        else _json(value)
        if isinstance(value, dict | list)
        else str(value)
    )


def _sourced(held: Mapping[str, JSON]) -> str:
    return f"{_plain(held['value'])} ({labels.words(labels.SOURCES, str(held['source']))})"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


# Expectations ------------------------------------------

ASPECTS: Mapping[str, Any] = {
    "tool": gettext_lazy("tool"),
    "status": gettext_lazy("where it ends"),
    "reason_code": gettext_lazy("why it ends there"),
    "missing": gettext_lazy("what is missing"),
    "arguments": gettext_lazy("the values"),
    "items": gettext_lazy("the items and whether they are eligible"),
    "rules": gettext_lazy("the rules that decided"),
}


def expectation(aspect: str, value: JSON) -> str:
    """A value of an expectation in words."""
    match aspect:
        case "status" if value:
            return str(labels.badge(labels.STATUSES, str(value)).text)
        case "reason_code" if value:
            return str(labels.words(labels.REASONS, str(value)))
        case "items":
            told = (_item(one["label"], one["eligible"], "").text for one in value or ())
            return ", ".join(told) or "—"
        case "rules":
            return ", ".join(str(labels.words(labels.RULES, one)) for one in value or ()) or "—"
        case "arguments":
            return ", ".join(f"{name} = {_plain(held)}" for name, held in (value or {}).items()) or "—"
        case "missing":
            return ", ".join(value or ()) or "—"
        case _:
            return str(value) if value else "—"
