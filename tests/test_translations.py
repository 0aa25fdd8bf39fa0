"""Every text of our pages, forms and API is there in Brazilian Portuguese, read without the gettext programs."""

import ast
import gettext
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "agentplatform" / "locale" / "pt_BR" / "LC_MESSAGES"
PACKAGES = ("agentplatform", "transactions", "tooling")
CALLS = {
    "gettext": ("msgid",),
    "pgettext": ("context", "msgid"),
    "ngettext": ("msgid", "plural"),
    "npgettext": ("context", "msgid", "plural"),
}
"""What the leading arguments of a call are."""

Key = tuple[str, str, str]
"""(context, msgid, plural); empty where there is none."""


# What the sources say -----------------------------------------------------------------------------


def in_python() -> Iterator[tuple[str, Key]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            aliases = dict(gettext_names(tree))
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in aliases:
                    texts = [
                        arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
                    ]
                    if texts:
                        yield str(path.relative_to(ROOT)), key_of(aliases[node.func.id], texts)


def gettext_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Local name → function, for what a module imports from Django's translation."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation":
            for alias in node.names:
                function = alias.name.removesuffix("_lazy").removesuffix("_noop")
                if function in CALLS:
                    yield alias.asname or alias.name, function


def in_templates() -> Iterator[tuple[str, Key]]:
    text = r"u?('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    call = re.compile(rf"\b(n?p?gettext|_)\(\s*{text}(?:\s*,\s*{text})?(?:\s*,\s*{text})?")
    for path in template_files():
        for found in call.finditer(templatize(path.read_text("utf-8"))):
            texts = [ast.literal_eval(literal) for literal in found.groups()[1:] if literal]
            yield str(path.relative_to(ROOT)), key_of("gettext" if found[1] == "_" else found[1], texts)


def template_files() -> list[Path]:
    folders = [ROOT / "templates", *(ROOT / package / "templates" for package in PACKAGES)]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())


def key_of(function: str, texts: list[str]) -> Key:
    parts = dict(zip(CALLS[function], texts, strict=False))
    return parts.get("context", ""), parts["msgid"], parts.get("plural", "")


def sources() -> dict[Key, str]:
    """Every text to translate → a file that has it."""
    return {key: place for place, key in [*in_python(), *in_templates()]}


# What the catalogue says --------------------------------------------------------------------------


def catalogue() -> dict[Key, list[str]]:
    """The .po file: key → translations (two for a plural)."""
    found = {}
    for block in (LOCALE / "django.po").read_text("utf-8").split("\n\n"):
        fields: dict[str, str] = {}
        for line in block.splitlines():
            head = re.match(r'(msg\w+(?:\[\d\])?) (?=")', line)
            if head:
                field = head[1]
                fields[field] = ""
            if not line.startswith("#"):
                fields[field] += ast.literal_eval(line.removeprefix(head[0] if head else ""))
        key = fields.get("msgctxt", ""), fields.get("msgid", ""), fields.get("msgid_plural", "")
        if key[1]:
            found[key] = [text for name, text in fields.items() if name.startswith("msgstr")]
    return found


def compiled() -> dict[object, str]:
    with (LOCALE / "django.mo").open("rb") as file:
        return gettext.GNUTranslations(file)._catalog


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"%\(\w+\)[sd]|\{\w+\}|%[sd]\b", text))


# Promises -----------------------------------------------------------------------------------------


def test_every_text_has_a_translation():
    held = catalogue()

    untranslated = {f"{place}: {key[1]!r}" for key, place in sources().items() if not all(held.get(key) or [""])}

    assert untranslated == set()


def test_no_translation_is_left_over():
    assert catalogue().keys() - sources().keys() == set()


def test_translations_keep_the_placeholders():
    broken = [
        key[1]
        for key, texts in catalogue().items()
        for text in texts
        if placeholders(text) != placeholders(key[1]) | placeholders(key[2])
    ]

    assert broken == []


def test_the_compiled_catalogue_says_what_the_readable_one_says():
    binary = compiled()

    expected: dict[object, str] = {}
    for (context, msgid, plural), texts in catalogue().items():
        name = f"{context}\x04{msgid}" if context else msgid
        expected |= {(name, number): text for number, text in enumerate(texts)} if plural else {name: texts[0]}

    assert {name: text for name, text in binary.items() if name} == expected


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ('{% trans "Sign in" %}', ("", "Sign in", "")),
        ('{% trans "Open" context "door" %}', ("door", "Open", "")),
        ("{% blocktrans with n=x %}It's {{ n }} (now){% endblocktrans %}", ("", "It's %(n)s (now)", "")),
        (
            "{% blocktrans count n=x %}{{ n }} item{% plural %}{{ n }} items{% endblocktrans %}",
            ("", "%(n)s item", "%(n)s items"),
        ),
        ('{{ _("Yes") }}', ("", "Yes", "")),
    ],
)
def test_texts_are_found_in_every_way_that_templates_mark_them(tmp_path, monkeypatch, source, key):
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "page.html").write_text(source)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)

    assert [found for _, found in in_templates()] == [key]


def test_texts_of_the_runtime_s_own_code_are_found():
    found = sources()

    assert ("item", "Unknown", "") in found
    assert ("", "%(n)d failed", "%(n)d failed") in found
    assert len(found) > 200
