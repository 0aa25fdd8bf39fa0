"""Checking a tool's contract in the administration: what is shown before, who may, what is called, what stays."""

import html
import re

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from tests.tooling.admin_pages import Fields
from tests.tooling.contract_servers import Till, a_till, listing
from tooling import contract_linting, publishing
from tooling.models import ContractCheck, Tool, ToolGrade
from tooling.specs import Definitions, ServerSpec

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]


def url_of(name="cancelar"):
    return reverse("admin:tooling_tool_contract", args=[Tool.objects.get(name=name).pk])


def send(client, name="cancelar", *, page=None, **data):
    """Send the form of a page, as its buttons do; the page that comes of it, as text."""
    held = Fields(page).data if page else {}
    answer = client.post(url_of(name), {**held, **data}, follow=True)
    return html.unescape(answer.content.decode())


def words_of(page):
    """The text of a page as it is read."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_what_would_be_called_is_shown_before_anything_is(ana):
    with a_till() as server:
        page = send(ana, step="plan")

        assert server.posts == []
    assert "Its server says that nothing happens while the argument dry_run is true" in page
    assert '"boletos": ["BOL-1", "BOL-8", "BOL-2", "BOL-9", "BOL-3"]' in page
    assert "Make these calls as a dry run" in page
    assert not ToolGrade.objects.exists()


def test_the_button_makes_just_these_calls_and_the_grade_stands_beside_the_tool(ana):
    with a_till(Till(honours_keys=False)) as server:
        page = send(ana, step="plan")
        done = send(ana, page=page, step="run")

        assert len(server.posts) == page.count('class="call"')
    assert "Contract of “cancelar” checked: unsafe." in done
    assert "The same request under the same key ran a second time." in done
    assert "Customers could be told something wrong, or something could happen twice." in done
    assert ToolGrade.objects.get().checked_by == "ana"
    listed = words_of(ana.get(reverse("admin:tooling_tool_changelist")).content.decode())
    assert "✕ unsafe" in listed
    assert "– not checked" in listed
    change = ana.get(reverse("admin:tooling_tool_change", args=[Tool.objects.get(name="cancelar").pk]))
    assert "✕ unsafe" in words_of(change.content.decode())
    assert "Check contract…" in change.content.decode()


def test_the_report_is_told_in_portuguese(ana):
    with a_till(Till(honours_keys=False)):
        send(ana, page=send(ana, step="plan"), step="run")
    ana.cookies["django_language"] = "pt-br"

    page = html.unescape(ana.get(url_of()).content.decode())

    assert "O mesmo pedido, com a mesma chave, foi executado de novo." in page
    assert "insegura" in page


def test_a_changed_definition_makes_the_grade_an_old_one(ana):
    with a_till():
        send(ana, page=send(ana, step="plan"), step="run")
        assert "changed since" not in ana.get(url_of()).content.decode()
        Tool.objects.filter(name="cancelar").update(description="Cancels more.")

    assert "check it again" in ana.get(url_of()).content.decode()
    assert "the definition changed since" in ana.get(reverse("admin:tooling_tool_changelist")).content.decode()


def test_a_plan_that_is_another_one_by_now_is_shown_again_and_nothing_is_called(ana):
    with a_till() as server:
        page = send(ana, step="plan")
        server.listing = listing({"agentplatform/sandbox": {"meta": "x/dry"},
                                  "agentplatform/fixtures": {"succeed": ["BOL-1"]}})  # fmt: skip
        again = send(ana, page=page, step="run")
        assert server.posts == []
        unseen = send(ana, step="run")
        assert server.posts == []

    assert "This is not what you have seen" in again
    assert "the key x/dry of _meta is true" in again
    assert "This is not what you have seen" in unseen


def test_a_tool_without_a_sandbox_has_no_button(ana):
    with a_till(listed=listing({})) as server:
        page = send(ana, step="plan")
        forced = send(ana, page=page, step="run")

        assert server.posts == []
    assert "its server declares no sandbox for it" in page
    assert 'value="run"' not in page
    assert 'value="run"' not in forced


def test_values_may_be_given_and_wrong_ones_are_told_beside_their_field(ana):
    bare = [{**each, "_meta": {}} for each in listing()]
    with a_till(listed=bare) as server:
        page = send(ana, "validar", step="plan")
        wrong = send(ana, "validar", page=page, step="run", **{"value.boletos": '["BOL'})
        assert server.posts == []
        right = send(ana, "validar", page=wrong, step="plan", **{"value.boletos": "BOL-1, BOL-2"})
        done = send(ana, "validar", page=right, step="run")

        assert [post["params"]["arguments"]["boletos"] for post in server.posts][:2] == [["BOL-1"], ["BOL-1", "BOL-2"]]
    assert "Nothing is known for this argument: give a value." in page
    assert "This is no value of the type list." in words_of(wrong)
    assert "checked: usable" in done


def test_a_server_that_does_not_answer_is_told(ana):
    with a_till():
        held = publishing.draft()
    publishing.replace_draft(
        Definitions({"caixa": ServerSpec("caixa", endpoint="http://127.0.0.1:9/mcp")}, held.tools, held.policies)
    )

    assert "nobody answers there" in send(ana, step="plan")


def test_a_server_that_somebody_checks_now_is_left_alone(ana):
    with a_till() as server:
        page = send(ana, step="plan")
        running = contract_linting.lint(contract_linting.look("caixa"), ["cancelar", "validar"])
        next(running)
        made = len(server.posts)
        told = send(ana, page=page, step="run")

        assert "“caixa” is being checked by somebody else now" in told
        assert len(server.posts) == made
        running.close()
    assert ContractCheck.objects.get().until is None


def test_hostile_texts_of_a_server_are_text(ana):
    evil = "<script>alert(1)</script>"
    with a_till(Till(lambda till, rows: {"results": [*rows, {"boleto": evil, "success": False}]})):
        send(ana, page=send(ana, step="plan"), step="run")

    page = ana.get(url_of()).content.decode()

    assert evil not in page
    assert html.escape(evil) in page


@pytest.mark.parametrize(("permission", "may_see"), [("view_tool", True), ("view_policy", False)])
def test_who_may_not_change_a_tool_may_not_check_it(client, permission, may_see):
    rui = User.objects.create_user("rui", is_staff=True)
    rui.user_permissions.add(Permission.objects.get(codename=permission, content_type__app_label="tooling"))
    client.force_login(rui)
    with a_till() as server:
        seen = client.get(url_of())
        planned = client.post(url_of(), {"step": "plan"})
        run = client.post(url_of(), {"step": "run"})

        assert server.posts == []
    assert seen.status_code == (200 if may_see else 403)
    assert b'name="step"' not in seen.content
    assert (planned.status_code, run.status_code) == (403, 403)


def test_strangers_and_forged_forms_are_refused(client):
    with a_till() as server:
        assert client.post(url_of(), {"step": "plan"}).status_code == 302
        strict = type(client)(enforce_csrf_checks=True)
        strict.force_login(User.objects.create_superuser("root"))
        assert strict.post(url_of(), {"step": "run"}).status_code == 403
        assert server.posts == []


def test_a_list_of_tools_asks_once_for_all_grades(ana, django_assert_max_num_queries):
    with a_till():
        for name in ("cancelar", "validar"):
            send(ana, name, page=send(ana, name, step="plan"), step="run")
    url = reverse("admin:tooling_tool_changelist")
    ana.get(url)

    with django_assert_max_num_queries(60) as held:
        page = ana.get(url).content.decode()

    assert page.count("✓") == 2
    assert sum('FROM "tooling_toolgrade"' in query["sql"] for query in held.captured_queries) == 1
