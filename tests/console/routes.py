"""Every route of the product with a sample address, read from the URL map itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver

UNKNOWN = "00000000-0000-4000-8000-000000000001"
SAMPLES = {"uuid": UNKNOWN, "int": "7", "str": "sample", "slug": "sample", "path": "sample"}


@dataclass(frozen=True)
class Route:
    """``namespaces`` joined by ":"; ``path`` an address that the route matches, ``pattern`` the route as written."""

    namespaces: str
    name: str
    path: str
    pattern: str = ""

    def address(self, **values: object) -> str:
        """An address that the route matches with ``values`` in the places of these names."""
        filled = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(values.get(found[1], found[0])), self.pattern)
        return _sample(filled)


def all_routes() -> list[Route]:
    return list(_walk(get_resolver(), "/", ()))


def _walk(resolver: URLResolver, prefix: str, namespaces: tuple[str, ...]) -> Iterator[Route]:
    for pattern in resolver.url_patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield Route(":".join(namespaces), pattern.name or "", _sample(path), path)
        else:
            inner = (*namespaces, pattern.namespace) if pattern.namespace else namespaces
            yield from _walk(pattern, path, inner)


def _sample(route: str) -> str:
    plain = re.sub(r"(?:^|(?<=/))\^|/\?\$$|\$$", "", route)
    plain = re.sub(r"\(\?P<\w+>[^)]*\)", SAMPLES["int"], plain)
    return re.sub(r"<(?:(\w+):)?\w+>", lambda found: SAMPLES[found[1] or "str"], plain)
