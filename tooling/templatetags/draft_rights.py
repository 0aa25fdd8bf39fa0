"""For templates: whether the reader may change the draft as a whole, as importing files does."""

from __future__ import annotations

from django import template
from django.template.context import Context

from tooling import draft_rights

register = template.Library()


@register.simple_tag(takes_context=True)
def may_change_draft(context: Context) -> bool:
    return draft_rights.may_change_draft(context["request"].user)
