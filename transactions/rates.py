"""How fast one socket, conversation or address may go: token buckets in the memory of this process."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager


class Bucket:
    """``burst`` takes at once, then ``per_second``."""

    __slots__ = ("_at", "_burst", "_clock", "_level", "_per_second")

    def __init__(self, burst: int, per_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._per_second, self._clock = burst, per_second, clock
        self._level, self._at = float(burst), clock()

    def take(self) -> bool:
        """Take one if there is one."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._at) * self._per_second)
        self._at = now
        if self._level < 1:
            return False
        self._level -= 1
        return True


class Buckets:
    """One bucket per key, kept when its socket goes: coming back must not fill it. The oldest are dropped."""

    def __init__(self, burst: int, per_second: float, *, kept: int = 10_000) -> None:
        self._burst, self._per_second, self._kept = burst, per_second, kept
        self._buckets: OrderedDict[Hashable, Bucket] = OrderedDict()

    def of(self, key: Hashable) -> Bucket:
        bucket = self._buckets.setdefault(key, Bucket(self._burst, self._per_second))
        self._buckets.move_to_end(key)
        while len(self._buckets) > self._kept:
            self._buckets.popitem(last=False)
        return bucket


class Places:
    """At most ``limit`` held at a time per key."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: Counter[Hashable] = Counter()

    @contextmanager
    def hold(self, key: Hashable) -> Iterator[bool]:
        """Hold a place for the length of the block; False: there was none."""
        if self._held[key] >= self._limit:
            yield False
            return
        self._held[key] += 1
        try:
            yield True
        finally:
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]
