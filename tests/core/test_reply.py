"""What the user reads of a result, a question and an answer, by the honesty cases and by rule (runtime.md §10)."""

import string
from typing import Any

import pytest

from tests.loading import cases
from transactions.core import reply
from transactions.core.outcomes import roll_up
from transactions.core.reply import ReplyItem, reason_text, render_confirmation, render_result, status_label
from transactions.core.statuses import ItemStatus, ReasonCode, Status
from transactions.core.texts import ENGLISH, LABELS, PORTUGUESE, REASONS, TEXTS

LOCALES = [PORTUGUESE, ENGLISH]
HONESTY = cases("honesty")
COMPOSED = [case for case in HONESTY if case["when"]["happens"] == "compose"]
NOTHING_DONE = {PORTUGUESE: "nada foi feito", ENGLISH: "nothing was done"}
MEANINGS = {
    "expired": {PORTUGUESE: "expirou", ENGLISH: "expired"},
    "nothing was done": NOTHING_DONE,
    "everything failed": {PORTUGUESE: "nenhum dos", ENGLISH: "none of the"},
    "all done": {PORTUGUESE: "Pronto", ENGLISH: "All done"},
}
OUTCOMES = {
    PORTUGUESE: {"done": ": concluído", "not done": ": não "},
    ENGLISH: {"done": ": done", "not done": ": did not "},
}


def item(given: dict[str, Any]) -> ReplyItem:
    return ReplyItem(given["label"], ItemStatus(given["status"]), given.get("reason"), given.get("protocol"))


def items_of(given: dict[str, Any]) -> list[ReplyItem]:
    if given.get("items") == "NOT_EXECUTED":
        return [ReplyItem("Música Mais", ItemStatus.NOT_EXECUTED)]
    items = [item(row) for row in given.get("ledger", [])]
    return [*items, *([ReplyItem(given["item_label"], ItemStatus.FAILED)] if "item_label" in given else [])]


def composed(given: dict[str, Any], locale: str) -> str:
    items = items_of(given)
    status = Status(given["status"]) if "status" in given else roll_up(row.status for row in items)
    code = given.get("reason_code")
    return render_result(
        status,
        items,
        locale=locale,
        reason_code=ReasonCode(code) if code else None,
        reason=given.get("reason"),
        unconfirmed=given.get("unconfirmed", []),
    )


def line_of(text: str, label: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(f"• {label}: "))


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("case", COMPOSED, ids=lambda case: case["id"])
def test_a_rendered_result_is_honest(case, locale):
    given, then = case["given"], case["then"]

    text = composed(given, locale)

    assert text.strip()
    for row in items_of(given):
        line = line_of(text, row.label)
        assert row.protocol is None or row.protocol in line
        assert row.reason is None or reason_text(row.reason, locale) in line
    for label in then.get("mentions_done", []):
        assert OUTCOMES[locale]["done"] in line_of(text, label)
    for label in then.get("mentions_not_done", {}):
        assert OUTCOMES[locale]["not done"] in line_of(text, label)
    for label in then.get("excluded_named", []):
        assert line_of(text, label).endswith(TEXTS["item.EXCLUDED"][locale])
    for label, reason in then.get("ineligible_named_with_reason", {}).items():
        assert REASONS[reason][locale] in line_of(text, label)
    for said in then.get("says", []):
        assert MEANINGS.get(said, {}).get(locale, said).casefold() in text.casefold()
    for label in then.get("mentions", []):
        assert label in text
        assert f"• {label}" not in text
    for code in ("Traceback", 'x.py"', "_", *ItemStatus, *Status):
        assert code not in text
    if "does_not_say" in then:
        assert MEANINGS[then["does_not_say"]][locale] not in text
    if then.get("all_done_said") is False:
        assert MEANINGS["all done"][locale] not in text


POSTPONED = "a sentence of the model is checked against the ledger; the check stands beside the composition"


@pytest.mark.parametrize("case", [case for case in HONESTY if case not in COMPOSED], ids=lambda case: case["id"])
def test_a_sentence_of_the_model_is_used_only_if_it_is_true(case):
    pytest.skip(POSTPONED)


# Results -------------------------------------------------------------------------------------------

THREE = [
    ReplyItem("A", ItemStatus.SUCCEEDED, protocol="PX-1"),
    ReplyItem("B", ItemStatus.FAILED, reason="not_found"),
    ReplyItem("C", ItemStatus.SUCCEEDED),
]


def test_a_partial_result_begins_with_its_counts():
    assert render_result(Status.PARTIAL_SUCCESS, THREE, locale="pt-BR").splitlines() == [
        "2 de 3 concluídos; 1 não foi possível.",
        "• A: concluído (protocolo PX-1)",
        "• B: não foi possível (não encontrado)",
        "• C: concluído",
    ]


@pytest.mark.parametrize(
    ("succeeded", "failed", "head"),
    [
        (1, 1, "1 de 2 concluído; 1 não foi possível."),
        (1, 2, "1 de 3 concluído; 2 não foram possíveis."),
        (2, 2, "2 de 4 concluídos; 2 não foram possíveis."),
    ],
)
def test_counts_agree_in_number(succeeded, failed, head):
    items = [ReplyItem("A", ItemStatus.SUCCEEDED)] * succeeded + [ReplyItem("B", ItemStatus.FAILED)] * failed

    assert render_result(Status.PARTIAL_SUCCESS, items, locale="pt-BR").splitlines()[0] == head


@pytest.mark.parametrize("locale", LOCALES)
def test_a_result_of_ten_thousand_items_names_every_one(locale):
    items = [ReplyItem(f"Item <{n}>", ItemStatus.SUCCEEDED, protocol=f"P{n}") for n in range(10_000)]

    lines = render_result(Status.SUCCESS, items, locale=locale).splitlines()

    assert len(lines) == 10_001
    assert all(f"<{n}>" in line and f"P{n})" in line for n, line in enumerate(lines[1:]))


@pytest.mark.parametrize(("locale", "said"), [("pt-BR", "sendo verificado"), ("en", "being verified")])
def test_what_is_being_verified_is_neither_failed_nor_done(locale, said):
    items = [ReplyItem("A", ItemStatus.UNKNOWN), ReplyItem("B", ItemStatus.UNKNOWN)]

    text = render_result(Status.VERIFYING, items, locale=locale, reason_code=ReasonCode.OUTCOME_UNKNOWN)

    assert [line.split(": ")[1] for line in text.splitlines()[1:]] == [said, said]
    for word in ("concluíd", "não foi", "done", "did not", "fail", "falh"):
        assert word not in text


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (Status.CANCELLED, ReasonCode.USER_REJECTED),
        (Status.CANCELLED, ReasonCode.USER_ABANDONED),
        (Status.CANCELLED, ReasonCode.EMPTY_SET),
        (Status.ABANDONED, ReasonCode.INTENT_SHIFT),
        (Status.EXPIRED, ReasonCode.EXPIRED),
        (Status.EXPIRED, None),
        (Status.FAILED, ReasonCode.TOOL_DISABLED),
        (Status.FAILED, ReasonCode.DIGEST_MISMATCH),
        (Status.FAILED, ReasonCode.NOT_SENT),
        (Status.REFUSED, ReasonCode.NOT_ELIGIBLE),
        (Status.REFUSED, ReasonCode.NO_ACTIONABLE_ITEM),
        (Status.REFUSED, ReasonCode.INVALID_TARGET),
        (Status.REFUSED, ReasonCode.ITEM_UNSETTLED),
        (Status.REFUSED, ReasonCode.IDENTITY_REQUIRED),
        (Status.REFUSED, ReasonCode.TOO_MANY_ITEMS),
        (Status.REFUSED, ReasonCode.PRE_VALIDATION_UNAVAILABLE),
        (Status.REFUSED, ReasonCode.VALIDATION_LOOP),
        (Status.REFUSED, None),
    ],
)
def test_where_nothing_was_executed_it_is_said(status, code, locale):
    text = render_result(status, [ReplyItem("A", ItemStatus.NOT_EXECUTED)], locale=locale, reason_code=code)

    assert NOTHING_DONE[locale] in text.casefold()
    assert line_of(text, "A") == f"• A: {TEXTS['item.NOT_EXECUTED'][locale]}"


def test_a_failure_does_not_claim_that_nothing_was_done():
    text = render_result(
        Status.FAILED, [ReplyItem("A", ItemStatus.FAILED)], locale="pt-BR", reason_code=ReasonCode.TOOL_FAILED
    )

    assert NOTHING_DONE[PORTUGUESE] not in text.casefold()


def test_too_many_items_names_the_limit_and_offers_a_part():
    text = render_result(Status.REFUSED, [], locale="pt-BR", reason_code=ReasonCode.TOO_MANY_ITEMS, limit=5)

    assert "5" in text
    assert text.endswith("Mande de novo só uma parte, até 5.")


@pytest.mark.parametrize(("locale", "words"), [("pt-BR", "tente de novo"), ("en", "please try again")])
def test_a_check_that_could_not_be_made_is_not_the_users_fault(locale, words):
    code = ReasonCode.PRE_VALIDATION_UNAVAILABLE

    text = render_result(Status.REFUSED, [], locale=locale, reason_code=code)

    assert words in text
    assert {"pt-BR": "não por algo que você fez", "en": "not because of anything you did"}[locale] in text


def test_a_refused_set_is_offered_without_what_cannot_be_done():
    items = [ReplyItem("A", ItemStatus.INELIGIBLE, "blocked"), ReplyItem("B", ItemStatus.PENDING)]

    text = render_result(Status.REFUSED, items, locale="en", reason_code=ReasonCode.NOT_ELIGIBLE)

    assert "• A: not possible (it is blocked)" in text
    assert "I can go ahead with the others" in text


def test_a_reason_of_the_whole_is_told_once():
    items = [ReplyItem("A", ItemStatus.FAILED, "Conta suspensa")]

    text = render_result(Status.FAILED, items, locale="pt-BR", reason="Conta suspensa")

    assert text.count("Conta suspensa") == 1


def test_a_call_without_named_items_is_told_in_one_line():
    items = [ReplyItem("", ItemStatus.SUCCEEDED, protocol="PX-9")]

    text = render_result(Status.SUCCESS, items, locale="pt-BR", title="Segunda via.")

    assert text == "Segunda via – Pronto, concluído! Protocolo: PX-9."


def test_a_label_is_shown_as_text_on_one_line():
    label = 'Nuvem".\n\x1b[31m• B: concluído {locale} \u202eSYSTEM'

    text = render_result(Status.FAILED, [ReplyItem(label, ItemStatus.FAILED)], locale="pt-BR")

    assert text.splitlines()[1:] == ['• Nuvem". [31m• B: concluído {locale} SYSTEM: não foi possível']


# Reasons and statuses ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "locale", "text"),
    [
        (None, "pt-BR", ""),
        ("  ", "pt-BR", ""),
        ("not_found", "pt-BR", "não encontrado"),
        ("NOT_FOUND", "en", "not found"),
        ("not-found", "en", "not found"),
        ("some_other_code", "en", "some other code"),
        ("nao_elegivel_ate_30_06", "pt-BR", "não elegivel até 30/06"),
        ("em_verificacao", "pt-BR", "em verificação"),
        ("erro: sem_saldo.", "pt-BR", "erro: sem saldo."),
        ("Conta suspensa", "pt-BR", "Conta suspensa"),
        ("Conta suspensa\n", "en", "Conta suspensa"),
        ("x" * 200, "en", "x" * 200),
        ("x" * 201, "pt-BR", "houve um problema técnico"),
        ("uma linha\noutra linha", "pt-BR", "houve um problema técnico"),
        ('Traceback (most recent call last): File "x.py"', "pt-BR", "houve um problema técnico"),
        ("ValueError: bad id", "en", "there was a technical problem"),
        ("java.lang.NullPointerException", "en", "there was a technical problem"),
        ('{"code": 3}', "en", "there was a technical problem"),
        ("<html>502</html>", "en", "there was a technical problem"),
    ],
)
def test_a_reason_is_readable(reason, locale, text):
    assert reason_text(reason, locale) == text


def test_a_code_beside_a_success_is_not_told():
    assert render_result(
        Status.SUCCESS, [ReplyItem("A", ItemStatus.SUCCEEDED, reason="not_found")], locale="en"
    ).endswith("• A: done")
    assert render_result(
        Status.SUCCESS, [ReplyItem("A", ItemStatus.SUCCEEDED, reason="ends on 30 June")], locale="en"
    ).endswith("• A: done (ends on 30 June)")


@pytest.mark.parametrize("status", [*Status, *ItemStatus])
def test_every_status_has_a_name_in_both_languages(status):
    assert status_label(status, "pt-BR") == LABELS[status][PORTUGUESE]
    assert status_label(status, "en") == LABELS[status][ENGLISH]
    assert status_label(status, "en") != status


def test_an_unknown_status_is_shown_as_words():
    assert status_label("NEVER_HEARD", "en") == "Never heard"


# Questions -----------------------------------------------------------------------------------------

TWO = [ReplyItem("A", ItemStatus.PENDING), ReplyItem("B", ItemStatus.PENDING)]


def question(**given: Any) -> str:
    given = {"message": None, "operation": "Do it.", "items": TWO, "left_out": [], "arguments": []} | given
    return render_confirmation(**{"locale": "en", **given})


def test_the_validators_message_is_the_question():
    assert question(message=" Confirma A e B? ") == "Confirma A e B?"


def test_a_rendered_question_names_every_item_and_what_is_left_out_and_why():
    text = question(left_out=[ReplyItem("C", ItemStatus.INELIGIBLE, "blocked"), ReplyItem("D", ItemStatus.EXCLUDED)])

    assert text.splitlines() == [
        "Before I go on, please check what will be done:",
        "Do it",
        "• A",
        "• B",
        "Left out:",
        "• C: not possible (it is blocked)",
        "• D: left out this time",
        "Do you confirm?",
    ]


def test_what_is_left_out_is_said_beside_the_validators_message_too():
    text = question(message="A?", left_out=[ReplyItem("C", ItemStatus.INELIGIBLE, "blocked")], locale="pt-BR")

    assert text.splitlines() == ["A?", "Fica de fora:", "• C: não pode ser feito (está bloqueado)"]


def test_a_question_about_ten_thousand_items_names_every_one():
    items = [ReplyItem(f"<{n}>", ItemStatus.PENDING) for n in range(10_000)]

    text = question(items=items)

    assert all(f"• <{n}>\n" in text for n in (0, 5_000, 9_999))
    assert text.count("\n• ") == 10_000


def test_arguments_are_confirmed_unless_they_only_repeat_the_items():
    assert "• Why: too tight" in question(items=[], arguments=[("Why", "too tight")])
    assert "• Why: too big" in question(arguments=[("What", "A, B"), ("Why", "too big")], items=TWO[:0])
    assert "What" not in question(arguments=[("What", "A, B")])


@pytest.mark.parametrize("locale", LOCALES)
def test_a_check_that_was_not_made_is_said_in_the_question(locale):
    text = question(unvalidated=True, locale=locale)

    assert TEXTS["confirm.unvalidated"][locale] in text
    assert TEXTS["confirm.unvalidated"][locale] not in question(locale=locale)


@pytest.mark.parametrize(
    ("prompt", "label", "description", "text"),
    [
        ("Qual é o item?", "o item", "x", "Qual é o item?"),
        ("", "o item.", "x", "Para continuar, preciso saber: o item."),
        ("", "", "Número do item", "Para continuar, preciso saber: Número do item."),
        ("", "item_id", "Número do item", "Para continuar, preciso saber: Número do item."),
        ("", "item_id", "", "Pode me contar um pouco mais sobre o que você precisa?"),
        ("", "", "", "Pode me contar um pouco mais sobre o que você precisa?"),
    ],
)
def test_a_parameter_is_asked_for_in_words(prompt, label, description, text):
    assert reply.ask_parameter(prompt, label, description, "pt-BR") == text


# Answers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("locale", "catalogue"),
    [
        ("pt-BR", PORTUGUESE),
        ("pt", PORTUGUESE),
        ("pt_PT", PORTUGUESE),
        ("en-GB", ENGLISH),
        ("de", ENGLISH),
        ("", ENGLISH),
    ],
)
def test_a_locale_is_served_by_the_nearest_language(locale, catalogue):
    assert reply.say_again(locale) == TEXTS["say_again"][catalogue]


def test_what_can_be_done_is_offered_as_a_list():
    assert reply.fallback(["Do this.", "Do that"], "en").splitlines()[1:] == [
        "I can help with:",
        "• Do this",
        "• Do that",
    ]
    assert "\n" not in reply.fallback([], "en")


def test_a_question_without_an_answer_is_repeated_on_one_line():
    text = reply.cannot_answer("how\nmuch {limit}?", [], "en")

    assert text == "About “how much {limit}?”: I do not have that information here."
    assert reply.cannot_answer(None, [], "en") == TEXTS["cannot_answer"][ENGLISH]


def test_a_refused_change_is_told_with_its_reason():
    assert reply.change_refused("blocked", "en").endswith("Reason: it is blocked.")
    assert reply.change_refused(None, "en") == TEXTS["change_refused"][ENGLISH]


@pytest.mark.parametrize("locale", LOCALES)
def test_every_short_answer_is_a_sentence(locale):
    answers = [
        reply.nothing_to_confirm(locale),
        reply.still_working(locale),
        reply.not_available(locale),
        reply.ask_which_meaning([], locale),
        reply.ask_yes_or_no(locale),
        reply.greeting([], locale),
    ]

    assert len(set(answers)) == len(answers)
    assert all(answer[0].isupper() and answer[-1] in ".!?" and "_" not in answer for answer in answers)


@pytest.mark.parametrize("name", [*TEXTS])
def test_a_text_says_the_same_in_both_languages(name):
    languages = TEXTS[name]

    assert languages.keys() == {PORTUGUESE, ENGLISH}
    fields = [{part[1] for part in string.Formatter().parse(text)} for text in languages.values()]
    assert fields[0] == fields[1]
