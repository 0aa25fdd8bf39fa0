"""What a soak found, as text for people and as JSON."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.soak.evidence import Evidence
from tests.soak.judge import Crime, Violation
from tests.soak.plan import Kind
from tests.soak.progress import COUNTED, Delay, Kill, percentile

WITHIN_SECONDS = 15.0
"""Kill → progress, p95, where no call was in flight."""


@dataclass(frozen=True, slots=True)
class Findings:
    """One whole run."""

    seed: int
    customers: int
    endings: Counter[str]
    seconds: float
    settled_after: float
    """Seconds from the last kill until nothing waited for the system any more."""
    bound: float
    kills: Sequence[Kill]
    faults: int
    ended_alone: Sequence[str]
    evidence: Evidence
    violations: Sequence[Violation]
    delays: Sequence[Delay]

    @property
    def counted_delays(self) -> list[Delay]:
        return [
            delay for delay in self.delays if delay.kill.kind in COUNTED and not delay.wait.is_in_flight(delay.kill.at)
        ]

    @property
    def is_slow(self) -> bool:
        return percentile([delay.seconds for delay in self.counted_delays], 0.95) > WITHIN_SECONDS

    @property
    def is_good(self) -> bool:
        return not self.violations and not self.is_slow


def as_json(findings: Findings) -> dict[str, Any]:
    evidence = findings.evidence
    return {
        "seed": findings.seed,
        "good": findings.is_good,
        "customers": findings.customers,
        "endings": dict(findings.endings),
        "transactions": len(evidence.transactions),
        "confirmed": sum(one.is_confirmed for one in evidence.transactions),
        "statuses": dict(Counter(one.status for one in evidence.transactions)),
        "reasons": dict(Counter(one.reason_code for one in evidence.transactions if one.reason_code)),
        "items": dict(Counter(status for one in evidence.transactions for status in one.items.values())),
        "effects": len(evidence.effects),
        "calls": dict(Counter(call.tool for call in evidence.calls)),
        "resends": sum(one.resends for one in evidence.transactions),
        "kills": {str(kind): sum(kill.kind is kind for kill in findings.kills) for kind in Kind},
        "faults": findings.faults,
        "ended_alone": list(findings.ended_alone),
        "seconds": round(findings.seconds, 1),
        "settled_after": round(findings.settled_after, 1),
        "bound_seconds": findings.bound,
        "at_most_percent": _at_most(len(evidence.transactions)),
        "crimes": {str(crime): sum(one.crime is crime for one in findings.violations) for crime in Crime},
        "violations": [asdict(one) for one in findings.violations],
        "progress": _progress(findings),
        "slowest": [_told(delay, findings.kills) for delay in _slowest(findings.counted_delays)],
    }


def _at_most(count: int) -> float | None:
    """Where none of ``count`` failed, the share that fails is below this, with 95 % confidence, in percent."""
    return round(100 * (1 - 0.05 ** (1 / count)), 2) if count else None


def _progress(findings: Findings) -> dict[str, Any]:
    in_flight = [one for one in findings.delays if one.wait.is_in_flight(one.kill.at)]
    free = [one for one in findings.delays if not one.wait.is_in_flight(one.kill.at)]
    found = {"no call in flight (worker, web, sweeper)": _figures(findings.counted_delays)}
    found |= {f"{kind}, no call in flight": _figures([d for d in free if d.kill.kind is kind]) for kind in Kind}
    found |= {
        f"waiting for {what}": _figures([one for one in findings.counted_delays if one.wait.what == what])
        for what in sorted({one.wait.what for one in findings.counted_delays})
    }
    return found | {"a call in flight (all kills)": _figures(in_flight)}


def _figures(delays: Sequence[Delay]) -> dict[str, float]:
    seconds = [delay.seconds for delay in delays]
    shares = {"p50": 0.5, "p95": 0.95, "max": 1.0}
    return {"n": len(seconds)} | {name: _finite(percentile(seconds, share)) for name, share in shares.items()}


def _finite(seconds: float) -> float:
    """JSON has no infinity: a wait that never ended is 999,999 s."""
    return round(seconds, 2) if math.isfinite(seconds) else 999_999.0


def _slowest(delays: Sequence[Delay], count: int = 8) -> list[Delay]:
    """The longest, one of each wait."""
    found = {(delay.wait.about, delay.wait.start): delay for delay in sorted(delays, key=lambda one: one.seconds)}
    return sorted(found.values(), key=lambda delay: -delay.seconds)[:count]


def _told(delay: Delay, kills: Sequence[Kill]) -> str:
    """A delay with what else was killed meanwhile, in seconds after the first kill."""
    at, wait = delay.kill.at, delay.wait
    meanwhile = ", ".join(f"{kill.name} +{kill.at - at:.1f}" for kill in kills if 0 < kill.at - at < delay.seconds)
    waited = f"{wait.what} of {wait.about}, which waited for {at - wait.start:.1f} s then"
    return f"{_finite(delay.seconds)} s after {delay.kill.name}: {waited}; meanwhile {meanwhile or 'nothing'}"


def as_text(findings: Findings) -> str:
    told = as_json(findings)
    lines = [f"seed {told['seed']}"]
    names = ("customers", "endings", "transactions", "confirmed", "statuses", "reasons", "items", "effects", "calls")
    lines += [f"{name}: {told[name]}" for name in (*names, "resends")]
    lines.append(f"kills: {len(findings.kills)}: {told['kills']}; faults: {told['faults']}")
    lines.append(f"ended by themselves and were started again: {len(findings.ended_alone)}")
    lines.append(
        f"played for {told['seconds']} s; settled {told['settled_after']} s after the last kill"
        f" (bound {findings.bound:g} s)"
    )
    lines.append(f"kill → progress, p95 at most {WITHIN_SECONDS:g} s:")
    lines += [f"  {name}: {figures}" for name, figures in told["progress"].items()]
    lines += [f"  slow: {one}" for one in told["slowest"]] if findings.is_slow else []
    lines.append(f"violations: {told['crimes']}")
    lines += [f"  {violation}" for violation in findings.violations]
    count = len(findings.evidence.transactions)
    lines.append(
        f"n = {count}: none failed, so with 95 % confidence less than {told['at_most_percent']} % do"
        if not findings.violations
        else f"n = {count}: {len(findings.violations)} violations"
    )
    lines.append("GOOD" if findings.is_good else "BAD")
    return "\n".join(lines)


def write(findings: Findings, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{findings.seed}.json"
    path.write_text(json.dumps(as_json(findings), ensure_ascii=False, indent=1) + "\n", "utf-8")
    return path
