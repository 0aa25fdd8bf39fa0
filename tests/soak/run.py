"""One soak from beginning to end: play under the storm, heal, wait, read on, collect, judge."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import psycopg

from tests.soak import collect, plan
from tests.soak.chaos import Storm
from tests.soak.customers import Customer, Place, play_all
from tests.soak.evidence import View
from tests.soak.house import House
from tests.soak.judge import judge, stuck
from tests.soak.progress import delays
from tests.soak.report import Findings

BOUND_SECONDS = 120.0
"""From the last kill until nothing may wait for the system any more."""
READERS = 40


@dataclass(frozen=True, slots=True)
class Wish:
    """What to run: as many ``transactions``, or for as many ``minutes``, as is said."""

    seed: int
    transactions: int | None
    minutes: float | None
    at_once: int
    pauses: tuple[float, float]
    kinds: tuple[plan.Kind, ...] = tuple(plan.Kind)

    def __str__(self) -> str:
        amount = f"{self.minutes:g} minutes" if self.minutes else f"{self.transactions} customers"
        return f"{amount}, {self.at_once} at a time, under the end of {', '.join(self.kinds)}"


async def soak(house: House, wish: Wish) -> Findings:
    """Play, heal, judge."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(READERS))
    storm = Storm(house, plan.strikes(wish.seed, wish.pauses, wish.kinds), plan.mischiefs(wish.seed))
    started = time.time()
    blowing = asyncio.create_task(storm.blow())
    playing = asyncio.create_task(play_all(_customers(house, wish), at_once=wish.at_once))
    await asyncio.wait({blowing, playing}, return_when=asyncio.FIRST_COMPLETED)
    if blowing.done():
        playing.cancel()
        await blowing
    blowing.cancel()
    await asyncio.gather(blowing, return_exceptions=True)
    customers = await playing
    ended = time.time()
    calm_at = storm.kills[-1].at if storm.kills else ended
    settled_at = await asyncio.to_thread(_heal, house, calm_at)
    await _read_rest(customers)
    return _findings(house, wish, storm, customers, seconds=ended - started, settled_after=settled_at - calm_at)


def _customers(house: House, wish: Wish) -> Iterator[Customer]:
    place = Place(house.bases, house.stack.secret)
    until = time.monotonic() + 60 * wish.minutes if wish.minutes else None
    for part in islice(plan.parts(wish.seed), wish.transactions):
        if until is not None and time.monotonic() >= until:
            return
        yield Customer(part, place)


def _heal(house: House, calm_at: float) -> float:
    """Everything runs and nothing disturbs: when nothing waited any more, or when the bound was over."""
    end = calm_at + BOUND_SECONDS
    house.wait_until_ready(timeout=BOUND_SECONDS)
    for shop in plan.SHOPS:
        house.stack.clear_faults(shop.server)
    while time.time() < end and _waits(house):
        house.keep_running()
        time.sleep(1)
    return time.time()


def _waits(house: House) -> bool:
    try:
        return bool(stuck(collect.evidence(collect.Rows(house.postgres.url))))
    except psycopg.OperationalError:
        return True


async def _read_rest(customers: Sequence[Customer]) -> None:
    """Every tab comes back once more and reads what it missed."""
    places = asyncio.Semaphore(READERS)

    async def read(customer: Customer) -> None:
        for tab in customer.tabs:
            async with places:
                if not await tab.read_rest():
                    tab.troubles.append("the events could not be read at the end")

    await asyncio.gather(*(read(customer) for customer in customers))


def _findings(
    house: House, wish: Wish, storm: Storm, customers: Sequence[Customer], *, seconds: float, settled_after: float
) -> Findings:
    rows = collect.Rows(house.postgres.url)
    views = [
        View(tab.session["conversation_id"], tab.seen, frozenset(tab.acknowledged), tab.troubles)
        for customer in customers
        for tab in customer.tabs
    ]
    ledgers = [house.stack.ledger(shop.server) for shop in plan.SHOPS]
    ledger = {name: [line for one in ledgers for line in one[name]] for name in ("effects", "calls")}
    evidence = collect.evidence(rows, ledger, views, house.broken_chains())
    return Findings(
        seed=wish.seed,
        customers=len(customers),
        endings=Counter(customer.ending for customer in customers),
        seconds=seconds,
        settled_after=settled_after,
        bound=BOUND_SECONDS,
        kills=storm.kills,
        faults=storm.faults,
        ended_alone=house.ended_alone,
        evidence=evidence,
        violations=judge(evidence, actions=plan.ACTIONS),
        delays=list(delays(storm.kills, collect.waits(rows, evidence.calls))),
    )
