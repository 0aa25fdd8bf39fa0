"""A turn whose handling broke off with the database is free for the next process at once (runtime.md §9.1)."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connection

from tests.runtime import shop
from tests.runtime.world import World
from transactions.services import turning

pytestmark = [
    pytest.mark.runtime,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="only a server can break off a connection"),
]


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_broke_off_with_the_database_is_given_back_on_a_new_connection() -> None:
    world = World(shop.shop())

    def break_off(_payload: Any) -> Any:
        connection.connection.close()
        return {"kind": "something_else", "values": {}}

    world.model.script({"intent_routing": break_off, "transaction_parameter_extraction": break_off})
    world.sends("queria cancelar a Música Mais")

    with pytest.raises(OperationalError):
        world.think()
    connection.close()

    assert turning.claim_turns(world.conversation.pk) is not None
