"""A simulation carried by the page that shows it: signed, so that what is saved is what was seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.core import signing

from tooling.content import canonical, digest, to_content
from tooling.specs import JSON, Definitions
from transactions.rehearsal.cases import (
    expected_of,
    recording_from_json,
    recording_to_json,
    scene_from_json,
    scene_to_json,
)
from transactions.rehearsal.outcome import Seen
from transactions.rehearsal.scenes import Scene
from transactions.rehearsal.simulating import Outside, Recording, Simulated
from transactions.services.saved_cases import Kept

SALT = "transactions.trying"
MAX_AGE = 12 * 3600
LONGEST = 1_000_000
"""Characters; a longer one is not carried, because a browser could not send it back."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What a page held: the release or draft that was played, its hash, and everything to play it again."""

    which: str
    version: str
    kept: Kept
    chosen: Mapping[str, JSON]

    @property
    def recording(self) -> Recording:
        return recording_from_json(self.kept.readings, self.kept.answers)

    def scene(self, definitions: Definitions) -> Scene:
        return scene_from_json(self.kept.scene, definitions)

    def is_beginning_of(self, scene: Scene, which: str, chosen: Outside) -> bool:
        """Whether ``scene`` goes on where this ended, with the same definitions and the same answers."""
        mine = self.scene(scene.definitions)
        return (
            (self.which, self.version) == (which, version_of(scene.definitions))
            and self.chosen == chosen_to_json(chosen)
            and (mine.locale, mine.identity, mine.start) == (scene.locale, scene.identity, scene.start)
            and mine.lines == scene.lines[: len(mine.lines)]
        )


def version_of(definitions: Definitions) -> str:
    return digest(canonical(to_content(definitions)))


def chosen_to_json(chosen: Outside) -> dict[str, JSON]:
    """What tools were chosen to answer."""
    return {"given": dict(chosen.given), "silent": sorted(chosen.silent), "made_up": sorted(chosen.made_up)}


def chosen_from_json(row: Mapping[str, JSON]) -> Outside:
    return Outside(given=row["given"], silent=frozenset(row["silent"]), made_up=frozenset(row["made_up"]))


def carry(simulated: Simulated, seen: Seen, *, user: int, which: str, chosen: Outside) -> str:
    """The text of a hidden field; "" where it would be too long."""
    readings, answers = recording_to_json(simulated.recording)
    held = {
        "user": user,
        "which": which,
        "version": version_of(simulated.scene.definitions),
        "scene": scene_to_json(simulated.scene),
        "readings": readings,
        "answers": answers,
        "expected": expected_of(seen),
        "chosen": chosen_to_json(chosen),
    }
    text = signing.dumps(held, salt=SALT, compress=True)
    return text if len(text) <= LONGEST else ""


def carried(text: str, *, user: int) -> Carried | None:
    """What ``carry`` wrote for this user; None for anything else, and for what is too old."""
    try:
        held = signing.loads(text, salt=SALT, max_age=MAX_AGE)
    except signing.BadSignature:
        return None
    if held["user"] != user:
        return None
    kept = Kept(held["scene"], held["readings"], held["answers"], held["expected"])
    return Carried(held["which"], held["version"], kept, held["chosen"])
