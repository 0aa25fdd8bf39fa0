"""A soak that is small enough for every run of the tests: the harness itself must not rot."""

import asyncio

import pytest

from tests.soak import report
from tests.soak.house import open_house
from tests.soak.run import Wish, soak

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.redis, pytest.mark.timeout(600)]

SEED = 20
MINUTES = 0.25
"""By time and not by number: a fast machine must not be done before the first process is killed."""


def test_a_small_soak_duplicates_loses_and_invents_nothing(tmp_path):
    wish = Wish(seed=SEED, transactions=None, minutes=MINUTES, at_once=6, pauses=(0.5, 3.0))

    with open_house(tmp_path) as house:
        findings = asyncio.run(soak(house, wish))

    told = report.as_text(findings)
    assert list(findings.violations) == [], told
    assert findings.evidence.effects, told
    assert findings.kills, told
    assert f"seed {SEED}" in told
    assert report.write(findings, tmp_path / "results").exists()
