"""What stands beside the fields of a policy: where a value comes from, and what a risky one brings about."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tooling.drafts import tool_of
from tooling.effective import policy_by_type
from tooling.forms.policy_words import time_words
from tooling.models import Policy
from tooling.specs import ToolType

# Where a value comes from -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Origin:
    """``inherited``: the field says nothing of its own."""

    inherited: bool
    text: str


def origins(policy: Policy) -> dict[str, Origin]:
    """Of each field of a stored policy: that it is at its default and what that is, or what the default would be."""
    by_type = policy_by_type(tool_of(policy.tool))
    kind = _short(str(policy.tool.get_tool_type_display()))
    columns = {one.name: one for one in Policy._meta.concrete_fields}
    operations = dict(columns["operation_type"].flatchoices)
    found = {
        "operation_type": _by_type(
            policy.operation_type == by_type.operation_type, kind, _short(str(operations[by_type.operation_type]))
        ),
        "require_confirmation": _by_type(
            policy.require_confirmation == by_type.require_confirmation, kind, _on_off(by_type.require_confirmation)
        ),
    }
    for name, words in DEFAULTS.items():
        column = columns[name]
        default = column.get_default()
        choices = dict(column.flatchoices)
        value = words() if words else _on_off(default) if isinstance(default, bool) else _short(str(choices[default]))
        found[name] = _by_default(getattr(policy, name) == default, value, name in OF_THE_INSTALLATION)
    return found


def _nothing() -> str:
    return _("nothing")


def _none() -> str:
    return _("none")


def _call_time() -> str:
    return time_words(settings.TOOL_TIMEOUT_SECONDS)


def _open_time() -> str:
    times = {
        "collect": time_words(settings.TRANSACTION_SECONDS),
        "confirm": time_words(settings.CONFIRMATION_SECONDS),
    }
    return _("%(collect)s to collect and check, %(confirm)s for a confirmation") % times


DEFAULTS: Mapping[str, Callable[[], str] | None] = {
    "requires": _nothing,
    "requires_identity": None,
    "pre_validation_enabled": None,
    "pre_validation_tool": _none,
    "fail_open": None,
    "execution_mode": None,
    "workflow": _none,
    "workflow_version": lambda: _("the newest"),
    "timeout_seconds": _call_time,
    "max_items": lambda: _("no limit"),
    "atomicity": None,
    "idempotency": None,
    "reconcile_tool": _none,
    "on_intent_shift": None,
    "expires_after": _open_time,
}
"""Field → what its default is in words; None: as the field itself says it."""
OF_THE_INSTALLATION = ("timeout_seconds", "expires_after")


def _short(label: str) -> str:
    """A choice without its explanation."""
    return label.split(" – ")[0]


def _on_off(value: bool) -> str:
    return _("on") if value else _("off")


def _by_type(inherited: bool, kind: str, value: str) -> Origin:
    words = {"type": kind, "value": value}
    if inherited:
        return Origin(True, _("Inherited from the tool's type “%(type)s”: %(value)s.") % words)
    return Origin(False, _("Set here; by the tool's type “%(type)s” it would be: %(value)s.") % words)


def _by_default(inherited: bool, value: str, of_the_installation: bool) -> Origin:
    words = {"value": value}
    if of_the_installation:
        if inherited:
            return Origin(True, _("Inherited from the installation: %(value)s.") % words)
        return Origin(False, _("Set here; the installation's default: %(value)s.") % words)
    if inherited:
        return Origin(True, _("Default: %(value)s.") % words)
    return Origin(False, _("Set here; the default: %(value)s.") % words)


# What a risky value brings about ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Risk:
    """Shown at ``field`` while every field of ``when`` has its value; a switch is "on" or ""."""

    field: str
    when: Mapping[str, str]
    text: str | Promise
    only_for: ToolType | None = None
    """The type of tool whose policies it concerns; None: all."""

    def is_chosen(self, form: forms.BaseForm) -> bool:
        return all(chosen(form, name) == value for name, value in self.when.items())


RISKS = (
    Risk(
        "operation_type",
        {"operation_type": "read_only"},
        gettext_lazy(
            "The tool is an action. A read-only one is called again when no answer comes: what it does can happen "
            "three times."
        ),
        only_for=ToolType.ACTION,
    ),
    Risk(
        "require_confirmation",
        {"operation_type": "transactional", "require_confirmation": ""},
        gettext_lazy("It runs as soon as everything is known: a misread message is carried out, and nobody was asked."),
    ),
    Risk(
        "fail_open",
        {"pre_validation_enabled": "on", "fail_open": "on"},
        gettext_lazy("While the validator is down, items that nobody checked are carried out."),
    ),
    Risk(
        "idempotency",
        {"idempotency": "key"},
        gettext_lazy("If the server does not keep its word about keys, the customer's operation happens twice."),
    ),
    Risk(
        "on_intent_shift",
        {"on_intent_shift": "park"},
        gettext_lazy(
            "Requests set aside come back later, when the customer may not expect them; they are checked and "
            "confirmed afresh, and end when their time is up."
        ),
    ),
    Risk(
        "atomicity",
        {"atomicity": "all_or_nothing"},
        gettext_lazy(
            "One ineligible item refuses the whole request, and the tool's one verdict is taken for every item. "
            "Choose it only if the server really does all of them or none."
        ),
    ),
)


def chosen(form: forms.BaseForm, name: str) -> str:
    """What the form holds for a field now, as a browser would send it."""
    # Not form[name], which would keep the help text as it is now.
    value: Any = form.fields[name].get_bound_field(form, name).value()
    if isinstance(form.fields[name], forms.BooleanField):
        return "on" if value not in (False, None, "", "False", "false", "0") else ""
    return "" if value is None else str(value)


def with_notes(form: forms.BaseForm, policy: Policy | None) -> None:
    """Put both behind the help text of each field of ``form``; the page's script follows the fields from there."""
    for name, origin in (origins(policy) if policy else {}).items():
        if name in form.fields:
            kind = "inherited" if origin.inherited else "own"
            note = format_html('<span class="origin origin-{}">{}</span>', kind, origin.text)
            _add(form.fields[name], note)
    for risk in RISKS:
        concerned = risk.only_for is None or (policy is not None and policy.tool.tool_type == risk.only_for)
        if concerned and set(risk.when) <= set(form.fields):
            hidden = SafeString("") if risk.is_chosen(form) else SafeString(" hidden")
            warning = '<span role="status"><span class="risk" data-when="{}"{}>{}</span></span>'
            _add(form.fields[risk.field], format_html(warning, json.dumps(dict(risk.when)), hidden, risk.text))


def _add(field: forms.Field, note: SafeString) -> None:
    field.help_text = format_html("{} {}", field.help_text, note) if field.help_text else note
