"""Two people at the draft: nothing is overwritten unseen, nothing that was typed is lost, and history tells it all."""

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from tests.tooling.admin_pages import Fields, add_url, change_url, fields_of, save
from tooling import publishing
from tooling.models import Intent, LlmProfile, McpServer, ParameterMapping, Policy, RouterSettings, Tool, Workflow
from tooling.specs import Definitions

pytestmark = pytest.mark.django_db
ACTION = "cancelar_vas_avulso"


@pytest.fixture(autouse=True)
def _python_is_allowed(settings: Any) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


def an_admin(name: str) -> Client:
    user = User.objects.create_user(name, password=None, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="tooling"))
    client = Client()
    client.force_login(user)
    client.cookies["django_language"] = "en"
    return client


@pytest.fixture
def bia(db: None) -> Client:
    return an_admin("bia")


def policy_url() -> str:
    return change_url(Policy.objects.get(tool__name=ACTION))


def decided(client: Client, response: Any, url: str) -> Any:
    """Press "Save what I changed" on a page of a conflict."""
    return client.post(url, Fields(response.content.decode()).data, follow=True)


# One object -------------------------------------------------------------------------------------------------


def test_saving_over_a_newer_change_shows_both_and_saves_nothing(ana: Client, bia: Client, both: Definitions):
    opened = fields_of(ana, policy_url())
    save(bia, policy_url(), max_items="7")

    late = ana.post(policy_url(), opened | {"fail_open": "on", "max_items": "9"})

    page = late.content.decode()
    assert late.status_code == 409
    assert "bia changed policy “cancelar_vas_avulso” in the administration" in page
    rows = {row["label"]: row for row in late.context["rows"]}
    items, opens = rows["most items at once"], rows["go on when the validator gives no verdict"]
    assert (items["before"].text, items["theirs"].text, items["mine"].text, items["both"]) == ("20", "7", "9", True)
    assert (opens["before"].text, opens["theirs"], opens["mine"].text, opens["both"]) == ("no", None, "yes", False)
    saved = publishing.draft().policy(ACTION)
    assert (saved.max_items, saved.pre_validation.fail_open) == (7, False)


def test_who_decides_for_the_own_changes_keeps_the_others(ana: Client, bia: Client, both: Definitions):
    opened = fields_of(ana, policy_url())
    save(bia, policy_url(), max_items="7", expires_after="90")

    late = ana.post(policy_url(), opened | {"fail_open": "on", "max_items": "9"})
    response = decided(ana, late, policy_url())

    saved = publishing.draft().policy(ACTION)
    assert (saved.max_items, saved.expires_after, saved.pre_validation.fail_open) == (9, 90, True)
    assert "Saved in the draft: policy “cancelar_vas_avulso”." in response.content.decode()


def test_who_decided_on_what_moved_once_more_decides_again(ana: Client, bia: Client, both: Definitions):
    opened = fields_of(ana, policy_url())
    save(bia, policy_url(), max_items="7")
    late = ana.post(policy_url(), opened | {"fail_open": "on"})
    save(bia, policy_url(), max_items="8")

    again = ana.post(policy_url(), Fields(late.content.decode()).data)

    assert again.status_code == 409
    assert publishing.draft().policy(ACTION).max_items == 8
    assert decided(ana, again, policy_url()).status_code == 200
    assert publishing.draft().policy(ACTION).pre_validation.fail_open
    assert publishing.draft().policy(ACTION).max_items == 8


def test_different_objects_and_equal_changes_are_no_conflict(ana: Client, bia: Client, both: Definitions):
    intent, other = Intent.objects.all()[:2]
    mine, theirs, same = (
        fields_of(ana, change_url(intent)),
        fields_of(bia, change_url(other)),
        fields_of(ana, policy_url()),
    )
    save(bia, policy_url(), max_items="7")

    answers = [
        bia.post(change_url(other), theirs | {"priority": "3"}),
        ana.post(change_url(intent), mine | {"priority": "4"}),
        ana.post(policy_url(), same | {"max_items": "7"}),
    ]

    assert [answer.status_code for answer in answers] == [302, 302, 302]


def test_a_change_that_came_over_the_api_is_a_conflict_too(ana: Client, both: Definitions):
    opened = fields_of(ana, policy_url())
    policy = replace(both.policy(ACTION), max_items=3)
    publishing.change_draft(
        replace(both, policies=dict(both.policies) | {ACTION: policy}),
        kinds=publishing.ALL_KINDS,
        author="key:deploy",
        via=publishing.Via.API,
    )

    late = ana.post(policy_url(), opened | {"max_items": "9"})

    assert late.status_code == 409
    assert "key:deploy changed policy “cancelar_vas_avulso” over the API" in late.content.decode()


def test_arguments_of_a_tool_come_together(ana: Client, bia: Client, both: Definitions):
    url = change_url(Tool.objects.get(name=ACTION))
    opened = fields_of(ana, url)
    save(bia, url, **{"arguments-0-format": "theirs"})

    late = ana.post(url, opened | {"arguments-0-type": "array", "enabled": []})
    assert late.status_code == 409
    decided(ana, late, url)

    tool = publishing.draft().tools[ACTION]
    assert (tool.enabled, tool.arguments[0].format, tool.arguments[0].type) == (False, "theirs", "array")


@pytest.mark.parametrize(
    ("model", "field", "mine", "other", "theirs"),
    [
        (McpServer, "endpoint", "https://a.example/mcp", "enabled", []),
        (Intent, "priority", "3", "keywords", "outra"),
        (LlmProfile, "model", "m-2", "max_tokens", "77"),
        (RouterSettings, "confidence_threshold", "0.9", "confirm_en", "aye"),
        (ParameterMapping, "defaults", "canal: app", "map", "customer_key: quem"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_every_kind_of_object_brings_both_together(
    ana: Client, bia: Client, both: Definitions, model: Any, field: str, mine: Any, other: str, theirs: Any
):
    RouterSettings.objects.get_or_create(pk=1)
    url = change_url(model.objects.first())
    opened = fields_of(ana, url)
    assert save(bia, url, **{other: theirs}) == []
    moved = fields_of(bia, url)

    late = ana.post(url, opened | {field: mine})
    assert late.status_code == 409
    decided(ana, late, url)

    now = fields_of(ana, url)
    assert now.get(field) == ([mine] if isinstance(mine, str) else mine)
    assert now.get(other) == moved.get(other)


def test_a_workflow_brings_both_together(ana: Client, bia: Client, both: Definitions):
    url = change_url(Workflow.objects.get())
    text = fields_of(ana, url)["text"][0]
    opened = fields_of(ana, url)
    priority = next(line for line in text.splitlines() if "priority:" in line)
    save(bia, url, text=text.replace("version: 1", "version: 2", 1))

    late = ana.post(url, opened | {"text": text.replace(priority, priority.split(":")[0] + ": 77", 1)})
    assert late.status_code == 409
    decided(ana, late, url)

    (workflow,) = publishing.draft().workflows.values()
    assert workflow.version == 2 and 77 in [edge.priority for edge in workflow.edges]


def test_what_was_typed_into_an_object_that_is_gone_is_shown(ana: Client, bia: Client, both: Definitions):
    intent = Intent.objects.first()
    opened = fields_of(ana, change_url(intent))
    bia.post(reverse("admin:tooling_intent_delete", args=[intent.pk]), {"post": "yes"})

    late = ana.post(change_url(intent), opened | {"keywords": "uma palavra & <b>outra</b>"})

    assert late.status_code == 409
    assert "uma palavra &amp; &lt;b&gt;outra&lt;/b&gt;" in late.content.decode()
    assert not Intent.objects.filter(pk=intent.pk).exists()


def test_a_form_with_errors_still_knows_what_it_was_made_from(ana: Client, bia: Client, both: Definitions):
    opened = fields_of(ana, policy_url())
    save(bia, policy_url(), max_items="7")

    refused = ana.post(policy_url(), opened | {"max_items": "many"})
    late = ana.post(policy_url(), Fields(refused.content.decode()).data | {"max_items": "9"})

    assert (refused.status_code, late.status_code) == (200, 409)


@pytest.mark.parametrize("seen", ["", "{", "[1]", "[" * 9000, '{"a": NaN}', '"><script>alert(1)</script>'])
def test_a_form_that_does_not_say_what_it_was_made_from_is_compared_first(ana: Client, both: Definitions, seen: str):
    late = ana.post(policy_url(), fields_of(ana, policy_url()) | {"max_items": "9", "seen_of_draft": seen})

    assert late.status_code == 409 and "<script>alert" not in late.content.decode()
    assert publishing.draft() == both
    assert decided(ana, late, policy_url()).status_code == 200
    assert publishing.draft().policy(ACTION).max_items == 9


# History ----------------------------------------------------------------------------------------------------


def history(client: Client, obj: Any) -> str:
    response = client.get(reverse(f"admin:tooling_{obj._meta.model_name}_history", args=[obj.pk]))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_history_tells_who_changed_what_how_and_where_it_went_out(ana: Client, bia: Client, both: Definitions):
    policy = Policy.objects.get(tool__name=ACTION)
    save(ana, policy_url(), max_items="7")
    publishing.publish(comment="seven", author=User.objects.get(username="ana"))
    save(bia, policy_url(), max_items="8")
    save(bia, change_url(Intent.objects.first()), priority="77")

    page = history(ana, policy)

    assert page.index("<strong>bia</strong>, in the administration") < page.index(
        "<strong>ana</strong>, in the administration"
    )
    assert "not published yet" in page and "in release 2" in page
    assert "most items at once" in page and "priority" not in page


def test_what_a_roll_back_threw_away_is_told_so(ana: Client, both: Definitions):
    policy = Policy.objects.get(tool__name=ACTION)
    publishing.publish(comment="two", force=True)
    publishing.change_draft(replace(both, intents={}), kinds=publishing.ALL_KINDS, author="rui")
    publishing.publish(comment="three")
    save(ana, policy_url(), max_items="7")

    publishing.roll_back(2, "back", "rui")

    page = history(ana, Policy.objects.get(pk=policy.pk))
    assert "thrown away by the roll back of release 4" in page
    assert "<strong>rui</strong>, by rolling back" in page


def test_history_goes_on_when_an_object_is_renamed(ana: Client, both: Definitions):
    save(ana, add_url(Intent), name="mudar")
    intent = Intent.objects.get(name="mudar")
    save(ana, change_url(intent), name="trocar")
    save(ana, change_url(intent), priority="5")

    page = history(ana, intent)

    assert page.count('class="edit-head"') == 3


def test_history_takes_the_permission_to_see_the_object(client: Client, both: Definitions):
    client.force_login(User.objects.create_user("olga", is_staff=True))

    policy = Policy.objects.first()

    assert client.get(reverse("admin:tooling_policy_history", args=[policy.pk])).status_code == 403
