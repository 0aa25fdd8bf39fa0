"""From the publish page a finding leads to the very field that corrects it, also where that is folded away."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User

from tests.tooling.test_doubts import GOOD, RAISED, together
from tooling import publishing

pytestmark = pytest.mark.django_db(transaction=True)
CODES = ("argument.enum_alike", "policy.fail_open", "intent.keyword_inside")


@pytest.mark.parametrize("width", [1280, 320])
def test_a_finding_leads_to_its_field_which_is_shown_and_marked(open_page, width):
    bia = User.objects.create_superuser("bia")
    publishing.replace_draft(together(*(RAISED[code] for code in CODES))(GOOD))

    for number, anchor in enumerate(["id_fail_open", "id_arguments-0-enum", "id_keywords"]):
        page = open_page("/admin/tooling/release/publish/", user=bia, width=width)
        page.locator("ul.findings a").nth(number).click()
        field = page.locator(":target")
        field.wait_for(state="visible")

        assert field.get_attribute("id") == anchor
        assert field.evaluate("element => getComputedStyle(element).outlineStyle") == "solid"
        assert field.evaluate(
            "element => { const box = element.getBoundingClientRect(); return box.top >= 0 && box.top < innerHeight }"
        )


@pytest.mark.parametrize(("locale", "scheme"), [("pt-BR", "light"), ("en", "dark")])
def test_findings_with_their_hints_and_ticks_have_no_accessibility_violation(open_page, locale, scheme):
    bia = User.objects.create_superuser("bia")
    publishing.replace_draft(together(*(RAISED[code] for code in CODES))(GOOD))

    page = open_page("/admin/tooling/release/publish/", user=bia, locale=locale, color_scheme=scheme)

    found = Axe().run(page, options={"preload": False}).response["violations"]
    assert [(each["id"], node["html"]) for each in found for node in each["nodes"]] == []
    assert page.locator("ul.findings input[type=checkbox]").count() == 1
