"""The form on which a message is tried: what was said before, from where, as whom, and what validators answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from tooling.cleaning import clean_json, clean_text, read_json
from tooling.specs import JSON, Definitions
from transactions.rehearsal.scenes import Line, Scene, Text
from transactions.rehearsal.setting_up import (
    DRAFT,
    LONGEST_MESSAGE,
    MOST_ENTRIES,
    MOST_LINES,
    lines_of,
    start_of,
    validators_of,
)
from transactions.rehearsal.simulating import Outside, may_be_called

CALL, MADE_UP, SILENT, OWN = "call", "made_up", "silent", "own"
CHOICES = {
    CALL: _("is really asked; it changes nothing"),
    MADE_UP: _("approves (made up)"),
    SILENT: _("does not answer"),
    OWN: _("answers what I write"),
}
LOCALES = [("pt-BR", _("Portuguese")), ("en", _("English"))]


class PairsField(forms.CharField):
    """One ``name = value`` per line; a value that is a JSON list or object is taken as one."""

    def __init__(self, **more: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 2, "cols": 40, "spellcheck": "false"}), **more)

    def clean(self, value: Any) -> dict[str, JSON]:
        lines = [line for line in clean_text(super().clean(value)).splitlines() if line.strip()]
        if len(lines) > MOST_ENTRIES:
            raise forms.ValidationError(_("At most %(most)d entries are expected.") % {"most": MOST_ENTRIES})
        return dict(map(self._pair, lines))

    def _pair(self, line: str) -> tuple[str, JSON]:
        name, sign, value = (part.strip() for part in line.partition("="))
        if not (name and sign and value):
            raise forms.ValidationError(_("Write one name = value per line: “%(line)s”."), params={"line": line})
        if value[0] not in "[{":
            return name, value
        try:
            return name, clean_json(read_json(value))
        except ValueError:
            return name, value


def cleaned(sent: QueryDict) -> QueryDict:
    """What a browser sent, with nothing in it that no page and no database can hold."""
    found = sent.copy()
    for name, values in sent.lists():
        found.setlist(name, [clean_text(value) for value in values])
    return found


def pairs_text(pairs: Mapping[str, JSON]) -> str:
    def text(value: JSON) -> str:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    return "\n".join(f"{name} = {text(value)}" for name, value in pairs.items())


class TryForm(forms.Form):
    """``definitions`` are those that are played; ``said`` what was said before the message."""

    which = forms.ChoiceField(label=_("Definitions"))
    message = forms.CharField(
        label=_("The customer writes"),
        max_length=LONGEST_MESSAGE,
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
    )
    locale = forms.ChoiceField(label=_("Language of the conversation"), choices=LOCALES)
    identity = PairsField(
        label=_("Who is writing"),
        required=False,
        help_text=_("What the signed identity says, one name = value per line, for example customer_key = C-000123."),
    )
    tool = forms.ChoiceField(
        label=_("Already open"),
        required=False,
        help_text=_("Begin in the middle: a request for this tool is open already."),
    )
    known = PairsField(
        label=_("Already known"),
        required=False,
        help_text=_("What is known of that request, one name = value per line."),
    )

    def __init__(
        self, *args: Any, definitions: Definitions, releases: Sequence[int], said: Sequence[str] = (), **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.definitions = definitions
        self.said = [one for one in map(clean_text, said) if one.strip()]
        drafts = [(DRAFT, _("the draft"))]
        self._choice("which").choices = [*drafts, *((str(one), _("release %(n)d") % {"n": one}) for one in releases)]
        self._choice("tool").choices = [
            ("", _("nothing: the message opens it")),
            *((one, one) for one in sorted(definitions.tools)),
        ]
        for tool in validators_of(definitions):
            self._add_validator(tool)

    def _choice(self, name: str) -> Any:
        return self.fields[name]

    def _add_validator(self, tool: str) -> None:
        is_safe = may_be_called(self.definitions, tool)
        choices = [(key, text) for key, text in CHOICES.items() if is_safe or key != CALL]
        self.fields[f"answer:{tool}"] = forms.ChoiceField(
            choices=choices, required=False, label=tool, initial=choices[0][0]
        )
        self.fields[f"own:{tool}"] = forms.CharField(
            required=False,
            label=_("Its own answer, as JSON"),
            widget=forms.Textarea(attrs={"rows": 3, "cols": 40, "spellcheck": "false"}),
        )

    @property
    def validators(self) -> list[dict[str, Any]]:
        """For the page: each validator with its two fields, and whether it may really be asked."""
        return [
            {
                "tool": tool,
                "answer": self[f"answer:{tool}"],
                "own": self[f"own:{tool}"],
                "is_safe": may_be_called(self.definitions, tool),
            }
            for tool in validators_of(self.definitions)
        ]

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        message = values.get("message") or ""
        lines = [*self.said, message] if message.strip() else self.said
        if not lines and "message" not in self.errors:
            self.add_error("message", _("Write what the customer says."))
        if len(lines) > MOST_LINES or any(len(line) > LONGEST_MESSAGE for line in lines):
            self.add_error(
                "message",
                _("At most %(most)d messages of %(long)d characters each.")
                % {"most": MOST_LINES, "long": LONGEST_MESSAGE},
            )
        values["lines"] = lines_of(lines)
        self._clean_start(values)
        self._clean_answers(values)
        return values

    def _clean_start(self, values: dict[str, Any]) -> None:
        tool, known = values.get("tool") or "", values.get("known") or {}
        values["start"] = None
        if not tool:
            if known:
                self.add_error("known", _("Choose what is already open, too."))
            return
        start, wrong = start_of(self.definitions, tool, known, values.get("locale") or "pt-BR")
        for name in wrong:
            self.add_error(
                "known", _("“%(name)s”: the tool has no such argument, or the value does not fit it.") % {"name": name}
            )
        values["start"] = start

    def _clean_answers(self, values: dict[str, Any]) -> None:
        given: dict[str, JSON] = {}
        chosen: dict[str, set[str]] = {SILENT: set(), MADE_UP: set()}
        for tool in validators_of(self.definitions):
            choice = values.get(f"answer:{tool}")
            if choice == OWN:
                given[tool] = self._own_answer(tool, values.get(f"own:{tool}") or "")
            elif choice in chosen:
                chosen[choice].add(tool)
        values["chosen"] = Outside(given=given, silent=frozenset(chosen[SILENT]), made_up=frozenset(chosen[MADE_UP]))

    def _own_answer(self, tool: str, text: str) -> JSON:
        try:
            answer = clean_json(read_json(text))
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self.add_error(f"own:{tool}", _('Write the answer as a JSON object, for example {"eligible": false}.'))
        return answer

    def scene(self) -> Scene:
        """What was asked for; of a form that is valid."""
        values = self.cleaned_data
        return Scene(self.definitions, values["lines"], values["locale"], values["identity"], values["start"])


@dataclass(frozen=True, slots=True)
class Filled:
    """What a form shows of a simulation: its first values, and what was said."""

    initial: Mapping[str, Any]
    said: tuple[str, ...]


def filled(scene: Scene, which: str, chosen: Outside) -> Filled:
    """The form as it was before it was sent, ready for what the customer says next."""
    initial: dict[str, Any] = {
        "which": which,
        "locale": scene.locale,
        "identity": pairs_text(scene.identity),
        "tool": scene.start.tool if scene.start else "",
        "known": pairs_text(scene.start.known) if scene.start else "",
    }
    for tool in chosen.silent:
        initial[f"answer:{tool}"] = SILENT
    for tool in chosen.made_up:
        initial[f"answer:{tool}"] = MADE_UP
    for tool, answer in chosen.given.items():
        initial |= {f"answer:{tool}": OWN, f"own:{tool}": json.dumps(answer, ensure_ascii=False, indent=2)}
    return Filled(initial, tuple(_texts(scene.lines)))


def _texts(lines: Sequence[Line]) -> list[str]:
    return [line.text for line in lines if isinstance(line, Text)]


def first_values(tool: str) -> dict[str, Any]:
    """What an untouched form shows."""
    return {"which": DRAFT, "locale": "en" if (get_language() or "").startswith("en") else "pt-BR", "tool": tool}


class SaveForm(forms.Form):
    """The name of a saved simulation, and what of its outcome is compared from now on."""

    name = forms.CharField(label=_("Name"), max_length=100, widget=forms.TextInput(attrs={"class": "vTextField"}))
    aspects = forms.MultipleChoiceField(label=_("Compare"), widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, aspects: Mapping[str, Any], **more: Any) -> None:
        super().__init__(*args, **more)
        field: Any = self.fields["aspects"]
        field.choices, field.initial = list(aspects.items()), list(aspects)

    def clean_name(self) -> str:
        name = clean_text(self.cleaned_data["name"])
        if not name.isprintable():
            raise forms.ValidationError(_("A name has visible characters only."))
        return name
