"""Runs the turns of a conversation, one after the other: reading (model), decision (core), services."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from django.db import close_old_connections, connection

from tooling.specs import JSON, ProfileSpec
from transactions import failpoints, llm, outbox
from transactions.core.errors import ConfirmationClosed, LeaseLost, ModelNeeded, StaleTransaction
from transactions.core.precedence import (
    Decision,
    NeedExtraction,
    NeedReply,
    NeedRouting,
    Readings,
    decide,
)
from transactions.keeping import written
from transactions.leases import kept_alive
from transactions.llm import Completion, LanguageModel, Unavailable, language_model
from transactions.models import Turn
from transactions.readings import Reader, Situation, situation_of
from transactions.responses import apply
from transactions.services import ending, turning
from transactions.services.turning import Handling

log = logging.getLogger(__name__)

STALE_LIMIT = 5


@dataclass(frozen=True, slots=True)
class _Attended:
    """The language model, and the lease of the turns kept alive while it is asked: not while anything else hangs.

    Without a model it raises ModelNeeded: this thread may not wait for one.
    """

    model: LanguageModel | None
    handling: Handling

    def complete(
        self,
        component: str,
        payload: Mapping[str, JSON],
        schema: Mapping[str, JSON],
        *,
        profiles: Mapping[str, ProfileSpec],
    ) -> Completion | Unavailable:
        if self.model is None:
            raise ModelNeeded(f"{component} is asked in another thread")
        turning.renew(self.handling)
        with kept_alive(partial(turning.renew, self.handling)):
            return self.model.complete(component, payload, schema, profiles=profiles)


def warm_up() -> None:
    """Import the SDK of the language models before the first turn."""
    llm.warm_up()


def run_turns(conversation_id: UUID | str, *, model: LanguageModel | None = None) -> None:
    """Handle every turn of the conversation that can be handled now; nobody else does so meanwhile.

    In a thread for short work, the first turn that needs a model and those behind it are handed to one for readings.
    """
    if not connection.in_atomic_block:
        close_old_connections()
    key = UUID(str(conversation_id))
    if model is None and not outbox.is_for_short_work():
        model = language_model()
    try:
        _run_claimed(key, model)
    except ModelNeeded:
        outbox.run_here("readings", str(key))


def _run_claimed(key: UUID, model: LanguageModel | None) -> None:
    while handling := turning.claim_turns(key):
        try:
            failpoints.hit("turn_claimed")
            handled = _run_all(handling, _Attended(model, handling))
        except LeaseLost:
            return
        finally:
            # Also where the database is just coming back: else the turn would wait for the lease to run out.
            written(partial(turning.release_turns, handling))
        # Looked at once more after the release: a turn that came in between was refused its claim.
        if not handled and not turning.can_go_on(key):
            return


def _run_all(handling: Handling, model: LanguageModel) -> int:
    handled = 0
    while turn := turning.next_turn(handling):
        handled += 1
        if turn.tries > turning.TRY_LIMIT:
            turning.give_up(handling, turn)
            continue
        try:
            _handle(handling, turn, model)
        except LeaseLost:
            raise
        except ModelNeeded:
            turning.give_back(turn)
            raise
        except Exception:
            log.exception("%s of conversation %s failed and is tried again", turn, handling.conversation_id)
    return handled


def _handle(handling: Handling, turn: Turn, model: LanguageModel) -> None:
    """Decide and apply; where the transaction moved meanwhile, look and decide again."""
    for _ in range(STALE_LIMIT):
        ending.expire_if_due(handling.conversation_id)
        situation = situation_of(handling.conversation_id, turn)
        reader = Reader(model, situation)
        decision = _decide(reader, situation)
        failpoints.hit("turn_read")
        try:
            apply(decision, handling=handling, situation=situation, reader=reader)
        except (StaleTransaction, ConfirmationClosed):
            continue
        failpoints.hit("turn_applied")
        return
    raise StaleTransaction(f"{turn} was overtaken {STALE_LIMIT} times")


def _decide(reader: Reader, situation: Situation) -> Decision:
    """Call ``decide`` until it decides, reading what it asks for."""
    readings = Readings()
    while True:
        decision = decide(situation.state, situation.said, readings, situation.setting)
        match decision:
            case NeedExtraction():
                readings = replace(readings, extraction=reader.extraction())
            case NeedReply():
                readings = replace(readings, reply=reader.reply())
            case NeedRouting():
                readings = replace(readings, routing=reader.routing())
            case _:
                return decision
