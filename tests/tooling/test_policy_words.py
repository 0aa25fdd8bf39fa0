"""A policy is said in plain sentences, in Portuguese and in English, and its form says where each value comes from."""

import dataclasses
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from tests.tooling.admin_pages import Fields, add_url, change_url, fields_of, save
from tooling.forms.policy_notes import DEFAULTS, RISKS, origins
from tooling.forms.policy_words import sentences, summary, time_words
from tooling.models import Policy, Tool
from tooling.specs import (
    Atomicity,
    Definitions,
    ExecutionMode,
    ExecutionSpec,
    Idempotency,
    OnIntentShift,
    OperationType,
    PolicySpec,
    PreValidationSpec,
)

ACTION = "cancelar_vas_avulso"
PLAIN = PolicySpec("x")
CHANGING = PolicySpec("x", OperationType.TRANSACTIONAL, require_confirmation=True)
VALIDATED = PreValidationSpec(enabled=True, tool="validate")


@pytest.fixture(autouse=True)
def _python_is_allowed(settings: Any) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


SENTENCES: list[tuple[PolicySpec, str, str]] = [
    (PLAIN, "Read only: looks something up.", "Somente leitura: faz uma consulta."),
    (
        PolicySpec("x", OperationType.CONVERSATIONAL),
        "Conversational: answers and changes nothing.",
        "Conversacional: responde e não muda nada.",
    ),
    (
        PolicySpec("x", OperationType.INTERNAL),
        "Internal: called by the platform only.",
        "Interna: chamada só pela plataforma.",
    ),
    (
        PolicySpec("x", OperationType.TRANSACTIONAL),
        "Transactional: changes something for the customer. Runs without asking for confirmation. "
        "If no answer comes: an operator decides.",
        "Transacional: muda algo para o cliente. Executa sem pedir confirmação. "
        "Se a resposta não vier: um operador decide.",
    ),
    (
        PolicySpec("x", require_confirmation=True, requires=("a", "b"), requires_identity=True),
        "Read only: looks something up. Asks for confirmation. Needs: a, b. Only for customers who are signed in.",
        "Somente leitura: faz uma consulta. Pede confirmação. Precisa de: a, b. Só para clientes identificados.",
    ),
]
PARTS: list[tuple[dict[str, Any], str, str]] = [
    (
        {"pre_validation": VALIDATED},
        "Validated by validate; if the validator is down: blocks.",
        "Validada por validate; se o validador estiver fora do ar: bloqueia.",
    ),
    (
        {"pre_validation": dataclasses.replace(VALIDATED, fail_open=True)},
        "Validated by validate; if the validator is down: goes on unchecked.",
        "Validada por validate; se o validador estiver fora do ar: segue sem validar.",
    ),
    (
        {"execution": ExecutionSpec(ExecutionMode.WORKFLOW, "w")},
        "Runs the newest version of the workflow w.",
        "Executa a versão mais nova do fluxo w.",
    ),
    (
        {"execution": ExecutionSpec(ExecutionMode.WORKFLOW, "w", 2)},
        "Runs version 2 of the workflow w.",
        "Executa a versão 2 do fluxo w.",
    ),
    ({"max_items": 1}, "At most 1 item at once.", "No máximo 1 item por vez."),
    ({"max_items": 20}, "At most 20 items at once.", "No máximo 20 itens por vez."),
    (
        {"atomicity": Atomicity.ALL_OR_NOTHING},
        "All or nothing: a set that is only partly eligible is refused as a whole.",
        "Tudo ou nada: um conjunto só em parte elegível é recusado por inteiro.",
    ),
    ({"timeout_seconds": 40.0}, "Waits at most 40 s for the answer.", "Espera a resposta por no máximo 40 s."),
    (
        {"idempotency": Idempotency.KEY},
        "If no answer comes: sends it again under the same key.",
        "Se a resposta não vier: envia de novo com a mesma chave.",
    ),
    (
        {"reconcile_tool": "ask"},
        "If no answer comes: asks ask what happened, or else an operator decides.",
        "Se a resposta não vier: pergunta a ask o que aconteceu ou, se isso não resolver, um operador decide.",
    ),
    (
        {"reconcile_tool": "ask", "idempotency": Idempotency.KEY},
        "If no answer comes: asks ask what happened, or else sends it again under the same key.",
        "Se a resposta não vier: pergunta a ask o que aconteceu ou, se isso não resolver, envia de novo com a mesma "
        "chave.",
    ),
    (
        {"on_intent_shift": OnIntentShift.PARK},
        "If the customer asks for something else: set aside and offered again.",
        "Se o cliente pedir outra coisa: fica guardada e é oferecida de novo.",
    ),
    ({"expires_after": 1800}, "Ends after 30 min without an answer.", "Termina após 30 min sem resposta."),
]


def in_both(policy: PolicySpec) -> tuple[str, str]:
    said = []
    for language in ("en", "pt-br"):
        with translation.override(language):
            said.append(summary(policy).replace("\N{NO-BREAK SPACE}", " "))
    return said[0], said[1]


# Sentences ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "english", "portuguese"), SENTENCES)
def test_a_policy_is_said_in_plain_sentences(policy: PolicySpec, english: str, portuguese: str):
    assert in_both(policy) == (english, portuguese)


@pytest.mark.parametrize(("says", "english", "portuguese"), PARTS)
def test_each_field_that_says_something_adds_its_sentence(says: dict[str, Any], english: str, portuguese: str):
    base = in_both(PLAIN)

    assert in_both(dataclasses.replace(PLAIN, **says)) == (f"{base[0]} {english}", f"{base[1]} {portuguese}")


def test_no_field_of_a_policy_is_without_its_sentence():
    said = {name for says, *_ in PARTS for name in says}
    said |= {"tool", "operation_type", "require_confirmation", "requires", "requires_identity"}

    assert said == {field.name for field in dataclasses.fields(PolicySpec)}


def test_a_validator_that_is_off_is_not_spoken_of():
    off = dataclasses.replace(VALIDATED, enabled=False, fail_open=True)

    assert in_both(dataclasses.replace(CHANGING, pre_validation=off)) == in_both(CHANGING)


def test_a_policy_that_is_half_written_is_said_all_the_same():
    half = dataclasses.replace(
        CHANGING,
        pre_validation=PreValidationSpec(enabled=True),
        execution=ExecutionSpec(ExecutionMode.WORKFLOW),
    )

    with translation.override("en"):
        assert "Validated by ?; if the validator is down: blocks." in list(sentences(half))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.5, "0,5 s"), (40.0, "40 s"), (90, "90 s"), (1800, "30 min"), (3600, "1 h"), (172800, "2 d"), (0, "0 s")],
)
def test_a_time_is_said_in_the_largest_unit_that_needs_no_fraction(seconds: float, words: str):
    with translation.override("pt-br"):
        assert time_words(seconds).replace("\N{NO-BREAK SPACE}", " ") == words


# Where they are shown -----------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_words_stand_on_the_tool_the_policy_and_the_list_of_policies(ana: Client, both: Definitions):
    tool = Tool.objects.get(name=ACTION)

    for url in (change_url(tool), change_url(tool.policy), "/admin/tooling/policy/"):
        assert "Validated by validar_vas_subject; if the validator is down: blocks." in ana.get(url).content.decode()


@pytest.mark.django_db
def test_the_words_follow_what_was_saved(ana: Client, both: Definitions):
    policy = Policy.objects.get(tool__name=ACTION)

    assert save(ana, change_url(policy), fail_open="on") == []

    assert "if the validator is down: goes on unchecked." in ana.get(change_url(policy)).content.decode()


@pytest.mark.django_db
def test_a_tool_without_a_policy_says_what_its_type_means(ana: Client, both: Definitions):
    tool = Tool.objects.get(name=ACTION)
    tool.policy.delete()

    page = ana.get(change_url(tool)).content.decode()

    assert "None of its own; as the type says: Transactional: changes something for the customer." in page
    assert f"{add_url(Policy)}?tool={tool.pk}" in page


# Where a value comes from, and what it brings about -----------------------------------------------


@pytest.mark.django_db
def test_every_field_of_the_policy_form_says_whether_its_value_is_inherited(both: Definitions):
    policy = Policy.objects.get(tool__name=ACTION)
    columns = {field.name for field in Policy._meta.concrete_fields} - {"id", "tool"}

    with translation.override("en"):
        found = origins(policy)

    assert set(found) == columns == {*DEFAULTS, "operation_type", "require_confirmation"}
    assert found["operation_type"].inherited and "“action”: transactional" in found["operation_type"].text
    assert found["reconcile_tool"].text == "Default: none."
    assert not found["timeout_seconds"].inherited
    assert found["timeout_seconds"].text.endswith("default: 30\N{NO-BREAK SPACE}s.")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("timeout_seconds", None, "Inherited from the installation: 7\N{NO-BREAK SPACE}s."),
        ("expires_after", None, "1\N{NO-BREAK SPACE}h to collect and check, 10\N{NO-BREAK SPACE}min for a confirm"),
        ("operation_type", "read_only", "by the tool's type “action” it would be: transactional."),
        ("require_confirmation", False, "by the tool's type “action” it would be: on."),
        ("workflow_version", None, "Default: the newest."),
        ("max_items", None, "Default: no limit."),
        ("on_intent_shift", "park", "Set here; the default: abandon."),
    ],
)
def test_an_inherited_value_is_shown_and_one_set_here_beside_what_it_replaces(
    both: Definitions, settings: Any, field: str, value: Any, said: str
):
    settings.TOOL_TIMEOUT_SECONDS = 7.0
    Policy.objects.filter(tool__name=ACTION).update(**{field: value})

    with translation.override("en"):
        assert said in origins(Policy.objects.get(tool__name=ACTION))[field].text


def warnings_of(html: str) -> dict[str, bool]:
    """Text of each warning beside a field → whether it is shown."""
    parts = html.split('<span class="risk"')[1:]
    return {part.split(">", 1)[1].split("<", 1)[0]: " hidden" not in part.split(">", 1)[0] for part in parts}


RISKY = {
    "operation_type": {"operation_type": "read_only"},
    "require_confirmation": {"require_confirmation": ""},
    "fail_open": {"fail_open": "on"},
    "idempotency": {"idempotency": "key"},
    "on_intent_shift": {"on_intent_shift": "park"},
    "atomicity": {"atomicity": "all_or_nothing"},
}
SAFE = {
    "operation_type": "transactional",
    "require_confirmation": "on",
    "fail_open": "",
    "idempotency": "none",
    "on_intent_shift": "abandon",
    "atomicity": "best_effort",
    "max_items": "0",
}
"""Refused because of its limit, so that the page comes back with what was chosen."""


@pytest.mark.django_db
@pytest.mark.parametrize("risk", RISKS, ids=lambda risk: risk.field)
def test_a_risky_value_is_warned_of_when_it_was_tried_and_once_it_is_saved(ana: Client, both: Definitions, risk: Any):
    url = change_url(Policy.objects.get(tool__name=ACTION))
    fields = fields_of(ana, url)

    tried = warnings_of(ana.post(url, fields | SAFE | RISKY[risk.field]).content.decode())
    not_tried = warnings_of(ana.post(url, fields | SAFE).content.decode())
    saved = ana.post(url, fields | SAFE | RISKY[risk.field] | {"max_items": "5"})
    stored = warnings_of(ana.get(url).content.decode())

    with translation.override("en"):
        text = str(risk.text).replace("'", "&#x27;")
    assert tried[text] and not not_tried[text]
    assert [one for one, shown in tried.items() if shown] == [text]
    assert saved.status_code == 302 and stored[text]


@pytest.mark.django_db
def test_every_risk_is_tried_by_a_test(ana: Client, both: Definitions):
    assert {risk.field for risk in RISKS} == set(RISKY)
    assert Fields(ana.get(add_url(Policy)).content.decode()).errors == []
