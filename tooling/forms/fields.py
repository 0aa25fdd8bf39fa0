"""Form fields that show JSON as what people write: lines, ``key: value`` lines, texts per language, times."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from tooling import yaml_io
from tooling.forms.wording import told
from tooling.specs import JSON
from tooling.yaml_writer import dump, duration

FIRST_LOCALE, SECOND_LOCALE = "pt-BR", "en"
TIME = re.compile(r"(?P<count>[0-9]{1,9})\s*(?P<unit>[smhd]?)")
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
MAX_INTEGER = 2_147_483_647


def _area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "cols": 60, "spellcheck": "false"})


class ParsedField(forms.CharField):
    """A text that stands for something else: ``parse`` reads it or raises ValidationError, ``show`` writes it."""

    def parse(self, text: str) -> Any:
        raise NotImplementedError

    def show(self, value: Any) -> str:
        raise NotImplementedError

    def prepare_value(self, value: Any) -> Any:
        # What was typed wrongly comes back as it was typed.
        return value if isinstance(value, str) else self.show(value)

    def clean(self, value: Any) -> Any:
        return self.parse(super().clean(value))

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.parse(data or "") != self.parse(self.show(initial)))
        except ValidationError:
            return True


class LinesField(ParsedField):
    """A list of texts, one per line; blank lines do not count."""

    def __init__(self, *, rows: int = 4, **options: Any) -> None:
        super().__init__(**{"required": False, "widget": _area(rows), "strip": False, **options})

    def show(self, value: Any) -> str:
        return "\n".join(str(one) for one in value or ())

    def parse(self, text: str) -> Any:
        return [line.strip() for line in text.splitlines() if line.strip()]


class PairsField(LinesField):
    """{text: text}, one ``Name: value`` per line."""

    def show(self, value: Any) -> str:
        return "\n".join(f"{name}: {text}" for name, text in (value or {}).items())

    def parse(self, text: str) -> Any:
        pairs: dict[str, str] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.strip():
                continue
            name, colon, said = line.partition(":")
            if not colon or not name.strip():
                raise ValidationError(_("Line %(line)d: write Name: value.") % {"line": number})
            if name.strip() in pairs:
                message = _("Line %(line)d: “%(name)s” is there twice.")
                raise ValidationError(message % {"line": number, "name": name.strip()})
            pairs[name.strip()] = said.strip()
        return pairs


class YamlField(ParsedField):
    """Any mapping as YAML, by the rules of the definition files; every problem is told with its line."""

    def __init__(self, *, rows: int = 4, **options: Any) -> None:
        super().__init__(**{"required": False, "widget": _area(rows), "strip": False, **options})

    def show(self, value: Any) -> str:
        return dump(value).rstrip("\n") if value else ""

    def parse(self, text: str) -> Any:
        if not text.strip():
            return {}
        found, problems = yaml_io.read_value(text)
        raise_problems(problems)
        if not isinstance(found, dict):
            raise ValidationError(_("Write one key: value per line."))
        return found


def raise_problems(problems: Sequence[yaml_io.Problem]) -> None:
    """A ValidationError with every problem, line first, if one of them is an error."""
    if any(problem.is_error for problem in problems):
        raise ValidationError([told(problem) for problem in problems])


class LocalizedWidget(forms.MultiWidget):
    """One input for Portuguese (or all languages), one for English, and the stored value beside them."""

    def __init__(self, rows: int) -> None:
        def visible(locale: str) -> forms.Widget:
            return forms.Textarea(attrs={"rows": rows, "cols": 40, "aria-label": locale, "lang": locale})

        super().__init__(
            {"first": visible(FIRST_LOCALE), "second": visible(SECOND_LOCALE), "stored": forms.HiddenInput()}
        )

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        rows = []
        for part in self.get_context(name, value, attrs)["widget"]["subwidgets"]:
            shown = "" if part["is_hidden"] else part["attrs"]["lang"]
            html = self._render(part["template_name"], {"widget": part}, renderer)  # type: ignore[attr-defined]  # not in the stubs
            rows.append((shown, html))
        line = '<div class="localized-part"><span class="localized-locale" aria-hidden="true">{}</span>{}</div>'
        return format_html('<div class="localized">{}</div>', format_html_join("", line, rows))

    def decompress(self, value: JSON) -> list[str]:
        first, second = visible_texts(value)
        return [first, second, json.dumps(value if value is not None else "", ensure_ascii=False)]


def visible_texts(value: JSON) -> tuple[str, str]:
    """What the two inputs show of a stored text; a text for all languages stands in the first."""
    if isinstance(value, dict):
        return str(value.get(FIRST_LOCALE, value.get("default", ""))), str(value.get(SECOND_LOCALE, ""))
    return str(value or ""), ""


def _typed(text: str) -> str:
    """``text`` as it comes back from a browser's text area."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


class LocalizedField(forms.MultiValueField):
    """A text, or {locale: text}. The first input alone is a text for all languages.

    What the inputs do not show, other languages, stays; a value nobody touched comes back as it was.
    """

    def __init__(self, *, rows: int = 2, **options: Any) -> None:
        options.setdefault("required", False)
        parts = [forms.CharField(required=False), forms.CharField(required=False), forms.CharField(required=False)]
        super().__init__(parts, require_all_fields=False, widget=LocalizedWidget(rows), **options)

    def compress(self, data_list: Sequence[str]) -> JSON:
        first, second, stored_text = (_typed(text or "") for text in [*data_list, "", "", ""][:3])
        stored = _stored(stored_text)
        if tuple(map(_typed, visible_texts(stored))) == (first, second):
            return stored
        others = {}
        if isinstance(stored, dict):
            others = {key: text for key, text in stored.items() if key not in (FIRST_LOCALE, SECOND_LOCALE, "default")}
        texts = {FIRST_LOCALE: first, SECOND_LOCALE: second} | others
        said = {locale: text for locale, text in texts.items() if text}
        return first if set(said) <= {FIRST_LOCALE} else said

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.compress(data or ()) != (initial or ""))


def _stored(text: str) -> JSON:
    """The value that the page was made from; whatever else a browser sends counts as nothing."""
    try:
        value = json.loads(text or '""')
    except ValueError:
        return ""
    is_map = isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    return value if is_map or isinstance(value, str) else ""


class TimeField(ParsedField):
    """Seconds, written as a number with s, m, h or d."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"required": False, "max_length": 20, **options})

    def show(self, value: Any) -> str:
        return duration(value) if value else ""

    def parse(self, text: str) -> Any:
        if not text.strip():
            return None
        found = TIME.fullmatch(text.strip())
        seconds = int(found["count"]) * SECONDS[found["unit"]] if found else 0
        if not 0 < seconds <= MAX_INTEGER:
            raise ValidationError(_("Write a time such as 30m (s, m, h or d)."))
        return seconds


class NamesField(forms.MultipleChoiceField):
    """Some names of a list as checkboxes; stored in the order in which they were, new ones behind."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"required": False, "widget": forms.CheckboxSelectMultiple(), **options})

    def offer(self, names: Sequence[tuple[str, str]], stored: Sequence[str]) -> None:
        """Offer ``names`` (value, label) and what is stored already, even where it is gone."""
        known = {name for name, _label in names}
        gone = [(name, _("%(name)s (no longer there)") % {"name": name}) for name in stored if name not in known]
        self.choices = [*names, *gone]
        self.stored = tuple(stored)

    def clean(self, value: Any) -> list[str]:
        chosen: list[str] = super().clean(value)
        kept = [name for name in getattr(self, "stored", ()) if name in chosen]
        return kept + [name for name in chosen if name not in kept]
