"""The customers: each plays its part on one or two tabs, patiently, until it was told what became of its request."""

from __future__ import annotations

import asyncio
import http.client
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tests.acceptance.client import post, user_token
from tests.scripted_model import Refused
from tests.soak.plan import SHOPS, Part, Temper
from tests.soak.tabs import Frame, Tab

REQUESTS = 12
"""How often a customer asks again where nothing was executed for a reason that will pass."""
PATIENCE_SECONDS = 240.0
THINKING = (0.1, 1.0)
ASKING_AGAIN = (1.0, 3.0)
PASSING = {"pre_validation_unavailable", "not_sent", "expired"}
"""Reasons for which the user is told to try again."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where customers find the product."""

    bases: Sequence[str]
    secret: str


class Customer:
    """``ending`` says in a word how it went: the status last told, "silent", or "impatient"."""

    def __init__(self, part: Part, place: Place) -> None:
        self.part, self.place = part, place
        self.chance = random.Random(part.seed)
        self.tabs: list[Tab] = []
        self.requests = 0
        self.ending = "impatient"
        self._is_active = self._is_asked = False
        self._open_confirmation = ""
        self._over = asyncio.Event()

    async def play(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                session = await self._session()
                self.tabs = [Tab(self.place.bases, session, self.chance, self.react) for _ in range(self.part.tabs)]
                following = [asyncio.create_task(tab.follow()) for tab in self.tabs]
                try:
                    self._ask()
                    await self._over.wait()
                finally:
                    for task in following:
                        task.cancel()
                    await asyncio.gather(*following, return_exceptions=True)
        except TimeoutError:
            pass  # said by ``ending``; whether anything is stuck is for the judge to say

    async def _session(self) -> Frame:
        """A chat session from whichever web process answers."""
        token = user_token(self.place.secret, customer_key=self.part.name, contract_key=self.part.name)
        body = {"channel": "demo", "locale": "pt-BR", "user_token": token}
        while True:
            url = f"{self.chance.choice(self.place.bases)}/api/v1/chat/sessions"
            with suppress(OSError, ValueError, http.client.HTTPException):
                status, session = await asyncio.to_thread(post, url, body)
                if status == 201:
                    return session
            await asyncio.sleep(self.chance.uniform(0.3, 1))

    # What it says -----------------------------------------------------------------------------------------------

    @property
    def _items(self) -> str:
        *first, last = self.part.items
        return f"{', '.join(first)} e {last}"

    def _ask(self) -> None:
        self.requests += 1
        if self.requests > REQUESTS:
            self._end("refused again and again")
            return
        request = self.part.shop.request
        self.tabs[0].say(f"{request}: {self._items}" if self.part.names_items_at_once else f"quero {request}")

    def _answer(self, tab: Tab) -> None:
        """Yes or no, by word or by button; nothing where the question is no longer open."""
        if not self._open_confirmation or self._over.is_set():
            return
        is_yes = self.part.temper is Temper.CONFIRMS
        if self.chance.random() < 0.5:
            tab.press(self._open_confirmation, "confirm" if is_yes else "reject")
        else:
            tab.say("sim" if is_yes else "não")

    def _end(self, how: str) -> None:
        self.ending = how
        self._over.set()

    # What it hears ----------------------------------------------------------------------------------------------

    def react(self, tab: Tab, event: Frame) -> None:
        """The first tab leads the conversation; every tab answers the question."""
        if self._over.is_set():
            return
        leads, data = tab is self.tabs[0], event["data"]
        match event["kind"]:
            case "confirmation.requested":
                self._hear_question(tab, data["confirmation_id"])
            case "parameters.requested" if leads:
                self._is_asked = True
                tab.later(self._pause(THINKING), lambda: tab.say(self._items))
            case "transaction.started" if leads:
                self._is_active = True
            case "pre_validation.finished" if leads:
                self._is_asked = False
            case "confirmation.answered" if leads:
                self._open_confirmation = ""
            case "transaction.verifying" if leads:
                self._end("VERIFYING")
            case "transaction.finished" if leads:
                self._hear_end(tab, data)
            case "assistant.message" if leads:
                self._hear_excuse(tab)

    def _hear_question(self, tab: Tab, confirmation_id: str) -> None:
        self._open_confirmation = confirmation_id
        if self.part.temper is Temper.SILENT:
            self._end("silent")
        else:
            tab.later(self._pause(THINKING), lambda: self._answer(tab))

    def _hear_end(self, tab: Tab, data: Frame) -> None:
        self._is_active, self._is_asked, self._open_confirmation = False, False, ""
        if data["reason_code"] in PASSING:
            tab.later(self._pause(ASKING_AGAIN), self._ask)
        else:
            self._end(data["status"])

    def _hear_excuse(self, tab: Tab) -> None:
        """ "Say it again": what was said last is said again."""
        if self._open_confirmation:
            tab.later(self._pause(THINKING), lambda: self._answer(tab))
        elif self._is_asked:
            tab.later(self._pause(THINKING), lambda: tab.say(self._items))
        elif not self._is_active:
            tab.later(self._pause(ASKING_AGAIN), self._ask)

    def _pause(self, between: tuple[float, float]) -> float:
        return self.chance.uniform(*between)


async def play_all(customers: Iterator[Customer], *, at_once: int) -> list[Customer]:
    """Let the customers in, ``at_once`` at a time, until there are no more; all that played."""
    played: list[Customer] = []

    async def seat() -> None:
        for customer in customers:
            played.append(customer)
            await customer.play()

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(seat())
    return played


def read_values(component: str, payload: Frame) -> Any:
    """A model that reads what customers of the soak ask for, and takes no decision."""
    if component != "transaction_parameter_extraction":
        return Refused(400)
    message = payload["message"]
    said = message.partition(": ")[2] or message
    named = [item for shop in SHOPS for item in (*shop.good, *shop.odd) if item in said]
    values: dict[str, Any] = {
        name: (named if payload["schema"][name]["type"] == "array" else said) if named else None
        for name in payload["pending"]
    }
    return {"kind": "answers_pending" if named else "something_else", "values": values}
