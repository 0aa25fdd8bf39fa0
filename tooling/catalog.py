"""The only reader of definitions for others: published releases as specs (architecture.md, "tooling").

A release never changes, so its definitions are kept per process by the hash of their content; asking for the newest
costs one small query.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

from tooling.content import from_content
from tooling.errors import NothingPublished
from tooling.models import Release
from tooling.specs import Definitions

__all__ = ["NothingPublished", "PublishedRelease", "current", "is_available", "newest", "release"]


@dataclass(frozen=True, slots=True)
class PublishedRelease:
    number: int
    hash: str
    definitions: Definitions


def newest() -> PublishedRelease | None:
    """The newest release; None while nothing was ever published."""
    found = Release.objects.order_by("-number").values_list("number", "hash").first()
    return PublishedRelease(found[0], found[1], _definitions(found[1])) if found else None


def current() -> PublishedRelease:
    """The newest release, or NothingPublished."""
    found = newest()
    if found is None:
        raise NothingPublished("nothing is published yet; run manage.py definitions import DIR --publish")
    return found


def release(number: int) -> PublishedRelease:
    """The release ``number``, which is what a transaction keeps; NothingPublished if there is none."""
    found = Release.objects.filter(number=number).values_list("hash", flat=True).first()
    if found is None:
        raise NothingPublished(f"there is no release {number}")
    return PublishedRelease(number, found, _definitions(found))


def is_available(tool: str) -> bool:
    """Whether ``tool`` and its server are enabled in the newest release (runtime.md §3)."""
    found = newest()
    return found is not None and found.definitions.is_available(tool)


@lru_cache(maxsize=32)
def _definitions(content_hash: str) -> Definitions:
    """By hash and not by number, so that no other database or rolled-back release is ever taken for it."""
    text = Release.objects.filter(hash=content_hash).values_list("content", flat=True)[:1].get()
    return from_content(json.loads(text))
