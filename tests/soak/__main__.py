"""``python -m tests.soak``: one soak; exit status 1 for any violation, 2 where something that it needs is missing."""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from tests.processes import ROOT
from tests.soak import report
from tests.soak.house import open_house
from tests.soak.plan import Kind
from tests.soak.run import Wish, soak

RESULTS = ROOT / "var" / "soak"


def main() -> int:
    options = _parser().parse_args()
    transactions = options.transactions or (None if options.minutes else 500)
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    wish = Wish(seed, transactions, options.minutes, options.at_once, tuple(options.pause), tuple(options.only))
    print(f"seed {seed}: {wish}; a kill every {options.pause[0]:g} to {options.pause[1]:g} s", flush=True)
    # A soak that is told to end leaves no server behind.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix=f"soak-{seed}-"))
    is_good = False
    try:
        with open_house(folder, cold=options.cold) as house:
            findings = asyncio.run(soak(house, wish))
        is_good = findings.is_good
        print(report.as_text(findings))
        print(f"written to {report.write(findings, RESULTS)}")
    except (pytest.skip.Exception, pytest.fail.Exception) as problem:
        print(problem.msg, file=sys.stderr)
        return 2
    finally:
        if is_good and not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print(f"logs and ledgers are in {folder}", flush=True)
    return 0 if is_good else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--transactions", type=int, help="how many customers play (500, unless --minutes is given)")
    parser.add_argument("--minutes", type=float, help="let customers in for so long instead")
    parser.add_argument("--seed", type=int, help="decides who plays what, what is killed and when; printed first")
    parser.add_argument("--at-once", type=int, default=30, help="how many customers are there at the same time")
    parser.add_argument("--pause", type=float, nargs=2, default=[0.5, 3.0], help="seconds between kills, from and to")
    parser.add_argument(
        "--only", nargs="+", type=Kind, choices=list(Kind), default=list(Kind), help="kill nothing but these"
    )
    parser.add_argument(
        "--cold", action="store_true", help="start processes from nothing: each then imports for 2 to 4 s of a core"
    )
    parser.add_argument("--keep", action="store_true", help="keep logs and ledgers of a good run, too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
