"""Saved simulations: kept, renamed, taken as they come out now, noted, and thrown away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError
from django.db.models import F
from django.db.transaction import atomic

from transactions.models import CaseResult, SimulationCase
from transactions.services.rows import database_now


class NameTaken(Exception):
    """Another saved simulation has this name."""


class CaseMoved(Exception):
    """Somebody changed or deleted the saved simulation meanwhile; look again and decide again."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a saved simulation holds, as JSON."""

    scene: Mapping[str, Any]
    readings: Sequence[Any]
    answers: Sequence[Any]
    expected: Mapping[str, Any]


def save_case(name: str, kept: Kept, *, author: str) -> SimulationCase:
    """A new saved simulation, which comes out as expected by its making; raises NameTaken."""
    try:
        with atomic():
            return SimulationCase.objects.create(
                name=name,
                scene=kept.scene,
                readings=kept.readings,
                answers=kept.answers,
                expected=kept.expected,
                last_result=CaseResult.AS_EXPECTED,
                last_run_at=database_now(),
                created_by=author,
                changed_by=author,
            )
    except IntegrityError as error:
        raise NameTaken(name) from error


def rename_case(case: SimulationCase, name: str, *, author: str) -> None:
    """Raises NameTaken, or CaseMoved."""
    try:
        with atomic():
            _change(case, author, name=name)
    except IntegrityError as error:
        raise NameTaken(name) from error


def accept(case: SimulationCase, kept: Kept, *, author: str) -> None:
    """What comes out now is expected from now on; raises CaseMoved."""
    _change(
        case,
        author,
        scene=kept.scene,
        readings=kept.readings,
        answers=kept.answers,
        expected=kept.expected,
        last_result=CaseResult.AS_EXPECTED,
        last_run_at=database_now(),
    )


def delete_case(case: SimulationCase) -> None:
    """Throw it away; nothing happens where it is gone already."""
    SimulationCase.objects.filter(pk=case.pk).delete()


def note_result(case: SimulationCase, result: CaseResult) -> None:
    """What a run against the draft came to; of a case that was changed meanwhile nothing is noted."""
    held = SimulationCase.objects.filter(pk=case.pk, revision=case.revision)
    held.update(last_result=result, last_run_at=database_now())


def _change(case: SimulationCase, author: str, **columns: Any) -> None:
    held = SimulationCase.objects.filter(pk=case.pk, revision=case.revision)
    if not held.update(**columns, changed_by=author, changed_at=database_now(), revision=F("revision") + 1):
        raise CaseMoved(f"{case} was changed meanwhile")
