"""Nothing that is said of imported files reaches a Portuguese page in English."""

import ast
import re

import pytest
from django.utils import translation

from tests.loading import DEFINITIONS
from tests.tooling.test_admin_wording import ROOT, is_known, messages_of
from tests.tooling.test_broken import broken_files, problems_with
from tooling import yaml_io
from tooling.findings import Severity
from tooling.forms.file_sentences import FILE_SENTENCES
from tooling.forms.wording import said_of_file
from tooling.yaml_nodes import Problem

OF_FILES = [ROOT / "yaml_files.py", ROOT / "yaml_sections.py", ROOT / "yaml_tools.py"]
ENGLISH = re.compile(r"\b(is|are|the|not|was|has|expected|remove|read|with|belongs|limit)\b")


def has_sentence(message: str) -> bool:
    plain = [re.sub(r"%\(\w+\)s", "\0", one) for one in FILE_SENTENCES]
    # A value "7" at the end may stand for words, too.
    beginning = message.removesuffix("7")
    return any(re.fullmatch(re.escape(one).replace("\0", ".*"), message) for one in plain) or (
        beginning != message and any(one.startswith(beginning) for one in plain)
    )


def test_every_message_about_files_has_a_sentence():
    trees = [ast.parse(path.read_text("utf-8")) for path in OF_FILES]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found = [text for function in functions for _, text in messages_of(function, "")]

    assert len(found) > 20
    assert [text for text in found if not is_known(text) and not has_sentence(text)] == []


def test_every_refusal_of_uploads_and_archives_has_a_sentence():
    sources = [(ROOT / "admin" / name).read_text("utf-8") for name in ("uploads.py", "archives.py")]
    calls = [node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assign)]
    said = [node for node in calls if isinstance(node.targets[0], ast.Name) and node.targets[0].id == "message"]
    texts = [
        "".join(part.value if isinstance(part, ast.Constant) else "7" for part in node.value.values)
        if isinstance(node.value, ast.JoinedStr)
        else node.value.value
        for node in said
    ]

    assert len(texts) > 8
    assert [text for text in texts if not is_known(text) and not has_sentence(text)] == []


@pytest.mark.parametrize("broken", broken_files(), ids=lambda broken: broken.name)
def test_a_broken_file_is_told_in_portuguese(broken, copy_of):
    problems = problems_with(broken, copy_of(broken.set_name))

    with translation.override("pt-br"):
        told = [said_of_file(problem) for problem in problems]

    assert [text for text in told if ENGLISH.search(text)] == []


def test_an_old_installation_is_told_in_portuguese():
    problems = yaml_io.read_sets([DEFINITIONS / "legacy"], stdio_commands=("python",)).problems

    with translation.override("pt-br"):
        told = [said_of_file(problem) for problem in problems]

    assert [text for text in told if ENGLISH.search(text)] == []
    assert "chave desconhecida “multi_item”" in " ".join(told)


def test_words_of_the_files_stay_as_they_are_there():
    problem = Problem(
        Severity.WARNING, "x", 'extract for "valor" never runs: it is in requires', "f", hint='did you mean "valo"?'
    )

    with translation.override("pt-br"):
        assert "extract" in said_of_file(problem)
        assert said_of_file(problem).endswith("(você quis dizer “valo”?)")
    with translation.override("en"):
        assert said_of_file(problem) == 'extract for "valor" never runs: it is in requires (did you mean "valo"?)'


def test_what_only_the_yaml_library_knows_is_told_without_its_english_words():
    problem = Problem(Severity.ERROR, "yaml.syntax", "did not find the moon while parsing a block", "f")

    with translation.override("pt-br"):
        assert said_of_file(problem) == "isto não é YAML válido"
