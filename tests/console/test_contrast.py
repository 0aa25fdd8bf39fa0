"""Text can be read: the contrast of every pair of colours that the style sheets put together, light and dark."""

import re
from pathlib import Path

import pytest

TOKENS = Path(__file__).parents[2] / "static" / "css" / "tokens.css"
BADGES = ["success", "partial", "failed", "running", "awaiting", "collecting", "ended", "unknown"]
TEXT = [
    *((name, f"{name}-back") for name in BADGES),
    *((text, surface) for text in ("text", "muted", "accent", "flag") for surface in ("page", "surface", "sunken")),
    ("accent-strong", "surface"),
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
    ("on-header", "header"),
    ("header-muted", "header"),
    ("on-notice", "notice"),
    ("running", "running-back"),
]
EDGES = [(edge, surface) for edge in ("field-line", "focus") for surface in ("page", "surface", "sunken")]


def schemes() -> dict[str, dict[str, str]]:
    light, dark = TOKENS.read_text("utf-8").split("@media (prefers-color-scheme: dark)")
    return {
        name: dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", css)) for name, css in [("light", light), ("dark", dark)]
    }


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "surface"), TEXT)
def test_text_reaches_a_contrast_of_four_and_a_half(scheme, text, surface):
    colours = schemes()[scheme]

    assert contrast(colours[text], colours[surface]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("edge", "surface"), EDGES)
def test_edges_of_fields_and_focus_reach_three(scheme, edge, surface):
    colours = schemes()[scheme]

    assert contrast(colours[edge], colours[surface]) >= 3


def test_both_schemes_define_the_same_colours():
    assert schemes()["light"].keys() == schemes()["dark"].keys()
