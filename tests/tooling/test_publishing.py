"""Releases: checked, numbered without gaps, immutable, comparable, and able to come back (runtime.md §3)."""

import threading
from dataclasses import replace

import pytest
from django.db import DatabaseError, connection
from django.db.transaction import atomic

from tests.tooling.conftest import read
from tooling import publishing
from tooling.content import digest
from tooling.errors import InvalidDraft, NothingChanged, NothingPublished, ToolingError
from tooling.models import McpServer, ParameterMapping, Policy, Release, Tool
from tooling.publishing import ChangeKind
from tooling.specs import Definitions, Kind

pytestmark = pytest.mark.django_db


def disabled(definitions: Definitions, tool: str) -> Definitions:
    tools = dict(definitions.tools) | {tool: replace(definitions.tools[tool], enabled=False)}
    return replace(definitions, tools=tools)


# Publishing ---------------------------------------------------------------------------------------


def test_publishing_freezes_the_draft_under_the_next_number(published: Definitions):
    publishing.replace_draft(disabled(published, "listar_servicos"))

    release = publishing.publish(comment=" off ", author="ana")

    assert (release.number, release.comment, release.author) == (2, "off", "ana")
    assert release.hash == digest(release.content)


def test_an_erroneous_draft_is_refused_with_every_finding(published: Definitions):
    Policy.objects.filter(tool__name="cancelar_vas_avulso").update(requires=["nothing"], pre_validation_tool="nobody")

    with pytest.raises(InvalidDraft) as refused:
        publishing.publish(comment="broken")

    assert {one.code for one in refused.value.findings} == {"policy.requires_unknown", "policy.validator_unknown"}
    assert Release.objects.count() == 1


def test_a_stdio_command_that_is_not_allowed_here_is_not_published(pedidos: Definitions, settings):
    settings.MCP_STDIO_COMMANDS = []
    publishing.replace_draft(pedidos)

    with pytest.raises(InvalidDraft, match="MCP_STDIO_COMMANDS"):
        publishing.publish(comment="stdio")


def test_an_equal_draft_is_published_again_only_when_forced(published: Definitions):
    with pytest.raises(NothingChanged) as unchanged:
        publishing.publish(comment="again")

    assert unchanged.value.number == 1
    assert publishing.publish(comment="again", force=True).number == 2


def test_a_release_needs_a_comment(published: Definitions):
    publishing.replace_draft(disabled(published, "listar_servicos"))

    with pytest.raises(ToolingError, match="comment"):
        publishing.publish(comment="  ")


@pytest.mark.django_db(transaction=True)
def test_concurrent_publishers_get_numbers_without_a_gap(contas: Definitions):
    publishing.replace_draft(contas)
    numbers, errors = [], []
    together = threading.Barrier(4)

    def run() -> None:
        try:
            together.wait(10)
            numbers.append(publishing.publish(comment="one of many", force=True).number)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert errors == []
    assert sorted(numbers) == [1, 2, 3, 4]


# Immutability -------------------------------------------------------------------------------------


def test_a_release_can_be_neither_saved_again_nor_deleted(published: Definitions):
    release = Release.objects.get()
    release.comment = "changed"

    for change in (
        release.save,
        release.delete,
        Release.objects.all().delete,
        lambda: Release.objects.update(comment="changed"),
        lambda: Release.objects.bulk_update([release], ["comment"]),
    ):
        with pytest.raises(TypeError, match="never changes"):
            change()

    assert Release.objects.get().comment == "first"


def test_the_database_itself_refuses_a_change(published: Definitions):
    with pytest.raises(DatabaseError, match="never changes"), atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE tooling_release SET content = '{}'")

    assert Release.objects.get().hash == digest(Release.objects.get().content)


def test_the_database_itself_refuses_to_forget_a_release(published: Definitions):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite empties its test database row by row")

    with pytest.raises(DatabaseError, match="never changes"), atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM tooling_release")


# Rolling back -------------------------------------------------------------------------------------


def test_rolling_back_publishes_the_old_content_and_the_draft_follows(published: Definitions):
    publishing.replace_draft(disabled(published, "listar_servicos"))
    publishing.publish(comment="off")

    release = publishing.roll_back(1, "on again", "rui")

    assert (release.number, release.author) == (3, "rui")
    assert release.hash == Release.objects.get(number=1).hash
    assert publishing.draft() == published


def test_there_is_no_rolling_back_to_nothing_or_to_what_is_there(published: Definitions):
    with pytest.raises(NothingPublished):
        publishing.roll_back(7, "no such release")
    with pytest.raises(NothingChanged):
        publishing.roll_back(1, "already there")

    assert Release.objects.count() == 1


# The draft ----------------------------------------------------------------------------------------


def test_kinds_that_are_not_named_stay_as_they_were(published: Definitions):
    publishing.replace_draft(read("pedidos"), kinds={Kind.PROFILES, Kind.ROUTING})

    draft = publishing.draft()
    assert draft.tools == published.tools and draft.policies == published.policies
    assert draft.intents == read("pedidos").intents


def test_a_tool_that_goes_takes_its_policy_and_mapping_along(published: Definitions):
    tools = {name: tool for name, tool in published.tools.items() if name != "listar_servicos"}

    publishing.replace_draft(replace(published, tools=tools), kinds={Kind.TOOLS})

    assert not Policy.objects.filter(tool__name="listar_servicos").exists()
    assert not ParameterMapping.objects.filter(tool__name="listar_servicos").exists()


def test_a_tool_without_a_policy_row_follows_its_type(db: None):
    server = McpServer.objects.create(name="s", endpoint="http://127.0.0.1:1/mcp")
    Tool.objects.create(name="t", description="does", server=server, tool_type="action")

    policy = publishing.draft().policy("t")

    assert policy.operation_type == "transactional" and policy.require_confirmation


def test_what_goes_for_all_tools_is_part_of_each_mapping_in_the_draft(published: Definitions):
    ParameterMapping.objects.all().delete()
    ParameterMapping.objects.create(tool=None, map={"contract_key": "contract_key"}, defaults={"canal": "loja"})

    mappings = publishing.draft().mappings

    assert mappings["cancelar_vas_avulso"].map == {"contract_key": "contract_key"}
    assert mappings["cancelar_vas_avulso"].defaults == {"canal": "loja"}
    assert mappings["listar_servicos"].defaults == {}


# Comparing ----------------------------------------------------------------------------------------


def test_a_difference_names_the_field_and_both_values(contas: Definitions):
    changes = publishing.diff(contas, disabled(contas, "listar_servicos"))

    assert [(one.path, one.old, one.new, one.kind) for one in changes] == [
        (("tools", "listar_servicos", "enabled"), True, False, ChangeKind.CHANGED)
    ]
    assert str(changes[0]) == "~ tools.listar_servicos.enabled: true → false"


def test_an_argument_that_was_added_is_told_as_one(contas: Definitions):
    tool = contas.tools["validar_vas_subject"]
    fewer = replace(tool, arguments=tool.arguments[1:])
    before = replace(contas, tools=dict(contas.tools) | {tool.name: fewer})

    changes = publishing.diff(before, contas)

    assert [(one.path, one.kind) for one in changes] == [
        (("tools", "validar_vas_subject", "arguments", "subject"), ChangeKind.ADDED)
    ]


def test_another_order_of_arguments_is_a_difference(contas: Definitions):
    tool = contas.tools["validar_vas_subject"]
    turned = replace(tool, arguments=tool.arguments[::-1])

    changes = publishing.diff(contas, replace(contas, tools=dict(contas.tools) | {tool.name: turned}))

    assert [one.path for one in changes] == [("tools", "validar_vas_subject", "arguments", "order")]


def test_equal_sets_have_no_difference(contas: Definitions, pedidos: Definitions):
    assert publishing.diff(contas, contas) == []
    assert publishing.diff(contas, pedidos) != []
