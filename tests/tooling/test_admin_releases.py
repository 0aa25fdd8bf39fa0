"""Publishing and rolling back in the administration: consequences, files, what runs, and two people at once."""

import re
import threading
from dataclasses import replace
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import translation

from tests.tooling.admin_pages import Fields, change_url, save
from tests.tooling.conftest import read
from tests.tooling.test_admin_conflicts import an_admin
from tooling import publishing, yaml_io
from tooling.admin.changes import lines_of
from tooling.differences import Change, ChangeKind
from tooling.findings import Finding, Severity
from tooling.models import Policy, Release
from tooling.neighbours import neighbours
from tooling.specs import Definitions, ServerSpec

pytestmark = pytest.mark.django_db
ACTION = "cancelar_vas_avulso"
PUBLISH = "/admin/tooling/release/publish/"


@pytest.fixture(autouse=True)
def _python_is_allowed(settings: Any) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


@pytest.fixture
def bia(db: None) -> Client:
    return an_admin("bia")


def policy_url() -> str:
    return change_url(Policy.objects.get(tool__name=ACTION))


def ticked(client: Client, url: str = PUBLISH, **more: Any) -> dict[str, Any]:
    """What a browser sends of a page of publishing on which everything that must be was ticked."""
    response = client.get(url)
    fields = Fields(response.content.decode()).data
    meant = [finding["key"] for finding in response.context["findings"] if finding["key"]]
    return fields | {"comment": "mine", "read_warnings": "on", "meant": meant} | more


def with_policy(definitions: Definitions, **changes: Any) -> Definitions:
    policy = replace(definitions.policy(ACTION), **changes)
    return replace(definitions, policies=dict(definitions.policies) | {ACTION: policy})


# What follows -----------------------------------------------------------------------------------------------


def consequences(old: Definitions, new: Definitions, language: str) -> list[tuple[str, bool]]:
    with translation.override(language):
        return [(line.consequence, line.is_riskier) for line in lines_of(publishing.diff(old, new)) if line.consequence]


def test_a_risky_switch_says_what_follows_in_both_languages(contas: Definitions):
    opened = replace(contas.policy(ACTION).pre_validation, fail_open=True)
    risky = with_policy(contas, pre_validation=opened)

    assert consequences(contas, risky, "en") == [("items that were not validated will pass", True)]
    assert consequences(contas, risky, "pt-br") == [("itens não validados vão passar", True)]
    assert consequences(risky, contas, "en") == [("without a verdict of the validator nothing is executed", False)]


@pytest.mark.parametrize(
    ("changes", "says", "is_riskier"),
    [
        ({"require_confirmation": False}, "it runs without asking the customer", True),
        ({"idempotency": "none"}, "never sent again; an operator decides", False),
        ({"on_intent_shift": "park"}, "set aside and offered again", False),
        ({"requires": ()}, "nobody asks for subject any more", True),
        ({"requires": ("subject", "canal")}, "customers are asked for canal", False),
        ({"max_items": None}, "one confirmation can cover more items", True),
        ({"max_items": 2}, "longer lists are refused", False),
        ({"atomicity": "all_or_nothing"}, "refused as a whole", False),
        ({"timeout_seconds": 0.5}, "unknown outcome sooner", True),
        ({"reconcile_tool": "listar_servicos"}, "what became of an unknown outcome", False),
        ({"operation_type": "read_only"}, "no longer counts as something that changes", True),
        ({"requires_identity": False}, "not signed in can use it", True),
    ],
)
def test_every_dangerous_field_has_a_sentence(contas: Definitions, changes: Any, says: str, is_riskier: bool):
    ((said, risky),) = consequences(contas, with_policy(contas, **changes), "en")

    assert says in said and risky is is_riskier


def test_servers_tools_intents_and_the_router_have_sentences_too(contas: Definitions):
    server, tool = contas.servers["contas"], contas.tools[ACTION]
    router = replace(contas.router, confidence_threshold=0.1, confirmation_phrases={"en": {"confirm": ["aye"]}})
    moved = replace(
        contas,
        servers={"contas": replace(server, endpoint="https://other.example/mcp", headers={"X": "${Y}"})},
        tools=dict(contas.tools) | {ACTION: replace(tool, enabled=False)},
        router=router,
    )

    said = [text for text, _risky in consequences(contas, moved, "en")]

    for part in ("another address", "other headers", "can no longer use it", "less certain readings", "a yes or a no"):
        assert any(part in one for one in said), part


def test_the_page_shows_files_line_by_line_checks_and_what_is_running(ana: Client, both: Definitions, monkeypatch):
    monkeypatch.setattr(neighbours, "running", lambda: {1: 3, 0: 0})
    save(ana, policy_url(), max_items="7")

    page = ana.get(PUBLISH).content.decode()

    assert '<span class="diff-removed">-    max_items: 20</span>' in page
    assert '<span class="diff-added">+    max_items: 7</span>' in page
    assert "3 transactions run on release 1 and stay on it." in " ".join(page.split())
    assert "tools.yaml" not in page


def test_files_that_are_too_long_are_not_compared_by_the_page(both: Definitions, monkeypatch):
    from tooling import exports

    monkeypatch.setattr(exports, "MOST_LINES", 3)

    (policies,) = exports.file_differences(both, with_policy(both, max_items=7))

    assert (policies.name, policies.lines) == ("tool_policies.yaml", None)


def test_what_rehearsals_find_keeps_a_draft_from_being_published(ana: Client, both: Definitions, monkeypatch):
    save(ana, policy_url(), max_items="7")
    found = Finding("case.failed", "the saved case fails", ("tools", ACTION), Severity.ERROR)
    monkeypatch.setattr(neighbours, "rehearse", lambda definitions: [found])

    page = ana.get(PUBLISH).content.decode()

    assert "the saved case fails" in page and "publish-form" not in page
    with pytest.raises(publishing.InvalidDraft, match="the saved case fails"):
        publishing.publish(comment="x")


def test_a_dangerous_warning_wants_its_own_tick(ana: Client, both: Definitions):
    save(ana, policy_url(), require_confirmation=[])
    fields = ticked(ana)
    assert fields["meant"]

    refused = ana.post(PUBLISH, fields | {"meant": []})

    assert "Say of each marked warning that it is meant." in refused.content.decode()
    assert Release.objects.count() == 1
    assert ana.post(PUBLISH, fields).status_code == 302


def test_afterwards_it_is_said_what_happened_and_what_still_runs(ana: Client, both: Definitions, monkeypatch):
    save(ana, policy_url(), max_items="7")
    monkeypatch.setattr(neighbours, "running", lambda: {1: 2})

    page = ana.post(PUBLISH, ticked(ana), follow=True).content.decode()

    assert "Release 2 is published. 2 transactions still run on earlier releases and end there." in page


# Two at once ------------------------------------------------------------------------------------------------


def test_the_second_publisher_sees_both_changes_and_loses_nothing(ana: Client, bia: Client, both: Definitions):
    save(ana, policy_url(), max_items="7")
    mine = ticked(ana, comment="of <i>ana</i>")
    save(bia, policy_url(), expires_after="77")
    bia.post(PUBLISH, ticked(bia, comment="of bia"))
    save(bia, policy_url(), fail_open="on")

    late = ana.post(PUBLISH, mine)

    page = " ".join(late.content.decode().split())
    assert late.status_code == 409 and Release.objects.count() == 2
    assert "bia published release 2" in page and "of bia" in page
    meanwhile = late.context["meanwhile"]
    assert [line.label for one in meanwhile["releases"] for line in one["lines"]] == [
        "expires after (seconds)",
        "most items at once",
    ]
    assert [edit.who for edit in meanwhile["edits"]] == ["bia", "bia"]
    assert [line.label for line in late.context["changes"]] == ["go on when the validator gives no verdict"]
    assert Fields(late.content.decode()).data["comment"] == ["of <i>ana</i>"]

    again = Fields(late.content.decode()).data | ticked(ana, comment="of ana")
    assert ana.post(PUBLISH, again).status_code == 302
    assert Release.objects.first().comment == "of ana"


def test_a_comment_is_kept_where_nothing_is_left_to_publish(ana: Client, bia: Client, both: Definitions):
    save(ana, policy_url(), max_items="7")
    mine = ticked(ana, comment="a long thought")
    bia.post(PUBLISH, ticked(bia))

    late = ana.post(PUBLISH, mine)

    assert late.status_code == 409
    assert "a long thought" in late.content.decode() and "publish-form" not in late.content.decode()


def test_sending_the_form_twice_publishes_once(ana: Client, both: Definitions):
    save(ana, policy_url(), max_items="7")
    mine = ticked(ana)

    answers = [ana.post(PUBLISH, mine).status_code for _ in range(2)]

    assert answers == [302, 409]
    assert Release.objects.count() == 2


def test_a_roll_back_that_somebody_overtook_is_a_conflict_too(ana: Client, bia: Client, both: Definitions):
    publishing.publish(comment="two", force=True)
    save(ana, policy_url(), max_items="7")
    publishing.publish(comment="three")
    url = reverse("admin:tooling_release_roll_back", args=[1])
    mine = ticked(ana, url, comment="back")
    save(bia, policy_url(), max_items="8")

    late = ana.post(url, mine)

    assert late.status_code == 409 and Release.objects.count() == 3
    assert [edit.who for edit in late.context["meanwhile"]["edits"]] == ["bia"]
    assert ana.post(url, Fields(late.content.decode()).data).status_code == 302
    assert Release.objects.first().comment == "back"


@pytest.mark.parametrize("seen", ["", "x", "1-" + "0" * 64, "9" * 40])
def test_a_page_that_does_not_say_what_it_showed_publishes_nothing(ana: Client, both: Definitions, seen: str):
    save(ana, policy_url(), max_items="7")

    late = ana.post(PUBLISH, ticked(ana, seen=seen, since="-1"))

    assert late.status_code == 409 and Release.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_who_publish_at_the_same_moment_one_gets_the_conflict(settings: Any):
    settings.MCP_STDIO_COMMANDS = ["python"]
    definitions = read("contas", "pedidos")
    publishing.replace_draft(definitions)
    publishing.publish(comment="first")
    ana, bia = an_admin("ana"), an_admin("bia")
    save(ana, policy_url(), max_items="7")
    forms = {client: ticked(client, comment=name) for client, name in ((ana, "of ana"), (bia, "of bia"))}
    together, answers = threading.Barrier(2), []

    def press(client: Client) -> None:
        try:
            together.wait(10)
            answers.append(client.post(PUBLISH, forms[client]))
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=[client]) for client in forms]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(answer.status_code for answer in answers) == [302, 409]
    assert Release.objects.count() == 2
    (late,) = (answer for answer in answers if answer.status_code == 409)
    (theirs,) = late.context["meanwhile"]["releases"]
    assert theirs["release"].author != late.wsgi_request.user.get_username()
    assert f"of {late.wsgi_request.user}" in late.content.decode()


def test_who_published_is_recorded_by_identity(ana: Client, both: Definitions):
    save(ana, policy_url(), max_items="7")
    ana.post(PUBLISH, ticked(ana, comment="what changes"))

    release = Release.objects.first()
    assert (release.author, release.comment) == ("ana", "what changes")
    assert release.author_identity == f"user:{User.objects.get(username='ana').pk}"


# Releases ---------------------------------------------------------------------------------------------------


def test_a_release_is_downloaded_as_files_that_name_their_schemas(ana: Client, both: Definitions):
    response = ana.get(reverse("admin:tooling_release_files", args=[1]))

    assert response["Content-Disposition"] == 'attachment; filename="definitions-release-1.zip"'
    with ZipFile(BytesIO(response.content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert all(text.startswith(b"# yaml-language-server: $schema=http") for text in files.values())
    reading = yaml_io.read_files(files, stdio_commands=["python"])
    assert reading.definitions is not None and publishing.hash_of(reading.definitions) == Release.objects.get().hash


def test_two_releases_are_compared_in_words_and_as_files(ana: Client, both: Definitions):
    save(ana, policy_url(), max_items="7")
    publishing.publish(comment="seven")

    page = ana.get(reverse("admin:tooling_release_compare"), {"old": "1", "new": "2"}).content.decode()
    wrong = ana.get(reverse("admin:tooling_release_compare"), {"old": "x", "new": "99"})

    assert "most items at once" in page and "diff-added" in page
    assert wrong.status_code == 200 and "diff-added" not in wrong.content.decode()


def test_the_list_says_what_runs_on_which_release(ana: Client, both: Definitions, monkeypatch):
    publishing.publish(comment="two", force=True)
    monkeypatch.setattr(neighbours, "running", lambda: {1: 41})

    page = ana.get(reverse("admin:tooling_release_changelist")).content.decode()

    assert '<td class="field-runs">41</td>' in page and '<td class="field-runs">0</td>' in page


def test_the_edits_since_the_newest_release_are_listed(ana: Client, bia: Client, both: Definitions):
    save(ana, policy_url(), max_items="7")
    publishing.publish(comment="seven")
    save(bia, policy_url(), max_items="8")

    page = ana.get(reverse("admin:tooling_release_draft")).content.decode()

    assert "Changes of the draft since release 2" in page
    assert "<strong>bia</strong>" in page and "<strong>ana</strong>, in" not in page


def test_who_may_not_look_at_releases_gets_none_of_their_pages(client: Client, both: Definitions):
    client.force_login(User.objects.create_user("olga", is_staff=True))
    names = ["tooling_release_draft", "tooling_release_compare"]
    urls = [reverse(f"admin:{name}") for name in names] + [reverse("admin:tooling_release_files", args=[1])]

    assert [client.get(url).status_code for url in urls] == [403, 403, 403]


def test_a_new_server_says_which_values_it_would_be_sent_and_where(ana: Client, both: Definitions):
    spec = ServerSpec("s", endpoint="https://a.example/mcp", headers={"Authorization": "Bearer ${OF_OURS}"})
    publishing.replace_draft(replace(both, servers={**both.servers, "s": spec}))

    page = ana.get(PUBLISH).content.decode()

    assert "the values of OF_OURS are sent to https://a.example/mcp" in page
    assert "Bearer ${OF_OURS}" in page


def test_a_text_in_languages_that_becomes_one_text_is_shown_and_not_called_empty():
    change = Change(("tools", "t", "description"), {"pt-BR": "Um", "en": "One"}, "Uno", ChangeKind.CHANGED)

    (line,) = lines_of([change])

    assert line.old is not None
    assert line.old.text == "pt-BR: Um; en: One"


def test_a_roll_back_shows_what_the_draft_loses_and_what_is_doubtful_about_what_comes_back(
    ana: Client, both: Definitions
):
    policy = replace(both.policy(ACTION), require_confirmation=False)
    publishing.replace_draft(replace(both, policies={**both.policies, ACTION: policy}))
    publishing.publish(comment="risky")
    publishing.replace_draft(both)
    publishing.publish(comment="safe again")
    publishing.replace_draft(replace(both, policies={**both.policies, ACTION: replace(policy, max_items=77)}))
    url = reverse("admin:tooling_release_roll_back", args=[2])

    page = ana.get(url).content.decode()
    sent = ana.post(url, {"comment": "back", "seen": seen_on(page)})

    assert "What would be lost of the draft" in page
    assert "77" in page
    assert 'name="meant"' in page
    assert sent.status_code == 200
    assert Release.objects.count() == 3


def seen_on(page: str) -> str:
    found = re.search(r'name="seen" value="([^"]*)"', page)
    assert found is not None
    return found[1]
