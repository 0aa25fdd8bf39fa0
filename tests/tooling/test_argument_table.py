"""The table of a tool's arguments: rows are added, moved, removed and refused without any script."""

from typing import Any

import pytest
from django.test import Client

from tests.tooling.admin_pages import add_url, change_url, fields_of, save
from tooling import publishing
from tooling.models import Policy, Tool
from tooling.specs import Definitions

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _python_is_allowed(settings: Any) -> None:
    settings.MCP_STDIO_COMMANDS = ["python"]


@pytest.fixture
def url(both: Definitions) -> str:
    """The page of a tool with the arguments a, b, c and d."""
    tool = Tool.objects.get(name="cancelar_vas_avulso")
    tool.arguments.all().delete()
    for position, name in enumerate("abcd"):
        tool.arguments.create(name=name, position=position)
    return change_url(tool)


def order() -> str:
    return "".join(publishing.draft().tools["cancelar_vas_avulso"].argument_names)


def test_the_rows_are_numbered_from_one_and_a_blank_one_waits(ana: Client, url: str):
    fields = fields_of(ana, url)

    assert [fields[f"arguments-{row}-position"] for row in range(5)] == [["1"], ["2"], ["3"], ["4"], ["5"]]
    assert fields["arguments-4-name"] == [""]
    assert save(ana, url) == [] and order() == "abcd"


def test_a_new_tool_offers_three_blank_rows(ana: Client, both: Definitions):
    assert fields_of(ana, add_url(Tool))["arguments-TOTAL_FORMS"] == ["3"]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({"3": "1"}, "dabc"),
        ({"0": "4"}, "bcda"),
        ({"0": "2"}, "bacd"),
        ({"2": "2"}, "acbd"),
        ({"0": "9", "1": "1"}, "bcda"),
        ({"0": "4", "3": "1"}, "dbca"),
        ({"1": ""}, "abcd"),
        ({"0": "0"}, "abcd"),
    ],
)
def test_a_row_goes_where_its_number_says(ana: Client, url: str, numbers: dict[str, str], expected: str):
    assert save(ana, url, **{f"arguments-{row}-position": number for row, number in numbers.items()}) == []

    assert order() == expected


def test_a_row_is_added_at_its_number(ana: Client, url: str):
    assert save(ana, url, **{"arguments-4-name": "new", "arguments-4-position": "2"}) == []

    assert publishing.draft().tools["cancelar_vas_avulso"].argument_names == ("a", "new", "b", "c", "d")


def test_a_new_row_with_nothing_but_a_number_is_no_argument(ana: Client, url: str):
    assert save(ana, url, **{"arguments-4-position": "1"}) == []

    assert order() == "abcd"


def test_a_row_is_removed_and_the_others_move_up(ana: Client, url: str):
    assert save(ana, url, **{"arguments-1-DELETE": "on"}) == []

    assert order() == "acd"
    fields = fields_of(ana, url)
    assert [fields[f"arguments-{row}-position"] for row in range(3)] == [["1"], ["2"], ["3"]]


def test_a_row_is_replaced_by_a_new_one_of_its_name(ana: Client, url: str):
    errors = save(ana, url, **{"arguments-1-DELETE": "on", "arguments-4-name": "b", "arguments-4-type": "integer"})

    assert errors == []
    assert order() == "acdb"


@pytest.mark.parametrize("number", ["-1", "two", "99999999999"])
def test_a_number_that_is_none_is_refused_at_its_row(ana: Client, url: str, number: str):
    assert len(save(ana, url, **{"arguments-1-position": number})) == 1
    assert order() == "abcd"


def test_errors_stand_beside_their_field_and_on_top_with_the_way_there(ana: Client, url: str):
    fields = fields_of(ana, url) | {"arguments-1-name": "a", "arguments-2-enum": "x", "arguments-2-type": "integer"}

    page = ana.post(url, fields | {"name": ""}).content.decode()

    summary = page.split('class="troubles"')[1].split("</ul>")[0]
    assert '<a href="#id_name">Name</a>: This field is required.' in summary
    assert '<a href="#id_arguments-1-name">Row 2 · Name</a>: This name is there twice.' in summary
    assert '<a href="#id_arguments-2-enum">Row 3 · Allowed values</a>: “x” is not a value of this type.' in summary
    assert 'id="id_arguments-1-name_error"' in page
    assert "<details open>" in page.split('id="id_arguments-2-name"')[1].split("</details>")[0]


def test_what_the_policy_requires_is_marked_with_the_way_there(ana: Client, url: str):
    policy = Policy.objects.get(tool__name="cancelar_vas_avulso")
    Policy.objects.filter(pk=policy.pk).update(requires=["b"])

    page = ana.get(url).content.decode()

    assert page.count("by the policy") == 1
    assert f'href="{change_url(policy)}#id_requires"' in page.split('value="b"')[1].split('value="c"')[0]


def test_hostile_texts_of_an_argument_are_only_texts(ana: Client, url: str):
    hostile = '"><script>alert(1)</script>\u202e'

    assert save(ana, url, **{"arguments-0-label_first": hostile, "arguments-0-enum": hostile}) == []
    page = ana.get(url).content.decode()

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_who_may_only_look_sees_the_arguments_and_no_field(ana: Client, url: str, django_user_model: Any):
    from django.contrib.auth.models import Permission

    user = django_user_model.objects.get(username="ana")
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_tool", "view_toolargument"]))

    page = ana.get(url).content.decode()

    assert "<td>a</td>" in page
    assert 'name="arguments-0-name"' not in page
