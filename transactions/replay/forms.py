"""What a replay is asked for: how many transactions, of which tool, with which definitions."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tooling import publishing
from tooling.specs import Definitions
from transactions.models import Transaction
from transactions.rehearsal.replaying import MOST, USUAL

DRAFT = "draft"
RELEASES_OFFERED = 20


class ReplayForm(forms.Form):
    """``tools``: name → how it is called; the choices are those of the draft and of what ran."""

    last = forms.IntegerField(
        label=gettext_lazy("How many of the last transactions"),
        min_value=1,
        max_value=MOST,
        initial=USUAL,
        help_text=gettext_lazy("Those that have ended, the newest first; at most 1000."),
    )
    tool = forms.ChoiceField(label=gettext_lazy("Of which tool"), required=False)
    definitions = forms.ChoiceField(label=gettext_lazy("Play them with"))

    def __init__(self, *args: Any, draft: Definitions, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["tool"].choices = [("", _("any tool")), *_tools(draft)]  # type: ignore[attr-defined]  # ChoiceField
        self.fields["definitions"].choices = _definitions()  # type: ignore[attr-defined]  # as above

    @property
    def which(self) -> str | int:
        chosen: str = self.cleaned_data["definitions"]
        return chosen if chosen == DRAFT else int(chosen)


def _tools(draft: Definitions) -> list[tuple[str, str]]:
    ran = Transaction.objects.order_by().values_list("tool", flat=True).distinct()
    return [(name, name) for name in sorted({*draft.tools, *ran})]


def _definitions() -> list[tuple[str, str]]:
    newest = publishing.newest_number()
    numbers = range(newest, max(0, newest - RELEASES_OFFERED), -1)
    return [(DRAFT, _("the draft")), *((str(n), _("release %(number)s") % {"number": n}) for n in numbers)]
