"""What others see of the definitions: the newest release, an earlier one, and whether a tool may be called."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tooling import catalog, publishing
from tooling.specs import Definitions

pytestmark = pytest.mark.django_db


def test_before_the_first_release_there_is_nothing(db: None):
    assert catalog.newest() is None
    assert not catalog.is_available("listar_servicos")
    with pytest.raises(catalog.NothingPublished, match="definitions import"):
        catalog.current()


def test_the_newest_release_is_what_was_published_last(published: Definitions):
    publishing.replace_draft(replace(published, intents={}))
    publishing.publish(comment="no intents")

    newest = catalog.newest()

    assert newest is not None
    assert (newest.number, newest.definitions.intents) == (2, {})
    assert catalog.release(1).definitions == published


def test_a_draft_changes_nothing_for_others(published: Definitions):
    publishing.replace_draft(Definitions())

    assert catalog.current().definitions == published


def test_an_unknown_release_is_an_error(published: Definitions):
    with pytest.raises(catalog.NothingPublished, match="no release 9"):
        catalog.release(9)


@pytest.mark.parametrize("what", ["tool", "server"])
def test_a_tool_is_available_only_if_it_and_its_server_are_enabled(published: Definitions, what: str):
    assert catalog.is_available("listar_servicos")
    off = {name: replace(one, enabled=False) for name, one in published.tools.items()}
    servers = {name: replace(one, enabled=False) for name, one in published.servers.items()}
    changed = replace(published, tools=off) if what == "tool" else replace(published, servers=servers)

    publishing.replace_draft(changed)
    publishing.publish(comment="off")

    assert not catalog.is_available("listar_servicos")
    assert not catalog.is_available("nobody")


def test_asking_again_costs_one_small_query(published: Definitions):
    catalog.newest()

    with CaptureQueriesContext(connection) as queries:
        catalog.newest()

    assert len(queries) == 1
    assert "content" not in queries[0]["sql"]
