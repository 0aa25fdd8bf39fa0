"""Nothing that a check or the reader says reaches a Portuguese page in English."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from tooling.findings import Severity
from tooling.forms.sentences import SENTENCES
from tooling.forms.wording import said, said_of_yaml, told
from tooling.yaml_nodes import Problem

ROOT = Path(__file__).resolve().parents[2] / "tooling"
SPEAKERS = [*sorted(ROOT.glob("checks_of_*.py")), ROOT / "yaml_reader.py", ROOT / "yaml_fields.py"]
SPEAKERS += [ROOT / "yaml_tools.py", ROOT / "yaml_sections.py"]
ONLY_OF_FILES = {
    # Said of whole files, which no form takes.
    "the file holds workflow",
    "belongs in tool_policies.yaml",
    "differs from",
    "make them equal or remove one",
    "is named twice in",
}


def messages() -> Iterator[tuple[str, str]]:
    """(place, message) of everything that the checks and the reader can say, with "7" for every value."""
    for path in SPEAKERS:
        tree = ast.parse(path.read_text("utf-8"))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                yield from messages_of(function, path.name)


def messages_of(function: ast.FunctionDef, file: str) -> Iterator[tuple[str, str]]:
    names: dict[str, list[str]] = {}
    for node in sorted(ast.walk(function), key=lambda one: getattr(one, "lineno", 0)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names.setdefault(node.targets[0].id, []).extend(texts_of(node.value))
        if not isinstance(node, ast.Call) or name_of(node.func) not in ("Finding", "warning", "note", "error", "stop"):
            continue
        for argument in [*node.args[1:2], *node.args[3:4]]:
            held = names.get(argument.id, []) if isinstance(argument, ast.Name) else texts_of(argument)
            yield from ((f"{file}:{node.lineno}", text) for text in held if text)


def name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def texts_of(value: ast.expr) -> list[str]:
    """The texts that ``value`` can be, "7" standing for what is only known when it runs."""
    match value:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return ["".join(part.value if isinstance(part, ast.Constant) else "7" for part in parts)]
        case ast.IfExp(body=body, orelse=other):
            return [*texts_of(body), *texts_of(other)]
        case _:
            return []


def is_known(message: str) -> bool:
    """Whether a sentence makes ``message``; a value "7" may stand for words, too ("an empty 7")."""
    patterns = [re.sub(r"%\(\w+\)s", "\0", one) for one in SENTENCES]
    for pattern in patterns:
        if re.fullmatch(re.escape(pattern).replace("\0", ".*"), message, re.DOTALL):
            return True
        if re.fullmatch(re.escape(message.removesuffix("7")).replace("7", ".*") + ".*", pattern, re.DOTALL):
            return True
    return False


def test_every_message_of_the_checks_and_of_the_reader_has_a_sentence():
    found = dict.fromkeys(messages())

    unknown = [
        (place, text) for place, text in found if not is_known(text) and not any(one in text for one in ONLY_OF_FILES)
    ]

    assert len(found) > 90
    assert unknown == []


PORTUGUESE = {
    'scheme "ftp" is not allowed; use http or https': "o esquema “ftp” não é permitido; use http ou https",
    "endpoint is missing; give the server's http or https address": (
        "falta “endereço”; informe o endereço http ou https do servidor"
    ),
    "confidence_threshold 7 is not between 0 and 1": "limiar de confiança: 7 não está entre 0 e 1",
    "a workflow needs at least one node": "um fluxo precisa de ao menos uma etapa",
    'validator "x" is not in tools.yaml (did you mean "y"?)': (
        "o validador “x” não está entre as ferramentas (você quis dizer “y”?)"
    ),
    'max_items: expected a whole number, got the text "many"': (
        "máximo de itens por vez: era esperado um número inteiro, mas veio o texto “many”"
    ),
}


@pytest.mark.parametrize(("message", "portuguese"), PORTUGUESE.items())
def test_a_message_is_said_in_portuguese_with_its_values(message: str, portuguese: str):
    with translation.override("pt-br"):
        assert said(message) == portuguese


def test_in_english_a_message_stays_as_the_checks_wrote_it():
    with translation.override("en"):
        for message in ('scheme "ftp" is not allowed; use http or https', "something that nobody ever said"):
            assert said(message) == message
        assert said_of_yaml("did not find expected node content while parsing a flow node").endswith("a flow node")


def test_what_only_the_yaml_library_knows_is_told_without_its_english_words():
    problem = Problem(Severity.ERROR, "yaml.syntax", "did not find the moon while parsing a block", "x", line=3)

    with translation.override("pt-br"):
        assert told(problem) == "Linha 3: isto não é YAML válido"
