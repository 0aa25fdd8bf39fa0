"""Messages of the checks and of the reader in the language of the person who reads the page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from django.utils.translation import get_language, gettext

from tooling.findings import Finding
from tooling.forms.file_sentences import FILE_SENTENCES
from tooling.forms.sentences import GOT, NO_YAML, SENTENCES, WORDS
from tooling.hints import TICKS, hint_of
from tooling.yaml_nodes import Problem

PLACE = re.compile(r"%\((\w+)\)s")
NEAR = re.compile(r'(?s)(?P<said>.*) \((?P<near>did you mean "[^"]*"\?)\)')
AS_IN_FILES = ("key", "part", "operation", "type")
"""Places of the sentences that hold a word of the files."""
CONTEXT = re.compile(r" while (parsing|scanning) .*")


@cache
def _patterns(sentences: tuple[str, ...]) -> list[tuple[re.Pattern[str], str]]:
    """A pattern per sentence; the one with the most own words is tried first."""

    def pattern(sentence: str) -> re.Pattern[str]:
        parts = PLACE.split(sentence)
        return re.compile("".join(f"(?P<{p}>.*)" if n % 2 else re.escape(p) for n, p in enumerate(parts)), re.DOTALL)

    ordered = sorted(sentences, key=lambda one: len(PLACE.sub("", one)), reverse=True)
    return [(pattern(sentence), sentence) for sentence in ordered]


def said(message: str) -> str:
    """``message`` in the active language; one that no sentence made stays as it is."""
    near = NEAR.fullmatch(message)
    if near:
        return f"{said(near['said'])} ({said(near['near'])})"
    return _translated(message, SENTENCES) or message


def hint_said(code: str) -> str:
    """What to do about a finding of this code; empty where nobody wrote it down."""
    hint = hint_of(code)
    return gettext(hint) if hint else ""


def agreed_to(finding: Finding) -> str:
    """What somebody says who ticks that ``finding`` is meant; empty where it needs no tick."""
    sentence = TICKS.get(finding.code, "") if finding.needs_tick else ""
    return gettext(sentence) % {"name": finding.path[1]} if sentence else ""


def said_of_yaml(message: str) -> str:
    """The same for what the YAML library found, whose own words are replaced where they are not known."""
    if (get_language() or "en").startswith("en"):
        return message
    return _translated(CONTEXT.sub("", message), SENTENCES) or str(NO_YAML)


def said_of_file(problem: Problem) -> str:
    """A problem of a file and its hint; what the files themselves call their keys and values stays as it is there."""
    if (get_language() or "en").startswith("en"):
        return problem.message + (f" ({problem.hint})" if problem.hint else "")
    message = CONTEXT.sub("", problem.message) if problem.code == "yaml.syntax" else problem.message
    fallback = str(NO_YAML) if problem.code == "yaml.syntax" else message
    hint = f" ({_of_file(problem.hint) or problem.hint})" if problem.hint else ""
    return (_of_file(message) or fallback) + hint


def _of_file(message: str) -> str | None:
    near = NEAR.fullmatch(message)
    if near:
        return f"{_of_file(near['said']) or near['said']} ({_of_file(near['near'])})"
    return _translated(message, (*SENTENCES, *FILE_SENTENCES), as_in_files=True)


def _translated(message: str, sentences: tuple[str, ...], *, as_in_files: bool = False) -> str | None:
    for pattern, sentence in _patterns(sentences):
        found = pattern.fullmatch(message)
        if found:
            kept = AS_IN_FILES if as_in_files else ()
            values = {name: value if name in kept else _word(name, value) for name, value in found.groupdict().items()}
            # Without values there is nothing to put in, and a sentence may hold a percent sign.
            return gettext(sentence) % values if values else gettext(sentence)
    return None


def _word(place: str, value: str) -> str:
    words = WORDS.get(place, {})
    if value in words:
        return str(words[value])
    return (_translated(value, GOT) or value) if place == "got" else value


def told(problem: Problem) -> str:
    """One problem of a typed text, its line first."""
    return gettext("Line %(line)d: ") % {"line": problem.line} + _worded(problem)


def placed(problem: Problem) -> str:
    """The same with its column, for texts that fill a page."""
    place = {"line": problem.line, "column": problem.column}
    return gettext("Line %(line)d, column %(column)d: ") % place + _worded(problem)


def _worded(problem: Problem) -> str:
    message = said_of_yaml(problem.message) if problem.code == "yaml.syntax" else said(problem.message)
    return message + (f" ({said(problem.hint)})" if problem.hint else "")


def errors_of(findings: Iterable[Finding], *, skip: int) -> list[str]:
    """The errors among ``findings``, each after the rest of its path behind the first ``skip`` steps."""
    found = []
    for finding in findings:
        if finding.is_error:
            where = ".".join(finding.path[skip:])
            found.append(f"{where}: {said(finding.message)}" if where else said(finding.message))
    return found
