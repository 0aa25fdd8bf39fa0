"""Who changed what in the draft, when and through what: every way to change it leaves a record that stays."""

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.transaction import atomic
from django.test import Client
from django.urls import reverse

from tests.builders import an_api_key
from tests.loading import DEFINITIONS
from tests.tooling.admin_pages import add_url, change_url, save
from tests.tooling.conftest import read
from tests.tooling.definitions_api import Caller, set_named
from tooling import publishing
from tooling.authors import author_of
from tooling.differences import merge
from tooling.draft_edits import DraftChange, DraftEdit, Via
from tooling.models import Intent, Policy, Tool
from tooling.specs import Definitions

pytestmark = pytest.mark.django_db
ACTION = "cancelar_vas_avulso"


@pytest.fixture(autouse=True)
def _python_is_allowed(settings: Any) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


def recorded() -> list[tuple[str, str, str]]:
    """Every edit as (who, through what, the paths that it changed)."""
    return [
        (edit.by, edit.via, " ".join(sorted(".".join(change.path) for change in edit.changes.all())))
        for edit in DraftEdit.objects.order_by("pk")
    ]


# Every way --------------------------------------------------------------------------------------------------


def test_a_saved_form_is_recorded_with_what_it_changed(ana: Client, both: Definitions):
    assert save(ana, change_url(Policy.objects.get(tool__name=ACTION)), fail_open="on", max_items="7") == []

    assert recorded() == [("ana", "admin", f"policies.{ACTION}.max_items policies.{ACTION}.pre_validation.fail_open")]
    change = DraftChange.objects.get(path__2="max_items")
    assert (change.section, change.name, change.kind, change.old, change.new) == ("policies", ACTION, "changed", 20, 7)
    assert DraftEdit.objects.get().identity == f"user:{User.objects.get(username='ana').pk}"


def test_a_form_that_changes_nothing_or_is_refused_leaves_no_record(ana: Client, both: Definitions):
    url = change_url(Policy.objects.get(tool__name=ACTION))

    assert save(ana, url) == []
    assert save(ana, url, max_items="many") != []

    assert recorded() == []


def test_a_new_object_an_argument_and_a_deletion_are_recorded(ana: Client, both: Definitions):
    save(ana, add_url(Intent), name="mudar")
    save(ana, change_url(Tool.objects.get(name=ACTION)), **{"arguments-0-format": "x"})
    ana.post(reverse("admin:tooling_intent_delete", args=[Intent.objects.get(name="mudar").pk]), {"post": "yes"})

    paths = [paths for _who, _via, paths in recorded()]
    assert paths == ["intents.mudar", f"tools.{ACTION}.arguments.subject.format", "intents.mudar"]
    assert list(DraftChange.objects.filter(name="mudar").values_list("kind", flat=True)) == ["added", "removed"]


def test_an_action_on_several_objects_is_one_edit(ana: Client, both: Definitions):
    intents = list(Intent.objects.all()[:2])

    ana.post(
        reverse("admin:tooling_intent_changelist"),
        {"action": "delete_selected", "_selected_action": [one.pk for one in intents], "post": "yes"},
    )

    assert recorded() == [("ana", "admin", " ".join(sorted(f"intents.{one.name}" for one in intents)))]


def test_a_put_over_http_is_recorded_with_its_key(published: Definitions):
    key = an_api_key("deploy", role="publisher")

    Caller(key).put(set_named("legacy"))

    edit = DraftEdit.objects.get()
    assert (edit.by, edit.via) == ("key:publisher deploy", "api") and edit.identity.startswith("apikey:")
    assert edit.changes.count() == len(publishing.diff(published, publishing.draft()))


def test_an_import_by_the_command_is_recorded(published: Definitions):
    call_command("definitions", "import", str(DEFINITIONS / "legacy"), stdout=StringIO(), stderr=StringIO())

    ((who, via, _paths),) = recorded()
    assert (who, via) == ("manage.py", "command")
    assert DraftEdit.objects.get().identity == ""


def test_a_roll_back_is_recorded_as_such(published: Definitions):
    publishing.replace_draft(replace(published, intents={}))
    publishing.publish(comment="no intents")

    publishing.roll_back(1, "back", User.objects.create_user("rui"))

    who, via, paths = recorded()[-1]
    assert (who, via) == ("rui", "rollback") and paths.startswith("intents.")


def test_a_change_that_fails_leaves_neither_itself_nor_a_record(published: Definitions):
    from tooling.recording import changing

    with pytest.raises(RuntimeError), changing("ana", Via.FILES):
        publishing.replace_draft(read("legacy"))
        raise RuntimeError

    assert publishing.draft() == published
    assert recorded() == []


# It stays ---------------------------------------------------------------------------------------------------


def test_the_database_refuses_to_change_a_record(published: Definitions):
    publishing.change_draft(read("legacy"), kinds=publishing.ALL_KINDS, author="ana")

    for change in (lambda: DraftEdit.objects.update(by="rui"), lambda: DraftChange.objects.update(new=None)):
        with pytest.raises(DatabaseError, match="stays on record"), atomic():
            change()


def test_postgresql_refuses_to_forget_a_record(published: Definitions):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite empties its test database row by row")
    publishing.change_draft(read("legacy"), kinds=publishing.ALL_KINDS, author="ana")

    with pytest.raises(DatabaseError, match="stays on record"), atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM tooling_draftchange")


# Who --------------------------------------------------------------------------------------------------------


def test_an_identity_outlives_names_and_roles(db: None):
    user = User.objects.create_user("ana")
    before = author_of(user)

    user.username, user.is_superuser = "maria", True

    assert author_of(user).identity == before.identity
    assert author_of(user).is_person and not author_of("manage.py").is_person


# Two people's changes come together ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "theirs", "mine", "merged"),
    [
        ({"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 1, "b": 3}, {"a": 2, "b": 3}),
        ({"a": 1}, {"a": 2}, {"a": 3}, {"a": 3}),
        ({"a": {"x": 1, "y": 1}}, {"a": {"x": 2, "y": 1}}, {"a": {"x": 1, "y": 2}}, {"a": {"x": 2, "y": 2}}),
        ({"a": [1, 2]}, {"a": [1, 2, 3]}, {"a": [1]}, {"a": [1]}),
        (
            [{"name": "p", "t": 1}, {"name": "q", "t": 1}],
            [{"name": "p", "t": 2}, {"name": "q", "t": 1}, {"name": "r", "t": 1}],
            [{"name": "q", "t": 5}, {"name": "p", "t": 1}],
            [{"name": "q", "t": 5}, {"name": "p", "t": 2}, {"name": "r", "t": 1}],
        ),
        ([{"name": "p"}, {"name": "q"}], [{"name": "p"}], [{"name": "p"}, {"name": "q"}, {"name": "s"}],
         [{"name": "p"}, {"name": "s"}]),
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1, "c": 3}, {"a": 1, "b": 2, "c": 3}),
    ],
)  # fmt: skip
def test_what_each_changed_is_kept_and_mine_wins_where_both_did(base: Any, theirs: Any, mine: Any, merged: Any):
    assert merge(base, theirs, mine) == merged
