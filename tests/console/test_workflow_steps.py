"""The nodes of a workflow on the record of a transaction: on the operators' page and in the API."""

import pytest

from tests.builders import a_whole_story, an_api_key, an_attempt, an_operator

pytestmark = pytest.mark.django_db

STEPS = [
    {
        "node": "conferir",
        "tool": "ver_situacao",
        "phase": "before",
        "claim": 1,
        "request": {"number": "N-77"},
        "answer": {"structured": {"state": "delivered-long-ago"}, "is_error": False},
        "failure": "",
        "at": "2026-03-04T05:06:07.008+00:00",
        "of_attempt": 1,
    },
    {
        "node": "avisar",
        "tool": "enviar_aviso",
        "phase": "after",
        "claim": 1,
        "request": {},
        "answer": None,
        "failure": "<b>no answer</b> within 5 s",
        "at": "2026-03-04T05:06:09+00:00",
    },
]


def test_the_record_shows_every_node_with_what_it_was_asked_and_answered(client):
    client.force_login(an_operator())
    story = a_whole_story()
    an_attempt(story, number=2, steps=STEPS)

    page = client.get(f"/console/transactions/{story.pk}/", headers={"accept-language": "en"}).content.decode()

    for shown in ("conferir", "ver_situacao", "before the tool", "N-77", "delivered-long-ago", "asked for attempt 1"):
        assert shown in page
    assert "&lt;b&gt;no answer&lt;/b&gt; within 5 s" in page
    assert page.index("conferir") < page.index("avisar")


def test_a_direct_call_has_no_such_part(client):
    client.force_login(an_operator())
    story = a_whole_story()

    page = client.get(f"/console/transactions/{story.pk}/", headers={"accept-language": "pt-BR"}).content.decode()

    assert "Outras etapas do fluxo" not in page


def test_programs_read_the_nodes_beside_the_attempt(client):
    story = a_whole_story()
    an_attempt(story, number=2, steps=STEPS)

    record = client.get(f"/api/v1/transactions/{story.pk}/", headers=an_api_key()).json()

    assert [attempt["steps"] for attempt in record["attempts"] if attempt["number"] == 2] == [STEPS]
