"""Definitions as if they were published: what happens inside is real, and all of it is taken back at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db.models import Max
from django.db.transaction import atomic

from tooling import catalog
from tooling.content import canonical, digest, to_content
from tooling.models import Release
from tooling.specs import Definitions


class _TakenBack(Exception):
    """Raised and caught here only, to undo a block."""


@contextmanager
def taken_back() -> Iterator[None]:
    """Whatever the block writes is undone, and nothing leaves after a commit, because there is none."""
    try:
        with atomic():
            yield
            raise _TakenBack
    except _TakenBack:
        return


@contextmanager
def as_if_published(definitions: Definitions) -> Iterator[catalog.PublishedRelease]:
    """``definitions`` are the newest release for everything that runs in the block; then all is undone.

    The block must be short and must not wait for anything outside the database: SQLite has one writer, and on
    PostgreSQL the next release number is held meanwhile.
    """
    with taken_back():
        content = canonical(to_content(definitions))
        newest = Release.objects.aggregate(newest=Max("number"))["newest"] or 0
        Release.objects.create(number=newest + 1, content=content, hash=digest(content), comment="as if published")
        yield catalog.current()
