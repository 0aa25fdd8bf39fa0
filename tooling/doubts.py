"""Everything that is allowed and still worth a second look before it is published; files are read without it."""

from __future__ import annotations

from itertools import chain

from tooling.checks_of_helpers import doubts_of_helpers
from tooling.checks_of_listings import Listings, doubts_of_listings
from tooling.checks_of_questions import doubts_of_questions
from tooling.checks_of_reach import doubts_of_reach
from tooling.checks_of_risks import doubts_of_policies
from tooling.checks_of_words import doubts_of_words
from tooling.findings import Finding, Severity
from tooling.specs import Definitions

NOTHING: Listings = {}
PARTS = (doubts_of_policies, doubts_of_questions, doubts_of_helpers, doubts_of_words, doubts_of_reach)


def doubts(definitions: Definitions, listings: Listings = NOTHING) -> tuple[Finding, ...]:
    """Warnings, those that need a tick first, then notes; never an error, whatever the set holds.

    ``listings``: what the live servers listed last. Nobody is asked, so equal sets and listings get equal doubts.
    """
    found = chain(doubts_of_listings(definitions, listings), *(part(definitions) for part in PARTS))
    return tuple(sorted(found, key=lambda one: (one.severity is Severity.NOTE, not one.needs_tick)))
