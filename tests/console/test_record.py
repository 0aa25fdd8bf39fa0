"""The record of one transaction: everything that is known, in words, with the evidence, and safely."""

import json

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import (
    a_confirmation,
    a_conversation,
    a_transaction,
    a_turn,
    a_whole_story,
    an_attempt,
    an_event,
    an_item,
    an_operator,
)
from transactions.core.statuses import AttemptStatus, ItemStatus, ReasonCode, Rule, Status, VerdictSource

pytestmark = pytest.mark.django_db
ENGLISH = {"accept-language": "en"}


@pytest.fixture
def operator(client):
    client.force_login(an_operator())
    return client


def record_of(client, transaction, language="en", query="") -> str:
    response = client.get(f"/console/transactions/{transaction.pk}/{query}", headers={"accept-language": language})
    assert response.status_code == 200
    return response.content.decode()


def test_the_header_is_a_sentence_about_the_items(operator):
    story = a_whole_story()

    assert "2 of 3 items completed, 1 failed" in record_of(operator, story)
    assert "2 de 3 itens concluídos, 1 falhou" in record_of(operator, story, "pt-BR")


def test_an_operator_sees_item_reason_protocol_confirmation_release_rule_and_raw_answer(operator):
    # GOV-011
    story = a_whole_story()
    raw = {"structured": {"results": [{"subject": "Livros", "success": False, "reason": "nao_achei"}]}}
    an_attempt(story, number=2, raw_answer=raw)

    page = record_of(operator, story)

    for shown in (
        str(story.pk),
        "Livros Falados Premium",
        "not_found",
        "PRT-881",
        'data-copy="PRT-881"',
        "a row of the answer named this item",
        "nao_achei",
        "tx-7f3a",
        "explicit words answered the confirmation",
        "confirmation.explicit",
        "transaction_parameter_extraction",
        "412 ms",
        "conferir_assinaturas",
        "from the user&#x27;s words",
        "notificação: tempo esgotado",
        "by text",
    ):
        assert shown in page
    assert ">3</dd>" in page


def test_a_confirmation_is_shown_exactly_as_it_was(operator):
    transaction = a_transaction()
    text = "Confirma?\n\n  - A  (duas   vezes)\n  - <b>B</b>"
    a_confirmation(transaction, text)

    page = record_of(operator, transaction)

    assert "Confirma?\n\n  - A  (duas   vezes)\n  - &lt;b&gt;B&lt;/b&gt;</blockquote>" in page


def test_each_time_of_the_timeline_has_milliseconds_and_a_zone(operator):
    story = a_whole_story()
    at = timezone.now().replace(microsecond=7_000)
    an_event(story.conversation, "items.progress", {"done": 3, "total": 3}, transaction=story, at=at)

    page = record_of(operator, story)

    assert ".007 <span" in page
    assert "UTC−3" in page


def test_the_timeline_holds_the_messages_that_led_to_it_and_no_others(operator):
    conversation = a_conversation()
    a_turn(conversation, "bom dia")
    story = a_whole_story(conversation=conversation)
    a_turn(conversation, "obrigado")

    response = operator.get(f"/console/transactions/{story.pk}/", headers=ENGLISH)

    said = [entry.text for entry in response.context["timeline"] if entry.kind_code == "user.message"]
    assert said == ["encerra Música Mais, Livros Falados e Craque 10", "sim"]
    assert [message.is_ours for message in response.context["said"] if message.text in ("bom dia", "obrigado")] == [
        False,
        False,
    ]
    assert "not about this transaction" in response.content.decode()


def test_a_move_is_told_in_words(operator):
    story = a_whole_story()

    assert "Collecting data → Checking" in record_of(operator, story)


def test_a_difference_between_report_and_verdict_is_said(operator):
    transaction = a_transaction(Status.VERIFYING, multi_item_status="SUCCESS", has_unknown=True)

    page = record_of(operator, transaction)

    assert "The tool reported “Completed”; our verdict, item by item, is “Being verified”." in page
    assert "Do not repeat it" in page


def test_no_difference_is_said_where_there_is_none(operator):
    assert "The tool reported “" not in record_of(operator, a_whole_story())


def test_rows_that_nobody_confirmed_stand_out(operator):
    transaction = a_transaction(items=[("A", ItemStatus.SUCCEEDED)], has_unconfirmed=True)
    an_item(transaction, 2, "Z", ItemStatus.SUCCEEDED, unconfirmed=True)

    page = record_of(operator, transaction)

    assert page.count('class="unconfirmed"') == 1
    assert "nobody confirmed this" in page
    assert "1 of 1 item completed" in page


def test_passing_without_a_verdict_stands_out(operator):
    check = {"tool": "v", "eligible": None, "fail_open_used": True, "request": {}, "answer": None, "error": "timeout"}

    page = record_of(operator, a_transaction(pre_validation=check))

    assert "the policy let the transaction pass (fail_open)" in page
    assert "no verdict" in page
    assert "timeout" in page


def test_parents_and_children_link_to_each_other(operator):
    parent = a_transaction(Status.PARTIAL_SUCCESS)
    child = a_transaction(parent=parent)

    assert f'href="/console/transactions/{parent.pk}/"' in record_of(operator, child)
    assert f'href="/console/transactions/{child.pk}/"' in record_of(operator, parent)


def test_the_release_links_to_the_administration_only_for_who_may_see_it(client):
    story = a_whole_story()
    client.force_login(an_operator())
    plain = record_of(client, story)
    eva = an_operator("eva", is_staff=True)
    eva.user_permissions.add(Permission.objects.get(codename="view_release"))
    client.force_login(eva)
    linked = record_of(client, story)

    assert "/admin/tooling/release/" not in plain
    assert "number=3" in linked


def test_an_empty_record_says_what_is_not_there_yet(operator):
    page = record_of(operator, a_transaction(Status.COLLECTING_PARAMETERS))

    for text in (
        "No items are known yet",
        "No argument is known yet.",
        "No validator was asked.",
        "The user was not asked to confirm.",
        "The tool was not called.",
        "Nothing was recorded yet.",
        "No messages.",
    ):
        assert text in page


def test_nothing_from_outside_becomes_markup(operator):
    evil = "</pre><script>alert('x')</script><img src=x>"
    conversation = a_conversation(identity={"customer_key": f"<i>{evil}"})
    turn = a_turn(conversation, evil)
    transaction = a_transaction(
        Status.FAILED,
        tool=evil,
        reason=evil,
        conversation=conversation,
        arguments={evil: {"value": [evil], "source": evil, "turn_id": None}},
        pre_validation={"tool": evil, "eligible": evil, "request": {evil: evil}, "answer": evil, "error": evil},
    )
    fields = {"fields": {evil: {"deep": evil}}, "evidence": {evil: evil}, "rule": evil, "verdict_source": "<i>"}
    an_item(transaction, 1, evil, ItemStatus.FAILED, reason=evil, protocol=evil, **fields)
    a_confirmation(transaction, evil, digest=evil)
    an_attempt(
        transaction,
        idempotency_key=evil,
        failure=evil,
        secondary_error=evil,
        raw_answer={"structured": evil},
        normalised={evil: evil},
    )
    call = {"component": evil, "profile": evil, "ms": evil}
    an_event(
        conversation, "<b>kind", {"text": evil}, transaction=transaction, turn=turn, actor="<b>a", model_calls=[call]
    )

    page = record_of(operator, transaction)

    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert page.count("&lt;script&gt;alert(&#x27;x&#x27;)") > 10


@pytest.mark.parametrize(
    "value",
    [None, [], {}, "text", 7, 1.5, True, ["a", 1], [{"a": [None]}], {"a": {"b": {}}}, "\x00", "\ud800 half", "‮abc"],
    ids=repr,
)
def test_any_json_that_was_stored_can_be_shown(operator, value):
    if connection.vendor == "postgresql" and value in ("\x00", "\ud800 half"):
        pytest.skip("PostgreSQL does not store this text")
    conversation = a_conversation()
    held = {"value": value, "source": "mapping", "turn_id": None}
    transaction = a_transaction(
        conversation=conversation,
        arguments={"a": held},
        pre_validation={"tool": value, "eligible": value, "request": value, "answer": value, "error": value},
    )
    an_item(transaction, 1, "A", ItemStatus.SUCCEEDED, fields={"f": value}, evidence={"e": value})
    an_attempt(transaction, raw_answer=value, normalised=value, request={"r": value})
    an_event(conversation, "incident", {"incidents": [value]}, transaction=transaction, model_calls=[value])
    an_event(conversation, "assistant.message", {"text": value}, transaction=transaction)

    record_of(operator, transaction)


def test_a_huge_answer_is_cut_with_a_note_and_a_way_to_the_whole(operator):
    transaction = a_transaction()
    an_attempt(transaction, raw_answer={"rows": ["x" * 1000] * 10_000})

    page = record_of(operator, transaction)

    assert len(page) < 100_000
    assert "Cut here after 20000 characters" in page.replace(",", "")
    assert f'href="/api/v1/transactions/{transaction.pk}/"' in page


def test_deeply_nested_json_does_not_break_the_page(operator):
    transaction = a_transaction()
    deep = json.loads("[" * 300 + "]" * 300)
    an_attempt(transaction, raw_answer=deep)

    record_of(operator, transaction)


def test_a_long_list_of_items_is_folded_and_can_be_shown_whole(operator):
    transaction = a_transaction(items=[(f"item {n:03}", ItemStatus.SUCCEEDED) for n in range(230)])

    folded, whole = record_of(operator, transaction), record_of(operator, transaction, query="?all=1")

    assert "item 199" in folded
    assert "item 200" not in folded
    assert "200 of 230 items are shown." in folded
    assert "item 229" in whole


def test_the_number_of_queries_does_not_depend_on_the_rows(operator):
    small = a_transaction()
    big = a_whole_story()
    for number in range(2, 9):
        an_attempt(big, number)
        a_confirmation(big, f"again {number}", status="replaced")
        an_item(big, 10 + number, f"more {number}", ItemStatus.SUCCEEDED)
        a_turn(big.conversation, f"and {number}")
    url = "/console/transactions/{}/"
    operator.get(url.format(small.pk))

    with CaptureQueriesContext(connection) as few:
        operator.get(url.format(small.pk))
    with CaptureQueriesContext(connection) as many:
        operator.get(url.format(big.pk))

    assert len(many) == len(few) <= 12


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_every_value_of_the_closed_lists_has_words(language):
    from django.utils import translation

    from transactions.console import labels

    lists = [
        (labels.STATUSES, Status),
        (labels.ITEMS, ItemStatus),
        (labels.ATTEMPTS, AttemptStatus),
        (labels.REASONS, ReasonCode),
        (labels.RULES, Rule),
        (labels.VERDICTS, VerdictSource),
    ]

    for table, values in lists:
        assert set(table) == set(values)
        with translation.override(language):
            texts = [str(getattr(told, "text", told)) for told in table.values()]
        assert all(texts)
        assert len(set(texts)) == len(texts)
