"""The table of a tool's arguments: one row each, in the order that the numbers say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.formsets import DELETION_FIELD_NAME
from django.utils.translation import gettext_lazy as _

from tooling.forms.base import DefinitionForm
from tooling.forms.fields import MAX_INTEGER, LinesField, LocalizedField, YamlField
from tooling.models import Tool, ToolArgument
from tooling.yaml_scalars import plain_value

if TYPE_CHECKING:
    AnyFormSet = forms.BaseInlineFormSet[ToolArgument, Tool, forms.ModelForm[ToolArgument]]
else:
    # Django's own class takes no type arguments.
    AnyFormSet = forms.BaseInlineFormSet


class ArgumentForm(DefinitionForm):
    position = forms.IntegerField(
        label=_("No."), required=False, min_value=0, max_value=MAX_INTEGER, widget=forms.NumberInput(attrs={"min": "1"})
    )
    label = LocalizedField(rows=1)
    description = LocalizedField()
    user_prompt = LocalizedField()
    enum = LinesField(rows=3)
    items = YamlField(rows=2)

    class Meta:
        model = ToolArgument
        fields = ["position", "name", "type", "label", "description", "user_prompt", "enum", "format", "items"]

    def clean_position(self) -> int:
        """A row without a number stays where it is."""
        position: int | None = self.cleaned_data["position"]
        return self.initial.get("position", 0) if position is None else position

    def has_changed(self) -> bool:
        """A new row with nothing but its number says nothing."""
        return bool(self.instance.pk and super().has_changed()) or bool(set(self.changed_data) - {"position"})

    def clean(self) -> dict[str, Any]:
        """Read the allowed values as the type that they must have."""
        cleaned = super().clean() or {}
        kind, values = cleaned.get("type"), cleaned.get("enum") or []
        if kind in ("integer", "number", "boolean"):
            read = [plain_value(value) for value in values]
            types = {"integer": (int,), "number": (int, float), "boolean": (bool,)}[kind]
            for text, value in zip(values, read, strict=True):
                if type(value) not in types:
                    message = _("“%(value)s” is not a value of this type.")
                    self.add_error("enum", ValidationError(message, params={"value": text}))
            cleaned["enum"] = read
        return cleaned


class ArgumentFormSet(AnyFormSet):
    """Rows numbered from 1 as they are shown; what is saved is their order."""

    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        if index is not None:
            form.initial["position"] = index + 1
        if DELETION_FIELD_NAME in form.fields:
            form.fields[DELETION_FIELD_NAME].label = _("Remove")

    def clean(self) -> None:
        """Two rows of one name are told at the second one, before Django's own sentence about all of them."""
        names: set[str] = set()
        for form in self._kept():
            name = form.cleaned_data.get("name")
            if name in names:
                form.add_error("name", _("This name is there twice."))
            elif name:
                names.add(name)

    def _kept(self) -> list[Any]:
        """The rows that say something and are not to be removed."""
        read = [form for form in self.forms if hasattr(form, "cleaned_data")]
        kept = [form for form in read if not form.cleaned_data.get(DELETION_FIELD_NAME)]
        return [form for form in kept if form.instance.pk or form.has_changed()]

    def save(self, commit: bool = True) -> list[Any]:
        """Save, and number all rows anew: of two with one number the moved one goes where it was moved to."""
        saved = super().save(commit)
        if commit:
            ordered = sorted(enumerate(self._kept()), key=lambda one: _place(*one))
            rows = [form.instance for _index, form in ordered]
            for position, row in enumerate(rows):
                row.position = position
            ToolArgument.objects.bulk_update(rows, ["position"])
        return saved


def _place(index: int, form: Any) -> tuple[int, int, int]:
    """Before the others of its number if it was moved up, behind them if it was moved down."""
    was, now = index + 1, form.cleaned_data["position"]
    return (now, (now > was) - (now < was), index)
