"""The storm: strikes and faults as planned, one after the other, until the customers have left."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

from tests.acceptance.client import post
from tests.soak.house import House
from tests.soak.plan import Mischief, Strike
from tests.soak.progress import Kill

WATCH_SECONDS = 0.3


class Storm:
    """``kills`` grows while it blows; ``faults`` counts those that a server took."""

    def __init__(self, house: House, strikes: Iterator[Strike], mischiefs: Iterator[Mischief]) -> None:
        self.house, self.strikes, self.mischiefs = house, strikes, mischiefs
        self.kills: list[Kill] = []
        self.faults = 0
        self._alone = asyncio.Lock()

    async def blow(self) -> None:
        """Until cancelled. What ends by itself is started again, too."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._strike())
            group.create_task(self._do_mischief())
            group.create_task(self._watch())

    async def _strike(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        for strike in self.strikes:
            due = max(due + strike.pause, loop.time())
            await asyncio.sleep(due - loop.time())  # the seed says when to strike
            victims = self.house.of(strike.kind)
            async with self._alone:
                # In a thread, which is waited for: nobody cancels it half-way.
                kill = await asyncio.shield(asyncio.to_thread(self.house.kill, victims[strike.pick % len(victims)]))
                self.kills.append(kill)

    async def _do_mischief(self) -> None:
        for mischief in self.mischiefs:
            await asyncio.sleep(mischief.pause)  # the seed says when
            url = self.house.stack.admin(mischief.server, "faults")
            with contextlib.suppress(OSError, ValueError):
                status, _ = await asyncio.to_thread(post, url, dict(mischief.fault))
                self.faults += status == 201

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)  # processes that end give no event to wait for
            async with self._alone:
                await asyncio.to_thread(self.house.keep_running)
