"""Every error of a page's forms for the summary above them: what is wrong, and the field to go to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from tooling.forms.fields import LocalizedField


@dataclass(frozen=True, slots=True)
class Trouble:
    """``anchor`` is the id of the field; empty where it is about the whole form."""

    anchor: str
    label: str
    message: str


def troubles_of(context: Mapping[str, Any]) -> list[Trouble]:
    """The errors of the form and of the rows below it, in the order of the page."""
    form = context["adminform"].form
    found = list(_of_form(form, ""))
    for inline in context.get("inline_admin_formsets", ()):
        for number, row in enumerate(inline.formset.forms, start=1):
            found += _of_form(row, _("Row %(n)d") % {"n": number})
    return found


def _of_form(form: forms.BaseForm, where: str) -> Iterator[Trouble]:
    if not form.is_bound:
        return
    order = {name: number for number, name in enumerate(form.fields)}
    for name, messages in sorted(form.errors.items(), key=lambda one: order.get(one[0], -1)):
        bound = form[name] if name in form.fields else None
        label = capfirst(str(bound.label)) if bound else ""
        anchor = _anchor(bound) if bound else ""
        for message in messages:
            yield Trouble(anchor, " · ".join(filter(None, (where, label))), str(message))


def _anchor(bound: forms.BoundField) -> str:
    """The id of what a click on the label would focus; several inputs are found by their first."""
    if isinstance(bound.field, LocalizedField):
        return f"{bound.auto_id}_first"
    return bound.id_for_label or str(bound.auto_id)
