"""What the forms of the definitions share: names and explanations of the model, and findings at their fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import capfirst

from tooling.checks_of_sets import check_name
from tooling.findings import Finding
from tooling.forms.wording import errors_of, hint_said, said

if TYPE_CHECKING:
    AnyForm = forms.ModelForm[Any]
else:
    # Django's own classes take no type arguments.
    AnyForm = forms.ModelForm


class DefinitionForm(AnyForm):
    """A form whose own fields are called and explained as the model's are."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        columns = {one.name: one for one in self._meta.model._meta.concrete_fields}
        for name, field in self.fields.items():
            column = columns.get(name)
            if column is not None:
                field.label = field.label or capfirst(column.verbose_name)
                field.help_text = field.help_text or column.help_text
            # A browser cuts what is pasted at maxlength and says nothing; the form refuses it and says why.
            field.widget.attrs.pop("maxlength", None)

    def clean_name(self) -> str:
        """Called for every form with a name; one that is too long was refused before."""
        name = str(self.cleaned_data["name"])
        if name != getattr(self.instance, "name", None):
            raise_errors(check_name(name, ("name",)), skip=1)
        return name


TELL_HOW = ("server.secret_literal", "server.reference_malformed", "profile.secret_literal")
"""Errors whose way out is no change of the field alone: what else to do is told beside it."""


def add_findings(form: AnyForm, findings: Iterable[Finding]) -> None:
    """Show each error of ``findings`` at the field that its path names, else above the form."""
    for finding in findings:
        if finding.is_error:
            field = next((step for step in finding.path[2:3] if step in form.fields), None)
            hint = hint_said(finding.code) if finding.code in TELL_HOW else ""
            form.add_error(field, f"{said(finding.message)}. {hint}" if hint else said(finding.message))


def raise_errors(findings: Iterable[Finding], *, skip: int) -> None:
    """A ValidationError with every error of ``findings``, where it is first; see ``errors_of``."""
    errors = errors_of(findings, skip=skip)
    if errors:
        raise ValidationError(errors)
